// Search for the best split of a nominal column: two groups of categories, or a branch for each.
//
// Fisher (1958), "On grouping for maximum homogeneity", JASA 53; Breiman, Friedman, Olshen & Stone
// (1984), section 4.2.2; Coppersmith, Hong & Hosking (1999), "Partitioning nominal attributes in
// decision trees", Data Mining and Knowledge Discovery 3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/split/multiway_split.hpp"
#include "tree/split/split_scorer.hpp"
#include "tree/split/vector_cells.hpp"

namespace ceiba::tree {

// Score each category along the first principal component of the class fractions. `cells` has
// `size` numbers per category, the first `n_classes` of them class weights. With two classes the
// score is the fraction of the second.
std::vector<double> principal_component_scores(const std::vector<Number>& cells, std::size_t size,
                                               std::size_t n_classes);
// The same for the means of several targets, relative to those of the node.
std::vector<double> principal_component_scores(const std::vector<Number>& cells,
                                               const VectorSquaredError& criterion);

// Up to this many categories, all groupings (511) are tried.
constexpr std::size_t kMaxExhaustive = 10;

template <typename Cells, typename CriterionTerm>
class CategorySearch {
  public:
    explicit CategorySearch(SplitScorer<Cells, CriterionTerm>& scorer)
        : scorer_(scorer), multiway_(scorer), left_(scorer.size), right_(scorer.size) {}

    template <typename Source>
    void find(const Column& column, Source source, Candidate& best) {
        items_.collect(source, scorer_.size);
        if (scorer_.config.multiway)
            search_multiway(column, best);
        else
            search_groups(column, best);
        if (best.found() && scorer_.config.corrects(column))
            best.chance_gain =
                chance_gain(scorer_.max_gain(), items_.count(), std::size_t(scorer_.n_rows()));
    }

  private:
    Number* zeroed(std::vector<Number>& cell) {
        std::fill(cell.begin(), cell.end(), Number(0));
        return cell.data();
    }

    const Number* item(std::size_t i) const { return items_.cell(i); }

    void search_groups(const Column& column, Candidate& best) {
        const bool missing_is_item =
            scorer_.has_missing() && scorer_.config.missing == MissingPolicy::kLearned;
        if (missing_is_item) {
            items_.codes.push_back(column.missing_code());
            items_.cells.insert(items_.cells.end(), scorer_.missing_cell(),
                                scorer_.missing_cell() + scorer_.size);
        }
        const bool missing_apart = scorer_.has_missing() && !missing_is_item;
        if (items_.count() >= 2) {
            if (exact_by_order())
                search_prefixes(column, SearchMethod::kOrdered, missing_apart, best);
            else if (items_.count() <= kMaxExhaustive)
                search_subsets(column, missing_apart, best);
            else
                search_prefixes(column, SearchMethod::kPrincipal, missing_apart, best);
        }
        if (missing_apart && scorer_.config.missing == MissingPolicy::kBranch)
            split_known_from_missing(column, best);
    }

    // With two classes or a mean, some prefix of the categories in the order of the mean is the
    // best of all groupings for a concave impurity. This does not hold for the gain ratio.
    bool exact_by_order() const {
        if constexpr (requires { scorer_.cells.n_classes(); })
            return scorer_.cells.n_classes() <= 2 && !scorer_.config.gain_ratio;
        else
            return !kHasVectors;
    }

    void split_known_from_missing(const Column& column, Candidate& best) {
        if (!scorer_.try_split(best, scorer_.known(), scorer_.missing_cell())) return;
        record(column, SearchMethod::kOrdered, [](std::size_t) { return 0; }, 1, best);
    }

    template <typename Branch>
    void record(const Column& column, SearchMethod method, Branch branch,
                std::int32_t missing_branch, Candidate& best) const {
        best.shape = SplitShape::kTable;
        best.method = method;
        best.missing_branch = missing_branch;
        best.n_categories = column.n_codes;
        best.table.clear();
        for (std::size_t i = 0; i < items_.count(); ++i) {
            if (items_.codes[i] == column.missing_code())
                best.missing_branch = branch(i);
            else
                best.table.emplace_back(items_.codes[i], branch(i));
        }
    }

    void try_grouping(const Number* left, const Number* right, bool missing_apart, Candidate& best,
                      const auto& take) {
        if (missing_apart)
            scorer_.try_split_with_missing(best, left, right, take);
        else if (scorer_.try_split(best, left, right))
            take(kHeavierBranch);
    }

    void search_prefixes(const Column& column, SearchMethod method, bool missing_apart,
                         Candidate& best) {
        const std::vector<std::size_t> order = order_categories();
        Number* left = zeroed(left_);
        Number* right = zeroed(right_);
        for (std::size_t i = 0; i < items_.count(); ++i) scorer_.sum(right, right, item(i));
        std::size_t n_left = 0;
        std::int32_t missing_branch = kHeavierBranch;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            scorer_.sum(left, left, item(order[i]));
            scorer_.difference(right, right, item(order[i]));
            try_grouping(left, right, missing_apart, best, [&](std::int32_t branch_of_missing) {
                n_left = i + 1;
                missing_branch = branch_of_missing;
            });
        }
        if (n_left == 0) return;
        std::vector<std::int32_t> side(items_.count(), 1);
        for (std::size_t i = 0; i < n_left; ++i) side[order[i]] = 0;
        record(column, method, [&](std::size_t i) { return side[i]; }, missing_branch, best);
    }

    // Order the categories by the fraction of the second class or by the mean; with more classes
    // along the first principal component of the class fractions (Coppersmith, Hong & Hosking
    // 1999), with several outputs along that of the means.
    std::vector<std::size_t> order_categories() const {
        std::vector<double> score;
        if constexpr (kHasVectors)
            score = principal_component_scores(items_.cells, scorer_.criterion());
        else if constexpr (requires { scorer_.cells.n_classes(); }) {
            score = principal_component_scores(items_.cells, scorer_.size,
                                               std::size_t(scorer_.cells.n_classes()));
        } else {
            for (std::size_t i = 0; i < items_.count(); ++i)
                score.push_back(double(item(i)[1]) / double(item(i)[0]));
        }
        std::vector<std::size_t> order(items_.count());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
        return order;
    }

    void search_subsets(const Column& column, bool missing_apart, Candidate& best) {
        const std::size_t last = items_.count() - 1;
        std::uint32_t chosen = 0;
        std::int32_t missing_branch = kHeavierBranch;
        for (std::uint32_t subset = 1; subset < 1u << last; ++subset) {
            Number* left = zeroed(left_);
            Number* right = zeroed(right_);
            for (std::size_t i = 0; i <= last; ++i) {
                Number* side = subset >> i & 1 ? left : right;
                scorer_.sum(side, side, item(i));
            }
            try_grouping(left, right, missing_apart, best, [&](std::int32_t branch_of_missing) {
                chosen = subset;
                missing_branch = branch_of_missing;
            });
        }
        if (chosen == 0) return;
        const auto side = [&](std::size_t i) { return chosen >> i & 1 ? 0 : 1; };
        record(column, SearchMethod::kExhaustive, side, missing_branch, best);
    }

    // A branch for every category in the node, or in the column.
    void search_multiway(const Column& column, Candidate& best) {
        std::int32_t missing_branch = kHeavierBranch;
        if (!multiway_.try_split(items_, best, missing_branch)) return;
        const bool all_categories = scorer_.config.empty_branches;
        const bool missing_has_branch = missing_branch == std::int32_t(items_.count());
        const auto branch = [&](std::size_t i) {
            return std::int32_t(all_categories ? items_.codes[i] : i);
        };
        if (all_categories) {
            best.n_branches = std::int32_t(column.n_codes) + missing_has_branch;
            if (missing_has_branch)
                missing_branch = std::int32_t(column.n_codes);
            else if (missing_branch != kHeavierBranch)
                missing_branch = branch(std::size_t(missing_branch));
        }
        record(column, SearchMethod::kMultiway, branch, missing_branch, best);
        for (std::uint32_t category = 0; all_categories && category < column.n_codes; ++category)
            if (!std::binary_search(items_.codes.begin(), items_.codes.end(), category))
                best.table.emplace_back(category, std::int32_t(category));
    }

    static constexpr bool kHasVectors = std::is_same_v<Cells, VectorCells>;

    SplitScorer<Cells, CriterionTerm>& scorer_;
    MultiwaySplit<Cells, CriterionTerm> multiway_;
    std::vector<Number> left_, right_;
    CodeCells items_;
};

}  // namespace ceiba::tree
