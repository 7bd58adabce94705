// Loops of the Bayesian classifiers that gain from SIMD, compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

struct BayesKernels {
    // Turn the log joint of n cases (n x k, row-major) into class probabilities; `log_evidence`,
    // if not null, gets the logarithm of the sum of each case's joint.
    void (*normalize)(double* log_joint, std::size_t n, std::size_t k, double* log_evidence);
};

const BayesKernels& bayes_kernels();

}  // namespace ceiba
