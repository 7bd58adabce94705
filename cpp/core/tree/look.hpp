// The columns that a node looks at, and their best candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/growth.hpp"

namespace ceiba::tree {

struct Looked {
    std::vector<std::int32_t> columns;
    std::vector<Candidate> best;
};

// The columns drawn first, and then others one by one as long as none can be split.
// `each(n, body)` calls body(i, thread) for i < n in any order, `find(column, thread, best)` fills
// a candidate; `pause` is called between those, to hear an interrupt.
template <typename Each, typename Find, typename Pause>
Looked look(const Growth& growth, std::size_t node, const Each& each, const Find& find,
            const Pause& pause) {
    const std::vector<std::int32_t> drawn = growth.drawn(node);
    const auto asked = std::size_t(growth.rules.columns_a_node);
    const std::size_t wanted = asked ? std::min(asked, drawn.size()) : drawn.size();
    Looked found;
    found.columns.assign(drawn.begin(), drawn.begin() + std::ptrdiff_t(wanted));
    found.best.resize(wanted);
    each(wanted, [&](std::size_t i, int thread) {
        find(std::size_t(found.columns[i]), thread, found.best[i]);
    });
    const auto splits = [](const Candidate& candidate) { return candidate.found(); };
    bool any = std::any_of(found.best.begin(), found.best.end(), splits);
    for (std::size_t i = wanted; i < drawn.size() && !any; ++i) {
        pause();
        found.columns.push_back(drawn[i]);
        found.best.emplace_back();
        find(std::size_t(drawn[i]), 0, found.best.back());
        any = found.best.back().found();
    }
    return found;
}

}  // namespace ceiba::tree
