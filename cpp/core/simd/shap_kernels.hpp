// Shapley values of trees for a block of rows, one row per lane, compiled per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

constexpr std::size_t kShapRows = 8;  // rows of a block

// A split of a real column at a threshold.
struct RealSplit {
    double threshold;
    std::int64_t missing_branch;  // -1 if a missing value follows all branches
    std::int32_t column, split;   // split: index among the inner nodes of the tree
};

// A branch of an inner node, in depth-first order.
struct ShapEdge {
    std::int32_t depth;  // of the branch; the root has depth 0
    // Depth of the nearest edge above with the same column; 0 if none.
    std::int32_t previous_depth;
    std::int32_t parent;  // edge above; -1 at the root
    std::int32_t split, branch;
    std::int32_t column;
    std::int32_t n_closed;  // of a leaf: edges whose subtrees end with it; 0 of an inner node
    std::int32_t leaf;      // row of the values of a leaf
};

// The edges of a tree with their factors at the n points of a quadrature rule: see
// tree/explain/tree_shap.hpp. `factors` has 4 n + 1 numbers per edge:
//
//   [0, n)     ratio if the condition is satisfied
//   [n, 2n)    ratio if it fails here
//   [2n, 3n)   change if it is satisfied
//   [3n, 4n)   change if it fails here
//   [4n]       ratio if a condition on the column failed before
struct ShapTree {
    const ShapEdge* edges;
    std::size_t n_edges, depth;
    const double* factors;
    const double* weights;  // of the points of the rule
    std::size_t n_points;
    const double* values;  // of the leaves, n_values each
    std::size_t n_values;
    std::size_t n_outputs;  // values per column of the result
};

struct ShapKernels {
    // Write the branch of each row of a block at n splits; x has kShapRows values per column.
    void (*branches)(const RealSplit* splits, std::size_t n, const double* x, std::int64_t* branch);
    // Add the values of a block of rows to out[(column * n_outputs + output) * kShapRows + row].
    // `branch` holds the branch of each row at each inner node; -1 if it follows all branches.
    void (*explain)(const ShapTree& tree, const std::int64_t* branch, double* scratch, double* out);
};

// Number of doubles that `explain` needs as scratch.
constexpr std::size_t shap_scratch(std::size_t depth, std::size_t n_points, std::size_t n_values) {
    return (depth + 1) * kShapRows * (n_points * (1 + n_values) + 1);
}

const ShapKernels& shap_kernels();

}  // namespace ceiba
