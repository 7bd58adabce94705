// Functions that grow a tree from encoded columns and fixed-point targets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tree/encode/columns.hpp"
#include "tree/grow/tree_builder.hpp"

namespace ceiba::tree {

// Target and weight of every row: a class label, or a number.
struct Targets {
    const std::uint16_t* label = nullptr;     // classification
    const Number* weighted_target = nullptr;  // weight * target; absolute error: rank of the target
    const Number* weighted_square = nullptr;  // weight * target^2
    const double* value = nullptr;            // target
    const Number* weight = nullptr;           // null: 1 each
    const double* ranked = nullptr;           // absolute error: target of each rank
    const Number* weight_without_costs = nullptr;  // for surrogates; null: same as `weight`
};

// Grow a whole tree on rows in memory, or continue one: `node` is then the node of every row, -1
// for rows in leaves.
template <typename Code>
void grow(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
          const std::int32_t* node, int threads);

// Sort the entries of every column, for Columns::sorted.
template <typename Code>
std::vector<std::uint64_t> presort(const Columns<Code>& columns, int threads);

// Grow a whole tree whose missing values are fractional or follow surrogates (missing_grower.cpp).
template <typename Code>
void grow_with_missing(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
                       int threads);

// Sums over the rows of the open nodes at one depth: a cell per (slot, column, code), that of
// missing values behind a column's codes. The slot of a row is -1 if its node is not open.
struct DepthSums {
    Number* cells;       // n_slots x codes of all columns x cell size
    Number* squares;     // n_slots
    double* min_target;  // n_slots
    double* max_target;  // n_slots
};
template <typename Code>
void add_depth_sums(const Columns<Code>& columns, const Targets& targets, const TreeConfig& config,
                    const std::int32_t* slot, const DepthSums& out, int threads);

// Decide the splits of `nodes` from the sums of their rows, and make their branches.
void solve_depth(TreeBuilder& builder, const std::vector<Column>& columns,
                 const std::vector<std::int32_t>& nodes, const DepthSums& sums);

}  // namespace ceiba::tree
