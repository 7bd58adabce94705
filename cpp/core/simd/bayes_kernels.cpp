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

}  // namespace

extern const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA);
const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA){normalize};

}  // namespace ceiba
