// Implementation of the growth of forests with several targets.
#include "forest/grow/vector_forest.hpp"

#include <cmath>

#include "common/parallel.hpp"
#include "tree/grow/column_sampler.hpp"
#include "tree/grow/split_order.hpp"

namespace ceiba::forest {
namespace {

using tree::TreeBuilder;

double total_weight(const std::vector<Number>& count, const tree::VectorTargets& targets) {
    double total = 0;
    for (std::size_t i = 0; i < count.size(); ++i)
        total += double(count[i]) * double(targets.weight_of(i));
    return total;
}

template <typename Code>
VectorForest grow_tree(const ForestConfig& config, std::uint64_t seed,
                       const tree::Columns<Code>& columns, const tree::VectorTargets& targets,
                       const Sampling& sampling, const tree::Scales& scales, Interrupt& interrupt,
                       int thread) {
    std::vector<Number> count(sampling.rows);
    sampling.counts(seed, count.data(), &interrupt, thread);
    if (interrupt.raised()) return {};
    TreeBuilder builder(config.tree, columns.count());
    builder.config.seed = seed;
    builder.excluded = tree::columns_not_drawn(columns.count(), config.columns_per_tree, seed);
    if (config.min_weight_fraction > 0)
        builder.config.split.min_weight =
            Number(std::ceil(config.min_weight_fraction * total_weight(count, targets)));
    const std::vector<std::uint32_t> rows =
        tree::grow_vectors(builder, columns, targets, count.data(), false, 1);
    VectorForest grown{pack_tree(builder, scales, {}), {}};
    const tree::Numbering numbering = tree::number_nodes(builder);
    for (std::size_t i = 0; i < numbering.order.size(); ++i) {
        if (numbering.child[i] >= 0) continue;
        grown.leaf_values.resize(grown.leaf_values.size() + targets.n_targets);
        tree::write_means(builder, std::size_t(numbering.order[i]), targets, rows,
                          grown.leaf_values.data() + grown.leaf_values.size() - targets.n_targets);
    }
    return grown;
}

}  // namespace

template <typename Code>
VectorForest grow_vector_forest(const ForestConfig& config, const tree::Columns<Code>& columns,
                                const tree::VectorTargets& targets, const Sampling& sampling,
                                const tree::Scales& scales, int threads) {
    const std::size_t n_trees = config.seeds.size();
    std::vector<VectorForest> grown(n_trees);
    const double work = 100.0 * double(n_trees) * double(columns.rows) * double(columns.count());
    for_segments({n_trees, n_trees}, threads_for(work, threads),
                 [&](std::size_t t, int thread, Interrupt& interrupt) {
                     grown[t] = grow_tree(config, config.seeds[t], columns, targets, sampling,
                                          scales, interrupt, thread);
                 });
    VectorForest all;
    for (VectorForest& one : grown) {
        all.trees.append(one.trees);
        all.leaf_values.insert(all.leaf_values.end(), one.leaf_values.begin(),
                               one.leaf_values.end());
        one = VectorForest{};
    }
    return all;
}

template VectorForest grow_vector_forest(const ForestConfig&, const tree::Columns<std::uint8_t>&,
                                         const tree::VectorTargets&, const Sampling&,
                                         const tree::Scales&, int);
template VectorForest grow_vector_forest(const ForestConfig&, const tree::Columns<std::uint16_t>&,
                                         const tree::VectorTargets&, const Sampling&,
                                         const tree::Scales&, int);
template VectorForest grow_vector_forest(const ForestConfig&, const tree::Columns<std::uint32_t>&,
                                         const tree::VectorTargets&, const Sampling&,
                                         const tree::Scales&, int);

}  // namespace ceiba::forest
