// The k nearest rows found so far, ordered by (distance, row).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "simd/neighbor_kernels.hpp"

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

    void insert(const double* distances, const std::int64_t* rows, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) insert(distances[i], rows[i]);
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

// The same for up to kShortList neighbors, in a list that a kernel keeps in registers while it
// inserts the rows of a tile.
class ShortTopK {
  public:
    ShortTopK(double* distances, std::int64_t* rows, std::size_t k)
        : distances_(distances), rows_(rows), k_(k) {
        for (std::size_t i = 0; i < kShortList; ++i) {
            list_distances_[i] = i < k ? distances[i] : std::numeric_limits<double>::infinity();
            list_rows_[i] = i < k ? rows[i] : -1;
        }
    }

    double farthest() const { return list_distances_[k_ - 1]; }

    void insert(const double* distances, const std::int64_t* rows, std::size_t n) {
        neighbor_kernels().insert_rows(list_distances_, list_rows_, distances, rows, n);
    }

    void finish() {
        for (std::size_t i = 0; i < k_; ++i)
            distances_[i] = list_distances_[i], rows_[i] = list_rows_[i];
    }

  private:
    double* distances_;
    std::int64_t* rows_;
    std::size_t k_;
    alignas(64) double list_distances_[kShortList];
    alignas(64) std::int64_t list_rows_[kShortList];
};

}  // namespace ceiba
