// The tree engine: pruning that sends the training rows down again.
#include <algorithm>
#include <cmath>

#include "tree/error_based.hpp"
#include "tree/weakest_links.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

using Nodes = Array2<const std::uint64_t>;

std::vector<Type> types_of(const Table& table) {
    std::vector<Type> types;
    for (const AnyColumn& column : table.columns) types.push_back(column.type);
    return types;
}

// Every node but the root is the branch of one other.
void check_branches(const TreeView& tree, const Array1<const std::int32_t>& branches) {
    constexpr const char* kMisplaced = "the branches of a node are not where they should be";
    require(branches.shape(0) == tree.count, "branches must be told of every node");
    std::vector<bool> taken(tree.count, false);
    std::size_t all = 1;
    for (std::size_t i = 0; i < tree.count; ++i) {
        if (tree.nodes[i].kind() == Test::kLeaf) continue;
        const auto first = std::size_t(tree.nodes[i].child);
        const auto own = std::size_t(std::max(branches.data()[i], 0));
        require(own >= 2 && own <= tree.count - first, kMisplaced);
        for (std::size_t b = first; b < first + own; ++b) {
            require(!taken[b], kMisplaced);
            taken[b] = true;
        }
        all += own;
    }
    require(all == tree.count, kMisplaced);
}

TreeView checked_tree(const Nodes& nodes, const Array1<const std::uint64_t>& words,
                      const Array1<const std::int32_t>& tables,
                      const Array1<const std::int32_t>& branches, const Table& table) {
    const TreeView tree = tree_view(nodes, words, tables);
    const char* wrong = complaint(tree, types_of(table), table.levels);
    require(wrong == nullptr, wrong);
    check_branches(tree, branches);
    return tree;
}

GapWays checked_gaps(bool shared, const std::optional<Nodes>& surrogates,
                     const Maybe1<const std::int64_t>& first, const TreeView& tree,
                     const Table& table) {
    require(bool(surrogates) == bool(first), "surrogates must be told of every node");
    GapWays gaps;
    gaps.shared = shared;
    if (shared || surrogates) {
        const char* wrong = presence_complaint(tree, table.levels);
        require(wrong == nullptr, wrong);
    }
    if (!surrogates) return gaps;
    require(surrogates->shape(1) == 2, "surrogates must be two words each");
    gaps.surrogates = {reinterpret_cast<const PackedNode*>(surrogates->data()),
                       sized(first, tree.count + 1, "surrogates must be told of every node")};
    const char* wrong =
        complaint(tree, gaps.surrogates, surrogates->shape(0), types_of(table), table.levels);
    require(wrong == nullptr, wrong);
    return gaps;
}

// Costs stand apart from the rules: they are an array that must outlive the call.
ErrorRules checked_rules(ErrorRules rules, const Maybe2<const double>& costs) {
    require(rules.confidence > 0 && rules.confidence <= 0.5, "confidence must lie in (0, 0.5]");
    require(rules.deviate >= 0 && std::isfinite(rules.deviate), "the deviate must be 0 or more");
    require(rules.classes >= 1 && rules.classes <= 0xFFFF, "classes must be 1 to 65535");
    if (!costs) return rules;
    require(costs->shape(0) == rules.classes && costs->shape(1) == rules.classes,
            "costs must be told of every two classes");
    for (std::size_t i = 0; i < costs->size(); ++i)
        require(costs->data()[i] >= 0 && std::isfinite(costs->data()[i]),
                "costs must be finite and not negative");
    rules.costs = costs->data();
    return rules;
}

void check_rows(const TrainingRows& rows, std::size_t classes) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        require(rows.label[i] < classes, "a label lies outside of the classes");
        require(rows.weight == nullptr || (rows.weight[i] >= 0 && std::isfinite(rows.weight[i])),
                "weights must be finite and not negative");
    }
}

template <typename T>
nb::ndarray<nb::numpy, T> each(const std::vector<PruneStep>& steps, T PruneStep::* member) {
    std::vector<T> values;
    for (const PruneStep& step : steps) values.push_back(step.*member);
    return owned(std::move(values));
}

nb::dict arrays_of(ErrorPruned&& pruned, std::size_t classes) {
    const std::size_t n = pruned.origin.size();
    nb::dict out;
    out["origin"] = owned(std::move(pruned.origin));
    out["child"] = owned(std::move(pruned.child));
    out["n_rows"] = owned(std::move(pruned.rows));
    out["weight"] = owned(std::move(pruned.weight));
    out["value"] = owned(std::move(pruned.value), {n, classes});
    out["node"] = each(pruned.steps, &PruneStep::node);
    out["replacing"] = each(pruned.steps, &PruneStep::replacing);
    out["lost"] = each(pruned.steps, &PruneStep::lost);
    out["errors_leaf"] = each(pruned.steps, &PruneStep::as_leaf);
    out["errors_tree"] = each(pruned.steps, &PruneStep::as_is);
    out["errors_branch"] = each(pruned.steps, &PruneStep::as_branch);
    return out;
}

nb::dict prune_errors(const ErrorRules& rules, Nodes nodes, Array1<const std::uint64_t> words,
                      Array1<const std::int32_t> tables, Array1<const std::int32_t> branches,
                      bool shared, std::optional<Nodes> surrogates,
                      Maybe1<const std::int64_t> first_surrogate, const std::vector<Any1>& arrays,
                      const std::vector<Maybe1<const bool>>& gaps,
                      const std::vector<std::uint8_t>& types,
                      const std::vector<std::uint32_t>& levels, Array1<const std::uint16_t> label,
                      Maybe1<const double> weight, Maybe2<const double> costs, int threads) {
    constexpr const char* kLong = "labels and weights must be as many as rows";
    const Table table = table_of(arrays, gaps, types, levels);
    const TreeView tree = checked_tree(nodes, words, tables, branches, table);
    require(label.shape(0) == table.rows, kLong);
    const TrainingRows rows{table.columns,
                            checked_gaps(shared, surrogates, first_surrogate, tree, table),
                            table.rows, label.data(), sized(weight, table.rows, kLong)};
    const ErrorRules whole = checked_rules(rules, costs);
    check_rows(rows, whole.classes);
    checked_threads(threads);
    ErrorPruned pruned;
    without_gil([&] { pruned = prune_by_errors(tree, branches.data(), rows, whole, threads); });
    return arrays_of(std::move(pruned), whole.classes);
}

nb::tuple links(Array1<const double> risk, Array1<const std::int32_t> child,
                Array1<const std::int32_t> branches, Array1<const bool> open, double near) {
    const std::size_t n = risk.shape(0);
    require(n >= 1 && child.shape(0) == n && branches.shape(0) == n && open.shape(0) == n,
            "risks, branches and open nodes must be told of every node");
    for (std::size_t v = 0; v < n; ++v) {
        if (!open.data()[v]) continue;
        const std::int64_t first = child.data()[v], count = branches.data()[v];
        require(count >= 2 && first > std::int64_t(v) && first + count <= std::int64_t(n),
                "the branches of a node are not where they should be");
    }
    Links found;
    without_gil([&] {
        found = weakest_links({risk.data(), child.data(), branches.data(), open.data(), n}, near);
    });
    return nb::make_tuple(owned(std::move(found.strength)), owned(std::move(found.kept)));
}

}  // namespace

void bind_tree_pruning(nb::module_& module) {
    nb::class_<ErrorRules>(module, "TreeErrorRules", "What errors are expected of a leaf, and how.")
        .def(nb::init<>())
        .def_rw("confidence", &ErrorRules::confidence)
        .def_rw("deviate", &ErrorRules::deviate)
        .def_rw("raising", &ErrorRules::raising)
        .def_rw("classes", &ErrorRules::classes);
    module.def("tree_prune_errors", &prune_errors, "rules"_a, "nodes"_a.noconvert(),
               "words"_a.noconvert(), "tables"_a.noconvert(), "branches"_a.noconvert(), "shared"_a,
               "surrogates"_a.noconvert().none(), "first_surrogate"_a.noconvert().none(),
               "arrays"_a, "gaps"_a, "types"_a, "levels"_a, "label"_a.noconvert(),
               "weight"_a.noconvert().none(), "costs"_a.noconvert().none(), "threads"_a,
               "A tree after error-based pruning, as nodes of the old one, and the steps taken.");
    module.def(
        "tree_weakest_links", &links, "risk"_a.noconvert(), "child"_a.noconvert(),
        "branches"_a.noconvert(), "open"_a.noconvert(), "near"_a,
        "From which price on open nodes are better leaves; and those that go by themselves.");
}

}  // namespace ceiba::bindings
