// Interleaved routing of several rows: while one row loads its next node, the others advance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tree/predict/packed_tree.hpp"

namespace ceiba::tree {

constexpr std::size_t kRowsInFlight = 16;

// Find the leaf of each of n rows. `row(i)` is the argument from which `step(node, row)` computes
// the next node. A row that reaches its leaf is replaced by the next row.
template <typename Row, typename Step>
void walk_interleaved(const PackedNode* nodes, std::size_t n, const Row& row, const Step& step,
                      std::int32_t* leaf) {
    using ColumnValues = decltype(row(std::size_t(0)));
    std::size_t row_index[kRowsInFlight];
    ColumnValues values[kRowsInFlight];
    std::int32_t at[kRowsInFlight] = {};
    std::size_t active = std::min(kRowsInFlight, n), next = active;
    for (std::size_t s = 0; s < active; ++s) {
        row_index[s] = s;
        values[s] = row(s);
    }
    while (active > 0) {
        for (std::size_t s = 0; s < active; ++s) {
            const PackedNode& node = nodes[at[s]];
            if (node.kind() != Test::kLeaf) {
                at[s] = step(node, values[s]);
                __builtin_prefetch(nodes + at[s]);
                continue;
            }
            leaf[row_index[s]] = at[s];
            if (next < n) {
                row_index[s] = next;
                values[s] = row(next++);
                at[s] = 0;
            } else {
                --active;
                row_index[s] = row_index[active];
                values[s] = values[active];
                at[s] = at[active];
            }
        }
    }
}

// Next node of a row of floats.
template <typename T>
std::int32_t next_of_real_row(const PackedNode& node, const T* row) {
    const double x = double(row[node.column()]);
    const std::int32_t known = !(x <= std::bit_cast<double>(node.bits));
    return node.child + (x != x ? std::int32_t(node.missing_branch()) : known);
}

}  // namespace ceiba::tree
