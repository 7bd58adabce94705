// A grown tree as it is kept: sixteen bytes a node for prediction, and side arrays for readers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/growth.hpp"

namespace ceiba::tree {

// How the numbers of a column are stored, and so compared.
enum class Type : std::uint8_t { kDouble, kFloat, kInt, kUnsigned, kOrdinal, kNominal };

enum class Test : std::uint8_t {
    kLeaf,
    kReal,
    kInt,
    kUnsigned,
    kOrdinal,
    kMask,
    kWords,
    kTable,
    kIntervals
};

// cut    threshold (bits of its type); levels of branch 0 as a mask, or where they stand among the
//        words; where the branches of the levels stand among the tables, the gap's before them;
//        where the thresholds of intervals stand among the words, after a word with the branch of
//        gaps (upper half) and their number (lower half); in a leaf of numbers the value. In trees
//        whose gaps are shared or follow surrogates, words and tables of levels are followed by
//        bits or flags of the levels that the node had
// child  first branch, the others follow; in a leaf of classes its row among the leaves
// test   column (24 bits), test (4), branch of gaps (4)
struct PackedNode {
    std::uint64_t cut;
    std::int32_t child;
    std::uint32_t test;

    std::uint32_t column() const { return test & 0xFFFFFF; }
    Test kind() const { return Test(test >> 24 & 0xF); }
    std::uint32_t gap() const { return test >> 28; }
};
static_assert(sizeof(PackedNode) == 16);

inline std::uint32_t packed_test(std::size_t column, Test kind, std::int32_t gap) {
    return std::uint32_t(column) | std::uint32_t(kind) << 24 | std::uint32_t(gap) << 28;
}

// Upper edges of the bins of all columns, the values of all codes, or the values of those codes
// that a tree cuts at, as bits of double, int64 or uint64.
struct Scales {
    std::vector<Type> types;
    std::vector<std::uint32_t> levels;
    const std::uint64_t* bits = nullptr;
    const std::int64_t* offsets = nullptr;
    const std::uint32_t* codes = nullptr;  // null: edges or values, one a code
    bool values = false;                   // of values the middle of two is the threshold

    bool has(std::size_t column, std::uint32_t code) const;
    // Between two codes: at `at`, or halfway where that is no number.
    std::uint64_t threshold(std::size_t column, std::uint32_t cut, std::uint32_t next,
                            double at = std::numeric_limits<double>::quiet_NaN()) const;
    std::uint64_t largest(std::size_t column) const;

  private:
    std::uint64_t value(std::size_t column, std::uint32_t code) const;
};

// Splits as packed nodes; levels and cuts that do not fit into one are added to words and tables.
class SplitPacker {
  public:
    SplitPacker(const Growth& growth, const Scales& scales, std::vector<std::uint64_t>& words,
                std::vector<std::int32_t>& tables)
        : growth_(growth), scales_(scales), words_(words), tables_(tables) {}

    PackedNode split(const Node& node, std::int32_t child);
    PackedNode surrogate(const Surrogate& surrogate);

  private:
    void add_levels(const Node& node, PackedNode& packed);
    void add_intervals(const Node& node, PackedNode& packed);
    std::vector<std::uint64_t> with_presence(std::vector<std::uint64_t> words, std::int64_t table,
                                             std::size_t levels) const;

    const Growth& growth_;
    const Scales& scales_;
    std::vector<std::uint64_t>& words_;
    std::vector<std::int32_t>& tables_;
};

// What a leaf of numbers predicts; an empty one what the node above it would.
double leaf_value(const Growth& growth, std::size_t node);
// The node whose rows tell what a node predicts: itself, or of an empty one the node above.
std::size_t model_of(const Growth& growth, std::size_t node);

struct PackedTree {
    std::vector<PackedNode> nodes;
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> tables;
    std::vector<Number> leaves;  // class weights of the different leaves
    // Side arrays, one entry a node.
    std::vector<std::int64_t> rows;
    std::vector<double> weight, impurity, gain, runner_up_gain, value;
    std::vector<std::uint8_t> reason, method;
    std::vector<std::int32_t> ties, depth, runner_up;
    std::vector<std::int32_t> order;  // number in the growth
    // Surrogates of node i are [first[i], first[i + 1]): their `child` is 1 where the branches are
    // exchanged; a branch of -1 in a table says nothing.
    std::vector<PackedNode> surrogates;
    std::vector<std::int64_t> first_surrogate;
    std::vector<double> agreement, adjusted;
};

PackedTree pack(const Growth& growth, const Scales& scales);

}  // namespace ceiba::tree
