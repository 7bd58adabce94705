#include "forest/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace ceiba::forest {
namespace {

using tree::Growth;
using tree::Test;

PackedNode leaf_of_numbers(const Growth& growth, std::size_t node) {
    const Number weight = growth.rules.fractional() ? growth.count(node) : growth.weight(node);
    return leaf_of_number(tree::leaf_value(growth, node), weight);
}

// Checks the leaves of a forest, in their order.
class LeafChecker {
  public:
    explicit LeafChecker(const ForestView& forest) : forest_(forest) {}

    // Where the bytes of the next tree's leaves begin.
    std::int64_t begin_tree(std::size_t tree) {
        tree_ = tree;
        return std::int64_t(first_ = at_);
    }
    // What is wrong with a leaf, or null.
    const char* complaint(const PackedNode& leaf) {
        if (forest_.classes == 0) return complaint_of_number(leaf);
        switch (leaf_kind(leaf)) {
            case Leaf::kPure:
                if (!has(leaf.child)) return kNoClass;
                return leaf.cut >= 1 && leaf.cut <= kHeaviest ? nullptr : kNoWeights;
            case Leaf::kMixed:
                if (!has(leaf.child)) return kNoClass;
                return complaint_of_code(leaf, forest_.n_leaves);
            case Leaf::kListed:
                if (leaf.child < 0 || std::size_t(leaf.child) != at_ - first_)
                    return "the weights of leaves must follow each other";
                return complaint_of_code(leaf, at_);
            default:
                return "a leaf is not one";
        }
    }

  private:
    static constexpr const char* kNoClass = "a leaf's class is not there";
    static constexpr const char* kNoWeights = "a leaf has no weights";
    static constexpr std::uint64_t kHeaviest = std::uint64_t(1) << kNumberBits;

    bool has(std::int64_t k) const { return k >= 0 && std::size_t(k) < forest_.classes; }

    static const char* complaint_of_number(const PackedNode& leaf) {
        const bool sound = leaf_kind(leaf) == Leaf::kNumber && leaf.child >= 1 &&
                           std::isfinite(std::bit_cast<double>(leaf.cut));
        return sound ? nullptr : "a leaf of numbers is not one";
    }

    const char* complaint_of_code(const PackedNode& leaf, std::size_t rest) {
        const std::uint8_t* bytes = forest_.leaves;
        LeafReader reader(leaf.cut, bytes + rest, bytes + forest_.n_leaves, forest_.classes);
        std::uint64_t total = 0;
        ClassWeight likeliest{0, 0};
        while (reader.more()) {
            const ClassWeight own = reader.next();
            if (own.place >= forest_.classes) return kNoClass;
            const auto steps = std::uint64_t(own.weight);
            const auto step = std::uint64_t(forest_.step(tree_, own.place));
            if (steps > kHeaviest / step) return kNoWeights;
            const ClassWeight whole{own.place, Number(steps * step)};
            total += std::uint64_t(whole.weight);
            if (total > kHeaviest) return kNoWeights;
            if (whole.weight > likeliest.weight) likeliest = whole;
        }
        const bool listed = leaf_kind(leaf) == Leaf::kListed;
        if (!reader.sound() || (reader.bytes() > 0) != listed) return kNoWeights;
        if (listed)
            at_ += std::size_t(reader.bytes());
        else if (likeliest.place != std::size_t(leaf.child))
            return "a leaf's class is not its likeliest";
        return nullptr;
    }

    const ForestView& forest_;
    std::size_t at_ = 0, first_ = 0, tree_ = 0;
};

}  // namespace

void Trees::join(const Trees& other) {
    const std::size_t words_before = words.size(), tables_before = tables.size();
    for (PackedNode node : other.nodes) {
        switch (node.kind()) {
            case Test::kWords:
            case Test::kIntervals:
                node.cut += words_before;
                break;
            case Test::kTable:
                node.cut += tables_before;
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
    steps.insert(steps.end(), other.steps.begin(), other.steps.end());
    importances.insert(importances.end(), other.importances.begin(), other.importances.end());
}

TreePacker::TreePacker(const Growth& growth, const tree::Scales& scales, std::vector<Number> steps)
    : growth_(growth), splits_(growth, scales, trees_.words, trees_.tables) {
    trees_.importances.assign(growth.columns, 0.0);
    trees_.steps = std::move(steps);
}

std::int32_t TreePacker::add(std::size_t count) {
    const std::size_t number = trees_.nodes.size();
    if (number + count > std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error("a tree has at most 2^31 - 1 nodes: limit its depth or leaves");
    trees_.nodes.resize(number + count);
    return std::int32_t(number);
}

void TreePacker::split(std::size_t node, std::int32_t number, std::int32_t child) {
    const tree::Node& n = growth_.nodes[node];
    put(number, splits_.split(n, child));
    trees_.importances[std::size_t(n.column)] +=
        double(growth_.weight(node)) * growth_.rules.weight_unit * n.gain;
}

void TreePacker::leaf(std::size_t node, std::int32_t number) {
    put(number,
        growth_.rules.classes ? leaf_of_classes(node, number) : leaf_of_numbers(growth_, node));
}

PackedNode TreePacker::leaf_of_classes(std::size_t node, std::int32_t number) {
    const auto classes = std::size_t(growth_.rules.classes);
    const std::size_t model = tree::model_of(growth_, node);
    const Number* weight = growth_.cell(model);
    const auto likeliest = std::size_t(std::max_element(weight, weight + classes) - weight);
    if (weight[likeliest] == growth_.weight(model))
        return leaf_of_class(likeliest, weight[likeliest]);
    code_.write(in_steps(weight), classes);
    if (code_.fits()) return packed_leaf(Leaf::kMixed, code_.first(), likeliest);
    const std::size_t place = trees_.leaves.size();
    if (place > std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error("the class weights of a tree take more than 2^31 bytes");
    code_.add_rest(trees_.leaves);
    listed_.push_back({number, place, trees_.leaves.size()});
    return packed_leaf(Leaf::kListed, code_.first(), place);
}

const Number* TreePacker::in_steps(const Number* weight) {
    if (trees_.steps.empty()) return weight;
    counted_.resize(trees_.steps.size());
    for (std::size_t k = 0; k < counted_.size(); ++k) counted_[k] = weight[k] / trees_.steps[k];
    return counted_.data();
}

// Bytes of leaves stand in the order of the nodes, in whichever order these were packed.
void TreePacker::put_bytes_in_order() {
    const auto before = [](const Listed& a, const Listed& b) { return a.number < b.number; };
    if (std::is_sorted(listed_.begin(), listed_.end(), before)) return;
    std::sort(listed_.begin(), listed_.end(), before);
    std::vector<std::uint8_t> bytes;
    bytes.reserve(trees_.leaves.size());
    for (const Listed& own : listed_) {
        trees_.nodes[std::size_t(own.number)].child = std::int32_t(bytes.size());
        bytes.insert(bytes.end(), trees_.leaves.begin() + std::ptrdiff_t(own.begin),
                     trees_.leaves.begin() + std::ptrdiff_t(own.end));
    }
    trees_.leaves = std::move(bytes);
}

Trees TreePacker::finish() {
    put_bytes_in_order();
    trees_.first.push_back(std::int64_t(trees_.nodes.size()));
    return std::move(trees_);
}

Trees pack_tree(const Growth& growth, const tree::Scales& scales, std::vector<Number> steps) {
    TreePacker packer(growth, scales, std::move(steps));
    const tree::Numbering numbering = tree::number(growth);
    packer.add(numbering.order.size());
    for (std::size_t i = 0; i < numbering.order.size(); ++i) {
        const auto node = std::size_t(numbering.order[i]);
        if (numbering.child[i] >= 0)
            packer.split(node, std::int32_t(i), numbering.child[i]);
        else
            packer.leaf(node, std::int32_t(i));
    }
    return packer.finish();
}

const char* complaint(const ForestView& forest, const std::vector<tree::Type>& types,
                      const std::vector<std::uint32_t>& levels,
                      std::vector<std::int64_t>& first_leaf) {
    if (forest.first[0] != 0 || std::size_t(forest.first[forest.trees]) != forest.count)
        return "the trees of a forest must take up all its nodes";
    for (std::size_t i = 0; forest.steps != nullptr && i < forest.trees * forest.classes; ++i)
        if (forest.steps[i] < 1) return "class weights are counted in steps of one or more";
    LeafChecker leaves(forest);
    for (std::size_t t = 0; t < forest.trees; ++t) {
        if (forest.first[t] < 0 || forest.first[t + 1] <= forest.first[t] ||
            std::size_t(forest.first[t + 1]) > forest.count)
            return "the trees of a forest must follow each other";
        const tree::TreeView view = forest.tree(t);
        if (const char* wrong = tree::complaint(view, types, levels, true)) return wrong;
        first_leaf.push_back(leaves.begin_tree(t));
        for (std::size_t i = 0; i < view.count; ++i) {
            if (view.nodes[i].kind() == Test::kIntervals) return "a forest has no intervals";
            if (view.nodes[i].kind() == Test::kLeaf)
                if (const char* wrong = leaves.complaint(view.nodes[i])) return wrong;
        }
    }
    first_leaf.push_back(leaves.begin_tree(forest.trees));
    if (std::size_t(first_leaf.back()) != forest.n_leaves)
        return "the weights of leaves must take up all their bytes";
    return nullptr;
}

void class_weights(const ForestView& forest, std::size_t tree, double* out) {
    const tree::TreeView view = forest.tree(tree);
    std::fill_n(out, view.count * forest.classes, 0.0);
    for (std::size_t i = 0; i < view.count; ++i) {
        if (view.nodes[i].kind() != Test::kLeaf) continue;
        forest.for_classes(tree, view.nodes[i], [&](std::size_t k, Number weight) {
            out[i * forest.classes + k] = double(weight);
        });
    }
}

}  // namespace ceiba::forest
