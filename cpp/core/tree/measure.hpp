// The totals of a node, from its rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/finder.hpp"
#include "tree/growth.hpp"
#include "tree/problem.hpp"

namespace ceiba::tree {

// `places` are the node's rows in `payload`; row `place` has the number numbers[place] in the
// table.
template <typename Rows>
void measure(Growth& growth, std::size_t node, std::span<const std::uint32_t> places,
             const Rows& payload, const std::uint32_t* numbers, const Targets& targets,
             Finder<Rows>& finder) {
    Number* cell = growth.cell(node);
    for (const std::uint32_t place : places) payload.add(cell, place);
    if (places.empty()) return growth.close_if_done(node);
    Node& n = growth.nodes[node];
    if (targets.value != nullptr) {
        for (const std::uint32_t place : places) {
            const double value = targets.value[numbers[place]];
            n.least = std::min(n.least, value);
            n.most = std::max(n.most, value);
            if (targets.square != nullptr) n.squares += targets.square[numbers[place]];
        }
    }
    if (finder.by_rows()) {
        const Middle middle = finder.middle(payload, places);
        n.median = middle.median;
        n.deviation = middle.deviation;
        n.term = -middle.deviation;
    } else {
        n.term = finder.term(cell);
    }
    growth.close_if_done(node);
}

}  // namespace ceiba::tree
