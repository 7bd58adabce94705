// Parameters of a Gaussian mixture, rows and given responsibilities as the kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/views.hpp"

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

// Rows ordered so that those with the same missing columns are adjacent: pattern p has the rows
// order[starts[p] .. starts[p + 1]). Without an order every row is complete.
struct MissingPatterns {
    const std::int64_t* order = nullptr;
    const std::int64_t* starts = nullptr;
    std::size_t count = 0;
};

// Responsibilities that are given instead of computed, for initialization: one label per row, k
// responsibilities per row, or draws keyed by the global row.
struct GivenResponsibilities {
    const std::int32_t* labels = nullptr;
    const double* responsibilities = nullptr;
    bool drawn = false;
    std::uint64_t seed = 0, stream = 0, first_row = 0;

    bool any() const { return labels != nullptr || responsibilities != nullptr || drawn; }
};

template <typename T>
struct MixtureProblem {
    Matrix<const T> X;
    const double* weight = nullptr;  // null: 1 each
    Gaussians model;
    bool has_missing = false;  // whether any value is missing (NaN)
    MissingPatterns patterns;  // required for full covariances only
    GivenResponsibilities given;
};

}  // namespace ceiba
