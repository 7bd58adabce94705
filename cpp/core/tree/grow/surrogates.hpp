// Surrogate splits: splits of other columns that route rows as a node's own split does.
//
// Breiman, Friedman, Olshen & Stone (1984), section 5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/grow/tree_builder.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

// Rows of a node with the branches that its split assigns.
struct RoutedRows {
    std::span<const std::int8_t>
        branch;  // 0 or 1; -1 where the value in the column of the split is missing
    std::span<const Number> weight;  // empty: 1 each
    Number known = 0;                // weight of the rows with a branch
    Number majority = 0;             // weight of the rows in the heavier branch

    Number weight_of(std::size_t position) const { return weight.empty() ? 1 : weight[position]; }
};

// The best surrogate of one column, and the weight of the rows that it routes as the split does.
struct Agreement {
    Number agreeing_weight = 0;
    Surrogate split;
    std::vector<std::int32_t> category_branches;  // -1 for categories absent from the node

    bool beats_majority(const RoutedRows& rows) const { return agreeing_weight > rows.majority; }
};

// Find the split of a column that agrees best with the branches; its rows are sorted by code.
Agreement best_agreement(const Column& column, std::span<const LargeEntry> sorted,
                         const RoutedRows& rows);

}  // namespace ceiba::tree
