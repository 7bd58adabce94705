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

// Sorted rows lie row after row, those of the columns side by side: row r of column c stands at
// r * kAbreast + c.

// Classes of a node: their weights, `bits` each, from below; the sum of the weights, below 2^bits
// and below 2^15; the sum of their squares.
struct AbreastClasses {
    const std::uint64_t* entries;  // code << 32 | weight << 16 | class
    std::uint64_t known;
    std::uint64_t bits;
    std::uint64_t total, squares;
};

// Numbers of a node. A row has its targets behind its entries: those of column c stand at
// 2 * r * kAbreast + c and kAbreast further on. `sum` is that of the targets, `total` that of the
// weights, below 2^32.
struct AbreastNumbers {
    const std::uint64_t* rows;  // code << 32 | weight
    std::int64_t sum, total;
};

struct ForestKernels {
    // Of n <= kRanked rows the place of each in the order of each of m columns. keys[c * kRanked +
    // i] is the code of row i above kRankBits bits that say i, and below 2^31.
    void (*rank)(const std::int32_t* keys, std::size_t n, std::size_t m, std::int32_t* places);
    // The best cuts of m columns of n sorted rows.
    void (*gini)(const AbreastClasses& classes, std::size_t n, std::size_t m,
                 const AbreastLeast& least, AbreastCuts& best);
    void (*squared)(const AbreastNumbers& numbers, std::size_t n, std::size_t m,
                    const AbreastLeast& least, AbreastCuts& best);
};

const ForestKernels& forest_kernels();

}  // namespace ceiba
