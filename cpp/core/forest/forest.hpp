// A forest as it is kept: the nodes of all trees one after the other, sixteen bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/packed.hpp"
#include "tree/route.hpp"

namespace ceiba::forest {

using tree::Number;
using tree::PackedNode;

// What stands in a leaf of classes, in the place of the branch for gaps:
//   kMixed   cut: weights of the classes, in 64 / classes bits each; child: the likeliest class
//   kPure    cut: weight of the one class; child: the class
//   kListed  cut: the likeliest class; child: the row of the weights among the leaves
// A leaf of numbers has its value as cut, and its weight as child: of rows whose weights are not
// whole numbers their count, and never more than 2^31 - 1.
enum class Leaf : std::uint8_t { kMixed, kPure, kListed };

inline Leaf leaf_kind(const PackedNode& node) { return Leaf(node.gap()); }

// How the weights of some classes are packed into 64 bits; 0 bits where they are too many.
struct LeafBits {
    explicit LeafBits(std::size_t classes)
        : classes(classes), bits(classes >= 2 ? 64 / classes : 0) {}

    std::size_t classes, bits;

    Number most() const { return (Number(1) << bits) - 1; }
    Number of(std::uint64_t cut, std::size_t k) const { return Number(cut >> (k * bits)) & most(); }
};

// Words, tables and rows of leaves are those of one tree, and so are places in them, until trees
// are joined.
struct Trees {
    std::vector<PackedNode> nodes;
    std::vector<std::int64_t> first{0};  // node of each tree, and the end
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> tables;
    std::vector<Number> leaves;
    std::vector<double> importances;  // of every (tree, column): decrease of impurity

    // Put the trees of `other` behind these.
    void join(const Trees& other, std::size_t classes);
};

// The arrays of a forest, wherever they lie.
struct ForestView {
    const PackedNode* nodes = nullptr;
    std::size_t count = 0;
    const std::int64_t* first = nullptr;
    std::size_t trees = 0;
    const std::uint64_t* words = nullptr;
    std::size_t n_words = 0;
    const std::int32_t* tables = nullptr;
    std::size_t n_tables = 0;
    const Number* leaves = nullptr;
    std::size_t n_leaves = 0;  // rows
    std::size_t classes = 0;

    tree::TreeView tree(std::size_t t) const {
        return {nodes + first[t], std::size_t(first[t + 1] - first[t]), words, n_words, tables,
                n_tables};
    }
};

// Whether every row ends in a leaf that says something, and nothing beyond the arrays is read.
const char* complaint(const ForestView& forest, const std::vector<tree::Type>& types,
                      const std::vector<std::uint32_t>& levels);

// Pack one grown tree; `in_order` says that its nodes were grown in their final order.
Trees pack_tree(const tree::Growth& growth, const tree::Scales& scales, bool in_order);

}  // namespace ceiba::forest
