// Growing a forest: every tree by itself, on whichever thread is free.
//
// Breiman (2001), "Random forests", Machine Learning 45.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/sampling.hpp"
#include "tree/problem.hpp"

namespace ceiba::forest {

struct ForestRules {
    tree::GrowthRules tree;            // its seed is that of no tree
    std::vector<std::uint64_t> seeds;  // of the trees
    std::size_t columns_a_tree = 0;    // 0: all
    double least_share = 0;            // of the weight of a bag, that every branch needs
    double balanced = 0;               // the weight of one, where trees balance their classes
};

// Targets are those of a row that is drawn once. Trees do not depend on the number of threads.
template <typename Code>
Trees grow_forest(const ForestRules& rules, const tree::Columns<Code>& columns,
                  const tree::Targets& targets, const Sampling& sampling,
                  const tree::Scales& scales, int threads);

}  // namespace ceiba::forest
