// Who judges splits of one node: scores them, and keeps the best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/candidate.hpp"
#include "tree/criterion.hpp"

namespace ceiba::tree {

template <typename Cells, typename Rule>
class Judge {
  public:
    Judge(const Cells& cells, const Rule& rule, const Xlog2x& xlog2x, const SplitRules& rules)
        : cells(cells),
          rules(rules),
          size(std::size_t(cells.size())),
          rule_(rule),
          xlog2x_(xlog2x),
          gap_(size),
          known_(size),
          with_gap_(size) {}

    const Cells cells;
    const SplitRules rules;
    const std::size_t size;  // of a cell

    // The term of a node by itself.
    double term(const Number* cell) const {
        Rule rule = rule_;
        rule.begin(cells, cell);
        return rule.term(cells, cell, cells.weight(cell));
    }

    // Judge splits of this node from now on, by a column whose gaps the source knows.
    template <typename Source>
    void begin(const NodeCell& node, const Source& source) {
        node_ = node;
        rule_.begin(cells, node.cell);
        std::fill(gap_.begin(), gap_.end(), Number(0));
        source.add_gap(gap_.data());
        gaps_ = cells.occupied(gap_.data());
        difference(known_.data(), node.cell, gap_.data());
    }

    bool gaps() const { return gaps_; }
    const Number* gap() const { return gap_.data(); }
    const Number* known() const { return known_.data(); }
    const Number* node() const { return node_.cell; }
    const Rule& rule() const { return rule_; }

    bool allowed(Number rows, Number weight) const {
        return rows >= rules.least_rows && weight >= rules.least_weight;
    }

    // Terms of a branch; false where the branch is too small.
    bool branch(const Number* cell, double& terms, double& weights) const {
        const Number weight = cells.weight(cell);
        if (!allowed(cells.count(cell), weight)) return false;
        terms += rule_.term(cells, cell, weight);
        if (rules.ratio) weights += xlog2x_(weight);
        return true;
    }

    // The number by which candidates are compared. Gain ratio: both gain and split information
    // carry the same factor 1 / weight of the node.
    double score(double terms, double weights) const {
        if (!rules.ratio) return terms;
        const double information = xlog2x_(cells.weight(node_.cell)) - weights;
        return information > 0 ? std::max(terms - node_.term, 0.0) / information : 0.0;
    }

    // A candidate of two branches, or three; true where it is the best so far.
    bool offer(Candidate& best, const Number* a, const Number* b, const Number* c = nullptr) const {
        best.seen = true;
        double terms = 0, weights = 0;
        if (!branch(a, terms, weights) || !branch(b, terms, weights)) return false;
        if (c != nullptr && !branch(c, terms, weights)) return false;
        if (!best.offer(score(terms, weights))) return false;
        best.terms = terms;
        best.branches = c == nullptr ? 2 : 3;
        return true;
    }

    Number* sum(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size; ++s) out[s] = a[s] + b[s];
        return out;
    }
    Number* difference(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size; ++s) out[s] = a[s] - b[s];
        return out;
    }

    // One cut of the known rows under the rule for gaps, where there are some: `take` notes it.
    template <typename Take>
    void cut(Candidate& best, const Number* left, const Number* right, Take take) {
        Number* with_gap = with_gap_.data();
        if (rules.gaps == GapRule::kBranch) {
            if (offer(best, left, right, gap())) take(2);
        } else if (rules.gaps == GapRule::kMajority) {
            const bool right_is_heavier = cells.weight(right) > cells.weight(left);
            const bool better = right_is_heavier ? offer(best, left, sum(with_gap, right, gap()))
                                                 : offer(best, sum(with_gap, left, gap()), right);
            if (better) take(right_is_heavier);
        } else {
            if (offer(best, sum(with_gap, left, gap()), right)) take(0);
            if (offer(best, left, sum(with_gap, right, gap()))) take(1);
        }
    }

  private:
    Rule rule_;
    Xlog2x xlog2x_;
    NodeCell node_;
    std::vector<Number> gap_, known_, with_gap_;
    bool gaps_ = false;
};

}  // namespace ceiba::tree
