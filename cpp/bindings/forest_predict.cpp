// Forests: predictions, out-of-bag results, importances and quantiles.
#include "forest/predict/predict_forest.hpp"

#include <algorithm>

#include "forest/oob/debiased_importance.hpp"
#include "forest/predict/quantiles.hpp"
#include "forest_arrays.hpp"

namespace ceiba::bindings {
namespace {

constexpr const char* kPerTree = "smoothing must have one entry per tree.";

std::size_t output_width(const ForestView& view) {
    return std::max<std::size_t>(1, view.n_classes);
}

void tree_class_weights(const ForestArrays& forest, std::size_t tree, const Array2<double>& out) {
    const ForestView view = forest.view();
    require(view.n_classes > 0, "class weights require a classification forest.");
    require(tree < view.n_trees, "tree must be less than n_trees.");
    require(has_shape(out, view.tree(tree).count, view.n_classes),
            "out must have shape (n_nodes, n_classes).");
    without_gil([&] { forest::class_weights(view, tree, out.data()); });
}

void apply_forest(const ForestArrays& forest, const ForestRows& rows,
                  const Array2<std::int32_t>& leaf, int threads) {
    const ForestView view = forest.view();
    rows.check(forest.columns);
    require(has_shape(leaf, rows.rows.rows, view.n_trees),
            "leaf must have shape (n_rows, n_trees).");
    checked_threads(threads);
    without_gil([&] { forest::apply(view, rows.rows, leaf.data(), threads); });
}

void predict_forest(const ForestArrays& forest, const ForestRows& rows,
                    const Array1<const double>& smoothing, const Array2<double>& out, int threads) {
    const ForestView view = forest.view();
    rows.check(forest.columns);
    require(has_shape(out, rows.rows.rows, output_width(view)),
            "out must have shape (n_rows, n_classes), for regression (n_rows, 1).");
    require(view.n_trees >= 1, "predictions require at least one tree.");
    require(smoothing.shape(0) == view.n_trees, kPerTree);
    checked_threads(threads);
    without_gil([&] { forest::predict(view, rows.rows, smoothing.data(), out.data(), threads); });
}

void predict_forest_vectors(const ForestArrays& forest, const ForestRows& rows,
                            const Array1<const std::int32_t>& leaf_row,
                            const Array2<const double>& leaf_values, const Array2<double>& out,
                            int threads) {
    const ForestView view = forest.view();
    rows.check(forest.columns);
    require(view.n_trees >= 1, "predictions require at least one tree.");
    require(has_shape(out, rows.rows.rows, leaf_values.shape(1)),
            "out must have shape (n_rows, n_targets).");
    require(leaf_row.shape(0) == view.count, "leaf_row must have one entry per node.");
    for (std::size_t i = 0; i < view.count; ++i)
        require(leaf_row.data()[i] >= 0 && std::size_t(leaf_row.data()[i]) < leaf_values.shape(0),
                "leaf_row must be indices of leaf_values.");
    checked_threads(threads);
    without_gil([&] {
        forest::predict_vectors(view, rows.rows,
                                {leaf_row.data(), leaf_values.data(), leaf_values.shape(1)},
                                out.data(), threads);
    });
}

// Results of out-of-bag rows, and of the forest after each tree.
struct OobArrays {
    Array2<double> sums;
    Array1<std::int32_t> n_trees;
    Array1<std::int64_t> n_rows;
    Array1<double> loss, squares;
};

void predict_out_of_bag(const TrainedForest& trained, const Array1<const double>& smoothing,
                        const OobArrays& out, int threads) {
    const std::size_t n = trained.n_rows(), t = trained.view.n_trees;
    require(has_shape(out.sums, n, output_width(trained.view)) && out.n_trees.shape(0) == n,
            "sums must have shape (n_rows, n_classes), and n_trees one entry per row.");
    require(out.n_rows.shape(0) == t && out.loss.shape(0) == t && out.squares.shape(0) == t,
            "n_rows, loss and squares must have one entry per tree.");
    require(smoothing.shape(0) == t, kPerTree);
    const forest::TrainedForest view = trained.checked();
    checked_threads(threads);
    without_gil([&] {
        forest::out_of_bag(view, smoothing.data(),
                           {out.sums.data(), out.n_trees.data(), out.n_rows.data(), out.loss.data(),
                            out.squares.data()},
                           threads);
    });
}

void permute_columns(const TrainedForest& trained, std::size_t n_repeats,
                     const Array2<double>& sums, const Array1<std::int32_t>& n_trees, int threads) {
    const std::size_t n = trained.n_rows();
    require(has_shape(sums, n, trained.rows.rows.width) && n_trees.shape(0) == n,
            "sums must have shape (n_rows, n_columns), and n_trees one entry per row.");
    require(n_repeats >= 1 && n_repeats < 256, "n_repeats must be in [1, 255].");
    const forest::TrainedForest view = trained.checked();
    checked_threads(threads);
    without_gil([&] {
        forest::permutation_importance(view, n_repeats, sums.data(), n_trees.data(), threads);
    });
}

void debias_importance(const TrainedForest& trained, const Array2<double>& out, int threads) {
    require(has_shape(out, trained.view.n_trees, trained.rows.rows.width),
            "out must have shape (n_trees, n_columns).");
    const forest::TrainedForest view = trained.checked();
    checked_threads(threads);
    without_gil([&] { forest::debiased_importance(view, out.data(), threads); });
}

// Training targets in ascending order, and the rows of each leaf of each tree.
struct LeafTargets {
    Array1<const double> target, weight;
    Array2<const std::uint32_t> order;
    Array1<const std::int64_t> offsets, tree_offsets;

    forest::LeafRows view() const {
        const std::size_t n = target.shape(0), n_trees = order.shape(0);
        require(n >= 1 && weight.shape(0) == n && order.shape(1) == n,
                "target, weight and order must have one entry per training row.");
        require(n_trees >= 1 && tree_offsets.shape(0) == n_trees + 1 &&
                    tree_offsets.data()[0] == 0 &&
                    std::is_sorted(tree_offsets.data(), tree_offsets.data() + n_trees + 1),
                "tree_offsets must be ascending from 0, one per tree and the end.");
        require(offsets.shape(0) == std::size_t(tree_offsets.data()[n_trees]) + n_trees,
                "offsets must have one entry per node, and one more per tree.");
        const forest::LeafRows rows{target.data(),  weight.data(),       n,      order.data(),
                                    offsets.data(), tree_offsets.data(), n_trees};
        for (std::size_t i = 0; i < n_trees * n; ++i)
            require(rows.order[i] < n, "order must be indices of training rows.");
        for (std::size_t t = 0; t < n_trees; ++t) {
            const std::int64_t *begin = rows.start + rows.first[t] + std::int64_t(t),
                               *end = begin + (rows.first[t + 1] - rows.first[t]);
            require(begin[0] == 0 && *end == std::int64_t(n) && std::is_sorted(begin, end + 1),
                    "the leaves of each tree must have all training rows.");
        }
        return rows;
    }
};

// Every leaf has training rows.
void check_leaves(const forest::LeafRows& training, const Array2<const std::int32_t>& leaf) {
    require(leaf.shape(1) == training.n_trees, "leaf must have shape (n_rows, n_trees).");
    for (std::size_t i = 0; i < leaf.shape(0); ++i) {
        for (std::size_t t = 0; t < training.n_trees; ++t) {
            const std::int32_t own = leaf.data()[i * training.n_trees + t];
            require(own >= 0 && own < training.first[t + 1] - training.first[t],
                    "leaf must be indices of nodes.");
            require(!training.of(t, own).empty(), "every leaf must have training rows.");
        }
    }
}

void row_quantiles(const LeafTargets& targets, const Array2<const std::int32_t>& leaf,
                   const Array1<const double>& q, const Array2<double>& out, int threads) {
    const forest::LeafRows training = targets.view();
    require(has_shape(out, leaf.shape(0), q.shape(0)),
            "out must have shape (n_rows, n_quantiles).");
    check_leaves(training, leaf);
    checked_threads(threads);
    without_gil([&] {
        forest::quantiles(training, leaf.data(), leaf.shape(0), {q.data(), q.shape(0)}, out.data(),
                          threads);
    });
}

void bind_inputs(nb::module_& module) {
    nb::class_<ForestArrays>(module, "ForestArrays", "The arrays of a forest, checked once.")
        .def(nb::init<NodeArray, Array1<const std::int64_t>, Array1<const std::uint64_t>,
                      Array1<const std::int32_t>, Array1<const std::uint8_t>, std::size_t,
                      Maybe2<const std::int64_t>, ColumnTypes>(),
             "nodes"_a.noconvert(), "tree_offsets"_a.noconvert(), "words"_a.noconvert(),
             "tables"_a.noconvert(), "leaves"_a.noconvert(), "n_classes"_a,
             "class_units"_a.noconvert().none(), "columns"_a)
        .def_ro("first_leaf", &ForestArrays::first_leaf,
                "Offset of the first leaf byte of each tree, and the end.");
    nb::class_<ForestRows>(module, "ForestRows", "Rows to which a forest is applied.")
        .def(nb::init<TreeTable>(), "table"_a)
        .def(nb::init<AnyFloat2>(), "X"_a.noconvert());
    nb::class_<OobTargets>(module, "OobTargets", "Targets of the training rows of a forest.")
        .def(nb::init<Maybe1<const std::uint16_t>, Maybe1<const double>, Maybe1<const double>, bool,
                      double>(),
             nb::kw_only(), "label"_a.noconvert() = nb::none(), "target"_a.noconvert() = nb::none(),
             "weight"_a.noconvert() = nb::none(), "balanced"_a = false, "scale"_a = 1.0);
    nb::class_<TrainedForest>(module, "TrainedForest",
                              "A forest with its training rows and their sampler.")
        .def(nb::init<const ForestArrays&, const ForestRows&, const RowSampler&,
                      Array1<const std::uint64_t>, OobTargets>(),
             "forest"_a, "rows"_a, "sampler"_a, "seeds"_a.noconvert(), "targets"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    nb::class_<OobArrays>(module, "OobTotals",
                          "Sums of out-of-bag predictions, and losses after each tree.")
        .def(nb::init<Array2<double>, Array1<std::int32_t>, Array1<std::int64_t>, Array1<double>,
                      Array1<double>>(),
             "sums"_a.noconvert(), "n_trees"_a.noconvert(), "n_rows"_a.noconvert(),
             "loss"_a.noconvert(), "squares"_a.noconvert());
    nb::class_<LeafTargets>(module, "LeafTargets", "Training targets in the leaves of a forest.")
        .def(nb::init<Array1<const double>, Array1<const double>, Array2<const std::uint32_t>,
                      Array1<const std::int64_t>, Array1<const std::int64_t>>(),
             "target"_a.noconvert(), "weight"_a.noconvert(), "order"_a.noconvert(),
             "offsets"_a.noconvert(), "tree_offsets"_a.noconvert());
}

}  // namespace

void bind_forest_predict(nb::module_& module) {
    bind_inputs(module);
    module.def("forest_class_weights", &tree_class_weights, "forest"_a, "tree"_a,
               "out"_a.noconvert(),
               "Write the class weights of a tree's leaves, in units; zero for other nodes.");
    module.def("forest_apply", &apply_forest, "forest"_a, "rows"_a, "leaf"_a.noconvert(),
               "threads"_a, "Write the leaf of each (row, tree).");
    module.def("forest_predict", &predict_forest, "forest"_a, "rows"_a, "smoothing"_a.noconvert(),
               "out"_a.noconvert(), "threads"_a,
               "Write the mean prediction of the trees: class probabilities or a value.\n\n"
               "smoothing is added to each class weight in the leaves of a tree.");
    module.def("forest_predict_vectors", &predict_forest_vectors, "forest"_a, "rows"_a,
               "leaf_row"_a.noconvert(), "leaf_values"_a.noconvert(), "out"_a.noconvert(),
               "threads"_a, "Write the mean over the trees of the vectors of the rows' leaves.");
    module.def("forest_out_of_bag", &predict_out_of_bag, "trained"_a, "smoothing"_a.noconvert(),
               "totals"_a, "threads"_a,
               "Sum the predictions of out-of-bag rows, and the losses after each tree.");
    module.def("forest_permutation_importance", &permute_columns, "trained"_a, "n_repeats"_a,
               "sums"_a.noconvert(), "n_trees"_a.noconvert(), "threads"_a,
               "Sum the increase of each row's out-of-bag loss with each column permuted.");
    module.def("forest_debiased_importance", &debias_importance, "trained"_a, "out"_a.noconvert(),
               "threads"_a,
               "Write the impurity decrease by each (tree, column) on out-of-bag rows.");
    module.def("forest_quantiles", &row_quantiles, "targets"_a, "leaf"_a.noconvert(),
               "q"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
               "Write quantiles of the training targets in the leaves of each row.");
}

}  // namespace ceiba::bindings
