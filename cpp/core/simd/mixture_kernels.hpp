// The row kernels of Gaussian mixtures: tiles of rows with the rows as lanes, compiled once for
// each instruction set. A tile holds column after column, kMixtureRows apart.
#pragma once

#include <cstddef>

namespace ceiba {

// 128 rows of 16 columns are 16 KB: a tile and its centred copy share the first cache, and a block
// of 16 sums is reduced over its lanes only once in 128 rows.
constexpr std::size_t kMixtureRows = 128;

// Sums of products are kept in blocks of 4 x 4 columns, of which the lower triangle is computed.
constexpr std::size_t kSide = 4;
constexpr std::size_t side_blocks(std::size_t d) { return (d + kSide - 1) / kSide; }
// So is a lower triangular factor: panels of four rows, each column by column (see pack_panels).
constexpr std::size_t triangle_size(std::size_t d) {
    return side_blocks(d) * (side_blocks(d) + 1) / 2 * kSide * kSide;
}
// Where the sum of column i times column j <= i stands among the blocks.
constexpr std::size_t triangle_place(std::size_t i, std::size_t j) {
    const std::size_t block = i / kSide * (i / kSide + 1) / 2 + j / kSide;
    return block * kSide * kSide + i % kSide * kSide + j % kSide;
}

struct MixtureKernels {
    // Rows are handled this many together; a tile is filled up to a multiple of it.
    std::size_t group;
    // Doubles that one vector accumulator takes.
    std::size_t lanes;

    // Rows become lanes: `count` rows of X, stride d; the last is repeated up to `padded`. From X
    // on, `readable` values may be read.
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
    // A missing value (NaN) adds nothing; an observed one adds its log_norm.
    void (*diagonal_gaps)(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                          const double* factor, const double* log_norm, double norm, double* out);

    // From k rows of joint log densities to weighted responsibilities, in place; the log density of
    // each row goes to `density` unless it is null. Returns the weighted sum of log densities. A
    // row that is infinitely far from all components belongs to all alike.
    double (*responsibilities)(double* joint, std::size_t k, std::size_t padded,
                               const double* weight, double* density);

    // first += sum r (x - pivot), second += sum r (x - pivot)(x - pivot)' in blocks; returns sum r.
    // `work` holds (side_blocks(d) + 1) * 4 columns.
    double (*full_moments)(const double* tile, std::size_t d, std::size_t padded,
                           const double* pivot, const double* r, double* work, double* first,
                           double* second);

    // The same for the squares alone, lane by lane: sums holds 2 vectors a column (first, second).
    double (*diagonal_moments)(const double* tile, std::size_t d, std::size_t padded,
                               const double* pivot, const double* r, double* sums);
    // With gaps: 3 vectors a column (first, second, weight of the observed values).
    double (*diagonal_moments_gaps)(const double* tile, std::size_t d, std::size_t padded,
                                    const double* pivot, const double* r, double* sums);

    // out = start + sum_i slope[i] (x_i - mean_i): a missing column given the observed ones.
    void (*regress)(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                    const double* slope, double start, double* out);
};

// The kernels of the best instruction set this processor has.
const MixtureKernels& mixture_kernels();

}  // namespace ceiba
