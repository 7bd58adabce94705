// How the rows of an E step are shared among threads, and how their sums come together.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "mixture/gaussians.hpp"
#include "parallel.hpp"

namespace ceiba {

// Where segments of equal work begin, and the end. A pattern of gaps costs d^3 operations beside
// d^2 for each of its rows, as much as d rows; without patterns all rows cost the same.
inline std::vector<std::size_t> borders(const Segments& parts, const Patterns& patterns,
                                        std::size_t d) {
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
            const double wanted = all * double(result.size()) / double(parts.count);
            if (wanted >= done + double(d) + rows) break;
            const double within = std::clamp(wanted - done - double(d), 0.0, rows);
            result.push_back(std::size_t(patterns.starts[p]) + std::size_t(within));
        }
        done += double(d) + rows;
    }
    result.resize(parts.count + 1, parts.rows);
    result.back() = parts.rows;
    return result;
}

// Sums of segments, added in the order of the segments whoever comes first. Those that have to wait
// for an earlier one are few: who comes too early waits himself, so that many columns take little
// memory.
class OrderedSum {
  public:
    explicit OrderedSum(std::size_t size) : total_(size) {}

    // Zeros to sum a segment in: memory that has been used is used again.
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
        while (segment > next_ + kAhead && !stop.stopped(thread))
            added_.wait_for(guard, std::chrono::milliseconds(20));
        waiting_.emplace(segment, std::move(sums));
        for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
             first = waiting_.erase(first), ++next_) {
            for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += first->second[i];
            spare_.push_back(std::move(first->second));
        }
        added_.notify_all();
    }

    const double* values() const { return total_.data(); }

  private:
    static constexpr std::size_t kAhead = 2;

    std::mutex lock_;
    std::condition_variable added_;
    std::map<std::size_t, Aligned<double>> waiting_;
    std::vector<Aligned<double>> spare_;
    std::size_t next_ = 0;
    Aligned<double> total_;
};

// What a thread works with, made when it comes for the first time.
template <typename Worker>
class Workers {
  public:
    explicit Workers(int threads) : each_(std::size_t(threads)) {}

    template <typename... Arguments>
    Worker& of(int thread, const Arguments&... arguments) {
        std::unique_ptr<Worker>& mine = each_[std::size_t(thread)];
        if (!mine) mine = std::make_unique<Worker>(arguments...);
        return *mine;
    }

  private:
    std::vector<std::unique_ptr<Worker>> each_;
};

}  // namespace ceiba
