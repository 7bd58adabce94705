// The tree engine: growing, level by level or at once, and packing what was grown.
#include "tree/problem.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

const GrowthRules& checked(const GrowthRules& rules);

struct TargetArrays {
    Maybe1<const std::uint16_t> label;
    Maybe1<const std::int64_t> number, square, weight;
    Maybe1<const double> value, ranked;

    Targets view(std::size_t rows, const GrowthRules& rules) const {
        constexpr const char* kLong = "targets and weights must be as many as rows";
        Targets targets;
        targets.label = sized(label, rows, kLong);
        targets.number = sized(number, rows, kLong);
        targets.square = sized(square, rows, kLong);
        targets.weight = sized(weight, rows, kLong);
        targets.value = sized(value, rows, kLong);
        targets.ranked = pointer(ranked);
        checked(rules);
        require(bool(weight) == rules.weighted, "rules and targets disagree about weights");
        if (rules.classes) {
            require(bool(label), "classes need labels");
            for (std::size_t i = 0; i < rows; ++i)
                require(targets.label[i] < rules.classes, "a label lies outside of the classes");
            return targets;
        }
        require(bool(number) && bool(value), "numbers need targets");
        const bool absolute = rules.criterion == Criterion::kAbsolute;
        require(absolute == bool(ranked) && absolute != bool(square),
                "ranked targets belong to absolute error, squares to squared error");
        for (std::size_t i = 0; absolute && i < rows; ++i)
            require(targets.number[i] >= 0 && std::size_t(targets.number[i]) < ranked->shape(0),
                    "a rank lies outside of the targets");
        return targets;
    }
};

// A growing tree as arrays: nodes (bytes), cells, tables, best gain and cut of every column.
using State = std::tuple<nb::ndarray<nb::numpy, std::uint8_t>, nb::ndarray<nb::numpy, std::int64_t>,
                         nb::ndarray<nb::numpy, std::int32_t>, nb::ndarray<nb::numpy, double>,
                         nb::ndarray<nb::numpy, std::uint32_t>>;
using StateIn =
    std::tuple<Array2<const std::uint8_t>, Array1<const std::int64_t>, Array1<const std::int32_t>,
               Array1<const double>, Array1<const std::uint32_t>>;

State state_of(Growth&& growth) {
    static_assert(std::is_trivially_copyable_v<Node>);
    std::vector<std::uint8_t> bytes(growth.nodes.size() * sizeof(Node));
    if (!bytes.empty()) std::memcpy(bytes.data(), growth.nodes.data(), bytes.size());
    return {owned(std::move(bytes), {growth.nodes.size(), sizeof(Node)}),
            owned(std::move(growth.cells)), owned(std::move(growth.tables)),
            owned(std::move(growth.candidate_gains)), owned(std::move(growth.candidate_cuts))};
}

// What every function relies on: a criterion that suits the targets, and cells of a sane size.
const GrowthRules& checked(const GrowthRules& rules) {
    require(rules.classes >= 0 && rules.classes <= 0xFFFF, "classes must be 0 to 65535");
    const bool numbers = rules.criterion >= Criterion::kSquared;
    require(numbers == (rules.classes == 0), "the criterion must suit the targets");
    return rules;
}

// Nodes that came in as bytes: every number that is used as a place must be one.
void check_nodes(const Growth& growth) {
    const auto count = std::int64_t(growth.nodes.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const Node& node = growth.nodes[std::size_t(i)];
        require(node.reason <= Reason::kOpen && node.shape <= Shape::kTable &&
                    node.method <= Method::kMultiway,
                "a node's reason, shape or method is not known");
        if (node.reason != Reason::kSplit) {
            require(!node.expanded(), "only a split node has branches");
            continue;
        }
        require(node.column >= 0 && std::size_t(node.column) < growth.columns,
                "a node tests a column that is not there");
        require(node.branches >= 2 && node.gap >= kHeavier && node.gap < node.branches,
                "a node's branches are not what they should be");
        require(node.shape != Shape::kLeaf && (node.shape == Shape::kTable) == (node.table >= 0),
                "a split has a threshold or a table");
        if (!node.expanded()) continue;
        require(node.gap >= 0 && node.child > i && node.child + node.branches <= count,
                "the branches of a node are not where they should be");
    }
}

// Tables of levels, whose lengths the columns tell.
void check_tables(const Growth& growth, const std::vector<std::uint32_t>& lengths) {
    for (const Node& node : growth.nodes) {
        if (node.shape != Shape::kTable || node.reason != Reason::kSplit) continue;
        const std::size_t length = lengths[std::size_t(node.column)];
        require(length <= growth.tables.size() &&
                    std::size_t(node.table) <= growth.tables.size() - length,
                "the levels of a node are not there");
        for (std::size_t level = 0; level < length; ++level) {
            const std::int32_t branch = growth.tables[std::size_t(node.table) + level];
            require(branch >= -1 && branch < node.branches, "a level's branch is not there");
        }
    }
}

std::vector<std::uint32_t> lengths_of(const std::vector<Column>& columns) {
    std::vector<std::uint32_t> lengths;
    for (const Column& column : columns) lengths.push_back(column.n_codes);
    return lengths;
}

// Numbers of all cells of some nodes.
std::size_t cells_wanted(const std::vector<Column>& columns, std::size_t nodes,
                         const GrowthRules& rules) {
    std::size_t all = 0;
    for (const Column& column : columns) all += std::size_t(column.n_codes) + 1;
    const bool fits = !__builtin_mul_overflow(all, std::size_t(rules.cell_size()), &all) &&
                      !__builtin_mul_overflow(all, nodes, &all);
    require(fits, "that many cells cannot be held");
    return all;
}

Growth growth_of(const GrowthRules& rules, std::size_t columns,
                 const std::optional<StateIn>& state) {
    Growth growth(checked(rules), columns);
    if (!state) return growth;
    const auto& [nodes, cells, tables, gains, cuts] = *state;
    require(nodes.shape(1) == sizeof(Node) && nodes.shape(0) >= 1, "these are no nodes of a tree");
    require(cells.shape(0) == nodes.shape(0) * growth.size, "cells must be those of the nodes");
    growth.nodes.resize(nodes.shape(0));
    std::memcpy(growth.nodes.data(), nodes.data(), nodes.nbytes());
    growth.cells.assign(cells.data(), cells.data() + cells.size());
    growth.tables.assign(tables.data(), tables.data() + tables.size());
    const std::size_t kept = rules.candidates ? nodes.shape(0) * columns : 0;
    require(gains.shape(0) == kept && cuts.shape(0) == kept,
            "candidates must be those of the nodes");
    growth.candidate_gains.assign(gains.data(), gains.data() + kept);
    growth.candidate_cuts.assign(cuts.data(), cuts.data() + kept);
    growth.rules.root_weight = double(growth.weight(0));
    check_nodes(growth);
    return growth;
}

std::vector<Column> columns_of(const Array1<const std::uint32_t>& n_codes,
                               const Array1<const bool>& nominal) {
    require(n_codes.shape(0) == nominal.shape(0) && n_codes.shape(0) >= 1,
            "codes and kinds must be told of every column");
    std::vector<Column> columns;
    require(n_codes.shape(0) < kMostColumns, "too many columns");
    for (std::size_t j = 0; j < n_codes.shape(0); ++j) {
        require(n_codes.data()[j] < kMostRows, "too many codes");
        columns.push_back({n_codes.data()[j], nominal.data()[j]});
    }
    return columns;
}

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

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def(
        "tree_grow",
        [](const GrowthRules& rules, Array2<const Code> codes, Array1<const std::uint32_t> n_codes,
           Array1<const bool> nominal, const TargetArrays& targets, std::optional<StateIn> state,
           Maybe1<const std::int32_t> node, int threads) {
            const Columns<Code> columns = coded(codes, columns_of(n_codes, nominal));
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
            without_gil([&] { grow(growth, columns, view, of, threads); });
            return state_of(std::move(growth));
        },
        "rules"_a, "codes"_a.noconvert(), "n_codes"_a.noconvert(), "nominal"_a.noconvert(),
        "targets"_a, "state"_a.none(), "node"_a.noconvert().none(), "threads"_a,
        "Grow a tree on coded rows in memory, from its root or from the state of one begun.");
    module.def(
        "tree_level_sums",
        [](const GrowthRules& rules, Array2<const Code> codes, Array1<const std::uint32_t> n_codes,
           Array1<const bool> nominal, const TargetArrays& targets, Array1<const std::int32_t> slot,
           Array1<std::int64_t> cells, Array1<std::int64_t> squares, Array1<double> least,
           Array1<double> most, int threads) {
            const Columns<Code> columns = coded(codes, columns_of(n_codes, nominal));
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
        "rules"_a, "codes"_a.noconvert(), "n_codes"_a.noconvert(), "nominal"_a.noconvert(),
        "targets"_a, "slot"_a.noconvert(), "cells"_a.noconvert(), "squares"_a.noconvert(),
        "least"_a.noconvert(), "most"_a.noconvert(), "threads"_a,
        "Add the rows of every slot into the cells of (slot, column, code).");
}

State solve_one_level(const GrowthRules& rules, Array1<const std::uint32_t> n_codes,
                      Array1<const bool> nominal, std::optional<StateIn> state,
                      Array1<const std::int32_t> nodes, Array1<std::int64_t> cells,
                      Array1<std::int64_t> squares, Array1<double> least, Array1<double> most) {
    const std::vector<Column> columns = columns_of(n_codes, nominal);
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

Scales scales_of(const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels,
                 const Array1<const std::uint64_t>& bits, const Array1<const std::int64_t>& offsets,
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

// Every cut must have its value.
void check_cuts(const Growth& growth, const Scales& scales) {
    for (const Node& node : growth.nodes) {
        if (node.reason != Reason::kSplit) continue;
        const auto j = std::size_t(node.column);
        if (node.shape == Shape::kThreshold && scales.types[j] < Type::kOrdinal)
            require(
                scales.has(j, node.cut) && (scales.codes == nullptr || scales.has(j, node.next)),
                "a node's cut has no value");
    }
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
    return out;
}

// What nodes of a growing tree are: for the conductor of levels, and to look up the values of cuts.
nb::tuple look(const StateIn& state) {
    const auto& nodes = std::get<0>(state);
    require(nodes.shape(1) == sizeof(Node), "these are no nodes of a tree");
    std::vector<std::uint8_t> reason;
    std::vector<std::int32_t> column;
    std::vector<std::uint32_t> cut, next;
    for (std::size_t i = 0; i < nodes.shape(0); ++i) {
        Node node;
        std::memcpy(&node, nodes.data() + i * sizeof(Node), sizeof(Node));
        reason.push_back(std::uint8_t(node.reason));
        column.push_back(node.shape == Shape::kThreshold ? node.column : -1);
        cut.push_back(node.cut);
        next.push_back(node.next);
    }
    return nb::make_tuple(owned(std::move(reason)), owned(std::move(column)), owned(std::move(cut)),
                          owned(std::move(next)));
}

// Every row's node in a tree that is growing: by codes.
template <typename Code>
void bind_places(nb::module_& module) {
    module.def(
        "tree_places",
        [](const GrowthRules& rules, const StateIn& state, Array2<const Code> codes,
           Array1<const std::uint32_t> n_codes, Array1<const bool> nominal,
           Array1<std::int32_t> out) {
            const Columns<Code> columns = coded(codes, columns_of(n_codes, nominal));
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
        "rules"_a, "state"_a, "codes"_a.noconvert(), "n_codes"_a.noconvert(),
        "nominal"_a.noconvert(), "out"_a.noconvert(),
        "The node of a growing tree that every coded row has come to.");
}

}  // namespace

void bind_tree_growing(nb::module_& module) {
    nb::class_<GrowthRules>(module, "TreeRules", "How a tree is grown.")
        .def(nb::init<>())
        .def_prop_rw(
            "criterion", [](const GrowthRules& r) { return int(r.criterion); },
            [](GrowthRules& r, int value) {
                require(value >= 0 && value <= int(Criterion::kAbsolute), "unknown criterion");
                r.criterion = Criterion(value);
                r.split.ratio = r.criterion == Criterion::kGainRatio;
            })
        .def_prop_rw(
            "gaps", [](const GrowthRules& r) { return int(r.split.gaps); },
            [](GrowthRules& r, int value) {
                require(value >= 0 && value <= int(GapRule::kMajority), "unknown rule for gaps");
                r.split.gaps = GapRule(value);
            })
        .def_prop_rw(
            "growing", [](const GrowthRules& r) { return int(r.growing); },
            [](GrowthRules& r, int value) {
                require(value >= 0 && value <= int(Growing::kBestFirst), "unknown growing order");
                r.growing = Growing(value);
            })
        .def_prop_rw(
            "multiway", [](const GrowthRules& r) { return r.split.multiway; },
            [](GrowthRules& r, bool value) { r.split.multiway = value; })
        .def_prop_rw(
            "least_rows", [](const GrowthRules& r) { return r.split.least_rows; },
            [](GrowthRules& r, std::int64_t value) { r.split.least_rows = value; })
        .def_prop_rw(
            "least_weight", [](const GrowthRules& r) { return r.split.least_weight; },
            [](GrowthRules& r, std::int64_t value) { r.split.least_weight = value; })
        .def_rw("classes", &GrowthRules::classes)
        .def_rw("weighted", &GrowthRules::weighted)
        .def_rw("max_depth", &GrowthRules::max_depth)
        .def_rw("least_to_split", &GrowthRules::least_to_split)
        .def_rw("max_leaves", &GrowthRules::max_leaves)
        .def_rw("columns_a_node", &GrowthRules::columns_a_node)
        .def_rw("least_decrease", &GrowthRules::least_decrease)
        .def_rw("enough", &GrowthRules::enough)
        .def_rw("seed", &GrowthRules::seed)
        .def_rw("weight_unit", &GrowthRules::weight_unit)
        .def_rw("target_unit", &GrowthRules::target_unit)
        .def_rw("square_unit", &GrowthRules::square_unit)
        .def_rw("centre", &GrowthRules::centre)
        .def_rw("candidates", &GrowthRules::candidates);
    nb::class_<TargetArrays>(module, "TreeTargets", "Targets of rows, in fixed point.")
        .def(
            "__init__",
            [](TargetArrays* self, Maybe1<const std::uint16_t> label,
               Maybe1<const std::int64_t> number, Maybe1<const std::int64_t> square,
               Maybe1<const double> value, Maybe1<const std::int64_t> weight,
               Maybe1<const double> ranked) {
                new (self) TargetArrays{label, number, square, weight, value, ranked};
            },
            nb::kw_only(), "label"_a.noconvert() = nb::none(), "number"_a.noconvert() = nb::none(),
            "square"_a.noconvert() = nb::none(), "value"_a.noconvert() = nb::none(),
            "weight"_a.noconvert() = nb::none(), "ranked"_a.noconvert() = nb::none());
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
    bind_codes<std::uint32_t>(module);
    bind_places<std::uint8_t>(module);
    bind_places<std::uint16_t>(module);
    bind_places<std::uint32_t>(module);
    module.def("tree_solve_level", &solve_one_level, "rules"_a, "n_codes"_a.noconvert(),
               "nominal"_a.noconvert(), "state"_a.none(), "nodes"_a.noconvert(),
               "cells"_a.noconvert(), "squares"_a.noconvert(), "least"_a.noconvert(),
               "most"_a.noconvert(), "Split nodes by the sums of their rows; the new state.");
    module.def("tree_look", &look, "state"_a,
               "Reason of every node; column (-1 but for thresholds), cut and the code above it.");
    module.def("tree_pack", &packed, "rules"_a, "state"_a, "types"_a, "levels"_a,
               "scale"_a.noconvert(), "offsets"_a.noconvert(), "codes"_a.noconvert().none(),
               "The finished tree: its prediction and side arrays, numbered in growing order.");
}

}  // namespace ceiba::bindings
