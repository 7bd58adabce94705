// Error-based pruning: a node becomes a leaf, or is replaced by its heaviest branch, where the
// errors to be expected do not grow by that.
//
// A branch that is raised gets all rows of the node above it, and whatever lies below is looked at
// again: rows are sent down many times.
//
// Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/expected_errors.hpp"
#include "tree/row_stack.hpp"

namespace ceiba::tree {

// Rows that a tree was grown from; those without weight count as absent.
struct TrainingRows {
    const std::vector<AnyColumn>& columns;
    GapWays gaps;
    std::size_t rows = 0;
    const std::uint16_t* label = nullptr;
    const double* weight = nullptr;  // null: 1 each
};

// One change: the node became a leaf (`replacing` is -1) or made room for `replacing`.
struct PruneStep {
    std::int32_t node;
    std::int32_t replacing;
    std::int32_t lost;                 // leaves
    double as_leaf, as_is, as_branch;  // errors to be expected
};

// The tree that is left. Branches are neighbours, behind their node, in the order of the old tree.
struct ErrorPruned {
    std::vector<std::int32_t> origin;  // node of the old tree whose test it has, or had
    std::vector<std::int32_t> child;   // first branch; -1 in a leaf
    std::vector<std::int64_t> rows;    // one in parts counts wherever a part of it is
    std::vector<double> weight, value;
    std::vector<PruneStep> steps;
};

// `branches` of every node. The tree has passed `complaint` for the columns; labels lie below the
// number of classes. Equal bits for any number of threads.
ErrorPruned prune_by_errors(const TreeView& tree, const std::int32_t* branches,
                            const TrainingRows& rows, const ErrorRules& rules, int threads);

}  // namespace ceiba::tree
