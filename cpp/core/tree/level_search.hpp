// The best split of a nominal column: two groups of levels, or a branch for each.
//
// Fisher (1958), "On grouping for maximum homogeneity", JASA 53; Breiman, Friedman, Olshen & Stone
// (1984), section 4.2.2; Coppersmith, Hong & Hosking (1999).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tree/columns.hpp"
#include "tree/items.hpp"
#include "tree/judge.hpp"
#include "tree/multiway.hpp"
#include "tree/principal.hpp"

namespace ceiba::tree {

// Groupings are searched one by one up to this many levels: 511 of them.
constexpr std::size_t kExhaustive = 10;

template <typename Cells, typename Rule>
class LevelSearch {
  public:
    explicit LevelSearch(Judge<Cells, Rule>& judge)
        : judge_(judge), multiway_(judge), left_(judge.size), right_(judge.size) {}

    template <typename Source>
    void find(const Column& column, Source source, Candidate& best) {
        items_.collect(source, judge_.size);
        if (judge_.rules.multiway)
            multiway(column, best);
        else
            grouped(column, best);
    }

  private:
    Number* zeroed(std::vector<Number>& cell) {
        std::fill(cell.begin(), cell.end(), Number(0));
        return cell.data();
    }

    const Number* item(std::size_t i) const { return items_.cell(i); }

    void grouped(const Column& column, Candidate& best) {
        const bool gap_is_item = judge_.gaps() && judge_.rules.gaps == GapRule::kLearned;
        if (gap_is_item) {
            items_.codes.push_back(column.gap());
            items_.cells.insert(items_.cells.end(), judge_.gap(), judge_.gap() + judge_.size);
        }
        const bool gap_apart = judge_.gaps() && !gap_is_item;
        if (items_.count() >= 2) {
            if (exact_by_order())
                prefixes(column, Method::kOrdered, gap_apart, best);
            else if (items_.count() <= kExhaustive)
                subsets(column, gap_apart, best);
            else
                prefixes(column, Method::kPrincipal, gap_apart, best);
        }
        if (gap_apart && judge_.rules.gaps == GapRule::kBranch) known_or_gap(column, best);
    }

    // Two classes or a mean to predict: some prefix of the levels in the order of the mean is best
    // among all groupings, for a concave impurity. The gain ratio divides that away.
    bool exact_by_order() const {
        if constexpr (requires { judge_.cells.classes(); })
            return judge_.cells.classes() <= 2 && !judge_.rules.ratio;
        else
            return true;
    }

    void known_or_gap(const Column& column, Candidate& best) {
        if (!judge_.offer(best, judge_.known(), judge_.gap())) return;
        note(column, Method::kOrdered, [](std::size_t) { return 0; }, 1, best);
    }

    template <typename Branch>
    void note(const Column& column, Method method, Branch branch, std::int32_t gap,
              Candidate& best) const {
        best.shape = Shape::kTable;
        best.method = method;
        best.gap = gap;
        best.levels = column.n_codes;
        best.table.clear();
        for (std::size_t i = 0; i < items_.count(); ++i) {
            if (items_.codes[i] == column.gap())
                best.gap = branch(i);
            else
                best.table.emplace_back(items_.codes[i], branch(i));
        }
    }

    void consider(const Number* left, const Number* right, bool gap_apart, Candidate& best,
                  const auto& take) {
        if (gap_apart)
            judge_.cut(best, left, right, take);
        else if (judge_.offer(best, left, right))
            take(kHeavier);
    }

    void prefixes(const Column& column, Method method, bool gap_apart, Candidate& best) {
        const std::vector<std::size_t> order = by_middle();
        Number* left = zeroed(left_);
        Number* right = zeroed(right_);
        for (std::size_t i = 0; i < items_.count(); ++i) judge_.sum(right, right, item(i));
        std::size_t most = 0;
        std::int32_t gap = kHeavier;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            judge_.sum(left, left, item(order[i]));
            judge_.difference(right, right, item(order[i]));
            consider(left, right, gap_apart, best, [&](std::int32_t its_gap) {
                most = i + 1;
                gap = its_gap;
            });
        }
        if (most == 0) return;
        std::vector<std::int32_t> side(items_.count(), 1);
        for (std::size_t i = 0; i < most; ++i) side[order[i]] = 0;
        note(column, method, [&](std::size_t i) { return side[i]; }, gap, best);
    }

    // Levels from the lowest to the highest share of the second class or mean; for more classes
    // along the first principal component of their class shares (Coppersmith, Hong & Hosking 1999).
    std::vector<std::size_t> by_middle() const {
        std::vector<double> middle;
        if constexpr (requires { judge_.cells.classes(); }) {
            middle =
                principal_scores(items_.cells, judge_.size, std::size_t(judge_.cells.classes()));
        } else {
            for (std::size_t i = 0; i < items_.count(); ++i)
                middle.push_back(double(item(i)[1]) / double(item(i)[0]));
        }
        std::vector<std::size_t> order(items_.count());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return middle[a] < middle[b]; });
        return order;
    }

    void subsets(const Column& column, bool gap_apart, Candidate& best) {
        const std::size_t last = items_.count() - 1;
        std::uint32_t chosen = 0;
        std::int32_t gap = kHeavier;
        for (std::uint32_t subset = 1; subset < 1u << last; ++subset) {
            Number* left = zeroed(left_);
            Number* right = zeroed(right_);
            for (std::size_t i = 0; i <= last; ++i) {
                Number* side = subset >> i & 1 ? left : right;
                judge_.sum(side, side, item(i));
            }
            consider(left, right, gap_apart, best, [&](std::int32_t its_gap) {
                chosen = subset;
                gap = its_gap;
            });
        }
        if (chosen == 0) return;
        const auto side = [&](std::size_t i) { return chosen >> i & 1 ? 0 : 1; };
        note(column, Method::kExhaustive, side, gap, best);
    }

    // A branch for every level that the node has, or that the column has.
    void multiway(const Column& column, Candidate& best) {
        std::int32_t gap = kHeavier;
        if (!multiway_.offer(items_, best, gap)) return;
        const bool every = judge_.rules.empty;
        const bool own = gap == std::int32_t(items_.count());
        const auto branch = [&](std::size_t i) {
            return std::int32_t(every ? items_.codes[i] : i);
        };
        if (every) {
            best.branches = std::int32_t(column.n_codes) + own;
            if (own)
                gap = std::int32_t(column.n_codes);
            else if (gap != kHeavier)
                gap = branch(std::size_t(gap));
        }
        note(column, Method::kMultiway, branch, gap, best);
        for (std::uint32_t level = 0; every && level < column.n_codes; ++level)
            if (!std::binary_search(items_.codes.begin(), items_.codes.end(), level))
                best.table.emplace_back(level, std::int32_t(level));
    }

    Judge<Cells, Rule>& judge_;
    Multiway<Cells, Rule> multiway_;
    std::vector<Number> left_, right_;
    Items items_;
};

}  // namespace ceiba::tree
