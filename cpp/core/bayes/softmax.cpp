// Implementation of the softmax passes: blocks of rows, segments added in order.
#include "bayes/softmax.hpp"

#include <algorithm>
#include <vector>

#include "common/ordered_sum.hpp"
#include "simd/bayes_kernels.hpp"

namespace ceiba {
namespace {

// Rows whose scores are normalized together: with their indices they stay in the first-level cache.
constexpr std::size_t kBlock = 128;

// Columns of weights, scores and residuals: one for two classes.
std::size_t width_of(std::size_t k) { return k == 2 ? 1 : k; }

// Weights as the kernels take them.
class Columns {
  public:
    Columns(const SoftmaxWeights& weights, std::size_t k)
        : table_(weights.table), bias_(weights.bias) {
        if (k != 2) return;
        for (std::size_t r = 0; r < weights.n_table_rows; ++r)
            differences_.push_back(table_[2 * r + 1] - table_[2 * r]);
        differences_.push_back(bias_[1] - bias_[0]);
        table_ = differences_.data();
        bias_ = table_ + weights.n_table_rows;
    }
    Columns(const Columns&) = delete;
    Columns& operator=(const Columns&) = delete;

    // Scores of a block of rows.
    void scores(const IndexedRows& rows, std::size_t first, std::size_t n, double* out) const {
        const std::size_t width = width_of(rows.n_classes);
        for (std::size_t i = 0; i < n; ++i) std::copy_n(bias_, width, out + i * width);
        bayes_kernels().gather_rows(rows.indices.row(first), n, rows.indices.cols, table_, width,
                                    out);
    }

  private:
    const double *table_, *bias_;
    std::vector<double> differences_;
};

// Turn the scores of a block into residuals; return its conditional log-likelihood.
double residuals(const IndexedRows& rows, std::size_t first, std::size_t n, double* scores) {
    return bayes_kernels().softmax_residuals(
        scores, n, rows.n_classes, rows.labels + first,
        rows.weight == nullptr ? nullptr : rows.weight + first);
}

// Copy n sums with a column for each class; of two classes, the first gets minus the second.
void copy_columns(const double* sums, std::size_t n, std::size_t k, double* out) {
    if (k != 2)
        std::copy_n(sums, n * k, out);
    else
        for (std::size_t r = 0; r < n; ++r) out[2 * r] = -sums[r], out[2 * r + 1] = sums[r];
}

}  // namespace

template <typename Code>
void table_indices(Matrix<const Code> codes, const Families& families, std::uint16_t* indices,
                   int threads) {
    const Segments parts = segments(codes.rows, 4096);
    const TableRows<Code> table_rows(families);
    for_segments(parts, threads_for(double(codes.rows) * double(families.count), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     std::vector<std::uint32_t> own(families.count);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if (i % kBlock == 0 && stop.stopped(thread)) return;
                         table_rows.compute(codes.row(i), own.data());
                         std::copy(own.begin(), own.end(), indices + i * families.count);
                     }
                 });
}

double softmax_gradient(const IndexedRows& rows, const SoftmaxWeights& weights, double* table,
                        double* bias, int threads) {
    const std::size_t n = rows.indices.rows, k = rows.n_classes, width = width_of(k);
    const std::size_t tables = rows.indices.cols;
    const Columns columns(weights, k);
    // The log-likelihood, the bias, then the table.
    const std::size_t size = 1 + (1 + weights.n_table_rows) * width;
    OrderedSum sum(size);
    const Segments parts = row_segments(n, size, 2 * tables * width);
    for_segments(parts, threads_for(double(n) * double((2 * tables + 8) * width), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> own = sum.zeros();
                     std::vector<double> block(kBlock * width);
                     for (std::size_t first = parts.begin(s); first < parts.end(s);
                          first += kBlock) {
                         if (stop.stopped(thread)) return;
                         const std::size_t m = std::min(kBlock, parts.end(s) - first);
                         columns.scores(rows, first, m, block.data());
                         own[0] += residuals(rows, first, m, block.data());
                         for (std::size_t i = 0; i < m; ++i)
                             for (std::size_t c = 0; c < width; ++c)
                                 own[1 + c] += block[i * width + c];
                         bayes_kernels().scatter_rows(rows.indices.row(first), m, tables,
                                                      block.data(), width, own.data() + 1 + width);
                     }
                     sum.add(s, std::move(own), thread, stop);
                 });
    copy_columns(sum.values() + 1, 1, k, bias);
    copy_columns(sum.values() + 1 + width, weights.n_table_rows, k, table);
    return sum.values()[0];
}

void softmax_likelihoods(const IndexedRows& rows, const SoftmaxWeights& weights,
                         const SoftmaxWeights& direction, const double* steps, std::size_t n_steps,
                         double* log_likelihoods, int threads) {
    const std::size_t n = rows.indices.rows, k = rows.n_classes, width = width_of(k);
    const Columns start(weights, k), change(direction, k);
    OrderedSum sum(n_steps);
    const Segments parts = segments(n, 4096);
    const double work = double(n) * double((2 * rows.indices.cols + 8 * n_steps) * width);
    for_segments(
        parts, threads_for(work, threads), [&](std::size_t s, int thread, Interrupt& stop) {
            Aligned<double> own = sum.zeros();
            std::vector<double> a(kBlock * width), b(kBlock * width), moved(kBlock * width);
            for (std::size_t first = parts.begin(s); first < parts.end(s); first += kBlock) {
                if (stop.stopped(thread)) return;
                const std::size_t m = std::min(kBlock, parts.end(s) - first);
                start.scores(rows, first, m, a.data());
                change.scores(rows, first, m, b.data());
                for (std::size_t t = 0; t < n_steps; ++t) {
                    for (std::size_t i = 0; i < m * width; ++i) moved[i] = a[i] + steps[t] * b[i];
                    own[t] += residuals(rows, first, m, moved.data());
                }
            }
            sum.add(s, std::move(own), thread, stop);
        });
    std::copy_n(sum.values(), n_steps, log_likelihoods);
}

template void table_indices<std::uint8_t>(Matrix<const std::uint8_t>, const Families&,
                                          std::uint16_t*, int);
template void table_indices<std::uint16_t>(Matrix<const std::uint16_t>, const Families&,
                                           std::uint16_t*, int);

}  // namespace ceiba
