// A forest as it is kept: the nodes of all trees one after the other, sixteen bytes each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/leaf_code.hpp"
#include "tree/packed.hpp"
#include "tree/route.hpp"

namespace ceiba::forest {

using tree::PackedNode;

// What stands in a leaf, told in the place of the branch for gaps:
//   kNumber  cut: the value; child: the weight, of rows whose weights are not whole numbers their
//            count, and never more than 2^31 - 1
//   kPure    cut: the weight of the one class; child: the class
//   kMixed   cut: the weights of the classes in steps, see leaf_code.hpp; child: the likeliest
//   class kListed  cut: their first 64 bits; child: where the others begin among the bytes of the
//   tree's
//            leaves, which stand there in the order of the nodes
enum class Leaf : std::uint8_t { kNumber, kPure, kMixed, kListed };

inline Leaf leaf_kind(const PackedNode& node) { return Leaf(node.gap()); }

inline PackedNode packed_leaf(Leaf kind, std::uint64_t cut, std::size_t child) {
    return {cut, std::int32_t(child), tree::packed_test(0, tree::Test::kLeaf, std::int32_t(kind))};
}
inline PackedNode leaf_of_number(double value, Number weight) {
    const Number most = std::numeric_limits<std::int32_t>::max();
    return packed_leaf(Leaf::kNumber, std::bit_cast<std::uint64_t>(value),
                       std::size_t(std::min(weight, most)));
}
inline PackedNode leaf_of_class(std::size_t only, Number weight) {
    return packed_leaf(Leaf::kPure, std::uint64_t(weight), only);
}

// Words and tables are those of one tree, and so are places in them, until trees are joined.
struct Trees {
    std::vector<PackedNode> nodes;
    std::vector<std::int64_t> first{0};  // node of each tree, and the end
    std::vector<std::uint64_t> words;
    std::vector<std::int32_t> tables;
    std::vector<std::uint8_t> leaves;  // of each tree, one after the other
    // Of every (tree, class): leaves count its weight in these steps. Empty: in ones.
    std::vector<Number> steps;
    std::vector<double> importances;  // of every (tree, column): decrease of impurity

    // Put the trees of `other` behind these.
    void join(const Trees& other);
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
    const std::uint8_t* leaves = nullptr;
    std::size_t n_leaves = 0;
    const std::int64_t* first_leaf = nullptr;  // byte of each tree, and the end
    std::size_t classes = 0;
    const Number* steps = nullptr;  // of every (tree, class); null: ones

    tree::TreeView tree(std::size_t t) const {
        return {nodes + first[t], std::size_t(first[t + 1] - first[t]), words, n_words, tables,
                n_tables};
    }
    Number step(std::size_t t, std::size_t k) const { return steps ? steps[t * classes + k] : 1; }
    // each(class, weight) for all classes in a leaf of a tree, ascending.
    template <typename Each>
    void for_classes(std::size_t t, const PackedNode& leaf, const Each& each) const {
        if (leaf_kind(leaf) == Leaf::kPure) return each(std::size_t(leaf.child), Number(leaf.cut));
        const bool listed = leaf_kind(leaf) == Leaf::kListed;
        const std::uint8_t* end = leaves + n_leaves;
        const std::uint8_t* rest = listed ? leaves + first_leaf[t] + leaf.child : end;
        for (LeafReader reader(leaf.cut, rest, end, classes); reader.more();) {
            const ClassWeight own = reader.next();
            each(own.place, own.weight * step(t, own.place));
        }
    }
};

// Whether every row ends in a leaf that says something, and nothing beyond the arrays is read.
// Finds where the bytes of each tree's leaves begin, and their end.
const char* complaint(const ForestView& forest, const std::vector<tree::Type>& types,
                      const std::vector<std::uint32_t>& levels,
                      std::vector<std::int64_t>& first_leaf);

// Weights of every (node, class) of a tree; zero where a node is no leaf.
void class_weights(const ForestView& forest, std::size_t tree, double* out);

// Packs the nodes of a growing tree, in any order: who grows it need keep only its open ones.
class TreePacker {
  public:
    // The weights of the classes are multiples of these steps; none: of one.
    TreePacker(const tree::Growth& growth, const tree::Scales& scales, std::vector<Number> steps);

    // Room for some more nodes, side by side; the number of the first.
    std::int32_t add(std::size_t count);
    // Pack a node of the growth under this number.
    void split(std::size_t node, std::int32_t number, std::int32_t child);
    void leaf(std::size_t node, std::int32_t number);
    void put(std::int32_t number, const PackedNode& node) {
        trees_.nodes[std::size_t(number)] = node;
    }
    Trees finish();

  private:
    // Bytes of a leaf that does not fit into its node.
    struct Listed {
        std::int32_t number;
        std::size_t begin, end;
    };

    PackedNode leaf_of_classes(std::size_t node, std::int32_t number);
    const Number* in_steps(const Number* weight);
    void put_bytes_in_order();

    const tree::Growth& growth_;
    Trees trees_;
    tree::SplitPacker splits_;
    LeafWriter code_;
    std::vector<Number> counted_;
    std::vector<Listed> listed_;
};

// Pack a tree that has grown.
Trees pack_tree(const tree::Growth& growth, const tree::Scales& scales, std::vector<Number> steps);

}  // namespace ceiba::forest
