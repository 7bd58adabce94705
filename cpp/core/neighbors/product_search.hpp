// Euclidean neighbors in many columns: products of eight queries and the rows of a leaf at a time.
//
// The products are taken in float32, of differences from the center of the leaf. They only select
// candidates, within a bound of their rounding; the distances of candidates are computed again from
// differences in float64.
#pragma once

#include "neighbors/box_tree.hpp"

namespace ceiba {

// Rows of the leaves relative to their centers, in float32.
struct ProductLeaves {
    const float* tiles = nullptr;         // n_tiles x d x 16
    const float* half_squares = nullptr;  // n_tiles x 16: half of the rows' squared norms; NaN for
                                          // unused lanes, which are no candidates
    const double* centers = nullptr;      // n_leaves x d
    const double* radii = nullptr;        // n_leaves: the largest norm
};

template <typename T>
void pack_products(Matrix<const T> X, const BoxTreeShape& shape, const std::uint32_t* order,
                   float* tiles, float* half_squares, double* centers, double* radii, int threads);

// As `search_box_tree`, with the distances of the rows of X. `tree.tiles` are not used, and
// `order` are the rows of X at the positions.
template <typename T>
SearchCounts search_products(const BoxTree<T>& tree, const ProductLeaves& leaves, Matrix<const T> X,
                             const std::uint32_t* order, const Queries& queries, std::size_t k,
                             double* distances, std::int64_t* rows, int threads);

}  // namespace ceiba
