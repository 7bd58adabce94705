// Implementation of the parallel loops: interrupt polling, exception transfer, number of threads.
#include "common/parallel.hpp"

#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace ceiba {
namespace {

bool (*interrupt_poll)() = nullptr;
std::atomic<bool> in_forked_child{false};

long long milliseconds() {
    using namespace std::chrono;
    return duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch()).count();
}

// Usually the other threads finish at once, so yield first and sleep only after a while.
void poll_until_done(Interrupt& interrupt, const std::atomic<std::size_t>& left) {
    for (int spins = 0; left.load(std::memory_order_acquire) > 0 && !interrupt.stopped(0);
         ++spins) {
        if (spins < 1000)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

// The loop whose body this thread runs, and the number of the thread in it.
struct EnclosingLoop {
    Interrupt* interrupt = nullptr;
    int thread = 0;
};
thread_local EnclosingLoop enclosing_loop;

// Sets the enclosing loop of this thread while a body runs.
class InsideLoop {
  public:
    InsideLoop(Interrupt& interrupt, int thread) : before_(enclosing_loop) {
        enclosing_loop = {&interrupt, thread};
    }
    ~InsideLoop() { enclosing_loop = before_; }

  private:
    EnclosingLoop before_;
};

}  // namespace

void set_interrupt_poll(bool (*poll)()) { interrupt_poll = poll; }

void register_fork_handler() {
    pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; });
}

bool forked() { return in_forked_child; }

int max_threads() { return forked() ? 1 : omp_get_max_threads(); }

Interrupt::Interrupt() : parent_(enclosing_loop.interrupt), parent_thread_(enclosing_loop.thread) {}

bool Interrupt::stopped(int thread) {
    if (thread == 0) {
        if (parent_ != nullptr)
            parent_->stopped(parent_thread_);
        else if (interrupt_poll != nullptr)
            poll();
    }
    return raised();
}

void Interrupt::poll() {
    const long long now = milliseconds();
    // Polling every 50 ms leaves a wide margin to the promised 200 ms.
    if (last_poll_ == 0) last_poll_ = now;
    if (now - last_poll_ < 50) return;
    last_poll_ = now;
    if (interrupt_poll()) {
        by_user_ = true;
        stop();
    }
}

void for_segments(const Segments& segments, int threads, const SegmentBody& body) {
    Interrupt interrupt;
    std::exception_ptr failure;
    const auto guarded = [&](std::size_t s, int thread) {
        if (interrupt.stopped(thread)) return;
        try {
            const InsideLoop inside(interrupt, thread);
            body(s, thread, interrupt);
        } catch (...) {
#pragma omp critical(ceiba_failure)
            if (!failure) failure = std::current_exception();
            interrupt.stop();
        }
    };
    if (segments.count == 1 || forked()) threads = 1;
    threads = available_threads(threads);
    if (threads <= 1) {
        for (std::size_t s = 0; s < segments.count; ++s) guarded(s, 0);
    } else {
        std::atomic<std::size_t> left{segments.count};
#pragma omp parallel num_threads(threads)
        {
#pragma omp for schedule(dynamic, 1) nowait
            for (std::size_t s = 0; s < segments.count; ++s) {
                guarded(s, omp_get_thread_num());
                left.fetch_sub(1, std::memory_order_release);
            }
            // Only the main thread receives Ctrl-C, so it keeps polling until the other threads are
            // done.
            if (omp_get_thread_num() == 0) poll_until_done(interrupt, left);
        }
    }
    // The user's interrupt has priority: its Python exception is already set.
    if (interrupt.by_user()) throw Interrupted();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ceiba
