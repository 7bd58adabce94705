// Implementation of the search among all rows.
#include "neighbors/brute_search.hpp"

#include <algorithm>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "neighbors/top_k.hpp"

namespace ceiba {
namespace {

// Rows that are packed at a time: with their queries they stay in the second-level cache.
constexpr std::size_t kRows = 512;
// Queries of a thread that share the packed rows.
constexpr std::size_t kQueryBlock = 64;

inline double distances_of(const Metric& metric, const double* tile, const double* query,
                           const ActiveColumns& columns, double* out) {
    return neighbor_kernels().tile_distances(metric, tile, query, columns, out);
}

inline double distances_of(const Metric& metric, const float* tile, const double* query,
                           const ActiveColumns& columns, double* out) {
    return neighbor_kernels().float_tile_distances(metric, tile, query, columns, out);
}

// Call body(query, first row, number of rows, reduced distances, the smallest of them) for all
// queries and tiles.
template <typename T, typename Body>
void for_tiles(Matrix<const T> X, const Metric& metric, const Queries& queries, int threads,
               Body&& body) {
    const std::size_t n = queries.X.rows, d = X.cols;
    const Segments parts{n, std::max<std::size_t>((n + kQueryBlock - 1) / kQueryBlock, 1)};
    const double work = double(n) * double(X.rows) * double(d);
    for_segments(
        parts, threads_for(work, threads), [&](std::size_t s, int thread, Interrupt& stop) {
            Aligned<T> tiles(kRows * d);
            for (std::size_t first = 0; first < X.rows; first += kRows) {
                if (stop.stopped(thread)) return;
                const std::size_t count = std::min(kRows, X.rows - first);
                for (std::size_t i = 0; i < count; ++i) {
                    T* lane = tiles.data() + i / kTileRows * d * kTileRows + i % kTileRows;
                    for (std::size_t j = 0; j < d; ++j) lane[j * kTileRows] = X.row(first + i)[j];
                }
                for (std::size_t q = parts.begin(s); q < parts.end(s); ++q)
                    for (std::size_t i = 0; i < count; i += kTileRows) {
                        double reduced[kTileRows];
                        const double min_distance =
                            distances_of(metric, tiles.data() + i * d, queries.X.row(q),
                                         queries.columns, reduced);
                        body(q, first + i, std::min(kTileRows, count - i), reduced, min_distance);
                    }
            }
        });
}

}  // namespace

template <typename T>
SearchCounts search_rows(Matrix<const T> X, const std::int64_t* row_ids, const Metric& metric,
                         const Queries& queries, std::size_t k, double* distances,
                         std::int64_t* rows, int threads) {
    const std::size_t n = queries.X.rows;
    std::vector<TopK> nearest;
    std::vector<double> limits;
    for (std::size_t q = 0; q < n; ++q) {
        nearest.emplace_back(distances + q * k, rows + q * k, k);
        limits.push_back(queries.to_limit(metric, nearest[q].farthest()));
    }
    for_tiles(X, metric, queries, threads,
              [&](std::size_t q, std::size_t first, std::size_t count, const double* reduced,
                  double min_distance) {
                  if (min_distance > limits[q]) return;
                  for (std::size_t r = 0; r < count; ++r) {
                      if (!(reduced[r] <= limits[q])) continue;
                      const std::int64_t row = row_ids[first + r];
                      if (queries.skips(q, row)) continue;
                      nearest[q].insert(queries.to_distance(metric, reduced[r]), row);
                      limits[q] = queries.to_limit(metric, nearest[q].farthest());
                  }
              });
    for (TopK& own : nearest) own.finish();
    return {std::uint64_t(n) * X.rows};
}

template <typename T>
RadiusResult radius_rows(Matrix<const T> X, const std::int64_t* row_ids, const Metric& metric,
                         const Queries& queries, double radius, int threads) {
    RadiusResult result{std::vector<std::vector<std::int64_t>>(queries.X.rows),
                        std::vector<std::vector<double>>(queries.X.rows)};
    const double limit = queries.to_limit(metric, radius);
    for_tiles(X, metric, queries, threads,
              [&](std::size_t q, std::size_t first, std::size_t count, const double* reduced,
                  double min_distance) {
                  if (min_distance > limit) return;
                  for (std::size_t r = 0; r < count; ++r) {
                      if (!(reduced[r] <= limit)) continue;
                      const double distance = queries.to_distance(metric, reduced[r]);
                      const std::int64_t row = row_ids[first + r];
                      if (distance > radius || queries.skips(q, row)) continue;
                      result.rows[q].push_back(row);
                      result.distances[q].push_back(distance);
                  }
              });
    return result;
}

#define CEIBA_ROWS(T)                                                                         \
    template SearchCounts search_rows<T>(Matrix<const T>, const std::int64_t*, const Metric&, \
                                         const Queries&, std::size_t, double*, std::int64_t*, \
                                         int);                                                \
    template RadiusResult radius_rows<T>(Matrix<const T>, const std::int64_t*, const Metric&, \
                                         const Queries&, double, int);
CEIBA_ROWS(double)
CEIBA_ROWS(float)
#undef CEIBA_ROWS

}  // namespace ceiba
