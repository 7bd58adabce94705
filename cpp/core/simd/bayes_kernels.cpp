// Implementation of the kernels of the Bayesian classifiers, compiled once for each instruction
// set; as in kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/bayes_kernels.hpp"

#include <cmath>

#include "simd/vector_math.hpp"

#define CEIBA_BAYES_NAME(isa) CEIBA_BAYES_NAME_(isa)
#define CEIBA_BAYES_NAME_(isa) bayes_kernels_##isa

namespace ceiba {
namespace {

void exp_all(double* values, std::size_t n) {
    constexpr std::size_t kWidth = kLanes<double>;
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) store(values + i, exp_negative(load(values + i)));
    double rest[kWidth] = {};
    for (std::size_t j = i; j < n; ++j) rest[j - i] = values[j];
    store(rest, exp_negative(load(rest)));
    for (std::size_t j = i; j < n; ++j) values[j] = rest[j - i];
}

void normalize(double* log_joint, std::size_t n, std::size_t k, double* log_evidence) {
    for (std::size_t i = 0; i < n; ++i) {
        double* row = log_joint + i * k;
        double top = row[0];
        for (std::size_t c = 1; c < k; ++c) top = top < row[c] ? row[c] : top;
        for (std::size_t c = 0; c < k; ++c) row[c] -= top;
        if (log_evidence != nullptr) log_evidence[i] = top;
    }
    exp_all(log_joint, n * k);
    for (std::size_t i = 0; i < n; ++i) {
        double* row = log_joint + i * k;
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) sum += row[c];
        for (std::size_t c = 0; c < k; ++c) row[c] /= sum;
        if (log_evidence != nullptr) log_evidence[i] += std::log(sum);
    }
}

// The width is known at compile time for up to eight classes: the sums of a row stay in registers.
template <std::size_t kWidth>
void gather_fixed(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                  const double* weights, double* scores) {
    for (std::size_t i = 0; i < n; ++i, indices += tables, scores += kWidth) {
        double own[kWidth];
        for (std::size_t c = 0; c < kWidth; ++c) own[c] = scores[c];
        for (std::size_t t = 0; t < tables; ++t)
            for (std::size_t c = 0; c < kWidth; ++c) own[c] += weights[indices[t] * kWidth + c];
        for (std::size_t c = 0; c < kWidth; ++c) scores[c] = own[c];
    }
}

template <std::size_t kWidth>
void scatter_fixed(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                   const double* values, double* table) {
    for (std::size_t i = 0; i < n; ++i, indices += tables, values += kWidth) {
        double own[kWidth];
        for (std::size_t c = 0; c < kWidth; ++c) own[c] = values[c];
        for (std::size_t t = 0; t < tables; ++t) {
            double* row = table + indices[t] * kWidth;
            for (std::size_t c = 0; c < kWidth; ++c) row[c] += own[c];
        }
    }
}

void gather_rows(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                 const double* weights, std::size_t width, double* scores) {
    switch (width) {
        case 1:
            return gather_fixed<1>(indices, n, tables, weights, scores);
        case 2:
            return gather_fixed<2>(indices, n, tables, weights, scores);
        case 3:
            return gather_fixed<3>(indices, n, tables, weights, scores);
        case 4:
            return gather_fixed<4>(indices, n, tables, weights, scores);
        case 5:
            return gather_fixed<5>(indices, n, tables, weights, scores);
        case 6:
            return gather_fixed<6>(indices, n, tables, weights, scores);
        case 7:
            return gather_fixed<7>(indices, n, tables, weights, scores);
        case 8:
            return gather_fixed<8>(indices, n, tables, weights, scores);
    }
    for (std::size_t i = 0; i < n; ++i, indices += tables, scores += width)
        for (std::size_t t = 0; t < tables; ++t)
            for (std::size_t c = 0; c < width; ++c) scores[c] += weights[indices[t] * width + c];
}

void scatter_rows(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                  const double* values, std::size_t width, double* table) {
    switch (width) {
        case 1:
            return scatter_fixed<1>(indices, n, tables, values, table);
        case 2:
            return scatter_fixed<2>(indices, n, tables, values, table);
        case 3:
            return scatter_fixed<3>(indices, n, tables, values, table);
        case 4:
            return scatter_fixed<4>(indices, n, tables, values, table);
        case 5:
            return scatter_fixed<5>(indices, n, tables, values, table);
        case 6:
            return scatter_fixed<6>(indices, n, tables, values, table);
        case 7:
            return scatter_fixed<7>(indices, n, tables, values, table);
        case 8:
            return scatter_fixed<8>(indices, n, tables, values, table);
    }
    for (std::size_t i = 0; i < n; ++i, indices += tables, values += width)
        for (std::size_t t = 0; t < tables; ++t)
            for (std::size_t c = 0; c < width; ++c) table[indices[t] * width + c] += values[c];
}

// Two classes: whole vectors of rows. With e = exp(-|s|) and d = 1 + e, the probabilities are 1 / d
// and e / d. The residual of class 1 is p(0 | x) or -p(1 | x): without a difference from 1, in
// which small probabilities would be lost.
Doubles residuals_of_two(double* scores, const double* labels, const double* weight) {
    const Doubles toward = 2 * load(labels) - 1, w = load(weight);
    // Of the row's own class against the other one.
    const Doubles own = load(scores) * toward;
    const Words right = own > 0;
    const Doubles e = exp_negative(choose(right, -own, own)), d = 1 + e;
    store(scores, w * toward * (choose(right, e, splat(1.0)) / d));
    return w * (choose(right, Doubles{}, own) - log_positive(d));
}

// Rows whose labels or sums are held at a time: whole vectors.
constexpr std::size_t kRows = 64;

double residuals_of_two(double* scores, std::size_t n, const std::int32_t* labels,
                        const double* weight) {
    constexpr std::size_t kWidth = kLanes<double>;
    double y[kRows] = {}, w[kRows] = {};
    for (std::size_t i = 0; i < n; ++i) y[i] = labels[i];
    for (std::size_t i = 0; i < n; ++i) w[i] = weight == nullptr ? 1.0 : weight[i];
    Doubles total{};
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) total += residuals_of_two(scores + i, y + i, w + i);
    double rest[kWidth] = {};
    for (std::size_t j = i; j < n; ++j) rest[j - i] = scores[j];
    if (i < n) total += residuals_of_two(rest, y + i, w + i);
    for (std::size_t j = i; j < n; ++j) scores[j] = rest[j - i];
    double sum = 0;
    for (std::size_t j = 0; j < kWidth; ++j) sum += total[j];
    return sum;
}

void log_all(double* values, std::size_t n) {
    constexpr std::size_t kWidth = kLanes<double>;
    std::size_t i = 0;
    for (; i + kWidth <= n; i += kWidth) store(values + i, log_positive(load(values + i)));
    double rest[kWidth];
    for (std::size_t j = 0; j < kWidth; ++j) rest[j] = i + j < n ? values[i + j] : 1.0;
    store(rest, log_positive(load(rest)));
    for (std::size_t j = i; j < n; ++j) values[j] = rest[j - i];
}

double residuals_of_rows(double* scores, std::size_t n, std::size_t k, const std::int32_t* labels,
                         const double* weight) {
    double own[kRows], sums[kRows];
    for (std::size_t i = 0; i < n; ++i) {
        double* row = scores + i * k;
        double top = row[0];
        for (std::size_t c = 1; c < k; ++c) top = top < row[c] ? row[c] : top;
        for (std::size_t c = 0; c < k; ++c) row[c] -= top;
        own[i] = row[labels[i]];
    }
    exp_all(scores, n * k);
    for (std::size_t i = 0; i < n; ++i) {
        double* row = scores + i * k;
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) sum += row[c];
        const double w = weight == nullptr ? 1.0 : weight[i], factor = -w / sum;
        for (std::size_t c = 0; c < k; ++c) row[c] *= factor;
        row[labels[i]] += w;
        sums[i] = sum;
    }
    log_all(sums, n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i)
        total += (weight == nullptr ? 1.0 : weight[i]) * (own[i] - sums[i]);
    return total;
}

double softmax_residuals(double* scores, std::size_t n, std::size_t k, const std::int32_t* labels,
                         const double* weight) {
    double total = 0;
    for (std::size_t i = 0; i < n; i += kRows) {
        const std::size_t count = n - i < kRows ? n - i : kRows;
        const double* w = weight == nullptr ? nullptr : weight + i;
        total += k == 2 ? residuals_of_two(scores + i, count, labels + i, w)
                        : residuals_of_rows(scores + i * k, count, k, labels + i, w);
    }
    return total;
}

// The rounded product, which the compiler must not contract with an addition that follows.
inline double product(double a, double b) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, 0.0);
#else
    return a * b;
#endif
}

// What a product loses by rounding; Dekker (1971) where there is no fused multiply-add.
inline double product_error(double a, double b, double rounded) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, -rounded);
#else
    constexpr double kSplit = 134217729.0;  // 2^27 + 1
    const double a_scaled = kSplit * a, b_scaled = kSplit * b;
    const double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    const double a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

// Add to a sum, and return what the sum loses by rounding; Knuth's two-sum.
inline double add(double& sum, double value) {
    const double before = sum, after = before + value, added = after - before;
    sum = after;
    return (before - (after - added)) + (value - added);
}

template <bool kWeighted>
void add_row(const double* __restrict x, std::size_t d, double weight, std::size_t first,
             const ClassSums& sums) {
    double* __restrict weight_0 = sums.weight[0] + first;
    double* __restrict weight_1 = sums.weight[1] + first;
    double* __restrict weight_2 = sums.weight[2] + first;
    double* __restrict sum_0 = sums.sum[0] + first;
    double* __restrict sum_1 = sums.sum[1] + first;
    double* __restrict sum_2 = sums.sum[2] + first;
    double* __restrict square_0 = sums.squares[0] + first;
    double* __restrict square_1 = sums.squares[1] + first;
    double* __restrict square_2 = sums.squares[2] + first;
    double* __restrict nonzero = sums.nonzero + first;
#pragma GCC ivdep
    for (std::size_t j = 0; j < d; ++j) {
        const bool observed = x[j] == x[j];
        const double value = observed ? x[j] : 0.0, w = observed ? weight : 0.0;
        const double square = product(value, value), rest = product_error(value, value, square);
        nonzero[j] += value != 0.0 ? w : 0.0;
        if constexpr (kWeighted) {
            weight_2[j] += add(weight_1[j], add(weight_0[j], w));
            const double own = product(w, value), squared = product(w, square);
            const double of_sum = add(sum_1[j], add(sum_0[j], own));
            sum_2[j] += of_sum + add(sum_1[j], product_error(w, value, own));
            const double of_square = add(square_1[j], add(square_0[j], squared));
            const double of_rest = add(square_1[j], product_error(w, square, squared));
            square_2[j] += of_square + of_rest + add(square_1[j], product(w, rest));
        } else {
            weight_0[j] += w;
            sum_2[j] += add(sum_1[j], add(sum_0[j], value));
            const double of_square = add(square_1[j], add(square_0[j], square));
            square_2[j] += of_square + add(square_1[j], rest);
        }
    }
}

void add_class_sums(const double* X, std::size_t d, std::size_t n, const std::int32_t* labels,
                    const double* weight, const ClassSums& sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t first = std::size_t(labels[i]) * d;
        if (weight == nullptr)
            add_row<false>(X + i * d, d, 1.0, first, sums);
        else
            add_row<true>(X + i * d, d, weight[i], first, sums);
    }
}

// Add the sums of another part, and bring what the first doubles lose into the next ones again.
void merge_sums(std::size_t n, double* const (&other)[3], double* const (&into)[3]) {
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j) {
        double first = into[0][j], second = into[1][j];
        const double rest = add(second, add(first, other[0][j])) + add(second, other[1][j]);
        const double third = into[2][j] + other[2][j] + rest;
        const double low = add(second, third);
        const double middle = add(first, second);
        into[0][j] = first;
        into[1][j] = middle + low;
        into[2][j] = low - (into[1][j] - middle);
    }
}

void merge_class_sums(std::size_t n, const ClassSums& other, const ClassSums& into) {
    merge_sums(n, other.weight, into.weight);
    merge_sums(n, other.sum, into.sum);
    merge_sums(n, other.squares, into.squares);
    for (std::size_t j = 0; j < n; ++j) into.nonzero[j] += other.nonzero[j];
}

void add_log_normals(const double* X, std::size_t d, std::size_t n, const NormalTerms& terms,
                     std::size_t k, double* work, double* out) {
    constexpr std::size_t kWidth = kLanes<double>;
    const double* zeros = work;
    double* tile = work + d;
    for (std::size_t start = 0; start < n; start += kTile<double>) {
        const std::size_t count = n - start < kTile<double> ? n - start : kTile<double>;
        pack_tile(d, count, zeros, tile, [&](std::size_t r) { return X + (start + r) * d; });
        for (std::size_t c = 0; c < k; ++c) {
            const double *mean = terms.mean + c * d, *factor = terms.factor + c * d,
                         *constant = terms.constant + c * d;
            Doubles sums[kVectors] = {};
            for (std::size_t j = 0; j < d; ++j)
                for (std::size_t v = 0; v < kVectors; ++v) {
                    const Doubles x = load(tile + j * kTile<double> + v * kWidth);
                    const Doubles z = (x - mean[j]) * factor[j];
                    sums[v] += choose(x == x, constant[j] - z * z, Doubles{});
                }
            double values[kTile<double>];
            for (std::size_t v = 0; v < kVectors; ++v) store(values + v * kWidth, sums[v]);
            for (std::size_t r = 0; r < count; ++r) out[(start + r) * k + c] += values[r];
        }
    }
}

}  // namespace

extern const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA);
const BayesKernels CEIBA_BAYES_NAME(CEIBA_ISA){normalize,         gather_rows,    scatter_rows,
                                               softmax_residuals, add_class_sums, merge_class_sums,
                                               add_log_normals};

}  // namespace ceiba
