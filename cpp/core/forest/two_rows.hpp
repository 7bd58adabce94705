// A node of two rows: they can be parted in one way, and the branches are leaves.
//
// A third of the splits of a tree of numbers part two rows: were they split as all others are, a
// forest in 255 bins would take a seventh longer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/columns_abreast.hpp"
#include "forest/forest.hpp"
#include "forest/row_codes.hpp"
#include "tree/column_draw.hpp"

namespace ceiba::forest {

template <typename Code, typename Bag>
class TwoRows {
  public:
    // No column tells the rows apart; one must be asked how it does.
    static constexpr std::int32_t kNone = -1, kAsk = -2;

    TwoRows(const RowCodes<Code>& codes, const GrowthRules& rules)
        : codes_(codes),
          columns_(codes.by_column->columns),
          splits_(Abreast<Bag>::judges(rules) && rules.split.cuts == tree::CutRule::kEvery &&
                  rules.columns_a_node > 0 && rules.split.least_rows <= 1 &&
                  rules.least_decrease == 0 && rules.split.factors.empty()) {}

    // The first drawn column that parts them has the best score, and needs no other beside it.
    std::int32_t part(const Bag& bag, std::size_t begin, tree::ColumnDraw& draw) {
        const Code* first = codes_.row(bag.row(begin));
        const Code* second = codes_.row(bag.row(begin + 1));
        while (draw.more()) {
            const std::int32_t j = draw.next();
            first_ = first[j];
            second_ = second[j];
            const Column& column = columns_[std::size_t(j)];
            if (first_ == second_) continue;
            const bool asked = column.nominal || std::max(first_, second_) == column.gap();
            return asked ? kAsk : j;
        }
        return kNone;
    }

    // Whether the rules let any two rows be split into leaves.
    bool splits() const { return splits_; }
    // Split the node by the next drawn column that parts its rows, and pack it with its leaves;
    // false, and nothing done, where that is not so simple.
    bool split(Growth& growth, const Bag& bag, tree::ColumnDraw& draw, TreePacker& packer,
               std::size_t node, std::size_t begin, std::int32_t number) {
        bag.fetch(begin);
        bag.fetch(begin + 1);
        const std::int32_t column = part(bag, begin, draw);
        if (column < 0) return false;
        const std::size_t lower = begin + (first_ > second_), upper = begin + (first_ < second_);
        const Number left = bag.weight_of(lower), right = bag.weight_of(upper);
        if (std::min(left, right) < growth.rules.split.least_weight) return false;
        decide(growth, bag, node, column, lower, upper);
        growth.nodes[node].gap = right > left;
        const std::int32_t child = packer.add(2);
        packer.split(node, number, child);
        packer.put(child, bag.leaf(lower));
        packer.put(child + 1, bag.leaf(upper));
        return true;
    }

  private:
    void decide(Growth& growth, const Bag& bag, std::size_t node, std::int32_t column,
                std::size_t lower, std::size_t upper) {
        column_[0] = column;
        best_[0].clear();
        best_[0].split_between(std::min(first_, second_), std::max(first_, second_),
                               Abreast<Bag>::terms_of_two(bag, growth.cell(node), lower, upper));
        growth.decide(node, column_, best_);
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    bool splits_;
    std::uint32_t first_ = 0, second_ = 0;  // codes of the rows
    std::vector<std::int32_t> column_{0};
    std::vector<Candidate> best_ = std::vector<Candidate>(1);
};

}  // namespace ceiba::forest
