// Raw scores of boosted trees: for each output, the sum of its trees' leaf values.
#pragma once

#include <cstddef>
#include <vector>

#include "common/parallel.hpp"
#include "forest/predict/predict_forest.hpp"

namespace ceiba::boosting {

// Add the leaf values of trees [begin, end) to `scores`, of shape (rows, outputs); tree t belongs
// to output t % outputs.
void add_raw_scores(const forest::ForestView& trees, const forest::ForestRows& table,
                    std::size_t begin, std::size_t end, std::size_t outputs, double* scores,
                    int threads);

}  // namespace ceiba::boosting
