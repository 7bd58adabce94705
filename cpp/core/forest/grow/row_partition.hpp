// Partitions the rows of a split node among its branches, stably.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/grow/row_codes.hpp"
#include "forest/sample/in_bag_sample.hpp"

namespace ceiba::forest {

template <typename Code>
class RowPartition {
  public:
    explicit RowPartition(const RowCodes<Code>& codes)
        : codes_(codes), columns_(codes.by_column->columns) {}

    // Partition the rows [begin, end) of a sample by the split of `node`; returns where each branch
    // begins, and the end.
    template <typename Sample>
    const std::vector<std::size_t>& split(const TreeBuilder& builder, Sample& sample,
                                          const tree::Node& node, std::size_t begin,
                                          std::size_t end) {
        if (node.n_branches == 2)
            split_in_two(builder, sample, node, begin, end);
        else
            split_in_many(builder, sample, node, begin, end);
        return starts_;
    }

  private:
    template <typename Sample>
    void split_in_two(const TreeBuilder& builder, Sample& sample, const tree::Node& node,
                      std::size_t begin, std::size_t end) {
        const auto j = std::size_t(node.column);
        std::size_t left;
        if (codes_.dense(end - begin))
            left = partition_rows(
                builder, sample, node, begin, end,
                [column = codes_.column(j)](std::size_t row) { return column[row]; });
        else
            left = partition_rows(builder, sample, node, begin, end,
                                  [this, j](std::size_t row) { return codes_.row(row)[j]; });
        starts_.assign({begin, begin + left, end});
    }

    // Partition rows in two by their codes; returns the number of rows on the left.
    template <typename Sample, typename CodeOf>
    std::size_t partition_rows(const TreeBuilder& builder, Sample& sample, const tree::Node& node,
                               std::size_t begin, std::size_t end, const CodeOf& code_of) const {
        const std::uint32_t missing_code = columns_[std::size_t(node.column)].missing_code(),
                            threshold_code = node.threshold_code;
        const auto partition = [&](const auto& right) {
            return sample.partition(
                begin, end, [&](std::size_t row) { return right(std::uint32_t(code_of(row))); });
        };
        if (node.shape != tree::SplitShape::kThreshold)
            return partition(
                [&](std::uint32_t code) { return builder.branch(node, code, missing_code) != 0; });
        if (node.missing_branch == 1)
            return partition(
                [threshold_code](std::uint32_t code) { return code > threshold_code; });
        return partition(
            [=](std::uint32_t code) { return (code > threshold_code) & (code != missing_code); });
    }

    template <typename Sample>
    void split_in_many(const TreeBuilder& builder, Sample& sample, const tree::Node& node,
                       std::size_t begin, std::size_t end) {
        const auto branches = std::size_t(node.n_branches), j = std::size_t(node.column);
        const std::uint32_t missing_code = columns_[j].missing_code();
        starts_.assign(branches + 1, 0);
        target_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t code = codes_.row(sample.row(i))[j];
            const auto branch = std::uint32_t(builder.branch(node, code, missing_code));
            target_[i - begin] = branch;
            ++starts_[branch + 1];
        }
        for (std::size_t b = 1; b <= branches; ++b) starts_[b] += starts_[b - 1];
        next_ = starts_;
        for (std::uint32_t& target : target_) target = std::uint32_t(next_[target]++);
        sample.partition(begin, target_);
        for (std::size_t& start : starts_) start += begin;
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    std::vector<std::size_t> starts_, next_;
    std::vector<std::uint32_t> target_;
};

}  // namespace ceiba::forest
