// Compiled once for each instruction set, under the rule of kernels.cpp: no templates of the
// standard library.
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

// How many of n keys lie below each: all are different. kVectors vectors hold them.
template <std::size_t kVectors>
inline void rank(const std::int32_t* key, std::size_t n, std::int32_t* rank) {
    Keys own[kVectors], below[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        own[v] = load<Keys>(key + v * kKeys);
        below[v] = Keys{};
    }
    for (std::size_t i = 0; i < n; ++i) {
        const Keys other = key[i] - Keys{};
        // A comparison that holds is -1.
        for (std::size_t v = 0; v < kVectors; ++v) below[v] -= own[v] > other;
    }
    for (std::size_t v = 0; v < kVectors; ++v) store(rank + v * kKeys, below[v]);
}

// ... as few vectors as hold them.
template <std::size_t kVectors = 1>
inline void rank_all(const std::int32_t* key, std::size_t n, std::int32_t* out) {
    if constexpr (kVectors * kKeys < kRanked) {
        if (n > kVectors * kKeys) return rank_all<2 * kVectors>(key, n, out);
    }
    rank<kVectors>(key, n, out);
}

void rank_columns(const std::int32_t* keys, std::size_t n, std::size_t m, std::int32_t* places) {
    for (std::size_t c = 0; c < m; ++c) rank_all(keys + c * kRanked, n, places + c * kRanked);
}

// Whole numbers below 2^52, exactly.
inline Reals real(const Words& w) {
    constexpr std::uint64_t kShift = 0x4330000000000000;  // the double 2^52
    return Reals(w | kShift) - 0x1p52;
}

// Products of whole numbers below 2^32 whose result is, too.
inline Words times(const Words& a, const Words& b) { return Words(Halves(a) * Halves(b)); }

// The best cuts so far of the columns in the lanes.
struct Best {
    Reals score = kNone - Reals{};
    Words cut{}, next{};

    void offer(const Reals& its_score, const Numbers& valid, const Words& code,
               const Words& its_next) {
        const Numbers better = Numbers(its_score > score) & valid;
        score = better ? its_score : score;
        cut = better ? code : cut;
        next = better ? its_next : next;
    }
    void keep(AbreastCuts& all, std::size_t first) const {
        store(all.score + first, score);
        store(all.cut + first, cut);
        store(all.next + first, next);
    }
};

inline Numbers large_enough(const Numbers& weight, std::int64_t total, const AbreastLeast& least) {
    return (weight >= least.weight) & (total - weight >= least.weight);
}

// Lanes [first, first + kLanes) of the columns.
inline void gini_of(const AbreastClasses& classes, std::size_t n, const AbreastLeast& least,
                    std::size_t first, AbreastCuts& all) {
    const std::uint64_t mask = (std::uint64_t(1) << classes.bits) - 1;
    const Words known = classes.known - Words{}, bits = classes.bits - Words{};
    const auto total = std::int64_t(classes.total);
    const double whole = double(total);
    Words left{}, weight{}, sum{}, products{};
    Best best;
    Words entry = load<Words>(classes.entries + first);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const Words following = load<Words>(classes.entries + (i + 1) * kAbreast + first);
        const Words w = entry >> 16 & 0xFFFF, shift = times(entry & 0xFFFF, bits);
        // A class that weighs c on the left and is joined by w adds 2 c w + w^2 to the squares.
        sum += times(w, 2 * (left >> shift & mask) + w);
        products += times(w, known >> shift & mask);
        left += w << shift;
        weight += w;
        const Words code = entry >> 32, next = following >> 32;
        entry = following;
        if (i + 1 < least.rows || n - i - 1 < least.rows) continue;
        // sum (T - l)^2 = sum T^2 - 2 sum T l + sum l^2.
        const Words right = classes.squares - 2 * products + sum;
        const Reals here = real(weight);
        const Reals score = real(sum) / here + real(right) / (whole - here);
        const Numbers enough = large_enough(Numbers(weight), total, least);
        best.offer(score, enough & Numbers(code != next), code, next);
    }
    best.keep(all, first);
}

void gini(const AbreastClasses& classes, std::size_t n, std::size_t m, const AbreastLeast& least,
          AbreastCuts& best) {
    for (std::size_t first = 0; first < m; first += kLanes) gini_of(classes, n, least, first, best);
}

inline void squared_of(const AbreastNumbers& numbers, std::size_t n, const AbreastLeast& least,
                       std::size_t first, AbreastCuts& all) {
    const double whole = double(numbers.total);
    Numbers weight{}, sum{};
    Best best;
    const std::uint64_t* row = numbers.rows + first;
    Words entry = load<Words>(row);
    for (std::size_t i = 0; i + 1 < n; ++i) {
        sum += load<Numbers>(row + kAbreast);
        weight += Numbers(entry & 0xFFFFFFFF);
        row += 2 * kAbreast;
        const Words own = entry >> 32;
        entry = load<Words>(row);
        const Words next = entry >> 32;
        if (i + 1 < least.rows || n - i - 1 < least.rows) continue;
        const Reals left = __builtin_convertvector(sum, Reals);
        const Reals right = __builtin_convertvector(numbers.sum - sum, Reals);
        const Reals here = real(Words(weight));
        const Reals score = left / here * left + right / (whole - here) * right;
        const Numbers enough = large_enough(weight, numbers.total, least);
        best.offer(score, enough & Numbers(own != next), own, next);
    }
    best.keep(all, first);
}

void squared(const AbreastNumbers& numbers, std::size_t n, std::size_t m, const AbreastLeast& least,
             AbreastCuts& best) {
    for (std::size_t first = 0; first < m; first += kLanes)
        squared_of(numbers, n, least, first, best);
}

}  // namespace

extern const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA);
const ForestKernels CEIBA_FOREST_NAME(CEIBA_ISA){rank_columns, gini, squared};

}  // namespace ceiba
