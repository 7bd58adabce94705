#include "forest/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace ceiba::forest {
namespace {

using tree::Growth;
using tree::Test;

PackedNode leaf(Leaf kind, std::uint64_t cut, std::size_t child) {
    return {cut, std::int32_t(child), tree::packed_test(0, Test::kLeaf, std::int32_t(kind))};
}

PackedNode leaf_of_classes(const Growth& growth, std::size_t node, Trees& trees) {
    const auto classes = std::size_t(growth.rules.classes);
    const Number* cell = growth.cell(tree::model_of(growth, node));
    const auto likeliest = std::size_t(std::max_element(cell, cell + classes) - cell);
    const Number most = cell[likeliest];
    if (most == growth.weight(tree::model_of(growth, node)))
        return leaf(Leaf::kPure, std::uint64_t(most), likeliest);
    const LeafBits packed(classes);
    if (packed.bits > 0 && most <= packed.most()) {
        std::uint64_t cut = 0;
        for (std::size_t k = 0; k < classes; ++k) cut |= std::uint64_t(cell[k]) << k * packed.bits;
        return leaf(Leaf::kMixed, cut, likeliest);
    }
    trees.leaves.insert(trees.leaves.end(), cell, cell + classes);
    return leaf(Leaf::kListed, likeliest, trees.leaves.size() / classes - 1);
}

PackedNode leaf_of_numbers(const Growth& growth, std::size_t node) {
    const Number weight = growth.rules.fractional() ? growth.count(node) : growth.weight(node);
    const Number most = std::numeric_limits<std::int32_t>::max();
    return leaf(Leaf::kMixed, std::bit_cast<std::uint64_t>(tree::leaf_value(growth, node)),
                std::size_t(std::min(weight, most)));
}

// As tree::number, of nodes that were grown in their final order.
tree::Numbering as_grown(const Growth& growth) {
    tree::Numbering found;
    found.order.resize(growth.nodes.size());
    std::iota(found.order.begin(), found.order.end(), 0);
    for (const tree::Node& node : growth.nodes) found.child.push_back(node.child);
    return found;
}

// Weights add up to less in any bag.
constexpr std::uint64_t kHeaviest = std::uint64_t(1) << 53;

// Weights of the classes in a leaf are those of some class, and no bit lies outside of them.
bool holds_weights(const ForestView& forest, const PackedNode& node) {
    const LeafBits packed(forest.classes);
    if (packed.bits == 0) return false;
    const std::size_t used = packed.bits * forest.classes;
    if (used < 64 && node.cut >> used != 0) return false;
    return packed.of(node.cut, std::size_t(node.child)) > 0;
}

// What is wrong with a leaf, or null.
const char* complaint_of_leaf(const ForestView& forest, const PackedNode& node) {
    if (forest.classes == 0) {
        const bool sound =
            node.gap() == 0 && node.child >= 1 && std::isfinite(std::bit_cast<double>(node.cut));
        return sound ? nullptr : "a leaf of numbers is not one";
    }
    const auto child = std::size_t(node.child);
    if (node.child < 0 || node.gap() > std::uint32_t(Leaf::kListed)) return "a leaf is not one";
    if (leaf_kind(node) == Leaf::kListed) {
        if (child >= forest.n_leaves || node.cut >= forest.classes)
            return "a leaf's weights lie outside of the forest's arrays";
        return nullptr;
    }
    if (child >= forest.classes) return "a leaf's class is not there";
    const bool weighs = leaf_kind(node) == Leaf::kPure ? node.cut >= 1 && node.cut <= kHeaviest
                                                       : holds_weights(forest, node);
    return weighs ? nullptr : "a leaf has no weights";
}

}  // namespace

void Trees::join(const Trees& other, std::size_t classes) {
    const std::size_t words_before = words.size(), tables_before = tables.size();
    const std::size_t leaves_before = classes ? leaves.size() / classes : 0;
    for (PackedNode node : other.nodes) {
        switch (node.kind()) {
            case Test::kWords:
            case Test::kIntervals:
                node.cut += words_before;
                break;
            case Test::kTable:
                node.cut += tables_before;
                break;
            case Test::kLeaf:
                if (classes && leaf_kind(node) == Leaf::kListed)
                    node.child += std::int32_t(leaves_before);
                break;
            default:
                break;
        }
        nodes.push_back(node);
    }
    const std::int64_t before = first.back();
    for (std::size_t t = 1; t < other.first.size(); ++t) first.push_back(before + other.first[t]);
    words.insert(words.end(), other.words.begin(), other.words.end());
    tables.insert(tables.end(), other.tables.begin(), other.tables.end());
    leaves.insert(leaves.end(), other.leaves.begin(), other.leaves.end());
    importances.insert(importances.end(), other.importances.begin(), other.importances.end());
}

Trees pack_tree(const Growth& growth, const tree::Scales& scales, bool in_order) {
    Trees trees;
    const tree::Numbering numbering = in_order ? as_grown(growth) : tree::number(growth);
    tree::SplitPacker splits(growth, scales, trees.words, trees.tables);
    trees.importances.assign(growth.columns, 0.0);
    trees.nodes.reserve(numbering.order.size());
    for (std::size_t i = 0; i < numbering.order.size(); ++i) {
        const auto node = std::size_t(numbering.order[i]);
        const tree::Node& n = growth.nodes[node];
        if (numbering.child[i] >= 0) {
            trees.nodes.push_back(splits.split(n, numbering.child[i]));
            trees.importances[std::size_t(n.column)] +=
                double(growth.weight(node)) * growth.rules.weight_unit * n.gain;
        } else if (growth.rules.classes) {
            trees.nodes.push_back(leaf_of_classes(growth, node, trees));
        } else {
            trees.nodes.push_back(leaf_of_numbers(growth, node));
        }
    }
    trees.first.push_back(std::int64_t(trees.nodes.size()));
    return trees;
}

const char* complaint(const ForestView& forest, const std::vector<tree::Type>& types,
                      const std::vector<std::uint32_t>& levels) {
    if (forest.first[0] != 0 || std::size_t(forest.first[forest.trees]) != forest.count)
        return "the trees of a forest must take up all its nodes";
    for (std::size_t t = 0; t < forest.trees; ++t) {
        if (forest.first[t] < 0 || forest.first[t + 1] <= forest.first[t] ||
            std::size_t(forest.first[t + 1]) > forest.count)
            return "the trees of a forest must follow each other";
        if (const char* wrong = tree::complaint(forest.tree(t), types, levels, true)) return wrong;
    }
    for (std::size_t i = 0; i < forest.count; ++i) {
        if (forest.nodes[i].kind() == Test::kIntervals) return "a forest has no intervals";
        if (forest.nodes[i].kind() == Test::kLeaf)
            if (const char* wrong = complaint_of_leaf(forest, forest.nodes[i])) return wrong;
    }
    if (forest.classes == 0 && forest.n_leaves > 0)
        return "leaves of numbers have no class weights";
    for (std::size_t row = 0; row < forest.n_leaves; ++row) {
        const Number* own = forest.leaves + row * forest.classes;
        const Number most = *std::max_element(own, own + forest.classes);
        if (*std::min_element(own, own + forest.classes) < 0 || most <= 0 ||
            std::uint64_t(most) > kHeaviest)
            return "a leaf has no weights";
    }
    return nullptr;
}

}  // namespace ceiba::forest
