// A vantage-point tree over the rows, for distances that satisfy the triangle inequality.
//
// Yianilos (1993), "Data structures and algorithms for nearest neighbor search in general metric
// spaces", SODA. The rows of a node are divided in halves by their distance to one of them, the
// vantage point v. A query q at distance a of v has no neighbor within |a - b| among rows at
// distance b of v, so the smallest and largest b of each half bound the distances to its rows.
//
// Rows are ordered so that a leaf is a tile of sixteen positions, and a node a range of leaves. It
// is divided at the leaf in the middle of the range; as every leaf but the first is the middle of
// exactly one node, the node that is divided at leaf i has the index i - 1. Nothing is stored but
// the order, the vantage points and the bounds.
#pragma once

#include <functional>

#include "neighbors/box_tree.hpp"

namespace ceiba {

constexpr std::size_t vantage_leaves(std::size_t rows) {
    return (rows + kTileRows - 1) / kTileRows;
}

constexpr std::size_t vantage_nodes(std::size_t rows) { return vantage_leaves(rows) - 1; }

// Smallest and largest distance of the vantage point to the rows of each half, near and far.
struct VantageBounds {
    double near_min, near_max, far_min, far_max;
};

// Write the distances of a row to `n` others. Called by several threads at a time.
using RowDistances =
    std::function<void(std::uint32_t row, const std::uint32_t* others, std::size_t n, double* out)>;

template <typename T>
RowDistances metric_distances(Matrix<const T> X, const Metric& metric);

// Order rows by leaf, and find the vantage point (a row) and bounds of every node. About n log2(n /
// 16) distances are computed. NaN among them is an error.
void build_vantage_tree(std::size_t rows, const RowDistances& distances, std::uint32_t* order,
                        std::uint32_t* vantage, VantageBounds* bounds, int threads);

// Rows in the order of the leaves: n_leaves x d x 16. Unused lanes are left as they are.
template <typename T>
void pack_vantage_tiles(Matrix<const T> X, const std::uint32_t* order, T* tiles, int threads);

struct VantageTree {
    std::size_t rows = 0;
    const std::int64_t* row_ids = nullptr;  // number of the row at each position; negative for rows
                                            // that no query finds
    const VantageBounds* bounds = nullptr;
};

// The distances of a search, by a metric or by a function of the caller.
class QueryDistances {
  public:
    virtual ~QueryDistances() = default;
    // Distance of a query to the vantage point of a node.
    virtual double to_vantage(std::size_t query, std::size_t node) const = 0;
    // The rows of a leaf at up to distance `limit`, and perhaps others: their indices in the leaf
    // and distances. Returns their number.
    virtual std::size_t to_leaf(std::size_t query, std::size_t leaf, double limit,
                                std::uint32_t* rows, double* distances) const = 0;
    // An upper bound of the rounding error of a distance. It must not fall with the distance.
    virtual double error(double distance) const = 0;
};

// Largest absolute value of the first column and of all others.
struct Extent {
    double first = 0, others = 0;

    template <typename T>
    static Extent of(Matrix<const T> X);
};

template <typename T>
class MetricQueryDistances final : public QueryDistances {
  public:
    // `vantage` are the vantage points of the nodes, `tiles` the rows in the order of the leaves
    // (n_leaves x d x 16), and `extent` is theirs.
    MetricQueryDistances(const Metric& metric, const Queries& queries, std::size_t rows,
                         const T* vantage, const T* tiles, const Extent& extent);

    double to_vantage(std::size_t query, std::size_t node) const override;
    std::size_t to_leaf(std::size_t query, std::size_t leaf, double limit, std::uint32_t* rows,
                        double* distances) const override;
    double error(double distance) const override {
        return relative_ * distance + (distance < kFar ? absolute_ : far_absolute_);
    }

  private:
    // From here on, haversine distances are those of nearly opposite points.
    static constexpr double kFar = 3;

    const Metric& metric_;
    const Queries& queries_;
    std::size_t rows_;
    const T *vantage_, *tiles_;
    double relative_, absolute_ = 0, far_absolute_ = 0;
};

// Merge the nearest rows into the k nearest of each query found so far (`TopK`). Distances to
// vantage points count as well.
SearchCounts search_vantage_tree(const VantageTree& tree, const QueryDistances& distances,
                                 const Queries& queries, std::size_t k, double* nearest_distances,
                                 std::int64_t* nearest_rows, int threads);

RadiusResult radius_vantage_tree(const VantageTree& tree, const QueryDistances& distances,
                                 const Queries& queries, double radius, int threads);

}  // namespace ceiba
