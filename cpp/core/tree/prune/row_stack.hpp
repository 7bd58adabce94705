// A stack of weighted rows that are routed down a tree as ranges, without an allocation per row;
// rows with a missing value may be divided.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tree/predict/missing_routing.hpp"
#include "tree/predict/route.hpp"

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

// Routing of a row with a missing value: down all branches by fractions; or by the surrogates of
// the node, if there are any; or down the branch of missing values.
struct MissingRouting {
    bool is_fractional = false;
    SurrogateView surrogates;
};

class RowStack {
  public:
    RowStack(const TreeView& tree, const std::vector<AnyColumn>& columns,
             const MissingRouting& routing, std::vector<WeightedRow> rows)
        : tree_(tree), columns_(columns), routing_(routing), rows_(std::move(rows)) {}

    RowRange all() const { return {0, rows_.size()}; }
    std::size_t top() const { return rows_.size(); }
    void drop(std::size_t top) { rows_.resize(top); }

    std::vector<WeightedRow> copy(RowRange range) const {
        return {rows_.begin() + std::ptrdiff_t(range.begin),
                rows_.begin() + std::ptrdiff_t(range.end)};
    }

    // Push the rows of `range` that are not in its sub-range `part`.
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

    // Add up the class weights.
    void count(RowRange range, double* cell, std::size_t n_classes) const {
        std::fill_n(cell, n_classes, 0.0);
        for (std::size_t i = range.begin; i < range.end; ++i)
            cell[rows_[i].label] += rows_[i].weight;
    }

    // Append the ranges of the branches of `node` to `out`. They are within `range`, whose rows are
    // reordered, or on top of the stack if rows are divided; returns whether they are.
    bool split(std::int32_t node, std::int32_t n_branches, RowRange range,
               std::vector<RowRange>& out) {
        const std::size_t n_missing = find_branches(node, n_branches, range);
        const std::size_t first = n_missing > 0 ? rows_.size() : range.begin;
        if (n_missing > 0) find_fractions(range);
        starts_.clear();
        std::size_t next = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            const std::size_t size =
                counts_[b] + (n_missing > 0 && fractions_[b] > 0 ? n_missing : 0);
            starts_.push_back(next);
            out.push_back({first + next, first + next + size});
            next += size;
        }
        if (range.size() > 0) scatter(range, next, first);
        return n_missing > 0;
    }

  private:
    static constexpr std::int32_t kAllBranches = -1;

    std::int32_t branch_at(std::int32_t node, const AnyColumn& column, std::size_t row) const {
        const bool by_surrogates = routing_.surrogates.first != nullptr;
        const bool is_unrouted = (routing_.is_fractional || by_surrogates) &&
                                 lacks_branch(tree_, tree_.nodes[node], column, row);
        if (is_unrouted && routing_.is_fractional) return kAllBranches;
        const std::int32_t branch = branch_of(tree_, tree_.nodes[node], column, row);
        return is_unrouted ? surrogate_branch(tree_, routing_.surrogates, std::size_t(node),
                                              columns_, row, branch)
                           : branch;
    }

    // Find the branch of every row and count the rows per branch; returns how many go down all
    // branches.
    std::size_t find_branches(std::int32_t node, std::int32_t n_branches, RowRange range) {
        const AnyColumn& column = columns_[tree_.nodes[node].column()];
        branch_.resize(range.size());
        counts_.assign(std::size_t(n_branches), 0);
        std::size_t n_missing = 0;
        for (std::size_t i = 0; i < range.size(); ++i) {
            const std::int32_t b = branch_at(node, column, rows_[range.begin + i].index);
            branch_[i] = b;
            if (b == kAllBranches)
                ++n_missing;
            else if (b < n_branches)
                ++counts_[std::size_t(b)];
            else
                throw std::invalid_argument(
                    "the branch of a row must be less than the number of branches of its node.");
        }
        return n_missing;
    }

    // Fractions of the known weight; equal fractions if no row is known.
    void find_fractions(RowRange range) {
        fractions_.assign(counts_.size(), 0.0);
        for (std::size_t i = 0; i < range.size(); ++i)
            if (branch_[i] != kAllBranches)
                fractions_[std::size_t(branch_[i])] += rows_[range.begin + i].weight;
        double known = 0;
        for (const double weight : fractions_) known += weight;
        for (double& fraction : fractions_)
            fraction = known > 0 ? fraction / known : 1 / double(fractions_.size());
    }

    // Write `count` rows, sorted by branch, to `first` and behind it.
    void scatter(RowRange range, std::size_t count, std::size_t first) {
        sorted_.resize(count);
        for (std::size_t i = 0; i < range.size(); ++i) {
            const WeightedRow& row = rows_[range.begin + i];
            if (branch_[i] != kAllBranches)
                sorted_[starts_[std::size_t(branch_[i])]++] = row;
            else
                distribute(row);
        }
        rows_.resize(std::max(rows_.size(), first + count));
        std::copy(sorted_.begin(), sorted_.end(), rows_.begin() + std::ptrdiff_t(first));
    }

    void distribute(const WeightedRow& row) {
        for (std::size_t b = 0; b < fractions_.size(); ++b)
            if (fractions_[b] > 0)
                sorted_[starts_[b]++] = {row.weight * fractions_[b], row.index, row.label};
    }

    const TreeView& tree_;
    const std::vector<AnyColumn>& columns_;
    const MissingRouting& routing_;
    std::vector<WeightedRow> rows_;
    // Buffers of the current split.
    std::vector<std::int32_t> branch_;
    std::vector<std::size_t> counts_, starts_;
    std::vector<double> fractions_;
    std::vector<WeightedRow> sorted_;
};

}  // namespace ceiba::tree
