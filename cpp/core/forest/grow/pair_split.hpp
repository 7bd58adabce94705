// Splits a node of two rows, which can be separated in one way into two leaves.
//
// A third of the splits of a regression tree separate two rows: with the general search a forest on
// 255 bins would take a seventh longer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/grow/lane_search.hpp"
#include "forest/grow/row_codes.hpp"
#include "forest/predict/packed_forest.hpp"
#include "tree/grow/column_sampler.hpp"

namespace ceiba::forest {

template <typename Code, typename Sample>
class PairSplit {
  public:
    // No column separates the rows; a column separates them but needs the general search.
    static constexpr std::int32_t kNoColumn = -1, kNeedsSearch = -2;

    PairSplit(const RowCodes<Code>& codes, const TreeConfig& config)
        : codes_(codes),
          columns_(codes.by_column->columns),
          enabled_(LaneSearch<Sample>::supports(config) &&
                   config.split.threshold_grid == tree::ThresholdGrid::kEvery &&
                   config.columns_per_node > 0 && config.split.min_rows <= 1 &&
                   config.min_impurity_decrease == 0 && config.split.cost_factors.empty()) {}

    // The first drawn column that separates the rows has the best score, so no other is needed.
    std::int32_t separating_column(const Sample& sample, std::size_t begin,
                                   tree::ColumnSampler& draw) {
        const Code* first = codes_.row(sample.row(begin));
        const Code* second = codes_.row(sample.row(begin + 1));
        while (draw.has_more()) {
            const std::int32_t j = draw.next();
            first_ = first[j];
            second_ = second[j];
            const Column& column = columns_[std::size_t(j)];
            if (first_ == second_) continue;
            const bool needs_search =
                column.nominal || std::max(first_, second_) == column.missing_code();
            return needs_search ? kNeedsSearch : j;
        }
        return kNoColumn;
    }

    // Whether the config allows any two rows to be split into leaves.
    bool enabled() const { return enabled_; }
    // Split the node by the next drawn column that separates its rows, and pack it with its leaves.
    // Returns false, having changed nothing, if the general search is needed.
    bool try_split(TreeBuilder& builder, const Sample& sample, tree::ColumnSampler& draw,
                   TreePacker& packer, std::size_t node, std::size_t begin,
                   std::int32_t packed_index) {
        sample.prefetch(begin);
        sample.prefetch(begin + 1);
        const std::int32_t column = separating_column(sample, begin, draw);
        if (column < 0) return false;
        const std::size_t lower = begin + (first_ > second_), upper = begin + (first_ < second_);
        const Number left = sample.weight_of(lower), right = sample.weight_of(upper);
        if (std::min(left, right) < builder.config.split.min_weight) return false;
        decide_split(builder, sample, node, column, lower, upper);
        builder.nodes[node].missing_branch = right > left;
        const std::int32_t child = packer.add(2);
        packer.split(node, packed_index, child);
        packer.put(child, sample.leaf(lower));
        packer.put(child + 1, sample.leaf(upper));
        return true;
    }

  private:
    void decide_split(TreeBuilder& builder, const Sample& sample, std::size_t node,
                      std::int32_t column, std::size_t lower, std::size_t upper) {
        column_[0] = column;
        best_[0].clear();
        best_[0].split_between(
            std::min(first_, second_), std::max(first_, second_),
            LaneSearch<Sample>::pair_score(sample, builder.cell(node), lower, upper));
        builder.decide(node, column_, best_);
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    bool enabled_;
    std::uint32_t first_ = 0, second_ = 0;  // codes of the rows
    std::vector<std::int32_t> column_{0};
    std::vector<Candidate> best_ = std::vector<Candidate>(1);
};

}  // namespace ceiba::forest
