// Totals of a node from its rows, and the best split candidate of each of its columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/grow/grow.hpp"
#include "tree/grow/tree_builder.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

// Compute the totals of a node. `positions` are its rows in `node_targets`; the row at a position
// has the index row_index[position] in the table.
template <typename Rows>
void compute_totals(TreeBuilder& builder, std::size_t node,
                    std::span<const std::uint32_t> positions, const Rows& node_targets,
                    const std::uint32_t* row_index, const Targets& targets,
                    SplitFinder<Rows>& finder) {
    Number* cell = builder.cell(node);
    for (const std::uint32_t position : positions) node_targets.add(cell, position);
    if (positions.empty()) return builder.close_if_leaf(node);
    Node& n = builder.nodes[node];
    if (targets.value != nullptr) {
        for (const std::uint32_t position : positions) {
            const double value = targets.value[row_index[position]];
            n.min_target = std::min(n.min_target, value);
            n.max_target = std::max(n.max_target, value);
            if (targets.weighted_square != nullptr)
                n.squares += targets.weighted_square[row_index[position]];
        }
    }
    if (finder.needs_rows()) {
        const MedianSummary summary = finder.median_of(node_targets, positions);
        n.median = summary.median;
        n.deviation = summary.deviation;
        n.term = -summary.deviation;
    } else {
        n.term = finder.term(cell);
    }
    builder.close_if_leaf(node);
}

struct ColumnCandidates {
    std::vector<std::int32_t> columns;
    std::vector<Candidate> best;
};

// Search the first `columns_per_node` columns, then further ones one by one until a split is found.
// `each(n, body)` calls body(i, thread) for i < n in any order, `find(column, thread, best)` fills
// a candidate; `pause` is called between single columns and checks for an interrupt.
template <typename Each, typename Find, typename Pause>
ColumnCandidates evaluate_columns(const TreeBuilder& builder, std::size_t node, const Each& each,
                                  const Find& find, const Pause& pause) {
    const std::vector<std::int32_t> columns = builder.columns_to_search(node);
    const auto limit = std::size_t(builder.config.columns_per_node);
    const std::size_t n_searched = limit ? std::min(limit, columns.size()) : columns.size();
    ColumnCandidates found;
    found.columns.assign(columns.begin(), columns.begin() + std::ptrdiff_t(n_searched));
    found.best.resize(n_searched);
    each(n_searched, [&](std::size_t i, int thread) {
        find(std::size_t(found.columns[i]), thread, found.best[i]);
    });
    const auto is_split = [](const Candidate& candidate) { return candidate.found(); };
    bool any = std::any_of(found.best.begin(), found.best.end(), is_split);
    for (std::size_t i = n_searched; i < columns.size() && !any; ++i) {
        pause();
        found.columns.push_back(columns[i]);
        found.best.emplace_back();
        find(std::size_t(columns[i]), 0, found.best.back());
        any = found.best.back().found();
    }
    return found;
}

}  // namespace ceiba::tree
