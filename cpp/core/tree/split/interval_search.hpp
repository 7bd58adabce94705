// Search for a split of a numeric column into several intervals.
//
// Their number is chosen by description length: Fayyad & Irani (1993), "Multi-interval
// discretization of continuous-valued attributes for classification learning", IJCAI. Or it is
// given: the threshold of largest gain is added until there are enough intervals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tree/split/multiway_split.hpp"
#include "tree/split/split_scorer.hpp"

namespace ceiba::tree {

template <typename Cells, typename CriterionTerm>
class IntervalSearch {
  public:
    IntervalSearch(SplitScorer<Cells, CriterionTerm>& scorer, const Xlog2x& xlog2x)
        : scorer_(scorer),
          multiway_(scorer),
          entropy_{xlog2x},
          total_(scorer.size),
          left_(scorer.size),
          right_(scorer.size) {}

    // `stopped()` returns whether to stop early.
    template <typename Source, typename Stopped>
    void find(Source source, Candidate& best, const Stopped& stopped) {
        values_.collect(source, scorer_.size);
        last_code_ = values_.codes;
        best.has_candidates = values_.count() > 1;
        if (scorer_.config.n_intervals > 1) {
            split_best_first(std::size_t(scorer_.config.n_intervals), stopped);
        } else {
            if (scorer_.config.min_rows <= 1 && scorer_.config.min_weight == 0) join_pure_runs();
            split_by_description_length(stopped);
        }
        if (ends_.size() > 1)
            record(best);
        else
            best.no_gain = best.has_candidates && scorer_.config.n_intervals == 1;
    }

  private:
    // Values [begin, end) and their best threshold, which separates [begin, middle) and [middle,
    // end).
    struct Piece {
        std::size_t begin, end, middle;
        double gain;
    };

    // Join neighboring values of a single, common class: the threshold of minimal entropy never
    // separates them (Fayyad & Irani 1992), unless intervals have a minimal size. Without this,
    // 400,000 values in runs of 60 of a class took 26 s.
    void join_pure_runs() {
        if constexpr (SplitScorer<Cells, CriterionTerm>::kHasClasses) {
            std::size_t n = 0;
            for (std::size_t i = 0; i < values_.count(); ++i) {
                const bool is_joined =
                    n > 0 && only_class(n - 1) >= 0 && only_class(n - 1) == only_class(i);
                if (!is_joined) {
                    values_.codes[n] = values_.codes[i];
                    if (n != i) std::copy_n(values_.cell(i), scorer_.size, values_.cell(n));
                    ++n;
                } else {
                    scorer_.sum(values_.cell(n - 1), values_.cell(n - 1), values_.cell(i));
                }
                last_code_[n - 1] = last_code_[i];
            }
            values_.codes.resize(n);
            values_.cells.resize(n * scorer_.size);
        }
    }

    // The class of all rows of a value; -1 if there are several.
    int only_class(std::size_t i) const {
        const Number* cell = values_.cell(i);
        const int n_classes = scorer_.cells.n_classes();
        const int heaviest = int(std::max_element(cell, cell + n_classes) - cell);
        return cell[heaviest] == scorer_.cells.weight(cell) ? heaviest : -1;
    }

    // Split as long as the threshold of minimal entropy reduces the description length.
    template <typename Stopped>
    void split_by_description_length(const Stopped& stopped) {
        ends_.assign(1, values_.count());
        if constexpr (SplitScorer<Cells, CriterionTerm>::kHasClasses) {
            std::vector<Piece> pending{best_threshold(0, values_.count(), entropy_)};
            while (!pending.empty() && !stopped()) {
                const Piece piece = pending.back();
                pending.pop_back();
                if (piece.middle == 0 || !is_worth_description(piece)) continue;
                ends_.push_back(piece.middle);
                pending.push_back(best_threshold(piece.begin, piece.middle, entropy_));
                pending.push_back(best_threshold(piece.middle, piece.end, entropy_));
            }
            std::sort(ends_.begin(), ends_.end());
        }
    }

    template <typename Stopped>
    void split_best_first(std::size_t n_intervals, const Stopped& stopped) {
        ends_.assign(1, values_.count());
        std::vector<Piece> pieces{best_threshold(0, values_.count(), scorer_.criterion())};
        while (ends_.size() < n_intervals && !stopped()) {
            const auto best =
                std::max_element(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
                    if ((a.middle > 0) != (b.middle > 0)) return b.middle > 0;
                    return a.gain != b.gain ? a.gain < b.gain : a.begin > b.begin;
                });
            if (best->middle == 0) break;
            const Piece piece = *best;
            ends_.push_back(piece.middle);
            *best = best_threshold(piece.begin, piece.middle, scorer_.criterion());
            pieces.push_back(best_threshold(piece.middle, piece.end, scorer_.criterion()));
        }
        std::sort(ends_.begin(), ends_.end());
    }

    void total(std::size_t begin, std::size_t end, std::vector<Number>& out) const {
        std::fill(out.begin(), out.end(), Number(0));
        for (std::size_t i = begin; i < end; ++i)
            scorer_.sum(out.data(), out.data(), values_.cell(i));
    }

    // Find the threshold in [begin, end) of the largest sum of terms, the lowest of equals
    // (middle is 0 if there is none).
    template <typename Term>
    Piece best_threshold(std::size_t begin, std::size_t end, const Term& criterion) {
        Piece best{begin, end, 0, 0};
        const auto& cells = scorer_.cells;
        total(begin, end, total_);
        const double total_term = criterion.term(cells, total_.data(), cells.weight(total_.data()));
        std::fill(left_.begin(), left_.end(), Number(0));
        for (std::size_t i = begin; i + 1 < end; ++i) {
            scorer_.sum(left_.data(), left_.data(), values_.cell(i));
            scorer_.difference(right_.data(), total_.data(), left_.data());
            double unused_terms = 0, unused_xlog2x = 0;
            if (!scorer_.add_branch(left_.data(), unused_terms, unused_xlog2x) ||
                !scorer_.add_branch(right_.data(), unused_terms, unused_xlog2x))
                continue;
            const double gain = criterion.term(cells, left_.data(), cells.weight(left_.data())) +
                                criterion.term(cells, right_.data(), cells.weight(right_.data())) -
                                total_term;
            if (best.middle == 0 || gain > best.gain) {
                best.middle = i + 1;
                best.gain = gain;
            }
        }
        return best;
    }

    // Entropy of a cell in bits, and the number of its classes.
    struct ClassEntropy {
        double weight, bits, n_classes;
    };
    ClassEntropy class_entropy(std::size_t begin, std::size_t end) {
        total(begin, end, total_);
        ClassEntropy found{double(scorer_.cells.weight(total_.data())), 0, 0};
        if constexpr (SplitScorer<Cells, CriterionTerm>::kHasClasses) {
            const Number weight = scorer_.cells.weight(total_.data());
            found.bits = -entropy_.term(scorer_.cells, total_.data(), weight) / double(weight);
            for (int k = 0; k < scorer_.cells.n_classes(); ++k)
                found.n_classes += total_[size_t(k)] > 0;
        }
        return found;
    }

    // Fayyad & Irani's criterion: the gain must exceed the cost of encoding the threshold and the
    // classes.
    bool is_worth_description(const Piece& piece) {
        const ClassEntropy s = class_entropy(piece.begin, piece.end),
                           s1 = class_entropy(piece.begin, piece.middle),
                           s2 = class_entropy(piece.middle, piece.end);
        const double n = s.weight * scorer_.config.real_unit;
        if (n <= 1) return false;
        // For many classes the 2 is lost in rounding, and 3^k overflows.
        const double subset_bits = s.n_classes * std::log2(3.0);
        const double class_bits =
            s.n_classes > 30 ? subset_bits : std::log2(std::exp2(subset_bits) - 2);
        const double delta =
            class_bits - (s.n_classes * s.bits - s1.n_classes * s1.bits - s2.n_classes * s2.bits);
        const double gain = piece.gain / s.weight;
        return gain > (std::log2(n - 1) + delta) / n;
    }

    void record(Candidate& best) {
        intervals_.clear(scorer_.size);
        std::size_t begin = 0;
        for (const std::size_t end : ends_) {
            Number* cell = intervals_.add(std::uint32_t(intervals_.count()));
            for (; begin < end; ++begin) scorer_.sum(cell, cell, values_.cell(begin));
        }
        std::int32_t missing_branch = kHeavierBranch;
        if (!multiway_.try_split(intervals_, best, missing_branch)) return;
        best.shape = SplitShape::kIntervals;
        best.method = SearchMethod::kIntervals;
        best.missing_branch = missing_branch;
        best.thresholds.clear();
        for (std::size_t b = 0; b + 1 < ends_.size(); ++b)
            best.thresholds.emplace_back(last_code_[ends_[b] - 1], values_.codes[ends_[b]]);
        std::tie(best.threshold_code, best.next_code) = best.thresholds.front();
    }

    SplitScorer<Cells, CriterionTerm>& scorer_;
    MultiwaySplit<Cells, CriterionTerm> multiway_;
    Entropy entropy_;
    CodeCells values_, intervals_;
    std::vector<std::uint32_t> last_code_;  // last code of each value, since values may be joined
    std::vector<std::size_t> ends_;
    std::vector<Number> total_, left_, right_;
};

}  // namespace ceiba::tree
