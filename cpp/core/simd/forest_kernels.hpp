// Split search in small forest nodes with one column per lane, and walks of many rows through a
// tree with one row per lane, compiled per instruction set.
//
// Most nodes of a deep tree have a few dozen rows. Their drawn columns are sorted, summed and
// scored together, one column per lane. Scores have the bits of the plain formulas of
// tree/split/criterion.hpp, as do those of simd/tree_kernels.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

constexpr std::size_t kColumnLanes = 8;  // columns searched together
constexpr std::size_t kMaxRanked = 64;   // rows sorted by counting the smaller keys of each
constexpr int kRankBits = 6;

// The first best threshold of every column and the next code after it; the score is minus infinity
// if a column has no threshold.
struct LaneThresholds {
    double score[kColumnLanes];
    std::uint64_t threshold[kColumnLanes], next[kColumnLanes];
};

// Minimum size of both branches.
struct LaneLimits {
    std::size_t min_rows;
    std::int64_t min_weight;
};

// Sorted rows are stored row by row with the columns side by side: row r of column c is at r *
// kColumnLanes + c.

// A classification node: class weights packed with `bits` bits each, lowest class first; their sum,
// below 2^bits and below 2^15; the sum of their squares.
struct GiniLaneNode {
    const std::uint64_t* entries;  // code << 32 | weight << 16 | class
    std::uint64_t class_weights;
    std::uint64_t bits;
    std::uint64_t total, squares;
};

// A regression node. The targets of a row follow its entries: those of column c are at 2 * r *
// kColumnLanes + c and kColumnLanes further. `sum` is the sum of the targets, `total` that of the
// weights, below 2^32.
struct SquaredErrorLaneNode {
    const std::uint64_t* rows;  // code << 32 | weight
    std::int64_t sum, total;
};

// A node of a working copy of a tree: forest/predict/compact_tree.hpp. `test` holds the column in
// its lower bits and the first branch above them. A leaf is its own branch: its threshold is a NaN,
// which no value is above. The low bits of the NaN hold the only class of a pure leaf plus one, or
// zero.
struct CompactNode {
    float threshold;
    std::uint32_t test;
};
constexpr int kCompactColumnBits = 10;
constexpr std::uint32_t kCompactColumns = 1u << kCompactColumnBits;
constexpr std::uint32_t kLeafNan = 0x7FC00000, kLeafClass = 0x003FFFFF;

// n rows of `width` float32, at most 2^31 values. `is_above` decides for a row at a node whose
// threshold has the same bits as the value; null if such a row is not above.
struct CompactRows {
    const float* values;
    std::size_t n, width;
    bool (*is_above)(const void* context, std::uint32_t node, std::size_t row);
    const void* context;
};

// A tree whose nodes compare codes of one byte: forest/predict/coded_tree.hpp. The lowest bits of a
// node hold its threshold, then follow the column and, from `child_shift`, the first branch. A leaf
// is its own branch: no code is above its threshold. Its column is the only class of a pure leaf
// plus one, or zero.
struct CodedNodes {
    const std::uint32_t* nodes;
    int child_shift;
};
constexpr int kCodeBits = 8;
constexpr std::uint32_t kLeafCode = (1u << kCodeBits) - 1;

// n rows of codes, `stride` bytes each, at most 2^31 bytes. Bytes after the last row are read:
// words at the column of a leaf, which may be a class.
struct CodedRows {
    const std::uint8_t* codes;
    std::size_t n, stride;
};
constexpr std::size_t kCodePadding = (1u << 17) + sizeof(std::uint32_t);

struct ForestKernels {
    // Rank n <= kMaxRanked rows in each of m columns. keys[c * kMaxRanked + i] is the code of row i
    // above kRankBits bits that hold i, and is below 2^31.
    void (*rank)(const std::int32_t* keys, std::size_t n, std::size_t m, std::int32_t* ranks);
    // Find the best thresholds of m columns of n sorted rows.
    void (*gini)(const GiniLaneNode& node, std::size_t n, std::size_t m, const LaneLimits& limits,
                 LaneThresholds& best);
    void (*squared)(const SquaredErrorLaneNode& node, std::size_t n, std::size_t m,
                    const LaneLimits& limits, LaneThresholds& best);
    // Find the leaf of each row: ~class if it holds its class, else its index.
    void (*walk)(const CompactNode* nodes, const CompactRows& rows, std::int32_t* leaf);
    void (*walk_codes)(const CodedNodes& tree, const CodedRows& rows, std::int32_t* leaf);
};

const ForestKernels& forest_kernels();

}  // namespace ceiba
