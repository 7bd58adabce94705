// Working copy of a tree for many rows of codes (threshold_codes.hpp): four bytes per node.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/predict/threshold_codes.hpp"
#include "simd/forest_kernels.hpp"

namespace ceiba::forest {

class CodedTree {
  public:
    // Whether copies of all trees of a forest pay for a block of this many rows, and their nodes
    // fit: every block copies every tree.
    static bool applies_to(const ForestView& forest, std::size_t n_columns, std::size_t rows) {
        if (n_columns > kCompactColumns || forest.count > 8 * rows * forest.n_trees) return false;
        const std::size_t children = std::size_t(1) << (32 - child_shift(forest, n_columns));
        for (std::size_t t = 0; t < forest.n_trees; ++t)
            if (forest.tree(t).count > children) return false;
        return true;
    }

    CodedTree(const ForestView& forest, std::size_t n_columns, const ThresholdCodes& codes)
        : codes_(codes), child_shift_(child_shift(forest, n_columns)) {}

    // With `with_classes`, leaves hold their class.
    void assign(const tree::TreeView& tree, bool with_classes) {
        nodes_.resize(tree.count);
        for (std::size_t i = 0; i < tree.count; ++i) {
            const PackedNode& node = tree.nodes[i];
            nodes_[i] = node.kind() == tree::Test::kLeaf
                            ? leaf(node, i, with_classes)
                            : packed(codes_.rank(node.column(), node.bits), node.column(),
                                     std::uint32_t(node.child));
        }
    }

    CodedNodes nodes() const { return {nodes_.data(), child_shift_}; }

  private:
    // The bits of a column also hold the class of a leaf plus one.
    static int child_shift(const ForestView& forest, std::size_t n_columns) {
        return kCodeBits + int(std::bit_width(std::max(n_columns, forest.n_classes)));
    }

    std::uint32_t packed(std::uint32_t rank, std::uint32_t column, std::uint32_t child) const {
        return rank | column << kCodeBits | child << child_shift_;
    }
    std::uint32_t leaf(const PackedNode& node, std::size_t index, bool with_classes) const {
        const bool has_class = with_classes & (leaf_kind(node) == Leaf::kPure);
        return packed(kLeafCode, has_class ? std::uint32_t(node.child) + 1 : 0,
                      std::uint32_t(index));
    }

    const ThresholdCodes& codes_;
    int child_shift_;
    std::vector<std::uint32_t> nodes_;
};

// The codes of a block of rows.
class CodedBlock {
  public:
    // Take n rows; false if a value is missing.
    template <typename T>
    bool assign(const ThresholdCodes& codes, const T* values, std::size_t n, std::size_t width) {
        n_ = n;
        stride_ = (width + 3) / 4 * 4;
        codes_.resize(n * stride_ + kCodePadding);
        return codes.encode(values, n, codes_.data(), stride_);
    }

    CodedRows rows() const { return {codes_.data(), n_, stride_}; }

  private:
    std::vector<std::uint8_t> codes_;
    std::size_t n_ = 0, stride_ = 0;
};

}  // namespace ceiba::forest
