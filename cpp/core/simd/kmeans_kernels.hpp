// Row kernels of k-means and column moments, compiled once for each instruction set.
//
// Rows are processed in tiles, relative to an offset (the mean of the data), so that a common shift
// of the data costs no precision; centers are packed in panels. Decisions (ties, bounds, control
// flow) are made by the callers, in plain C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

// Centers relative to the offset, stored block by block: [block][column][index in block], so that
// the inner product reads memory in order. Lanes past the last center have bias -inf.
template <typename T>
struct Panels {
    const T* coordinates;
    const T* bias;  // -|c|^2 / 2: the largest x.c + bias is the nearest center
    std::size_t blocks;
    T max_norm;     // the largest norm of a center
    T score_error;  // relative rounding error of a score
    T norm_error;   // relative rounding error of |x|^2
};

// Per row; the arrays have room for whole tiles.
template <typename T>
struct NearestTwo {
    std::int32_t* label;  // the nearest center; certain if `lead` is positive
    T* lead;              // its lead over the second nearest, minus the rounding error
    float* upper;         // upper bound on the distance to it
    float* lower;         // lower bound on the distance to any other center
};

// Per center: how far it moved, the largest movement of another center, and half the distance to
// the nearest other center.
struct CenterMovement {
    const float *own, *other, *half_separation;
};

// Sums over rows, one per column.
struct MomentSums {
    double* __restrict weight, * __restrict sum, * __restrict squares;
    double* __restrict min, * __restrict max;
};

template <typename T>
struct KMeansKernels {
    std::size_t tile;          // rows processed together
    std::size_t center_block;  // centers processed together

    // The two nearest centers of the rows `rows[0..count)` of X. `work` holds tile * d values.
    void (*nearest_two)(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                        const T* offset, const Panels<T>& panels, T* work,
                        const NearestTwo<T>& out);

    // Squared distance of each listed row to the center of its label (centers: k x d, relative to
    // the offset). In the variants for missing values, here and below, a NaN adds nothing.
    using SquaredToOwn = void (*)(const T* X, std::size_t d, const std::uint32_t* rows,
                                  std::size_t count, const T* offset, const T* centers,
                                  const std::int32_t* labels, T* out);
    SquaredToOwn squared_to_own;
    SquaredToOwn squared_to_own_missing;

    // Squared distances of `count` <= tile rows, starting at `first`, to `m` points:
    // out[point][tile].
    using SquaredToPoints = void (*)(const T* X, std::size_t d, std::size_t first,
                                     std::size_t count, const T* offset, const T* points,
                                     std::size_t m, T* work, T* out);
    SquaredToPoints squared_to_points;
    SquaredToPoints squared_to_points_missing;

    // sums[label] += (weight * (row - offset), weight, 1): k rows of d + 2 (weight: 1 if null).
    void (*add_rows)(const T* X, std::size_t d, std::size_t count, const double* weight,
                     const double* offset, const std::int32_t* labels, double* sums);

    // Weighted sums of powers about a pivot, per column; returns the number of missing values.
    std::size_t (*add_moments)(const T* X, std::size_t d, std::size_t count, const double* weight,
                               const double* pivot, const MomentSums& sums);

    // One tile of a k-means++ draw: rate = weight * min(nearest, distance), added to totals lane by
    // lane. Returns whether any key can be below `max_key`, by the bound 1 - u <= -log(u).
    bool (*sampling_rates)(const T* nearest, const T* distances, const double* weights,
                           const double* draws, double max_key, double* rates, double* totals);

    // Add one row to a sum and keep the rounding errors of the d sums and the weight in
    // `compensation`: adding and then removing a row leaves no error, whatever its size.
    void (*add_row_compensated)(const T* x, std::size_t d, double weight, const double* offset,
                                double* sums, double* compensation);

    // Loosen the bounds by the movement of the centers; open[i] is 1 if the bounds of row i now
    // cross (Hamerly's test).
    void (*loosen_bounds)(std::size_t count, const std::int32_t* labels,
                          const CenterMovement& moves, float* upper, float* lower,
                          std::int32_t* open);

    // Uniform draws of the rows first .. first + count.
    void (*uniforms)(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                     std::size_t count, double* out);
};

// The kernels of the best instruction set of this processor; the environment variable
// CEIBA_ISA=portable|avx2|avx512 selects a lesser one (tests compare them).
template <typename T>
const KMeansKernels<T>& kmeans_kernels();

const char* instruction_set();

}  // namespace ceiba
