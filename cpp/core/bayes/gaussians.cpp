// Implementation of the sums by class: blocks of rows, merged in order.
#include "bayes/gaussians.hpp"

#include <algorithm>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"

namespace ceiba {
namespace {

// Rows that are summed before merging; with many classes more, so that merging costs less than
// summing.
std::size_t block_rows(std::size_t k) { return std::max<std::size_t>(512, 8 * k); }

ClassSums sums_of(double* out, std::size_t size) {
    const auto at = [&](std::size_t i) { return out + i * size; };
    return {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}, {at(6), at(7), at(8)}, at(9)};
}

}  // namespace

void class_sums(Matrix<const double> X, const std::int32_t* labels, const double* weight,
                std::size_t k, double* out, int threads) {
    const std::size_t d = X.cols, size = k * d, block = block_rows(k);
    // The partial sums of all segments stay below 128 MB, unless eight of them are larger.
    const std::size_t fit = (std::size_t(1) << 24) / std::max<std::size_t>(kClassSums * size, 1);
    const Segments parts = segments(X.rows, 8 * block, std::clamp<std::size_t>(fit, 8, 256));
    std::vector<std::vector<double>> partial(parts.count, std::vector<double>(kClassSums * size));
    for_segments(
        parts, threads_for(12.0 * double(X.rows) * double(d), threads),
        [&](std::size_t s, int thread, Interrupt& stop) {
            std::vector<double> own(kClassSums * size);
            const ClassSums sums = sums_of(own.data(), size);
            for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                 i += block) {
                const std::size_t n = std::min(i + block, parts.end(s)) - i;
                std::fill(own.begin(), own.end(), 0.0);
                bayes_kernels().add_class_sums(X.row(i), d, n, labels + i,
                                               weight == nullptr ? nullptr : weight + i, sums);
                bayes_kernels().merge_class_sums(size, sums, sums_of(partial[s].data(), size));
            }
        });
    for (std::size_t s = 0; s < parts.count; ++s)
        bayes_kernels().merge_class_sums(size, sums_of(partial[s].data(), size),
                                         sums_of(out, size));
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
