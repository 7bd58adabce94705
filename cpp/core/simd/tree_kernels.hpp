// Loops of the tree engine that gain from SIMD, compiled once for each instruction set.
//
// Scores are compared for equality across columns and engines, so they must have the bits of the
// plain formulas of tree/split/criterion.hpp: no contraction into fused multiply-adds
// (CMakeLists.txt).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

struct TreeKernels {
    // Scores of m splits under Gini: rows on the left, and sums of squared class counts on both
    // sides.
    void (*gini)(const double* rows, const double* left, const double* right, double total,
                 std::size_t m, double* score);
    // Scores of m splits under squared error: weight on the left, sums of targets on both sides.
    void (*squared)(const double* weight, const double* left, const double* right, double total,
                    std::size_t m, double* score);
    double (*largest)(const double* score, std::size_t m);
    // Bin m values: the number of edges below each; `padded` - 1 edges, `padded` a power of two.
    void (*bins)(const double* values, std::size_t m, const double* edges, std::size_t padded,
                 std::uint32_t* bin);
    void (*single_bins)(const float* values, std::size_t m, const float* edges, std::size_t padded,
                        std::uint32_t* bin);
};

const TreeKernels& tree_kernels();

}  // namespace ceiba
