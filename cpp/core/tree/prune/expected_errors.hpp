// Expected errors of a leaf: a pessimistic estimate from the errors on its own rows.
//
// Quinlan (1993), "C4.5: programs for machine learning", section 4.2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ceiba::tree {

struct ErrorPruneConfig {
    double confidence = 0.25;
    double deviate = 0;  // upper quantile of the normal distribution at `confidence`
    bool subtree_raising = true;
    std::size_t n_classes = 0;
    const double* costs = nullptr;  // of (true, predicted) class; null: an error costs 1
};

// Expected errors on `n` rows beyond the `e` observed ones: the upper confidence limit of a
// binomial fraction, exact for e = 0, by the normal distribution with a continuity correction from
// e = 1 on.
inline double added_errors(double n, double e, const ErrorPruneConfig& config) {
    if (e < 1) {
        // n (1 - confidence^(1/n)), without the rounding of large n.
        const double none = -n * std::expm1(std::log(config.confidence) / n);
        return e == 0 ? none : none + e * (added_errors(n, 1, config) - none);
    }
    if (e + 0.5 >= n) return std::max(n - e, 0.0);
    const double z = config.deviate, f = (e + 0.5) / n;
    const double spread = std::sqrt(f / n - f * f / n + z * z / (4 * n * n));
    return (f + z * z / (2 * n) + z * spread) / (1 + z * z / n) * n - e;
}

inline double min_cost(const double* cell, const ErrorPruneConfig& config) {
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < config.n_classes; ++j) {
        double cost = 0;
        for (std::size_t i = 0; i < config.n_classes; ++i)
            cost += cell[i] * config.costs[i * config.n_classes + j];
        lowest = std::min(lowest, cost);
    }
    return lowest;
}

inline double weight_of(const double* cell, std::size_t n_classes) {
    double weight = 0;
    for (std::size_t k = 0; k < n_classes; ++k) weight += cell[k];
    return weight;
}

// Sum the other classes, so that the result is exactly 0 for a pure leaf: a difference would be
// rounded.
inline double weight_outside_majority(const double* cell, std::size_t n_classes) {
    const double* majority = std::max_element(cell, cell + n_classes);
    return weight_of(cell, std::size_t(majority - cell)) +
           weight_of(majority + 1, std::size_t(cell + n_classes - majority - 1));
}

// Expected errors of a leaf with these class weights.
inline double expected_errors(const double* cell, const ErrorPruneConfig& config) {
    const double n = weight_of(cell, config.n_classes);
    if (n == 0) return 0;
    const double e = config.costs != nullptr ? min_cost(cell, config)
                                             : weight_outside_majority(cell, config.n_classes);
    return e + added_errors(n, e, config);
}

}  // namespace ceiba::tree
