// Packing a grown tree: thresholds from the values of codes, and the arrays of the finished tree.
#include "growth_state.hpp"

namespace ceiba::bindings {
namespace {

// Call each(column, code below, code above) for all thresholds, surrogates included.
template <typename Each>
void for_thresholds(const TreeBuilder& builder, const Each& each) {
    for (const Node& node : builder.nodes) {
        if (node.reason != Reason::kSplit) continue;
        if (node.shape == SplitShape::kThreshold)
            each(node.column, node.threshold_code, node.next_code);
        if (node.shape == SplitShape::kIntervals)
            for (std::int32_t i = 0; i < builder.n_thresholds(node); ++i)
                each(node.column, builder.threshold_code(node, i, false),
                     builder.threshold_code(node, i, true));
    }
    for (const Surrogate& s : builder.surrogates)
        if (s.table < 0) each(s.column, s.threshold_code, s.next_code);
}

nb::tuple threshold_codes(const TreeConfig& config, const EncodingArrays& encoding,
                          const StateIn& state) {
    const TreeBuilder builder = checked_builder(config, encoding.view(), state);
    std::vector<std::int32_t> columns;
    std::vector<std::uint32_t> codes;
    for_thresholds(builder, [&](std::int32_t j, std::uint32_t below, std::uint32_t above) {
        columns.insert(columns.end(), {j, j});
        codes.insert(codes.end(), {below, above});
    });
    return nb::make_tuple(owned(std::move(columns)), owned(std::move(codes)));
}

void check_thresholds(const TreeBuilder& builder, const Scales& scales) {
    for_thresholds(builder, [&](std::int32_t column, std::uint32_t below, std::uint32_t above) {
        const auto j = std::size_t(column);
        require(scales.types[j] != Type::kNominal,
                "thresholds require numeric or ordinal columns.");
        if (scales.types[j] == Type::kOrdinal) return;
        require(scales.has(j, below) && (scales.codes == nullptr || scales.has(j, above)),
                "values must include the codes of all thresholds.");
    });
}

nb::dict pack_tree(const TreeConfig& config, const StateIn& state, const CodeValues& values) {
    const TreeBuilder builder = builder_of(config, values.columns.size(), state);
    const Scales scales = values.view();
    check_tables(builder, scales.n_categories);
    check_thresholds(builder, scales);
    PackedTree tree = pack(builder, scales);
    const std::size_t n = tree.nodes.size(), k = std::size_t(config.n_classes);
    const std::size_t n_leaves = k ? tree.leaves.size() / k : 0;
    nb::dict out;
    out["nodes"] = owned_words<std::uint64_t>(std::move(tree.nodes));
    out["words"] = owned(std::move(tree.words));
    out["tables"] = owned(std::move(tree.tables));
    out["leaves"] = owned(std::move(tree.leaves), {n_leaves, k});
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
    out["surrogates"] = owned_words<std::uint64_t>(std::move(tree.surrogates));
    out["first_surrogate"] = owned(std::move(tree.first_surrogate));
    out["agreement"] = owned(std::move(tree.agreement));
    out["adjusted_agreement"] = owned(std::move(tree.adjusted));
    return out;
}

}  // namespace

void bind_tree_pack(nb::module_& module) {
    nb::class_<CodeValues>(module, "CodeValues",
                           "Upper edges of bins, or the values of some or all codes.")
        .def(nb::init<const ColumnTypes&, Array1<const std::uint64_t>, Array1<const std::int64_t>,
                      Maybe1<const std::uint32_t>, bool, Maybe1<const bool>>(),
             "columns"_a, "bits"_a.noconvert(), "offsets"_a.noconvert(),
             "codes"_a.noconvert() = nb::none(), "all_values"_a = false,
             "halves"_a.noconvert() = nb::none());
    module.def("tree_threshold_codes", &threshold_codes, "config"_a, "encoding"_a, "state"_a,
               "Return columns and codes on both sides of all thresholds.");
    module.def("tree_pack", &pack_tree, "config"_a, "state"_a, "values"_a,
               "Return the arrays of the finished tree, numbered in growth order.");
}

}  // namespace ceiba::bindings
