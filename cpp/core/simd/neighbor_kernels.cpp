// Implementation of the distance kernels, compiled once for each instruction set; as in
// kmeans_kernels.cpp, no template of the standard library may be instantiated here.
//
// Compiled without contraction into fused multiply-adds: a distance has the same bits in every
// index and on every processor.
#include "simd/neighbor_kernels.hpp"

#include <cmath>

#include "simd/box_search.hpp"
#include "simd/nearest_list.hpp"
#include "simd/neighbor_product.hpp"
#include "simd/vector_math.hpp"

#define CEIBA_NEIGHBOR_NAME(isa) CEIBA_NEIGHBOR_NAME_(isa)
#define CEIBA_NEIGHBOR_NAME_(isa) neighbor_kernels_##isa

namespace ceiba {
namespace {

constexpr std::size_t kWidth = kLanes<double>;

inline Doubles absolute(const Doubles& x) { return choose(x < 0, -x, x); }

inline Doubles load_doubles(const double* from) { return load(from); }

inline Doubles load_doubles(const float* from) {
    typedef float Half __attribute__((vector_size(CEIBA_VECTOR_BYTES / 2)));
    Half narrow;
    __builtin_memcpy(&narrow, from, sizeof narrow);
    return __builtin_convertvector(narrow, Doubles);
}

// Sixteen rows in lanes: entry [column][lane].
template <typename T>
struct Tile {
    static constexpr std::size_t kRows = kTileRows;
    const T* data;

    Doubles load(std::size_t j, std::size_t lane) const {
        return load_doubles(data + j * kTileRows + lane);
    }
    double value(std::size_t j, std::size_t row) const { return double(data[j * kTileRows + row]); }
};

// One row, in all lanes of a vector.
template <typename T>
struct SingleRow {
    static constexpr std::size_t kRows = 1;
    const T* data;

    Doubles load(std::size_t j, std::size_t) const { return splat(double(data[j])); }
    double value(std::size_t j, std::size_t) const { return double(data[j]); }
};

// Powers of the lanes that are in use.
template <std::size_t kRows>
Doubles power(const Doubles& x, double p) {
    Doubles out{};
    for (std::size_t i = 0; i < (kRows < kWidth ? kRows : kWidth); ++i) out[i] = std::pow(x[i], p);
    return out;
}

// What a difference adds to the reduced distance.
template <MetricKind kKind, std::size_t kRows>
inline Doubles term(const Doubles& difference, double p) {
    if constexpr (kKind == MetricKind::kEuclidean) return difference * difference;
    if constexpr (kKind == MetricKind::kMinkowski) return power<kRows>(absolute(difference), p);
    return absolute(difference);
}

template <MetricKind kKind>
inline void accumulate(Doubles& sum, const Doubles& value) {
    if constexpr (kKind == MetricKind::kChebyshev)
        sum = larger(value, sum);
    else
        sum += value;
}

// Whether a column holds codes.
inline bool is_nominal(const Metric& metric, std::size_t j) {
    return metric.mismatch != nullptr && !std::isnan(metric.mismatch[j]);
}

// kPlain: all columns are numeric and in use, which saves two tests per column. kColumns: their
// number, or 0 if it is not known to the compiler.
template <MetricKind kKind, bool kPlain, std::size_t kColumns = 0>
inline void bounds_of_boxes(const Metric& metric, const double* boxes, std::size_t d,
                            const double* query, const ActiveColumns& columns, double* bounds) {
    if constexpr (kColumns > 0) d = kColumns;
    const std::size_t count = kColumns > 0 ? kColumns : columns.count;
    for (std::size_t lane = 0; lane < kChildren; lane += kWidth) {
        Doubles sum{};
        for (std::size_t a = 0; a < count; ++a) {
            const std::size_t j = kPlain ? a : columns[a];
            const Doubles low = load(boxes + j * kChildren + lane);
            const Doubles high = load(boxes + (d + j) * kChildren + lane);
            const double q = query[j];
            const Doubles outside = larger(larger(low - q, q - high), Doubles{});
            if (!kPlain && is_nominal(metric, j))
                accumulate<kKind>(sum, choose(outside > 0, splat(metric.mismatch[j]), Doubles{}));
            else
                accumulate<kKind>(sum, term<kKind, kChildren>(outside, metric.p));
        }
        store(bounds + lane, sum);
    }
}

template <MetricKind kKind>
void bounds_of_boxes(const Metric& metric, const double* boxes, std::size_t d, const double* query,
                     const ActiveColumns& columns, double* bounds) {
    if (metric.mismatch == nullptr && columns.index == nullptr)
        bounds_of_boxes<kKind, true>(metric, boxes, d, query, columns, bounds);
    else
        bounds_of_boxes<kKind, false>(metric, boxes, d, query, columns, bounds);
}

// Distances of numeric columns without missing values: all vectors of a tile at once.
template <MetricKind kKind, std::size_t kColumns = 0, typename Rows>
inline void sum_plain(const Metric& metric, const Rows& rows, const double* query, std::size_t d,
                      double* out) {
    if constexpr (kColumns > 0) d = kColumns;
    constexpr std::size_t kVectors = (Rows::kRows + kWidth - 1) / kWidth;
    Doubles sums[kVectors] = {};
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t v = 0; v < kVectors; ++v) {
            const Doubles x = rows.load(j, v * kWidth);
            accumulate<kKind>(sums[v], term<kKind, Rows::kRows>(x - query[j], metric.p));
        }
    for (std::size_t v = 0; v < kVectors; ++v) store(out + v * kWidth, sums[v]);
}

// Distances that are sums or maxima over the columns; with kMissing, NaN is a missing value.
template <MetricKind kKind, bool kMissing, typename Rows>
void sum_columns(const Metric& metric, const Rows& rows, const double* query,
                 const ActiveColumns& columns, double* out) {
    for (std::size_t lane = 0; lane < Rows::kRows; lane += kWidth) {
        Doubles sum{}, known{}, mismatches{};
        double total = 0;
        for (std::size_t a = 0; a < columns.count; ++a) {
            const std::size_t j = columns[a];
            const Doubles x = rows.load(j, lane);
            const double q = query[j];
            Doubles value = is_nominal(metric, j)
                                ? choose(x == q, Doubles{}, splat(metric.mismatch[j]))
                                : term<kKind, Rows::kRows>(x - q, metric.p);
            if constexpr (kMissing) {
                const double weight = metric.weights[j];
                const Words both = (x == x) & (splat(q) == splat(q));
                value = choose(both, value, Doubles{});
                known += choose(both, splat(weight), Doubles{});
                accumulate<kKind>(mismatches, choose(both, Doubles{}, splat(weight)));
                total += weight;
            }
            accumulate<kKind>(sum, value);
        }
        if constexpr (kMissing) {
            if (metric.missing == MissingRule::kPartial) {
                // A maximum has no share that could be missing.
                const Doubles whole = kKind == MetricKind::kChebyshev ? sum : sum * (total / known);
                sum = choose(known > 0, whole, splat(HUGE_VAL));
            } else {
                // Added last, as where a whole group of rows lacks the same columns.
                accumulate<kKind>(sum, mismatches);
            }
        }
        store(out + lane, sum);
    }
}

template <typename Rows>
void canberra(const Rows& rows, const double* query, const ActiveColumns& columns, double* out) {
    for (std::size_t lane = 0; lane < Rows::kRows; lane += kWidth) {
        Doubles sum{};
        for (std::size_t a = 0; a < columns.count; ++a) {
            const std::size_t j = columns[a];
            const Doubles x = rows.load(j, lane);
            const Doubles size = absolute(x) + std::fabs(query[j]);
            sum += choose(size > 0, absolute(x - query[j]) / size, Doubles{});
        }
        store(out + lane, sum);
    }
}

template <typename Rows>
void bray_curtis(const Rows& rows, const double* query, const ActiveColumns& columns, double* out) {
    for (std::size_t lane = 0; lane < Rows::kRows; lane += kWidth) {
        Doubles difference{}, size{};
        for (std::size_t a = 0; a < columns.count; ++a) {
            const std::size_t j = columns[a];
            const Doubles x = rows.load(j, lane);
            difference += absolute(x - query[j]);
            size += absolute(x) + std::fabs(query[j]);
        }
        store(out + lane, choose(size > 0, difference / size, Doubles{}));
    }
}

template <typename Rows>
void haversine(const Rows& rows, const double* query, double* out) {
    for (std::size_t r = 0; r < Rows::kRows; ++r) {
        const double latitude = rows.value(0, r), longitude = rows.value(1, r);
        const double a = std::sin(0.5 * (latitude - query[0]));
        const double b = std::sin(0.5 * (longitude - query[1]));
        const double square = a * a + std::cos(latitude) * std::cos(query[0]) * b * b;
        // By rounding, or with latitudes beyond the poles, it may be outside of [0, 1].
        const double below = square < 1 ? square : 1.0;
        out[r] = 2 * std::asin(std::sqrt(below > 0 ? below : 0.0));
    }
}

// Numbers of columns: where both rows are true, where only one is, and in all.
template <MetricKind kKind>
Doubles of_counts(const Doubles& both, const Doubles& only_x, const Doubles& only_q, double n) {
    const Doubles unequal = only_x + only_q;
    const auto ratio = [](const Doubles& a, const Doubles& b) {
        return choose(b > 0, a / b, Doubles{});
    };
    if constexpr (kKind == MetricKind::kHamming) return unequal / n;
    if constexpr (kKind == MetricKind::kJaccard) return ratio(unequal, both + unequal);
    if constexpr (kKind == MetricKind::kDice) return ratio(unequal, 2 * both + unequal);
    if constexpr (kKind == MetricKind::kRogersTanimoto) return 2 * unequal / (n + unequal);
    if constexpr (kKind == MetricKind::kRussellRao) return (n - both) / n;
    if constexpr (kKind == MetricKind::kSokalSneath) return ratio(unequal, unequal + 0.5 * both);
    const Doubles neither = n - both - unequal, crossed = only_x * only_q;
    return choose(crossed > 0, 2 * crossed / (both * neither + crossed), Doubles{});
}

template <MetricKind kKind, typename Rows>
void count_columns(const Rows& rows, const double* query, const ActiveColumns& columns,
                   double* out) {
    for (std::size_t lane = 0; lane < Rows::kRows; lane += kWidth) {
        Doubles both{}, only_x{}, only_q{};
        for (std::size_t a = 0; a < columns.count; ++a) {
            const std::size_t j = columns[a];
            const Doubles x = rows.load(j, lane);
            if constexpr (kKind == MetricKind::kHamming) {
                only_x += choose(x == query[j], Doubles{}, splat(1.0));
            } else {
                const Doubles is_true = choose(x == 0, Doubles{}, splat(1.0));
                const double q = query[j] == 0 ? 0.0 : 1.0;
                both += is_true * q;
                only_x += is_true * (1 - q);
                only_q += (1 - is_true) * q;
            }
        }
        store(out + lane, of_counts<kKind>(both, only_x, only_q, double(columns.count)));
    }
}

template <MetricKind kKind, typename Rows>
void coordinate_distances(const Metric& metric, const Rows& rows, const double* query,
                          const ActiveColumns& columns, double* out) {
    if (metric.missing != MissingRule::kNone)
        sum_columns<kKind, true>(metric, rows, query, columns, out);
    else if (metric.mismatch == nullptr && columns.index == nullptr)
        sum_plain<kKind>(metric, rows, query, columns.count, out);
    else
        sum_columns<kKind, false>(metric, rows, query, columns, out);
}

template <typename Rows>
void all_distances(const Metric& metric, const Rows& rows, const double* query,
                   const ActiveColumns& columns, double* out) {
    using enum MetricKind;
    switch (metric.kind) {
        case kEuclidean:
            return coordinate_distances<kEuclidean>(metric, rows, query, columns, out);
        case kManhattan:
            return coordinate_distances<kManhattan>(metric, rows, query, columns, out);
        case kChebyshev:
            return coordinate_distances<kChebyshev>(metric, rows, query, columns, out);
        case kMinkowski:
            return coordinate_distances<kMinkowski>(metric, rows, query, columns, out);
        case kCanberra:
            return canberra(rows, query, columns, out);
        case kBrayCurtis:
            return bray_curtis(rows, query, columns, out);
        case kHaversine:
            return haversine(rows, query, out);
        case kHamming:
            return count_columns<kHamming>(rows, query, columns, out);
        case kJaccard:
            return count_columns<kJaccard>(rows, query, columns, out);
        case kDice:
            return count_columns<kDice>(rows, query, columns, out);
        case kRogersTanimoto:
            return count_columns<kRogersTanimoto>(rows, query, columns, out);
        case kRussellRao:
            return count_columns<kRussellRao>(rows, query, columns, out);
        case kSokalSneath:
            return count_columns<kSokalSneath>(rows, query, columns, out);
        case kYule:
            return count_columns<kYule>(rows, query, columns, out);
    }
}

template <typename T>
double distances_of_tile(const Metric& metric, const T* tile, const double* query,
                         const ActiveColumns& columns, double* out) {
    all_distances(metric, Tile<T>{tile}, query, columns, out);
    Doubles nearest = load(out);
    for (std::size_t lane = kWidth; lane < kTileRows; lane += kWidth) {
        const Doubles other = load(out + lane);
        nearest = choose(other < nearest, other, nearest);
    }
    double smallest = nearest[0];
    for (std::size_t i = 1; i < kWidth; ++i)
        smallest = nearest[i] < smallest ? nearest[i] : smallest;
    return smallest;
}

template <typename T>
double distance_of_row(const Metric& metric, const T* row, const double* query,
                       const ActiveColumns& columns) {
    double out[kWidth];
    all_distances(metric, SingleRow<T>{row}, query, columns, out);
    return out[0];
}

void box_bounds(const Metric& metric, const double* boxes, std::size_t d, const double* query,
                const ActiveColumns& columns, double* bounds) {
    using enum MetricKind;
    switch (metric.kind) {
        case kManhattan:
            return bounds_of_boxes<kManhattan>(metric, boxes, d, query, columns, bounds);
        case kChebyshev:
            return bounds_of_boxes<kChebyshev>(metric, boxes, d, query, columns, bounds);
        case kMinkowski:
            return bounds_of_boxes<kMinkowski>(metric, boxes, d, query, columns, bounds);
        default:
            return bounds_of_boxes<kEuclidean>(metric, boxes, d, query, columns, bounds);
    }
}

// A query of a box tree, with a distance that is a sum or maximum over the columns.
template <MetricKind kKind, bool kPlain, std::size_t kNumber>
struct CoordinateQuery {
    static constexpr std::size_t kColumns = kNumber;

    const Metric& metric;
    const ActiveColumns& columns;
    const double* query;
    std::size_t d;

    [[gnu::always_inline]] void bounds(const double* boxes, double* out) const {
        bounds_of_boxes<kKind, kPlain, kColumns>(metric, boxes, d, query, columns, out);
    }

    template <typename T>
    [[gnu::always_inline]] void distances(const T* tile, double* out) const {
        if constexpr (kPlain)
            sum_plain<kKind, kColumns>(metric, Tile<T>{tile}, query, d, out);
        else
            sum_columns<kKind, false>(metric, Tile<T>{tile}, query, columns, out);
    }
};

template <typename Query, typename T>
std::size_t search_boxes(const BoxTreeView<T>& tree, const Metric& metric,
                         const ActiveColumns& columns, const double* query, double limit,
                         const TileVisitor& visitor) {
    return BoxSearch<Query, T>(tree, {metric, columns, query, tree.d}).run(limit, visitor);
}

template <typename Query, typename T>
std::size_t nearest_node(const BoxTreeView<T>& tree, const Metric& metric,
                         const ActiveColumns& columns, const double* query, std::size_t depth) {
    return BoxSearch<Query, T>(tree, {metric, columns, query, tree.d}).nearest_node(depth);
}

template <typename Query, typename T>
constexpr BoxTreeKernels<T> kKernelsOf{search_boxes<Query, T>, nearest_node<Query, T>};

template <MetricKind kKind, typename T>
BoxTreeKernels<T> kernels_of_kind(const Metric& metric, const ActiveColumns& columns) {
    if (metric.mismatch != nullptr || columns.index != nullptr)
        return kKernelsOf<CoordinateQuery<kKind, false, 0>, T>;
    // With a number of columns that the compiler knows, a search takes 3% (AVX-512) to 6% (AVX2)
    // less time; every number adds 25 kB of code for a kind.
    if constexpr (kKind == MetricKind::kEuclidean) {
        if (columns.count == 2) return kKernelsOf<CoordinateQuery<kKind, true, 2>, T>;
        if (columns.count == 3) return kKernelsOf<CoordinateQuery<kKind, true, 3>, T>;
        if (columns.count == 4) return kKernelsOf<CoordinateQuery<kKind, true, 4>, T>;
    }
    return kKernelsOf<CoordinateQuery<kKind, true, 0>, T>;
}

template <typename T>
BoxTreeKernels<T> box_tree_kernels(const Metric& metric, const ActiveColumns& columns) {
    using enum MetricKind;
    switch (metric.kind) {
        case kManhattan:
            return kernels_of_kind<kManhattan, T>(metric, columns);
        case kChebyshev:
            return kernels_of_kind<kChebyshev, T>(metric, columns);
        case kMinkowski:
            return kernels_of_kind<kMinkowski, T>(metric, columns);
        default:
            return kernels_of_kind<kEuclidean, T>(metric, columns);
    }
}

}  // namespace

extern const NeighborKernels CEIBA_NEIGHBOR_NAME(CEIBA_ISA);
const NeighborKernels CEIBA_NEIGHBOR_NAME(CEIBA_ISA){box_bounds,
                                                     distances_of_tile<double>,
                                                     distances_of_tile<float>,
                                                     distance_of_row<double>,
                                                     distance_of_row<float>,
                                                     box_tree_kernels<double>,
                                                     box_tree_kernels<float>,
                                                     insert_rows,
                                                     CEIBA_PRODUCT_NAME(CEIBA_ISA)};

}  // namespace ceiba
