// A partly grown tree at the boundary: arrays that can be sent to workers, and their checks.
#pragma once

#include <cstring>

#include "training_arrays.hpp"

namespace ceiba::bindings {

// Nodes (bytes), cells, tables, gain and threshold code of the best candidate of every node and
// column, and surrogates (bytes).
using State =
    std::tuple<nb::ndarray<nb::numpy, std::uint8_t>, nb::ndarray<nb::numpy, std::int64_t>,
               nb::ndarray<nb::numpy, std::int32_t>, nb::ndarray<nb::numpy, double>,
               nb::ndarray<nb::numpy, std::uint32_t>, nb::ndarray<nb::numpy, std::uint8_t>>;
using StateIn =
    std::tuple<Array2<const std::uint8_t>, Array1<const std::int64_t>, Array1<const std::int32_t>,
               Array1<const double>, Array1<const std::uint32_t>, Array2<const std::uint8_t>>;

inline State state_of(TreeBuilder&& builder) {
    return {owned_words<std::uint8_t>(std::move(builder.nodes)),
            owned(std::move(builder.cells)),
            owned(std::move(builder.tables)),
            owned(std::move(builder.candidate_gains)),
            owned(std::move(builder.candidate_codes)),
            owned_words<std::uint8_t>(std::move(builder.surrogates))};
}

// Nodes arrive as bytes: every number that is used as an index must be one.
inline void check_nodes(const TreeBuilder& builder) {
    const auto count = std::int64_t(builder.nodes.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const Node& node = builder.nodes[std::size_t(i)];
        require(node.reason <= Reason::kMonotonic && node.shape <= SplitShape::kIntervals &&
                    node.method <= SearchMethod::kIntervals,
                "nodes must have a known reason, shape and method.");
        require(node.parent >= -1 && node.parent < i, "nodes must follow their parents.");
        require(node.reason != Reason::kEmpty || node.parent >= 0, "the root must have rows.");
        if (node.reason != Reason::kSplit) {
            require(!node.expanded(), "only split nodes can have branches.");
            continue;
        }
        require(node.column >= 0 && std::size_t(node.column) < builder.columns,
                "nodes must test columns of the table.");
        require(node.n_branches >= 2 && node.missing_branch >= kHeavierBranch &&
                    node.missing_branch < node.n_branches,
                "split nodes must have 2 or more branches, and missing values one of them.");
        const bool has_table =
            node.shape == SplitShape::kTable || node.shape == SplitShape::kIntervals;
        require(node.shape != SplitShape::kNone && has_table == (node.table >= 0),
                "split nodes must have a threshold or a table.");
        if (!node.expanded()) continue;
        require(node.missing_branch >= 0 && node.child > i &&
                    std::int64_t(node.child) + node.n_branches <= std::int64_t(count),
                "branches must be nodes behind their parent.");
        for (std::int32_t b = 0; b < node.n_branches; ++b)
            require(builder.nodes[std::size_t(node.child + b)].parent == i,
                    "the parent of a branch must be the node that has it.");
    }
}

// Check the branches of a column's categories, which begin at index `table` of the tables.
inline void check_categories(const TreeBuilder& builder, std::int64_t table,
                             std::size_t n_categories, std::int32_t n_branches) {
    require(n_categories <= builder.tables.size() &&
                std::size_t(table) <= builder.tables.size() - n_categories,
            "tables must have a branch for each category of a split.");
    for (std::size_t c = 0; c < n_categories; ++c) {
        const std::int32_t branch = builder.tables[std::size_t(table) + c];
        require(branch >= -1 && branch < n_branches,
                "tables must have branches of the node, or -1.");
    }
}

inline void check_intervals(const TreeBuilder& builder, const Node& node) {
    const std::size_t size = builder.tables.size(), first = std::size_t(node.table);
    require(first < size && builder.n_thresholds(node) >= 1 &&
                builder.n_thresholds(node) < node.n_branches &&
                2 * std::size_t(builder.n_thresholds(node)) < size - first,
            "tables must have the thresholds of the intervals of a split.");
}

// Check the tables of categories, whose lengths depend on the column, and of thresholds.
inline void check_tables(const TreeBuilder& builder, const std::vector<std::uint32_t>& n_codes) {
    for (const Node& node : builder.nodes) {
        if (node.reason != Reason::kSplit) continue;
        if (node.shape == SplitShape::kTable)
            check_categories(builder, node.table, n_codes[std::size_t(node.column)],
                             node.n_branches);
        if (node.shape == SplitShape::kIntervals) check_intervals(builder, node);
    }
    for (const Surrogate& s : builder.surrogates) {
        require(s.node >= 0 && std::size_t(s.node) < builder.nodes.size() && s.column >= 0 &&
                    std::size_t(s.column) < n_codes.size() && (s.flipped | 1) == 1,
                "surrogates must have a node and a column of the tree.");
        if (s.table >= 0) check_categories(builder, s.table, n_codes[std::size_t(s.column)], 2);
    }
}

inline std::vector<std::uint32_t> code_counts(const std::vector<Column>& columns) {
    std::vector<std::uint32_t> counts;
    for (const Column& column : columns) counts.push_back(column.n_codes);
    return counts;
}

inline TreeBuilder builder_of(const TreeConfig& config, std::size_t columns,
                              const std::optional<StateIn>& state) {
    TreeBuilder builder(checked(config), columns);
    if (!state) return builder;
    const auto& [nodes, cells, tables, gains, threshold_codes, surrogates] = *state;
    require(nodes.shape(1) == sizeof(Node) && nodes.shape(0) >= 1,
            "state: nodes must be at least one record of a node.");
    require(cells.shape(0) == nodes.shape(0) * builder.size,
            "state: cells must have one cell per node.");
    builder.nodes.resize(nodes.shape(0));
    std::memcpy(builder.nodes.data(), nodes.data(), nodes.nbytes());
    builder.cells.assign(cells.data(), cells.data() + cells.size());
    builder.tables.assign(tables.data(), tables.data() + tables.size());
    require(surrogates.shape(0) == 0 || surrogates.shape(1) == sizeof(Surrogate),
            "state: surrogates must be records of surrogates.");
    builder.surrogates.resize(surrogates.shape(0));
    if (surrogates.shape(0) > 0)
        std::memcpy(builder.surrogates.data(), surrogates.data(), surrogates.nbytes());
    const std::size_t kept = config.keep_candidates ? nodes.shape(0) * columns : 0;
    require(gains.shape(0) == kept && threshold_codes.shape(0) == kept,
            "state: candidates must have one entry per node and column if they are kept.");
    builder.candidate_gains.assign(gains.data(), gains.data() + kept);
    builder.candidate_codes.assign(threshold_codes.data(), threshold_codes.data() + kept);
    builder.config.root_weight = double(builder.weight(0));
    check_nodes(builder);
    builder.restore_interactions();
    return builder;
}

// A checked builder of a state and the encoding of its columns.
inline TreeBuilder checked_builder(const TreeConfig& config, const std::vector<Column>& columns,
                                   const std::optional<StateIn>& state) {
    check_constraints(config, columns);
    TreeBuilder builder = builder_of(config, columns.size(), state);
    check_tables(builder, code_counts(columns));
    return builder;
}

}  // namespace ceiba::bindings
