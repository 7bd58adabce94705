// Working copy of a tree for many rows of known floats: eight bytes per node, float32 thresholds.
//
// Half of the bytes of a packed tree, so that a tree of 50,000 nodes stays in the cache with the
// rows. Comparisons with float32 are exact: floor(x), the largest float32 not above x, is monotone,
// so x <= t if floor(x) < floor(t), x > t if floor(x) > floor(t), and only equal ones need the
// values themselves. A float32 is its own floor, so that x <= t exactly if x <= floor(t).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/predict/packed_forest.hpp"
#include "simd/forest_kernels.hpp"

namespace ceiba::forest {

// The largest float32 that is not above x; NaN for NaN, and zero without a sign, so that equal
// floors have equal bits.
inline float floor_to_float(double x) {
    const auto nearest = float(x);
    // Bits of positive floats ascend, those of negative floats descend.
    const auto bits = std::bit_cast<std::int32_t>(nearest);
    const std::int32_t below = nearest == 0 ? std::int32_t(0x80000001) : bits - (bits >> 31 | 1);
    return std::bit_cast<float>(double(nearest) > x ? below : bits) + 0.0f;
}

class CompactTree {
  public:
    // Whether a copy pays for this many rows.
    static bool applies_to(const tree::TreeView& tree, std::size_t n_columns, std::size_t rows) {
        return n_columns <= kCompactColumns && tree.count <= kMaxNodes && 8 * rows >= tree.count;
    }

    // Copy a tree whose inner nodes all test floats. With `with_classes`, leaves hold their class.
    void assign(const tree::TreeView& tree, bool with_classes) {
        nodes_.resize(tree.count);
        // Leaves and inner nodes alternate at random, so both forms are computed.
        for (std::size_t i = 0; i < tree.count; ++i) {
            const PackedNode& node = tree.nodes[i];
            const bool is_leaf = node.kind() == tree::Test::kLeaf;
            const bool has_class = with_classes & (leaf_kind(node) == Leaf::kPure);
            const std::uint32_t payload = has_class ? std::uint32_t(node.child) + 1 : 0;
            const auto floor =
                std::bit_cast<std::uint32_t>(floor_to_float(std::bit_cast<double>(node.bits)));
            const std::uint32_t child = is_leaf ? std::uint32_t(i) : std::uint32_t(node.child);
            nodes_[i] = {std::bit_cast<float>(is_leaf ? kLeafNan | payload : floor),
                         child << kCompactColumnBits | node.column()};
        }
    }

    const CompactNode* nodes() const { return nodes_.data(); }

  private:
    static constexpr std::size_t kMaxNodes = std::size_t(1) << (32 - kCompactColumnBits);

    std::vector<CompactNode> nodes_;
};

}  // namespace ceiba::forest
