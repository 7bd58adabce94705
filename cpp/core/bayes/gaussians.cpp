// Implementation of the sums by class: blocks of rows, merged in order.
#include "bayes/gaussians.hpp"

#include <algorithm>
#include <cmath>
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

// A sum of three doubles, the errors of each being part of the next.
struct ExactSum {
    double first = 0, second = 0, third = 0;

    void add(double value) { third += two_sum(second, two_sum(first, value)); }

    void add_product(double a, double b) {
        const double product = std::fma(a, b, 0.0);  // not contracted with the addition
        add(product);
        add(std::fma(a, b, -product));
    }

    double value() const { return first + (second + third); }

  private:
    // Add to a sum, and return what the sum loses by rounding; Knuth's two-sum.
    static double two_sum(double& sum, double value) {
        const double before = sum, after = before + value, added = after - before;
        sum = after;
        return (before - (after - added)) + (value - added);
    }
};

// The sum of the deviations from a mean, given sums of weights and values.
double deviation(const double (&weight)[3], const double (&sum)[3], double mean) {
    ExactSum found;
    for (const double part : sum) found.add(part);
    for (const double part : weight) found.add_product(-mean, part);
    return found.value();
}

}  // namespace

void centered_moments(const double* weight, const double* sum, const double* squares, std::size_t n,
                      double* mean, double* centered) {
    for (std::size_t i = 0; i < n; ++i) {
        mean[i] = centered[i] = 0;
        if (!(weight[i] > 0)) continue;
        const double w[] = {weight[i], weight[n + i], weight[2 * n + i]};
        const double s[] = {sum[i], sum[n + i], sum[2 * n + i]};
        double m = s[0] / w[0];
        m += deviation(w, s, m) / w[0];
        ExactSum found;
        for (std::size_t part = 0; part < 3; ++part) found.add(squares[part * n + i]);
        const double square = std::fma(m, m, 0.0), rest = std::fma(m, m, -square);
        for (std::size_t part = 0; part < 3; ++part) {
            found.add_product(-2 * m, s[part]);
            found.add_product(square, w[part]);
            found.add_product(rest, w[part]);
        }
        // The mean is a double: what it differs from the exact one by.
        const double left = deviation(w, s, m);
        mean[i] = m;
        centered[i] = found.value() - left * left / w[0];
    }
}

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
