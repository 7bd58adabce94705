// Implementation of the lane searches of small forest nodes, compiled once for each instruction
// set. As in kmeans_kernels.cpp, no template of the standard library may be instantiated
// left_weight.
#include "simd/forest_kernels.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define CEIBA_FOREST_NAME(isa) CEIBA_FOREST_NAME_(isa)
#define CEIBA_FOREST_NAME_(isa) forest_kernels_##isa

namespace ceiba {
namespace {

typedef std::int32_t Keys __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
typedef std::uint64_t Words __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
typedef std::int64_t Numbers __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
typedef std::uint32_t Halves __attribute__((vector_size(CEIBA_VECTOR_BYTES)));
typedef double Reals __attribute__((vector_size(CEIBA_VECTOR_BYTES)));

constexpr std::size_t kKeys = CEIBA_VECTOR_BYTES / sizeof(std::int32_t);
constexpr std::size_t kLanes = CEIBA_VECTOR_BYTES / sizeof(std::uint64_t);
constexpr double kNone = -__builtin_inf();

template <typename Vector>
inline Vector load(const void* from) {
    Vector v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

template <typename Vector>
inline void store(void* to, const Vector& v) {
    __builtin_memcpy(to, &v, sizeof v);
}

// Rank n distinct keys, held in kVectors vectors: the number of keys below each key.
template <std::size_t kVectors>
inline void rank(const std::int32_t* key, std::size_t n, std::int32_t* rank) {
    Keys own[kVectors], below[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        own[v] = load<Keys>(key + v * kKeys);
        below[v] = Keys{};
    }
    for (std::size_t i = 0; i < n; ++i) {
        const Keys other = key[i] - Keys{};
        // A comparison that holds yields -1.
        for (std::size_t v = 0; v < kVectors; ++v) below[v] -= own[v] > other;
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(rank + v * kKeys, below[v]);
}

// Rank with as few vectors as hold the keys.
template <std::size_t kVectors = 1>
inline void rank_all(const std::int32_t* key, std::size_t n, std::int32_t* out) {
    if constexpr (kVectors * kKeys < kMaxRanked) {
        if (n > kVectors * kKeys) return rank_all<2 * kVectors>(key, n, out);
    }
    rank<kVectors>(key, n, out);
}

void rank_columns(const std::int32_t* keys, std::size_t n, std::size_t m, std::int32_t* ranks) {
    for (std::size_t c = 0; c < m; ++c) rank_all(keys + c * kMaxRanked, n, ranks + c * kMaxRanked);
}

// Convert integers below 2^52 exactly.
inline Reals real(const Words& w) {
    constexpr std::uint64_t kShift = 0x4330000000000000;  // the double 2^52
    return Reals(w | kShift) - 0x1p52;
}

// Multiply integers below 2^32 whose product is below 2^32.
inline Words times(const Words& a, const Words& b) { return Words(Halves(a) * Halves(b)); }

// The best thresholds so far of the columns in the lanes.
struct BestThresholds {
    Reals score = kNone - Reals{};
    Words threshold{}, next{};

    void offer(const Reals& candidate_score, const Numbers& valid, const Words& code,
               const Words& candidate_next) {
        const Numbers better = Numbers(candidate_score > score) & valid;
        score = better ? candidate_score : score;
        threshold = better ? code : threshold;
        next = better ? candidate_next : next;
    }
    void store_to(LaneThresholds& all, std::size_t first) const {
        store(all.score + first, score);
        store(all.threshold + first, threshold);
        store(all.next + first, next);
    }
};

inline Numbers large_enough(const Numbers& weight, std::int64_t total, const LaneLimits& limits) {
    return (weight >= limits.min_weight) & (total - weight >= limits.min_weight);
}

// Search lanes [first, first + kLanes) of the columns.
inline void gini_lanes(const GiniLaneNode& node, std::size_t n, const LaneLimits& limits,
                       std::size_t first, LaneThresholds& all) {
    const std::uint64_t mask = (std::uint64_t(1) << node.bits) - 1;
    const Words class_weights = node.class_weights - Words{}, bits = node.bits - Words{};
    const auto total = std::int64_t(node.total);
    const double total_weight = double(total);
    Words left{}, weight{}, sum{}, products{};
    BestThresholds best;
    Words entry = load<Words>(node.entries + first);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const Words following = load<Words>(node.entries + (i + 1) * kColumnLanes + first);
        const Words w = entry >> 16 & 0xFFFF, shift = times(entry & 0xFFFF, bits);
        // A class of weight c on the left that gains weight w adds 2 c w + w^2 to the sum of
        // squares.
        sum += times(w, 2 * (left >> shift & mask) + w);
        products += times(w, class_weights >> shift & mask);
        left += w << shift;
        weight += w;
        const Words code = entry >> 32, next = following >> 32;
        entry = following;
        if (i + 1 < limits.min_rows || n - i - 1 < limits.min_rows) continue;
        // sum (T - l)^2 = sum T^2 - 2 sum T l + sum l^2.
        const Words right = node.squares - 2 * products + sum;
        const Reals left_weight = real(weight);
        const Reals score = real(sum) / left_weight + real(right) / (total_weight - left_weight);
        const Numbers large = large_enough(Numbers(weight), total, limits);
        best.offer(score, large & Numbers(code != next), code, next);
    }
    best.store_to(all, first);
}

void gini(const GiniLaneNode& node, std::size_t n, std::size_t m, const LaneLimits& limits,
          LaneThresholds& best) {
    for (std::size_t first = 0; first < m; first += kLanes)
        gini_lanes(node, n, limits, first, best);
}

inline void squared_error_lanes(const SquaredErrorLaneNode& node, std::size_t n,
                                const LaneLimits& limits, std::size_t first, LaneThresholds& all) {
    const double total_weight = double(node.total);
    Numbers weight{}, sum{};
    BestThresholds best;
    const std::uint64_t* row = node.rows + first;
    Words entry = load<Words>(row);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        sum += load<Numbers>(row + kColumnLanes);
        weight += Numbers(entry & 0xFFFFFFFF);
        row += 2 * kColumnLanes;
        const Words own = entry >> 32;
        entry = load<Words>(row);
        const Words next = entry >> 32;
        if (i + 1 < limits.min_rows || n - i - 1 < limits.min_rows) continue;
        const Reals left = __builtin_convertvector(sum, Reals);
        const Reals right = __builtin_convertvector(node.sum - sum, Reals);
        const Reals left_weight = real(Words(weight));
        const Reals score =
            left / left_weight * left + right / (total_weight - left_weight) * right;
        const Numbers large = large_enough(weight, node.total, limits);
        best.offer(score, large & Numbers(own != next), own, next);
    }
    best.store_to(all, first);
}

void squared(const SquaredErrorLaneNode& node, std::size_t n, std::size_t m,
             const LaneLimits& limits, LaneThresholds& best) {
    for (std::size_t first = 0; first < m; first += kLanes)
        squared_error_lanes(node, n, limits, first, best);
}

// Rows walk down interleaved: while some load their next node, the others advance. Where a path
// ends cannot be predicted, so there is no branch for it: every few steps the rows in a leaf write
// it and are replaced by the next rows. Rows beyond the last one repeat it and write nothing.
constexpr std::size_t kSteps = 4;
constexpr std::uint32_t kColumnMask = kCompactColumns - 1;

#if defined(__AVX512F__)

// 64 rows in flight. 50,000 rows through 100 trees of 42,000 nodes take 0.11 s, one by one 0.17 s.
constexpr int kGroups = 4;

inline void decide_equal(const CompactRows& rows, __mmask16 equal, __m512i node, __m512i row,
                         __m512i& branch) {
    std::uint32_t nodes[16], indices[16], branches[16];
    store(nodes, node);
    store(indices, row);
    store(branches, branch);
    for (int s = 0; s < 16; ++s)
        if (equal >> s & 1) branches[s] += rows.is_above(rows.context, nodes[s], indices[s]);
    branch = load<__m512i>(branches);
}

template <bool kDecides>
void walk_lanes(const CompactNode* nodes, const CompactRows& rows, std::int32_t* leaf) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i n = _mm512_set1_epi32(int(rows.n)), last = _mm512_set1_epi32(int(rows.n) - 1);
    const __m512i width = _mm512_set1_epi32(int(rows.width)), one = _mm512_set1_epi32(1);
    const __m512i column_mask = _mm512_set1_epi32(int(kColumnMask));
    const __m512i class_mask = _mm512_set1_epi32(int(kLeafClass));
    const auto first_value = [&](__m512i row) {
        return _mm512_mullo_epi32(_mm512_min_epi32(row, last), width);
    };
    __m512i at[kGroups], row[kGroups], first[kGroups];
    __m512 threshold[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
        at[g] = _mm512_setzero_si512();
        row[g] = _mm512_add_epi32(lane, _mm512_set1_epi32(16 * g));
        first[g] = first_value(row[g]);
    }
    int next = 16 * kGroups;
    for (std::size_t remaining = rows.n; remaining > 0;) {
        for (std::size_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 4
            for (int g = 0; g < kGroups; ++g) {
                threshold[g] = _mm512_i32gather_ps(at[g], &nodes->threshold, 8);
                const __m512i test = _mm512_i32gather_epi32(at[g], &nodes->test, 8);
                const __m512i column = _mm512_and_si512(test, column_mask);
                const __m512 x =
                    _mm512_i32gather_ps(_mm512_add_epi32(first[g], column), rows.values, 4);
                const __m512i child = _mm512_srli_epi32(test, kCompactColumnBits);
                const __mmask16 above = _mm512_cmp_ps_mask(x, threshold[g], _CMP_GT_OQ);
                __m512i branch = _mm512_mask_add_epi32(child, above, child, one);
                if constexpr (kDecides) {
                    const __mmask16 equal = _mm512_cmpeq_epi32_mask(
                        _mm512_castps_si512(x), _mm512_castps_si512(threshold[g]));
                    if (equal != 0) [[unlikely]]
                        decide_equal(rows, equal, at[g], _mm512_min_epi32(row[g], last), branch);
                }
                at[g] = branch;
            }
        }
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) {
            const __mmask16 done = _mm512_cmp_ps_mask(threshold[g], threshold[g], _CMP_UNORD_Q);
            const __m512i payload = _mm512_and_si512(_mm512_castps_si512(threshold[g]), class_mask);
            const __mmask16 has_class = _mm512_test_epi32_mask(payload, payload);
            // The payload is the class plus one: its negative is ~class.
            const __m512i found =
                _mm512_mask_sub_epi32(at[g], has_class, _mm512_setzero_si512(), payload);
            const __mmask16 is_row = _mm512_mask_cmplt_epi32_mask(done, row[g], n);
            _mm512_mask_i32scatter_epi32(leaf, is_row, row[g], found, 4);
            remaining -= std::size_t(__builtin_popcount(is_row));
            const __m512i following = _mm512_add_epi32(lane, _mm512_set1_epi32(next));
            row[g] = _mm512_mask_expand_epi32(row[g], done, following);
            first[g] = first_value(row[g]);
            at[g] = _mm512_maskz_mov_epi32(__mmask16(~done), at[g]);
            next += __builtin_popcount(done);
        }
    }
}

// Two gathers per step instead of three, from half of the memory: predictions of 50,000 rows by 100
// trees of 42,000 nodes take 0.16 s of one thread, with `walk_lanes` 0.28 s.
void walk_codes(const CodedNodes& tree, const CodedRows& rows, std::int32_t* leaf) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i n = _mm512_set1_epi32(int(rows.n)), last = _mm512_set1_epi32(int(rows.n) - 1);
    const __m512i stride = _mm512_set1_epi32(int(rows.stride)), one = _mm512_set1_epi32(1);
    const __m512i code_mask = _mm512_set1_epi32(int(kLeafCode));
    const __m512i column_mask = _mm512_set1_epi32((1 << (tree.child_shift - kCodeBits)) - 1);
    const __m128i child_shift = _mm_cvtsi32_si128(tree.child_shift);
    const auto first_code = [&](__m512i row) {
        return _mm512_mullo_epi32(_mm512_min_epi32(row, last), stride);
    };
    const auto column_of = [&](__m512i node) {
        return _mm512_and_si512(_mm512_srli_epi32(node, kCodeBits), column_mask);
    };
    __m512i at[kGroups], row[kGroups], first[kGroups], node[kGroups];
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
        at[g] = _mm512_setzero_si512();
        row[g] = _mm512_add_epi32(lane, _mm512_set1_epi32(16 * g));
        first[g] = first_code(row[g]);
    }
    int next = 16 * kGroups;
    for (std::size_t remaining = rows.n; remaining > 0;) {
        for (std::size_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 4
            for (int g = 0; g < kGroups; ++g) {
                node[g] = _mm512_i32gather_epi32(at[g], tree.nodes, 4);
                const __m512i codes = _mm512_i32gather_epi32(
                    _mm512_add_epi32(first[g], column_of(node[g])), rows.codes, 1);
                const __mmask16 above = _mm512_cmpgt_epi32_mask(
                    _mm512_and_si512(codes, code_mask), _mm512_and_si512(node[g], code_mask));
                const __m512i child = _mm512_srl_epi32(node[g], child_shift);
                at[g] = _mm512_mask_add_epi32(child, above, child, one);
            }
        }
#pragma GCC unroll 4
        for (int g = 0; g < kGroups; ++g) {
            const __mmask16 done =
                _mm512_cmpeq_epi32_mask(_mm512_and_si512(node[g], code_mask), code_mask);
            const __m512i payload = column_of(node[g]);
            const __mmask16 has_class = _mm512_test_epi32_mask(payload, payload);
            // The payload is the class plus one: its negative is ~class.
            const __m512i found =
                _mm512_mask_sub_epi32(at[g], has_class, _mm512_setzero_si512(), payload);
            const __mmask16 is_row = _mm512_mask_cmplt_epi32_mask(done, row[g], n);
            _mm512_mask_i32scatter_epi32(leaf, is_row, row[g], found, 4);
            remaining -= std::size_t(__builtin_popcount(is_row));
            const __m512i following = _mm512_add_epi32(lane, _mm512_set1_epi32(next));
            row[g] = _mm512_mask_expand_epi32(row[g], done, following);
            first[g] = first_code(row[g]);
            at[g] = _mm512_maskz_mov_epi32(__mmask16(~done), at[g]);
            next += __builtin_popcount(done);
        }
    }
}

#else

constexpr std::size_t kRowsInFlight = 16;

template <bool kDecides>
void walk_lanes(const CompactNode* nodes, const CompactRows& rows, std::int32_t* leaf) {
    std::uint32_t at[kRowsInFlight] = {}, threshold[kRowsInFlight];
    std::size_t row[kRowsInFlight];
    const float* values[kRowsInFlight];
    const auto clamped = [&](std::size_t i) { return i < rows.n ? i : rows.n - 1; };
    for (std::size_t s = 0; s < kRowsInFlight; ++s) {
        row[s] = s;
        values[s] = rows.values + clamped(s) * rows.width;
    }
    std::size_t next = kRowsInFlight;
    for (std::size_t remaining = rows.n; remaining > 0;) {
        for (std::size_t step = 0; step < kSteps; ++step) {
            for (std::size_t s = 0; s < kRowsInFlight; ++s) {
                const CompactNode node = nodes[at[s]];
                const float x = values[s][node.test & kColumnMask];
                std::uint32_t branch = (node.test >> kCompactColumnBits) + (x > node.threshold);
                threshold[s] = __builtin_bit_cast(std::uint32_t, node.threshold);
                if constexpr (kDecides)
                    if (__builtin_bit_cast(std::uint32_t, x) == threshold[s]) [[unlikely]]
                        branch += rows.is_above(rows.context, at[s], clamped(row[s]));
                at[s] = branch;
            }
        }
        for (std::size_t s = 0; s < kRowsInFlight; ++s) {
            if ((threshold[s] & ~kLeafClass) != kLeafNan) continue;
            const std::uint32_t payload = threshold[s] & kLeafClass;
            if (row[s] < rows.n) {
                leaf[row[s]] = payload > 0 ? -std::int32_t(payload) : std::int32_t(at[s]);
                --remaining;
            }
            row[s] = next++;
            values[s] = rows.values + clamped(row[s]) * rows.width;
            at[s] = 0;
        }
    }
}

void walk_codes(const CodedNodes& tree, const CodedRows& rows, std::int32_t* leaf) {
    const std::uint32_t column_mask = (1u << (tree.child_shift - kCodeBits)) - 1;
    std::uint32_t at[kRowsInFlight] = {}, node[kRowsInFlight];
    std::size_t row[kRowsInFlight];
    const std::uint8_t* codes[kRowsInFlight];
    const auto codes_of = [&](std::size_t i) {
        return rows.codes + (i < rows.n ? i : rows.n - 1) * rows.stride;
    };
    for (std::size_t s = 0; s < kRowsInFlight; ++s) {
        row[s] = s;
        codes[s] = codes_of(s);
    }
    std::size_t next = kRowsInFlight;
    for (std::size_t remaining = rows.n; remaining > 0;) {
        for (std::size_t step = 0; step < kSteps; ++step) {
            for (std::size_t s = 0; s < kRowsInFlight; ++s) {
                node[s] = tree.nodes[at[s]];
                const std::uint8_t code = codes[s][node[s] >> kCodeBits & column_mask];
                at[s] = (node[s] >> tree.child_shift) + (code > (node[s] & kLeafCode));
            }
        }
        for (std::size_t s = 0; s < kRowsInFlight; ++s) {
            if ((node[s] & kLeafCode) != kLeafCode) continue;
            const std::uint32_t payload = node[s] >> kCodeBits & column_mask;
            if (row[s] < rows.n) {
                leaf[row[s]] = payload > 0 ? -std::int32_t(payload) : std::int32_t(at[s]);
                --remaining;
            }
            row[s] = next++;
            codes[s] = codes_of(row[s]);
            at[s] = 0;
        }
    }
}

#endif

void walk(const CompactNode* nodes, const CompactRows& rows, std::int32_t* leaf) {
    rows.is_above != nullptr ? walk_lanes<true>(nodes, rows, leaf)
                             : walk_lanes<false>(nodes, rows, leaf);
}

}  // namespace

extern const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA);
const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA){rank_columns, gini, squared, walk, walk_codes};

}  // namespace ceiba
