// Implementation of the k-means kernels, compiled once for each instruction set (CMakeLists.txt).
//
// Nothing row_missing or in the headers that only this unit includes may instantiate a template of
// the standard library: the linker could then choose this unit's copy, with instructions that the
// processor at hand lacks, for the whole program.
#include "simd/kmeans_kernels.hpp"

#include "common/random.hpp"
#include "simd/nearest_centers.hpp"

#define CEIBA_TABLE_NAME(isa, type) CEIBA_TABLE_NAME_(isa, type)
#define CEIBA_TABLE_NAME_(isa, type) kmeans_kernels_##isa##_##type

namespace ceiba {
namespace {

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

// Keep the compiler from fusing a rounded value into the sum that follows: the rounding error of
// that sum is computed relative to the rounded value.
template <typename V>
inline void prevent_fusion(V& value) {
#if defined(__x86_64__)
    __asm__("" : "+v"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#else
    __asm__("" : "+m"(value));
#endif
}

// sum += value; the rounding error is added to `compensation` (Knuth's TwoSum).
template <typename V>
inline void add_compensated(V& sum, V& compensation, V value) {
    const V total = sum + value, part = total - sum;
    compensation += (sum - (total - part)) + (value - part);
    sum = total;
}

template <typename T>
void add_row_compensated(const T* x, std::size_t d, double weight, const double* offset,
                         double* sums, double* compensation) {
    using Vector = Lanes<double>::Vector;
    typedef T Part __attribute__((vector_size(kLanes<double> * sizeof(T))));
    std::size_t j = 0;
    for (; j + kLanes<double> <= d; j += kLanes<double>) {
        Part part;
        __builtin_memcpy(&part, x + j, sizeof part);
        Vector value = weight * (__builtin_convertvector(part, Vector) - load(offset + j));
        prevent_fusion(value);
        Vector sum = load(sums + j), errors = load(compensation + j);
        add_compensated(sum, errors, value);
        store(sums + j, sum);
        store(compensation + j, errors);
    }
    for (; j < d; ++j) {
        double value = weight * (double(x[j]) - offset[j]);
        prevent_fusion(value);
        add_compensated(sums[j], compensation[j], value);
    }
    add_compensated(sums[d], compensation[d], weight);
}

void loosen_bounds(std::size_t count, const std::int32_t* labels, const CenterMovement& moves,
                   float* __restrict upper, float* __restrict lower,
                   std::int32_t* __restrict open) {
    constexpr float kWider = 1 + 0x1p-22f, kNarrower = 1 - 0x1p-22f;
    const float *own = moves.own, *other = moves.other, *half_separation = moves.half_separation;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t label = labels[i];
        const float above = (upper[i] + own[label]) * kWider;
        const float shrunk = (lower[i] - other[label]) * kNarrower;
        const float below = shrunk > 0 ? shrunk : 0;
        const float safe = below > half_separation[label] ? below : half_separation[label];
        upper[i] = above;
        lower[i] = below;
        open[i] = above < safe ? 0 : 1;
    }
}

// Branch-free, so that columns become lanes; a missing value adds nothing.
template <typename T>
std::size_t add_moments(const T* X, std::size_t d, std::size_t count, const double* weight,
                        const double* pivot, const MomentSums& sums) {
    std::size_t missing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const T* __restrict x = X + i * d;
        const double w = weight ? weight[i] : 1.0;
        long long row_missing = 0;
#pragma GCC ivdep
        for (std::size_t j = 0; j < d; ++j) {
            const double value = x[j];
            const bool observed = value == value;
            const double from_pivot = observed ? value - pivot[j] : 0.0;
            row_missing += observed ? 0 : 1;
            sums.weight[j] += observed ? w : 0.0;
            sums.sum[j] += w * from_pivot;
            sums.squares[j] += w * from_pivot * from_pivot;
            sums.min[j] = value < sums.min[j] ? value : sums.min[j];
            sums.max[j] = value > sums.max[j] ? value : sums.max[j];
        }
        missing += std::size_t(row_missing);
    }
    return missing;
}

// Lane by lane, so that a whole tile is one pass of vectors; padded lanes have weight zero.
template <typename T>
bool sampling_rates(const T* nearest, const T* distances, const double* weights,
                    const double* draws, double max_key, double* rates, double* totals) {
    unsigned long long possible = 0;
#pragma GCC ivdep
    for (std::size_t r = 0; r < kTile<T>; ++r) {
        const T squared = nearest[r] < distances[r] ? nearest[r] : distances[r];
        const double rate = weights[r] * double(squared);
        rates[r] = rate;
        totals[r] += rate;
        possible |= 1 - draws[r] <= max_key * rate ? 1ULL : 0ULL;
    }
    return possible != 0;
}

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t count,
              double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = uniform(seed, stream, first + i);
}

template <typename T>
constexpr KMeansKernels<T> kTable{kTile<T>,
                                  kBlock,
                                  nearest_two<T>,
                                  squared_to_own<false, T>,
                                  squared_to_own<true, T>,
                                  squared_to_points<false, T>,
                                  squared_to_points<true, T>,
                                  add_rows<T>,
                                  add_moments<T>,
                                  sampling_rates<T>,
                                  add_row_compensated<T>,
                                  loosen_bounds,
                                  uniforms};

}  // namespace

extern const KMeansKernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double);
extern const KMeansKernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float);
const KMeansKernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double) = kTable<double>;
const KMeansKernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float) = kTable<float>;

}  // namespace ceiba
