// Implementation of packed forests: packing, appending and validation.
#include "forest/predict/packed_forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tree/grow/split_order.hpp"

namespace ceiba::forest {
namespace {

using tree::Test;
using tree::TreeBuilder;

PackedNode mean_leaf(const TreeBuilder& builder, std::size_t node) {
    const Number weight =
        builder.config.has_fractional_weights() ? builder.count(node) : builder.weight(node);
    return number_leaf(tree::leaf_value(builder, node), weight);
}

// Validates the leaves of a forest in storage order.
class LeafValidator {
  public:
    explicit LeafValidator(const ForestView& forest) : forest_(forest) {}

    // Offset of the leaf bytes of the next tree.
    std::int64_t begin_tree(std::size_t tree) {
        tree_ = tree;
        return std::int64_t(first_ = offset_);
    }
    // Return the defect of a leaf, or null.
    const char* leaf_defect(const PackedNode& leaf) {
        if (forest_.n_classes == 0) return number_defect(leaf);
        switch (leaf_kind(leaf)) {
            case Leaf::kPure:
                if (!has(leaf.child)) return kBadClass;
                return leaf.bits >= 1 && leaf.bits <= kMaxWeight ? nullptr : kBadWeight;
            case Leaf::kMixed:
                if (!has(leaf.child)) return kBadClass;
                return code_defect(leaf, forest_.n_leaves);
            case Leaf::kMixedLong:
                if (leaf.child < 0 || std::size_t(leaf.child) != offset_ - first_)
                    return "leaf bytes must be contiguous and in node order.";
                return code_defect(leaf, offset_);
            default:
                return "unknown kind of leaf.";
        }
    }

  private:
    static constexpr const char* kBadClass =
        "class indices of leaves must be below the number of classes.";
    static constexpr const char* kBadWeight =
        "class weights of leaves must be positive and at most 2^53 in total.";
    static constexpr std::uint64_t kMaxWeight = std::uint64_t(1) << kNumberBits;

    bool has(std::int64_t k) const { return k >= 0 && std::size_t(k) < forest_.n_classes; }

    static const char* number_defect(const PackedNode& leaf) {
        const bool is_valid = leaf_kind(leaf) == Leaf::kNumber && leaf.child >= 1 &&
                              std::isfinite(std::bit_cast<double>(leaf.bits));
        return is_valid ? nullptr
                        : "regression leaves must have a finite value and a positive weight.";
    }

    const char* code_defect(const PackedNode& leaf, std::size_t rest) {
        const std::uint8_t* bytes = forest_.leaves;
        LeafReader reader(leaf.bits, bytes + rest, bytes + forest_.n_leaves, forest_.n_classes);
        std::uint64_t total = 0;
        ClassWeight majority{0, 0};
        while (reader.has_more()) {
            const ClassWeight entry = reader.next();
            if (entry.class_index >= forest_.n_classes) return kBadClass;
            const auto weight = std::uint64_t(entry.weight);
            const auto unit = std::uint64_t(forest_.class_unit(tree_, entry.class_index));
            if (weight > kMaxWeight / unit) return kBadWeight;
            const ClassWeight scaled_entry{entry.class_index, Number(weight * unit)};
            total += std::uint64_t(scaled_entry.weight);
            if (total > kMaxWeight) return kBadWeight;
            if (scaled_entry.weight > majority.weight) majority = scaled_entry;
        }
        const bool is_long = leaf_kind(leaf) == Leaf::kMixedLong;
        if (!reader.is_valid() || (reader.bytes() > 0) != is_long) return kBadWeight;
        if (is_long)
            offset_ += std::size_t(reader.bytes());
        else if (majority.class_index != std::size_t(leaf.child))
            return "the class of a leaf must be its majority class.";
        return nullptr;
    }

    const ForestView& forest_;
    std::size_t offset_ = 0, first_ = 0, tree_ = 0;
};

}  // namespace

void PackedForest::append(const PackedForest& other) {
    const std::size_t words_before = words.size(), tables_before = tables.size();
    for (PackedNode node : other.nodes) {
        switch (node.kind()) {
            case Test::kWords:
            case Test::kIntervals:
                node.bits += words_before;
                break;
            case Test::kTable:
                node.bits += tables_before;
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
    class_units.insert(class_units.end(), other.class_units.begin(), other.class_units.end());
    importances.insert(importances.end(), other.importances.begin(), other.importances.end());
}

TreePacker::TreePacker(const TreeBuilder& builder, const tree::Scales& scales,
                       std::vector<Number> class_units)
    : builder_(builder),
      scales_(scales),
      splits_(builder, scales, trees_.words, trees_.tables),
      delays_(scales.codes == nullptr &&
              scales.offsets[builder.columns] > std::int64_t(kMaxCachedValues)) {
    trees_.importances.assign(builder.columns, 0.0);
    trees_.class_units = std::move(class_units);
}

std::int32_t TreePacker::add(std::size_t count) {
    const std::size_t index = trees_.nodes.size();
    if (index + count > std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error(
            "a tree can have at most 2^31 - 1 nodes: limit max_depth or max_leaf_nodes.");
    trees_.nodes.resize(index + count);
    return std::int32_t(index);
}

void TreePacker::split(std::size_t node, std::int32_t index, std::int32_t child) {
    const tree::Node& n = builder_.nodes[node];
    if (delays_ && n.shape == tree::SplitShape::kThreshold)
        delay(tree::ThresholdSplit::of(n, child), index);
    else
        put(index, splits_.split(n, child));
    trees_.importances[std::size_t(n.column)] +=
        double(builder_.weight(node)) * builder_.config.weight_unit * n.gain;
}

void TreePacker::delay(const tree::ThresholdSplit& split, std::int32_t index) {
    DelayedSplit& oldest = delayed_[n_delayed_ % kDelay];
    if (n_delayed_ >= kDelay) put(oldest);
    oldest = {index, split};
    ++n_delayed_;
    __builtin_prefetch(scales_.address(split.column, split.code));
    __builtin_prefetch(scales_.address(split.column, split.next_code));
}

void TreePacker::leaf(std::size_t node, std::int32_t index) {
    put(index, builder_.config.n_classes ? class_leaf(node, index) : mean_leaf(builder_, node));
}

PackedNode TreePacker::class_leaf(std::size_t node, std::int32_t index) {
    const auto classes = std::size_t(builder_.config.n_classes);
    const std::size_t model = tree::prediction_node(builder_, node);
    const Number* weight = builder_.cell(model);
    tree::ClassPair bounded;
    if (!builder_.is_within_bounds(model)) {
        bounded = builder_.bounded_weights(model);
        weight = bounded.data();
    }
    const auto majority = std::size_t(std::max_element(weight, weight + classes) - weight);
    if (weight[majority] == builder_.weight(model)) return pure_leaf(majority, weight[majority]);
    code_.write(to_units(weight), classes);
    if (code_.fits()) return packed_leaf(Leaf::kMixed, code_.first(), majority);
    const std::size_t offset = trees_.leaves.size();
    if (offset > std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error(
            "the class weights of a tree must fit into 2^31 bytes: limit max_depth or "
            "max_leaf_nodes.");
    code_.add_rest(trees_.leaves);
    leaf_bytes_.push_back({index, offset, trees_.leaves.size()});
    return packed_leaf(Leaf::kMixedLong, code_.first(), offset);
}

const Number* TreePacker::to_units(const Number* weight) {
    if (trees_.class_units.empty()) return weight;
    in_units_.resize(trees_.class_units.size());
    for (std::size_t k = 0; k < in_units_.size(); ++k)
        in_units_[k] = weight[k] / trees_.class_units[k];
    return in_units_.data();
}

// Sort the leaf bytes by node index, whatever order the nodes were packed in.
void TreePacker::sort_leaf_bytes() {
    const auto before = [](const LeafBytes& a, const LeafBytes& b) { return a.index < b.index; };
    if (std::is_sorted(leaf_bytes_.begin(), leaf_bytes_.end(), before)) return;
    std::sort(leaf_bytes_.begin(), leaf_bytes_.end(), before);
    std::vector<std::uint8_t> bytes;
    bytes.reserve(trees_.leaves.size());
    for (const LeafBytes& entry : leaf_bytes_) {
        trees_.nodes[std::size_t(entry.index)].child = std::int32_t(bytes.size());
        bytes.insert(bytes.end(), trees_.leaves.begin() + std::ptrdiff_t(entry.begin),
                     trees_.leaves.begin() + std::ptrdiff_t(entry.end));
    }
    trees_.leaves = std::move(bytes);
}

PackedForest TreePacker::finish() {
    for (std::size_t i = 0; i < std::min(n_delayed_, kDelay); ++i) put(delayed_[i]);
    sort_leaf_bytes();
    trees_.first.push_back(std::int64_t(trees_.nodes.size()));
    return std::move(trees_);
}

PackedForest pack_tree(const TreeBuilder& builder, const tree::Scales& scales,
                       std::vector<Number> class_units) {
    TreePacker packer(builder, scales, std::move(class_units));
    const tree::Numbering numbering = tree::number_nodes(builder);
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

const char* forest_defect(const ForestView& forest, const std::vector<tree::Type>& types,
                          const std::vector<std::uint32_t>& n_categories,
                          std::vector<std::int64_t>& first_leaf) {
    if (forest.first[0] != 0 || std::size_t(forest.first[forest.n_trees]) != forest.count)
        return "the trees of a forest must cover all its nodes.";
    for (std::size_t i = 0; forest.class_units != nullptr && i < forest.n_trees * forest.n_classes;
         ++i)
        if (forest.class_units[i] < 1) return "class_units must be at least 1.";
    LeafValidator leaves(forest);
    for (std::size_t t = 0; t < forest.n_trees; ++t) {
        if (forest.first[t] < 0 || forest.first[t + 1] <= forest.first[t] ||
            std::size_t(forest.first[t + 1]) > forest.count)
            return "the trees of a forest must be contiguous and not empty.";
        const tree::TreeView view = forest.tree(t);
        if (const char* defect = tree::tree_defect(view, types, n_categories, true)) return defect;
        first_leaf.push_back(leaves.begin_tree(t));
        for (std::size_t i = 0; i < view.count; ++i) {
            if (view.nodes[i].kind() == Test::kIntervals)
                return "forests do not support interval splits.";
            if (view.nodes[i].kind() == Test::kLeaf)
                if (const char* defect = leaves.leaf_defect(view.nodes[i])) return defect;
        }
    }
    first_leaf.push_back(leaves.begin_tree(forest.n_trees));
    if (std::size_t(first_leaf.back()) != forest.n_leaves)
        return "the leaves must cover all leaf bytes.";
    return nullptr;
}

void class_weights(const ForestView& forest, std::size_t tree, double* out) {
    const tree::TreeView view = forest.tree(tree);
    std::fill_n(out, view.count * forest.n_classes, 0.0);
    for (std::size_t i = 0; i < view.count; ++i) {
        if (view.nodes[i].kind() != Test::kLeaf) continue;
        forest.for_classes(tree, view.nodes[i], [&](std::size_t k, Number weight) {
            out[i * forest.n_classes + k] = double(weight);
        });
    }
}

}  // namespace ceiba::forest
