// Packed storage of a forest: the nodes of all trees in one array, sixteen bytes each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/predict/leaf_code.hpp"
#include "tree/predict/packed_tree.hpp"
#include "tree/predict/route.hpp"

namespace ceiba::forest {

using tree::PackedNode;

// Kind of a leaf, stored in the bits of the missing branch:
// kNumber: bits hold the value; child holds the weight (the row count if weights are fractional),
// at most 2^31 - 1
// kPure: bits hold the weight of the only class; child holds the class
// kMixed: bits hold the class weights in units, see leaf_code.hpp; child holds the majority class
// kMixedLong: bits hold the first 64 bits of that code; child is the offset of the rest among the
// leaf bytes of the tree, which are in node order
enum class Leaf : std::uint8_t { kNumber, kPure, kMixed, kMixedLong };

inline Leaf leaf_kind(const PackedNode& node) { return Leaf(node.missing_branch()); }

inline PackedNode packed_leaf(Leaf kind, std::uint64_t bits, std::size_t child) {
    return {bits, std::int32_t(child), tree::packed_test(0, tree::Test::kLeaf, std::int32_t(kind))};
}
inline PackedNode number_leaf(double value, Number weight) {
    const Number max_weight = std::numeric_limits<std::int32_t>::max();
    return packed_leaf(Leaf::kNumber, std::bit_cast<std::uint64_t>(value),
                       std::size_t(std::min(weight, max_weight)));
}
inline PackedNode pure_leaf(std::size_t class_index, Number weight) {
    return packed_leaf(Leaf::kPure, std::uint64_t(weight), class_index);
}

// Words and tables, and offsets into them, are those of one tree until forests are appended.
struct PackedForest {
    std::vector<PackedNode> nodes;
    std::vector<std::int64_t> first{0};  // first node of each tree, and the end
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> tables;
    std::vector<std::uint8_t> leaves;  // bytes of long leaves, tree by tree
    // Per (tree, class): leaves store its weight in multiples of this unit. Empty: units of 1.
    std::vector<Number> class_units;
    std::vector<double> importances;  // per (tree, column): decrease of impurity

    // Append the trees of `other`.
    void append(const PackedForest& other);
};

// Non-owning view of the arrays of a forest.
struct ForestView {
    const PackedNode* nodes = nullptr;
    std::size_t count = 0;
    const std::int64_t* first = nullptr;
    std::size_t n_trees = 0;
    const std::uint64_t* words = nullptr;
    std::size_t n_words = 0;
    const std::int32_t* tables = nullptr;
    std::size_t n_tables = 0;
    const std::uint8_t* leaves = nullptr;
    std::size_t n_leaves = 0;
    const std::int64_t* first_leaf = nullptr;  // first leaf byte of each tree, and the end
    std::size_t n_classes = 0;
    const Number* class_units = nullptr;  // per (tree, class); null: 1 each

    tree::TreeView tree(std::size_t t) const {
        return {nodes + first[t], std::size_t(first[t + 1] - first[t]), words, n_words, tables,
                n_tables};
    }
    Number class_unit(std::size_t t, std::size_t k) const {
        return class_units ? class_units[t * n_classes + k] : 1;
    }
    // Call each(class, weight) for the classes of a leaf, in ascending order.
    template <typename Each>
    void for_classes(std::size_t t, const PackedNode& leaf, const Each& each) const {
        if (leaf_kind(leaf) == Leaf::kPure) return each(std::size_t(leaf.child), Number(leaf.bits));
        const bool is_long = leaf_kind(leaf) == Leaf::kMixedLong;
        const std::uint8_t* end = leaves + n_leaves;
        const std::uint8_t* rest = is_long ? leaves + first_leaf[t] + leaf.child : end;
        for (LeafReader reader(leaf.bits, rest, end, n_classes); reader.has_more();) {
            const ClassWeight entry = reader.next();
            each(entry.class_index, entry.weight * class_unit(t, entry.class_index));
        }
    }
};

// Return why the arrays are not a valid forest, or null. A valid forest leads every row to a leaf
// with a prediction, and nothing beyond the arrays is read. Also fills `first_leaf` with the first
// leaf byte of each tree, and the end.
const char* forest_defect(const ForestView& forest, const std::vector<tree::Type>& types,
                          const std::vector<std::uint32_t>& n_categories,
                          std::vector<std::int64_t>& first_leaf);

// Weights of every (node, class) of a tree; zero for inner nodes.
void class_weights(const ForestView& forest, std::size_t tree, double* out);

// Packs the nodes of a growing tree in any order, so that the grower keeps only its open
// nodes.
class TreePacker {
  public:
    // Class weights are multiples of `class_units`; empty: multiples of 1.
    TreePacker(const tree::TreeBuilder& builder, const tree::Scales& scales,
               std::vector<Number> class_units);

    // Reserve consecutive nodes; returns the index of the first.
    std::int32_t add(std::size_t count);
    // Pack a node of the growing tree at this index.
    void split(std::size_t node, std::int32_t index, std::int32_t child);
    void leaf(std::size_t node, std::int32_t index);
    void put(std::int32_t index, const PackedNode& node) {
        trees_.nodes[std::size_t(index)] = node;
    }
    PackedForest finish();

  private:
    // In a large table of exact values the two around a threshold are a cache miss each. Splits are
    // packed this many later, and the values prefetched meanwhile: read at once they took a tenth
    // of a fit of five classes, and a sixth of one of regression.
    static constexpr std::size_t kDelay = 16, kMaxCachedValues = 1 << 16;

    struct DelayedSplit {
        std::int32_t index;
        tree::ThresholdSplit split;
    };
    // Bytes of a leaf that does not fit into its node.
    struct LeafBytes {
        std::int32_t index;
        std::size_t begin, end;
    };

    void delay(const tree::ThresholdSplit& split, std::int32_t index);
    void put(const DelayedSplit& delayed) { put(delayed.index, splits_.split(delayed.split)); }
    PackedNode class_leaf(std::size_t node, std::int32_t index);
    const Number* to_units(const Number* weight);
    void sort_leaf_bytes();

    const tree::TreeBuilder& builder_;
    const tree::Scales& scales_;
    PackedForest trees_;
    tree::SplitPacker splits_;
    bool delays_;
    DelayedSplit delayed_[kDelay];
    std::size_t n_delayed_ = 0;  // so far; the last of them are not yet packed
    LeafWriter code_;
    std::vector<Number> in_units_;
    std::vector<LeafBytes> leaf_bytes_;
};

// Pack a grown tree.
PackedForest pack_tree(const tree::TreeBuilder& builder, const tree::Scales& scales,
                       std::vector<Number> class_units);

}  // namespace ceiba::forest
