// Row kernels of Gaussian mixtures with the rows as lanes, compiled once per instruction set.
// A tile holds column after column, kMixtureRows apart.
#pragma once

#include <cstddef>

namespace ceiba {

// 128 rows of 16 columns are 16 KB: a tile and its centered copy share the first-level cache, and a
// block of 16 sums is reduced over its lanes only once per 128 rows.
constexpr std::size_t kMixtureRows = 128;

// Sums of products are stored in blocks of 4 x 4 columns, of which the lower triangle is computed.
constexpr std::size_t kSide = 4;
constexpr std::size_t side_blocks(std::size_t d) { return (d + kSide - 1) / kSide; }
// So is a lower triangular factor: panels of four rows, each stored by columns (see pack_panels).
constexpr std::size_t triangle_size(std::size_t d) {
    return side_blocks(d) * (side_blocks(d) + 1) / 2 * kSide * kSide;
}
// Index of the sum of column i times column j <= i among the blocks.
constexpr std::size_t triangle_index(std::size_t i, std::size_t j) {
    const std::size_t block = i / kSide * (i / kSide + 1) / 2 + j / kSide;
    return block * kSide * kSide + i % kSide * kSide + j % kSide;
}

struct MixtureKernels {
    // Rows processed together; a tile is padded to a multiple of it.
    std::size_t group;
    // Lanes of one vector accumulator.
    std::size_t lanes;

    // Transpose `count` rows of X (stride d) into lanes and repeat the last row up to `padded`.
    // `readable` values may be read from X on.
    void (*pack)(const double* X, std::size_t d, std::size_t count, std::size_t padded,
                 std::size_t readable, double* tile);
    void (*pack_float)(const float* X, std::size_t d, std::size_t count, std::size_t padded,
                       std::size_t readable, double* tile);

    // out = norm - |P (x - mean)|^2 / 2 with P in panels; `work` holds side_blocks(d) * 4 columns.
    void (*triangular)(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                       const double* panels, double norm, double* work, double* out);

    // The same for diagonal P.
    void (*diagonal)(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                     const double* factor, double norm, double* out);
    // A missing value (NaN) adds nothing; an observed value adds its log_norm.
    void (*diagonal_missing)(const double* tile, std::size_t d, std::size_t padded,
                             const double* mean, const double* factor, const double* log_norm,
                             double norm, double* out);

    // Turn k rows of joint log densities into weighted responsibilities, in place; the log density
    // of each row goes to `density` unless it is null. Returns the weighted sum of log densities. A
    // row at infinite distance from all components gets equal responsibilities.
    double (*responsibilities)(double* joint, std::size_t k, std::size_t padded,
                               const double* weight, double* density);

    // first += sum r (x - pivot), second += sum r (x - pivot)(x - pivot)' in blocks; returns sum r.
    // `work` holds (side_blocks(d) + 1) * 4 columns.
    double (*full_moments)(const double* tile, std::size_t d, std::size_t padded,
                           const double* pivot, const double* r, double* work, double* first,
                           double* second);

    // The same for the squares alone, lane by lane: sums holds 2 vectors per column (first,
    // second).
    double (*diagonal_moments)(const double* tile, std::size_t d, std::size_t padded,
                               const double* pivot, const double* r, double* sums);
    // With missing values: 3 vectors per column (first, second, weight of the observed values).
    double (*diagonal_moments_missing)(const double* tile, std::size_t d, std::size_t padded,
                                       const double* pivot, const double* r, double* sums);

    // out = start + sum_i slope[i] (x_i - mean_i): regression of a missing column on the observed
    // ones.
    void (*regress)(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                    const double* slope, double start, double* out);
};

// The kernels of the best instruction set of this processor.
const MixtureKernels& mixture_kernels();

}  // namespace ceiba
