// What a leaf is expected to err: a pessimistic estimate from the errors of its own rows.
//
// Quinlan (1993), "C4.5: programs for machine learning", section 4.2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ceiba::tree {

struct ErrorRules {
    double confidence = 0.25;
    double deviate = 0;  // what a normal number exceeds with probability `confidence`
    bool raising = true;
    std::size_t classes = 0;
    const double* costs = nullptr;  // of (true, predicted) class; null: an error costs 1
};

// Errors to be expected of `n` rows beyond the `e` that were seen: the upper limit of a binomial
// share, exact where there are none, normal with a correction for continuity from one on.
inline double added_errors(double n, double e, const ErrorRules& rules) {
    if (e < 1) {
        // n (1 - confidence^(1/n)), without the rounding of large n.
        const double none = -n * std::expm1(std::log(rules.confidence) / n);
        return e == 0 ? none : none + e * (added_errors(n, 1, rules) - none);
    }
    if (e + 0.5 >= n) return std::max(n - e, 0.0);
    const double z = rules.deviate, f = (e + 0.5) / n;
    const double spread = std::sqrt(f / n - f * f / n + z * z / (4 * n * n));
    return (f + z * z / (2 * n) + z * spread) / (1 + z * z / n) * n - e;
}

inline double least_cost(const double* cell, const ErrorRules& rules) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < rules.classes; ++j) {
        double cost = 0;
        for (std::size_t i = 0; i < rules.classes; ++i)
            cost += cell[i] * rules.costs[i * rules.classes + j];
        least = std::min(least, cost);
    }
    return least;
}

inline double weight_of(const double* cell, std::size_t classes) {
    double weight = 0;
    for (std::size_t k = 0; k < classes; ++k) weight += cell[k];
    return weight;
}

// Added up, so that it is 0 where there is none: a difference would be rounded.
inline double weight_outside_majority(const double* cell, std::size_t classes) {
    const double* most = std::max_element(cell, cell + classes);
    return weight_of(cell, std::size_t(most - cell)) +
           weight_of(most + 1, std::size_t(cell + classes - most - 1));
}

// Errors to be expected of a leaf with these class weights.
inline double expected_errors(const double* cell, const ErrorRules& rules) {
    const double n = weight_of(cell, rules.classes);
    if (n == 0) return 0;
    const double e = rules.costs != nullptr ? least_cost(cell, rules)
                                            : weight_outside_majority(cell, rules.classes);
    return e + added_errors(n, e, rules);
}

}  // namespace ceiba::tree
