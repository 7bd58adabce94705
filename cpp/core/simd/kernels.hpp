// The row kernels: small loops over tiles of rows, compiled once for each instruction set.
//
// They see rows relative to an offset (the mean of the data), so that a common shift of the data
// costs no digits, and centres packed in panels. Everything that decides (ties, bounds, what to do
// next) is above, in plain C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

// Centres, relative to the offset, laid out block by block: [block][column][place in block], so
// that the inner product walks memory in order. Lanes past the last centre have bias -inf.
template <typename T>
struct Panels {
    const T* coordinates;
    const T* bias;  // -|c|^2 / 2: the largest x.c + bias is the nearest centre
    std::size_t blocks;
    T longest;      // the length of the longest centre
    T score_error;  // relative rounding errors: of a score ...
    T norm_error;   // ... and of |x|^2
};

// For each row, with room for whole tiles.
template <typename T>
struct NearestTwo {
    std::int32_t* label;  // the nearest centre, certain where
    T* lead;              // ... its lead over the next, less the rounding error, is positive
    float* upper;         // no less than the distance to it
    float* lower;         // no more than the distance to any other
};

// For each centre: how far it moved, the farthest that another moved, and half the distance to the
// nearest other.
struct BoundMoves {
    const float *own, *other, *half_gap;
};

// Sums over rows, d of each kind.
struct MomentSums {
    double* __restrict weight, * __restrict sum, * __restrict squares;
    double* __restrict least, * __restrict most;
};

template <typename T>
struct Kernels {
    std::size_t tile;          // rows handled together
    std::size_t centre_block;  // centres handled together

    // The two nearest centres of the rows `rows[0..count)` of X. `work` holds tile * d values.
    void (*nearest_two)(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                        const T* offset, const Panels<T>& panels, T* work,
                        const NearestTwo<T>& out);

    // Squared distance of each listed row to the centre it is labelled with (centres: k x d,
    // relative to the offset). With gaps, a missing value (NaN) adds nothing, here and below.
    using SquaredToOwn = void (*)(const T* X, std::size_t d, const std::uint32_t* rows,
                                  std::size_t count, const T* offset, const T* centres,
                                  const std::int32_t* labels, T* out);
    SquaredToOwn squared_to_own;
    SquaredToOwn squared_to_own_gaps;

    // Squared distances of `count` <= tile rows from `first` on to `m` points: out[point][tile].
    using SquaredToPoints = void (*)(const T* X, std::size_t d, std::size_t first,
                                     std::size_t count, const T* offset, const T* points,
                                     std::size_t m, T* work, T* out);
    SquaredToPoints squared_to_points;
    SquaredToPoints squared_to_points_gaps;

    // sums[label] += (weight * (row - offset), weight, 1): k rows of d + 2 (weight: 1 when null).
    void (*add_rows)(const T* X, std::size_t d, std::size_t count, const double* weight,
                     const double* offset, const std::int32_t* labels, double* sums);

    // Weighted sums of powers about a pivot, column by column; returns how many values are missing.
    std::size_t (*add_moments)(const T* X, std::size_t d, std::size_t count, const double* weight,
                               const double* pivot, const MomentSums& sums);

    // One tile of a k-means++ race: rate = weight * min(nearest, distance), added to totals lane by
    // lane; whether any row could finish before `limit`, by the bound 1 - u <= -log(u).
    bool (*race_rates)(const T* nearest, const T* distances, const double* weights,
                       const double* draws, double limit, double* rates, double* totals);

    // One row into a sum, with the rounding errors of d sums and the weight kept in `lost`: a row
    // that enters and leaves leaves nothing behind, whatever its size.
    void (*add_row_exactly)(const T* x, std::size_t d, double weight, const double* offset,
                            double* sums, double* lost);

    // Centres moved, so bounds loosen: open[i] says that row i's bounds now cross (Hamerly's test).
    void (*loosen)(std::size_t count, const std::int32_t* labels, const BoundMoves& moves,
                   float* upper, float* lower, std::int32_t* open);

    // Uniform draws of the rows first .. first + count.
    void (*uniforms)(std::uint64_t seed, std::uint64_t stream, std::uint64_t first,
                     std::size_t count, double* out);
};

// The kernels of the best instruction set this processor has; CEIBA_ISA=portable|avx2|avx512 in
// the environment asks for a lesser one (tests compare them).
template <typename T>
const Kernels<T>& kernels();

const char* instruction_set();

}  // namespace ceiba
