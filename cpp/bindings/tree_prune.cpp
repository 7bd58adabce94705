// Pruning: error-based, which routes the training rows again, and weakest links.
#include <algorithm>
#include <cmath>

#include "tree/prune/error_based.hpp"
#include "tree/prune/weakest_links.hpp"
#include "tree_arrays.hpp"

namespace ceiba::bindings {
namespace {

constexpr const char* kBranches = "branches must be consecutive nodes with one parent each.";

// Every node but the root is a branch of exactly one other.
void check_branches(const TreeView& tree, const Array1<const std::int32_t>& n_branches) {
    require(n_branches.shape(0) == tree.count, "n_branches must have one entry per node.");
    std::vector<bool> taken(tree.count, false);
    std::size_t total = 1;
    for (std::size_t i = 0; i < tree.count; ++i) {
        if (tree.nodes[i].kind() == Test::kLeaf) continue;
        const auto first = std::size_t(tree.nodes[i].child);
        const auto own = std::size_t(std::max(n_branches.data()[i], 0));
        require(own >= 2 && own <= tree.count - first, kBranches);
        for (std::size_t b = first; b < first + own; ++b) {
            require(!taken[b], kBranches);
            taken[b] = true;
        }
        total += own;
    }
    require(total == tree.count, kBranches);
}

// The settings with the array of costs that they refer to.
struct ErrorPruneArrays {
    ErrorPruneConfig config;
    bool fractional;
    Maybe2<const double> costs;

    ErrorPruneArrays(std::size_t n_classes, double confidence, double deviate, bool subtree_raising,
                     bool fractional, Maybe2<const double> given_costs)
        : config{confidence, deviate, subtree_raising, n_classes, nullptr},
          fractional(fractional),
          costs(std::move(given_costs)) {
        require(n_classes >= 1 && n_classes <= 0xFFFF, "n_classes must be in [1, 65535].");
        require(confidence > 0 && confidence <= 0.5, "confidence must be in (0, 0.5].");
        require(deviate >= 0 && std::isfinite(deviate), "deviate must be finite and at least 0.");
        if (!costs) return;
        require(has_shape(*costs, n_classes, n_classes),
                "costs must have shape (n_classes, n_classes).");
        for (std::size_t i = 0; i < costs->size(); ++i)
            require(costs->data()[i] >= 0 && std::isfinite(costs->data()[i]),
                    "costs must be finite and not negative.");
        config.costs = costs->data();
    }
};

MissingRouting checked_routing(const TreeArrays& tree, bool fractional) {
    if (fractional || tree.surrogates) require_sound(tree.categories_defect());
    require_sound(tree.surrogates_defect());
    MissingRouting routing;
    routing.is_fractional = fractional;
    routing.surrogates = tree.surrogate_view();
    return routing;
}

void check_rows(const TrainingRows& rows, std::size_t n_classes) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        require(rows.label[i] < n_classes, "label must be less than n_classes.");
        require(rows.weight == nullptr || (rows.weight[i] >= 0 && std::isfinite(rows.weight[i])),
                "weight must be finite and not negative.");
    }
}

template <typename T>
nb::ndarray<nb::numpy, T> field_of(const std::vector<PruneStep>& steps, T PruneStep::* member) {
    std::vector<T> values;
    for (const PruneStep& step : steps) values.push_back(step.*member);
    return owned(std::move(values));
}

nb::dict arrays_of(PrunedTree&& pruned, std::size_t n_classes) {
    const std::size_t n = pruned.origin.size();
    nb::dict out;
    out["origin"] = owned(std::move(pruned.origin));
    out["child"] = owned(std::move(pruned.child));
    out["n_rows"] = owned(std::move(pruned.rows));
    out["weight"] = owned(std::move(pruned.weight));
    out["value"] = owned(std::move(pruned.value), {n, n_classes});
    out["node"] = field_of(pruned.steps, &PruneStep::node);
    out["replaced_by"] = field_of(pruned.steps, &PruneStep::replacing);
    out["leaves_removed"] = field_of(pruned.steps, &PruneStep::leaves_removed);
    out["errors_leaf"] = field_of(pruned.steps, &PruneStep::leaf_errors);
    out["errors_tree"] = field_of(pruned.steps, &PruneStep::subtree_errors);
    out["errors_branch"] = field_of(pruned.steps, &PruneStep::branch_errors);
    return out;
}

nb::dict prune_tree(const ErrorPruneArrays& settings, const TreeArrays& tree,
                    const Array1<const std::int32_t>& n_branches, const TreeTable& table,
                    const Array1<const std::uint16_t>& label, const Maybe1<const double>& weight,
                    int threads) {
    table.check(tree.columns);
    require_sound(tree.defect());
    const TreeView view = tree.view();
    check_branches(view, n_branches);
    require(label.shape(0) == table.rows, "label must have one entry per row.");
    const TrainingRows rows{table.columns, checked_routing(tree, settings.fractional), table.rows,
                            label.data(),
                            sized(weight, table.rows, "weight must have one entry per row.")};
    const ErrorPruneConfig& config = settings.config;
    check_rows(rows, config.n_classes);
    checked_threads(threads);
    PrunedTree pruned;
    without_gil([&] { pruned = prune_by_errors(view, n_branches.data(), rows, config, threads); });
    return arrays_of(std::move(pruned), config.n_classes);
}

nb::tuple find_weakest_links(const Array1<const double>& risk,
                             const Array1<const std::int32_t>& child,
                             const Array1<const std::int32_t>& n_branches,
                             const Array1<const bool>& is_candidate, double tolerance) {
    const std::size_t n = risk.shape(0);
    require(n >= 1 && child.shape(0) == n && n_branches.shape(0) == n && is_candidate.shape(0) == n,
            "risk, child, n_branches and is_candidate must have one entry per node.");
    for (std::size_t v = 0; v < n; ++v) {
        if (!is_candidate.data()[v]) continue;
        const std::int64_t first = child.data()[v], count = n_branches.data()[v];
        require(count >= 2 && first > std::int64_t(v) && first + count <= std::int64_t(n),
                kBranches);
    }
    WeakestLinks links;
    without_gil([&] {
        links = weakest_links(
            {risk.data(), child.data(), n_branches.data(), is_candidate.data(), n}, tolerance);
    });
    return nb::make_tuple(owned(std::move(links.strength)), owned(std::move(links.kept)));
}

}  // namespace

void bind_tree_prune(nb::module_& module) {
    nb::class_<ErrorPruneArrays>(module, "ErrorPruneConfig", "Settings of error-based pruning.")
        .def(nb::init<std::size_t, double, double, bool, bool, Maybe2<const double>>(),
             nb::kw_only(), "n_classes"_a, "confidence"_a, "deviate"_a, "subtree_raising"_a,
             "fractional"_a = false, "costs"_a.noconvert() = nb::none());
    module.def("tree_prune_by_errors", &prune_tree, "config"_a, "tree"_a,
               "n_branches"_a.noconvert(), "table"_a, "label"_a.noconvert(),
               "weight"_a.noconvert().none(), "threads"_a,
               "Return the pruned tree in nodes of the grown one, and the pruning steps.");
    module.def("tree_weakest_links", &find_weakest_links, "risk"_a.noconvert(),
               "child"_a.noconvert(), "n_branches"_a.noconvert(), "is_candidate"_a.noconvert(),
               "tolerance"_a,
               "Return the alpha from which on each node is better a leaf, and the nodes that are\n"
               "not pruned together with an ancestor.");
}

}  // namespace ceiba::bindings
