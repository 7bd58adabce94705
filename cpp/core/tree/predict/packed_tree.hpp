// The packed form of a grown tree: 16 bytes per node for prediction, and side arrays.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/grow/tree_builder.hpp"

namespace ceiba::tree {

// Type in which the values of a column are stored and compared.
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

// A node in 16 bytes.
//   bits   threshold (bits of its type); categories of branch 0 as a mask, or their offset in the
//          words; offset of the category branches in the tables, preceded by the branch of missing
//          values; offset of the thresholds of intervals in the words, after a word with the branch
//          of missing values (upper half) and their number (lower half); in a regression leaf the
//          value. With fractional or surrogate routing, words and tables of categories are followed
//          by bits or flags of the categories present in training
//   child  first branch, the others follow; in a classification leaf its row in the leaves
//   test   column (24 bits), kind of test (4), branch of missing values (3), and whether a
//   threshold
//          of an integer column is `bits` + 1/2 (the midpoint of 2 and 3; integers are compared
//          with 2, floats with 2.5); with intervals the thresholds are then followed by one such
//          bit each
struct PackedNode {
    std::uint64_t bits;
    std::int32_t child;
    std::uint32_t test;

    std::uint32_t column() const { return test & 0xFFFFFF; }
    Test kind() const { return Test(test >> 24 & 0xF); }
    std::uint32_t missing_branch() const { return test >> 28 & 7; }
    bool has_half() const { return test >> 31; }
};
static_assert(sizeof(PackedNode) == 16);

inline std::uint32_t packed_test(std::size_t column, Test kind, std::int32_t missing_branch,
                                 bool half = false) {
    return std::uint32_t(column) | std::uint32_t(kind) << 24 | std::uint32_t(missing_branch) << 28 |
           std::uint32_t(half) << 31;
}

// Threshold of a column as bits of its type; of integers it may be one half higher.
struct Threshold {
    std::uint64_t bits;
    bool half = false;
};

// Upper edges of the bins of all columns, the values of all codes, or the values of the codes at
// the thresholds of a tree, as bits of double, int64 or uint64.
struct Scales {
    std::vector<Type> types;
    std::vector<std::uint32_t> n_categories;
    const std::uint64_t* bits = nullptr;
    const std::int64_t* offsets = nullptr;
    const std::uint32_t* codes = nullptr;  // null: one edge or value per code
    bool values = false;                   // values, not edges: a threshold is the midpoint of two
    const bool* halves = nullptr;          // of edges between integers: whether to add one half

    bool has(std::size_t column, std::uint32_t code) const;
    // Threshold between two codes: `threshold_value` (of integers its distance from the value of
    // `code`), or the midpoint if that is NaN.
    Threshold threshold(std::size_t column, std::uint32_t code, std::uint32_t next_code,
                        double threshold_value = std::numeric_limits<double>::quiet_NaN()) const;
    std::uint64_t largest(std::size_t column) const;
    // What `threshold` reads for a code, to be prefetched; null if it is searched. (A function that
    // only prefetches would itself be removed: the compiler takes it for one without effect.)
    const std::uint64_t* address(std::size_t column, std::uint32_t code) const {
        return codes == nullptr ? bits + offsets[column] + code : nullptr;
    }

  private:
    Threshold edge(std::size_t column, std::uint32_t code) const;
    std::uint64_t value(std::size_t column, std::uint32_t code) const;
};

// A split at a threshold of a column, whose first branch is `child`.
struct ThresholdSplit {
    std::size_t column;
    std::uint32_t code, next_code;
    double threshold;
    std::int32_t missing_branch, child;

    static ThresholdSplit of(const Node& node, std::int32_t child) {
        return {std::size_t(node.column), node.threshold_code, node.next_code,
                node.threshold,           node.missing_branch, child};
    }
};

// Converts splits to packed nodes; categories and thresholds that do not fit are added to words and
// tables.
class SplitPacker {
  public:
    SplitPacker(const TreeBuilder& builder, const Scales& scales, std::vector<std::uint64_t>& words,
                std::vector<std::int32_t>& tables)
        : builder_(builder), scales_(scales), words_(words), tables_(tables) {}

    PackedNode split(const Node& node, std::int32_t child);
    PackedNode split(const ThresholdSplit& split) const;
    PackedNode surrogate(const Surrogate& surrogate);

  private:
    void add_categories(const Node& node, PackedNode& packed);
    void add_intervals(const Node& node, PackedNode& packed);
    std::vector<std::uint64_t> with_presence(std::vector<std::uint64_t> words, std::int64_t table,
                                             std::size_t n_categories) const;

    const TreeBuilder& builder_;
    const Scales& scales_;
    std::vector<std::uint64_t>& words_;
    std::vector<std::int32_t>& tables_;
};

// Prediction of a regression leaf; an empty leaf predicts what its parent would.
double leaf_value(const TreeBuilder& builder, std::size_t node);
// The node whose rows determine the prediction of a node: itself, or the parent of an empty node.
std::size_t prediction_node(const TreeBuilder& builder, std::size_t node);

struct PackedTree {
    std::vector<PackedNode> nodes;
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> tables;
    std::vector<Number> leaves;  // class weights of the distinct leaves
    // Side arrays, one entry per node.
    std::vector<std::int64_t> rows;
    std::vector<double> weight, impurity, gain, runner_up_gain, value;
    std::vector<std::uint8_t> reason, method;
    std::vector<std::int32_t> ties, depth, runner_up;
    std::vector<std::int32_t> order;  // index in the builder
    // Surrogates of node i are [first[i], first[i + 1]); `child` is 1 if the branches are
    // exchanged, and a branch of -1 in a table means none.
    std::vector<PackedNode> surrogates;
    std::vector<std::int64_t> first_surrogate;
    std::vector<double> agreement, adjusted;
};

PackedTree pack(const TreeBuilder& builder, const Scales& scales);

}  // namespace ceiba::tree
