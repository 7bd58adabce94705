// The tree engine: growing, level by level or at once, and packing what was grown.
#include "tree_state.hpp"

namespace ceiba::bindings {
namespace {

// Codes whose columns were put in order, and the entries: made here, so they need no check.
struct Presorted {
    nb::object codes;
    const void* data;
    std::vector<std::uint64_t> entries;
};

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def(
        "tree_presort",
        [](Array2<const Code> codes, const ColumnArrays& arrays, int threads) {
            const Columns<Code> columns = coded(codes, arrays.view());
            checked_threads(threads);
            Presorted made{nb::cast(codes), codes.data(), {}};
            without_gil([&] { made.entries = presorted(columns, threads); });
            return made;
        },
        "codes"_a.noconvert(), "columns"_a, "threads"_a,
        "Put the rows of every column in order once, for many trees on the same codes.");
    module.def(
        "tree_grow",
        [](const GrowthRules& rules, Array2<const Code> codes, const ColumnArrays& arrays,
           const TargetArrays& targets, std::optional<StateIn> state,
           Maybe1<const std::int32_t> node, int threads, const Presorted* sorted) {
            Columns<Code> columns = coded(codes, arrays.view());
            require(sorted == nullptr || sorted->data == codes.data(),
                    "the rows in order must be those of the codes");
            if (sorted != nullptr) columns.sorted = sorted->entries.data();
            const Targets view = targets.view(columns.rows, rules);
            Growth growth = growth_of(rules, columns.count(), state);
            require(columns.rows > 0, "a tree needs rows to grow from");
            check_tables(growth, lengths_of(columns.columns));
            const std::int32_t* of = sized(node, columns.rows, "nodes must be as many as rows");
            require(bool(node) == bool(state), "a tree that goes on needs the node of every row");
            for (std::size_t i = 0; of != nullptr && i < columns.rows; ++i)
                require(of[i] >= -1 && of[i] < std::int64_t(growth.nodes.size()),
                        "a row's node is not there");
            checked_threads(threads);
            const bool by_gaps = rules.split.ignores_gaps();
            require(!by_gaps || !state, "such gaps need the rows in memory from the root on");
            require(!by_gaps || rules.criterion != Criterion::kAbsolute,
                    "absolute error has no such gaps");
            require(rules.split.gaps != GapRule::kSurrogate ||
                        (!rules.split.multiway && rules.split.intervals == 0),
                    "surrogates are for splits in two");
            require(rules.split.gaps != GapRule::kFractional || rules.weighted,
                    "fractional gaps need weights");
            without_gil([&] {
                if (by_gaps)
                    grow_by_gaps(growth, columns, view, threads);
                else
                    grow(growth, columns, view, of, threads);
            });
            return state_of(std::move(growth));
        },
        "rules"_a, "codes"_a.noconvert(), "columns"_a, "targets"_a, "state"_a.none(),
        "node"_a.noconvert().none(), "threads"_a, "sorted"_a.none() = nb::none(),
        "Grow a tree on coded rows in memory, from its root or from the state of one begun.");
    module.def(
        "tree_level_sums",
        [](const GrowthRules& rules, Array2<const Code> codes, const ColumnArrays& arrays,
           const TargetArrays& targets, Array1<const std::int32_t> slot, Array1<std::int64_t> cells,
           Array1<std::int64_t> squares, Array1<double> least, Array1<double> most, int threads) {
            const Columns<Code> columns = coded(codes, arrays.view());
            const Targets view = targets.view(columns.rows, rules);
            require(slot.shape(0) == columns.rows, "slots must be as many as rows");
            const std::size_t slots = squares.shape(0);
            require(rules.criterion != Criterion::kAbsolute, "absolute error has no sums");
            require(cells.shape(0) == cells_wanted(columns.columns, slots, rules) &&
                        least.shape(0) == slots && most.shape(0) == slots,
                    "sums must have room for every slot");
            for (std::size_t i = 0; i < columns.rows; ++i)
                require(slot.data()[i] >= -1 && slot.data()[i] < std::int64_t(slots),
                        "a row's slot is not there");
            checked_threads(threads);
            const LevelSums out{cells.data(), squares.data(), least.data(), most.data()};
            without_gil([&] { level_sums(columns, view, rules, slot.data(), out, threads); });
        },
        "rules"_a, "codes"_a.noconvert(), "columns"_a, "targets"_a, "slot"_a.noconvert(),
        "cells"_a.noconvert(), "squares"_a.noconvert(), "least"_a.noconvert(), "most"_a.noconvert(),
        "threads"_a, "Add the rows of every slot into the cells of (slot, column, code).");
}

State solve_one_level(const GrowthRules& rules, const ColumnArrays& arrays,
                      std::optional<StateIn> state, Array1<const std::int32_t> nodes,
                      Array1<std::int64_t> cells, Array1<std::int64_t> squares,
                      Array1<double> least, Array1<double> most) {
    const std::vector<Column> columns = arrays.view();
    Growth growth = growth_of(rules, columns.size(), state);
    if (!state) growth.add(0, 1);
    const std::size_t slots = nodes.shape(0);
    check_tables(growth, lengths_of(columns));
    require(cells.shape(0) == cells_wanted(columns, slots, rules) && squares.shape(0) == slots &&
                least.shape(0) == slots && most.shape(0) == slots,
            "sums must be those of the nodes");
    std::vector<std::int32_t> places(nodes.data(), nodes.data() + slots);
    for (const std::int32_t node : places)
        require(node >= 0 && std::size_t(node) < growth.nodes.size() &&
                    !growth.nodes[std::size_t(node)].expanded(),
                "a node to solve is not there or is solved already");
    const LevelSums sums{cells.data(), squares.data(), least.data(), most.data()};
    without_gil([&] { solve_level(growth, columns, places, sums); });
    return state_of(std::move(growth));
}

// Every cut must have its value.
void check_cut(const Scales& scales, std::int32_t column, std::uint32_t cut, std::uint32_t next) {
    const auto j = std::size_t(column);
    require(scales.types[j] != Type::kNominal, "a nominal column has no thresholds");
    if (scales.types[j] == Type::kOrdinal) return;
    require(scales.has(j, cut) && (scales.codes == nullptr || scales.has(j, next)),
            "a node's cut has no value");
}

void check_cuts(const Growth& growth, const Scales& scales) {
    for (const Node& node : growth.nodes) {
        if (node.reason != Reason::kSplit) continue;
        if (node.shape == Shape::kThreshold) check_cut(scales, node.column, node.cut, node.next);
        if (node.shape == Shape::kIntervals)
            for (std::int32_t i = 0; i < growth.n_cuts(node); ++i)
                check_cut(scales, node.column, growth.cut(node, i, false),
                          growth.cut(node, i, true));
    }
    for (const Surrogate& s : growth.surrogates)
        if (s.table < 0) check_cut(scales, s.column, s.cut, s.next);
}

nb::dict packed(const GrowthRules& rules, const StateIn& state,
                const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels,
                const Array1<const std::uint64_t>& bits, const Array1<const std::int64_t>& offsets,
                const Maybe1<const std::uint32_t>& codes) {
    const Growth growth = growth_of(rules, types.size(), state);
    const Scales scales = scales_of(types, levels, bits, offsets, codes);
    check_tables(growth, levels);
    check_cuts(growth, scales);
    PackedTree tree = pack(growth, scales);
    const std::size_t n = tree.nodes.size(), k = std::size_t(rules.classes);
    std::vector<std::uint64_t> words(2 * n);
    std::memcpy(words.data(), tree.nodes.data(), n * sizeof(PackedNode));
    nb::dict out;
    out["nodes"] = owned(std::move(words), {n, 2});
    out["words"] = owned(std::move(tree.words));
    out["tables"] = owned(std::move(tree.tables));
    const std::size_t leaves = k ? tree.leaves.size() / k : 0;
    out["leaves"] = owned(std::move(tree.leaves), {leaves, k});
    out["n_rows"] = owned(std::move(tree.rows));
    out["weight"] = owned(std::move(tree.weight));
    out["impurity"] = owned(std::move(tree.impurity));
    out["gain"] = owned(std::move(tree.gain));
    out["value"] = owned(std::move(tree.value), {n, k ? k : 1});
    out["reason"] = owned(std::move(tree.reason));
    out["method"] = owned(std::move(tree.method));
    out["ties"] = owned(std::move(tree.ties));
    out["depth"] = owned(std::move(tree.depth));
    out["runner_up_column"] = owned(std::move(tree.runner_up));
    out["runner_up_gain"] = owned(std::move(tree.runner_up_gain));
    out["order"] = owned(std::move(tree.order));
    std::vector<std::uint64_t> splits(2 * tree.surrogates.size());
    if (!splits.empty())
        std::memcpy(splits.data(), tree.surrogates.data(), splits.size() * sizeof(std::uint64_t));
    const std::size_t surrogates = tree.surrogates.size();
    out["surrogates"] = owned(std::move(splits), {surrogates, 2});
    out["first_surrogate"] = owned(std::move(tree.first_surrogate));
    out["agreement"] = owned(std::move(tree.agreement));
    out["adjusted_agreement"] = owned(std::move(tree.adjusted));
    return out;
}

// Reasons of the nodes of a growing tree: for the conductor of levels.
nb::ndarray<nb::numpy, std::uint8_t> reasons(const StateIn& state) {
    const auto& nodes = std::get<0>(state);
    require(nodes.shape(1) == sizeof(Node), "these are no nodes of a tree");
    std::vector<std::uint8_t> reason;
    for (std::size_t i = 0; i < nodes.shape(0); ++i) {
        Node node;
        std::memcpy(&node, nodes.data() + i * sizeof(Node), sizeof(Node));
        reason.push_back(std::uint8_t(node.reason));
    }
    return owned(std::move(reason));
}

// Columns and codes on both sides of every cut, those of surrogates included.
nb::tuple cuts(const GrowthRules& rules, const ColumnArrays& arrays, const StateIn& state) {
    const std::vector<Column> columns = arrays.view();
    const Growth growth = growth_of(rules, columns.size(), state);
    check_tables(growth, lengths_of(columns));
    std::vector<std::int32_t> column;
    std::vector<std::uint32_t> code;
    const auto add = [&](std::int32_t j, std::uint32_t below, std::uint32_t above) {
        column.insert(column.end(), {j, j});
        code.insert(code.end(), {below, above});
    };
    for (const Node& node : growth.nodes) {
        if (node.reason != Reason::kSplit) continue;
        if (node.shape == Shape::kThreshold) add(node.column, node.cut, node.next);
        if (node.shape == Shape::kIntervals)
            for (std::int32_t i = 0; i < growth.n_cuts(node); ++i)
                add(node.column, growth.cut(node, i, false), growth.cut(node, i, true));
    }
    for (const Surrogate& s : growth.surrogates)
        if (s.table < 0) add(s.column, s.cut, s.next);
    return nb::make_tuple(owned(std::move(column)), owned(std::move(code)));
}

// Every row's node in a tree that is growing: by codes.
template <typename Code>
void bind_places(nb::module_& module) {
    module.def(
        "tree_places",
        [](const GrowthRules& rules, const StateIn& state, Array2<const Code> codes,
           const ColumnArrays& arrays, Array1<std::int32_t> out) {
            const Columns<Code> columns = coded(codes, arrays.view());
            const Growth growth = growth_of(rules, columns.count(), state);
            check_tables(growth, lengths_of(columns.columns));
            require(out.shape(0) == columns.rows, "places must be as many as rows");
            without_gil([&] {
                for (std::size_t i = 0; i < columns.rows; ++i) {
                    std::int32_t at = 0;
                    while (growth.nodes[std::size_t(at)].expanded()) {
                        const Node& node = growth.nodes[std::size_t(at)];
                        const auto j = std::size_t(node.column);
                        at = node.child +
                             growth.branch(node, columns.column(j)[i], columns.columns[j].gap());
                    }
                    out.data()[i] = at;
                }
            });
        },
        "rules"_a, "state"_a, "codes"_a.noconvert(), "columns"_a, "out"_a.noconvert(),
        "The node of a growing tree that every coded row has come to.");
}

}  // namespace

void bind_tree_growing(nb::module_& module) {
    nb::class_<ColumnArrays>(module, "TreeColumns", "How columns are coded.")
        .def(
            "__init__",
            [](ColumnArrays* self, Array1<const std::uint32_t> n_codes, Array1<const bool> nominal,
               Maybe1<const double> values, Maybe1<const double> cuts,
               Maybe1<const std::int64_t> first_cut) {
                new (self) ColumnArrays{n_codes, nominal, values, cuts, first_cut};
            },
            nb::kw_only(), "n_codes"_a.noconvert(), "nominal"_a.noconvert(),
            "values"_a.noconvert() = nb::none(), "cuts"_a.noconvert() = nb::none(),
            "first_cut"_a.noconvert() = nb::none());
    nb::class_<TargetArrays>(module, "TreeTargets", "Targets of rows, in fixed point.")
        .def(
            "__init__",
            [](TargetArrays* self, Maybe1<const std::uint16_t> label,
               Maybe1<const std::int64_t> number, Maybe1<const std::int64_t> square,
               Maybe1<const double> value, Maybe1<const std::int64_t> weight,
               Maybe1<const double> ranked, Maybe1<const std::int64_t> plain) {
                new (self) TargetArrays{label, number, square, weight, value, ranked, plain};
            },
            nb::kw_only(), "label"_a.noconvert() = nb::none(), "number"_a.noconvert() = nb::none(),
            "square"_a.noconvert() = nb::none(), "value"_a.noconvert() = nb::none(),
            "weight"_a.noconvert() = nb::none(), "ranked"_a.noconvert() = nb::none(),
            "plain"_a.noconvert() = nb::none());
    nb::class_<Presorted>(module, "TreeOrder", "The rows of every column, in order.");
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
    bind_codes<std::uint32_t>(module);
    bind_places<std::uint8_t>(module);
    bind_places<std::uint16_t>(module);
    bind_places<std::uint32_t>(module);
    module.def("tree_solve_level", &solve_one_level, "rules"_a, "columns"_a, "state"_a.none(),
               "nodes"_a.noconvert(), "cells"_a.noconvert(), "squares"_a.noconvert(),
               "least"_a.noconvert(), "most"_a.noconvert(),
               "Split nodes by the sums of their rows; the new state.");
    module.def("tree_reasons", &reasons, "state"_a, "Reason of every node.");
    module.def("tree_cuts", &cuts, "rules"_a, "columns"_a, "state"_a,
               "Columns and codes on both sides of every cut.");
    module.def("tree_pack", &packed, "rules"_a, "state"_a, "types"_a, "levels"_a,
               "scale"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert().none(),
               "The finished tree: its prediction and side arrays, numbered in growing order.");
}

}  // namespace ceiba::bindings
