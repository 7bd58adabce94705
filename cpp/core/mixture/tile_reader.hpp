// Tiles of rows as lanes, in the order of the rows or in that of their gaps.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "aligned.hpp"
#include "mixture/gaussians.hpp"
#include "simd/mixture_kernels.hpp"

namespace ceiba {

template <typename T>
class TileReader {
  public:
    explicit TileReader(const MixtureProblem<T>& problem)
        : problem_(problem),
          kernels_(mixture_kernels()),
          tile_(std::max<std::size_t>(problem.X.cols, 1) * kMixtureRows),
          weight_(kMixtureRows) {}

    // Rows [first, first + count) of the order, `count` <= kMixtureRows; of the columns listed
    // where there is an order, else of all.
    void read(std::size_t first, std::size_t count, const std::vector<std::size_t>& columns) {
        first_ = first;
        count_ = count;
        padded_ = (count + kernels_.group - 1) / kernels_.group * kernels_.group;
        if (problem_.patterns.order == nullptr)
            pack();
        else
            gather(columns);
        // Rows that only fill a tile up weigh nothing.
        for (std::size_t r = 0; r < padded_; ++r)
            weight_[r] = r >= count                   ? 0.0
                         : problem_.weight == nullptr ? 1.0
                                                      : problem_.weight[row(r)];
    }

    std::size_t row(std::size_t r) const {
        const std::int64_t* order = problem_.patterns.order;
        return order == nullptr ? first_ + r : std::size_t(order[first_ + r]);
    }
    std::size_t count() const { return count_; }
    std::size_t padded() const { return padded_; }
    const double* tile() const { return tile_.data(); }
    const double* weight() const { return weight_.data(); }

  private:
    void pack() {
        const T* X = problem_.X.row(first_);
        const std::size_t readable = (problem_.X.rows - first_) * problem_.X.cols;
        if constexpr (std::is_same_v<T, double>)
            kernels_.pack(X, problem_.X.cols, count_, padded_, readable, tile_.data());
        else
            kernels_.pack_float(X, problem_.X.cols, count_, padded_, readable, tile_.data());
    }

    void gather(const std::vector<std::size_t>& columns) {
        for (std::size_t r = 0; r < padded_; ++r) {
            const T* x = problem_.X.row(row(std::min(r, count_ - 1)));
            for (std::size_t i = 0; i < columns.size(); ++i)
                tile_[i * kMixtureRows + r] = double(x[columns[i]]);
        }
    }

    const MixtureProblem<T>& problem_;
    const MixtureKernels& kernels_;
    Aligned<double> tile_, weight_;
    std::size_t first_ = 0, count_ = 0, padded_ = 0;
};

}  // namespace ceiba
