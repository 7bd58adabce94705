// Implementation of the raw scores of boosted trees.
//
// Many rows of floats walk through small copies of the trees in SIMD lanes: a block of rows stays
// in the first-level cache while it passes through all trees. Other rows are routed one by one.
#include "boosting/raw_scores.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "forest/predict/compact_tree.hpp"
#include "simd/boosting_kernels.hpp"

namespace ceiba::boosting {
namespace {

using forest::ForestRows;
using forest::ForestView;
using tree::PackedNode;

// Rows per block that are routed one by one: a tree stays in the cache while they pass through it.
constexpr std::size_t kBlock = 2048;
// Values of a block that walks in lanes: half of a first-level cache of 48 kB.
constexpr std::size_t kLaneValues = 6144;

// Copies of the trees for walks in lanes.
class LaneTrees {
    // Threshold of leaves: a NaN whose bits are not those of missing values, which test as equal.
    static constexpr float kLeafThreshold = std::bit_cast<float>(0x7FFFFFFFu);

  public:
    // Copies for every `step`th tree of a range, or none if they or the rows are too few, too large
    // or not floats, or if missing values have branches of their own.
    static std::optional<LaneTrees> of(const ForestView& trees, const ForestRows& table,
                                       std::size_t begin, std::size_t end, std::size_t step) {
        if ((table.doubles == nullptr && table.floats == nullptr) ||
            table.width > kWalkColumnMask || table.rows < kWalkRows)
            return std::nullopt;
        // A copy takes as long as some rows take to walk through the tree.
        const auto n_nodes = std::size_t(trees.first[end] - trees.first[begin]);
        if (table.rows * (end - begin) < n_nodes / 4) return std::nullopt;
        for (std::size_t t = begin; t < end; ++t)
            if (!fits(trees.tree(t))) return std::nullopt;
        LaneTrees copies;
        for (std::size_t t = begin; t < end; t += step) copies.add(trees.tree(t));
        copies.threshold_.resize(copies.threshold_.size() + kWalkPadding);
        copies.test_.resize(copies.test_.size() + kWalkPadding);
        return copies;
    }

    WalkNodes tree(std::size_t t) const {
        return {threshold_.data() + first_[t], test_.data() + first_[t], count_[t]};
    }

  private:
    static bool fits(const tree::TreeView& tree) {
        const auto is_binary = [](const PackedNode& node) {
            return node.kind() == tree::Test::kLeaf || node.missing_branch() <= 1;
        };
        return tree.count < std::size_t(1) << (32 - kWalkChildShift) &&
               std::all_of(tree.nodes, tree.nodes + tree.count, is_binary);
    }

    void add(const tree::TreeView& tree) {
        first_.push_back(test_.size());
        count_.push_back(tree.count);
        for (std::size_t i = 0; i < tree.count; ++i) {
            const PackedNode& node = tree.nodes[i];
            const bool is_leaf = node.kind() == tree::Test::kLeaf;
            const auto child = std::uint32_t(is_leaf ? std::int32_t(i) : node.child);
            const std::uint32_t missing = is_leaf ? 0 : node.missing_branch();
            threshold_.push_back(is_leaf
                                     ? kLeafThreshold
                                     : forest::floor_to_float(std::bit_cast<double>(node.bits)));
            test_.push_back(node.column() | missing << kWalkMissingBit | child << kWalkChildShift);
        }
    }

    std::vector<std::size_t> first_, count_;
    std::vector<float> threshold_;
    std::vector<std::uint32_t> test_;
};

// The values of a block of rows as float32, rounded down; rows beyond the last one repeat it.
void copy_floats(const ForestRows& table, std::size_t begin, std::size_t n, std::size_t padded,
                 float* out) {
    const std::size_t first = begin * table.width, count = n * table.width;
    if (table.floats != nullptr)
        std::copy_n(table.floats + first, count, out);
    else
        std::transform(table.doubles + first, table.doubles + first + count, out,
                       forest::floor_to_float);
    for (std::size_t i = n; i < padded; ++i)
        std::copy_n(out + (n - 1) * table.width, table.width, out + i * table.width);
}

// Whether the trees of every round, one per output, differ only in the values of their leaves, as
// one tree for all outputs is stored. Rows then walk through the first of them alone. Splits of
// more than 64 categories are not compared, but walked.
bool share_splits(const ForestView& trees, std::size_t begin, std::size_t end,
                  std::size_t outputs) {
    if (outputs == 1 || begin % outputs != 0 || end % outputs != 0) return false;
    for (std::size_t t = begin; t < end; ++t) {
        const tree::TreeView first = trees.tree(t - t % outputs), own = trees.tree(t);
        const bool is_equal =
            std::equal(first.nodes, first.nodes + first.count, own.nodes, own.nodes + own.count,
                       [](const PackedNode& a, const PackedNode& b) {
                           const bool is_leaf = a.kind() == tree::Test::kLeaf;
                           return a.kind() == b.kind() &&
                                  (is_leaf || std::memcmp(&a, &b, sizeof(PackedNode)) == 0);
                       });
        if (!is_equal) return false;
    }
    return true;
}

// Add the leaf values of one block of rows.
template <typename Leaf>
void add_values(const ForestView& trees, std::size_t t, std::size_t outputs, std::size_t n,
                const Leaf* leaf, double* scores) {
    const PackedNode* nodes = trees.nodes + trees.first[t];
    double* own = scores + t % outputs;
    for (std::size_t i = 0; i < n; ++i)
        own[i * outputs] += std::bit_cast<double>(nodes[leaf[i]].bits);
}

// Route the rows that met a threshold equal to their value after rounding down.
void route_equal_rows(const ForestView& trees, const ForestRows& table, std::size_t t,
                      std::size_t begin, std::size_t n, std::uint32_t* leaf) {
    for (std::size_t i = 0; i < n; ++i) {
        if (!(leaf[i] & kWalkEqual)) continue;
        const auto row = std::uint32_t(begin + i);
        std::int32_t exact;
        forest::route_rows(trees, table, t, {&row, 1}, &exact);
        leaf[i] = std::uint32_t(exact);
    }
}

}  // namespace

void add_raw_scores(const ForestView& trees, const ForestRows& table, std::size_t begin,
                    std::size_t end, std::size_t outputs, double* scores, int threads) {
    if (table.rows == 0 || begin == end) return;
    const std::size_t step = share_splits(trees, begin, end, outputs) ? outputs : 1;
    const std::optional<LaneTrees> lanes = LaneTrees::of(trees, table, begin, end, step);
    const std::size_t block_rows =
        lanes ? std::max<std::size_t>(1, kLaneValues / (table.width * kWalkRows)) * kWalkRows
              : kBlock;
    const std::size_t n_blocks = (table.rows + block_rows - 1) / block_rows;
    // A few blocks per task: there are thousands of small ones.
    const Segments parts{n_blocks, std::min<std::size_t>(n_blocks, 64)};
    for_segments(parts, threads_for(20.0 * double(table.rows) * double(end - begin), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     std::vector<float> values(lanes ? block_rows * table.width : 0);
                     std::vector<std::uint32_t> lane_leaf(block_rows), rows(block_rows);
                     std::vector<std::int32_t> leaf(block_rows);
                     for (std::size_t b = parts.begin(s); b < parts.end(s); ++b) {
                         if (interrupt.stopped(thread)) return;
                         const std::size_t first = b * block_rows;
                         const std::size_t n = std::min(block_rows, table.rows - first);
                         double* own = scores + first * outputs;
                         if (lanes) {
                             const std::size_t padded = (n + kWalkRows - 1) / kWalkRows * kWalkRows;
                             copy_floats(table, first, n, padded, values.data());
                             for (std::size_t t = begin; t < end; t += step) {
                                 boosting_kernels().walk(lanes->tree((t - begin) / step),
                                                         values.data(), padded, table.width,
                                                         lane_leaf.data());
                                 route_equal_rows(trees, table, t, first, n, lane_leaf.data());
                                 for (std::size_t k = 0; k < step; ++k)
                                     add_values(trees, t + k, outputs, n, lane_leaf.data(), own);
                             }
                         } else {
                             std::iota(rows.begin(), rows.end(), std::uint32_t(first));
                             for (std::size_t t = begin; t < end; t += step) {
                                 forest::route_rows(trees, table, t, {rows.data(), n}, leaf.data());
                                 for (std::size_t k = 0; k < step; ++k)
                                     add_values(trees, t + k, outputs, n, leaf.data(), own);
                             }
                         }
                     }
                 });
}

}  // namespace ceiba::boosting
