// The best threshold of a numeric or ordinal column: between every two neighbouring codes, from
// below, or at the few places that a rule for cuts names.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "simd/tree_kernels.hpp"
#include "tree/columns.hpp"
#include "tree/cut_targets.hpp"
#include "tree/judge.hpp"
#include "tree/source.hpp"

namespace ceiba::tree {

// Cuts of a block: rows on the left, and what the criterion adds up on both sides (Gini: squared
// class counts; squared error: targets).
template <std::size_t Size>
struct Cuts {
    std::uint32_t place[Size];
    double rows[Size];
    double left[Size];
    double right[Size];
};

template <typename Cells, typename Rule>
class ThresholdSearch {
  public:
    explicit ThresholdSearch(Judge<Cells, Rule>& judge)
        : judge_(judge), left_(judge.size), right_(judge.size) {}

    template <typename Source>
    void find(const Column& column, Source source, Candidate& best) {
        least_ = judge_.least_of_cut();
        if (judge_.rules.cuts != CutRule::kEvery)
            at_targets(column, source, best);
        else if (!in_blocks_if_fit(source, best))
            one_by_one(source, best);
        if (judge_.rules.mdl && best.found()) pay_for_choice(best);
    }

  private:
    template <typename Source>
    bool in_blocks_if_fit(const Source& source, Candidate& best) {
        if constexpr (by_blocks<Source>()) {
            if (judge_.gaps() || judge_.cells.weight(judge_.node()) > kMostSquared) return false;
            in_blocks(source, best);
            return true;
        }
        return false;
    }

    // The bits that name one of the allowed cuts are taken off the gain (Quinlan 1996, "Improved
    // use of continuous attributes in C4.5", JAIR 4).
    void pay_for_choice(Candidate& best) const {
        best.less += std::log2(double(best.allowed)) / judge_.rules.real_unit;
    }

    template <typename Source>
    void one_by_one(Source& source, Candidate& best) {
        std::fill(left_.begin(), left_.end(), Number(0));
        Number* left = left_.data();
        Number* right = right_.data();
        std::uint32_t code = source.code();
        for (source.take(left); source.more(); source.take(left)) {
            const std::uint32_t next = source.code();
            judge_.difference(right, judge_.known(), left);
            consider(best, left, right, code, next);
            code = next;
        }
        if (judge_.gaps() && judge_.rules.gaps != GapRule::kMajority) known_or_gap(best, code);
    }

    // One cut, under the rule for gaps; true where it is the best so far. Inlined by force, as are
    // the sources' `take`: since two loops call them, the compiler would not. That saves 2 per cent
    // of the instructions of a tree on a table with gaps.
    [[gnu::always_inline]] bool consider(Candidate& best, const Number* left, const Number* right,
                                         std::uint32_t code, std::uint32_t next) {
        const auto& cells = judge_.cells;
        if (least_ > 0 && std::min(cells.weight(left), cells.weight(right)) < least_) {
            best.seen = true;
            return false;
        }
        bool better = false;
        const std::uint32_t allowed = best.allowed;
        const auto take = [&](std::int32_t gap) {
            better = true;
            best.shape = Shape::kThreshold;
            best.method = Method::kThreshold;
            best.cut = code;
            best.next = next;
            best.gap = gap;
        };
        if (judge_.gaps())
            judge_.cut(best, left, right, take);
        else if (judge_.offer(best, left, right))
            take(kHeavier);
        best.allowed = std::min(best.allowed, allowed + 1);  // one cut, wherever its gaps go
        return better;
    }

    void known_or_gap(Candidate& best, std::uint32_t code) {
        const std::uint32_t allowed = best.allowed;
        const bool better = judge_.offer(best, judge_.known(), judge_.gap());
        best.allowed = std::max(allowed, 1u);  // it is no cut of the column
        if (!better) return;
        best.shape = Shape::kKnown;
        best.method = Method::kThreshold;
        best.cut = code;
        best.next = code;
        best.gap = 1;
        best.at = std::numeric_limits<double>::quiet_NaN();
    }

    // Only the cuts that the rule names, from below: each at the last value that is not above it.
    template <typename Source>
    void at_targets(const Column& column, Source& source, Candidate& best) {
        const std::vector<double>& targets = targets_.of(column, source, judge_);
        std::fill(left_.begin(), left_.end(), Number(0));
        Number* left = left_.data();
        std::size_t t = 0;
        std::uint32_t code = source.code();
        for (source.take(left); source.more(); source.take(left)) {
            best.varies = true;
            const std::uint32_t next = source.code();
            const double above = value_of(column, next);
            while (t < targets.size() && targets[t] < value_of(column, code)) ++t;
            if (t < targets.size() && targets[t] < above) {
                judge_.difference(right_.data(), judge_.known(), left);
                if (consider(best, left, right_.data(), code, next)) best.at = shown(targets[t]);
            }
            code = next;
        }
        if (judge_.gaps() && judge_.rules.gaps != GapRule::kMajority) known_or_gap(best, code);
    }

    // Quantiles name a gap between values and not a number in it.
    double shown(double target) const {
        const bool named = judge_.rules.exact_values && judge_.rules.cuts != CutRule::kQuantile;
        return named ? target : std::numeric_limits<double>::quiet_NaN();
    }

    // Rows of weight 1, sorted, under a criterion whose scores are computed many at a time: Gini
    // and squared error.
    template <typename Source>
    static constexpr bool by_blocks() {
        constexpr bool sorted = requires(const Source& source) { source.known_rows(); } &&
                                (std::is_same_v<Rule, Gini> || !std::is_same_v<Source, Labels>);
        return sorted && !Cells::kWeighted &&
               (std::is_same_v<Rule, Gini> || std::is_same_v<Rule, SquaredError>);
    }

    // Sums of squared counts are exact in a double up to here, and so the same however added.
    static constexpr Number kMostSquared = 90'000'000;

    // The scan of `one_by_one` without gaps, in two steps a block: collect the cuts, then score
    // them with vectors. A tree of depth 8 on 500,000 x 28 values took 1.9 s of processor time
    // instead of 3.2.
    template <typename Source>
    void in_blocks(const Source& source, Candidate& best) {
        const auto n = std::uint32_t(source.known_rows());
        best.seen = source.code_at(0) != source.code_at(n - 1);
        if (!best.seen) return;
        const Number asked = std::max({judge_.rules.least_rows, judge_.rules.least_weight, least_});
        const auto least = std::uint32_t(std::clamp<Number>(asked, 1, n));
        begin_sums();
        std::uint32_t chosen = 0;
        for (std::uint32_t begin = 0; begin + 1 < n;) {
            const std::uint32_t end = std::min<std::uint32_t>(n - 1, begin + kBlock);
            const std::size_t cuts = collect_cuts(source, begin, end, least);
            best.allowed += std::uint32_t(cuts);
            begin = end;
            if (cuts > 0 && score_cuts(cuts, double(n), best)) chosen = cuts_.place[best_cut_];
        }
        if (chosen == 0) return;
        best.shape = Shape::kThreshold;
        best.method = Method::kThreshold;
        best.cut = source.code_at(chosen - 1);
        best.next = source.code_at(chosen);
        best.gap = kHeavier;
        best.terms = best.score;
        best.branches = 2;
    }

    // Nothing is on the left as yet.
    void begin_sums() {
        sums_[0] = 0;
        if constexpr (kClasses) {
            sums_[1] = 0;
            std::fill(left_.begin(), left_.end(), Number(0));
            std::copy_n(judge_.known(), judge_.size, right_.begin());
            for (const Number count : right_) sums_[1] += count * count;
        } else {
            sums_[1] = judge_.known()[1] - judge_.known()[0] * judge_.rule().whole;
        }
    }

    // One more row on the left: a class that counts c there then adds 2 c + 1 to the squares.
    template <typename Source>
    void move_left(const Source& source, std::uint32_t i) {
        if constexpr (kClasses) {
            std::size_t label;
            if constexpr (requires { source.label_at(i); })
                label = source.label_at(i);
            else
                label = source.rows().label[source.row_at(i)];
            Number& left = left_[label];
            Number& right = right_[label];
            sums_[0] += 2 * left++ + 1;
            sums_[1] -= 2 * right-- - 1;
        } else {
            const Number target = source.rows().target[source.row_at(i)] - judge_.rule().whole;
            sums_[0] += target;
            sums_[1] -= target;
        }
    }

    // Cuts behind rows [begin, end) that leave enough rows on both sides. Each is written, and kept
    // by moving on: no branch to mispredict.
    template <typename Source>
    std::size_t collect_cuts(const Source& source, std::uint32_t begin, std::uint32_t end,
                             std::uint32_t least) {
        const auto n = std::uint32_t(source.known_rows());
        std::size_t m = 0;
        std::uint32_t code = source.code_at(begin);
        for (std::uint32_t i = begin; i < end; ++i) {
            move_left(source, i);
            const std::uint32_t next = source.code_at(i + 1), rows = i + 1;
            cuts_.place[m] = rows;
            cuts_.rows[m] = double(std::int32_t(rows));
            cuts_.left[m] = double(sums_[0]);
            cuts_.right[m] = double(sums_[1]);
            m += std::size_t((next != code) & (rows >= least) & (n - rows >= least));
            code = next;
        }
        return m;
    }

    // True where the best so far is among these cuts: `best_cut_`, the first of its score.
    bool score_cuts(std::size_t m, double n, Candidate& best) {
        const TreeKernels& kernels = tree_kernels();
        const auto score = std::is_same_v<Rule, Gini> ? kernels.gini : kernels.squared;
        score(cuts_.rows, cuts_.left, cuts_.right, n, m, scores_);
        const double largest = kernels.largest(scores_, m);
        if (largest < best.score) return false;
        bool better = false;
        for (std::size_t i = 0; i < m; ++i) {
            if (scores_[i] != largest || !best.offer(largest)) continue;
            better = true;
            best_cut_ = i;
        }
        return better;
    }

    static constexpr bool kClasses = requires(const Cells& cells) { cells.classes(); };
    static constexpr std::size_t kBlock = 512;

    Judge<Cells, Rule>& judge_;
    CutTargets targets_;
    Number least_ = 0;  // weight that each side needs
    std::vector<Number> left_, right_;
    Cuts<kBlock> cuts_;
    double scores_[kBlock];
    Number sums_[2] = {0, 0};  // left and right
    std::size_t best_cut_ = 0;
};

}  // namespace ceiba::tree
