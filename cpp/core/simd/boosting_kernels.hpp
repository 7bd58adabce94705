// Loops of gradient boosting that gain from SIMD, compiled once for each instruction set.
//
// Scores are compared for equality, so they must have the same bits under every instruction set: no
// contraction into fused multiply-adds (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

// Sums of a node and the regularization of its splits.
struct NewtonSplit {
    double gradient, hessian;
    double reg_lambda, reg_alpha, min_child_weight;
};

// Largest and summed absolute gradients, largest and summed Hessians, and whether all Hessians are
// equal.
struct GradientSummary {
    double max_gradient = 0, max_hessian = 0, gradient_sum = 0, hessian_sum = 0;
    bool equal_hessians = true;
};

// A test of the codes of rows: `count` codes from `first` on go to the right branch.
struct RightCodes {
    std::uint32_t first, count;

    bool contain(std::uint32_t code) const { return code - first < count; }
};

// A tree whose inner nodes test floats, node by node. The test of a node has its column in the
// lower half, then the branch of missing values, then its first branch; a leaf is its own branch,
// with a threshold of NaN.
struct WalkNodes {
    const float* threshold;
    const std::uint32_t* test;
    std::size_t count;
};
// Both arrays have at least this many entries.
constexpr std::size_t kWalkPadding = 128;
constexpr std::uint32_t kWalkColumnMask = 0xFFFF;
constexpr int kWalkMissingBit = 16, kWalkChildShift = 17;
// Marks the leaf of a row that met a threshold of the same bits as its value.
constexpr std::uint32_t kWalkEqual = 0x80000000;

struct BoostingKernels {
    // Summary of n gradients and Hessians; `first_hessian` is that of the first row of all.
    GradientSummary (*summarize)(const double* gradient, const double* hessian, std::size_t n,
                                 double first_hessian);
    // Round n numbers times a factor to the nearest integers.
    void (*round)(const double* x, std::size_t n, double factor, std::int64_t* units);
    // Pack n rounded gradients and Hessians of at least one unit into words
    // (boosting/quantized.hpp); returns the sum of the words.
    std::uint64_t (*pack)(const std::int64_t* gradient, const std::int64_t* hessian, std::size_t n,
                          std::uint64_t* words);
    // Copy n ascending rows to `out`, those of the left branch from its front on and those of the
    // right one from its back on; returns the number on the left. `codes` are those of all rows of
    // the table, `n_table_rows`.
    std::size_t (*partition)(const std::uint8_t* codes, std::size_t n_table_rows,
                             const std::uint32_t* rows, std::size_t n, const RightCodes& right,
                             std::uint32_t* out);
    // Sums of the first 1, 2, ... n packed words (boosting/quantized.hpp): gradients and Hessians,
    // times their units.
    void (*prefix_sums)(const std::uint64_t* words, std::size_t n, double gradient_unit,
                        double hessian_unit, double* gradient, double* hessian);
    // Write the indices of the words that are not zero; returns their number. `indices` has room
    // for n.
    std::size_t (*find_nonzero)(const std::uint64_t* words, std::size_t n, std::uint32_t* indices);
    // Scores T(G)^2 / (H + reg_lambda) of both sides of m splits, added; minus infinity where a
    // side has no Hessian or less than min_child_weight. `add_*` are added to all left sums.
    void (*scores)(const double* gradient, const double* hessian, std::size_t m,
                   double add_gradient, double add_hessian, const NewtonSplit& split, double* out);
    // Gradients and Hessians of the binary log-loss for n rows.
    void (*logistic_gradients)(const double* y, const double* raw, const double* weight,
                               std::size_t n, double* gradient, double* hessian);
    // The same of the multinomial log-loss: `classes` arrays of n numbers each, `stride` apart.
    void (*softmax_gradients)(const std::int32_t* label, const double* raw, const double* weight,
                              std::size_t n, std::size_t stride, std::size_t classes,
                              double* gradient, double* hessian);
    // Find the leaves of n rows of `width` floats; n is a multiple of kWalkRows.
    void (*walk)(const WalkNodes& nodes, const float* rows, std::size_t n, std::size_t width,
                 std::uint32_t* leaf);
};

// Rows that walk through a tree together.
constexpr std::size_t kWalkRows = 64;

const BoostingKernels& boosting_kernels();

}  // namespace ceiba
