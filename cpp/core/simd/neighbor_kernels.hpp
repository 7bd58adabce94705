// Distances between a query and rows or boxes, compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neighbors/metric.hpp"

namespace ceiba {

// Rows of a tile, in lanes: entry [column][lane].
constexpr std::size_t kTileRows = 16;
// Children of a node of a box tree, in lanes.
constexpr std::size_t kChildren = 8;
// Entries of a list of nearest rows that is kept in vectors.
constexpr std::size_t kShortList = 16;
// Queries that share the products with a tile.
constexpr std::size_t kQueries = 8;

// The columns that a search uses: those that are known in the query and in all rows. Without an
// index they are the first `count` ones.
struct ActiveColumns {
    const std::uint32_t* index = nullptr;
    std::size_t count = 0;

    std::size_t operator[](std::size_t a) const { return index == nullptr ? a : index[a]; }
};

// What a search reads of a box tree (neighbors/box_tree.hpp).
template <typename T>
struct BoxTreeView {
    std::size_t d, rows, leaf_bits, depth;  // there are 2^leaf_bits leaves
    std::size_t root_children;              // all other inner nodes have eight
    const std::size_t* node_starts;
    const std::int64_t* tile_starts;
    const double* boxes;
    const T* tiles;

    // First position of a leaf.
    std::size_t begin(std::size_t leaf) const { return rows * leaf >> leaf_bits; }
};

// Receives the rows of a tile whose reduced distances do not exceed the limit: the position of the
// first row of the tile, a bit for each of those rows, and the reduced distances of all. Returns
// the limit from then on.
struct TileVisitor {
    double (*visit)(void* context, std::size_t first, std::uint32_t hits, const double* distances);
    void* context;
};

// Searches of a box tree for one query, for one kind of metric and number of columns.
template <typename T>
struct BoxTreeKernels {
    // Visits the leaves from the nearest box on; returns the number of distances to rows.
    std::size_t (*search)(const BoxTreeView<T>& tree, const Metric& metric,
                          const ActiveColumns& columns, const double* query, double limit,
                          const TileVisitor& visitor);
    // The node of a depth that the query would be in: the child with the nearest box, and so on.
    std::size_t (*nearest_node)(const BoxTreeView<T>& tree, const Metric& metric,
                                const ActiveColumns& columns, const double* query,
                                std::size_t depth);
};

struct NeighborKernels {
    // Lower bounds of the reduced distances of `query` to the boxes of eight children: 2 x d x 8
    // entries, the low corners before the high ones. In floating point, too, no row of a box is
    // nearer: the terms are those of the rows, in the same order, and rounding is monotone.
    void (*box_bounds)(const Metric& metric, const double* boxes, std::size_t d,
                       const double* query, const ActiveColumns& columns, double* bounds);
    // Reduced distances of `query` to the rows of a tile; returns the smallest.
    double (*tile_distances)(const Metric& metric, const double* tile, const double* query,
                             const ActiveColumns& columns, double* out);
    double (*float_tile_distances)(const Metric& metric, const float* tile, const double* query,
                                   const ActiveColumns& columns, double* out);
    // The same for one row, which is not in a tile.
    double (*row_distance)(const Metric& metric, const double* row, const double* query,
                           const ActiveColumns& columns);
    double (*float_row_distance)(const Metric& metric, const float* row, const double* query,
                                 const ActiveColumns& columns);
    // Chosen once for all queries of a search.
    BoxTreeKernels<double> (*box_tree)(const Metric& metric, const ActiveColumns& columns);
    BoxTreeKernels<float> (*float_box_tree)(const Metric& metric, const ActiveColumns& columns);
    // Insert `n` rows into a list of kShortList entries, ascending by (distance, row); what comes
    // after the last entry is dropped.
    void (*insert_rows)(double* list_distances, std::int64_t* list_rows, const double* distances,
                        const std::int64_t* rows, std::size_t n);
    // Scores |x|^2 / 2 - x . q of the rows of `n_tiles` tiles for eight queries (d x 8, negated),
    // where they do not exceed the query's limit: hits[i] is row * 8 + query. Returns their number.
    std::size_t (*product_hits)(const float* tiles, const float* half_squares, std::size_t n_tiles,
                                std::size_t d, const float* queries, const float* limits,
                                std::uint32_t* hits);
};

const NeighborKernels& neighbor_kernels();

}  // namespace ceiba
