// Rows on their way through the trees of a forest, and what the leaves say of them.
//
// A tree stays in the cache while the rows of a block pass through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.hpp"
#include "forest/sampling.hpp"

namespace ceiba::forest {

// Rows to route: a matrix of reals, row after row, where all tests are of reals, or columns.
struct ForestRows {
    const double* doubles = nullptr;
    const float* floats = nullptr;
    std::vector<tree::AnyColumn> columns;
    std::size_t rows = 0;
    std::size_t width = 0;
};

// Leaves of rows[0 .. n), numbered within the tree.
void route_rows(const ForestView& forest, const ForestRows& table, std::size_t tree,
                std::span<const std::uint32_t> rows, std::int32_t* leaf);
// ... each with the value that the row `from[i]` has in one column.
void route_changed(const ForestView& forest, const ForestRows& table, std::size_t tree,
                   std::span<const std::uint32_t> rows, std::size_t column,
                   std::span<const std::uint32_t> from, std::int32_t* leaf);

// The leaf of every (row, tree).
void apply(const ForestView& forest, const ForestRows& table, std::int32_t* leaf, int threads);
// The mean, over the trees, of what they say of every row: shares of classes, after `added[t]` was
// added to each class in every leaf of tree t, or a number.
void tell(const ForestView& forest, const ForestRows& table, const double* added, double* out,
          int threads);

}  // namespace ceiba::forest
