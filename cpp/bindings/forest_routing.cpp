// Forests: what they say of rows, of those out of the bag among them.
#include "forest/out_of_bag.hpp"
#include "forest/quantiles.hpp"
#include "forest_arrays.hpp"

namespace ceiba::bindings {
namespace {

using forest::ForestRows;

constexpr const char* kRoom = "results must have room for every row";

void out_of_bag(const ForestArrays& arrays, const RowArrays& rows, const SamplingArrays& sampling,
                const Array1<const std::uint64_t>& seeds, const LabelArrays& labels,
                const Array1<const double>& added, const Array2<double>& sum,
                const Array1<std::int32_t>& count, const Array1<std::int64_t>& known,
                const Array1<double>& loss, const Array1<double>& squares, int threads) {
    const ForestView view = arrays.view();
    const std::size_t n = rows.rows.rows, t = view.trees;
    require(sum.shape(0) == n && sum.shape(1) == std::max<std::size_t>(1, view.classes) &&
                count.shape(0) == n,
            kRoom);
    require(known.shape(0) == t && loss.shape(0) == t && squares.shape(0) == t,
            "results must have room for every tree");
    require(added.shape(0) == t, "what is added must be told of every tree");
    rows.check(arrays);
    const forest::Grown grown = labels.grown(view, rows, sampling, seeds);
    checked_threads(threads);
    without_gil([&] {
        forest::out_of_bag(grown, added.data(),
                           {sum.data(), count.data(), known.data(), loss.data(), squares.data()},
                           threads);
    });
}

void permuted(const ForestArrays& arrays, const RowArrays& rows, const SamplingArrays& sampling,
              const Array1<const std::uint64_t>& seeds, const LabelArrays& labels,
              std::size_t repeats, const Array2<double>& sum, const Array1<std::int32_t>& count,
              int threads) {
    const ForestView view = arrays.view();
    require(sum.shape(0) == rows.rows.rows && sum.shape(1) == rows.rows.width &&
                count.shape(0) == rows.rows.rows,
            kRoom);
    require(repeats >= 1 && repeats < 256, "a column is permuted 1 to 255 times");
    rows.check(arrays);
    const forest::Grown grown = labels.grown(view, rows, sampling, seeds);
    checked_threads(threads);
    without_gil([&] { forest::permuted(grown, repeats, sum.data(), count.data(), threads); });
}

void corrected(const ForestArrays& arrays, const RowArrays& rows, const SamplingArrays& sampling,
               const Array1<const std::uint64_t>& seeds, const LabelArrays& labels,
               const Array2<double>& out, int threads) {
    const ForestView view = arrays.view();
    require(out.shape(0) == view.trees && out.shape(1) == rows.rows.width,
            "results must have room for every tree and column");
    rows.check(arrays);
    const forest::Grown grown = labels.grown(view, rows, sampling, seeds);
    checked_threads(threads);
    without_gil([&] { forest::corrected(grown, out.data(), threads); });
}

// Every leaf that is asked for has rows, and these have targets.
void check_leaves(const forest::LeafRows& training, const Array2<const std::int32_t>& leaf) {
    for (std::size_t i = 0; i < training.trees * training.rows; ++i)
        require(training.order[i] < training.rows, "a training row is not there");
    for (std::size_t t = 0; t < training.trees; ++t) {
        const std::int64_t *begin = training.start + training.first[t] + std::int64_t(t),
                           *end = begin + (training.first[t + 1] - training.first[t]);
        require(
            begin[0] == 0 && *end == std::int64_t(training.rows) && std::is_sorted(begin, end + 1),
            "the rows of leaves must take up all training rows");
    }
    for (std::size_t i = 0; i < leaf.shape(0); ++i) {
        for (std::size_t t = 0; t < training.trees; ++t) {
            const std::int32_t own = leaf.data()[i * training.trees + t];
            require(own >= 0 && own < training.first[t + 1] - training.first[t],
                    "a leaf is not there");
            require(!training.of(t, own).empty(), "a leaf has no training rows");
        }
    }
}

void row_quantiles(const Array1<const double>& target, const Array1<const double>& weight,
                   const Array2<const std::uint32_t>& order,
                   const Array1<const std::int64_t>& start, const Array1<const std::int64_t>& first,
                   const Array2<const std::int32_t>& leaf, const Array1<const double>& wanted,
                   const Array2<double>& out, int threads) {
    const std::size_t n = target.shape(0), trees = order.shape(0);
    require(n >= 1 && weight.shape(0) == n && order.shape(1) == n,
            "targets, weights and places must be as many as rows");
    require(trees >= 1 && first.shape(0) == trees + 1 && first.data()[0] == 0 &&
                std::is_sorted(first.data(), first.data() + trees + 1),
            "a forest says where its trees begin");
    require(start.shape(0) == std::size_t(first.data()[trees]) + trees,
            "every node says where its rows begin");
    require(
        leaf.shape(1) == trees && out.shape(0) == leaf.shape(0) && out.shape(1) == wanted.shape(0),
        kRoom);
    const forest::LeafRows training{target.data(), weight.data(), n,    order.data(),
                                    start.data(),  first.data(),  trees};
    check_leaves(training, leaf);
    checked_threads(threads);
    without_gil([&] {
        forest::quantiles(training, leaf.data(), leaf.shape(0), {wanted.data(), wanted.shape(0)},
                          out.data(), threads);
    });
}

}  // namespace

void bind_forest_routing(nb::module_& module) {
    nb::class_<ForestArrays>(module, "ForestArrays", "The arrays of a forest, checked once.")
        .def(nb::init<Array2<const std::uint64_t>, Array1<const std::int64_t>,
                      Array1<const std::uint64_t>, Array1<const std::int32_t>,
                      Array1<const std::uint8_t>, std::size_t, Maybe2<const std::int64_t>,
                      const std::vector<std::uint8_t>&, const std::vector<std::uint32_t>&>(),
             "nodes"_a.noconvert(), "first"_a.noconvert(), "words"_a.noconvert(),
             "tables"_a.noconvert(), "leaves"_a.noconvert(), "classes"_a,
             "steps"_a.noconvert().none(), "types"_a, "levels"_a)
        .def_ro("first_leaf", &ForestArrays::first_leaf,
                "Where the bytes of each tree's leaves begin, and their end.");
    nb::class_<RowArrays>(module, "ForestRows", "Rows that a forest is asked about.")
        .def(nb::init<const std::vector<Any1>&, const std::vector<Maybe1<const bool>>&,
                      const std::vector<std::uint8_t>&, const std::vector<std::uint32_t>&>(),
             "arrays"_a, "gaps"_a, "types"_a, "levels"_a)
        .def(nb::init<Array2<const double>>(), "matrix"_a.noconvert())
        .def(nb::init<Array2<const float>>(), "matrix"_a.noconvert());
    nb::class_<LabelArrays>(module, "ForestTargets", "What is to be predicted, of every row.")
        .def(nb::init<Maybe1<const std::uint16_t>, Maybe1<const double>, Maybe1<const double>, bool,
                      double>(),
             nb::kw_only(), "label"_a.noconvert() = nb::none(), "target"_a.noconvert() = nb::none(),
             "weight"_a.noconvert() = nb::none(), "balanced"_a = false, "scale"_a = 1.0);
    module.def(
        "forest_class_weights",
        [](const ForestArrays& arrays, std::size_t tree, Array2<double> out) {
            const ForestView view = arrays.view();
            require(view.classes > 0 && tree < view.trees, "there is no such tree of classes");
            require(out.shape(0) == view.tree(tree).count && out.shape(1) == view.classes,
                    "results must have room for every node and class");
            without_gil([&] { forest::class_weights(view, tree, out.data()); });
        },
        "forest"_a, "tree"_a, "out"_a.noconvert(),
        "Weights of the classes in the leaves of a tree, in units; zero in its other nodes.");
    module.def(
        "forest_apply",
        [](const ForestArrays& arrays, const RowArrays& rows, Array2<std::int32_t> leaf,
           int threads) {
            const ForestView view = arrays.view();
            rows.check(arrays);
            require(leaf.shape(0) == rows.rows.rows && leaf.shape(1) == view.trees, kRoom);
            checked_threads(threads);
            without_gil([&] { forest::apply(view, rows.rows, leaf.data(), threads); });
        },
        "forest"_a, "rows"_a, "leaf"_a.noconvert(), "threads"_a, "The leaf of every (row, tree).");
    module.def(
        "forest_tell",
        [](const ForestArrays& arrays, const RowArrays& rows, Array1<const double> added,
           Array2<double> out, int threads) {
            const ForestView view = arrays.view();
            rows.check(arrays);
            require(out.shape(0) == rows.rows.rows &&
                        out.shape(1) == std::max<std::size_t>(1, view.classes),
                    kRoom);
            require(view.trees >= 1, "a forest without trees says nothing");
            require(added.shape(0) == view.trees, "what is added must be told of every tree");
            checked_threads(threads);
            without_gil([&] { forest::tell(view, rows.rows, added.data(), out.data(), threads); });
        },
        "forest"_a, "rows"_a, "added"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
        "The mean of what the trees say: class shares, with `added` to each, or numbers.");
    module.def("forest_out_of_bag", &out_of_bag, "forest"_a, "rows"_a, "sampling"_a,
               "seeds"_a.noconvert(), "targets"_a, "added"_a.noconvert(), "sum"_a.noconvert(),
               "count"_a.noconvert(), "known"_a.noconvert(), "loss"_a.noconvert(),
               "squares"_a.noconvert(), "threads"_a,
               "Sums of what trees say of rows out of their bags, and the losses tree by tree.");
    module.def("forest_permuted", &permuted, "forest"_a, "rows"_a, "sampling"_a,
               "seeds"_a.noconvert(), "targets"_a, "repeats"_a, "sum"_a.noconvert(),
               "count"_a.noconvert(), "threads"_a,
               "How much more every row loses with each column permuted, over the trees.");
    module.def("forest_corrected", &corrected, "forest"_a, "rows"_a, "sampling"_a,
               "seeds"_a.noconvert(), "targets"_a, "out"_a.noconvert(), "threads"_a,
               "Decrease of impurity by every (tree, column), told by rows out of the bag.");
    module.def("forest_quantiles", &row_quantiles, "target"_a.noconvert(), "weight"_a.noconvert(),
               "order"_a.noconvert(), "start"_a.noconvert(), "first"_a.noconvert(),
               "leaf"_a.noconvert(), "wanted"_a.noconvert(), "out"_a.noconvert(), "threads"_a,
               "Quantiles of the training targets that share the leaves of every row.");
}

}  // namespace ceiba::bindings
