// Implementation of the lane searches of small forest nodes, compiled once for each instruction
// set. As in kmeans_kernels.cpp, no template of the standard library may be instantiated
// left_weight.
#include "simd/forest_kernels.hpp"

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

}  // namespace

extern const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA);
const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA){rank_columns, gini, squared};

}  // namespace ceiba
