// Sums over rows: by centre, exactly, and of powers; and the bounds that rows keep.
// Part of kernels.cpp, which is compiled once for each instruction set: everything is local to it.
#pragma once

#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

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

}  // namespace
}  // namespace ceiba
