// Splits of other columns that send rows as a node's own split does.
//
// Breiman, Friedman, Olshen & Stone (1984), section 5.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/columns.hpp"
#include "tree/finder.hpp"
#include "tree/growth.hpp"

namespace ceiba::tree {

// Rows of a node as a surrogate sees them.
struct SentRows {
    std::span<const std::int8_t> branch;  // 0 or 1, and -1 where the node's own column has a gap
    std::span<const Number> weight;       // empty: 1 each
    Number known = 0;                     // weight of the rows with a branch
    Number majority = 0;                  // ... of the heavier branch

    Number weight_of(std::size_t place) const { return weight.empty() ? 1 : weight[place]; }
};

// How much weight a split of one column sends right, and the split itself.
struct Agreement {
    Number right = 0;
    Surrogate split;
    std::vector<std::int32_t> levels;  // branch of each, -1 for those that say nothing

    bool helps(const SentRows& rows) const { return right > rows.majority; }
};

// The split of a column, whose rows are sorted by code, that agrees best.
Agreement best_agreement(const Column& column, std::span<const LargeEntry> sorted,
                         const SentRows& rows);

}  // namespace ceiba::tree
