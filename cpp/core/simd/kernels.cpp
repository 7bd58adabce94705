// Compiled once for each instruction set: see CMakeLists.txt. Nothing here may instantiate a
// template of the standard library: the linker could then pick this unit's copy, with
// instructions that the processor at hand does not have, for everybody.
#include "simd/kernels.hpp"

#include "random.hpp"

#define CEIBA_TABLE_NAME(isa, type) CEIBA_TABLE_NAME_(isa, type)
#define CEIBA_TABLE_NAME_(isa, type) kernels_##isa##_##type

namespace ceiba {
namespace {

template <typename T>
struct Lanes;
template <>
struct Lanes<double> {
    typedef double Vector __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
    typedef long long Index __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
    typedef int Label __attribute__((vector_size(CEIBA_VECTOR_BYTES / 2)));
};
template <>
struct Lanes<float> {
    typedef float Vector __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
    typedef int Index __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
    typedef int Label __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
};

// Two vectors of rows against a block of centres: 16 accumulators fill AVX-512's registers half
// and hide the latency of its two multiply-add units; AVX2 and NEON have room for 8.
constexpr std::size_t kVectors = 2;
constexpr std::size_t kBlock = CEIBA_VECTOR_BYTES == 64 ? 8 : 4;

// How many rows ahead to fetch.
constexpr std::size_t kAhead = 6;

// Room for the roundings to float on the way to a bound.
constexpr float kOver = 1 + 0x1p-21f, kUnder = 1 - 0x1p-21f;

template <typename T>
constexpr std::size_t kLanes = CEIBA_VECTOR_BYTES / sizeof(T);
template <typename T>
constexpr std::size_t kTile = kVectors * kLanes<T>;

template <typename T>
inline typename Lanes<T>::Vector load(const T* from) {
    typename Lanes<T>::Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

template <typename T>
inline void store(T* to, const typename Lanes<T>::Vector& v) {
    __builtin_memcpy(to, &v, sizeof v);
}

template <typename T>
inline typename Lanes<T>::Vector splat(T x) {
    return x - typename Lanes<T>::Vector{};
}

// The vectors of a square tile, rows to columns: log2(lanes) rounds that swap halves, quarters, ...
template <typename T, std::size_t kStride = kLanes<T> / 2>
inline void transpose(typename Lanes<T>::Vector (&v)[kLanes<T>]) {
    if constexpr (kStride > 0) {
        typename Lanes<T>::Index low, high;
        for (std::size_t l = 0; l < kLanes<T>; ++l) {
            low[l] = (l & kStride) == 0 ? l : kLanes<T> + l - kStride;
            high[l] = (l & kStride) == 0 ? l + kStride : kLanes<T> + l;
        }
        for (std::size_t i = 0; i < kLanes<T>; ++i)
            if ((i & kStride) == 0) {
                const auto a = v[i], b = v[i + kStride];
                v[i] = __builtin_shuffle(a, b, low);
                v[i + kStride] = __builtin_shuffle(a, b, high);
            }
        transpose<T, kStride / 2>(v);
    }
}

template <typename T, typename RowOf>
inline void pack_scalars(std::size_t d, std::size_t from, std::size_t count, const T* offset,
                         T* work, RowOf row_of) {
    for (std::size_t r = from; r < count; ++r) {
        const T* x = row_of(r);
        for (std::size_t j = 0; j < d; ++j) work[j * kTile<T> + r] = x[j] - offset[j];
    }
}

// Rows become lanes: work[column][lane] = row[column] - offset[column]; missing lanes are zero.
// Whole squares go through registers: scalar stores would stall the vector loads that follow them
// (29 against 21 ns a row at d = 16). The last square overlaps the one before it.
template <typename T, typename RowOf>
inline void pack_tile(std::size_t d, std::size_t count, const T* offset, T* work, RowOf row_of) {
    constexpr std::size_t kSide = kLanes<T>;
    const std::size_t whole = d < kSide ? 0 : count / kSide * kSide;
    for (std::size_t r = 0; r < whole; r += kSide)
        for (std::size_t next = 0; next < d; next += kSide) {
            const std::size_t j = next + kSide <= d ? next : d - kSide;
            typename Lanes<T>::Vector v[kSide];
            for (std::size_t i = 0; i < kSide; ++i)
                v[i] = load(row_of(r + i) + j) - load(offset + j);
            transpose<T>(v);
            for (std::size_t i = 0; i < kSide; ++i) store(work + (j + i) * kTile<T> + r, v[i]);
        }
    pack_scalars(d, whole, count, offset, work, row_of);
    for (std::size_t r = count; r < kTile<T>; ++r)
        for (std::size_t j = 0; j < d; ++j) work[j * kTile<T> + r] = 0;
}

template <typename T>
struct BestTwo {
    using Vector = typename Lanes<T>::Vector;
    using Index = typename Lanes<T>::Index;
    Vector best[kVectors], second[kVectors];
    Index place[kVectors];

    BestTwo() {
        for (std::size_t v = 0; v < kVectors; ++v) {
            best[v] = second[v] = splat(T(-__builtin_inf()));
            place[v] = Index{};
        }
    }

    inline void offer(std::size_t v, const Vector& score, long long centre) {
        const Index better = score > best[v];
        const Vector loser = better ? best[v] : score;
        second[v] = loser > second[v] ? loser : second[v];
        best[v] = better ? score : best[v];
        const Index here = Index{} + static_cast<decltype(Index{}[0] + 0)>(centre);
        place[v] = better ? here : place[v];
    }
};

template <typename T>
inline void score_block(std::size_t d, const T* work, const T* block, const T* bias,
                        typename Lanes<T>::Vector (&acc)[kBlock][kVectors]) {
    for (std::size_t c = 0; c < kBlock; ++c)
        for (std::size_t v = 0; v < kVectors; ++v) acc[c][v] = splat(bias[c]);
    for (std::size_t j = 0; j < d; ++j) {
        typename Lanes<T>::Vector x[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) x[v] = load(work + j * kTile<T> + v * kLanes<T>);
        for (std::size_t c = 0; c < kBlock; ++c) {
            const typename Lanes<T>::Vector centre = splat(block[j * kBlock + c]);
            for (std::size_t v = 0; v < kVectors; ++v) acc[c][v] += x[v] * centre;
        }
    }
}

template <typename T>
inline void squared_norms(std::size_t d, const T* work,
                          typename Lanes<T>::Vector (&out)[kVectors]) {
    for (std::size_t v = 0; v < kVectors; ++v) out[v] = typename Lanes<T>::Vector{};
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t v = 0; v < kVectors; ++v) {
            const auto x = load(work + j * kTile<T> + v * kLanes<T>);
            out[v] += x * x;
        }
}

// From scores to bounds: |x - c|^2 = |x|^2 - 2 (x.c - |c|^2/2), each widened by its rounding error.
// Bounds are floats for every T: they only have to be safe, and their roots cost a third (a double
// root takes 24 cycles a vector, which made up a tenth of the whole scan at d = 16, k = 32).
template <typename T>
inline void judge(const Panels<T>& panels, const T* squared, const T* best, const T* second,
                  const NearestTwo<T>& out) {
    const T fixed = panels.longest * panels.longest;
    for (std::size_t r = 0; r < kTile<T>; ++r) {
        // |x||c| + |c|^2 <= |x|^2/2 + 3|c|^2/2: no root needed.
        const T error = panels.score_error * (T(0.5) * squared[r] + T(1.5) * fixed);
        const T widened = 2 * error + panels.norm_error * squared[r];
        const T least = squared[r] - 2 * best[r], next = squared[r] - 2 * second[r] - widened;
        out.lead[r] = best[r] - second[r] - 2 * error;
        out.upper[r] = __builtin_sqrtf(float((least > 0 ? least : 0) + widened)) * kOver;
        out.lower[r] = __builtin_sqrtf(float(next > 0 ? next : 0)) * kUnder;
    }
}

template <typename T>
inline void nearest_tile(std::size_t d, const T* work, const Panels<T>& panels,
                         const NearestTwo<T>& out) {
    using Vector = typename Lanes<T>::Vector;
    BestTwo<T> two;
    for (std::size_t b = 0; b < panels.blocks; ++b) {
        Vector acc[kBlock][kVectors];
        score_block(d, work, panels.coordinates + b * d * kBlock, panels.bias + b * kBlock, acc);
        for (std::size_t c = 0; c < kBlock; ++c)
            for (std::size_t v = 0; v < kVectors; ++v)
                two.offer(v, acc[c][v], static_cast<long long>(b * kBlock + c));
    }
    Vector norms[kVectors];
    squared_norms(d, work, norms);
    T squared[kTile<T>], best[kTile<T>], second[kTile<T>];
    for (std::size_t v = 0; v < kVectors; ++v) {
        store(squared + v * kLanes<T>, norms[v]);
        store(best + v * kLanes<T>, two.best[v]);
        store(second + v * kLanes<T>, two.second[v]);
        const auto labels = __builtin_convertvector(two.place[v], typename Lanes<T>::Label);
        __builtin_memcpy(out.label + v * kLanes<T>, &labels, sizeof labels);
    }
    judge(panels, squared, best, second, out);
}

template <typename T>
void nearest_two(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                 const T* offset, const Panels<T>& panels, T* work, const NearestTwo<T>& out) {
    for (std::size_t first = 0; first < count; first += kTile<T>) {
        const std::size_t here = count - first < kTile<T> ? count - first : kTile<T>;
        pack_tile(d, here, offset, work,
                  [&](std::size_t r) { return X + std::size_t(rows[first + r]) * d; });
        nearest_tile(d, work, panels,
                     {out.label + first, out.lead + first, out.upper + first, out.lower + first});
    }
}

template <bool kGaps, typename T>
inline T squared_distance(std::size_t d, const T* x, const T* offset, const T* c) {
    typename Lanes<T>::Vector sum{};
    std::size_t j = 0;
    for (; j + kLanes<T> <= d; j += kLanes<T>) {
        auto difference = load(x + j) - load(offset + j) - load(c + j);
        if constexpr (kGaps) difference = difference == difference ? difference : sum * 0;
        sum += difference * difference;
    }
    T total = 0;
    for (; j < d; ++j) {
        const T difference = x[j] - offset[j] - c[j];
        if (!kGaps || difference == difference) total += difference * difference;
    }
    for (std::size_t lane = 0; lane < kLanes<T>; ++lane) total += sum[lane];
    return total;
}

template <bool kGaps, typename T>
void squared_to_own(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                    const T* offset, const T* centres, const std::int32_t* labels, T* out) {
    for (std::size_t i = 0; i < count; ++i) {
        // Listed rows skip about: the processor does not foresee them by itself.
        if (i + kAhead < count) __builtin_prefetch(X + std::size_t(rows[i + kAhead]) * d);
        out[i] = squared_distance<kGaps>(d, X + std::size_t(rows[i]) * d, offset,
                                         centres + std::size_t(labels[rows[i]]) * d);
    }
}

template <bool kGaps, typename T>
void squared_to_points(const T* X, std::size_t d, std::size_t first, std::size_t count,
                       const T* offset, const T* points, std::size_t m, T* work, T* out) {
    pack_tile(d, count, offset, work, [&](std::size_t r) { return X + (first + r) * d; });
    for (std::size_t p = 0; p < m; ++p) {
        typename Lanes<T>::Vector sum[kVectors] = {};
        for (std::size_t j = 0; j < d; ++j) {
            const auto point = splat(points[p * d + j]);
            for (std::size_t v = 0; v < kVectors; ++v) {
                auto difference = load(work + j * kTile<T> + v * kLanes<T>) - point;
                if constexpr (kGaps)
                    difference = difference == difference ? difference : sum[v] * 0;
                sum[v] += difference * difference;
            }
        }
        for (std::size_t v = 0; v < kVectors; ++v)
            store(out + p * kTile<T> + v * kLanes<T>, sum[v]);
    }
}

template <typename T>
void add_rows(const T* X, std::size_t d, std::size_t count, const double* weight,
              const double* offset, const std::int32_t* labels, double* sums) {
    for (std::size_t i = 0; i < count; ++i) {
        const T* __restrict x = X + i * d;
        double* __restrict sum = sums + std::size_t(labels[i]) * (d + 2);
        const double w = weight ? weight[i] : 1.0;
        for (std::size_t j = 0; j < d; ++j) sum[j] += w * (double(x[j]) - offset[j]);
        sum[d] += w;
        sum[d + 1] += 1;
    }
}

// Keeps a rounded value from being fused into the sum that follows: the error of that sum is taken
// against the rounded value.
template <typename V>
inline void settled(V& value) {
#if defined(__x86_64__)
    __asm__("" : "+v"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#else
    __asm__("" : "+m"(value));
#endif
}

// sum += value, and what rounding took away goes to lost (Knuth's TwoSum).
template <typename V>
inline void add_exactly(V& sum, V& lost, V value) {
    const V total = sum + value, part = total - sum;
    lost += (sum - (total - part)) + (value - part);
    sum = total;
}

template <typename T>
void add_row_exactly(const T* x, std::size_t d, double weight, const double* offset, double* sums,
                     double* lost) {
    using Vector = Lanes<double>::Vector;
    typedef T Part __attribute__((vector_size(kLanes<double> * sizeof(T))));
    std::size_t j = 0;
    for (; j + kLanes<double> <= d; j += kLanes<double>) {
        Part part;
        __builtin_memcpy(&part, x + j, sizeof part);
        Vector value = weight * (__builtin_convertvector(part, Vector) - load(offset + j));
        settled(value);
        Vector sum = load(sums + j), less = load(lost + j);
        add_exactly(sum, less, value);
        store(sums + j, sum);
        store(lost + j, less);
    }
    for (; j < d; ++j) {
        double value = weight * (double(x[j]) - offset[j]);
        settled(value);
        add_exactly(sums[j], lost[j], value);
    }
    add_exactly(sums[d], lost[d], weight);
}

void loosen(std::size_t count, const std::int32_t* labels, const BoundMoves& moves,
            float* __restrict upper, float* __restrict lower, std::int32_t* __restrict open) {
    constexpr float kWider = 1 + 0x1p-22f, kNarrower = 1 - 0x1p-22f;
    const float *own = moves.own, *other = moves.other, *half_gap = moves.half_gap;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t label = labels[i];
        const float above = (upper[i] + own[label]) * kWider;
        const float less = (lower[i] - other[label]) * kNarrower;
        const float below = less > 0 ? less : 0;
        const float safe = below > half_gap[label] ? below : half_gap[label];
        upper[i] = above;
        lower[i] = below;
        open[i] = above < safe ? 0 : 1;
    }
}

// Without branches, so that columns become lanes; a missing value adds nothing.
template <typename T>
std::size_t add_moments(const T* X, std::size_t d, std::size_t count, const double* weight,
                        const double* pivot, const MomentSums& sums) {
    std::size_t missing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const T* __restrict x = X + i * d;
        const double w = weight ? weight[i] : 1.0;
        long long here = 0;
#pragma GCC ivdep
        for (std::size_t j = 0; j < d; ++j) {
            const double value = x[j];
            const bool observed = value == value;
            const double from_pivot = observed ? value - pivot[j] : 0.0;
            here += observed ? 0 : 1;
            sums.weight[j] += observed ? w : 0.0;
            sums.sum[j] += w * from_pivot;
            sums.squares[j] += w * from_pivot * from_pivot;
            sums.least[j] = value < sums.least[j] ? value : sums.least[j];
            sums.most[j] = value > sums.most[j] ? value : sums.most[j];
        }
        missing += std::size_t(here);
    }
    return missing;
}

// Lane by lane, so that a whole tile is one pass of vectors; padded lanes have weight zero.
template <typename T>
bool race_rates(const T* nearest, const T* distances, const double* weights, const double* draws,
                double limit, double* rates, double* totals) {
    unsigned long long contenders = 0;
#pragma GCC ivdep
    for (std::size_t r = 0; r < kTile<T>; ++r) {
        const T squared = nearest[r] < distances[r] ? nearest[r] : distances[r];
        const double rate = weights[r] * double(squared);
        rates[r] = rate;
        totals[r] += rate;
        contenders |= 1 - draws[r] <= limit * rate ? 1ULL : 0ULL;
    }
    return contenders != 0;
}

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t count,
              double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = uniform(seed, stream, first + i);
}

template <typename T>
constexpr Kernels<T> kTable{kTile<T>,
                            kBlock,
                            nearest_two<T>,
                            squared_to_own<false, T>,
                            squared_to_own<true, T>,
                            squared_to_points<false, T>,
                            squared_to_points<true, T>,
                            add_rows<T>,
                            add_moments<T>,
                            race_rates<T>,
                            add_row_exactly<T>,
                            loosen,
                            uniforms};

}  // namespace

extern const Kernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double);
extern const Kernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float);
const Kernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double) = kTable<double>;
const Kernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float) = kTable<float>;

}  // namespace ceiba
