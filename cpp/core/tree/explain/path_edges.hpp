// The edges of a tree in depth-first order, with what the conditions on a path have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/shap_kernels.hpp"
#include "tree/predict/route.hpp"

namespace ceiba::tree {

struct PathEdges {
    std::vector<ShapEdge> edges;
    std::vector<std::int32_t> slot;     // of each edge: index of its column on the path
    std::vector<std::int32_t> splits;   // inner nodes
    std::vector<std::int32_t> leaves;   // nodes that are leaves; `leaf` of an edge is its index
    std::vector<std::int32_t> n_slots;  // of each edge: distinct columns on the path
    std::size_t depth = 0, max_slots = 0;

    explicit PathEdges(const TreeView& tree);
};

// Branch of a row at a node; -1 if trees are fractional and the row follows all branches.
std::int32_t explained_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                              std::size_t row, bool fractional);

// Number of branches of each node, 0 for leaves: branches have consecutive numbers.
std::vector<std::int32_t> branch_counts(const TreeView& tree);

}  // namespace ceiba::tree
