// The tree engine: coding, growing, levels, packing and routing.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "arrays.hpp"
#include "tree/coding.hpp"
#include "tree/packed.hpp"
#include "tree/problem.hpp"
#include "tree/route.hpp"

namespace ceiba::bindings {
namespace {

using namespace nb::literals;
using namespace ceiba::tree;

constexpr std::size_t kMostRows = std::size_t(1) << 31;
constexpr std::size_t kMostColumns = std::size_t(1) << 24;

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(held->data(), shape, owner);
}

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return owned(std::move(values), {n});
}

// Columns: (array, mask or None) each; types and levels beside them.
struct Table {
    std::vector<AnyColumn> columns;
    std::vector<std::uint32_t> levels;
    std::size_t rows = 0;
};

using Any1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

Type type_of(const Any1& array, std::uint8_t asked) {
    require(asked <= std::uint8_t(Type::kNominal), "unknown type of column");
    const auto type = Type(asked);
    const bool right = type == Type::kDouble     ? array.dtype() == nb::dtype<double>()
                       : type == Type::kFloat    ? array.dtype() == nb::dtype<float>()
                       : type == Type::kInt      ? array.dtype() == nb::dtype<std::int64_t>()
                       : type == Type::kUnsigned ? array.dtype() == nb::dtype<std::uint64_t>()
                                                 : array.dtype() == nb::dtype<std::int32_t>();
    require(right, "a column's array must have the type that is said of it");
    return type;
}

void check_codes(const AnyColumn& column, std::size_t rows, std::uint32_t levels) {
    const auto* codes = static_cast<const std::int32_t*>(column.data);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t code = codes[std::ptrdiff_t(i) * column.stride];
        require(code >= -1 && code < std::int64_t(levels), "a code lies outside of its levels");
    }
}

Table table_of(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
               const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels) {
    require(!arrays.empty() && arrays.size() < kMostColumns, "too few or too many columns");
    require(gaps.size() == arrays.size() && types.size() == arrays.size() &&
                levels.size() == arrays.size(),
            "gaps, types and levels must be told of every column");
    Table table;
    table.rows = arrays[0].shape(0);
    require(table.rows < kMostRows, "more than 2^31 rows in memory");
    table.levels = levels;
    for (std::size_t j = 0; j < arrays.size(); ++j) {
        require(arrays[j].shape(0) == table.rows, "columns must have equal lengths");
        AnyColumn column;
        column.type = type_of(arrays[j], types[j]);
        column.data = arrays[j].data();
        column.stride = arrays[j].stride(0);
        column.gaps = reinterpret_cast<const std::uint8_t*>(
            sized(gaps[j], table.rows, "a mask of gaps must be as long as its column"));
        if (types[j] >= std::uint8_t(Type::kOrdinal)) check_codes(column, table.rows, levels[j]);
        table.columns.push_back(column);
    }
    return table;
}

template <typename T>
Values<T> values_of(const Table& table, std::size_t j) {
    const AnyColumn& column = table.columns[j];
    return {static_cast<const T*>(column.data), table.rows, column.stride, column.gaps};
}

template <typename Body>
auto with_type(Type type, Body body) {
    switch (type) {
        case Type::kDouble:
            return body(double{});
        case Type::kFloat:
            return body(float{});
        case Type::kInt:
            return body(std::int64_t{});
        default:
            return body(std::uint64_t{});
    }
}

std::uint64_t bits_of_value(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits_of_value(float value) { return bits_of_value(double(value)); }
std::uint64_t bits_of_value(std::int64_t value) { return std::uint64_t(value); }
std::uint64_t bits_of_value(std::uint64_t value) { return value; }
template <typename T>
T value_of_bits(std::uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>)
        return T(std::bit_cast<double>(bits));
    else
        return T(bits);
}

// The values or edges of all columns one behind the other.
struct Scale {
    std::vector<std::uint64_t> bits;
    std::vector<std::int64_t> offsets{0};

    void add(const std::vector<std::vector<std::uint64_t>>& columns) {
        for (const auto& column : columns) {
            bits.insert(bits.end(), column.begin(), column.end());
            offsets.push_back(std::int64_t(bits.size()));
        }
    }
};

template <typename T>
std::vector<std::uint64_t> as_bits(const std::vector<T>& values) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const T value : values) bits.push_back(bits_of_value(value));
    return bits;
}

std::uint32_t code_of_level(const AnyColumn& column, std::size_t row, std::uint32_t levels) {
    const std::int32_t code =
        static_cast<const std::int32_t*>(column.data)[std::ptrdiff_t(row) * column.stride];
    return code < 0 ? levels : std::uint32_t(code);
}

template <typename Code>
nb::object narrowed(const std::vector<std::uint32_t>& wide, std::size_t p, std::size_t n,
                    int threads) {
    std::vector<Code> codes(wide.size());
    without_gil([&] {
        for_segments({p, p}, threads_for(double(wide.size()), threads),
                     [&](std::size_t j, int, Interrupt&) {
                         std::copy_n(wide.data() + j * n, n, codes.data() + j * n);
                     });
    });
    return nb::cast(owned(std::move(codes), {p, n}));
}

nb::tuple rank_columns(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
                       const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size(), n = table.rows;
    checked_threads(threads);
    std::vector<std::uint32_t> codes(p * n), n_codes(p);
    std::vector<std::vector<std::uint64_t>> different(p);
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * n), threads),
                     [&](std::size_t j, int, Interrupt&) {
                         std::uint32_t* own = codes.data() + j * n;
                         const AnyColumn& column = table.columns[j];
                         if (column.type >= Type::kOrdinal) {
                             for (std::size_t i = 0; i < n; ++i)
                                 own[i] = code_of_level(column, i, levels[j]);
                             n_codes[j] = levels[j];
                             return;
                         }
                         with_type(column.type, [&](auto kind) {
                             using T = decltype(kind);
                             different[j] = as_bits(rank<T>(values_of<T>(table, j), own));
                         });
                         n_codes[j] = std::uint32_t(different[j].size());
                     });
    });
    const std::uint32_t most = *std::max_element(n_codes.begin(), n_codes.end());
    Scale scale;
    scale.add(different);
    nb::object coded = most <= 0xFF     ? narrowed<std::uint8_t>(codes, p, n, threads)
                       : most <= 0xFFFF ? narrowed<std::uint16_t>(codes, p, n, threads)
                                        : nb::cast(owned(std::move(codes), {p, n}));
    return nb::make_tuple(coded, owned(std::move(n_codes)), owned(std::move(scale.bits)),
                          owned(std::move(scale.offsets)));
}

nb::tuple edges_of_columns(const std::vector<Any1>& arrays,
                           const std::vector<Maybe1<const bool>>& gaps,
                           const std::vector<std::uint8_t>& types,
                           const std::vector<std::uint32_t>& levels,
                           const Maybe1<const double>& weight, std::size_t bins, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size();
    const double* w = sized(weight, table.rows, "weights must be as many as rows");
    require(bins >= 2 && bins <= 0xFFFF, "bins must be 2 to 65535");
    checked_threads(threads);
    std::vector<std::uint32_t> n_codes(p);
    std::vector<std::vector<std::uint64_t>> edges(p);
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * table.rows), threads),
                     [&](std::size_t j, int, Interrupt&) {
                         n_codes[j] = levels[j];
                         if (table.columns[j].type >= Type::kOrdinal) return;
                         with_type(table.columns[j].type, [&](auto kind) {
                             using T = decltype(kind);
                             edges[j] = as_bits(bin_edges<T>(values_of<T>(table, j), w, bins));
                         });
                         n_codes[j] = std::uint32_t(edges[j].size() + 1);
                     });
    });
    Scale scale;
    scale.add(edges);
    return nb::make_tuple(owned(std::move(n_codes)), owned(std::move(scale.bits)),
                          owned(std::move(scale.offsets)));
}

struct Edges {
    std::vector<std::vector<double>> reals;
    std::vector<std::vector<float>> floats;
    std::vector<std::vector<std::int64_t>> ints;
    std::vector<std::vector<std::uint64_t>> unsigneds;
};

template <typename Code>
nb::object binned(const Table& table, const Array1<const std::uint64_t>& bits,
                  const Array1<const std::int64_t>& offsets, int threads) {
    const std::size_t p = table.columns.size(), n = table.rows;
    std::vector<Code> codes(p * n);
    const auto own_edges = [&](std::size_t j, auto kind) {
        using T = decltype(kind);
        std::vector<T> edges;
        for (std::int64_t e = offsets.data()[j]; e < offsets.data()[j + 1]; ++e)
            edges.push_back(value_of_bits<T>(bits.data()[e]));
        return edges;
    };
    // A block of rows with all its columns stays in the cache while its columns are read.
    const Segments parts = segments(n, 2048);
    without_gil([&] {
        for_segments(parts, threads_for(10.0 * double(p * n), threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         constexpr std::size_t kBlock = 2048;
                         for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                             if (interrupt.stopped(thread)) return;
                             const std::size_t end = std::min(parts.end(s), i + kBlock);
                             for (std::size_t j = 0; j < p; ++j) {
                                 Code* own = codes.data() + j * n;
                                 const AnyColumn& column = table.columns[j];
                                 if (column.type >= Type::kOrdinal) {
                                     for (std::size_t r = i; r < end; ++r)
                                         own[r] = Code(code_of_level(column, r, table.levels[j]));
                                     continue;
                                 }
                                 with_type(column.type, [&](auto kind) {
                                     using T = decltype(kind);
                                     bin<T, Code>(values_of<T>(table, j), own_edges(j, kind), i,
                                                  end, own);
                                 });
                             }
                         }
                     });
    });
    return nb::cast(owned(std::move(codes), {p, n}));
}

nb::object bin_columns(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
                       const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels,
                       const Array1<const std::uint32_t>& n_codes,
                       const Array1<const std::uint64_t>& bits,
                       const Array1<const std::int64_t>& offsets, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size();
    require(n_codes.shape(0) == p && offsets.shape(0) == p + 1,
            "codes and offsets must be told of every column");
    for (std::size_t j = 0; j < p; ++j)
        require(offsets.data()[j] >= 0 && offsets.data()[j] <= offsets.data()[j + 1] &&
                    std::size_t(offsets.data()[j + 1]) <= bits.shape(0),
                "offsets must lie within the edges");
    checked_threads(threads);
    const std::uint32_t most = *std::max_element(n_codes.data(), n_codes.data() + p);
    if (most <= 0xFF) return binned<std::uint8_t>(table, bits, offsets, threads);
    if (most <= 0xFFFF) return binned<std::uint16_t>(table, bits, offsets, threads);
    return binned<std::uint32_t>(table, bits, offsets, threads);
}

// Growing -----------------------------------------------------------------------------------------

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
        require(rules.classes >= 0 && rules.classes <= 0xFFFF, "too many classes");
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

Growth growth_of(const GrowthRules& rules, std::size_t columns,
                 const std::optional<StateIn>& state) {
    Growth growth(rules, columns);
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
    return growth;
}

std::vector<Column> columns_of(const Array1<const std::uint32_t>& n_codes,
                               const Array1<const bool>& nominal) {
    require(n_codes.shape(0) == nominal.shape(0) && n_codes.shape(0) >= 1,
            "codes and kinds must be told of every column");
    std::vector<Column> columns;
    for (std::size_t j = 0; j < n_codes.shape(0); ++j)
        columns.push_back({n_codes.data()[j], nominal.data()[j]});
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
            std::size_t all = 0;
            for (const Column& column : columns.columns) all += column.n_codes + 1;
            require(cells.shape(0) == slots * all * std::size_t(rules.cell_size()) &&
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
    std::size_t all = 0;
    for (const Column& column : columns) all += column.n_codes + 1;
    require(cells.shape(0) == slots * all * std::size_t(rules.cell_size()) &&
                squares.shape(0) == slots && least.shape(0) == slots && most.shape(0) == slots,
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
                 bool binned) {
    require(types.size() == levels.size() && offsets.shape(0) == types.size() + 1,
            "types, levels and offsets must be told of every column");
    Scales scales;
    for (const std::uint8_t type : types) {
        require(type <= std::uint8_t(Type::kNominal), "unknown type of column");
        scales.types.push_back(Type(type));
    }
    scales.levels = levels;
    scales.bits = bits.data();
    scales.offsets = offsets.data();
    scales.binned = binned;
    return scales;
}

nb::dict packed(const GrowthRules& rules, const StateIn& state,
                const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels,
                const Array1<const std::uint64_t>& bits, const Array1<const std::int64_t>& offsets,
                bool is_binned, double centre) {
    const Growth growth = growth_of(rules, types.size(), state);
    const Scales scales = scales_of(types, levels, bits, offsets, is_binned);
    for (const Node& node : growth.nodes) {
        const bool inside = node.reason != Reason::kSplit ||
                            (node.column >= 0 && std::size_t(node.column) < types.size());
        require(inside, "a node tests a column that is not there");
        if (node.reason != Reason::kSplit || node.shape == Shape::kTable ||
            scales.types[std::size_t(node.column)] >= Type::kOrdinal)
            continue;
        const auto j = std::size_t(node.column);
        const auto size = std::uint64_t(offsets.data()[j + 1] - offsets.data()[j]);
        require(node.shape == Shape::kKnown || (is_binned ? node.cut : node.next) < size,
                "a node's cut lies outside of its column");
    }
    PackedTree tree = pack(growth, scales, centre);
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

// What nodes of a growing tree are: for the conductor of levels.
nb::tuple look(const StateIn& state) {
    const auto& nodes = std::get<0>(state);
    require(nodes.shape(1) == sizeof(Node), "these are no nodes of a tree");
    std::vector<std::uint8_t> reason;
    std::vector<std::int32_t> child;
    for (std::size_t i = 0; i < nodes.shape(0); ++i) {
        Node node;
        std::memcpy(&node, nodes.data() + i * sizeof(Node), sizeof(Node));
        reason.push_back(std::uint8_t(node.reason));
        child.push_back(node.child);
    }
    return nb::make_tuple(owned(std::move(reason)), owned(std::move(child)));
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

// Routing -----------------------------------------------------------------------------------------

TreeView tree_view(const Array2<const std::uint64_t>& nodes,
                   const Array1<const std::uint64_t>& words,
                   const Array1<const std::int32_t>& tables) {
    require(nodes.shape(1) == 2, "nodes must be two words each");
    return {reinterpret_cast<const PackedNode*>(nodes.data()),
            nodes.shape(0),
            words.data(),
            words.shape(0),
            tables.data(),
            tables.shape(0)};
}

std::string check_tree(Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
                       Array1<const std::int32_t> tables, const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels) {
    require(types.size() == levels.size(), "types and levels must be told of every column");
    std::vector<Type> kinds;
    for (const std::uint8_t type : types) {
        require(type <= std::uint8_t(Type::kNominal), "unknown type of column");
        kinds.push_back(Type(type));
    }
    const char* wrong = complaint(tree_view(nodes, words, tables), kinds, levels);
    return wrong == nullptr ? "" : wrong;
}

template <typename T>
void bind_matrix(nb::module_& module) {
    module.def(
        "tree_route_matrix",
        [](Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
           Array1<const std::int32_t> tables, Array2<const T> X, Array1<std::int32_t> leaf,
           int threads) {
            require(leaf.shape(0) == X.shape(0), "leaves must be as many as rows");
            checked_threads(threads);
            const TreeView tree = tree_view(nodes, words, tables);
            without_gil([&] {
                route_matrix(tree, X.data(), X.shape(0), X.shape(1), leaf.data(), threads);
            });
        },
        "nodes"_a.noconvert(), "words"_a.noconvert(), "tables"_a.noconvert(), "X"_a.noconvert(),
        "leaf"_a.noconvert(), "threads"_a,
        "The leaf of every row of floats, in a tree that tree_check has passed for them.");
}

void route_any(Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
               Array1<const std::int32_t> tables, const std::vector<Any1>& arrays,
               const std::vector<Maybe1<const bool>>& gaps, const std::vector<std::uint8_t>& types,
               const std::vector<std::uint32_t>& levels, Array1<std::int32_t> leaf, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    require(leaf.shape(0) == table.rows, "leaves must be as many as rows");
    checked_threads(threads);
    const TreeView tree = tree_view(nodes, words, tables);
    std::vector<Type> kinds;
    for (const AnyColumn& column : table.columns) kinds.push_back(column.type);
    without_gil([&] { route_columns(tree, table.columns, table.rows, leaf.data(), threads); });
}

}  // namespace

void bind_tree(nb::module_& module) {
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
    module.def(
        "tree_rank", &rank_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a, "threads"_a,
        "Ranks of all values: codes (columns x rows), how many a column has, and the values.");
    module.def("tree_edges", &edges_of_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "weight"_a.noconvert().none(), "bins"_a, "threads"_a,
               "Bins of equal weight: how many codes a column has, and their upper edges.");
    module.def("tree_bin", &bin_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "n_codes"_a.noconvert(), "edges"_a.noconvert(), "offsets"_a.noconvert(), "threads"_a,
               "Bins of all values: codes (columns x rows).");
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
               "Reason and first branch of every node, -1 for none.");
    module.def("tree_pack", &packed, "rules"_a, "state"_a, "types"_a, "levels"_a,
               "scale"_a.noconvert(), "offsets"_a.noconvert(), "binned"_a, "centre"_a,
               "The finished tree: its prediction and side arrays, numbered in growing order.");
    module.def("tree_check", &check_tree, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "types"_a, "levels"_a,
               "What is wrong with a tree for rows of such columns; empty where nothing is.");
    bind_matrix<double>(module);
    bind_matrix<float>(module);
    module.def("tree_route_columns", &route_any, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "leaf"_a.noconvert(), "threads"_a,
               "The leaf of every row of columns, in a tree that tree_check has passed for them.");
}

}  // namespace ceiba::bindings
