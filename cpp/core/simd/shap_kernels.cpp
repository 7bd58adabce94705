// Implementation of the Shapley values of trees, compiled once for each instruction set; as in
// kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/shap_kernels.hpp"

#include "simd/lanes.hpp"

#define CEIBA_SHAP_NAME(isa) CEIBA_SHAP_NAME_(isa)
#define CEIBA_SHAP_NAME_(isa) shap_kernels_##isa

namespace ceiba {
namespace {

using Doubles = Lanes<double>::Vector;
using Masks = Lanes<double>::Index;

constexpr std::size_t kLanesPerVector = kLanes<double>;

inline Masks load_mask(const std::int64_t* from) {
    Masks v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
inline void store_mask(std::int64_t* to, const Masks& v) { __builtin_memcpy(to, &v, sizeof v); }
inline Masks bits(const Doubles& v) {
    Masks out;
    __builtin_memcpy(&out, &v, sizeof v);
    return out;
}
inline Doubles from_bits(const Masks& v) {
    Doubles out;
    __builtin_memcpy(&out, &v, sizeof v);
    return out;
}
// `yes` where all bits of the mask are set, `no` where none is: one operation with AVX-512.
inline Doubles choose(const Masks& mask, const Doubles& yes, const Doubles& no) {
    return from_bits((bits(yes) & mask) | (bits(no) & ~mask));
}

void branches(const RealSplit* splits, std::size_t n, const double* x, std::int64_t* branch) {
    for (std::size_t i = 0; i < n; ++i) {
        const RealSplit& split = splits[i];
        const double* value = x + std::size_t(split.column) * kShapRows;
        std::int64_t* out = branch + std::size_t(split.split) * kShapRows;
        for (std::size_t l = 0; l < kShapRows; l += kLanesPerVector) {
            const Doubles v = load(value + l);
            const Masks above = Masks(v > split.threshold) & 1, known = Masks(v == v);
            store_mask(out + l, (above & known) | (split.missing_branch & ~known));
        }
    }
}

// State of the edges on the path from the root: the product of the factors, the sums over the
// leaves below, and whether a row satisfies the conditions on the column of the edge so far.
struct PathState {
    double* product;      // (depth, point, row)
    double* sums;         // (depth, value, point, row)
    std::int64_t* holds;  // (depth, row)
};

// kPoints is the number of points, or 0 if it is known only at run time.
template <std::size_t kPoints>
inline void explain_lanes(const ShapTree& tree, const std::int64_t* branch, PathState path,
                          double* out) {
    const std::size_t n_points = kPoints ? kPoints : tree.n_points, n_values = tree.n_values;
    const std::size_t width = n_points * kShapRows, n_factors = 4 * n_points + 1;
    for (std::size_t e = 0; e < tree.n_edges; ++e) {
        const ShapEdge& edge = tree.edges[e];
        const auto depth = std::size_t(edge.depth);
        const double* factor = tree.factors + e * n_factors;
        const Masks own_branch = load_mask(branch + std::size_t(edge.split) * kShapRows);
        // A row that follows all branches passes as the training rows do, whether the column is
        // known or not, as if it had failed before.
        const Masks before = load_mask(path.holds + std::size_t(edge.previous_depth) * kShapRows) &
                             (own_branch >= 0);
        const Masks taken = own_branch == std::int64_t(edge.branch) - Masks{};
        const Masks holds = before & taken;
        store_mask(path.holds + depth * kShapRows, holds);
        const Doubles failed_before = splat(factor[4 * n_points]);
        double* product = path.product + depth * width;
        for (std::size_t q = 0; q < n_points; ++q) {
            const Doubles fails = choose(before, splat(factor[n_points + q]), failed_before);
            const Doubles ratio = choose(holds, splat(factor[q]), fails);
            store(product + q * kShapRows, load(product - width + q * kShapRows) * ratio);
        }
        double* sums = path.sums + depth * width * n_values;
        for (std::size_t k = 0; k < n_values; ++k) {
            const double value =
                edge.n_closed ? tree.values[std::size_t(edge.leaf) * n_values + k] : 0.0;
            for (std::size_t q = 0; q < n_points; ++q)
                store(sums + (k * n_points + q) * kShapRows, load(product + q * kShapRows) * value);
        }
        // The subtrees that end with a leaf add up their parts of the values.
        auto c = std::int32_t(e);
        for (std::size_t d = depth; d > depth - std::size_t(edge.n_closed); --d) {
            const ShapEdge& closed = tree.edges[c];
            const double* part = tree.factors + std::size_t(c) * n_factors;
            c = closed.parent;
            const Masks own = load_mask(path.holds + d * kShapRows);
            const Masks above =
                load_mask(path.holds + std::size_t(closed.previous_depth) * kShapRows) &
                (load_mask(branch + std::size_t(closed.split) * kShapRows) >= 0);
            const double* below = path.sums + d * width * n_values;
            double* parent = path.sums + (d - 1) * width * n_values;
            double* result = out + std::size_t(closed.column) * tree.n_outputs * kShapRows;
            for (std::size_t k = 0; k < n_values; ++k) {
                Doubles total = load(result + k * kShapRows);
                for (std::size_t q = 0; q < n_points; ++q) {
                    const std::size_t at = (k * n_points + q) * kShapRows;
                    const Doubles sum = load(below + at);
                    const Doubles fails = from_bits(bits(splat(part[3 * n_points + q])) & above);
                    total += sum * choose(own, splat(part[2 * n_points + q]), fails);
                    store(parent + at, load(parent + at) + sum);
                }
                store(result + k * kShapRows, total);
            }
        }
    }
}

template <std::size_t kPoints>
void explain_block(const ShapTree& tree, const std::int64_t* branch, double* scratch, double* out) {
    const std::size_t width = tree.n_points * kShapRows, n = tree.depth + 1;
    double* sums = scratch + n * width;
    auto* holds = reinterpret_cast<std::int64_t*>(sums + n * width * tree.n_values);
    for (std::size_t l = 0; l < kShapRows; ++l) holds[l] = -1;
    for (std::size_t q = 0; q < tree.n_points; ++q)
        for (std::size_t l = 0; l < kShapRows; ++l) scratch[q * kShapRows + l] = tree.weights[q];
    for (std::size_t i = 0; i < width * tree.n_values; ++i) sums[i] = 0;
    for (std::size_t l = 0; l < kShapRows; l += kLanesPerVector)
        explain_lanes<kPoints>(tree, branch + l, {scratch + l, sums + l, holds + l}, out + l);
}

void explain(const ShapTree& tree, const std::int64_t* branch, double* scratch, double* out) {
    switch (tree.n_points) {
        case 1:
            return explain_block<1>(tree, branch, scratch, out);
        case 2:
            return explain_block<2>(tree, branch, scratch, out);
        case 3:
            return explain_block<3>(tree, branch, scratch, out);
        case 4:
            return explain_block<4>(tree, branch, scratch, out);
        case 5:
            return explain_block<5>(tree, branch, scratch, out);
        case 6:
            return explain_block<6>(tree, branch, scratch, out);
        case 7:
            return explain_block<7>(tree, branch, scratch, out);
        case 8:
            return explain_block<8>(tree, branch, scratch, out);
        default:
            return explain_block<0>(tree, branch, scratch, out);
    }
}

}  // namespace

extern const ShapKernels CEIBA_SHAP_NAME(CEIBA_ISA);
const ShapKernels CEIBA_SHAP_NAME(CEIBA_ISA){branches, explain};

}  // namespace ceiba
