// What the trees of a forest say of the rows that they were not grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/route_forest.hpp"

namespace ceiba::forest {

// A forest, the rows that it was grown from, and how these were drawn for each tree.
struct Grown {
    const ForestView& forest;
    const ForestRows& table;
    const Sampling& sampling;
    const std::uint64_t* seeds;
    const std::uint16_t* label = nullptr;  // of classes
    const double* target = nullptr;        // of numbers
    const double* weight = nullptr;        // of a row that is drawn once; null: 1 each
    bool balanced = false;                 // every tree gave its classes equal weight
    double scale = 1;                      // errors of numbers are told in units of it

    // Rows that are not in the bag of a tree, ascending.
    std::vector<std::uint32_t> outside(std::size_t tree, Interrupt& interrupt, int thread) const;
};

struct OutOfBag {
    double* sum;          // rows x classes, or rows: sums over the trees
    std::int32_t* count;  // rows: trees that a row is out of the bag of
    std::int64_t* rows;   // trees: rows that were out of some bag by then
    double* loss;         // trees: sum over these rows of the loss of the mean by then
    double* squares;      // trees: ... of its square
};

// Loss: 1 for a wrong class, or the squared error. `added` as in `tell`.
void out_of_bag(const Grown& grown, const double* added, const OutOfBag& out, int threads);

// Rows x columns: the sum, over trees and repeats, of loss with the column permuted among the rows
// out of the bag, less the loss without. Breiman (2001), "Random forests", Machine Learning 45.
void permuted(const Grown& grown, std::size_t repeats, double* sum, std::int32_t* count,
              int threads);

// Trees x columns: the mean, over the rows out of a tree's bag, of the steps that the tree's means
// make at splits of the column on a row's way, times what its target has above the mean of the
// other such rows in the node. Li, Wang, Basu, Kumbier & Yu (2019), "A debiased MDI feature
// importance measure for random forests", NeurIPS, who take the target itself: relative to the
// node, rows that go to a branch in other shares than those in the bag, as levels do that the bag
// lacks, add nothing.
void corrected(const Grown& grown, double* out, int threads);

}  // namespace ceiba::forest
