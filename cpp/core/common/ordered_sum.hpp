// Sums over segments of rows that do not depend on thread timing.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"

namespace ceiba {

// Sums of segments, added in segment order whatever the timing of the threads. A thread more than
// kMaxAhead segments ahead blocks, which bounds the memory of pending sums.
class OrderedSum {
  public:
    explicit OrderedSum(std::size_t size) : total_(size) {}

    // Return a zeroed buffer for the sums of a segment; buffers are reused.
    Aligned<double> zeros() {
        const std::lock_guard<std::mutex> guard(lock_);
        if (spare_.empty()) return Aligned<double>(total_.size());
        Aligned<double> sums = std::move(spare_.back());
        spare_.pop_back();
        std::fill(sums.begin(), sums.end(), 0.0);
        return sums;
    }

    void add(std::size_t segment, Aligned<double>&& sums, int thread, Interrupt& stop) {
        std::unique_lock<std::mutex> guard(lock_);
        while (segment > next_ + kMaxAhead && !stop.stopped(thread))
            added_.wait_for(guard, std::chrono::milliseconds(20));
        pending_.emplace(segment, std::move(sums));
        for (auto first = pending_.begin(); first != pending_.end() && first->first == next_;
             first = pending_.erase(first), ++next_) {
            for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += first->second[i];
            spare_.push_back(std::move(first->second));
        }
        added_.notify_all();
    }

    const double* values() const { return total_.data(); }

  private:
    static constexpr std::size_t kMaxAhead = 2;

    std::mutex lock_;
    std::condition_variable added_;
    std::map<std::size_t, Aligned<double>> pending_;
    std::vector<Aligned<double>> spare_;
    std::size_t next_ = 0;
    Aligned<double> total_;
};

}  // namespace ceiba
