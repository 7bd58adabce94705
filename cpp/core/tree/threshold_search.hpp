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

// Cuts of a block: weight on the left, and what the criterion adds up on both sides (Gini: squared
// class weights; squared error: targets).
template <std::size_t Size>
struct Cuts {
    std::uint32_t code[Size], next[Size];
    double weight[Size];
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
            if (judge_.gaps() || judge_.cells.weight(judge_.node()) > kMostExact) return false;
            if constexpr (!kClasses)
                if (judge_.rule().fractional) return false;
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

    // A criterion whose scores are computed many at a time: Gini and squared error.
    template <typename Source>
    static constexpr bool by_blocks() {
        constexpr bool bins = std::is_same_v<Source, Bins<Cells>>;
        constexpr bool weighted = requires(const Source& source) { source.weight_at(0); };
        constexpr bool targets = requires(const Source& source) { source.target_at(0); };
        const bool known = bins || weighted || !Cells::kWeighted;
        if constexpr (std::is_same_v<Rule, SquaredError>) return known && (bins || targets);
        return known && std::is_same_v<Rule, Gini>;
    }

    // Weights are exact in a double up to here, and so is the difference of two.
    static constexpr Number kMostExact = Number(1) << 52;
    // ... and sums of their squares, which are then the same however added.
    static constexpr Number kMostSquared = 90'000'000;

    // The scan of `one_by_one` without gaps, in two steps a block: collect the cuts, then score
    // them with vectors. A tree of depth 8 on 500,000 x 28 values took 1.9 s of processor time
    // instead of 3.2.
    template <typename Source>
    void in_blocks(Source source, Candidate& best) {
        begin_sums();
        bool found = false;
        while (true) {
            const std::size_t cuts = collect_cuts(source, best);
            best.allowed += std::uint32_t(cuts);
            if (cuts > 0 && score_cuts(cuts, double(total_), best)) {
                found = true;
                best.cut = cuts_.code[best_cut_];
                best.next = cuts_.next[best_cut_];
            }
            if (!source.more()) break;
        }
        if (!found) return;
        best.shape = Shape::kThreshold;
        best.method = Method::kThreshold;
        best.gap = kHeavier;
        best.terms = best.score;
        best.branches = 2;
    }

    // What has come to the left of a cut: rows, weight, the sum of the criterion, and of classes
    // the sum of their weights there times those in the whole node.
    struct Left {
        Number rows = 0, weight = 0, sum = 0, products = 0;
    };

    // Nothing is on the left as yet.
    void begin_sums() {
        so_far_ = Left{};
        total_ = judge_.cells.weight(judge_.known());
        rows_ = judge_.cells.count(judge_.known());
        least_weight_ = std::max(judge_.rules.least_weight, least_);
        std::fill(left_.begin(), left_.end(), Number(0));
        whole_sum_ = 0;
        if constexpr (kClasses) {
            if (total_ > kMostSquared) return;
            for (int k = 0; k < judge_.cells.classes(); ++k)
                whole_sum_ += judge_.known()[k] * judge_.known()[k];
        } else {
            whole_sum_ = judge_.known()[1] - judge_.known()[0] * judge_.rule().whole;
        }
    }

    bool enough(Number rows, Number weight) const {
        bool kept = (rows >= judge_.rules.least_rows) & (rows_ - rows >= judge_.rules.least_rows);
        return kept & (weight >= least_weight_) & (total_ - weight >= least_weight_);
    }

    // Squares of the class weights on both sides, added as the criterion adds them.
    void write_squares(const Number* left, const Number* known, std::size_t m) {
        double here = 0, there = 0;
        for (int k = 0; k < judge_.cells.classes(); ++k) {
            const double a = double(left[k]), b = double(known[k] - left[k]);
            here += a * a;
            there += b * b;
        }
        cuts_.left[m] = here;
        cuts_.right[m] = there;
    }

    // Cuts behind the codes of a histogram, up to a block of them.
    std::size_t collect_cuts(Bins<Cells>& bins, Candidate& best) {
        Number* left = left_.data();
        const Number* known = judge_.known();
        std::size_t m = 0;
        while (m < kBlock && bins.more()) {
            cuts_.code[m] = bins.code();
            bins.take(left);
            if (!bins.more()) break;
            best.seen = true;
            cuts_.next[m] = bins.code();
            const Number weight = judge_.cells.weight(left);
            cuts_.weight[m] = double(weight);
            if constexpr (kClasses) {
                write_squares(left, known, m);
            } else {
                const Number sum = left[1] - weight * judge_.rule().whole;
                cuts_.left[m] = double(sum);
                cuts_.right[m] = double(whole_sum_ - sum);
            }
            m += std::size_t(enough(judge_.cells.count(left), weight));
        }
        return m;
    }

    // Cuts behind the next rows, up to a block of them, that leave enough on both sides.
    template <typename Source>
    std::size_t collect_cuts(Source& source, Candidate& best) {
        const std::size_t rest = source.known_rows();
        if (so_far_.rows == 0) best.seen = source.code_at(0) != source.code_at(rest - 1);
        if (!best.seen) {
            source.pass(rest);
            return 0;
        }
        const std::size_t n = std::min(rest - 1, kBlock);
        std::size_t m;
        if constexpr (kClasses)
            m = total_ > kMostSquared ? collect_rows<false>(source, n)
                                      : collect_rows<true>(source, n);
        else
            m = collect_rows<true>(source, n);
        // The last row has no cut behind it.
        source.pass(n + 1 < rest ? n : rest);
        return m;
    }

    // One more row on the left: a class that weighs c there then adds 2 c w + w^2 to the squares.
    template <bool Exact, typename Source>
    [[gnu::always_inline]] void move_left(const Source& source, std::size_t i, Number* left,
                                          const Number* known, Left& at) const {
        Number w = 1;
        if constexpr (Cells::kWeighted) w = source.weight_at(i);
        ++at.rows;
        at.weight += w;
        if constexpr (kClasses) {
            const std::size_t label = source.label_at(i);
            if constexpr (Exact) {
                at.sum += w * (2 * left[label] + w);
                at.products += w * known[label];
            }
            left[label] += w;
        } else {
            at.sum += source.target_at(i) - w * judge_.rule().whole;
        }
    }

    // Of classes: sum (T - l)^2 = sum T^2 - 2 sum T l + sum l^2, so that the weights on the right
    // need not be kept.
    Number right_sum(const Left& at) const {
        if constexpr (kClasses) return whole_sum_ - 2 * at.products + at.sum;
        return whole_sum_ - at.sum;
    }

    // Each cut is written, and kept by moving on: no branch to mispredict. The running sums are a
    // local copy: as members they would go through memory in every step, because the cuts might
    // overlap them. Weights whose squares are not exact are squared anew at every cut.
    template <bool Exact, typename Source>
    std::size_t collect_rows(const Source& source, std::size_t n) {
        std::size_t m = 0;
        Left at = so_far_;
        Number* left = left_.data();
        const Number* known = judge_.known();
        const Number least_rows = judge_.rules.least_rows, least_weight = least_weight_;
        const Number rows = rows_, total = total_;
        std::uint32_t code = source.code_at(0);
        for (std::size_t i = 0; i < n; ++i) {
            move_left<Exact>(source, i, left, known, at);
            const std::uint32_t next = source.code_at(i + 1);
            cuts_.code[m] = code;
            cuts_.next[m] = next;
            cuts_.weight[m] = double(at.weight);
            if constexpr (Exact) {
                cuts_.left[m] = double(at.sum);
                cuts_.right[m] = double(right_sum(at));
            } else {
                write_squares(left, known, m);
            }
            bool kept = (next != code) & (at.rows >= least_rows) & (rows - at.rows >= least_rows);
            kept = kept & (at.weight >= least_weight) & (total - at.weight >= least_weight);
            m += std::size_t(kept);
            code = next;
        }
        so_far_ = at;
        return m;
    }

    // True where the best so far is among these cuts: `best_cut_`, the first of its score.
    bool score_cuts(std::size_t m, double n, Candidate& best) {
        const TreeKernels& kernels = tree_kernels();
        const auto score = std::is_same_v<Rule, Gini> ? kernels.gini : kernels.squared;
        score(cuts_.weight, cuts_.left, cuts_.right, n, m, scores_);
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
    Left so_far_;
    Number whole_sum_ = 0, total_ = 0, rows_ = 0, least_weight_ = 0;
    std::size_t best_cut_ = 0;
};

}  // namespace ceiba::tree
