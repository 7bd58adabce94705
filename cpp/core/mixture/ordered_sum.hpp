// Work division of an E step among threads, and sums that do not depend on thread timing.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "mixture/gaussians.hpp"

namespace ceiba {

// Borders of segments of equal work. A missing pattern costs d^3 operations, as much as d rows of
// d^2 each; without patterns all rows cost the same.
inline std::vector<std::size_t> segment_borders(const Segments& parts,
                                                const MissingPatterns& patterns, std::size_t d) {
    std::vector<std::size_t> result;
    if (patterns.order == nullptr) {
        for (std::size_t s = 0; s <= parts.count; ++s) result.push_back(parts.begin(s));
        return result;
    }
    const double all = double(parts.rows) + double(patterns.count * d);
    double done = 0;
    for (std::size_t p = 0; p < patterns.count; ++p) {
        const double rows = double(patterns.starts[p + 1] - patterns.starts[p]);
        while (result.size() <= parts.count) {
            const double target = all * double(result.size()) / double(parts.count);
            if (target >= done + double(d) + rows) break;
            const double within = std::clamp(target - done - double(d), 0.0, rows);
            result.push_back(std::size_t(patterns.starts[p]) + std::size_t(within));
        }
        done += double(d) + rows;
    }
    result.resize(parts.count + 1, parts.rows);
    result.back() = parts.rows;
    return result;
}

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

// One worker object per thread, created on first use.
template <typename Worker>
class PerThread {
  public:
    explicit PerThread(int threads) : each_(std::size_t(threads)) {}

    template <typename... Arguments>
    Worker& of(int thread, const Arguments&... arguments) {
        std::unique_ptr<Worker>& worker = each_[std::size_t(thread)];
        if (!worker) worker = std::make_unique<Worker>(arguments...);
        return *worker;
    }

  private:
    std::vector<std::unique_ptr<Worker>> each_;
};

}  // namespace ceiba
