// Implementation of forest builder: samples, per-thread workspaces and the two tree growers.
#include "forest/grow/grow_forest.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "common/parallel.hpp"
#include "forest/grow/coarse_search.hpp"
#include "forest/grow/tree_grower.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::forest {
namespace {

using tree::Columns;
using tree::SplitFinderSpec;

// Codes in row-major order, for trees that search few of their columns per node.
template <typename Code>
std::vector<Code> row_major_codes(const Columns<Code>& columns, int threads) {
    const std::size_t p = columns.count();
    std::vector<Code> codes(columns.rows * p);
    const Segments parts = segments(columns.rows, 1024);
    for_segments(parts, threads_for(double(codes.size()), threads),
                 [&](std::size_t s, int, Interrupt&) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i)
                         for (std::size_t j = 0; j < p; ++j)
                             codes[i * p + j] = columns.column(j)[i];
                 });
    return codes;
}

// Targets of one tree, where its own weights change them.
struct TreeTargets {
    tree::Targets view;
    std::vector<Number> weight, weighted_target;
};

// Sample and grower that a thread reuses for one tree after another.
template <typename Code, typename Sample>
struct SampleGrower {
    SampleGrower(const RowCodes<Code>& codes, const TreeConfig& config) : tree(codes, config) {}

    Sample sample;
    RandomTreeGrower<Code, Sample> tree;
};

template <typename Code>
struct Workspace {
    Workspace(const RowCodes<Code>& codes, const TreeConfig& config)
        : builder(config, codes.by_column->count()),
          counted(codes, config),
          weighted(codes, config),
          regression(codes, config) {}

    template <typename Sample>
    SampleGrower<Code, Sample>& grower() {
        if constexpr (std::is_same_v<Sample, CountedClassSample>)
            return counted;
        else if constexpr (std::is_same_v<Sample, WeightedClassSample>)
            return weighted;
        else
            return regression;
    }

    std::vector<Number> count;        // draws per row
    std::vector<Number> class_units;  // per class, see class_units_of
    TreeBuilder builder;
    SampleGrower<Code, CountedClassSample> counted;
    SampleGrower<Code, WeightedClassSample> weighted;
    SampleGrower<Code, RegressionSample> regression;
};

template <typename Code>
class ForestGrower {
  public:
    ForestGrower(const ForestConfig& config, const Columns<Code>& columns,
                 const tree::Targets& targets, const Sampling& sampling, const tree::Scales& scales,
                 int threads)
        : config_(config),
          columns_(columns),
          targets_(targets),
          sampling_(sampling),
          scales_(scales) {
        row_major_ = uses_row_major();
        if (row_major_) codes_ = row_major_codes(columns, threads);
        table_ = tree::xlog2x_table(config.tree, columns.rows);
        spec_ = tree::split_finder_spec(config.tree);
        spec_.xlog2x = {table_.data(), table_.size()};
    }

    PackedForest run(int threads) {
        const std::size_t trees = config_.seeds.size();
        std::vector<PackedForest> grown(trees);
        // Some hundred operations per value: a full tree searches every row some ten times.
        const double work =
            100.0 * double(trees) * double(columns_.rows) * double(columns_.count());
        const int used = threads_ = threads_for(work, threads);
        using Space = Workspace<Code>;
        std::vector<std::unique_ptr<Space>> spaces{std::size_t(used)};
        for_segments({trees, trees}, used, [&](std::size_t t, int thread, Interrupt& interrupt) {
            std::unique_ptr<Space>& space = spaces[std::size_t(thread)];
            const RowCodes<Code> codes{codes_.data(), &columns_};
            if (!space) space = std::make_unique<Space>(codes, config_.tree);
            grown[t] = grow_tree(config_.seeds[t], *space, interrupt, thread);
        });
        PackedForest all;
        std::size_t nodes = 0;
        for (const PackedForest& one : grown) nodes += one.nodes.size();
        all.nodes.reserve(nodes);
        for (PackedForest& one : grown) {
            all.append(one);
            one = PackedForest{};
        }
        const auto& class_units = all.class_units;
        if (std::all_of(class_units.begin(), class_units.end(),
                        [](Number unit) { return unit == 1; }))
            all.class_units.clear();
        return all;
    }

  private:
    // Searching the drawn columns of every node, compared with partitioning all presorted columns
    // with the rows. On 100,000 x 28 exact values all columns cost 0.66 (regression) to 0.79
    // (classification) as much with coarse bins, and half of them 0.68 to 0.78 where all nodes are
    // sorted; with 255 bins half of them cost 0.42 to 0.51.
    bool uses_row_major() const {
        const tree::TreeConfig& config = config_.tree;
        if (config.limits_leaves() || config.criterion == tree::Criterion::kAbsolute) return false;
        std::size_t searched = columns_.count();
        if (config_.columns_per_tree > 0) searched = std::min(searched, config_.columns_per_tree);
        if (config.columns_per_node > 0)
            searched = std::min(searched, std::size_t(config.columns_per_node));
        const auto& all = columns_.columns;
        const bool few_codes = std::all_of(all.begin(), all.end(), [&](const tree::Column& column) {
            return columns_.rows >= 3 * (std::size_t(column.n_codes) + 1);
        });
        return few_codes || 3 * searched <= 2 * columns_.count() || uses_coarse_bins();
    }

    // Whether large nodes sort few rows of any column.
    bool uses_coarse_bins() const {
        const bool is_counted = targets_.weight == nullptr && config_.balanced_unit == 0;
        const bool supported =
            config_.tree.n_classes > 0
                ? is_counted && CoarseSearch<CountedClassSample>::supports(config_.tree)
                : CoarseSearch<RegressionSample>::supports(config_.tree);
        for (std::size_t j = 0; supported && j < columns_.count(); ++j) {
            const tree::Column& column = columns_.columns[j];
            const Code* codes = columns_.column(j);
            const Code* end = codes + columns_.rows;
            if (column.nominal || std::find(codes, end, Code(column.missing_code())) != end)
                return false;
        }
        return supported;
    }

    PackedForest grow_tree(std::uint64_t seed, Workspace<Code>& space, Interrupt& interrupt,
                           int thread) {
        std::vector<Number>& count = space.count;
        count.resize(sampling_.rows);
        sampling_.counts(seed, count.data(), &interrupt, thread);
        if (interrupt.raised()) return {};
        TreeBuilder& builder = space.builder;
        builder.clear();
        builder.config = config_.tree;
        builder.config.seed = seed;
        // Every thread grows a tree of its own.
        builder.config.max_histogram_bytes /= std::size_t(threads_);
        builder.excluded =
            tree::columns_not_drawn(columns_.count(), config_.columns_per_tree, seed);
        TreeTargets tree_targets;
        tree_targets.view = targets_;
        if (config_.balanced_unit > 0) balance(count.data(), tree_targets);
        if (config_.min_weight_fraction > 0)
            builder.config.split.min_weight = Number(std::ceil(
                config_.min_weight_fraction * weight_of(count.data(), tree_targets.view)));
        space.class_units = class_units_of(count.data(), tree_targets.view);
        if (!row_major_) return grow_presorted(space, tree_targets, count.data(), interrupt);
        if (config_.tree.n_classes == 0)
            return grow_row_major<RegressionSample>(space, tree_targets.view, interrupt, thread);
        if (CountedClassSample::applies_to(tree_targets.view, count.data(), count.size()))
            return grow_row_major<CountedClassSample>(space, tree_targets.view, interrupt, thread);
        return grow_row_major<WeightedClassSample>(space, tree_targets.view, interrupt, thread);
    }

    // Greatest common divisor of the row weights of each class in a sample. With class weights or
    // balanced classes the weights are row counts times a large unit, and counts take few bits in a
    // leaf.
    std::vector<Number> class_units_of(const Number* count, const tree::Targets& targets) const {
        // Weights that are moved to bounds are no multiples of a unit.
        const bool bounded = config_.tree.split.has_monotonic();
        if (targets.label == nullptr || targets.weight == nullptr || bounded) return {};
        std::vector<Number> class_units(std::size_t(config_.tree.n_classes), 0);
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            if (count[i] > 0)
                class_units[targets.label[i]] =
                    std::gcd(class_units[targets.label[i]], targets.weight[i]);
        // Any unit is valid for an absent class.
        for (Number& unit : class_units) unit = std::max<Number>(unit, 1);
        return class_units;
    }

    double weight_of(const Number* count, const tree::Targets& targets) const {
        double total = 0;
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            total += double(count[i]) * double(targets.weight ? targets.weight[i] : 1);
        return total;
    }

    // Balance the classes of a sample: weight = rows / (classes present * rows of the class).
    void balance(const Number* count, TreeTargets& tree_targets) const {
        std::vector<double> rows(std::size_t(config_.tree.n_classes), 0);
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            rows[targets_.label[i]] += double(count[i]);
        double total = 0, classes = 0;
        for (const double each : rows) {
            total += each;
            classes += each > 0;
        }
        tree_targets.weight.resize(sampling_.rows);
        for (std::size_t i = 0; i < sampling_.rows; ++i) {
            const double factor = total / (classes * std::max(1.0, rows[targets_.label[i]]));
            const auto fixed = Number(std::nearbyint(factor / config_.balanced_unit));
            tree_targets.weight[i] = std::max<Number>(1, fixed);
        }
        tree_targets.view.weight = tree_targets.weight.data();
    }

    template <typename Sample>
    PackedForest grow_row_major(Workspace<Code>& space, const tree::Targets& targets,
                                Interrupt& interrupt, int thread) {
        const TreeConfig& config = space.builder.config;
        const auto finder = tree::make_split_finder<typename Sample::Rows>(spec_of(config));
        SampleGrower<Code, Sample>& grower = space.template grower<Sample>();
        grower.sample.fill(targets, config, space.count.data(), sampling_.rows);
        TreePacker packer(space.builder, scales_, space.class_units);
        grower.tree.grow(space.builder, grower.sample, *finder, packer, interrupt, thread);
        return interrupt.raised() ? PackedForest{} : packer.finish();
    }

    // Settings that differ per tree: the seed of random thresholds and the minimum branch weight.
    SplitFinderSpec spec_of(const TreeConfig& config) const {
        SplitFinderSpec spec = spec_;
        spec.config.seed = config.seed;
        spec.config.min_weight = config.split.min_weight;
        return spec;
    }

    // Trees that search over two thirds of the columns in every node, with a limit on leaves, or of
    // absolute errors: all columns are sorted or counted, as in single trees.
    PackedForest grow_presorted(Workspace<Code>& space, TreeTargets& tree_targets,
                                const Number* count, Interrupt& interrupt) {
        TreeBuilder& builder = space.builder;
        std::vector<Number> weight(sampling_.rows, 1), weighted_target, weighted_square;
        std::vector<std::int32_t> node(sampling_.rows, -1);
        Number total = 0;
        for (std::size_t i = 0; i < sampling_.rows; ++i) {
            if (count[i] == 0) continue;
            node[i] = 0;
            weight[i] = count[i] * (tree_targets.view.weight ? tree_targets.view.weight[i] : 1);
            total += weight[i];
        }
        const bool sums = tree_targets.view.weighted_target &&
                          config_.tree.criterion != tree::Criterion::kAbsolute;
        for (std::size_t i = 0; sums && i < sampling_.rows; ++i)
            weighted_target.push_back(count[i] * tree_targets.view.weighted_target[i]);
        if (sums) tree_targets.view.weighted_target = weighted_target.data();
        tree_targets.view.weight = weight.data();
        const Number* square = tree_targets.view.weighted_square;
        for (std::size_t i = 0; square != nullptr && i < sampling_.rows; ++i)
            weighted_square.push_back(count[i] * square[i]);
        if (square != nullptr) tree_targets.view.weighted_square = weighted_square.data();
        builder.add(0, 1);
        builder.config.root_weight = double(total);
        tree::grow(builder, columns_, tree_targets.view, node.data(), 1);
        return interrupt.raised() ? PackedForest{} : pack_tree(builder, scales_, space.class_units);
    }

    const ForestConfig& config_;
    const Columns<Code>& columns_;
    const tree::Targets& targets_;
    const Sampling& sampling_;
    const tree::Scales& scales_;
    int threads_ = 1;
    bool row_major_ = false;
    std::vector<Code> codes_;
    std::vector<double> table_;
    SplitFinderSpec spec_;
};

}  // namespace

template <typename Code>
PackedForest grow_forest(const ForestConfig& config, const Columns<Code>& columns,
                         const tree::Targets& targets, const Sampling& sampling,
                         const tree::Scales& scales, int threads) {
    ForestGrower<Code> grower(config, columns, targets, sampling, scales, threads);
    return grower.run(threads);
}

template PackedForest grow_forest(const ForestConfig&, const Columns<std::uint8_t>&,
                                  const tree::Targets&, const Sampling&, const tree::Scales&, int);
template PackedForest grow_forest(const ForestConfig&, const Columns<std::uint16_t>&,
                                  const tree::Targets&, const Sampling&, const tree::Scales&, int);
template PackedForest grow_forest(const ForestConfig&, const Columns<std::uint32_t>&,
                                  const tree::Targets&, const Sampling&, const tree::Scales&, int);

}  // namespace ceiba::forest
