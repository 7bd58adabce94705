// Scoring of a split with one branch per item: categories, or intervals of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/split/cells.hpp"
#include "tree/split/split_scorer.hpp"

namespace ceiba::tree {

// Categories or intervals of a column at one node, with their cells.
struct CodeCells {
    std::vector<std::uint32_t> codes;
    std::vector<Number> cells;
    std::size_t size = 0;  // of a cell

    std::size_t count() const { return codes.size(); }
    const Number* cell(std::size_t i) const { return cells.data() + i * size; }
    Number* cell(std::size_t i) { return cells.data() + i * size; }

    void clear(std::size_t cell_size) {
        size = cell_size;
        codes.clear();
        cells.clear();
    }
    // Add an item without rows.
    Number* add(std::uint32_t code) {
        codes.push_back(code);
        cells.resize(codes.size() * size, 0);
        return cell(codes.size() - 1);
    }
    // Collect all codes of a source, in order.
    template <typename Source>
    void collect(Source& source, std::size_t cell_size) {
        clear(cell_size);
        while (source.more()) {
            Number* cell = add(source.code());
            source.take(cell);
        }
    }
};

template <typename Cells, typename CriterionTerm>
class MultiwaySplit {
  public:
    explicit MultiwaySplit(SplitScorer<Cells, CriterionTerm>& scorer)
        : scorer_(scorer), joined_(scorer.size) {}

    // Try the split under the missing-value policy. If it is the best so far, set its number of
    // branches and `missing_branch`, the item that missing values join (the number of items: a
    // branch of their own).
    bool try_split(const CodeCells& items, Candidate& best, std::int32_t& missing_branch) {
        const std::size_t n = items.count();
        const MissingPolicy policy = scorer_.config.missing;
        const bool missing_has_branch =
            scorer_.has_missing() &&
            (policy == MissingPolicy::kBranch || (policy == MissingPolicy::kLearned && n == 1));
        if (n + missing_has_branch < 2) return false;
        bool better = false;
        for (const std::size_t host : hosts(items, missing_has_branch)) {
            if (!try_branches(items, best, host, missing_has_branch)) continue;
            better = true;
            best.n_branches = std::int32_t(n + missing_has_branch);
            missing_branch = missing_has_branch      ? std::int32_t(n)
                             : scorer_.has_missing() ? std::int32_t(host)
                                                     : kHeavierBranch;
        }
        return better;
    }

  private:
    // Items that missing values may join, or kNoHost.
    std::vector<std::size_t> hosts(const CodeCells& items, bool missing_has_branch) const {
        std::vector<std::size_t> found;
        if (scorer_.has_missing() && !missing_has_branch &&
            scorer_.config.missing == MissingPolicy::kLearned)
            for (std::size_t i = 0; i < items.count(); ++i) found.push_back(i);
        else
            found.push_back(scorer_.has_missing() && !missing_has_branch ? heaviest(items)
                                                                         : kNoHost);
        return found;
    }

    bool try_branches(const CodeCells& items, Candidate& best, std::size_t host,
                      bool missing_has_branch) {
        best.has_candidates = true;
        double terms = 0, branch_xlog2x = 0;
        std::size_t n_large = 0, n_branches = items.count() + missing_has_branch;
        for (std::size_t i = 0; i < n_branches; ++i) {
            const Number* cell = i == items.count() ? scorer_.missing_cell() : items.cell(i);
            if (i == host) cell = scorer_.sum(joined_.data(), cell, scorer_.missing_cell());
            if (scorer_.add_branch(cell, terms, branch_xlog2x))
                ++n_large;
            else if (!scorer_.config.two_branches_suffice)
                return false;
            else
                scorer_.add_terms(cell, scorer_.cells.weight(cell), terms, branch_xlog2x);
        }
        if (n_large < 2) return false;
        ++best.n_allowed;
        if (!best.update(scorer_.score(terms, branch_xlog2x))) return false;
        best.terms = terms;
        best.branch_xlog2x = branch_xlog2x;
        return true;
    }

    std::size_t heaviest(const CodeCells& items) const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < items.count(); ++i)
            if (scorer_.weight_without_costs(items.cell(i)) >
                scorer_.weight_without_costs(items.cell(best)))
                best = i;
        return best;
    }

    static constexpr std::size_t kNoHost = std::numeric_limits<std::size_t>::max();

    SplitScorer<Cells, CriterionTerm>& scorer_;
    std::vector<Number> joined_;
};

}  // namespace ceiba::tree
