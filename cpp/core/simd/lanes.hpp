// SIMD vectors of one instruction set, and tiles of rows transposed into lanes.
// Included only by units that are compiled once for each instruction set, so everything is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

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

// Two vectors of rows times a block of centers: 16 accumulators fill half of AVX-512's registers
// and hide the latency of its two multiply-add units; AVX2 and NEON have room for 8.
constexpr std::size_t kVectors = 2;
constexpr std::size_t kBlock = CEIBA_VECTOR_BYTES == 64 ? 8 : 4;

// Rows to prefetch ahead.
constexpr std::size_t kAhead = 6;

// Absorb the rounding to float on the way to a bound.
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

template <typename T, std::size_t kStride, std::size_t... kLane>
inline void swap_halves(typename Lanes<T>::Vector& a, typename Lanes<T>::Vector& b,
                        std::index_sequence<kLane...>) {
    constexpr std::size_t n = kLanes<T>;
    const auto low =
        __builtin_shufflevector(a, b, ((kLane & kStride) ? n + kLane - kStride : kLane)...);
    b = __builtin_shufflevector(a, b, ((kLane & kStride) ? n + kLane : kLane + kStride)...);
    a = low;
}

// Transpose a square tile in log2(lanes) rounds that swap halves, quarters, ...
template <typename T, std::size_t kStride = kLanes<T> / 2>
inline void transpose(typename Lanes<T>::Vector (&v)[kLanes<T>]) {
    if constexpr (kStride > 0) {
        for (std::size_t i = 0; i < kLanes<T>; ++i)
            if ((i & kStride) == 0)
                swap_halves<T, kStride>(v[i], v[i + kStride],
                                        std::make_index_sequence<kLanes<T>>());
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

// Transpose rows into lanes: work[column][lane] = row[column] - offset[column]; unused lanes are
// zero. Whole squares go through registers, because scalar stores would stall the vector loads that
// follow them. The last square overlaps the one before it.
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

}  // namespace
}  // namespace ceiba
