// Distances of rows to centers and the two nearest centers.
// Part of kmeans_kernels.cpp, which is compiled once for each instruction set: everything is local.
#pragma once

#include "simd/kmeans_kernels.hpp"
#include "simd/lanes.hpp"

namespace ceiba {
namespace {

template <typename T>
struct BestTwo {
    using Vector = typename Lanes<T>::Vector;
    using Index = typename Lanes<T>::Index;
    Vector best[kVectors], second[kVectors];
    Index index[kVectors];

    BestTwo() {
        for (std::size_t v = 0; v < kVectors; ++v) {
            best[v] = second[v] = splat(T(-__builtin_inf()));
            index[v] = Index{};
        }
    }

    inline void offer(std::size_t v, const Vector& score, long long center) {
        const Index better = score > best[v];
        const Vector other = better ? best[v] : score;
        second[v] = other > second[v] ? other : second[v];
        best[v] = better ? score : best[v];
        const Index candidate = Index{} + static_cast<decltype(Index{}[0] + 0)>(center);
        index[v] = better ? candidate : index[v];
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
            const typename Lanes<T>::Vector center = splat(block[j * kBlock + c]);
            for (std::size_t v = 0; v < kVectors; ++v) acc[c][v] += x[v] * center;
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

// Turn scores into bounds: |x - c|^2 = |x|^2 - 2 (x.c - |c|^2/2), each widened by its rounding
// error. Bounds are floats for every T: they only have to be valid, and roots and memory are
// cheaper.
template <typename T>
inline void compute_bounds(const Panels<T>& panels, const T* squared, const T* best,
                           const T* second, const NearestTwo<T>& out) {
    const T fixed = panels.max_norm * panels.max_norm;
    for (std::size_t r = 0; r < kTile<T>; ++r) {
        // |x
        // c| + |c|^2 <= |x|^2/2 + 3|c|^2/2: no square root is needed.
        const T error = panels.score_error * (T(0.5) * squared[r] + T(1.5) * fixed);
        const T widened = 2 * error + panels.norm_error * squared[r];
        const T nearest = squared[r] - 2 * best[r], next = squared[r] - 2 * second[r] - widened;
        out.lead[r] = best[r] - second[r] - 2 * error;
        out.upper[r] = __builtin_sqrtf(float((nearest > 0 ? nearest : 0) + widened)) * kOver;
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
        const auto labels = __builtin_convertvector(two.index[v], typename Lanes<T>::Label);
        __builtin_memcpy(out.label + v * kLanes<T>, &labels, sizeof labels);
    }
    compute_bounds(panels, squared, best, second, out);
}

template <typename T>
void nearest_two(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                 const T* offset, const Panels<T>& panels, T* work, const NearestTwo<T>& out) {
    for (std::size_t first = 0; first < count; first += kTile<T>) {
        const std::size_t n_rows = count - first < kTile<T> ? count - first : kTile<T>;
        pack_tile(d, n_rows, offset, work,
                  [&](std::size_t r) { return X + std::size_t(rows[first + r]) * d; });
        nearest_tile(d, work, panels,
                     {out.label + first, out.lead + first, out.upper + first, out.lower + first});
    }
}

template <bool kMissing, typename T>
inline T squared_distance(std::size_t d, const T* x, const T* offset, const T* c) {
    typename Lanes<T>::Vector sum{};
    std::size_t j = 0;
    for (; j + kLanes<T> <= d; j += kLanes<T>) {
        auto difference = load(x + j) - load(offset + j) - load(c + j);
        if constexpr (kMissing) difference = difference == difference ? difference : sum * 0;
        sum += difference * difference;
    }
    T total = 0;
    for (; j < d; ++j) {
        const T difference = x[j] - offset[j] - c[j];
        if (!kMissing || difference == difference) total += difference * difference;
    }
    for (std::size_t lane = 0; lane < kLanes<T>; ++lane) total += sum[lane];
    return total;
}

template <bool kMissing, typename T>
void squared_to_own(const T* X, std::size_t d, const std::uint32_t* rows, std::size_t count,
                    const T* offset, const T* centers, const std::int32_t* labels, T* out) {
    for (std::size_t i = 0; i < count; ++i) {
        // Listed rows are not contiguous, so the hardware prefetcher does not predict them.
        if (i + kAhead < count) __builtin_prefetch(X + std::size_t(rows[i + kAhead]) * d);
        out[i] = squared_distance<kMissing>(d, X + std::size_t(rows[i]) * d, offset,
                                            centers + std::size_t(labels[rows[i]]) * d);
    }
}

template <bool kMissing, typename T>
void squared_to_points(const T* X, std::size_t d, std::size_t first, std::size_t count,
                       const T* offset, const T* points, std::size_t m, T* work, T* out) {
    pack_tile(d, count, offset, work, [&](std::size_t r) { return X + (first + r) * d; });
    for (std::size_t p = 0; p < m; ++p) {
        typename Lanes<T>::Vector sum[kVectors] = {};
        for (std::size_t j = 0; j < d; ++j) {
            const auto point = splat(points[p * d + j]);
            for (std::size_t v = 0; v < kVectors; ++v) {
                auto difference = load(work + j * kTile<T> + v * kLanes<T>) - point;
                if constexpr (kMissing)
                    difference = difference == difference ? difference : sum[v] * 0;
                sum[v] += difference * difference;
            }
        }
        for (std::size_t v = 0; v < kVectors; ++v)
            store(out + p * kTile<T> + v * kLanes<T>, sum[v]);
    }
}

}  // namespace
}  // namespace ceiba
