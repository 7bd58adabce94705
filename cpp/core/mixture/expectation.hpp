// The E step of a Gaussian mixture: responsibilities and expected moments in one pass over the
// rows.
//
// Rows are processed in tiles; nothing of size rows x components is stored.
//
// Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
// JRSS B 39.
#pragma once

#include <cstdint>

#include "mixture/gaussians.hpp"

namespace ceiba {

// Moments about the pivots (k x d), in the shapes of the model: weights k, first k x d, second
// k x d x d or k x d. A missing value counts with its conditional moments.
struct MixtureMoments {
    const double* pivots;
    double *weights, *first, *second;
    double log_likelihood = 0;
};

template <typename T>
void expected_moments(const MixtureProblem<T>& problem, MixtureMoments& out, int threads);

// Predictions per row; each may be null.
struct RowPosteriors {
    double* log_density = nullptr;
    double* posteriors = nullptr;  // rows x k
    std::int32_t* labels = nullptr;
};

template <typename T>
void row_posteriors(const MixtureProblem<T>& problem, const RowPosteriors& out, int threads);

}  // namespace ceiba
