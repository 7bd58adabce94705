// Implementation of the column moments: blocks of rows about a pivot, merged in order.
#include "kmeans/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "simd/kmeans_kernels.hpp"

namespace ceiba {

Moments::Moments(std::size_t columns)
    : weight(columns),
      mean(columns),
      squares(columns),
      min(columns, std::numeric_limits<double>::infinity()),
      max(columns, -std::numeric_limits<double>::infinity()) {}

void Moments::merge(const Moments& other) {
    for (std::size_t j = 0; j < weight.size(); ++j) {
        const double total = weight[j] + other.weight[j];
        if (weight[j] == 0) {
            mean[j] = other.mean[j];
            squares[j] = other.squares[j];
        } else if (other.weight[j] > 0) {
            const double shift = other.mean[j] - mean[j];
            const double fraction = other.weight[j] / total;
            mean[j] += shift * fraction;
            squares[j] += other.squares[j] + shift * shift * weight[j] * fraction;
        }
        weight[j] = total;
        min[j] = std::min(min[j], other.min[j]);
        max[j] = std::max(max[j], other.max[j]);
    }
    n_missing += other.n_missing;
    if (other.infinite_row < infinite_row) {
        infinite_row = other.infinite_row;
        infinite_column = other.infinite_column;
    }
}

namespace {

// Rows summed about one pivot before merging: few enough that the pivot stays near the mean.
constexpr std::size_t kBlockRows = 512;

// Moments of one block: sums about its first observed value, then centered with one division.
template <typename T>
class BlockMoments {
  public:
    explicit BlockMoments(Matrix<const T> X) : X_(X), pivot_(X.cols), sum_(X.cols) {}

    Moments compute(const double* weight, std::size_t first, std::size_t last) {
        Moments result(X_.cols);
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (std::size_t j = 0; j < X_.cols; ++j) pivot_[j] = first_observed(first, last, j);
        result.n_missing = kmeans_kernels<T>().add_moments(
            X_.row(first), X_.cols, last - first, weight ? weight + first : nullptr, pivot_.data(),
            {result.weight.data(), sum_.data(), result.squares.data(), result.min.data(),
             result.max.data()});
        for (std::size_t j = 0; j < X_.cols; ++j) center(result, first, last, j);
        return result;
    }

  private:
    double first_observed(std::size_t first, std::size_t last, std::size_t j) const {
        for (std::size_t i = first; i < last; ++i)
            if (X_.row(i)[j] == X_.row(i)[j]) return X_.row(i)[j];
        return 0;
    }

    void center(Moments& result, std::size_t first, std::size_t last, std::size_t j) const {
        if (std::isinf(result.max[j]) || std::isinf(result.min[j]))
            find_infinity(result, first, last, j);
        if (!(result.weight[j] > 0)) return;
        const double from_pivot = sum_[j] / result.weight[j];
        result.mean[j] = pivot_[j] + from_pivot;
        result.squares[j] = std::max(0.0, result.squares[j] - from_pivot * sum_[j]);
    }

    void find_infinity(Moments& result, std::size_t first, std::size_t last, std::size_t j) const {
        for (std::size_t i = first; i < std::min(last, result.infinite_row); ++i)
            if (std::isinf(X_.row(i)[j])) {
                result.infinite_row = i;
                result.infinite_column = j;
            }
    }

    Matrix<const T> X_;
    std::vector<double> pivot_, sum_;
};

}  // namespace

template <typename T>
Moments moments(Matrix<const T> X, const double* weight, int threads) {
    const Segments parts = segments(X.rows, 8 * kBlockRows);
    std::vector<Moments> partial(parts.count, Moments(X.cols));
    const double work = 4.0 * double(X.rows) * double(X.cols);
    for_segments(
        parts, threads_for(work, threads), [&](std::size_t s, int thread, Interrupt& stop) {
            BlockMoments<T> block(X);
            for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                 i += kBlockRows)
                partial[s].merge(block.compute(weight, i, std::min(i + kBlockRows, parts.end(s))));
        });
    for (std::size_t s = 1; s < parts.count; ++s) partial[0].merge(partial[s]);
    return partial[0];
}

template Moments moments<double>(Matrix<const double>, const double*, int);
template Moments moments<float>(Matrix<const float>, const double*, int);

}  // namespace ceiba
