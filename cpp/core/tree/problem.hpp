// What a tree is grown from: coded columns, and targets as fixed-point numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tree/columns.hpp"
#include "tree/growth.hpp"

namespace ceiba::tree {

// Of every row: a class, or a number; its weight where rows have weights.
struct Targets {
    const std::uint16_t* label = nullptr;  // classes
    const Number* number = nullptr;        // weight times target; absolute error: rank of target
    const Number* square = nullptr;        // weight times target squared
    const double* value = nullptr;         // target
    const Number* weight = nullptr;        // null: 1 each
    const double* ranked = nullptr;        // absolute error: the target of each rank
    const Number* plain = nullptr;         // surrogates: the weight without costs; null: `weight`
};

// Grow the whole tree on rows in memory, or go on with one: `node` is then the node of every row,
// -1 for rows of leaves.
template <typename Code>
void grow(Growth& growth, const Columns<Code>& columns, const Targets& targets,
          const std::int32_t* node, int threads);

// Entries of every column in order, for Columns::sorted.
template <typename Code>
std::vector<std::uint64_t> presorted(const Columns<Code>& columns, int threads);

// Grow the whole tree where gaps are fractional or follow surrogates (gap_grow.cpp).
template <typename Code>
void grow_by_gaps(Growth& growth, const Columns<Code>& columns, const Targets& targets,
                  int threads);

// Cells of every (slot, column, code), the gap's behind a column's codes; `slot` of every row, -1
// for none.
struct LevelSums {
    Number* cells;    // slots x codes of all columns x cell
    Number* squares;  // slots
    double* least;    // slots
    double* most;     // slots
};
template <typename Code>
void level_sums(const Columns<Code>& columns, const Targets& targets, const GrowthRules& rules,
                const std::int32_t* slot, const LevelSums& out, int threads);

// Decide the splits of `nodes` from the sums of their rows, and make their branches.
void solve_level(Growth& growth, const std::vector<Column>& columns,
                 const std::vector<std::int32_t>& nodes, const LevelSums& sums);

}  // namespace ceiba::tree
