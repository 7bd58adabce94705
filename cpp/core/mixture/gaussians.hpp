// The parameters of a Gaussian mixture as its kernels read them, and where responsibilities come
// from.
#pragma once

#include <cstddef>
#include <cstdint>

#include "views.hpp"

namespace ceiba {

constexpr double kLogTwoPi = 1.8378770664093454836;

// k components of d columns. With `full`, covariances and factors are k x d x d and a factor is the
// inverse of the lower Cholesky factor; otherwise they are k x d, and a factor is one over the
// standard deviation.
struct Gaussians {
    std::size_t k = 0, d = 0;
    bool full = false;
    const double* log_weights = nullptr;
    const double* means = nullptr;
    const double* covariances = nullptr;
    const double* factors = nullptr;

    std::size_t covariance_size() const { return full ? d * d : d; }
    const double* mean(std::size_t c) const { return means + c * d; }
    const double* covariance(std::size_t c) const { return covariances + c * covariance_size(); }
    const double* factor(std::size_t c) const { return factors + c * covariance_size(); }
};

// Rows in an order that brings those with the same gaps together: pattern p has the rows
// order[starts[p] .. starts[p + 1]). Without an order every row is complete.
struct Patterns {
    const std::int64_t* order = nullptr;
    const std::int64_t* starts = nullptr;
    std::size_t count = 0;
};

// Responsibilities that are given instead of computed, for a start: one label a row, a row of k
// shares, or draws keyed by the global row.
struct Given {
    const std::int32_t* labels = nullptr;
    const double* shares = nullptr;
    bool drawn = false;
    std::uint64_t seed = 0, stream = 0, first_row = 0;

    bool any() const { return labels != nullptr || shares != nullptr || drawn; }
};

template <typename T>
struct MixtureProblem {
    Matrix<const T> X;
    const double* weight = nullptr;  // 1 each where null
    Gaussians model;
    bool gaps = false;  // whether any value is missing (NaN)
    Patterns patterns;  // of the gaps; needed for full covariances only
    Given given;
};

}  // namespace ceiba
