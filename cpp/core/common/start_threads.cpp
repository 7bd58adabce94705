// Implementation of the number of threads that can be started.
//
// OpenMP ends the process if it cannot start a thread, for want of memory for its stack or because
// of a limit on threads. Before a loop needs more threads than the one before, as many are started
// and ended here, and the loop runs on fewer if that fails.
#include <pthread.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "common/parallel.hpp"

namespace ceiba {
namespace {

// Holds the threads until all are started, because they must exist at the same time.
class Gate {
  public:
    void pass() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [&] { return open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
};

void* pass_gate(void* gate) {
    static_cast<Gate*>(gate)->pass();
    return nullptr;
}

// Stack size of OpenMP's threads in bytes: a number with the unit B, K (the default), M or G. Zero
// if it is not set or not valid.
std::size_t openmp_stack_size() {
    const char* text = std::getenv("OMP_STACKSIZE");
    if (text == nullptr) text = std::getenv("GOMP_STACKSIZE");
    if (text == nullptr) return 0;
    char* rest = nullptr;
    const unsigned long long number = std::strtoull(text, &rest, 10);
    while (std::isspace(static_cast<unsigned char>(*rest))) ++rest;
    const char unit = *rest == '\0' ? 'K' : char(std::toupper(static_cast<unsigned char>(*rest)));
    const std::size_t position = std::string("BKMG").find(unit);
    const std::size_t shift = 10 * position;
    if (position == std::string::npos || number > (~0ull >> 1) >> shift) return 0;
    return std::size_t(number) << shift;
}

}  // namespace

int startable_threads(int wanted) {
    pthread_attr_t attributes;
    if (wanted <= 0 || pthread_attr_init(&attributes) != 0) return 0;
    static const std::size_t stack_size = openmp_stack_size();
    // An invalid size is ignored, as OpenMP does.
    if (stack_size > 0) pthread_attr_setstacksize(&attributes, stack_size);
    Gate gate;
    std::vector<pthread_t> started;
    started.reserve(std::size_t(wanted));
    pthread_t thread;
    while (int(started.size()) < wanted &&
           pthread_create(&thread, &attributes, pass_gate, &gate) == 0)
        started.push_back(thread);
    gate.open();
    for (const pthread_t each : started) pthread_join(each, nullptr);
    pthread_attr_destroy(&attributes);
    return int(started.size());
}

int available_threads(int wanted) {
    // OpenMP keeps the threads of the last loop for the next one of the same calling thread.
    thread_local int kept = 1;
    if (wanted > kept) wanted = kept + startable_threads(wanted - kept);
    if (wanted > 1) kept = wanted;
    return wanted;
}

}  // namespace ceiba
