// Implementation of the tree kernels, compiled once for each instruction set; as in
// kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/tree_kernels.hpp"

#define CEIBA_TREE_NAME(isa) CEIBA_TREE_NAME_(isa)
#define CEIBA_TREE_NAME_(isa) tree_kernels_##isa

namespace ceiba {
namespace {

void gini(const double* __restrict rows, const double* __restrict left,
          const double* __restrict right, double total, std::size_t m, double* __restrict score) {
    for (std::size_t i = 0; i < m; ++i) score[i] = left[i] / rows[i] + right[i] / (total - rows[i]);
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

// A branch-free binary search for many values at once, so that their chains of loads overlap.
template <typename T>
void bins(const T* __restrict values, std::size_t m, const T* __restrict edges, std::size_t padded,
          std::uint32_t* __restrict bin) {
    constexpr std::size_t kValuesPerStep = 32;
    std::size_t first = 0;
    for (; first + kValuesPerStep <= m; first += kValuesPerStep) {
        std::uint32_t position[kValuesPerStep];
        for (std::size_t r = 0; r < kValuesPerStep; ++r) position[r] = 0;
        for (std::uint32_t half = std::uint32_t(padded / 2); half > 0; half /= 2)
            for (std::size_t r = 0; r < kValuesPerStep; ++r)
                position[r] += edges[position[r] + half - 1] < values[first + r] ? half : 0;
        for (std::size_t r = 0; r < kValuesPerStep; ++r) bin[first + r] = position[r];
    }
    for (; first < m; ++first) {
        std::uint32_t position = 0;
        for (std::uint32_t half = std::uint32_t(padded / 2); half > 0; half /= 2)
            position += edges[position + half - 1] < values[first] ? half : 0;
        bin[first] = position;
    }
}

}  // namespace

extern const TreeKernels CEIBA_TREE_NAME(CEIBA_ISA);
const TreeKernels CEIBA_TREE_NAME(CEIBA_ISA){gini, squared, largest, bins<double>, bins<float>};

}  // namespace ceiba
