// Shapley values of trees.
#include "tree/explain/tree_shap.hpp"

#include <cmath>

#include "tree/predict/missing_routing.hpp"
#include "tree_arrays.hpp"

namespace ceiba::bindings {
namespace {

// The nodes of several trees with what their leaves predict, checked once.
struct TreeSum {
    NodeArray nodes;
    Array1<const std::int64_t> tree_offsets;
    Array1<const std::uint64_t> words;
    Array1<const std::int32_t> tables;
    ColumnTypes columns;
    Array2<const double> leaf_values;
    Array1<const double> cover, scale;
    Maybe1<const std::int32_t> output;
    std::size_t n_outputs;
    bool fractional;

    TreeSum(NodeArray nodes, Array1<const std::int64_t> tree_offsets,
            Array1<const std::uint64_t> words, Array1<const std::int32_t> tables,
            ColumnTypes columns, Array2<const double> leaf_values, Array1<const double> cover,
            Array1<const double> scale, Maybe1<const std::int32_t> output, std::size_t n_outputs,
            bool fractional)
        : nodes(std::move(nodes)),
          tree_offsets(std::move(tree_offsets)),
          words(std::move(words)),
          tables(std::move(tables)),
          columns(std::move(columns)),
          leaf_values(std::move(leaf_values)),
          cover(std::move(cover)),
          scale(std::move(scale)),
          output(std::move(output)),
          n_outputs(n_outputs),
          fractional(fractional) {
        const std::size_t n = this->nodes.shape(0);
        require(this->nodes.shape(1) == 2, "nodes must have shape (n_nodes, 2).");
        require(this->tree_offsets.shape(0) >= 2, "tree_offsets must have at least 2 entries.");
        const std::size_t n_trees = this->tree_offsets.shape(0) - 1;
        const std::int64_t* first = this->tree_offsets.data();
        check_offsets(first, n_trees, n, "tree_offsets must be ascending, up to n_nodes.");
        require(this->leaf_values.shape(0) == n && this->leaf_values.shape(1) >= 1,
                "leaf_values must have one row per node.");
        require(this->cover.shape(0) == n, "cover must have one entry per node.");
        require(this->scale.shape(0) == n_trees, "scale must have one entry per tree.");
        for (std::size_t v = 0; v < n; ++v)
            require(this->cover.data()[v] >= 0 && std::isfinite(this->cover.data()[v]),
                    "cover must be finite and not negative.");
        require(n_outputs >= 1, "n_outputs must be at least 1.");
        if (this->output) {
            require(this->output->shape(0) == n_trees && this->leaf_values.shape(1) == 1,
                    "output must have one entry per tree, and leaf_values one column.");
            for (std::size_t t = 0; t < n_trees; ++t)
                require(this->output->data()[t] >= 0 &&
                            std::size_t(this->output->data()[t]) < n_outputs,
                        "output must be less than n_outputs.");
        } else {
            require(this->leaf_values.shape(1) == n_outputs,
                    "leaf_values must have n_outputs columns.");
        }
        const ExplainedTrees trees = view();
        for (std::size_t t = 0; t < n_trees; ++t) {
            require_sound(
                tree_defect(trees.tree(t), this->columns.types, this->columns.n_categories, true));
            if (fractional)
                require_sound(presence_defect(trees.tree(t), this->columns.n_categories));
        }
    }

    ExplainedTrees view() const {
        ExplainedTrees trees;
        trees.nodes = reinterpret_cast<const PackedNode*>(nodes.data());
        trees.first = tree_offsets.data();
        trees.n_trees = tree_offsets.shape(0) - 1;
        trees.words = words.data();
        trees.n_words = words.shape(0);
        trees.tables = tables.data();
        trees.n_tables = tables.shape(0);
        trees.values = leaf_values.data();
        trees.n_values = leaf_values.shape(1);
        trees.cover = cover.data();
        trees.scale = scale.data();
        trees.output = pointer(output);
        trees.n_outputs = n_outputs;
        trees.fractional = fractional;
        return trees;
    }
};

using Array3 = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu, nb::numpy>;

void tree_shap(const TreeSum& trees, const TreeTable& table,
               const std::optional<TreeTable>& background, const Array3& out,
               const Array1<double>& base, int threads) {
    table.check(trees.columns);
    require(out.shape(0) == table.rows && out.shape(1) == table.size() &&
                out.shape(2) == trees.n_outputs,
            "out must have shape (n_rows, n_columns, n_outputs).");
    require(base.shape(0) == trees.n_outputs, "base must have one entry per output.");
    checked_threads(threads);
    const ExplainedTrees view = trees.view();
    const ExplainedRows rows{table.columns, table.rows};
    if (!background) {
        without_gil([&] { path_dependent_shap(view, rows, out.data(), base.data(), threads); });
        return;
    }
    background->check(trees.columns);
    require(background->rows >= 1, "background must have at least one row.");
    const ExplainedRows others{background->columns, background->rows};
    without_gil([&] { interventional_shap(view, rows, others, out.data(), base.data(), threads); });
}

}  // namespace

void bind_tree_explain(nb::module_& module) {
    nb::class_<TreeSum>(
        module, "TreeSum",
        "A weighted sum of trees: nodes, leaf values, covers and scales.\n\n"
        "Columns of leaf_values are the outputs; with output, tree t has one "
        "column, that of output[t]. With fractional, rows that lack a value follow all "
        "branches by their covers.")
        .def(nb::init<NodeArray, Array1<const std::int64_t>, Array1<const std::uint64_t>,
                      Array1<const std::int32_t>, ColumnTypes, Array2<const double>,
                      Array1<const double>, Array1<const double>, Maybe1<const std::int32_t>,
                      std::size_t, bool>(),
             "nodes"_a.noconvert(), "tree_offsets"_a.noconvert(), "words"_a.noconvert(),
             "tables"_a.noconvert(), "columns"_a, nb::kw_only(), "leaf_values"_a.noconvert(),
             "cover"_a.noconvert(), "scale"_a.noconvert(), "output"_a.noconvert() = nb::none(),
             "n_outputs"_a, "fractional"_a);
    module.def("tree_shap", &tree_shap, "trees"_a, "table"_a, "background"_a.none(),
               "out"_a.noconvert(), "base"_a.noconvert(), "threads"_a,
               "Write the Shapley values of each (row, column, output), and the base values.\n\n"
               "Without a background they are path-dependent, by the covers; with one "
               "interventional.");
}

}  // namespace ceiba::bindings
