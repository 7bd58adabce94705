// Implementation of the moments by class: blocks of rows about pivots, merged in order.
#include "bayes/gaussians.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"

namespace ceiba {
namespace {

// Rows summed about one pivot before merging; with many classes more, so that merging costs less
// than summing.
std::size_t block_rows(std::size_t k) { return std::max<std::size_t>(512, 8 * k); }

// Chan, Golub & LeVeque (1983): merge centered sums, never raw second moments.
void merge(std::size_t n, const ClassMoments& other, const ClassMoments& into) {
    for (std::size_t j = 0; j < n; ++j) {
        const double total = into.weight[j] + other.weight[j];
        if (into.weight[j] == 0) {
            into.mean[j] = other.mean[j];
            into.squares[j] = other.squares[j];
        } else if (other.weight[j] > 0) {
            const double shift = other.mean[j] - into.mean[j];
            const double fraction = other.weight[j] / total;
            into.mean[j] += shift * fraction;
            into.squares[j] += other.squares[j] + shift * shift * into.weight[j] * fraction;
        }
        into.weight[j] = total;
    }
}

// Four arrays of k x d: sums of one block, or moments in the first three.
class Buffers {
  public:
    explicit Buffers(std::size_t size) : size_(size), values_(4 * size) {}

    void clear() {
        std::fill_n(part(0), size_, std::numeric_limits<double>::quiet_NaN());
        std::fill_n(part(1), 3 * size_, 0.0);
    }
    ClassSums sums() { return {part(0), part(1), part(2), part(3)}; }
    // Turn sums about pivots into means and centered squares.
    ClassMoments centered() {
        double *pivot = part(0), *weight = part(1), *sum = part(2), *squares = part(3);
        for (std::size_t j = 0; j < size_; ++j) {
            if (!(weight[j] > 0)) continue;
            const double from_pivot = sum[j] / weight[j];
            squares[j] = std::max(0.0, squares[j] - from_pivot * sum[j]);
            sum[j] = pivot[j] + from_pivot;
        }
        return {weight, sum, squares};
    }
    ClassMoments moments() { return {part(1), part(2), part(3)}; }

  private:
    double* part(std::size_t i) { return values_.data() + i * size_; }

    std::size_t size_;
    std::vector<double> values_;
};

}  // namespace

void class_moments(Matrix<const double> X, const std::int32_t* labels, const double* weight,
                   std::size_t k, const ClassMoments& out, int threads) {
    const std::size_t d = X.cols, size = k * d, block = block_rows(k);
    const Segments parts = segments(X.rows, 8 * block);
    std::vector<Buffers> partial(parts.count, Buffers(size));
    for_segments(parts, threads_for(4.0 * double(X.rows) * double(d), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Buffers own(size);
                     for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                          i += block) {
                         const std::size_t n = std::min(i + block, parts.end(s)) - i;
                         own.clear();
                         bayes_kernels().add_class_sums(X.row(i), d, n, labels + i,
                                                        weight == nullptr ? nullptr : weight + i,
                                                        own.sums());
                         merge(size, own.centered(), partial[s].moments());
                     }
                 });
    for (std::size_t s = 0; s < parts.count; ++s) merge(size, partial[s].moments(), out);
}

void add_log_normals(Matrix<const double> X, const NormalTerms& terms, std::size_t k, double* out,
                     int threads) {
    constexpr std::size_t kBlock = 2048;
    const std::size_t d = X.cols;
    const Segments parts = segments(X.rows, kBlock);
    for_segments(parts, threads_for(4.0 * double(X.rows) * double(d) * double(k), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> work(normal_work_size(d));
                     for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                          i += kBlock)
                         bayes_kernels().add_log_normals(X.row(i), d,
                                                         std::min(i + kBlock, parts.end(s)) - i,
                                                         terms, k, work.data(), out + i * k);
                 });
}

}  // namespace ceiba
