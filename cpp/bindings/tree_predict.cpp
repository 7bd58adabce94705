// Finished trees: checks of their arrays, and routing of rows.
#include "tree_arrays.hpp"

namespace ceiba::bindings {
namespace {

void route_rows(const TreeArrays& tree, const AnyFloat2& any, const Array1<std::int32_t>& leaf,
                int threads) {
    std::visit(
        [&](const auto& X) {
            require(leaf.shape(0) == X.shape(0), "leaf must have one entry per row.");
            require(X.shape(1) == tree.columns.size(), "X must have the columns of the tree.");
            require(!tree.surrogates, "a tree with surrogates requires a table.");
            checked_threads(threads);
            const TreeView view = tree.view();
            without_gil([&] {
                route_matrix(view, X.data(), X.shape(0), X.shape(1), leaf.data(), threads);
            });
        },
        any);
}

void route_table(const TreeArrays& tree, const TreeTable& table, const Array1<std::int32_t>& leaf,
                 int threads) {
    require(leaf.shape(0) == table.rows, "leaf must have one entry per row.");
    table.check(tree.columns);
    checked_threads(threads);
    const TreeView view = tree.view();
    without_gil([&] {
        if (tree.surrogates)
            route_by_surrogates(view, tree.surrogate_view(), table.columns, table.rows, leaf.data(),
                                threads);
        else
            route_columns(view, table.columns, table.rows, leaf.data(), threads);
    });
}

// Fractions of the rows with a missing value that go from a node's parent to the node.
struct FractionArrays {
    Array1<const double> fraction;
    Array1<const std::int32_t> n_branches;

    BranchFractions view(const TreeView& tree) const {
        require(fraction.shape(0) == tree.count && n_branches.shape(0) == tree.count,
                "fraction and n_branches must have one entry per node.");
        for (std::size_t v = 0; v < tree.count; ++v) {
            require(fraction.data()[v] >= 0 && fraction.data()[v] <= 1,
                    "fraction must be in [0, 1].");
            const bool is_leaf = tree.nodes[v].kind() == Test::kLeaf;
            const std::int32_t own = n_branches.data()[v];
            require(is_leaf || (own >= 2 &&
                                std::size_t(tree.nodes[v].child) + std::size_t(own) <= tree.count),
                    "n_branches must be at least 2 for inner nodes, within the tree.");
        }
        return {fraction.data(), n_branches.data()};
    }
};

void average_leaves(const TreeArrays& tree, const FractionArrays& fractions, const TreeTable& table,
                    const Array2<const double>& values, const Array1<const std::int32_t>& rows,
                    const Array2<double>& out, int threads) {
    checked_threads(threads);
    table.check(tree.columns);
    const TreeView view = tree.view();
    const BranchFractions branches = fractions.view(view);
    require(has_shape(out, table.rows, values.shape(1)),
            "out must have shape (n_rows, values.shape[1]).");
    require(rows.shape(0) == view.count, "rows must have one entry per node.");
    for (std::size_t v = 0; v < view.count; ++v)
        require(view.nodes[v].kind() != Test::kLeaf ||
                    (rows.data()[v] >= 0 && std::size_t(rows.data()[v]) < values.shape(0)),
                "rows must be row indices of values for all leaves.");
    const LeafValues leaf_values{values.data(), rows.data(), values.shape(1)};
    without_gil([&] {
        mean_over_leaves(view, branches, table.columns, table.rows, leaf_values, out.data(),
                         threads);
    });
}

void add_to_leaves(const TreeArrays& tree, const FractionArrays& fractions, const TreeTable& table,
                   const Array2<double>& out, const Maybe1<const double>& weight,
                   const Maybe1<const std::int32_t>& label, const Maybe1<const double>& value) {
    constexpr const char* kPerRow = "weight, label and value must have one entry per row.";
    table.check(tree.columns);
    const TreeView view = tree.view();
    const BranchFractions branches = fractions.view(view);
    const double* weights = sized(weight, table.rows, kPerRow);
    const std::int32_t* labels = sized(label, table.rows, kPerRow);
    const double* values = sized(value, table.rows, kPerRow);
    require((labels != nullptr) != (values != nullptr), "one of label and value must be given.");
    require(out.shape(0) == view.count && (labels != nullptr || out.shape(1) == 3),
            "out must have one row per node, with 3 columns for regression.");
    for (std::size_t i = 0; labels != nullptr && i < table.rows; ++i)
        require(labels[i] >= 0 && std::size_t(labels[i]) < out.shape(1),
                "label must be less than the number of classes.");
    without_gil([&] {
        add_leaf_weights(view, branches, table.columns, table.rows, weights, labels, values,
                         out.shape(1), out.data());
    });
}

std::optional<std::string> message(const char* defect) {
    if (defect == nullptr) return std::nullopt;
    return defect;
}

}  // namespace

void bind_tree_predict(nb::module_& module) {
    nb::class_<TreeArrays>(module, "TreeArrays", "The prediction arrays of a tree.")
        .def(nb::init<NodeArray, Array1<const std::uint64_t>, Array1<const std::int32_t>,
                      ColumnTypes, std::optional<NodeArray>, Maybe1<const std::int64_t>>(),
             "nodes"_a.noconvert(), "words"_a.noconvert(), "tables"_a.noconvert(), "columns"_a,
             "surrogates"_a.noconvert() = nb::none(), "first_surrogate"_a.noconvert() = nb::none())
        .def(
            "defect", [](const TreeArrays& self) { return message(self.defect()); },
            "Return what is wrong with the nodes, or None.")
        .def(
            "categories_defect",
            [](const TreeArrays& self) { return message(self.categories_defect()); },
            "Return what is wrong with the categories seen in training, or None.\n\n"
            "Only trees with fractional or surrogate routing store them.")
        .def(
            "surrogates_defect",
            [](const TreeArrays& self) { return message(self.surrogates_defect()); },
            "Return what is wrong with the surrogates, or None.");
    nb::class_<FractionArrays>(module, "BranchFractions",
                               "Fractions of rows with missing values that each node receives.")
        .def(nb::init<Array1<const double>, Array1<const std::int32_t>>(), "fraction"_a.noconvert(),
             "n_branches"_a.noconvert());
    module.def("tree_apply", &route_rows, "tree"_a, "X"_a.noconvert(), "leaf"_a.noconvert(),
               "threads"_a);
    module.def("tree_apply", &route_table, "tree"_a, "table"_a, "leaf"_a.noconvert(), "threads"_a,
               "Write the leaf of each row of a matrix or table.\n\n"
               "A matrix requires a tree with tests of floating-point columns only.");
    module.def("tree_mean_over_leaves", &average_leaves, "tree"_a, "fractions"_a, "table"_a,
               "values"_a.noconvert(), "rows"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
               "Average values of the leaves that each row reaches, by its fractions.\n\n"
               "The values of leaf v are row rows[v] of values.");
    module.def("tree_add_leaf_weights", &add_to_leaves, "tree"_a, "fractions"_a, "table"_a,
               "out"_a.noconvert(), nb::kw_only(), "weight"_a.noconvert() = nb::none(),
               "label"_a.noconvert() = nb::none(), "value"_a.noconvert() = nb::none(),
               "Add the weight of each row, by its fractions, to the leaves that it reaches.\n\n"
               "Columns of out are the classes; for regression (w, w y, w y^2).");
}

}  // namespace ceiba::bindings
