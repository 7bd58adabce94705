// Growing a tree on encoded rows: at once, or depth by depth from merged sums.
#include "growth_state.hpp"

namespace ceiba::bindings {
namespace {

// Sorted entries of codes. They are made here, so they are not checked again.
struct PresortedRows {
    nb::object codes;
    const void* data;
    std::vector<std::uint64_t> entries;
};

PresortedRows presort_rows(const AnyCodes& any, const EncodingArrays& encoding, int threads) {
    return std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            checked_threads(threads);
            PresortedRows presorted{nb::cast(codes), codes.data(), {}};
            without_gil([&] { presorted.entries = presort(columns, threads); });
            return presorted;
        },
        any);
}

void check_missing_policy(const TreeConfig& config, bool continues) {
    const SplitConfig& split = config.split;
    if (!split.ignores_missing()) return;
    require(!continues, "fractional and surrogate missing values require growth from the root.");
    require(config.criterion != Criterion::kAbsolute,
            "absolute error does not support fractional and surrogate missing values.");
    require(
        split.missing != MissingPolicy::kSurrogate || (!split.multiway && split.n_intervals == 0),
        "surrogates require binary splits.");
    require(split.missing != MissingPolicy::kFractional || config.weighted,
            "fractional missing values require weights.");
}

State grow_tree(const TreeConfig& config, const AnyCodes& any, const EncodingArrays& encoding,
                const TargetArrays& targets, const std::optional<StateIn>& state,
                const Maybe1<const std::int32_t>& nodes, int threads,
                const PresortedRows* presorted) {
    return std::visit(
        [&](const auto& codes) {
            auto columns = encoded_columns(codes, encoding.view());
            require(presorted == nullptr || presorted->data == codes.data(),
                    "presorted must be made from the same codes.");
            if (presorted != nullptr) columns.sorted = presorted->entries.data();
            const Targets view = targets.view(columns.rows, config);
            TreeBuilder builder = checked_builder(config, columns.columns, state);
            require(columns.rows > 0, "a tree requires at least one row.");
            const std::int32_t* node =
                sized(nodes, columns.rows, "nodes must have one entry per row.");
            require(bool(nodes) == bool(state), "state requires nodes, and nodes state.");
            for (std::size_t i = 0; node != nullptr && i < columns.rows; ++i)
                require(node[i] >= -1 && node[i] < std::int64_t(builder.nodes.size()),
                        "nodes must be indices of nodes of the state, or -1.");
            checked_threads(threads);
            check_missing_policy(config, bool(state));
            without_gil([&] {
                if (config.split.ignores_missing())
                    grow_with_missing(builder, columns, view, threads);
                else
                    grow(builder, columns, view, node, threads);
            });
            return state_of(std::move(builder));
        },
        any);
}

// The grown tree, and the means of the targets in every node of the state.
nb::tuple grow_vector_tree(const TreeConfig& config, const AnyCodes& any,
                           const EncodingArrays& encoding, const VectorTargetArrays& targets,
                           int threads) {
    return std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            require(columns.rows > 0, "a tree requires at least one row.");
            TreeBuilder builder = checked_builder(config, columns.columns, std::nullopt);
            const VectorTargets view = targets.view(columns.rows, config);
            require(!config.split.ignores_missing() && !config.split.empty_branches &&
                        config.split.n_intervals == 0,
                    "several targets require thresholds, and missing values in the branches.");
            checked_threads(threads);
            std::vector<double> means;
            without_gil([&] {
                const std::vector<Number> once(columns.rows, 1);
                const auto rows = grow_vectors(builder, columns, view, once.data(), true, threads);
                means.resize(builder.nodes.size() * view.n_targets);
                for (std::size_t node = 0; node < builder.nodes.size(); ++node)
                    write_means(builder, node, view, rows, means.data() + node * view.n_targets);
            });
            const std::size_t n_nodes = builder.nodes.size();
            return nb::make_tuple(state_of(std::move(builder)),
                                  owned(std::move(means), {n_nodes, view.n_targets}));
        },
        any);
}

struct SumArrays {
    Array1<std::int64_t> cells, squares;
    Array1<double> min_target, max_target;

    // Sums of `slots` nodes over these columns.
    DepthSums view(const std::vector<Column>& columns, std::size_t slots,
                   const TreeConfig& config) const {
        require(squares.shape(0) == slots && min_target.shape(0) == slots &&
                    max_target.shape(0) == slots,
                "squares, min_target and max_target must have one entry per node.");
        std::size_t size = 0;
        for (const Column& column : columns) size += std::size_t(column.n_codes) + 1;
        const bool fits = !__builtin_mul_overflow(size, std::size_t(config.cell_size()), &size) &&
                          !__builtin_mul_overflow(size, slots, &size);
        require(fits && cells.shape(0) == size,
                "cells must have one cell per node, column and code.");
        return {cells.data(), squares.data(), min_target.data(), max_target.data()};
    }
};

void sum_depth(const TreeConfig& config, const AnyCodes& any, const EncodingArrays& encoding,
               const TargetArrays& targets, const Array1<const std::int32_t>& slots,
               const SumArrays& sums, int threads) {
    std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            const Targets view = targets.view(columns.rows, config);
            require(config.criterion != Criterion::kAbsolute, "absolute error has no depth sums.");
            require(slots.shape(0) == columns.rows, "slots must have one entry per row.");
            const std::size_t n_slots = sums.squares.shape(0);
            const DepthSums out = sums.view(columns.columns, n_slots, config);
            for (std::size_t i = 0; i < columns.rows; ++i)
                require(slots.data()[i] >= -1 && slots.data()[i] < std::int64_t(n_slots),
                        "slots must be less than the number of nodes, or -1.");
            checked_threads(threads);
            without_gil([&] { add_depth_sums(columns, view, config, slots.data(), out, threads); });
        },
        any);
}

State split_depth(const TreeConfig& config, const EncodingArrays& encoding,
                  const std::optional<StateIn>& state, const Array1<const std::int32_t>& nodes,
                  const SumArrays& sums) {
    const std::vector<Column> columns = encoding.view();
    TreeBuilder builder = checked_builder(config, columns, state);
    if (!state) builder.add(0, 1);
    const DepthSums view = sums.view(columns, nodes.shape(0), config);
    const std::vector<std::int32_t> open(nodes.data(), nodes.data() + nodes.shape(0));
    for (const std::int32_t node : open)
        require(node >= 0 && std::size_t(node) < builder.nodes.size() &&
                    !builder.nodes[std::size_t(node)].expanded(),
                "nodes must be indices of nodes without branches.");
    without_gil([&] { solve_depth(builder, columns, open, view); });
    return state_of(std::move(builder));
}

nb::ndarray<nb::numpy, std::uint8_t> leaf_reasons(const StateIn& state) {
    const auto& nodes = std::get<0>(state);
    require(nodes.shape(1) == sizeof(Node), "state: nodes must be records of nodes.");
    std::vector<std::uint8_t> reasons;
    for (std::size_t i = 0; i < nodes.shape(0); ++i) {
        Node node;
        std::memcpy(&node, nodes.data() + i * sizeof(Node), sizeof(Node));
        reasons.push_back(std::uint8_t(node.reason));
    }
    return owned(std::move(reasons));
}

void nodes_of_rows(const TreeConfig& config, const StateIn& state, const AnyCodes& any,
                   const EncodingArrays& encoding, const Array1<std::int32_t>& out) {
    std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            const TreeBuilder builder = checked_builder(config, columns.columns, state);
            require(out.shape(0) == columns.rows, "out must have one entry per row.");
            without_gil([&] {
                for (std::size_t i = 0; i < columns.rows; ++i) {
                    std::int32_t at = 0;
                    while (builder.nodes[std::size_t(at)].expanded()) {
                        const Node& node = builder.nodes[std::size_t(at)];
                        const auto j = std::size_t(node.column);
                        at = node.child + builder.branch(node, columns.column(j)[i],
                                                         columns.columns[j].missing_code());
                    }
                    out.data()[i] = at;
                }
            });
        },
        any);
}

}  // namespace

void bind_tree_grow(nb::module_& module) {
    nb::class_<EncodingArrays>(module, "ColumnEncoding", "Meaning of the codes of each column.")
        .def(nb::init<Array1<const std::uint32_t>, Array1<const bool>, Array1<const bool>,
                      Maybe1<const double>, Maybe1<const std::uint64_t>, Maybe1<const bool>,
                      Maybe1<const double>, Maybe1<const std::uint64_t>,
                      Maybe1<const std::int64_t>>(),
             "n_codes"_a.noconvert(), "nominal"_a.noconvert(), "integer"_a.noconvert(),
             nb::kw_only(), "representatives"_a.noconvert() = nb::none(),
             "distances"_a.noconvert() = nb::none(), "exact"_a.noconvert() = nb::none(),
             "thresholds"_a.noconvert() = nb::none(), "whole_thresholds"_a.noconvert() = nb::none(),
             "first_threshold"_a.noconvert() = nb::none());
    nb::class_<TargetArrays>(module, "TreeTargets", "Targets and weights of rows, in fixed point.")
        .def(nb::init<Maybe1<const std::uint16_t>, Maybe1<const std::int64_t>,
                      Maybe1<const std::int64_t>, Maybe1<const double>, Maybe1<const std::int64_t>,
                      Maybe1<const double>, Maybe1<const std::int64_t>>(),
             nb::kw_only(), "label"_a.noconvert() = nb::none(),
             "weighted_target"_a.noconvert() = nb::none(),
             "weighted_square"_a.noconvert() = nb::none(), "value"_a.noconvert() = nb::none(),
             "weight"_a.noconvert() = nb::none(), "distinct_values"_a.noconvert() = nb::none(),
             "weight_without_costs"_a.noconvert() = nb::none());
    nb::class_<VectorTargetArrays>(module, "VectorTargets", "Several targets of rows, and weights.")
        .def(nb::init<Maybe2<const std::int64_t>, Maybe2<const double>, Maybe1<const double>,
                      Maybe1<const double>, Maybe2<const std::uint16_t>,
                      Maybe1<const std::int64_t>>(),
             nb::kw_only(), "weighted_target"_a.noconvert() = nb::none(),
             "value"_a.noconvert() = nb::none(), "center"_a.noconvert() = nb::none(),
             "unit"_a.noconvert() = nb::none(), "label"_a.noconvert() = nb::none(),
             "weight"_a.noconvert() = nb::none());
    nb::class_<SumArrays>(module, "DepthSums", "Sums of the rows of some nodes at one depth.")
        .def(nb::init<Array1<std::int64_t>, Array1<std::int64_t>, Array1<double>, Array1<double>>(),
             "cells"_a.noconvert(), "squares"_a.noconvert(), "min_target"_a.noconvert(),
             "max_target"_a.noconvert());
    nb::class_<PresortedRows>(module, "PresortedRows", "The rows sorted by each column.");
    module.def("tree_presort", &presort_rows, "codes"_a.noconvert(), "encoding"_a, "threads"_a,
               "Sort the rows by each column once, for many trees on the same codes.");
    module.def("tree_grow", &grow_tree, "config"_a, "codes"_a.noconvert(), "encoding"_a,
               "targets"_a, "state"_a.none(), "nodes"_a.noconvert().none(), "threads"_a,
               "presorted"_a.none() = nb::none(),
               "Grow a tree on encoded rows, from the root or from a state and the rows' nodes.");
    module.def("tree_grow_vectors", &grow_vector_tree, "config"_a, "codes"_a.noconvert(),
               "encoding"_a, "targets"_a, "threads"_a,
               "Grow a tree for several targets; return its state and the nodes' mean targets.");
    module.def("tree_depth_sums", &sum_depth, "config"_a, "codes"_a.noconvert(), "encoding"_a,
               "targets"_a, "slots"_a.noconvert(), "sums"_a, "threads"_a,
               "Add the rows of each slot to the cells of (slot, column, code).");
    module.def("tree_solve_depth", &split_depth, "config"_a, "encoding"_a, "state"_a.none(),
               "nodes"_a.noconvert(), "sums"_a,
               "Split nodes by the sums of their rows, and return the new state.");
    module.def("tree_reasons", &leaf_reasons, "state"_a, "Return the LeafReason of each node.");
    module.def("tree_nodes_of_rows", &nodes_of_rows, "config"_a, "state"_a, "codes"_a.noconvert(),
               "encoding"_a, "out"_a.noconvert(),
               "Write the node of each encoded row in a partly grown tree to out.");
}

}  // namespace ceiba::bindings
