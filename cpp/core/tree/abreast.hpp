// Several rows on their way down a tree at once: while one waits for its next node, the others go
// on. One that has arrived makes room for the next row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tree/packed.hpp"

namespace ceiba::tree {

constexpr std::size_t kAbreast = 16;

// The leaf of each of n rows: `row(i)` is what `step(node, row)` needs to tell the next node.
template <typename Row, typename Step>
void walk_abreast(const PackedNode* nodes, std::size_t n, const Row& row, const Step& step,
                  std::int32_t* leaf) {
    using Values = decltype(row(std::size_t(0)));
    std::size_t place[kAbreast];
    Values values[kAbreast];
    std::int32_t at[kAbreast] = {};
    std::size_t active = std::min(kAbreast, n), next = active;
    for (std::size_t s = 0; s < active; ++s) {
        place[s] = s;
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
            leaf[place[s]] = at[s];
            if (next < n) {
                place[s] = next;
                values[s] = row(next++);
                at[s] = 0;
            } else {
                --active;
                place[s] = place[active];
                values[s] = values[active];
                at[s] = at[active];
            }
        }
    }
}

// The next node of a row of reals.
template <typename T>
std::int32_t next_of_reals(const PackedNode& node, const T* row) {
    const double x = double(row[node.column()]);
    const std::int32_t known = !(x <= std::bit_cast<double>(node.cut));
    return node.child + (x != x ? std::int32_t(node.gap()) : known);
}

}  // namespace ceiba::tree
