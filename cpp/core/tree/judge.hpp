// Who judges splits of one node: scores them, and keeps the best.
#pragma once

#include <algorithm>
#include <cmath>
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
        less_ = 0;
        view_ = node.cell;
        if (!gaps_) return;
        view_ = difference(known_.data(), node.cell, gap_.data());
        if (!rules.ignores_gaps()) return;
        gaps_ = false;
        const Number weight = cells.weight(known());
        less_ = (weight > 0 ? rule_.term(cells, known(), weight) : 0) - node.term;
    }

    // Whether there are gaps that take part in a split.
    bool gaps() const { return gaps_; }
    const Number* gap() const { return gap_.data(); }
    const Number* known() const { return view_; }
    const Number* node() const { return node_.cell; }
    std::uint64_t path() const { return node_.path; }
    const Rule& rule() const { return rule_; }

    double heft(const Number* cell) const { return rules.heft(cell, cells.weight(cell)); }

    bool allowed(Number rows, Number weight) const {
        return rows >= rules.least_rows && weight >= rules.least_weight;
    }

    // The weight that each side of a numeric cut needs (Quinlan's: a tenth of what a class has on
    // average, but not above 25).
    Number least_of_cut() const {
        if constexpr (kClasses) {
            if (rules.cut_share == 0) return 0;
            const double share =
                rules.cut_share * double(cells.weight(known())) / double(cells.classes());
            return std::min(rules.most_least, Number(std::ceil(share)));
        }
        return 0;
    }

    // Terms of a branch; false where the branch is too small.
    bool branch(const Number* cell, double& terms, double& weights) const {
        const Number weight = cells.weight(cell);
        if (!allowed(cells.count(cell), weight) || !meaningful(cell)) return false;
        add(cell, weight, terms, weights);
        return true;
    }

    void add(const Number* cell, Number weight, double& terms, double& weights) const {
        terms += rule_.term(cells, cell, weight);
        if (rules.ratio) weights += xlog2x_(weight);
    }

    // The number by which candidates of one column are compared. Under the guard a column is
    // represented by its largest gain, as in C4.5.
    double score(double terms, double weights) const {
        return rules.ratio && !rules.guard ? ratio(terms, weights) : terms;
    }

    // The best candidate of the column is found: make its score one to compare columns by.
    void settle(Candidate& best) const {
        if (!best.found()) return;
        best.less += less_;
        // Less than that is rounding.
        const double nothing = kNoGain * double(cells.weight(node_.cell));
        best.worthless = rules.mdl && best.terms - best.less - node_.term <= nothing;
        if (best.worthless) {
            best.shape = Shape::kLeaf;
            return;
        }
        if (rules.ratio && (rules.guard || rules.mdl))
            best.score = ratio(best.terms - best.less + less_, best.weights);
        else if (!rules.ratio && (rules.ignores_gaps() || rules.mdl))
            best.score = best.terms - best.less;
    }

    // A candidate of two branches, or three; true where it is the best so far.
    bool offer(Candidate& best, const Number* a, const Number* b, const Number* c = nullptr) const {
        best.seen = true;
        double terms = 0, weights = 0;
        if (!branch(a, terms, weights) || !branch(b, terms, weights)) return false;
        if (c != nullptr && !branch(c, terms, weights)) return false;
        ++best.allowed;
        if (!best.offer(score(terms, weights))) return false;
        best.terms = terms;
        best.weights = weights;
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
            const bool right_is_heavier = heft(right) > heft(left);
            const bool better = right_is_heavier ? offer(best, left, sum(with_gap, right, gap()))
                                                 : offer(best, sum(with_gap, left, gap()), right);
            if (better) take(right_is_heavier);
        } else {
            if (offer(best, sum(with_gap, left, gap()), right)) take(0);
            if (offer(best, left, sum(with_gap, right, gap()))) take(1);
        }
    }

    static constexpr bool kClasses = requires(const Cells& cells) { cells.classes(); };

  private:
    bool meaningful(const Number* cell) const {
        if constexpr (requires { rule_.allowed(cells, cell); }) return rule_.allowed(cells, cell);
        return true;
    }

    // Gain over split information: both carry the same factor 1 / weight of the node. Fractional
    // gaps are one more branch (Quinlan 1993, section 3.2); rows that surrogates will send are not.
    double ratio(double terms, double weights) const {
        const Number gap = cells.weight(gap_.data());
        double information = xlog2x_(cells.weight(node_.cell)) - weights;
        if (rules.gaps == GapRule::kFractional && gap > 0) information -= xlog2x_(gap);
        double gained = std::max(terms - less_ - node_.term, 0.0);
        if (rules.gaps == GapRule::kSurrogate && gap > 0) {
            const Number known_weight = cells.weight(known());
            information = xlog2x_(known_weight) - weights;
            gained *= double(known_weight) / double(cells.weight(node_.cell));
        }
        return information > 0 ? gained / information : 0.0;
    }

    Rule rule_;
    Xlog2x xlog2x_;
    NodeCell node_;
    double less_ = 0;
    std::vector<Number> gap_, known_, with_gap_;
    const Number* view_ = nullptr;  // of the known rows: the node's own cell where none is a gap
    bool gaps_ = false;
};

}  // namespace ceiba::tree
