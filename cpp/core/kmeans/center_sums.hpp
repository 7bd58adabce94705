// The assignment step of k-means: nearest center of every row and the sums of the update step.
//
// Lloyd (1982), "Least squares quantization in PCM", with the bounds of Hamerly (2010), "Making
// k-means even faster": an upper bound on the distance to a row's own center and a lower bound on
// the distance to any other decide most rows without a distance.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/parallel.hpp"
#include "common/views.hpp"

namespace ceiba {

template <typename T>
struct CenterProblem {
    Matrix<const T> X;
    const double* weight = nullptr;  // n, or null: every row counts 1
    const double* offset = nullptr;  // d: sums are of (row - offset)
    Matrix<const double> centers;
    bool has_missing = false;  // X contains NaN: distances use the observed columns

    // Columns of the table of sums: the center's sums, its weight (with missing values: its weight
    // in each column) and its number of rows.
    std::size_t width() const { return has_missing ? 2 * X.cols + 1 : X.cols + 2; }
    Segments parts() const;
};

// Row state carried from one iteration to the next. Any part may be absent (null).
struct RowState {
    std::int32_t* labels = nullptr;  // n
    float* upper = nullptr;          // n: upper bound on the distance to the row's own center
    float* lower = nullptr;          // n: lower bound on the distance to any other center
    double* sums = nullptr;  // segments x 2 x k x (d + 2): sums of each segment and their rounding
                             // errors, so that an iteration updates only the rows that moved
    const double* previous = nullptr;  // k x d: the centers that the state was computed with; null:
                                       // the state is fresh and only written
    bool fresh() const { return previous == nullptr; }
};

struct CenterTotals {
    double* table = nullptr;    // k x width, or null: only labels are computed
    double* squared = nullptr;  // n squared distances to the row's own center, or null
    bool compute_inertia = false;
    double inertia = 0;
    std::size_t moved = 0;    // rows whose label changed (all, when fresh)
    std::size_t scanned = 0;  // rows compared with every center
};

template <typename T>
void center_sums(const CenterProblem<T>& problem, const RowState& state, int threads,
                 CenterTotals& totals);

// Squared distances of every row to every center, n x k. With missing values they are scaled by d /
// (number of observed columns).
template <typename T>
void squared_distances(const CenterProblem<T>& problem, int threads, T* out);

}  // namespace ceiba
