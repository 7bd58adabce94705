// Compiled once for each instruction set, under the rule of kernels.cpp: no templates of the
// standard library.
#include "simd/tree_kernels.hpp"

#define CEIBA_TREE_NAME(isa) CEIBA_TREE_NAME_(isa)
#define CEIBA_TREE_NAME_(isa) tree_kernels_##isa

namespace ceiba {
namespace {

void gini_two(const double* __restrict a, const double* __restrict b, double all_a, double all_b,
              std::size_t m, double* __restrict score) {
    for (std::size_t i = 0; i < m; ++i) {
        const double c = all_a - a[i], d = all_b - b[i];
        score[i] = (a[i] * a[i] + b[i] * b[i]) / (a[i] + b[i]) + (c * c + d * d) / (c + d);
    }
}

void gini(const double* left, std::size_t stride, std::size_t classes, const double* total,
          std::size_t m, double* __restrict score) {
    if (classes == 2) return gini_two(left, left + stride, total[0], total[1], m, score);
    constexpr std::size_t kTogether = 64;
    double squares[2][kTogether], weights[2][kTogether];
    for (std::size_t first = 0; first < m; first += kTogether) {
        const std::size_t n = m - first < kTogether ? m - first : kTogether;
        for (std::size_t i = 0; i < n; ++i)
            squares[0][i] = squares[1][i] = weights[0][i] = weights[1][i] = 0;
        for (std::size_t k = 0; k < classes; ++k) {
            const double* own = left + k * stride + first;
            for (std::size_t i = 0; i < n; ++i) {
                const double a = own[i], b = total[k] - a;
                squares[0][i] += a * a;
                squares[1][i] += b * b;
                weights[0][i] += a;
                weights[1][i] += b;
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            score[first + i] = squares[0][i] / weights[0][i] + squares[1][i] / weights[1][i];
    }
}

void squared(const double* __restrict weight, const double* __restrict left,
             const double* __restrict right, double total, std::size_t m,
             double* __restrict score) {
    for (std::size_t i = 0; i < m; ++i)
        score[i] = left[i] / weight[i] * left[i] + right[i] / (total - weight[i]) * right[i];
}

double largest(const double* score, std::size_t m) {
    constexpr std::size_t kLanes = 16;
    double lane[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] = score[0];
    std::size_t i = 0;
    for (; i + kLanes <= m; i += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l)
            lane[l] = lane[l] < score[i + l] ? score[i + l] : lane[l];
    double best = lane[0];
    for (std::size_t l = 1; l < kLanes; ++l) best = best < lane[l] ? lane[l] : best;
    for (; i < m; ++i) best = best < score[i] ? score[i] : best;
    return best;
}

// A search without branches, for many values at once: their chains of loads run side by side.
template <typename T>
void bins(const T* __restrict values, std::size_t m, const T* __restrict edges, std::size_t padded,
          std::uint32_t* __restrict bin) {
    constexpr std::size_t kTogether = 32;
    std::size_t first = 0;
    for (; first + kTogether <= m; first += kTogether) {
        std::uint32_t at[kTogether];
        for (std::size_t r = 0; r < kTogether; ++r) at[r] = 0;
        for (std::uint32_t half = std::uint32_t(padded / 2); half > 0; half /= 2)
            for (std::size_t r = 0; r < kTogether; ++r)
                at[r] += edges[at[r] + half - 1] < values[first + r] ? half : 0;
        for (std::size_t r = 0; r < kTogether; ++r) bin[first + r] = at[r];
    }
    for (; first < m; ++first) {
        std::uint32_t at = 0;
        for (std::uint32_t half = std::uint32_t(padded / 2); half > 0; half /= 2)
            at += edges[at + half - 1] < values[first] ? half : 0;
        bin[first] = at;
    }
}

}  // namespace

extern const TreeKernels CEIBA_TREE_NAME(CEIBA_ISA);
const TreeKernels CEIBA_TREE_NAME(CEIBA_ISA){gini, squared, largest, bins<double>, bins<float>};

}  // namespace ceiba
