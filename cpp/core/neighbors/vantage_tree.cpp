// Implementation of the vantage-point tree: building it, and searching it for one query at a time.
#include "neighbors/vantage_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "neighbors/top_k.hpp"

namespace ceiba {
namespace {

// The kernels of a type of rows.
inline double tile_distances(const Metric& metric, const double* tile, const double* query,
                             const ActiveColumns& columns, double* out) {
    return neighbor_kernels().tile_distances(metric, tile, query, columns, out);
}

inline double tile_distances(const Metric& metric, const float* tile, const double* query,
                             const ActiveColumns& columns, double* out) {
    return neighbor_kernels().float_tile_distances(metric, tile, query, columns, out);
}

inline double row_distance(const Metric& metric, const double* row, const double* query,
                           const ActiveColumns& columns) {
    return neighbor_kernels().row_distance(metric, row, query, columns);
}

inline double row_distance(const Metric& metric, const float* row, const double* query,
                           const ActiveColumns& columns) {
    return neighbor_kernels().float_row_distance(metric, row, query, columns);
}

// Write up to sixteen rows into the lanes of a tile.
template <typename T>
void pack_tile(Matrix<const T> X, const std::uint32_t* rows, std::size_t n, T* tile) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < X.cols; ++j) tile[j * kTileRows + i] = X.row(rows[i])[j];
}

struct Keyed {
    double distance;
    std::uint32_t row;

    bool operator<(const Keyed& other) const {
        return distance != other.distance ? distance < other.distance : row < other.row;
    }
};

// Divides ranges of leaves in halves, by the distances of their rows to a vantage point.
class Splitter {
  public:
    Splitter(std::size_t rows, const RowDistances& distances, std::uint32_t* order,
             std::uint32_t* vantage, VantageBounds* bounds, int thread, Interrupt& stop)
        : rows_(rows),
          distances_(distances),
          order_(order),
          vantage_(vantage),
          bounds_(bounds),
          thread_(thread),
          stop_(stop) {}

    void split(std::size_t first, std::size_t last) {
        if (last - first < 2) return;
        const std::size_t middle = divide(first, last, 1);
        split(first, middle);
        split(middle, last);
    }

    // Order the rows of some leaves so that those nearer to the vantage point come first, and
    // return the first leaf of the others.
    std::size_t divide(std::size_t first, std::size_t last, int threads) {
        const std::size_t middle = (first + last) / 2, border = (middle - first) * kTileRows;
        const std::size_t n = std::min(last * kTileRows, rows_) - first * kTileRows;
        std::uint32_t* own = order_ + first * kTileRows;
        compute(vantage_[middle - 1], own, n, threads);
        const auto middle_key = keys_.begin() + std::ptrdiff_t(border);
        std::nth_element(keys_.begin(), middle_key, keys_.end());
        poll();
        for (std::size_t i = 0; i < n; ++i) own[i] = keys_[i].row;
        const auto near = std::minmax_element(keys_.begin(), middle_key);
        const auto far_max = std::max_element(middle_key, keys_.end());
        bounds_[middle - 1] = {near.first->distance, near.second->distance, middle_key->distance,
                               far_max->distance};
        // The next vantage points are the rows farthest from this one: at a border of their half,
        // from where distances have the widest range, and known without further distances.
        // The best spread of nine candidates, as in the paper, takes three times as long to build;
        // its searches compute 0 to 20% fewer distances (Canberra, Hamming), or 12% more (Jaccard).
        if (middle - first > 1) vantage_[(first + middle) / 2 - 1] = near.second->row;
        if (last - middle > 1) vantage_[(middle + last) / 2 - 1] = far_max->row;
        return middle;
    }

    // The row that is farthest from a row.
    std::uint32_t farthest(std::uint32_t row, int threads) {
        compute(row, order_, rows_, threads);
        return std::max_element(keys_.begin(), keys_.end())->row;
    }

  private:
    // Rows whose distances a thread computes at a time.
    static constexpr std::size_t kBlock = 4096;

    // Compute the keys of some rows: their distances to a row.
    void compute(std::uint32_t row, const std::uint32_t* others, std::size_t n, int threads) {
        poll();
        keys_.resize(n);
        const Segments parts = segments(n, kBlock, n);
        for_segments(parts, threads, [&](std::size_t s, int, Interrupt&) {
            double out[2 * kBlock];
            const std::size_t begin = parts.begin(s), end = parts.end(s);
            distances_(row, others + begin, end - begin, out);
            for (std::size_t i = begin; i < end; ++i) {
                if (std::isnan(out[i - begin]))
                    throw std::invalid_argument("distances of rows of X must not be NaN.");
                keys_[i] = {out[i - begin], others[i]};
            }
        });
        poll();
    }

    void poll() {
        if (stop_.stopped(thread_)) throw Interrupted();
    }

    std::size_t rows_;
    const RowDistances& distances_;
    std::uint32_t *order_, *vantage_;
    VantageBounds* bounds_;
    int thread_;
    Interrupt& stop_;
    std::vector<Keyed> keys_;
};

}  // namespace

template <typename T>
RowDistances metric_distances(Matrix<const T> X, const Metric& metric) {
    return [X, metric](std::uint32_t row, const std::uint32_t* others, std::size_t n, double* out) {
        const std::size_t d = X.cols;
        const Aligned<double> query(X.row(row), X.row(row) + d);
        Aligned<T> tile(d * kTileRows);
        for (std::size_t first = 0; first < n; first += kTileRows) {
            const std::size_t count = std::min(kTileRows, n - first);
            pack_tile(X, others + first, count, tile.data());
            double reduced[kTileRows];
            tile_distances(metric, tile.data(), query.data(), {nullptr, d}, reduced);
            for (std::size_t i = 0; i < count; ++i) out[first + i] = metric.to_distance(reduced[i]);
        }
    };
}

void build_vantage_tree(std::size_t rows, const RowDistances& distances, std::uint32_t* order,
                        std::uint32_t* vantage, VantageBounds* bounds, int threads) {
    std::iota(order, order + rows, 0);
    const std::size_t leaves = vantage_leaves(rows);
    if (leaves < 2) return;
    Interrupt interrupt;
    Splitter splitter(rows, distances, order, vantage, bounds, 0, interrupt);
    vantage[leaves / 2 - 1] = splitter.farthest(0, threads);
    // The first divisions one after another, until there are some parts for every thread.
    std::vector<std::pair<std::size_t, std::size_t>> parts{{0, leaves}};
    while (threads > 1 && parts.size() < 4 * std::size_t(threads) && 2 * parts.size() <= leaves) {
        std::vector<std::pair<std::size_t, std::size_t>> halves;
        for (const auto& [first, last] : parts) {
            const std::size_t middle = splitter.divide(first, last, threads);
            halves.push_back({first, middle});
            halves.push_back({middle, last});
        }
        parts = std::move(halves);
    }
    for_segments({parts.size(), parts.size()}, threads_for(100.0 * double(rows), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Splitter(rows, distances, order, vantage, bounds, thread, stop)
                         .split(parts[s].first, parts[s].second);
                 });
}

template <typename T>
void pack_vantage_tiles(Matrix<const T> X, const std::uint32_t* order, T* tiles, int threads) {
    const Segments parts{vantage_leaves(X.rows), vantage_leaves(X.rows)};
    for_segments(parts, threads_for(double(X.rows * X.cols), threads),
                 [&](std::size_t leaf, int, Interrupt&) {
                     const std::size_t first = leaf * kTileRows;
                     pack_tile(X, order + first, std::min(kTileRows, X.rows - first),
                               tiles + first * X.cols);
                 });
}

template <typename T>
Extent Extent::of(Matrix<const T> X) {
    Extent extent;
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t j = 0; j < X.cols; ++j) {
            double& largest = j == 0 ? extent.first : extent.others;
            largest = std::max(largest, std::fabs(double(X.row(i)[j])));
        }
    return extent;
}

// Bounds of rounding errors, with u = 2^-53 and d columns.
//
// Sums over columns, Canberra and Chebyshev: a term has a relative error of at most 4 u (p-th
// powers: (p + 2) u), as the library's functions are within one unit of the last digit, the sum
// adds d u, and the p-th root divides these by p. The root itself adds u for the exponent 1 / p
// times the logarithm of the sum, below 745, and 2 u. All are less than (d + 1024) u. Terms that
// underflow are off by 2^-1074 each, and their sum changes the root by at most its own root.
//
// Hamming, Jaccard, Rogers-Tanimoto, Sokal-Sneath: the counts are exact, and a division adds u.
//
// Haversine: the angle is 2 asin(sqrt(s)), s = a^2 + c b^2. The differences of angles have an error
// of 2 u times their largest value m, so that of s is less than (4 m + 16) u in any case, and that
// of the angle less than pi sqrt((4 m + 16) u): near opposite points half of the digits are lost.
// If latitudes are between the poles, then c >= 0 and |a|, c |b| <= sqrt(s), so that the error of s
// is less than 28 u sqrt(s). For angles up to 3 the derivative of the arc sine is at most 14.2, and
// the error of the angle less than 450 u. A float32 pole is beyond the pole by 2^-24, which adds
// 200 u.
template <typename T>
MetricQueryDistances<T>::MetricQueryDistances(const Metric& metric, const Queries& queries,
                                              std::size_t rows, const T* vantage, const T* tiles,
                                              const Extent& extent)
    : metric_(metric), queries_(queries), rows_(rows), vantage_(vantage), tiles_(tiles) {
    const double d = double(queries.X.cols);
    relative_ = (d + 1024) * 0x1p-53;
    if (metric.kind == MetricKind::kEuclidean) absolute_ = std::sqrt(d * 0x1p-1074);
    if (metric.kind == MetricKind::kMinkowski) absolute_ = std::pow(d * 0x1p-1074, 1 / metric.p);
    far_absolute_ = absolute_;
    if (metric.kind != MetricKind::kHaversine) return;
    constexpr double kPi = 3.14159265358979323846;
    const Extent own = Extent::of(queries.X);
    const double latitude = std::max(extent.first, own.first);
    const double longitude = std::max(extent.others, own.others);
    const double m = std::max(latitude, longitude);
    far_absolute_ = kPi * std::sqrt((4 * m + 16) * 0x1p-53);
    const bool usual = latitude <= kPi / 2 + 0x1p-23 && longitude <= 2 * kPi + 0x1p-20;
    absolute_ = usual ? 0x1p-43 : far_absolute_;
}

template <typename T>
double MetricQueryDistances<T>::to_vantage(std::size_t query, std::size_t node) const {
    const T* row = vantage_ + node * queries_.X.cols;
    return metric_.to_distance(row_distance(metric_, row, queries_.X.row(query), queries_.columns));
}

template <typename T>
std::size_t MetricQueryDistances<T>::to_leaf(std::size_t query, std::size_t leaf, double limit,
                                             std::uint32_t* rows, double* distances) const {
    double reduced[kTileRows];
    const double smallest = tile_distances(metric_, tiles_ + leaf * queries_.X.cols * kTileRows,
                                           queries_.X.row(query), queries_.columns, reduced);
    const double reduced_limit = metric_.to_limit(limit);
    if (smallest > reduced_limit) return 0;
    std::size_t found = 0;
    const std::size_t n = std::min(kTileRows, rows_ - leaf * kTileRows);
    for (std::size_t r = 0; r < n; ++r)
        if (reduced[r] <= reduced_limit) {
            rows[found] = std::uint32_t(r);
            distances[found++] = metric_.to_distance(reduced[r]);
        }
    return found;
}

namespace {

// Visits the leaves of a tree, the nearer half of each node first.
class Traversal {
  public:
    Traversal(const VantageTree& tree, const QueryDistances& distances)
        : tree_(tree), distances_(distances) {}

    // Call visit(distance, row) for every row whose distance does not exceed limit(), which may
    // fall. Returns early if `stop` is raised.
    template <typename Limit, typename Visit>
    void run(std::size_t query, Limit&& limit, Visit&& visit, int thread, Interrupt& stop) {
        stack_.assign(1, {0.0, 0, vantage_leaves(tree_.rows)});
        for (std::size_t steps = 1; !stack_.empty(); ++steps) {
            if (steps % kSteps == 0 && stop.stopped(thread)) return;
            const Entry entry = stack_.back();
            stack_.pop_back();
            // A row at this distance may be farther by rounding.
            if (entry.bound > limit() + distances_.error(limit())) continue;
            if (entry.last - entry.first == 1)
                scan(query, entry.first, limit, visit);
            else
                expand(query, entry);
        }
    }

    std::uint64_t n_distances() const { return n_distances_; }

  private:
    // Nodes between two tests for Ctrl-C.
    static constexpr std::size_t kSteps = 256;

    struct Entry {
        double bound;
        std::size_t first, last;  // leaves
    };

    void expand(std::size_t query, const Entry& entry) {
        const std::size_t middle = (entry.first + entry.last) / 2;
        const VantageBounds& own = tree_.bounds[middle - 1];
        const double distance = distances_.to_vantage(query, middle - 1);
        ++n_distances_;
        const Entry near{bound(distance, own.near_min, own.near_max, entry.bound), entry.first,
                         middle};
        const Entry far{bound(distance, own.far_min, own.far_max, entry.bound), middle, entry.last};
        const bool near_first = distance - own.near_max <= own.far_min - distance;
        stack_.push_back(near_first ? far : near);
        stack_.push_back(near_first ? near : far);
    }

    // Lower bound of the exact distance to rows whose distances to a vantage point are between
    // `min` and `max`, and that are no nearer than `known`. Differences of infinite distances are
    // NaN, and no bounds.
    double bound(double distance, double min, double max, double known) const {
        const double error = distances_.error(distance);
        const double below = (min - distances_.error(min)) - (distance + error);
        const double above = (distance - error) - (max + distances_.error(max));
        if (below > known) known = below;
        return above > known ? above : known;
    }

    template <typename Limit, typename Visit>
    void scan(std::size_t query, std::size_t leaf, Limit& limit, Visit& visit) {
        std::uint32_t rows[kTileRows];
        double distances[kTileRows];
        const std::size_t found = distances_.to_leaf(query, leaf, limit(), rows, distances);
        n_distances_ += std::min(kTileRows, tree_.rows - leaf * kTileRows);
        for (std::size_t i = 0; i < found; ++i)
            visit(distances[i], tree_.row_ids[leaf * kTileRows + rows[i]]);
    }

    const VantageTree& tree_;
    const QueryDistances& distances_;
    std::vector<Entry> stack_;
    std::uint64_t n_distances_ = 0;
};

// Call body(traversal, query index, thread, interrupt) for every query.
template <typename Body>
SearchCounts for_queries(const VantageTree& tree, const QueryDistances& distances,
                         const Queries& queries, int threads, Body&& body) {
    const std::size_t n = queries.X.rows;
    const Segments parts = segments(n, 16, 4096);
    std::atomic<std::uint64_t> total{0};
    const double work = double(n) * 500.0 * double(queries.X.cols);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Traversal traversal(tree, distances);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if (stop.stopped(thread)) return;
                         body(traversal, i, thread, stop);
                     }
                     total += traversal.n_distances();
                 });
    return {total};
}

}  // namespace

SearchCounts search_vantage_tree(const VantageTree& tree, const QueryDistances& distances,
                                 const Queries& queries, std::size_t k, double* nearest_distances,
                                 std::int64_t* nearest_rows, int threads) {
    return for_queries(tree, distances, queries, threads,
                       [&](Traversal& traversal, std::size_t i, int thread, Interrupt& stop) {
                           TopK nearest(nearest_distances + i * k, nearest_rows + i * k, k);
                           traversal.run(
                               i, [&] { return nearest.farthest(); },
                               [&](double distance, std::int64_t row) {
                                   if (!queries.skips(i, row)) nearest.insert(distance, row);
                               },
                               thread, stop);
                           nearest.finish();
                       });
}

RadiusResult radius_vantage_tree(const VantageTree& tree, const QueryDistances& distances,
                                 const Queries& queries, double radius, int threads) {
    RadiusResult result{std::vector<std::vector<std::int64_t>>(queries.X.rows),
                        std::vector<std::vector<double>>(queries.X.rows)};
    for_queries(tree, distances, queries, threads,
                [&](Traversal& traversal, std::size_t i, int thread, Interrupt& stop) {
                    traversal.run(
                        i, [&] { return radius; },
                        [&](double distance, std::int64_t row) {
                            if (!(distance <= radius) || queries.skips(i, row)) return;
                            result.rows[i].push_back(row);
                            result.distances[i].push_back(distance);
                        },
                        thread, stop);
                });
    return result;
}

#define CEIBA_VANTAGE(T)                                                                 \
    template RowDistances metric_distances<T>(Matrix<const T>, const Metric&);           \
    template void pack_vantage_tiles<T>(Matrix<const T>, const std::uint32_t*, T*, int); \
    template Extent Extent::of<T>(Matrix<const T>);                                      \
    template class MetricQueryDistances<T>;
CEIBA_VANTAGE(double)
CEIBA_VANTAGE(float)
#undef CEIBA_VANTAGE

}  // namespace ceiba
