// The loops of a forest's small nodes, compiled once for each instruction set.
//
// Most nodes of a deep tree have a few dozen rows. Their drawn columns are looked at side by side,
// each in a lane of its own: what is sorted, summed and scored for one is done for all. Scores have
// the bits of the plain formulas of tree/criterion.hpp, as those of simd/tree_kernels.hpp have.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

constexpr std::size_t kAbreast = 8;  // columns side by side
constexpr std::size_t kRanked = 64;  // rows that are sorted by counting, for each, those before it
constexpr int kRankBits = 6;

// Of every column the first of its best cuts, and the code behind it; no score above minus infinity
// where there is none.
struct AbreastCuts {
    double score[kAbreast];
    std::uint64_t cut[kAbreast], next[kAbreast];
};

// What the two sides of a cut need.
struct AbreastLeast {
    std::size_t rows;
    std::int64_t weight;
};

// Classes of a node: their weights, `bits` each, from below; the sum of the weights, below 2^bits
// and below 2^15; the sum of their squares.
struct AbreastClasses {
    std::uint64_t known;
    std::uint64_t bits;
    std::uint64_t total, squares;
};

// Numbers of a node, place after place: targets and weights, and their sums.
struct AbreastNumbers {
    const std::int64_t* target;
    const std::int64_t* weight;
    std::int64_t sum, total;
    std::int64_t* scratch;  // room for 2 kAbreast numbers a row
};

struct ForestKernels {
    // Sort n <= kRanked rows by each of m columns: keys[c * kRanked + i] is the code of row i above
    // kRankBits bits that say i. entries[r * kAbreast + c] becomes the code of the r-th row above
    // its 32-bit tag. Keys lie below 2^31.
    void (*sort)(const std::int32_t* keys, const std::uint32_t* tag, std::size_t n, std::size_t m,
                 std::uint64_t* entries);
    // The best cuts of m sorted columns. Tags are weight << 16 | class,
    void (*gini)(const std::uint64_t* entries, std::size_t n, std::size_t m,
                 const AbreastClasses& classes, const AbreastLeast& least, AbreastCuts& best);
    // ... or places.
    void (*squared)(const std::uint64_t* entries, std::size_t n, std::size_t m,
                    const AbreastNumbers& numbers, const AbreastLeast& least, AbreastCuts& best);
};

const ForestKernels& forest_kernels();

}  // namespace ceiba
