// Threads over fixed segments of rows, and the interrupt they listen to.
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

// Set once by the bindings: true when the calling (main) thread has a pending interrupt.
// The core itself knows nothing of Python.
void set_interrupt_poll(bool (*poll)());

// How many threads OpenMP allows (OMP_NUM_THREADS, threadpoolctl); 1 in a forked child, where
// GNU OpenMP would wait for threads that the fork did not copy.
int max_threads();
bool forked();
void watch_forks();

struct Segments {
    std::size_t rows;
    std::size_t count;

    std::size_t begin(std::size_t s) const { return rows / count * s + std::min(s, rows % count); }
    std::size_t end(std::size_t s) const { return begin(s + 1); }
};

// At least `least` rows a segment, at most `most` segments: enough for the threads of most
// machines, few enough that their partial sums stay small.
inline Segments segments(std::size_t rows, std::size_t least, std::size_t most = 256) {
    const std::size_t wanted = rows / std::max<std::size_t>(least, 1);
    return {rows, std::clamp<std::size_t>(wanted, 1, most)};
}

// What a long loop asks now and then: has anybody asked to stop?
class Interrupt {
  public:
    // Cheap enough for every few hundred rows: thread 0 looks at the clock, the rest at a flag.
    bool stopped(int thread);
    bool raised() const { return stop_.load(std::memory_order_relaxed); }
    // Whether it was the user who asked (else: another thread failed).
    bool by_user() const { return by_user_; }
    void stop() { stop_.store(true, std::memory_order_relaxed); }

  private:
    std::atomic<bool> stop_{false};
    bool by_user_ = false;
    long long last_look_ = 0;
};

// body(segment, thread, interrupt) for every segment, on `threads` threads. Throws what the first
// failing body threw, or Interrupted.
using SegmentBody = std::function<void(std::size_t, int, Interrupt&)>;
void for_segments(const Segments& segments, int threads, const SegmentBody& body);

// Waking threads costs microseconds: work below this many multiply-adds, a guess at where that
// pays, stays on one thread.
inline int threads_for(double work, int threads) { return work < 2e5 ? 1 : threads; }

}  // namespace ceiba
