// Parting the rows of a node that is split among its branches, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/bag.hpp"
#include "forest/row_codes.hpp"

namespace ceiba::forest {

template <typename Code>
class Parting {
  public:
    explicit Parting(const RowCodes<Code>& codes)
        : codes_(codes), columns_(codes.by_column->columns) {}

    // Part the rows [begin, end) of a bag as `node` says; tells where each branch begins, and the
    // end.
    template <typename Bag>
    const std::vector<std::size_t>& part(const Growth& growth, Bag& bag, const tree::Node& node,
                                         std::size_t begin, std::size_t end) {
        if (node.branches == 2)
            in_two(growth, bag, node, begin, end);
        else
            in_many(growth, bag, node, begin, end);
        return starts_;
    }

  private:
    template <typename Bag>
    void in_two(const Growth& growth, Bag& bag, const tree::Node& node, std::size_t begin,
                std::size_t end) {
        const auto j = std::size_t(node.column);
        std::size_t left;
        if (codes_.dense(end - begin))
            left = left_rows(growth, bag, node, begin, end,
                             [own = codes_.column(j)](std::size_t row) { return own[row]; });
        else
            left = left_rows(growth, bag, node, begin, end,
                             [this, j](std::size_t row) { return codes_.row(row)[j]; });
        starts_.assign({begin, begin + left, end});
    }

    // Part rows in two by their codes; tells how many go to the left.
    template <typename Bag, typename CodeOf>
    std::size_t left_rows(const Growth& growth, Bag& bag, const tree::Node& node, std::size_t begin,
                          std::size_t end, const CodeOf& code_of) const {
        const std::uint32_t gap = columns_[std::size_t(node.column)].gap(), cut = node.cut;
        const auto part = [&](const auto& right) {
            return bag.part(begin, end,
                            [&](std::size_t row) { return right(std::uint32_t(code_of(row))); });
        };
        if (node.shape != tree::Shape::kThreshold)
            return part([&](std::uint32_t code) { return growth.branch(node, code, gap) != 0; });
        if (node.gap == 1) return part([cut](std::uint32_t code) { return code > cut; });
        return part([=](std::uint32_t code) { return (code > cut) & (code != gap); });
    }

    template <typename Bag>
    void in_many(const Growth& growth, Bag& bag, const tree::Node& node, std::size_t begin,
                 std::size_t end) {
        const auto branches = std::size_t(node.branches), j = std::size_t(node.column);
        const std::uint32_t gap = columns_[j].gap();
        starts_.assign(branches + 1, 0);
        to_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t code = codes_.row(bag.row(i))[j];
            const auto branch = std::uint32_t(growth.branch(node, code, gap));
            to_[i - begin] = branch;
            ++starts_[branch + 1];
        }
        for (std::size_t b = 1; b <= branches; ++b) starts_[b] += starts_[b - 1];
        next_ = starts_;
        for (std::uint32_t& to : to_) to = std::uint32_t(next_[to]++);
        bag.part(begin, to_);
        for (std::size_t& start : starts_) start += begin;
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    std::vector<std::size_t> starts_, next_;
    std::vector<std::uint32_t> to_;
};

}  // namespace ceiba::forest
