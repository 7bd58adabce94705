// Out-of-bag predictions, losses and permutation importance of a forest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/predict/predict_forest.hpp"

namespace ceiba::forest {

// A forest, its training rows, and how they were sampled for each tree.
struct TrainedForest {
    const ForestView& forest;
    const ForestRows& table;
    const Sampling& sampling;
    const std::uint64_t* seeds;
    const std::uint16_t* label = nullptr;  // classification
    const double* target = nullptr;        // regression
    const double* weight = nullptr;        // weight of a row that is drawn once; null: 1 each
    bool balanced = false;                 // whether every tree gives its classes equal weight
    double scale = 1;                      // unit of regression errors

    // Out-of-bag rows of a tree, in ascending order.
    std::vector<std::uint32_t> oob_rows(std::size_t tree, Interrupt& interrupt, int thread) const;
};

struct OobTotals {
    double* sum;          // rows x classes, or rows: sums of predictions over the trees
    std::int32_t* count;  // per row: trees that have the row out of bag
    std::int64_t* rows;   // per tree: rows that have a prediction so far
    double* loss;         // per tree: sum over these rows of the loss of the mean so far
    double* squares;      // per tree: sum of the squared losses
};

// Loss: 1 for a wrong class, or the squared error. `smoothing` as in `predict`.
void out_of_bag(const TrainedForest& trained, const double* smoothing, const OobTotals& out,
                int threads);

// Rows x columns: sum over trees and repeats of the loss with the column permuted among the
// out-of-bag rows, minus the loss without. Breiman (2001), "Random forests", Machine Learning 45.
void permutation_importance(const TrainedForest& trained, std::size_t repeats, double* sum,
                            std::int32_t* count, int threads);

}  // namespace ceiba::forest
