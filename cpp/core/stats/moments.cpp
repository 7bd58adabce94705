#include "stats/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.hpp"
#include "simd/kernels.hpp"

namespace ceiba {

Moments::Moments(std::size_t columns)
    : weight(columns),
      mean(columns),
      squares(columns),
      least(columns, std::numeric_limits<double>::infinity()),
      most(columns, -std::numeric_limits<double>::infinity()) {}

void Moments::merge(const Moments& other) {
    for (std::size_t j = 0; j < weight.size(); ++j) {
        const double total = weight[j] + other.weight[j];
        if (weight[j] == 0) {
            mean[j] = other.mean[j];
            squares[j] = other.squares[j];
        } else if (other.weight[j] > 0) {
            const double shift = other.mean[j] - mean[j];
            const double share = other.weight[j] / total;
            mean[j] += shift * share;
            squares[j] += other.squares[j] + shift * shift * weight[j] * share;
        }
        weight[j] = total;
        least[j] = std::min(least[j], other.least[j]);
        most[j] = std::max(most[j], other.most[j]);
    }
    gaps += other.gaps;
    if (other.infinite_row < infinite_row) {
        infinite_row = other.infinite_row;
        infinite_column = other.infinite_column;
    }
}

namespace {

// Rows summed about one pivot before they are merged: short enough that the pivot stays near.
constexpr std::size_t kRun = 512;

// Sums about a pivot (the run's first observed value), then centred: one division a run.
template <typename T>
class Run {
  public:
    explicit Run(Matrix<const T> X) : X_(X), pivot_(X.cols), sum_(X.cols) {}

    Moments of(const double* weight, std::size_t first, std::size_t last) {
        Moments result(X_.cols);
        std::fill(sum_.begin(), sum_.end(), 0.0);
        for (std::size_t j = 0; j < X_.cols; ++j) pivot_[j] = first_observed(first, last, j);
        result.gaps = kernels<T>().add_moments(
            X_.row(first), X_.cols, last - first, weight ? weight + first : nullptr, pivot_.data(),
            {result.weight.data(), sum_.data(), result.squares.data(), result.least.data(),
             result.most.data()});
        for (std::size_t j = 0; j < X_.cols; ++j) centre(result, first, last, j);
        return result;
    }

  private:
    double first_observed(std::size_t first, std::size_t last, std::size_t j) const {
        for (std::size_t i = first; i < last; ++i)
            if (X_.row(i)[j] == X_.row(i)[j]) return X_.row(i)[j];
        return 0;
    }

    void centre(Moments& result, std::size_t first, std::size_t last, std::size_t j) const {
        if (std::isinf(result.most[j]) || std::isinf(result.least[j]))
            infinity(result, first, last, j);
        if (!(result.weight[j] > 0)) return;
        const double from_pivot = sum_[j] / result.weight[j];
        result.mean[j] = pivot_[j] + from_pivot;
        result.squares[j] = std::max(0.0, result.squares[j] - from_pivot * sum_[j]);
    }

    void infinity(Moments& result, std::size_t first, std::size_t last, std::size_t j) const {
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
    const Segments parts = segments(X.rows, 8 * kRun);
    std::vector<Moments> partial(parts.count, Moments(X.cols));
    const double work = 4.0 * double(X.rows) * double(X.cols);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Run<T> run(X);
                     for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                          i += kRun)
                         partial[s].merge(run.of(weight, i, std::min(i + kRun, parts.end(s))));
                 });
    for (std::size_t s = 1; s < parts.count; ++s) partial[0].merge(partial[s]);
    return partial[0];
}

template Moments moments<double>(Matrix<const double>, const double*, int);
template Moments moments<float>(Matrix<const float>, const double*, int);

}  // namespace ceiba
