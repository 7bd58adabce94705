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
    std::span<const std::int32_t>
        branch;                      // -1 where the value in the column of the split is missing
    std::span<const Number> weight;  // empty: 1 each
    std::vector<Number> weights;     // of the rows in each branch
    Number known = 0;                // weight of the rows with a branch

    RoutedRows(std::span<const std::int32_t> branch, std::span<const Number> weight,
               std::size_t n_branches);
    Number weight_of(std::size_t position) const { return weight.empty() ? 1 : weight[position]; }
    std::int32_t heaviest() const;
    Number majority() const { return weights[std::size_t(heaviest())]; }
};

// The best surrogate of one column, and the weight of the rows that it routes as the split does.
struct Agreement {
    Number agreeing_weight = 0;
    Surrogate split;
    std::vector<std::int32_t> category_branches;  // -1 for categories absent from the node

    bool beats_majority(const RoutedRows& rows) const { return agreeing_weight > rows.majority(); }
    // Branch of a code in the surrogate's column, -1 for a missing value.
    std::int32_t branch(std::uint32_t code, std::uint32_t missing_code) const;
    void record(TreeBuilder& builder, std::size_t node) const;
};

// Find the split of a column that agrees best with the branches; its rows are sorted by code.
Agreement best_agreement(const Column& column, std::span<const LargeEntry> sorted,
                         const RoutedRows& rows);

}  // namespace ceiba::tree
