// Implementation of the search by products.
#include "neighbors/product_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "neighbors/top_k.hpp"

namespace ceiba {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Unit roundoff of float32.
constexpr double kFloatRounding = 0x1p-24;

// Squared distance in the order and rounding of the tile kernels.
template <typename T>
double squared_distance(const T* x, const double* query, std::size_t d) {
    double sum = 0;
    for (std::size_t j = 0; j < d; ++j) {
        const double difference = double(x[j]) - query[j];
        sum += difference * difference;
    }
    return sum;
}

// Tiles of eight queries that visit a leaf one after another, while its rows are in the cache. With
// 64 columns and 200,000 rows, single tiles would read 64 GB for 10,000 queries.
constexpr std::size_t kMaxTiles = 16;

template <typename T>
class QueryGroup {
  public:
    QueryGroup(const BoxTree<T>& tree, const ProductLeaves& leaves, Matrix<const T> X,
               const std::uint32_t* order, const Queries& queries)
        : tree_(tree),
          leaves_(leaves),
          X_(X),
          order_(order),
          queries_(queries),
          bounds_(tree.shape.depth() * kChildren * kMaxTiles * kQueries),
          negated_(tree.d * kQueries),
          hits_((tree.shape.max_leaf_rows() + kTileRows) * kQueries) {}

    // Search for some queries, at most kMaxTiles * kQueries.
    void run(const std::uint32_t* indices, std::size_t n, std::size_t k, double* distances,
             std::int64_t* rows) {
        indices_ = indices;
        nearest_.clear();
        for (std::size_t q = 0; q < n; ++q) {
            nearest_.emplace_back(distances + indices[q] * k, rows + indices[q] * k, k);
            update(q);
        }
        const std::vector<double> zeros(n);
        visit(0, 0, zeros.data());
        for (TopK& own : nearest_) own.finish();
    }

    std::uint64_t n_distances() const { return n_distances_; }

  private:
    std::size_t size() const { return nearest_.size(); }
    const double* query(std::size_t q) const { return queries_.X.row(indices_[q]); }

    void update(std::size_t q) {
        farthest_[q] = nearest_[q].farthest();
        limits_[q] = metric_.to_limit(farthest_[q]);
    }

    // Whether a node can have a neighbor of one of the queries `first` to `last`.
    bool is_open(const double* bounds, std::size_t first, std::size_t last) const {
        bool open = false;
        for (std::size_t q = first; q < last; ++q) open |= bounds[q] <= limits_[q];
        return open;
    }

    // Search a node, given lower bounds of its distance to each query.
    void visit(std::size_t depth, std::size_t node, const double* bounds) {
        if (depth == tree_.shape.depth()) return scan(node, bounds);
        const std::size_t index = tree_.shape.node_starts[depth] + node;
        const double* boxes = tree_.boxes + index * 2 * tree_.d * kChildren;
        double* own = bounds_.data() + depth * kChildren * kMaxTiles * kQueries;
        double min_bounds[kChildren];
        std::fill_n(min_bounds, kChildren, kInfinity);
        for (std::size_t q = 0; q < size(); ++q) {
            double children[kChildren];
            std::fill_n(children, kChildren, kInfinity);
            if (bounds[q] <= limits_[q])
                neighbor_kernels().box_bounds(metric_, boxes, tree_.d, query(q), queries_.columns,
                                              children);
            for (std::size_t c = 0; c < kChildren; ++c) {
                own[c * kMaxTiles * kQueries + q] = children[c];
                min_bounds[c] = std::min(min_bounds[c], children[c]);
            }
        }
        std::size_t nearest_first[kChildren];
        std::iota(nearest_first, nearest_first + kChildren, 0);
        std::sort(nearest_first, nearest_first + kChildren,
                  [&](std::size_t a, std::size_t b) { return min_bounds[a] < min_bounds[b]; });
        for (const std::size_t c : nearest_first) {
            const double* of_child = own + c * kMaxTiles * kQueries;
            if (min_bounds[c] < kInfinity && is_open(of_child, 0, size()))
                visit(depth + 1, node * kChildren + c, of_child);
        }
    }

    void scan(std::size_t leaf, const double* bounds) {
        for (std::size_t first = 0; first < size(); first += kQueries) {
            const std::size_t last = std::min(first + kQueries, size());
            if (is_open(bounds, first, last)) scan_tile(leaf, bounds, first, last);
        }
    }

    void scan_tile(std::size_t leaf, const double* bounds, std::size_t first, std::size_t last) {
        const std::size_t d = tree_.d;
        float limits[kQueries];
        std::fill_n(limits, kQueries, -std::numeric_limits<float>::infinity());
        for (std::size_t q = first; q < last; ++q)
            if (bounds[q] <= limits_[q]) limits[q - first] = prepare(leaf, q, q - first);
        const std::size_t tile = std::size_t(tree_.tile_starts[leaf]);
        const std::size_t n_hits = neighbor_kernels().product_hits(
            leaves_.tiles + tile * d * kTileRows, leaves_.half_squares + tile * kTileRows,
            tree_.shape.tiles_of(leaf), d, negated_.data(), limits, hits_.data());
        const std::size_t begin = tree_.shape.begin(leaf);
        n_distances_ += (tree_.shape.begin(leaf + 1) - begin) * (last - first);
        for (std::size_t h = 0; h < n_hits; ++h) {
            const std::size_t q = first + hits_[h] % kQueries, i = begin + hits_[h] / kQueries;
            const double reduced = squared_distance(X_.row(order_[i]), query(q), d);
            if (!(reduced <= limits_[q])) continue;
            const std::int64_t row = tree_.row_ids[i];
            if (queries_.skips(indices_[q], row)) continue;
            nearest_[q].insert(metric_.to_distance(reduced), row);
            update(q);
        }
    }

    // Write the negated difference of a query from the center of a leaf, and return the largest
    // score that a row of the leaf at up to the limit can have.
    //
    // Let x and q be the differences of row and query from the center, in float32, R the largest
    // norm of a row, d the number of columns and u = 2^-24. The score |x|^2 / 2 - x . q has a
    // rounding error of at most (2 d + 2) u (R^2 / 2 + R |q|); the distance of x and q differs from
    // that of row and query by at most 2 u (R + |q|), by the rounding of the differences.
    float prepare(std::size_t leaf, std::size_t q, std::size_t lane) {
        const std::size_t d = tree_.d;
        const double *center = leaves_.centers + leaf * d, *own = query(q);
        double square = 0;
        for (std::size_t j = 0; j < d; ++j) {
            const float value = float(own[j] - center[j]);
            negated_[j * kQueries + lane] = -value;
            square += double(value) * double(value);
        }
        if (farthest_[q] == kInfinity) return std::numeric_limits<float>::infinity();
        const double R = leaves_.radii[leaf], norm = std::sqrt(square);
        const double error = (2 * double(d) + 2) * kFloatRounding * (R * R / 2 + R * norm);
        const double within =
            farthest_[q] * (1 + double(d + 8) * 0x1p-53) + 2.01 * kFloatRounding * (R + norm);
        const double bound = within * within;
        // The last terms are the rounding of this line and of subnormal products.
        const double limit =
            (bound - square) / 2 + 1.01 * error + 0x1p-50 * (bound + square) + double(d) * 0x1p-126;
        return std::nextafter(float(limit), std::numeric_limits<float>::infinity());
    }

    const BoxTree<T>& tree_;
    const ProductLeaves& leaves_;
    Matrix<const T> X_;
    const std::uint32_t* order_;
    const Queries& queries_;
    const Metric metric_;
    std::vector<double> bounds_;  // of the children of a node of each depth, for each query
    Aligned<float> negated_;
    std::vector<std::uint32_t> hits_;
    std::vector<TopK> nearest_;
    const std::uint32_t* indices_ = nullptr;
    double limits_[kMaxTiles * kQueries], farthest_[kMaxTiles * kQueries];
    std::uint64_t n_distances_ = 0;
};

}  // namespace

template <typename T>
void pack_products(Matrix<const T> X, const BoxTreeShape& shape, const std::uint32_t* order,
                   float* tiles, float* half_squares, double* centers, double* radii, int threads) {
    std::vector<std::size_t> starts{0};
    for (std::size_t leaf = 0; leaf < shape.leaves; ++leaf)
        starts.push_back(starts.back() + shape.tiles_of(leaf));
    const std::size_t d = X.cols;
    for_segments({shape.leaves, shape.leaves}, threads_for(double(X.rows * d), threads),
                 [&](std::size_t leaf, int, Interrupt&) {
                     const std::size_t begin = shape.begin(leaf), n = shape.begin(leaf + 1) - begin;
                     double* center = centers + leaf * d;
                     std::fill_n(center, d, 0.0);
                     for (std::size_t i = 0; i < n; ++i)
                         for (std::size_t j = 0; j < d; ++j)
                             center[j] += double(X.row(order[begin + i])[j]) / double(n);
                     float* own = tiles + starts[leaf] * d * kTileRows;
                     float* squares = half_squares + starts[leaf] * kTileRows;
                     std::fill_n(own, shape.tiles_of(leaf) * d * kTileRows, 0.0f);
                     std::fill_n(squares, shape.tiles_of(leaf) * kTileRows,
                                 std::numeric_limits<float>::quiet_NaN());
                     double largest = 0;
                     for (std::size_t i = 0; i < n; ++i) {
                         const T* x = X.row(order[begin + i]);
                         float* lane = own + i / kTileRows * d * kTileRows + i % kTileRows;
                         double square = 0;
                         for (std::size_t j = 0; j < d; ++j) {
                             const float value = float(double(x[j]) - center[j]);
                             lane[j * kTileRows] = value;
                             square += double(value) * double(value);
                         }
                         squares[i] = float(square / 2);
                         largest = std::max(largest, square);
                     }
                     radii[leaf] = std::sqrt(largest) * (1 + 0x1p-50);
                 });
}

template <typename T>
SearchCounts search_products(const BoxTree<T>& tree, const ProductLeaves& leaves, Matrix<const T> X,
                             const std::uint32_t* order, const Queries& queries, std::size_t k,
                             double* distances, std::int64_t* rows, int threads) {
    const std::size_t n = queries.X.rows, n_tiles = (n + kQueries - 1) / kQueries;
    const std::vector<std::uint32_t> sorted =
        query_order(tree, Metric(), queries, kQueries, threads);
    // Fewer queries in a group where there would be too few groups for the threads.
    const std::size_t shared = n_tiles / (4 * std::size_t(threads));
    const std::size_t size = kQueries * std::clamp<std::size_t>(shared, 1, kMaxTiles);
    const Segments groups{(n + size - 1) / size, std::max<std::size_t>((n + size - 1) / size, 1)};
    std::atomic<std::uint64_t> total{0};
    const double work = double(n) * double(tree.shape.rows * tree.d);
    for_segments(
        groups, threads_for(work, threads), [&](std::size_t g, int thread, Interrupt& stop) {
            QueryGroup<T> group(tree, leaves, X, order, queries);
            const std::size_t first = g * size;
            if (first >= n || stop.stopped(thread)) return;
            group.run(sorted.data() + first, std::min(size, n - first), k, distances, rows);
            total += group.n_distances();
        });
    return {total};
}

#define CEIBA_PRODUCTS(T)                                                                      \
    template void pack_products<T>(Matrix<const T>, const BoxTreeShape&, const std::uint32_t*, \
                                   float*, float*, double*, double*, int);                     \
    template SearchCounts search_products<T>(                                                  \
        const BoxTree<T>&, const ProductLeaves&, Matrix<const T>, const std::uint32_t*,        \
        const Queries&, std::size_t, double*, std::int64_t*, int);
CEIBA_PRODUCTS(double)
CEIBA_PRODUCTS(float)
#undef CEIBA_PRODUCTS

}  // namespace ceiba
