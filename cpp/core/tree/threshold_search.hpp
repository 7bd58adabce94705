// The best threshold of a numeric or ordinal column: between every two neighbouring codes, from
// below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "simd/tree_kernels.hpp"
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
    void find(Source source, Candidate& best) {
        if constexpr (by_blocks<Source>())
            if (!judge_.gaps() && judge_.cells.weight(judge_.node()) <= kMostSquared)
                return in_blocks(source, best);
        one_by_one(source, best);
    }

  private:
    template <typename Source>
    void one_by_one(Source& source, Candidate& best) {
        std::fill(left_.begin(), left_.end(), Number(0));
        Number* left = left_.data();
        Number* right = right_.data();
        std::uint32_t code = source.code();
        const auto take = [&](std::int32_t gap, std::uint32_t next) {
            best.shape = Shape::kThreshold;
            best.method = Method::kThreshold;
            best.cut = code;
            best.next = next;
            best.gap = gap;
        };
        for (source.take(left); source.more(); source.take(left)) {
            const std::uint32_t next = source.code();
            judge_.difference(right, judge_.known(), left);
            if (judge_.gaps())
                judge_.cut(best, left, right, [&](std::int32_t gap) { take(gap, next); });
            else if (judge_.offer(best, left, right))
                take(kHeavier, next);
            code = next;
        }
        if (judge_.gaps() && judge_.rules.gaps != GapRule::kMajority &&
            judge_.offer(best, judge_.known(), judge_.gap())) {
            take(1, code);
            best.shape = Shape::kKnown;
        }
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
        const auto least = std::uint32_t(
            std::clamp<Number>(std::max(judge_.rules.least_rows, judge_.rules.least_weight), 1, n));
        begin_sums();
        std::uint32_t chosen = 0;
        for (std::uint32_t begin = 0; begin + 1 < n;) {
            const std::uint32_t end = std::min<std::uint32_t>(n - 1, begin + kBlock);
            const std::size_t cuts = collect_cuts(source, begin, end, least);
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
            std::copy_n(judge_.node(), judge_.size, right_.begin());
            for (const Number count : right_) sums_[1] += count * count;
        } else {
            sums_[1] = judge_.node()[1] - judge_.node()[0] * judge_.rule().whole;
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
    std::vector<Number> left_, right_;
    Cuts<kBlock> cuts_;
    double scores_[kBlock];
    Number sums_[2] = {0, 0};  // left and right
    std::size_t best_cut_ = 0;
};

}  // namespace ceiba::tree
