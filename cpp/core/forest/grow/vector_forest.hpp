// Grows a forest whose trees predict several targets, one tree per task.
//
// Segal & Xiao (2011), "Multivariate random forests", WIREs Data Mining and Knowledge Discovery 1.
#pragma once

#include <vector>

#include "forest/grow/grow_forest.hpp"
#include "tree/grow/vector_grower.hpp"

namespace ceiba::forest {

struct VectorForest {
    PackedForest trees;               // the values of their leaves are 0
    std::vector<double> leaf_values;  // means of the targets, leaf by leaf in node order
};

// Grow a forest, as grow_forest does; `config.balanced_unit` must be 0.
template <typename Code>
VectorForest grow_vector_forest(const ForestConfig& config, const tree::Columns<Code>& columns,
                                const tree::VectorTargets& targets, const Sampling& sampling,
                                const tree::Scales& scales, int threads);

}  // namespace ceiba::forest
