// Routes rows through the trees of a forest and averages the predictions of the leaves.
//
// A tree stays in the cache while the rows of a block pass through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/predict/packed_forest.hpp"
#include "forest/sample/sampling.hpp"

namespace ceiba::forest {

// Rows to route: a row-major matrix if all splits are on floating-point columns, else columns.
struct ForestRows {
    const double* doubles = nullptr;
    const float* floats = nullptr;
    std::vector<tree::AnyColumn> columns;
    std::size_t rows = 0;
    std::size_t width = 0;
};

// Leaves of rows[0 .. n), numbered within the tree.
void route_rows(const ForestView& forest, const ForestRows& table, std::size_t tree,
                std::span<const std::uint32_t> rows, std::int32_t* leaf);
// The same with the values of one column taken from the rows `from`.
void route_permuted(const ForestView& forest, const ForestRows& table, std::size_t tree,
                    std::span<const std::uint32_t> rows, std::size_t column,
                    std::span<const std::uint32_t> from, std::int32_t* leaf);

// The leaf of every (row, tree).
void apply(const ForestView& forest, const ForestRows& table, std::int32_t* leaf, int threads);
// Mean prediction of the trees for every row: class probabilities, with `smoothing[t]` added to
// each class weight in the leaves of tree t, or a value.
void predict(const ForestView& forest, const ForestRows& table, const double* smoothing,
             double* out, int threads);

// Vectors that the leaves of a forest with several targets predict: `row[node]` is that of a leaf.
struct LeafVectors {
    const std::int32_t* row;
    const double* values;
    std::size_t width;
};
// Mean vector of the trees for every row.
void predict_vectors(const ForestView& forest, const ForestRows& table, const LeafVectors& vectors,
                     double* out, int threads);

}  // namespace ceiba::forest
