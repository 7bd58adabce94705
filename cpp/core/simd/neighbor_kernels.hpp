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
// Queries that share the products with a tile.
constexpr std::size_t kQueries = 8;

// The columns that a search uses: those that are known in the query and in all rows. Without an
// index they are the first `count` ones.
struct ActiveColumns {
    const std::uint32_t* index = nullptr;
    std::size_t count = 0;

    std::size_t operator[](std::size_t a) const { return index == nullptr ? a : index[a]; }
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
    // The rows among `n` of consecutive tiles whose reduced distance does not exceed `limit`: their
    // indices and distances, for up to `n` of them. Returns their number.
    std::size_t (*rows_within)(const Metric& metric, const double* tiles, std::size_t n,
                               std::size_t d, const double* query, const ActiveColumns& columns,
                               double limit, std::uint32_t* rows, double* distances);
    std::size_t (*float_rows_within)(const Metric& metric, const float* tiles, std::size_t n,
                                     std::size_t d, const double* query,
                                     const ActiveColumns& columns, double limit,
                                     std::uint32_t* rows, double* distances);
    // Scores |x|^2 / 2 - x . q of the rows of `n_tiles` tiles for eight queries (d x 8, negated),
    // where they do not exceed the query's limit: hits[i] is row * 8 + query. Returns their number.
    std::size_t (*product_hits)(const float* tiles, const float* half_squares, std::size_t n_tiles,
                                std::size_t d, const float* queries, const float* limits,
                                std::uint32_t* hits);
};

const NeighborKernels& neighbor_kernels();

}  // namespace ceiba
