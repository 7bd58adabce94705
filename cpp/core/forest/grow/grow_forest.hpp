// Grows a forest, one tree per task.
//
// Breiman (2001), "Random forests", Machine Learning 45.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/predict/packed_forest.hpp"
#include "forest/sample/sampling.hpp"
#include "tree/grow/grow.hpp"

namespace ceiba::forest {

struct ForestConfig {
    tree::TreeConfig tree;             // the seed in it is not used
    std::vector<std::uint64_t> seeds;  // one per tree
    std::size_t columns_per_tree = 0;  // 0: all
    double min_weight_fraction = 0;    // of the weight of a sample, required in every branch
    double balanced_unit =
        0;  // fixed-point unit of the weights if trees balance their classes; 0: not balanced
};

// Targets are those of a row that is drawn once. The trees do not depend on the number of threads.
template <typename Code>
PackedForest grow_forest(const ForestConfig& config, const tree::Columns<Code>& columns,
                         const tree::Targets& targets, const Sampling& sampling,
                         const tree::Scales& scales, int threads);

}  // namespace ceiba::forest
