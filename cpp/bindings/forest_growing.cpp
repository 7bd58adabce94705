// Forests: draws of rows and columns, and growing.
#include "forest/grow_forest.hpp"
#include "forest_arrays.hpp"
#include "random.hpp"
#include "tree/column_draw.hpp"
#include "tree_state.hpp"

namespace ceiba::bindings {
namespace {

using forest::ForestRules;

nb::dict trees_out(forest::Trees&& trees, std::size_t columns) {
    const std::size_t count = trees.first.size() - 1, classes = trees.steps.size() / count;
    nb::dict out;
    out["nodes"] = owned_words<std::uint64_t>(std::move(trees.nodes));
    out["first"] = owned(std::move(trees.first));
    out["words"] = owned(std::move(trees.words));
    out["tables"] = owned(std::move(trees.tables));
    out["leaves"] = owned(std::move(trees.leaves));
    out["steps"] = nb::none();
    if (classes > 0) out["steps"] = owned(std::move(trees.steps), {count, classes});
    out["importances"] = owned(std::move(trees.importances), {count, columns});
    return out;
}

// Every code has its value, or every bin but the last its upper edge.
void check_scales(const Scales& scales, const std::vector<Column>& columns) {
    require(scales.types.size() == columns.size(), "scales must be told of every column");
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const Column& column = columns[j];
        require(column.nominal == (scales.types[j] == Type::kNominal), "a column's kind is wrong");
        if (scales.types[j] >= Type::kOrdinal) {
            require(column.n_codes == scales.levels[j], "a column's codes must be its levels");
            continue;
        }
        const auto known = scales.offsets[j + 1] - scales.offsets[j] + (scales.values ? 0 : 1);
        require(known >= std::int64_t(column.n_codes), "a code has no value");
    }
}

template <typename Code>
void bind_codes(nb::module_& module) {
    module.def(
        "forest_grow",
        [](const GrowthRules& rules, Array2<const Code> codes, const ColumnArrays& arrays,
           const TargetArrays& targets, const SamplingArrays& sampling,
           Array1<const std::uint64_t> seeds, std::size_t columns_a_tree, double least_share,
           double balanced, const std::vector<std::uint8_t>& types,
           const std::vector<std::uint32_t>& levels, Array1<const std::uint64_t> scale,
           Array1<const std::int64_t> offsets, bool values, int threads) {
            const Columns<Code> columns = coded(codes, arrays.view());
            const Targets view = targets.view(columns.rows, rules, true);
            require(rules.weighted, "the rows of a forest have weights");
            require(sampling.sampling.rows == columns.rows, "as many rows must be drawn from");
            require(!rules.split.ignores_gaps() && !rules.split.multiway && !rules.candidates &&
                        rules.split.intervals == 0,
                    "a forest has splits in two, and gaps that take one branch");
            require(balanced == 0 || (balanced > 0 && rules.classes > 0),
                    "only classes can be balanced");
            Scales scales = scales_of(types, levels, scale, offsets, {});
            scales.values = values;
            check_scales(scales, columns.columns);
            ForestRules all;
            all.tree = checked(rules);
            all.seeds.assign(seeds.data(), seeds.data() + seeds.shape(0));
            all.columns_a_tree = columns_a_tree;
            require(least_share >= 0 && least_share <= 0.5, "a branch needs at most half");
            all.least_share = least_share;
            all.balanced = balanced;
            checked_threads(threads);
            forest::Trees grown;
            without_gil([&] {
                grown = forest::grow_forest(all, columns, view, sampling.sampling, scales, threads);
            });
            return trees_out(std::move(grown), columns.count());
        },
        "rules"_a, "codes"_a.noconvert(), "columns"_a, "targets"_a, "sampling"_a,
        "seeds"_a.noconvert(), "columns_a_tree"_a, "least_share"_a, "balanced"_a, "types"_a,
        "levels"_a, "scale"_a.noconvert(), "offsets"_a.noconvert(), "values"_a, "threads"_a,
        "Grow a tree for each seed on coded rows in memory; the arrays of a forest.");
}

nb::ndarray<nb::numpy, std::int32_t> columns_of(std::uint64_t seed, std::size_t columns,
                                                std::size_t wanted, bool replace) {
    require(columns >= 1 && columns < kMostColumns && wanted < kMostColumns,
            "too few or too many columns");
    require(replace || wanted <= columns, "there are not so many columns");
    ColumnDraw draw;
    draw.begin(columns, seed, kTreeColumns);
    std::vector<std::int32_t> found;
    while (found.size() < wanted) found.push_back(replace ? draw.any() : draw.next());
    if (!replace) std::sort(found.begin(), found.end());
    return owned(std::move(found));
}

}  // namespace

void bind_forest_growing(nb::module_& module) {
    nb::class_<SamplingArrays>(module, "ForestSampling", "How rows are drawn for a tree.")
        .def(nb::init<std::size_t, std::uint64_t, bool, bool, Maybe1<const std::int64_t>>(),
             nb::kw_only(), "rows"_a, "draws"_a, "replace"_a, "every"_a,
             "weights"_a.noconvert() = nb::none())
        .def(
            "counts",
            [](const SamplingArrays& self, std::uint64_t seed) {
                std::vector<std::int64_t> out(self.sampling.rows);
                without_gil([&] {
                    Interrupt interrupt;
                    self.sampling.counts(seed, out.data(), &interrupt);
                    if (interrupt.by_user()) throw Interrupted();
                });
                return owned(std::move(out));
            },
            "seed"_a, "How often each row is in the bag of a seed.")
        .def(
            "drawn",
            [](const SamplingArrays& self, std::uint64_t seed) {
                std::vector<std::uint32_t> rows;
                without_gil([&] {
                    Interrupt interrupt;
                    rows = self.sampling.drawn(seed, &interrupt);
                    if (interrupt.by_user()) throw Interrupted();
                });
                return owned(std::move(rows));
            },
            "seed"_a, "The rows in the order in which they are drawn.");
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
    bind_codes<std::uint32_t>(module);
    module.def(
        "keyed",
        [](std::uint64_t seed, std::uint64_t stream, Array1<const std::uint64_t> numbers) {
            std::vector<std::uint64_t> drawn;
            for (std::size_t i = 0; i < numbers.shape(0); ++i)
                drawn.push_back(even_half(philox(seed, stream, numbers.data()[i])));
            return owned(std::move(drawn));
        },
        "seed"_a, "stream"_a, "numbers"_a.noconvert(), "64 random bits for each number.");
    module.def("forest_columns", &columns_of, "seed"_a, "columns"_a, "wanted"_a, "replace"_a,
               "Columns that a member draws: ascending, or with replacement as they are drawn.");
}

}  // namespace ceiba::bindings
