// Error-based pruning: replace a node by a leaf, or by its heaviest branch, if the expected errors
// do not increase.
//
// A raised branch receives all rows of the node that it replaces, and the nodes below are visited
// again: rows are routed many times.
//
// Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/prune/expected_errors.hpp"
#include "tree/prune/row_stack.hpp"

namespace ceiba::tree {

// Rows that the tree was grown from; rows of zero weight are ignored.
struct TrainingRows {
    const std::vector<AnyColumn>& columns;
    MissingRouting routing;
    std::size_t rows = 0;
    const std::uint16_t* label = nullptr;
    const double* weight = nullptr;  // null: 1 each
};

// One change: the node became a leaf (`replacing` is -1), or was replaced by `replacing`.
struct PruneStep {
    std::int32_t node;
    std::int32_t replacing;
    std::int32_t leaves_removed;
    double leaf_errors, subtree_errors, branch_errors;  // expected errors of the three choices
};

// The pruned tree. Branches are contiguous and follow their node, in the order of the old tree.
struct PrunedTree {
    std::vector<std::int32_t> origin;  // node of the old tree whose test this node has, or had
    std::vector<std::int32_t> child;   // first branch; -1 in a leaf
    std::vector<std::int64_t> rows;  // a divided row counts in every node that has a fraction of it
    std::vector<double> weight, value;
    std::vector<PruneStep> steps;
};

// `n_branches` of every node. The tree has passed `tree_defect` for the columns, and labels are
// less than the number of classes. The result has equal bits for any number of threads.
PrunedTree prune_by_errors(const TreeView& tree, const std::int32_t* n_branches,
                           const TrainingRows& rows, const ErrorPruneConfig& config, int threads);

}  // namespace ceiba::tree
