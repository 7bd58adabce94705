// Working copy of a tree for many rows of known floats: eight bytes per node, float32 thresholds.
//
// Half of the bytes of a packed tree, so that a tree of 50,000 nodes stays in the cache with the
// rows. Comparisons with float32 are exact: floor(x), the largest float32 not above x, is monotone,
// so x <= t if floor(x) < floor(t), x > t if floor(x) > floor(t), and only equal ones need the
// values themselves. A float32 is its own floor, so that x <= t exactly if x <= floor(t).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/predict/packed_forest.hpp"

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
    // Column of a node in the lower bits, first branch above them.
    static constexpr int kColumnBits = 10;
    static constexpr std::uint32_t kColumnMask = (1u << kColumnBits) - 1;
    static constexpr std::size_t kMaxNodes = std::size_t(1) << (32 - kColumnBits);

    // A leaf is its own branch: its threshold is a NaN, which no value is above. The low bits of
    // the NaN hold the only class of a pure leaf plus one, or zero.
    struct Node {
        float threshold;
        std::uint32_t test;

        std::uint32_t branch(float x) const {
            return (test >> kColumnBits) + std::uint32_t(x > threshold);
        }
        std::uint32_t column() const { return test & kColumnMask; }
    };
    static constexpr std::uint32_t kNan = 0x7FC00000, kPayload = 0x003FFFFF;

    // Whether a copy pays for this many rows; it costs about as much as a step of each of an eighth
    // as many rows as there are nodes.
    static bool applies_to(const tree::TreeView& tree, std::size_t n_columns, std::size_t rows) {
        return n_columns <= kColumnMask && tree.count <= kMaxNodes && 8 * rows >= tree.count;
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
            nodes_[i] = {std::bit_cast<float>(is_leaf ? kNan | payload : floor),
                         child << kColumnBits | node.column()};
        }
    }

    // Find the leaves of n rows of `width` floors; `leaf` has n + 1 entries, the last unused.
    // `above(node, i)` decides for row i at a node whose threshold has the same floor. A leaf is
    // written as ~class if it holds its class, else as its index.
    //
    // The end of a path cannot be predicted, so there is no branch for it: every few steps, all
    // rows write where they are, and those in a leaf are replaced.
    template <bool kCompare, typename Above>
    void walk(const float* rows, std::size_t n, std::size_t width, const Above& above,
              std::int32_t* leaf) const {
        std::uint32_t at[kRowsInFlight] = {};
        std::size_t row[kRowsInFlight];
        const float* values[kRowsInFlight];
        const auto values_of = [&](std::size_t i) { return rows + std::min(i, n - 1) * width; };
        for (std::size_t s = 0; s < kRowsInFlight; ++s) {
            row[s] = s;
            values[s] = values_of(s);
        }
        const Node* nodes = nodes_.data();
        for (std::size_t next = kRowsInFlight, remaining = n; remaining > 0;) {
            for (std::size_t step = 0; step < kSteps; ++step) {
                for (std::size_t s = 0; s < kRowsInFlight; ++s) {
                    const Node node = nodes[at[s]];
                    const float x = values[s][node.column()];
                    std::uint32_t branch = node.branch(x);
                    if constexpr (kCompare)
                        if (std::bit_cast<std::uint32_t>(x) ==
                            std::bit_cast<std::uint32_t>(node.threshold)) [[unlikely]]
                            branch += above(at[s], std::min(row[s], n - 1));
                    at[s] = branch;
                }
            }
            for (std::size_t s = 0; s < kRowsInFlight; ++s) {
                const auto bits = std::bit_cast<std::uint32_t>(nodes[at[s]].threshold);
                const std::uint32_t payload = bits & kPayload;
                leaf[std::min(row[s], n)] =
                    payload > 0 ? ~std::int32_t(payload - 1) : std::int32_t(at[s]);
                const bool done = bits >= kNan && bits < 0x80000000;
                remaining -= std::size_t(done) & std::size_t(row[s] < n);
                row[s] = done ? next : row[s];
                values[s] = done ? values_of(next) : values[s];
                at[s] = done ? 0 : at[s];
                next += done;
            }
        }
    }

  private:
    static constexpr std::size_t kRowsInFlight = 16, kSteps = 4;

    std::vector<Node> nodes_;
};

}  // namespace ceiba::forest
