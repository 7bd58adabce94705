// A split into many branches, one for each of some items: levels, or intervals of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/items.hpp"
#include "tree/judge.hpp"

namespace ceiba::tree {

template <typename Cells, typename Rule>
class Multiway {
  public:
    explicit Multiway(Judge<Cells, Rule>& judge) : judge_(judge), joined_(judge.size) {}

    // Offer the split under the rule for gaps. Where it is the best so far, its branches and `gap`,
    // the place of the gaps among the items (their number: a branch of their own), are noted.
    bool offer(const Items& items, Candidate& best, std::int32_t& gap) {
        const std::size_t n = items.count();
        const GapRule rule = judge_.rules.gaps;
        const bool own =
            judge_.gaps() && (rule == GapRule::kBranch || (rule == GapRule::kLearned && n == 1));
        if (n + own < 2) return false;
        bool better = false;
        for (const std::size_t host : hosts(items, own)) {
            if (!offer_branches(items, best, host, own)) continue;
            better = true;
            best.branches = std::int32_t(n + own);
            gap = own ? std::int32_t(n) : judge_.gaps() ? std::int32_t(host) : kHeavier;
        }
        return better;
    }

  private:
    // Items that the gaps may join, or nobody.
    std::vector<std::size_t> hosts(const Items& items, bool own) const {
        std::vector<std::size_t> found;
        if (judge_.gaps() && !own && judge_.rules.gaps == GapRule::kLearned)
            for (std::size_t i = 0; i < items.count(); ++i) found.push_back(i);
        else
            found.push_back(judge_.gaps() && !own ? heaviest(items) : kNobody);
        return found;
    }

    bool offer_branches(const Items& items, Candidate& best, std::size_t host, bool own) {
        best.seen = true;
        double terms = 0, weights = 0;
        std::size_t large = 0, branches = items.count() + own;
        for (std::size_t i = 0; i < branches; ++i) {
            const Number* cell = i == items.count() ? judge_.gap() : items.cell(i);
            if (i == host) cell = judge_.sum(joined_.data(), cell, judge_.gap());
            if (judge_.branch(cell, terms, weights))
                ++large;
            else if (!judge_.rules.two)
                return false;
            else
                judge_.add(cell, judge_.cells.weight(cell), terms, weights);
        }
        if (large < 2) return false;
        ++best.allowed;
        if (!best.offer(judge_.score(terms, weights))) return false;
        best.terms = terms;
        best.weights = weights;
        return true;
    }

    std::size_t heaviest(const Items& items) const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < items.count(); ++i)
            if (judge_.heft(items.cell(i)) > judge_.heft(items.cell(best))) best = i;
        return best;
    }

    static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

    Judge<Cells, Rule>& judge_;
    std::vector<Number> joined_;
};

}  // namespace ceiba::tree
