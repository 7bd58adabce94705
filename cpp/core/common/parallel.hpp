// Parallel loops over fixed segments of rows that stop on Ctrl-C.
//
// A sum over rows is taken segment by segment, and the segments are added in order. Their borders
// depend on the number of rows alone, so the result has equal bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>

namespace ceiba {

// Thrown out of a kernel when the user pressed Ctrl-C.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// Set once by the bindings: returns true when the calling (main) thread has a pending interrupt.
// The core itself does not depend on Python.
void set_interrupt_poll(bool (*poll)());

// Number of threads that OpenMP allows (OMP_NUM_THREADS, threadpoolctl); 1 in a forked child, where
// GNU OpenMP would block on threads that the fork did not copy.
int max_threads();
bool forked();

// Number of threads, up to `wanted`, that the process could start now in addition to those it has.
int startable_threads(int wanted);

// Number of threads, up to `wanted`, on which the calling thread can run a parallel loop.
int available_threads(int wanted);
void register_fork_handler();

struct Segments {
    std::size_t rows;
    std::size_t count;

    std::size_t begin(std::size_t s) const { return rows / count * s + std::min(s, rows % count); }
    std::size_t end(std::size_t s) const { return begin(s + 1); }
};

// At least `min_rows` rows per segment and at most `max_segments` segments: enough for the threads
// of most machines, few enough that their partial sums stay small.
inline Segments segments(std::size_t rows, std::size_t min_rows, std::size_t max_segments = 256) {
    const std::size_t count = rows / std::max<std::size_t>(min_rows, 1);
    return {rows, std::clamp<std::size_t>(count, 1, max_segments)};
}

// A stop flag that long loops poll. One that is created in the body of a parallel loop belongs to
// that loop: if the loop stops, it stops too.
class Interrupt {
  public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    // Cheap enough to call every few hundred rows: thread 0 reads the clock, the others read a
    // flag.
    bool stopped(int thread);
    bool raised() const {
        return stop_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->raised());
    }
    // True if the user interrupted or the enclosing loop stopped, false if another thread failed.
    bool by_user() const { return by_user_ || (parent_ != nullptr && parent_->raised()); }
    void stop() { stop_.store(true, std::memory_order_relaxed); }

  private:
    void poll();

    Interrupt* parent_;  // of the enclosing loop, which this thread runs as `parent_thread_`
    int parent_thread_;
    std::atomic<bool> stop_{false};
    bool by_user_ = false;
    long long last_poll_ = 0;
};

// Call body(segment, thread, interrupt) for every segment on `threads` threads, or on fewer where
// the system refuses to start so many. Rethrows the first exception of a body, or throws
// Interrupted.
using SegmentBody = std::function<void(std::size_t, int, Interrupt&)>;
void for_segments(const Segments& segments, int threads, const SegmentBody& body);

// Waking threads costs microseconds: work below this many multiply-adds (an estimated break-even
// point) stays on one thread.
inline int threads_for(double work, int threads) { return work < 2e5 ? 1 : threads; }

}  // namespace ceiba
