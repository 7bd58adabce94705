// A growing tree as it crosses the boundary, its columns, targets and rules: checked here.
#pragma once

#include <algorithm>

#include "tree/problem.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {

// What every function relies on: a criterion that suits the targets, and cells of a sane size.
inline const GrowthRules& checked(const GrowthRules& rules) {
    require(rules.classes >= 0 && rules.classes <= 0xFFFF, "classes must be 0 to 65535");
    const bool numbers = rules.criterion >= Criterion::kSquared;
    require(numbers == (rules.classes == 0), "the criterion must suit the targets");
    require(
        rules.split.factors.empty() || std::int64_t(rules.split.factors.size()) == rules.classes,
        "factors must be told of every class");
    return rules;
}

struct TargetArrays {
    Maybe1<const std::uint16_t> label;
    Maybe1<const std::int64_t> number, square, weight;
    Maybe1<const double> value, ranked;
    Maybe1<const std::int64_t> plain;

    // Rows in a bag are drawn, and so weighted, later: `bag` asks for neither weights nor squares.
    Targets view(std::size_t rows, const GrowthRules& rules, bool bag = false) const {
        constexpr const char* kLong = "targets and weights must be as many as rows";
        Targets targets;
        targets.label = sized(label, rows, kLong);
        targets.number = sized(number, rows, kLong);
        targets.square = sized(square, rows, kLong);
        targets.weight = sized(weight, rows, kLong);
        targets.value = sized(value, rows, kLong);
        targets.ranked = pointer(ranked);
        targets.plain = sized(plain, rows, kLong);
        checked(rules);
        require(bag || bool(weight) == rules.weighted, "rules and targets disagree about weights");
        for (std::size_t i = 0; targets.weight != nullptr && i < rows; ++i)
            require(targets.weight[i] > 0, "weights are positive");
        if (rules.classes) {
            require(bool(label), "classes need labels");
            for (std::size_t i = 0; i < rows; ++i)
                require(targets.label[i] < rules.classes, "a label lies outside of the classes");
            return targets;
        }
        require(bool(number) && bool(value), "numbers need targets");
        const bool absolute = rules.criterion == Criterion::kAbsolute;
        require(absolute == bool(ranked) && (bag || absolute != bool(square)),
                "ranked targets belong to absolute error, squares to the other criteria");
        for (std::size_t i = 0; absolute && i < rows; ++i)
            require(targets.number[i] >= 0 && std::size_t(targets.number[i]) < ranked->shape(0),
                    "a rank lies outside of the targets");
        return targets;
    }
};

// A growing tree as arrays: nodes (bytes), cells, tables, best gain and cut of every column, and
// surrogates (bytes).
using State =
    std::tuple<nb::ndarray<nb::numpy, std::uint8_t>, nb::ndarray<nb::numpy, std::int64_t>,
               nb::ndarray<nb::numpy, std::int32_t>, nb::ndarray<nb::numpy, double>,
               nb::ndarray<nb::numpy, std::uint32_t>, nb::ndarray<nb::numpy, std::uint8_t>>;
using StateIn =
    std::tuple<Array2<const std::uint8_t>, Array1<const std::int64_t>, Array1<const std::int32_t>,
               Array1<const double>, Array1<const std::uint32_t>, Array2<const std::uint8_t>>;

inline State state_of(Growth&& growth) {
    return {owned_words<std::uint8_t>(std::move(growth.nodes)),
            owned(std::move(growth.cells)),
            owned(std::move(growth.tables)),
            owned(std::move(growth.candidate_gains)),
            owned(std::move(growth.candidate_cuts)),
            owned_words<std::uint8_t>(std::move(growth.surrogates))};
}

// Nodes that came in as bytes: every number that is used as a place must be one.
inline void check_nodes(const Growth& growth) {
    const auto count = std::int64_t(growth.nodes.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const Node& node = growth.nodes[std::size_t(i)];
        require(node.reason <= Reason::kOpen && node.shape <= Shape::kIntervals &&
                    node.method <= Method::kIntervals,
                "a node's reason, shape or method is not known");
        require(node.parent >= -1 && node.parent < i, "a node stands before the one above it");
        require(node.reason != Reason::kEmpty || node.parent >= 0, "a root has rows");
        if (node.reason != Reason::kSplit) {
            require(!node.expanded(), "only a split node has branches");
            continue;
        }
        require(node.column >= 0 && std::size_t(node.column) < growth.columns,
                "a node tests a column that is not there");
        require(node.branches >= 2 && node.gap >= kHeavier && node.gap < node.branches,
                "a node's branches are not what they should be");
        const bool listed = node.shape == Shape::kTable || node.shape == Shape::kIntervals;
        require(node.shape != Shape::kLeaf && listed == (node.table >= 0),
                "a split has a threshold or a table");
        if (!node.expanded()) continue;
        require(node.gap >= 0 && node.child > i && node.child + node.branches <= count,
                "the branches of a node are not where they should be");
        for (std::int32_t b = 0; b < node.branches; ++b)
            require(growth.nodes[std::size_t(node.child + b)].parent == i,
                    "a branch belongs to one node");
    }
}

// Branches of the levels of a column, from some place among the tables on.
inline void check_levels(const Growth& growth, std::int64_t table, std::size_t length,
                         std::int32_t branches) {
    require(length <= growth.tables.size() && std::size_t(table) <= growth.tables.size() - length,
            "the levels of a node are not there");
    for (std::size_t level = 0; level < length; ++level) {
        const std::int32_t branch = growth.tables[std::size_t(table) + level];
        require(branch >= -1 && branch < branches, "a level's branch is not there");
    }
}

inline void check_intervals(const Growth& growth, const Node& node) {
    const std::size_t room = growth.tables.size(), first = std::size_t(node.table);
    require(first < room && growth.n_cuts(node) >= 1 && growth.n_cuts(node) < node.branches &&
                2 * std::size_t(growth.n_cuts(node)) < room - first,
            "the cuts of a node are not there");
}

// Tables of levels, whose lengths the columns tell, and of cuts.
inline void check_tables(const Growth& growth, const std::vector<std::uint32_t>& lengths) {
    for (const Node& node : growth.nodes) {
        if (node.reason != Reason::kSplit) continue;
        if (node.shape == Shape::kTable)
            check_levels(growth, node.table, lengths[std::size_t(node.column)], node.branches);
        if (node.shape == Shape::kIntervals) check_intervals(growth, node);
    }
    for (const Surrogate& s : growth.surrogates) {
        require(s.node >= 0 && std::size_t(s.node) < growth.nodes.size() && s.column >= 0 &&
                    std::size_t(s.column) < lengths.size() && (s.flipped | 1) == 1,
                "a surrogate's node or column is not there");
        if (s.table >= 0) check_levels(growth, s.table, lengths[std::size_t(s.column)], 2);
    }
}

inline std::vector<std::uint32_t> lengths_of(const std::vector<Column>& columns) {
    std::vector<std::uint32_t> lengths;
    for (const Column& column : columns) lengths.push_back(column.n_codes);
    return lengths;
}

// Numbers of all cells of some nodes.
inline std::size_t cells_wanted(const std::vector<Column>& columns, std::size_t nodes,
                                const GrowthRules& rules) {
    std::size_t all = 0;
    for (const Column& column : columns) all += std::size_t(column.n_codes) + 1;
    const bool fits = !__builtin_mul_overflow(all, std::size_t(rules.cell_size()), &all) &&
                      !__builtin_mul_overflow(all, nodes, &all);
    require(fits, "that many cells cannot be held");
    return all;
}

inline Growth growth_of(const GrowthRules& rules, std::size_t columns,
                        const std::optional<StateIn>& state) {
    Growth growth(checked(rules), columns);
    if (!state) return growth;
    const auto& [nodes, cells, tables, gains, cuts, surrogates] = *state;
    require(nodes.shape(1) == sizeof(Node) && nodes.shape(0) >= 1, "these are no nodes of a tree");
    require(cells.shape(0) == nodes.shape(0) * growth.size, "cells must be those of the nodes");
    growth.nodes.resize(nodes.shape(0));
    std::memcpy(growth.nodes.data(), nodes.data(), nodes.nbytes());
    growth.cells.assign(cells.data(), cells.data() + cells.size());
    growth.tables.assign(tables.data(), tables.data() + tables.size());
    require(surrogates.shape(0) == 0 || surrogates.shape(1) == sizeof(Surrogate),
            "these are no surrogates of a tree");
    growth.surrogates.resize(surrogates.shape(0));
    if (surrogates.shape(0) > 0)
        std::memcpy(growth.surrogates.data(), surrogates.data(), surrogates.nbytes());
    const std::size_t kept = rules.candidates ? nodes.shape(0) * columns : 0;
    require(gains.shape(0) == kept && cuts.shape(0) == kept,
            "candidates must be those of the nodes");
    growth.candidate_gains.assign(gains.data(), gains.data() + kept);
    growth.candidate_cuts.assign(cuts.data(), cuts.data() + kept);
    growth.rules.root_weight = double(growth.weight(0));
    check_nodes(growth);
    return growth;
}

// How columns are coded. What each code counts as, column after column, and cuts that are given for
// each column, where that matters.
struct ColumnArrays {
    Array1<const std::uint32_t> n_codes;
    Array1<const bool> nominal;
    Maybe1<const double> values, cuts;
    Maybe1<const std::int64_t> first_cut;

    std::vector<Column> view() const {
        require(n_codes.shape(0) == nominal.shape(0) && n_codes.shape(0) >= 1,
                "codes and kinds must be told of every column");
        require(n_codes.shape(0) < kMostColumns, "too many columns");
        std::vector<Column> columns;
        std::size_t first = 0;
        for (std::size_t j = 0; j < n_codes.shape(0); ++j) {
            require(n_codes.data()[j] < kMostRows, "too many codes");
            const double* own = values ? values->data() + first : nullptr;
            columns.push_back({n_codes.data()[j], nominal.data()[j], std::uint32_t(j), own});
            first += n_codes.data()[j];
        }
        require(!values || values->shape(0) == first, "values must be told of every code");
        if (cuts) give_cuts(columns);
        return columns;
    }

    void give_cuts(std::vector<Column>& columns) const {
        require(first_cut && first_cut->shape(0) == columns.size() + 1,
                "cuts must be told of every column");
        const std::int64_t* begin = first_cut->data();
        for (std::size_t j = 0; j < columns.size(); ++j) {
            require(begin[j] >= 0 && begin[j] <= begin[j + 1] &&
                        std::size_t(begin[j + 1]) <= cuts->shape(0),
                    "cuts must be told of every column");
            columns[j].cuts = cuts->data() + begin[j];
            columns[j].n_cuts = std::size_t(begin[j + 1] - begin[j]);
            require(std::is_sorted(columns[j].cuts, columns[j].cuts + columns[j].n_cuts),
                    "cuts must ascend");
        }
    }
};

template <typename Code>
Columns<Code> coded(const Array2<const Code>& codes, std::vector<Column> columns) {
    require(codes.shape(0) == columns.size(), "codes must be told of every column");
    require(codes.shape(1) < kMostRows, "more than 2^31 rows in memory");
    for (std::size_t j = 0; codes.shape(1) > 0 && j < columns.size(); ++j) {
        const Code* own = codes.data() + j * codes.shape(1);
        // One comparison at the end: the maximum is found with vectors.
        const Code most = *std::max_element(own, own + codes.shape(1));
        require(most <= columns[j].n_codes, "a code lies outside of its column");
    }
    return {codes.data(), codes.shape(1), std::move(columns)};
}

inline Scales scales_of(const std::vector<std::uint8_t>& types,
                        const std::vector<std::uint32_t>& levels,
                        const Array1<const std::uint64_t>& bits,
                        const Array1<const std::int64_t>& offsets,
                        const Maybe1<const std::uint32_t>& codes) {
    require(types.size() == levels.size() && offsets.shape(0) == types.size() + 1,
            "types, levels and offsets must be told of every column");
    for (std::size_t j = 0; j < types.size(); ++j)
        require(offsets.data()[j] >= 0 && offsets.data()[j] <= offsets.data()[j + 1] &&
                    std::size_t(offsets.data()[j + 1]) <= bits.shape(0),
                "offsets must lie within the scale");
    Scales scales;
    scales.types = checked_types(types);
    scales.levels = levels;
    scales.bits = bits.data();
    scales.offsets = offsets.data();
    scales.codes = sized(codes, bits.shape(0), "codes must be those of the scale");
    return scales;
}

}  // namespace ceiba::bindings
