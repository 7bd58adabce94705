// Implementation of the boosting kernels, compiled once for each instruction set; as in
// kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/boosting_kernels.hpp"

#include "simd/vector_math.hpp"

#define CEIBA_BOOSTING_NAME(isa) CEIBA_BOOSTING_NAME_(isa)
#define CEIBA_BOOSTING_NAME_(isa) boosting_kernels_##isa

namespace ceiba {
namespace {

constexpr double kNone = -__builtin_huge_val();

inline double shrink(double gradient, double alpha) {
    const double size = __builtin_fabs(gradient) - alpha;
    return size > 0 ? size : 0.0;
}

void scores(const double* __restrict gradient, const double* __restrict hessian, std::size_t m,
            double add_gradient, double add_hessian, const NewtonSplit& split,
            double* __restrict out) {
    const NewtonSplit s = split;
    for (std::size_t i = 0; i < m; ++i) {
        const double g = gradient[i] + add_gradient, h = hessian[i] + add_hessian;
        const double other_h = s.hessian - h;
        const double left = shrink(g, s.reg_alpha), right = shrink(s.gradient - g, s.reg_alpha);
        const double sum =
            left / (h + s.reg_lambda) * left + right / (other_h + s.reg_lambda) * right;
        const double smaller = h < other_h ? h : other_h;
        out[i] = (smaller > 0) & (smaller >= s.min_child_weight) ? sum : kNone;
    }
}

// 1 / (1 + e^-x), with e^-|x| so that nothing overflows.
inline Doubles probability(const Doubles& x) {
    const Doubles e = exp_negative(choose(x > 0, -x, x));
    return choose(x > 0, splat(1.0), e) / (1.0 + e);
}

void logistic(const double* y, const double* raw, const double* weight, std::size_t n,
              double* gradient, double* hessian) {
    constexpr std::size_t kWidth = kLanes<double>;
    const auto compute = [](const Doubles& target, const Doubles& score, const Doubles& w,
                            Doubles& g, Doubles& h) {
        const Doubles p = probability(score), q = probability(-score);
        // Of y = 1 the gradient is -(1 - p), which keeps its digits where p is close to 1.
        g = w * choose(target > 0.5, -q, p);
        h = w * (p * q);
    };
    std::size_t i = 0;
    Doubles g, h;
    for (; i + kWidth <= n; i += kWidth) {
        compute(load(y + i), load(raw + i), weight ? load(weight + i) : splat(1.0), g, h);
        store(gradient + i, g);
        store(hessian + i, h);
    }
    for (; i < n; ++i) {
        compute(splat(y[i]), splat(raw[i]), splat(weight ? weight[i] : 1.0), g, h);
        gradient[i] = g[0];
        hessian[i] = h[0];
    }
}

// One vector of rows, in lanes. Hessians are K / (K - 1) p (1 - p), as in Friedman (2001),
// algorithm 6.
inline void softmax_lanes(const Words& label, const double* raw, const Doubles& w,
                          std::size_t stride, std::size_t classes, double* gradient,
                          double* hessian, std::size_t to_stride) {
    Doubles max = load(raw);
    for (std::size_t k = 1; k < classes; ++k) max = larger(max, load(raw + k * stride));
    Doubles sum = Doubles{};
    for (std::size_t k = 0; k < classes; ++k) {
        const Doubles e = exp_negative(load(raw + k * stride) - max);
        store(gradient + k * to_stride, e);
        sum += e;
    }
    const double factor = double(classes) / double(classes - 1);
    for (std::size_t k = 0; k < classes; ++k) {
        const Doubles p = load(gradient + k * to_stride) / sum;
        store(gradient + k * to_stride, w * choose(label == static_cast<long long>(k), p - 1.0, p));
        store(hessian + k * to_stride, w * (factor * (p * (1.0 - p))));
    }
}

void softmax(const std::int32_t* label, const double* raw, const double* weight, std::size_t n,
             std::size_t stride, std::size_t classes, double* gradient, double* hessian) {
    constexpr std::size_t kWidth = kLanes<double>;
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        Words own;
        for (std::size_t l = 0; l < kWidth; ++l) own[l] = label[i + l];
        softmax_lanes(own, raw + i, weight ? load(weight + i) : splat(1.0), stride, classes,
                      gradient + i, hessian + i, stride);
    }
    for (; i < n; ++i) {
        double max = raw[i], sum = 0;
        for (std::size_t k = 1; k < classes; ++k) {
            const double x = raw[k * stride + i];
            max = x > max ? x : max;
        }
        for (std::size_t k = 0; k < classes; ++k) {
            const Doubles e = exp_negative(splat(raw[k * stride + i] - max));
            gradient[k * stride + i] = e[0];
            sum += e[0];
        }
        const double w = weight ? weight[i] : 1.0;
        const double factor = double(classes) / double(classes - 1);
        for (std::size_t k = 0; k < classes; ++k) {
            const double p = gradient[k * stride + i] / sum;
            gradient[k * stride + i] = w * (label[i] == std::int32_t(k) ? p - 1.0 : p);
            hessian[k * stride + i] = w * (factor * (p * (1.0 - p)));
        }
    }
}

void exponentials(const double* x, std::size_t n, double* out) {
    constexpr std::size_t kWidth = kLanes<double>;
    // e^x = 1 / e^-x for x > 0.
    const auto compute = [](const Doubles& v) {
        const Doubles e = exp_negative(choose(v > 0, -v, v));
        return choose(v > 0, 1.0 / e, e);
    };
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) store(out + i, compute(load(x + i)));
    for (; i < n; ++i) out[i] = compute(splat(x[i]))[0];
}

}  // namespace

extern const BoostingKernels CEIBA_BOOSTING_NAME(CEIBA_ISA);
const BoostingKernels CEIBA_BOOSTING_NAME(CEIBA_ISA){scores, logistic, softmax, exponentials};

}  // namespace ceiba
