// Forests: draws of rows and columns, and growing.
#include "forest/grow/grow_forest.hpp"

#include "forest/grow/vector_forest.hpp"
#include "forest_arrays.hpp"
#include "training_arrays.hpp"
#include "tree/grow/column_sampler.hpp"

namespace ceiba::bindings {
namespace {

using forest::ForestConfig;

nb::dict arrays_of(forest::PackedForest&& forest, std::size_t n_columns) {
    const std::size_t n_trees = forest.first.size() - 1,
                      n_classes = forest.class_units.size() / n_trees;
    nb::dict out;
    out["nodes"] = owned_words<std::uint64_t>(std::move(forest.nodes));
    out["tree_offsets"] = owned(std::move(forest.first));
    out["words"] = owned(std::move(forest.words));
    out["tables"] = owned(std::move(forest.tables));
    out["leaves"] = owned(std::move(forest.leaves));
    out["class_units"] = nb::none();
    if (n_classes > 0)
        out["class_units"] = owned(std::move(forest.class_units), {n_trees, n_classes});
    out["importances"] = owned(std::move(forest.importances), {n_trees, n_columns});
    return out;
}

// Every code has its value, or every bin but the last its upper edge.
void check_scales(const Scales& scales, const std::vector<Column>& columns) {
    require(scales.types.size() == columns.size(), "values must have the columns of the codes.");
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const Column& column = columns[j];
        require(column.nominal == (scales.types[j] == Type::kNominal),
                "nominal must be set for nominal columns, and only for them.");
        if (scales.types[j] >= Type::kOrdinal) {
            require(column.n_codes == scales.n_categories[j],
                    "n_codes must be the numbers of categories.");
            continue;
        }
        const auto known = scales.offsets[j + 1] - scales.offsets[j] + (scales.values ? 0 : 1);
        require(known >= std::int64_t(column.n_codes), "values must have an entry per code.");
    }
}

void check_config(const ForestConfig& config) {
    const TreeConfig& tree = checked(config.tree);
    require(tree.weighted, "forests require weighted=True.");
    require(!tree.split.ignores_missing() && !tree.split.multiway && tree.split.n_intervals == 0 &&
                !tree.keep_candidates,
            "forests require binary splits, one branch for missing values, and no trace.");
    require(config.balanced_unit == 0 || (config.balanced_unit > 0 && tree.n_classes > 0),
            "balanced_unit requires classification.");
    require(config.min_weight_fraction >= 0 && config.min_weight_fraction <= 0.5,
            "min_weight_fraction must be in [0, 0.5].");
}

nb::dict grow_trees(const ForestConfig& config, const AnyCodes& any, const EncodingArrays& encoding,
                    const TargetArrays& targets, const RowSampler& sampler,
                    const CodeValues& values, int threads) {
    return std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            check_config(config);
            check_constraints(config.tree, columns.columns);
            const Targets view = targets.view(columns.rows, config.tree, true);
            require(sampler.sampling.rows == columns.rows, "sampler must draw from the rows.");
            const Scales scales = values.view();
            check_scales(scales, columns.columns);
            checked_threads(threads);
            forest::PackedForest grown;
            without_gil([&] {
                grown =
                    forest::grow_forest(config, columns, view, sampler.sampling, scales, threads);
            });
            return arrays_of(std::move(grown), columns.count());
        },
        any);
}

// The arrays of the forest, and the mean targets of its leaves.
nb::tuple grow_vector_trees(const ForestConfig& config, const AnyCodes& any,
                            const EncodingArrays& encoding, const VectorTargetArrays& targets,
                            const RowSampler& sampler, const CodeValues& values, int threads) {
    return std::visit(
        [&](const auto& codes) {
            const auto columns = encoded_columns(codes, encoding.view());
            check_config(config);
            check_constraints(config.tree, columns.columns);
            const VectorTargets view = targets.view(columns.rows, config.tree);
            require(sampler.sampling.rows == columns.rows, "sampler must draw from the rows.");
            const Scales scales = values.view();
            check_scales(scales, columns.columns);
            checked_threads(threads);
            forest::VectorForest grown;
            without_gil([&] {
                grown = forest::grow_vector_forest(config, columns, view, sampler.sampling, scales,
                                                   threads);
            });
            const std::size_t n_leaves = grown.leaf_values.size() / view.n_targets;
            return nb::make_tuple(arrays_of(std::move(grown.trees), columns.count()),
                                  owned(std::move(grown.leaf_values), {n_leaves, view.n_targets}));
        },
        any);
}

nb::ndarray<nb::numpy, std::int32_t> draw_columns(std::uint64_t seed, std::size_t n_columns,
                                                  std::size_t n_drawn, bool replace) {
    require(n_columns >= 1 && n_columns < kMaxColumns, "n_columns must be in [1, 2^24 - 1].");
    require(n_drawn < kMaxColumns && (replace || n_drawn <= n_columns),
            "n_drawn must be at most n_columns without replacement.");
    ColumnSampler sampler;
    sampler.begin(n_columns, seed, kTreeStream);
    std::vector<std::int32_t> drawn;
    while (drawn.size() < n_drawn)
        drawn.push_back(replace ? sampler.next_with_replacement() : sampler.next());
    if (!replace) std::sort(drawn.begin(), drawn.end());
    return owned(std::move(drawn));
}

nb::ndarray<nb::numpy, std::uint64_t> tree_seeds(std::uint64_t seed,
                                                 Array1<const std::uint64_t> numbers) {
    std::vector<std::uint64_t> seeds;
    seeds.reserve(numbers.shape(0));
    for (std::size_t i = 0; i < numbers.shape(0); ++i)
        seeds.push_back(forest::tree_seed(seed, numbers.data()[i]));
    return owned(std::move(seeds));
}

nb::ndarray<nb::numpy, std::int64_t> row_counts(const RowSampler& self, std::uint64_t seed) {
    std::vector<std::int64_t> counts(self.sampling.rows);
    without_gil([&] {
        Interrupt interrupt;
        self.sampling.counts(seed, counts.data(), &interrupt);
        if (interrupt.by_user()) throw Interrupted();
    });
    return owned(std::move(counts));
}

nb::ndarray<nb::numpy, std::uint32_t> draw_rows(const RowSampler& self, std::uint64_t seed) {
    std::vector<std::uint32_t> rows;
    without_gil([&] {
        Interrupt interrupt;
        rows = self.sampling.draw_rows(seed, &interrupt);
        if (interrupt.by_user()) throw Interrupted();
    });
    return owned(std::move(rows));
}

}  // namespace

void bind_forest_grow(nb::module_& module) {
    nb::class_<RowSampler>(module, "RowSampler", "Draws the rows of a tree.")
        .def(nb::init<std::size_t, std::uint64_t, bool, bool, Maybe1<const std::int64_t>>(),
             nb::kw_only(), "n_rows"_a, "n_draws"_a, "replace"_a, "all_rows"_a,
             "weights"_a.noconvert() = nb::none())
        .def("counts", &row_counts, "seed"_a,
             "Return the count of each row in the sample of a seed.")
        .def("draw", &draw_rows, "seed"_a, "Return the rows in the order of the draws.");
    nb::class_<ForestConfig>(module, "ForestConfig", "Settings of a forest and of its trees.")
        .def(
            "__init__",
            [](ForestConfig* self, const TreeConfig& tree, Array1<const std::uint64_t> seeds,
               std::size_t columns_per_tree, double min_weight_fraction, double balanced_unit) {
                new (self) ForestConfig{tree,
                                        {seeds.data(), seeds.data() + seeds.shape(0)},
                                        columns_per_tree,
                                        min_weight_fraction,
                                        balanced_unit};
            },
            nb::kw_only(), "tree"_a, "seeds"_a.noconvert(), "columns_per_tree"_a,
            "min_weight_fraction"_a, "balanced_unit"_a);
    module.def("forest_grow", &grow_trees, "config"_a, "codes"_a.noconvert(), "encoding"_a,
               "targets"_a, "sampler"_a, "values"_a, "threads"_a,
               "Grow a tree for each seed on encoded rows, and return the arrays of the forest.");
    module.def("forest_grow_vectors", &grow_vector_trees, "config"_a, "codes"_a.noconvert(),
               "encoding"_a, "targets"_a, "sampler"_a, "values"_a, "threads"_a,
               "Grow trees for several targets; return their arrays and the leaves' vectors.");
    module.def("draw_columns", &draw_columns, "seed"_a, "n_columns"_a, "n_drawn"_a, "replace"_a,
               "Draw columns: ascending, or with replacement in the order of the draws.");
    module.def("tree_seeds", &tree_seeds, "seed"_a, "numbers"_a.noconvert(),
               "Return the seeds of the trees with these numbers in a forest of a seed.");
}

}  // namespace ceiba::bindings
