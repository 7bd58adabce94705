// Implementation of the kernels of the Bayesian classifiers, compiled once for each instruction
// set; as in kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/bayes_kernels.hpp"

#include <cmath>

#include "simd/vector_math.hpp"

#define CEIBA_BAYES_NAME(isa) CEIBA_BAYES_NAME_(isa)
#define CEIBA_BAYES_NAME_(isa) bayes_kernels_##isa

namespace ceiba {
namespace {

void exp_all(double* values, std::size_t n) {
    constexpr std::size_t kWidth = kLanes<double>;
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) store(values + i, exp_negative(load(values + i)));
    double rest[kWidth] = {};
    for (std::size_t j = i; j < n; ++j) rest[j - i] = values[j];
    store(rest, exp_negative(load(rest)));
    for (std::size_t j = i; j < n; ++j) values[j] = rest[j - i];
}

void normalize(double* log_joint, std::size_t n, std::size_t k, double* log_evidence) {
    for (std::size_t i = 0; i < n; ++i) {
        double* row = log_joint + i * k;
        double top = row[0];
        for (std::size_t c = 1; c < k; ++c) top = top < row[c] ? row[c] : top;
        for (std::size_t c = 0; c < k; ++c) row[c] -= top;
        if (log_evidence != nullptr) log_evidence[i] = top;
    }
    exp_all(log_joint, n * k);
    for (std::size_t i = 0; i < n; ++i) {
        double* row = log_joint + i * k;
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) sum += row[c];
        for (std::size_t c = 0; c < k; ++c) row[c] /= sum;
        if (log_evidence != nullptr) log_evidence[i] += std::log(sum);
    }
}

void add_class_sums(const double* X, std::size_t d, std::size_t n, const std::int32_t* labels,
                    const double* weight, const ClassSums& sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* __restrict x = X + i * d;
        const std::size_t first = std::size_t(labels[i]) * d;
        double* __restrict pivot = sums.pivot + first;
        double* __restrict weights = sums.weight + first;
        double* __restrict sum = sums.sum + first;
        double* __restrict squares = sums.squares + first;
        const double w = weight == nullptr ? 1.0 : weight[i];
#pragma GCC ivdep
        for (std::size_t j = 0; j < d; ++j) {
            const double value = x[j];
            const bool observed = value == value;
            pivot[j] = pivot[j] == pivot[j] ? pivot[j] : value;
            const double from_pivot = observed ? value - pivot[j] : 0.0;
            weights[j] += observed ? w : 0.0;
            sum[j] += w * from_pivot;
            squares[j] += w * from_pivot * from_pivot;
        }
    }
}

void add_log_normals(const double* X, std::size_t d, std::size_t n, const NormalTerms& terms,
                     std::size_t k, double* work, double* out) {
    constexpr std::size_t kWidth = kLanes<double>;
    const double* zeros = work;
    double* tile = work + d;
    for (std::size_t start = 0; start < n; start += kTile<double>) {
        const std::size_t count = n - start < kTile<double> ? n - start : kTile<double>;
        pack_tile(d, count, zeros, tile, [&](std::size_t r) { return X + (start + r) * d; });
        for (std::size_t c = 0; c < k; ++c) {
            const double *mean = terms.mean + c * d, *factor = terms.factor + c * d,
                         *constant = terms.constant + c * d;
            Doubles sums[kVectors] = {};
            for (std::size_t j = 0; j < d; ++j)
                for (std::size_t v = 0; v < kVectors; ++v) {
                    const Doubles x = load(tile + j * kTile<double> + v * kWidth);
                    const Doubles z = (x - mean[j]) * factor[j];
                    sums[v] += choose(x == x, constant[j] - z * z, Doubles{});
                }
            double values[kTile<double>];
            for (std::size_t v = 0; v < kVectors; ++v) store(values + v * kWidth, sums[v]);
            for (std::size_t r = 0; r < count; ++r) out[(start + r) * k + c] += values[r];
        }
    }
}

}  // namespace

extern const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA);
const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA){normalize, add_class_sums, add_log_normals};

}  // namespace ceiba
