// What the trees of one boosting fit share: encoded rows, memory, and the tree grown last.
//
// A BoostingGrower lives as long as the fit: it grows one tree after the other, and computes leaf
// sums, adds leaf values to the scores and packs the last one. How a single tree grows is written
// in boosting/tree_growth.hpp; a TreeGrowth lives for one call of `grow`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "boosting/code_matrix.hpp"
#include "boosting/config.hpp"
#include "boosting/quantized.hpp"
#include "boosting/split_search.hpp"
#include "forest/predict/packed_forest.hpp"
#include "tree/encode/columns.hpp"
#include "tree/grow/histogram_store.hpp"
#include "tree/grow/row_store.hpp"
#include "tree/grow/tree_builder.hpp"

namespace ceiba::boosting {

// A leaf and its rows, and the range of values that constraints leave it.
struct BoostedLeaf {
    std::int32_t node;
    std::size_t begin, end;
    Bounds bounds;
};

// Grows the trees of a fit, and keeps the last one.
template <typename Code>
class BoostingGrower {
  public:
    BoostingGrower(const BoostingConfig& config, const tree::Columns<Code>& columns, int threads);

    // A second grower on the same codes, for another tree at the same time. All that share them
    // divide the memory for histograms.
    BoostingGrower with_shared_codes() const {
        return BoostingGrower(config_, columns_, threads_, codes_);
    }

    // Grow a tree from the gradients of some rows, ascending, or of all if there are none.
    // `columns` are those it may test, ascending; draws of columns are keyed by `seed` and the path
    // of a node. The tree does not depend on `threads`.
    void grow(const Gradients& gradients, std::span<const std::uint32_t> rows,
              std::vector<std::int32_t> columns, std::uint64_t seed, int threads);

    const tree::TreeBuilder& builder() const { return *builder_; }
    const std::vector<BoostedLeaf>& leaves() const { return leaves_; }
    std::span<const std::uint32_t> rows_of(const BoostedLeaf& leaf) const {
        return std::span(rows_).subspan(leaf.begin, leaf.end - leaf.begin);
    }
    // Rows of the sample, those of each node together.
    std::span<const std::uint32_t> rows() const { return rows_; }
    std::size_t n_rows() const { return columns_.rows; }
    int threads() const { return threads_; }
    const BoostingConfig& config() const { return config_; }
    // Sums of the quantized gradients and Hessians of every node, (node, output, 2), from which the
    // splits were scored; and the bounds of every node, (node, 2).
    const std::vector<double>& node_sums() const { return node_sums_; }
    const std::vector<double>& node_bounds() const { return node_bounds_; }
    // Sums of real gradients and Hessians over the rows of every leaf, exact in fixed point.
    // `as_grown`: the gradients are those that the tree was grown from, whose scale is known.
    std::vector<RealSums> leaf_sums(const Gradients& gradients, bool as_grown) const;
    // Add the value of its leaf, (leaf, output), to the scores of every row, those outside of the
    // sample included. Scores are one array of n_rows numbers per output.
    void add_values(const double* values, std::size_t outputs, double* scores) const;
    // Pack the tree, with the first output's values in its leaves.
    forest::PackedForest pack(const tree::Scales& scales, const double* values,
                              std::size_t outputs) const;

  private:
    template <typename, typename>
    friend class TreeGrowth;

    using SharedCodes = std::shared_ptr<const CodeMatrix<Code>>;

    BoostingGrower(const BoostingConfig& config, const tree::Columns<Code>& columns, int threads,
                   SharedCodes codes)
        : config_(config), columns_(columns), threads_(threads), codes_(std::move(codes)) {}

    // Write the leaf of every row, those outside of the sample included, to leaf_index_.
    void index_leaves(int threads);
    std::int32_t leaf_of_row(std::size_t row) const;

    BoostingConfig config_;
    tree::Columns<Code> columns_;
    int threads_;
    SharedCodes codes_;
    std::unique_ptr<tree::TreeBuilder> builder_;
    std::vector<BoostedLeaf> leaves_;
    std::vector<double> node_sums_, node_bounds_;
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<PackedGradients::Word> packed_values_;
    std::vector<WideGradients::Word> wide_values_;
    // Kept from tree to tree: memory that is returned to the system after each costs page faults.
    tree::HistogramStore<PackedGradients> packed_histograms_;
    tree::HistogramStore<WideGradients> wide_histograms_;
    GradientScale scale_;  // of the gradients of the last tree
    // Index of the leaf of every row. Sums and scores of leaves then take the rows in table order:
    // in the order of leaves every row was a cache miss. With the kernels that measure, round and
    // divide rows, a fit of 500,000 rows took 1.13 instead of 1.25 s.
    std::vector<std::uint32_t> leaf_index_;
    std::vector<bool> in_sample_;
    bool all_rows_ = true;
};

}  // namespace ceiba::boosting
