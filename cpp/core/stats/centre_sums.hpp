// The E step of k-means: every row to its nearest centre, and the sums that the M step needs.
//
// Lloyd (1982), "Least squares quantization in PCM", with the bounds of Hamerly (2010), "Making
// k-means even faster": an upper bound on the distance to a row's own centre and a lower bound on
// the distance to any other decide most rows without a distance.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel.hpp"
#include "views.hpp"

namespace ceiba {

template <typename T>
struct CentreProblem {
    Matrix<const T> X;
    const double* weight = nullptr;  // n, or null: every row counts 1
    const double* offset = nullptr;  // d: sums are of (row - offset)
    Matrix<const double> centres;
    bool gaps = false;  // X has NaN: distances over observed columns

    // Columns of the table of sums: each centre's sums, its weight (with gaps: its weight in each
    // column) and how many rows it has.
    std::size_t width() const { return gaps ? 2 * X.cols + 1 : X.cols + 2; }
    Segments parts() const;
};

// What is remembered of the rows from one step to the next. Any of it may be absent (null).
struct RowState {
    std::int32_t* labels = nullptr;  // n
    float* upper = nullptr;          // n: the bounds
    float* lower = nullptr;          // n
    double* sums = nullptr;  // segments x 2 x k x (d + 2): each segment's sums and their rounding
                             // errors, so that a step only touches the rows that moved
    const double* previous = nullptr;  // k x d: the centres that all this was made with; null: the
                                       // state is fresh and only written
    bool fresh() const { return previous == nullptr; }
};

struct CentreTotals {
    double* table = nullptr;    // k x width, or null: only the labels are wanted
    double* squared = nullptr;  // n squared distances to the own centre, or null
    bool want_inertia = false;
    double inertia = 0;
    std::size_t moved = 0;    // rows whose label changed (all, when fresh)
    std::size_t scanned = 0;  // rows that had to look at every centre
};

template <typename T>
void centre_sums(const CentreProblem<T>& problem, const RowState& state, int threads,
                 CentreTotals& totals);

// Squared distances of every row to every centre, n x k. With gaps they are scaled by d / observed.
template <typename T>
void squared_distances(const CentreProblem<T>& problem, int threads, T* out);

}  // namespace ceiba
