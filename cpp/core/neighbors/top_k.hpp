// The k nearest rows found so far, ordered by (distance, row).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ceiba {

// Arrays of the caller, ascending before and after a search; without neighbors they hold infinite
// distances and the row -1. A short list stays sorted: inserting into 10 rows takes half the time
// of a heap. A long one is a heap in between, with the farthest row at the top.
class TopK {
  public:
    TopK(double* distances, std::int64_t* rows, std::size_t k)
        : distances_(distances), rows_(rows), k_(k), farthest_(distances[k - 1]) {
        // A descending order is a heap.
        if (is_heap()) reverse();
    }

    // The distance that a row must not exceed.
    double farthest() const { return farthest_; }

    void insert(double distance, std::int64_t row) {
        if (is_heap()) {
            if (!before(distance, row, 0)) return;
            sift(distance, row, k_);
            farthest_ = distances_[0];
            return;
        }
        if (!before(distance, row, k_ - 1)) return;
        std::size_t i = k_ - 1;
        for (; i > 0 && before(distance, row, i - 1); --i)
            distances_[i] = distances_[i - 1], rows_[i] = rows_[i - 1];
        distances_[i] = distance, rows_[i] = row;
        farthest_ = distances_[k_ - 1];
    }

    // Sort the arrays ascending.
    void finish() {
        if (!is_heap()) return;
        for (std::size_t n = k_ - 1; n > 0; --n) {
            const double distance = distances_[n];
            const std::int64_t row = rows_[n];
            distances_[n] = distances_[0], rows_[n] = rows_[0];
            sift(distance, row, n);
        }
    }

  private:
    static constexpr std::size_t kMaxSorted = 32;

    bool is_heap() const { return k_ > kMaxSorted; }

    void reverse() {
        for (std::size_t i = 0, j = k_ - 1; i < j; ++i, --j) {
            const double distance = distances_[i];
            const std::int64_t row = rows_[i];
            distances_[i] = distances_[j], rows_[i] = rows_[j];
            distances_[j] = distance, rows_[j] = row;
        }
    }

    // Replace the top of a heap of n rows.
    void sift(double distance, std::int64_t row, std::size_t n) {
        std::size_t hole = 0;
        for (std::size_t child = 1; child < n; child = 2 * hole + 1) {
            if (child + 1 < n && before(distances_[child], rows_[child], child + 1)) ++child;
            if (!before(distance, row, child)) break;
            distances_[hole] = distances_[child], rows_[hole] = rows_[child];
            hole = child;
        }
        distances_[hole] = distance, rows_[hole] = row;
    }

    // Whether a row comes before the one at an index. Row -1 comes last.
    bool before(double distance, std::int64_t row, std::size_t index) const {
        if (distance != distances_[index]) return distance < distances_[index];
        return std::uint64_t(row) < std::uint64_t(rows_[index]);
    }

    double* distances_;
    std::int64_t* rows_;
    std::size_t k_;
    double farthest_;
};

}  // namespace ceiba
