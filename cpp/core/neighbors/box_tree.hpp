// A tree of boxes over the rows, for distances that are sums or maxima over the columns.
//
// Rows are ordered so that every leaf is a range of positions. A node has eight children (the root
// two, four or eight), so that the bounds of all of them are computed in the lanes of a vector; the
// children of node i of a depth are the nodes 8 i to 8 i + 7 of the next one. Positions of a leaf
// follow from the number of rows and leaves; nothing but the boxes is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"
#include "neighbors/metric.hpp"
#include "simd/neighbor_kernels.hpp"

namespace ceiba {

// Number and sizes of the nodes of a tree.
struct BoxTreeShape {
    std::size_t rows = 0, leaves = 1;
    std::vector<std::size_t> node_starts;  // of each depth that has inner nodes, and their number

    // Leaves of at most `leaf_rows` rows, and of more than half as many.
    static BoxTreeShape of(std::size_t rows, std::size_t leaf_rows);

    std::size_t depth() const { return node_starts.size() - 1; }
    std::size_t inner_nodes() const { return node_starts.back(); }
    // Number of nodes of a depth.
    std::size_t nodes(std::size_t depth) const {
        return depth == this->depth() ? leaves : node_starts[depth + 1] - node_starts[depth];
    }
    // Number of children of a node: eight, except for the last one of its depth.
    std::size_t children(std::size_t depth, std::size_t node) const {
        const std::size_t next =
            depth + 1 == this->depth() ? leaves : node_starts[depth + 2] - node_starts[depth + 1];
        const std::size_t first = node * kChildren;
        return next - first < kChildren ? next - first : kChildren;
    }
    // First position of a leaf.
    std::size_t begin(std::size_t leaf) const {
        // rows * leaf may exceed 64 bits only beyond 2^32 rows of 2^32 leaves.
        return rows * leaf / leaves;
    }
    // No leaf has more rows.
    std::size_t max_leaf_rows() const { return rows / leaves + 1; }
    std::size_t tiles_of(std::size_t leaf) const {
        return (begin(leaf + 1) - begin(leaf) + kTileRows - 1) / kTileRows;
    }
};

// Order the rows of X by leaf, and compute the boxes of the children of all inner nodes: 2 x d x 8
// entries each. `mismatch` is the width of nominal columns, whose codes have no unit; NaN for
// numeric ones.
template <typename T>
void build_box_tree(Matrix<const T> X, const BoxTreeShape& shape, const double* mismatch,
                    std::uint32_t* order, double* boxes, int threads);

// Rows in the order of the leaves, as tiles of 16: n_tiles x d x 16. Unused lanes are zero.
template <typename T>
void pack_tiles(Matrix<const T> X, const BoxTreeShape& shape, const std::uint32_t* order, T* tiles,
                int threads);

template <typename T>
struct BoxTree {
    BoxTreeShape shape;
    std::size_t d = 0;
    const std::int64_t* row_ids = nullptr;      // number of the row at each position; -1 for rows
                                                // that were removed
    const std::int64_t* tile_starts = nullptr;  // first tile of each leaf, and their number
    const double* boxes = nullptr;
    const T* tiles = nullptr;
};

// Queries of a search: columns as those of the tree, and which of them are known.
struct Queries {
    Matrix<const double> X;
    ActiveColumns columns;
    // Of reduced distances, for the missing columns: a multiple of the sum over the known ones, and
    // what is added to it.
    double factor = 1, offset = 0;
    const std::int64_t* excluded = nullptr;  // the row that each query must not find; null for none

    bool skips(std::size_t query, std::int64_t row) const {
        return row < 0 || (excluded != nullptr && excluded[query] == row);
    }

    double to_distance(const Metric& metric, double reduced) const {
        if (metric.kind == MetricKind::kChebyshev)
            return reduced < offset ? offset : reduced;  // a maximum
        return metric.to_distance(reduced * factor + offset);
    }

    // The largest sum over the known columns of a row at up to this distance. The rounding of
    // factor and offset is within the slack of the limit.
    double to_limit(const Metric& metric, double distance) const {
        if (metric.kind == MetricKind::kChebyshev)
            return distance < offset ? -1.0 : metric.to_limit(distance);
        return (metric.to_limit(distance) - offset) / factor;
    }
};

// Indices of the queries in the order of the nodes that they would be in, at a depth with a node
// for every `shared` queries: neighbors in this order visit the same leaves.
template <typename T>
std::vector<std::uint32_t> query_order(const BoxTree<T>& tree, const Metric& metric,
                                       const Queries& queries, std::size_t shared, int threads);

struct SearchCounts {
    std::uint64_t distances = 0;  // computed, to rows
};

// Merge the nearest rows into the k nearest of each query found so far (`TopK`).
template <typename T>
SearchCounts search_box_tree(const BoxTree<T>& tree, const Metric& metric, const Queries& queries,
                             std::size_t k, double* distances, std::int64_t* rows, int threads);

// Rows within a radius: their numbers and distances, in no order, for each query.
struct RadiusResult {
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<double>> distances;
};

template <typename T>
RadiusResult radius_box_tree(const BoxTree<T>& tree, const Metric& metric, const Queries& queries,
                             double radius, int threads);

}  // namespace ceiba
