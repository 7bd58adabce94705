// Greedy k-means++ seeding with one pass per center and the same draws on any partitioning.
//
// Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", in its greedy
// form. A row is drawn with probability proportional to its weight times its squared distance D^2
// to the chosen centers: it is the row with the smallest key -log(u) / (w D^2), where u is the
// row's own keyed uniform draw. The M smallest keys are M draws without replacement (Efraimidis &
// Spirakis 2006), and two partitions are merged by keeping their M smallest keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/views.hpp"

namespace ceiba {

template <typename T>
struct PlusPlusProblem {
    Matrix<const T> X;
    const double* weight = nullptr;
    const double* offset = nullptr;
    Matrix<const double> chosen;      // centers chosen so far
    Matrix<const double> candidates;  // one of these becomes the next center
    T* nearest = nullptr;             // n: D^2 to the first `n_cached` chosen centers, or null
    std::size_t n_cached = 0;
    bool has_missing = false;
    std::uint64_t seed = 0, stream = 0, first_row = 0;
};

struct PlusPlusTotals {
    std::size_t n_draws = 0;       // M
    double* potential = nullptr;   // per candidate: sum of w D^2 if it were chosen
    double* keys = nullptr;        // candidates x M: keys in ascending order, +inf if absent
    std::int64_t* rows = nullptr;  // candidates x M: global rows, -1 if absent
};

// Without chosen centers and candidates, rows are drawn by weight alone (one list of M).
template <typename T>
void next_candidates(const PlusPlusProblem<T>& problem, int threads, const PlusPlusTotals& totals);

}  // namespace ceiba
