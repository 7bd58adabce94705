// Rows on their way down a tree, as ranges of one stack: weights that are shared out where a value
// is missing, and no memory taken for a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tree/route.hpp"
#include "tree/ways.hpp"

namespace ceiba::tree {

struct WeightedRow {
    double weight;
    std::uint32_t index;
    std::uint16_t label;
};

struct RowRange {
    std::size_t begin, end;

    std::size_t size() const { return end - begin; }
};

// What a row without a value in a node's column does: go down all branches, in parts; or follow
// the node's surrogates, where there are any; or take the branch of gaps.
struct GapWays {
    bool shared = false;
    SurrogateView surrogates;
};

class RowStack {
  public:
    RowStack(const TreeView& tree, const std::vector<AnyColumn>& columns, const GapWays& gaps,
             std::vector<WeightedRow> rows)
        : tree_(tree), columns_(columns), gap_ways_(gaps), rows_(std::move(rows)) {}

    RowRange all() const { return {0, rows_.size()}; }
    std::size_t top() const { return rows_.size(); }
    void drop(std::size_t top) { rows_.resize(top); }

    std::vector<WeightedRow> copy(RowRange range) const {
        return {rows_.begin() + std::ptrdiff_t(range.begin),
                rows_.begin() + std::ptrdiff_t(range.end)};
    }

    // Put those of `range` that are not in `part` of it on top.
    RowRange push_without(RowRange range, RowRange part) {
        const std::size_t first = top();
        rows_.resize(first + range.size() - part.size());
        const auto begin = rows_.begin();
        const auto next =
            std::copy(begin + std::ptrdiff_t(range.begin), begin + std::ptrdiff_t(part.begin),
                      begin + std::ptrdiff_t(first));
        std::copy(begin + std::ptrdiff_t(part.end), begin + std::ptrdiff_t(range.end), next);
        return {first, top()};
    }

    // Class weights.
    void count(RowRange range, double* cell, std::size_t classes) const {
        std::fill_n(cell, classes, 0.0);
        for (std::size_t i = range.begin; i < range.end; ++i)
            cell[rows_[i].label] += rows_[i].weight;
    }

    // Append the ranges of the branches of `node` to `out`. They lie within `range`, whose rows
    // change their order, or, where rows are shared out, on top of the stack; returns whether.
    bool split(std::int32_t node, std::int32_t branches, RowRange range,
               std::vector<RowRange>& out) {
        const std::size_t gaps = find_branches(node, branches, range);
        const std::size_t first = gaps > 0 ? rows_.size() : range.begin;
        if (gaps > 0) find_shares(range);
        starts_.clear();
        std::size_t next = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            const std::size_t own = counts_[b] + (gaps > 0 && shares_[b] > 0 ? gaps : 0);
            starts_.push_back(next);
            out.push_back({first + next, first + next + own});
            next += own;
        }
        if (range.size() > 0) scatter(range, next, first);
        return gaps > 0;
    }

  private:
    static constexpr std::int32_t kAllBranches = -1;

    std::int32_t branch_at(std::int32_t node, const AnyColumn& column, std::size_t row) const {
        const bool by_surrogates = gap_ways_.surrogates.first != nullptr;
        const bool gap = (gap_ways_.shared || by_surrogates) &&
                         lacks_branch(tree_, tree_.nodes[node], column, row);
        if (gap && gap_ways_.shared) return kAllBranches;
        const std::int32_t branch = branch_of(tree_, tree_.nodes[node], column, row);
        return gap ? surrogate_branch(tree_, gap_ways_.surrogates, std::size_t(node), columns_, row,
                                      branch)
                   : branch;
    }

    // The branch of every row, and how many rows have each; returns those that go down all.
    std::size_t find_branches(std::int32_t node, std::int32_t branches, RowRange range) {
        const AnyColumn& column = columns_[tree_.nodes[node].column()];
        branch_.resize(range.size());
        counts_.assign(std::size_t(branches), 0);
        std::size_t gaps = 0;
        for (std::size_t i = 0; i < range.size(); ++i) {
            const std::int32_t b = branch_at(node, column, rows_[range.begin + i].index);
            branch_[i] = b;
            if (b == kAllBranches)
                ++gaps;
            else if (b < branches)
                ++counts_[std::size_t(b)];
            else
                throw std::invalid_argument("a row's branch is not there");
        }
        return gaps;
    }

    // Shares of the known weight; equal ones where nothing is known.
    void find_shares(RowRange range) {
        shares_.assign(counts_.size(), 0.0);
        for (std::size_t i = 0; i < range.size(); ++i)
            if (branch_[i] != kAllBranches)
                shares_[std::size_t(branch_[i])] += rows_[range.begin + i].weight;
        double known = 0;
        for (const double weight : shares_) known += weight;
        for (double& share : shares_)
            share = known > 0 ? share / known : 1 / double(shares_.size());
    }

    // Put `count` rows, sorted by their branch, behind `first`.
    void scatter(RowRange range, std::size_t count, std::size_t first) {
        sorted_.resize(count);
        for (std::size_t i = 0; i < range.size(); ++i) {
            const WeightedRow& row = rows_[range.begin + i];
            if (branch_[i] != kAllBranches)
                sorted_[starts_[std::size_t(branch_[i])]++] = row;
            else
                share_out(row);
        }
        rows_.resize(std::max(rows_.size(), first + count));
        std::copy(sorted_.begin(), sorted_.end(), rows_.begin() + std::ptrdiff_t(first));
    }

    void share_out(const WeightedRow& row) {
        for (std::size_t b = 0; b < shares_.size(); ++b)
            if (shares_[b] > 0)
                sorted_[starts_[b]++] = {row.weight * shares_[b], row.index, row.label};
    }

    const TreeView& tree_;
    const std::vector<AnyColumn>& columns_;
    const GapWays& gap_ways_;
    std::vector<WeightedRow> rows_;
    // Of the split at hand.
    std::vector<std::int32_t> branch_;
    std::vector<std::size_t> counts_, starts_;
    std::vector<double> shares_;
    std::vector<WeightedRow> sorted_;
};

}  // namespace ceiba::tree
