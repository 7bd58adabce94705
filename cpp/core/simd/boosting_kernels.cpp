// Implementation of the boosting kernels, compiled once for each instruction set; as in
// kmeans_kernels.cpp, no template of the standard library may be instantiated here.
#include "simd/boosting_kernels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

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

// Sixteen independent sums, so that additions overlap and every instruction set adds in the same
// order.
GradientSummary summarize(const double* gradient, const double* hessian, std::size_t n,
                          double first_hessian) {
    constexpr std::size_t kSums = 16, kWidth = kLanes<double>, kVectors = kSums / kWidth;
    Doubles max_gradients[kVectors] = {}, max_hessians[kVectors] = {};
    Doubles gradients[kVectors] = {}, hessians[kVectors] = {};
    Words differ{};
    std::size_t i = 0;
    for (; i + kSums <= n; i += kSums)
        for (std::size_t v = 0; v < kVectors; ++v) {
            const Doubles signed_gradient = load(gradient + i + v * kWidth);
            const Doubles g = choose(signed_gradient < 0, -signed_gradient, signed_gradient);
            const Doubles h = load(hessian + i + v * kWidth);
            max_gradients[v] = larger(g, max_gradients[v]);
            max_hessians[v] = larger(h, max_hessians[v]);
            gradients[v] += g;
            hessians[v] += h;
            differ |= h != first_hessian;
        }
    GradientSummary summary;
    const auto add = [&](double max_gradient, double max_hessian, double g, double h) {
        summary.max_gradient =
            max_gradient > summary.max_gradient ? max_gradient : summary.max_gradient;
        summary.max_hessian = max_hessian > summary.max_hessian ? max_hessian : summary.max_hessian;
        summary.gradient_sum += g;
        summary.hessian_sum += h;
    };
    for (std::size_t v = 0; v < kVectors; ++v)
        for (std::size_t l = 0; l < kWidth; ++l) {
            add(max_gradients[v][l], max_hessians[v][l], gradients[v][l], hessians[v][l]);
            summary.equal_hessians &= differ[l] == 0;
        }
    for (; i < n; ++i) {
        const double g = __builtin_fabs(gradient[i]), h = hessian[i];
        add(g, h, g, h);
        summary.equal_hessians &= h == first_hessian;
    }
    return summary;
}

// Truncation after adding a half away from zero.
void round(const double* __restrict x, std::size_t n, double factor,
           std::int64_t* __restrict units) {
    for (std::size_t i = 0; i < n; ++i) {
        const double value = x[i] * factor;
        units[i] = std::int64_t(value + __builtin_copysign(0.5, value));
    }
}

std::uint64_t pack(const std::int64_t* __restrict gradient, const std::int64_t* __restrict hessian,
                   std::size_t n, std::uint64_t* __restrict words) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t h = hessian[i] > 1 ? hessian[i] : 1;
        words[i] = (std::uint64_t(gradient[i]) << 32) + std::uint64_t(h);
        sum += words[i];
    }
    return sum;
}

// With AVX-512 the codes of sixteen rows are gathered, four bytes each of which one is the code,
// and the rows are compressed to both sides: 0.4 instead of 1.5 ns per row.
std::size_t partition(const std::uint8_t* codes, [[maybe_unused]] std::size_t n_table_rows,
                      const std::uint32_t* rows, std::size_t n, const RightCodes& right,
                      std::uint32_t* out) {
    std::size_t i = 0, front = 0, back = n;
#if defined(__AVX512F__)
    const __m512i first = _mm512_set1_epi32(int(right.first));
    const __m512i count = _mm512_set1_epi32(int(right.count));
    const __m512i byte = _mm512_set1_epi32(0xFF);
    const __m512i reversed =
        _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    // The last rows are left to the loop below, which reads no byte behind the codes; so are rows
    // that are negative as offsets of a gather.
    const std::size_t end = n_table_rows < 0x80000000 ? n_table_rows : 0x80000000;
    for (; i + 16 <= n && rows[i + 15] + std::size_t(4) <= end; i += 16) {
        const __m512i row = _mm512_loadu_si512(rows + i);
        const __m512i code = _mm512_and_si512(_mm512_i32gather_epi32(row, codes, 1), byte);
        const __mmask16 goes_right = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(code, first), count);
        const auto n_right = std::size_t(__builtin_popcount(goes_right));
        // The lanes behind the left rows are overwritten later: at least 16 rows are missing.
        _mm512_storeu_si512(out + front, _mm512_maskz_compress_epi32(__mmask16(~goes_right), row));
        const __m512i right_rows =
            _mm512_permutexvar_epi32(reversed, _mm512_maskz_compress_epi32(goes_right, row));
        _mm512_mask_storeu_epi32(out + back - 16, __mmask16(0xFFFFu << (16 - n_right)), right_rows);
        front += 16 - n_right;
        back -= n_right;
    }
#endif
    for (; i < n; ++i) {
        // Write to both sides and advance one index: no branch to mispredict.
        const std::uint32_t row = rows[i];
        const auto goes_right = std::size_t(right.contain(codes[row]));
        out[front] = row;
        out[back - 1] = row;
        front += 1 - goes_right;
        back -= goes_right;
    }
    return front;
}

inline void unpack(const std::uint64_t* __restrict sums, std::size_t n, double gradient_unit,
                   double hessian_unit, double* __restrict gradient, double* __restrict hessian) {
    for (std::size_t i = 0; i < n; ++i) {
        gradient[i] = double(std::int32_t(sums[i] >> 32)) * gradient_unit;
        hessian[i] = double(std::int32_t(sums[i])) * hessian_unit;
    }
}

// Only the additions depend on each other. With AVX-512 eight words are added by three shifts, and
// the only chain is that of the totals: 20 instead of 35 ns for 255 words.
void prefix_sums(const std::uint64_t* __restrict words, std::size_t n, double gradient_unit,
                 double hessian_unit, double* __restrict gradient, double* __restrict hessian) {
    constexpr std::size_t kBlock = 64;
    std::uint64_t sums[kBlock], sum = 0;
    std::size_t first = 0;
#if defined(__AVX512F__)
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(7);
    __m512i before = zero;
    for (; first + 8 <= n; first += 8) {
        __m512i x = _mm512_loadu_si512(words + first);
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
        x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
        _mm512_storeu_si512(sums, _mm512_add_epi64(x, before));
        before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(last, x));
        unpack(sums, 8, gradient_unit, hessian_unit, gradient + first, hessian + first);
    }
    sum = std::uint64_t(_mm_cvtsi128_si64(_mm512_castsi512_si128(before)));
#endif
    for (; first < n; first += kBlock) {
        const std::size_t size = n - first < kBlock ? n - first : kBlock;
        for (std::size_t i = 0; i < size; ++i) sums[i] = sum += words[first + i];
        unpack(sums, size, gradient_unit, hessian_unit, gradient + first, hessian + first);
    }
}

std::size_t find_nonzero(const std::uint64_t* __restrict words, std::size_t n,
                         std::uint32_t* __restrict indices) {
    std::size_t found = 0, i = 0;
#if defined(__AVX512F__)
    __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (; i + 8 <= n; i += 8) {
        const __m512i x = _mm512_loadu_si512(words + i);
        const __mmask8 mask = _mm512_test_epi64_mask(x, x);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(indices + found),
                            _mm256_maskz_compress_epi32(mask, index));
        found += std::size_t(__builtin_popcount(mask));
        index = _mm256_add_epi32(index, _mm256_set1_epi32(8));
    }
#endif
    for (; i < n; ++i) {
        indices[found] = std::uint32_t(i);
        found += words[i] != 0;
    }
    return found;
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

void logistic_gradients(const double* y, const double* raw, const double* weight, std::size_t n,
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

void softmax_gradients(const std::int32_t* label, const double* raw, const double* weight,
                       std::size_t n, std::size_t stride, std::size_t classes, double* gradient,
                       double* hessian) {
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

#if defined(__AVX512F__)
// Entries of the arrays of a tree by node. Up to 128 nodes are kept in registers, 16 per register:
// a look-up takes a few permutations, where a gather takes 16 loads.
template <int kTables>
struct NodeTables {
    __m512i threshold[kTables], test[kTables];

    explicit NodeTables(const WalkNodes& nodes) {
        for (int t = 0; t < kTables; ++t) {
            threshold[t] = _mm512_loadu_si512(nodes.threshold + 16 * t);
            test[t] = _mm512_loadu_si512(nodes.test + 16 * t);
        }
    }
    static __m512i look_up(const __m512i (&table)[kTables], const __m512i& at) {
        __m512i found = _mm512_permutex2var_epi32(table[0], at, table[1]);
        if constexpr (kTables >= 4) {
            const __mmask16 bit5 = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
            found = _mm512_mask_mov_epi32(found, bit5,
                                          _mm512_permutex2var_epi32(table[2], at, table[3]));
        }
        if constexpr (kTables == 8) {
            const __mmask16 bit5 = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
            const __mmask16 bit6 = _mm512_test_epi32_mask(at, _mm512_set1_epi32(64));
            const __m512i upper =
                _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(table[4], at, table[5]), bit5,
                                      _mm512_permutex2var_epi32(table[6], at, table[7]));
            found = _mm512_mask_mov_epi32(found, bit6, upper);
        }
        return found;
    }
    __m512i thresholds(const __m512i& at) const { return look_up(threshold, at); }
    __m512i tests(const __m512i& at) const { return look_up(test, at); }
};
// Larger trees are read from memory.
struct NodeGathers {
    WalkNodes nodes;

    explicit NodeGathers(const WalkNodes& nodes) : nodes(nodes) {}
    __m512i thresholds(const __m512i& at) const {
        return _mm512_i32gather_epi32(at, nodes.threshold, 4);
    }
    __m512i tests(const __m512i& at) const { return _mm512_i32gather_epi32(at, nodes.test, 4); }
};

// Sixteen rows per vector, four vectors in flight to hide latencies, until all of them are in
// leaves.
template <typename Nodes>
void walk_vectors(const WalkNodes& given, const float* rows, std::size_t n, std::size_t width,
                  std::uint32_t* leaf) {
    constexpr int kVectors = kWalkRows / 16;
    const Nodes nodes(given);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i column_mask = _mm512_set1_epi32(int(kWalkColumnMask));
    const __m512i missing_bit = _mm512_set1_epi32(1 << kWalkMissingBit);
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i row_offset = _mm512_mullo_epi32(lane, _mm512_set1_epi32(int(width)));
    for (std::size_t first = 0; first < n; first += kWalkRows) {
        __m512i at[kVectors];
        __mmask16 equal[kVectors];
        const float* values[kVectors];
        for (int v = 0; v < kVectors; ++v) {
            at[v] = _mm512_setzero_si512();
            equal[v] = 0;
            values[v] = rows + (first + std::size_t(16 * v)) * width;
        }
        for (__mmask16 moving = 1; moving != 0;) {
            moving = 0;
            for (int v = 0; v < kVectors; ++v) {
                const __m512i test = nodes.tests(at[v]);
                const __m512i threshold = nodes.thresholds(at[v]);
                const __m512i index =
                    _mm512_add_epi32(row_offset, _mm512_and_si512(test, column_mask));
                const __m512 x = _mm512_i32gather_ps(index, values[v], 4);
                const __mmask16 above =
                    _mm512_cmp_ps_mask(x, _mm512_castsi512_ps(threshold), _CMP_GT_OQ);
                const __mmask16 missing = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) &
                                          _mm512_test_epi32_mask(test, missing_bit);
                equal[v] |= _mm512_cmpeq_epi32_mask(_mm512_castps_si512(x), threshold);
                const __m512i child = _mm512_srli_epi32(test, kWalkChildShift);
                const __m512i next =
                    _mm512_mask_add_epi32(child, __mmask16(above | missing), child, one);
                moving |= _mm512_cmpneq_epi32_mask(next, at[v]);
                at[v] = next;
            }
        }
        for (int v = 0; v < kVectors; ++v) {
            const __m512i marked =
                _mm512_mask_or_epi32(at[v], equal[v], at[v], _mm512_set1_epi32(int(kWalkEqual)));
            _mm512_storeu_si512(leaf + first + std::size_t(16 * v), marked);
        }
    }
}

void walk(const WalkNodes& nodes, const float* rows, std::size_t n, std::size_t width,
          std::uint32_t* leaf) {
    if (nodes.count <= 32)
        walk_vectors<NodeTables<2>>(nodes, rows, n, width, leaf);
    else if (nodes.count <= 64)
        walk_vectors<NodeTables<4>>(nodes, rows, n, width, leaf);
    else if (nodes.count <= kWalkPadding)
        walk_vectors<NodeTables<8>>(nodes, rows, n, width, leaf);
    else
        walk_vectors<NodeGathers>(nodes, rows, n, width, leaf);
}
#else
void walk(const WalkNodes& nodes, const float* rows, std::size_t n, std::size_t width,
          std::uint32_t* leaf) {
    for (std::size_t first = 0; first < n; first += kWalkRows) {
        std::uint32_t at[kWalkRows] = {}, equal[kWalkRows] = {};
        for (bool moving = true; moving;) {
            moving = false;
            for (std::size_t r = 0; r < kWalkRows; ++r) {
                const std::uint32_t test = nodes.test[at[r]];
                const float threshold = nodes.threshold[at[r]];
                const float x = rows[(first + r) * width + (test & kWalkColumnMask)];
                const std::uint32_t missing = (x != x) & (test >> kWalkMissingBit & 1);
                std::uint32_t x_bits, threshold_bits;
                __builtin_memcpy(&x_bits, &x, sizeof x);
                __builtin_memcpy(&threshold_bits, &threshold, sizeof x);
                equal[r] |= x_bits == threshold_bits ? kWalkEqual : 0;
                const std::uint32_t next =
                    (test >> kWalkChildShift) + (std::uint32_t(x > threshold) | missing);
                moving |= next != at[r];
                at[r] = next;
            }
        }
        for (std::size_t r = 0; r < kWalkRows; ++r) leaf[first + r] = at[r] | equal[r];
    }
}
#endif

}  // namespace

extern const BoostingKernels CEIBA_BOOSTING_NAME(CEIBA_ISA);
const BoostingKernels CEIBA_BOOSTING_NAME(CEIBA_ISA){
    summarize,         round,        pack,   partition,
    prefix_sums,       find_nonzero, scores, logistic_gradients,
    softmax_gradients, walk};

}  // namespace ceiba
