// Choice of the instruction set at run time, made once.
#include <cstdlib>
#include <cstring>

#include "simd/bayes_kernels.hpp"
#include "simd/boosting_kernels.hpp"
#include "simd/forest_kernels.hpp"
#include "simd/kmeans_kernels.hpp"
#include "simd/mixture_kernels.hpp"
#include "simd/neighbor_kernels.hpp"
#include "simd/shap_kernels.hpp"
#include "simd/tree_kernels.hpp"

namespace ceiba {

extern const KMeansKernels<double> kmeans_kernels_portable_double;
extern const KMeansKernels<float> kmeans_kernels_portable_float;
extern const MixtureKernels mixture_kernels_portable;
extern const TreeKernels tree_kernels_portable;
extern const ForestKernels forest_kernels_portable;
extern const BayesKernels bayes_kernels_portable;
extern const NeighborKernels neighbor_kernels_portable;
extern const BoostingKernels boosting_kernels_portable;
extern const ShapKernels shap_kernels_portable;
#if defined(__x86_64__)
extern const KMeansKernels<double> kmeans_kernels_avx2_double, kmeans_kernels_avx512_double;
extern const KMeansKernels<float> kmeans_kernels_avx2_float, kmeans_kernels_avx512_float;
extern const MixtureKernels mixture_kernels_avx2, mixture_kernels_avx512;
extern const TreeKernels tree_kernels_avx2, tree_kernels_avx512;
extern const ForestKernels forest_kernels_avx2, forest_kernels_avx512;
extern const BayesKernels bayes_kernels_avx2, bayes_kernels_avx512;
extern const NeighborKernels neighbor_kernels_avx2, neighbor_kernels_avx512;
extern const BoostingKernels boosting_kernels_avx2, boosting_kernels_avx512;
extern const ShapKernels shap_kernels_avx2, shap_kernels_avx512;
#endif

namespace {

enum class Isa { portable, avx2, avx512 };

Isa best_isa() {
#if defined(__x86_64__)
    // All features of x86-64-v3 and v4, which the kernels are compiled for.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe") &&
                    __builtin_cpu_supports("f16c");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v3) return v4 ? Isa::avx512 : Isa::avx2;
#endif
    return Isa::portable;
}

Isa chosen_isa() {
    static const Isa chosen = [] {
        const Isa best = best_isa();
        const char* requested = std::getenv("CEIBA_ISA");
        if (requested == nullptr) return best;
        if (std::strcmp(requested, "portable") == 0) return Isa::portable;
        if (std::strcmp(requested, "avx2") == 0 && best == Isa::avx512) return Isa::avx2;
        return best;
    }();
    return chosen;
}

}  // namespace

template <>
const KMeansKernels<double>& kmeans_kernels<double>() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return kmeans_kernels_avx512_double;
    if (chosen_isa() == Isa::avx2) return kmeans_kernels_avx2_double;
#endif
    return kmeans_kernels_portable_double;
}

template <>
const KMeansKernels<float>& kmeans_kernels<float>() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return kmeans_kernels_avx512_float;
    if (chosen_isa() == Isa::avx2) return kmeans_kernels_avx2_float;
#endif
    return kmeans_kernels_portable_float;
}

const MixtureKernels& mixture_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return mixture_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return mixture_kernels_avx2;
#endif
    return mixture_kernels_portable;
}

const TreeKernels& tree_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return tree_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return tree_kernels_avx2;
#endif
    return tree_kernels_portable;
}

const ForestKernels& forest_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return forest_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return forest_kernels_avx2;
#endif
    return forest_kernels_portable;
}

const BayesKernels& bayes_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return bayes_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return bayes_kernels_avx2;
#endif
    return bayes_kernels_portable;
}

const NeighborKernels& neighbor_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return neighbor_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return neighbor_kernels_avx2;
#endif
    return neighbor_kernels_portable;
}

const BoostingKernels& boosting_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return boosting_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return boosting_kernels_avx2;
#endif
    return boosting_kernels_portable;
}

const ShapKernels& shap_kernels() {
#if defined(__x86_64__)
    if (chosen_isa() == Isa::avx512) return shap_kernels_avx512;
    if (chosen_isa() == Isa::avx2) return shap_kernels_avx2;
#endif
    return shap_kernels_portable;
}

const char* instruction_set() {
    switch (chosen_isa()) {
        case Isa::avx512:
            return "avx512";
        case Isa::avx2:
            return "avx2";
        default:
            return "portable";
    }
}

}  // namespace ceiba
