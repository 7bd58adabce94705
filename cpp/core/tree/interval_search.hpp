// A numeric column parted into several intervals.
//
// As many as the description length allows: Fayyad & Irani (1993), "Multi-interval discretization
// of continuous-valued attributes for classification learning", IJCAI. Or a given number: the cut
// that adds most is made until there are enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tree/items.hpp"
#include "tree/judge.hpp"
#include "tree/multiway.hpp"

namespace ceiba::tree {

template <typename Cells, typename Rule>
class IntervalSearch {
  public:
    IntervalSearch(Judge<Cells, Rule>& judge, const Xlog2x& xlog2x)
        : judge_(judge),
          multiway_(judge),
          entropy_{xlog2x},
          whole_(judge.size),
          left_(judge.size),
          right_(judge.size) {}

    // `stopped()` says whether to give up.
    template <typename Source, typename Stopped>
    void find(Source source, Candidate& best, const Stopped& stopped) {
        values_.collect(source, judge_.size);
        last_ = values_.codes;
        best.seen = values_.count() > 1;
        if (judge_.rules.intervals > 1) {
            best_first(std::size_t(judge_.rules.intervals), stopped);
        } else {
            if (judge_.rules.least_rows <= 1 && judge_.rules.least_weight == 0) join_pure_runs();
            by_description_length(stopped);
        }
        if (ends_.size() > 1)
            note(best);
        else
            best.worthless = best.seen && judge_.rules.intervals == 1;
    }

  private:
    // Values [begin, end), and their best cut: [begin, cut) and [cut, end).
    struct Piece {
        std::size_t begin, end, cut;
        double gained;
    };

    // Neighbouring values of one and the same class become one: the cut of least entropy never
    // parts them (Fayyad & Irani 1992), where no interval has to be large. 400,000 values in runs
    // of 60 of a class took 26 s without.
    void join_pure_runs() {
        if constexpr (Judge<Cells, Rule>::kClasses) {
            std::size_t n = 0;
            for (std::size_t i = 0; i < values_.count(); ++i) {
                const bool joins =
                    n > 0 && only_class(n - 1) >= 0 && only_class(n - 1) == only_class(i);
                if (!joins) {
                    values_.codes[n] = values_.codes[i];
                    if (n != i) std::copy_n(values_.cell(i), judge_.size, values_.cell(n));
                    ++n;
                } else {
                    judge_.sum(values_.cell(n - 1), values_.cell(n - 1), values_.cell(i));
                }
                last_[n - 1] = last_[i];
            }
            values_.codes.resize(n);
            values_.cells.resize(n * judge_.size);
        }
    }

    // The class of all rows of a value; -1 where they have several.
    int only_class(std::size_t i) const {
        const Number* cell = values_.cell(i);
        const int classes = judge_.cells.classes();
        const int most = int(std::max_element(cell, cell + classes) - cell);
        return cell[most] == judge_.cells.weight(cell) ? most : -1;
    }

    // Split again and again as long as the cut of least entropy pays for itself.
    template <typename Stopped>
    void by_description_length(const Stopped& stopped) {
        ends_.assign(1, values_.count());
        if constexpr (Judge<Cells, Rule>::kClasses) {
            std::vector<Piece> waiting{best_cut(0, values_.count(), entropy_)};
            while (!waiting.empty() && !stopped()) {
                const Piece piece = waiting.back();
                waiting.pop_back();
                if (piece.cut == 0 || !pays(piece)) continue;
                ends_.push_back(piece.cut);
                waiting.push_back(best_cut(piece.begin, piece.cut, entropy_));
                waiting.push_back(best_cut(piece.cut, piece.end, entropy_));
            }
            std::sort(ends_.begin(), ends_.end());
        }
    }

    template <typename Stopped>
    void best_first(std::size_t wanted, const Stopped& stopped) {
        ends_.assign(1, values_.count());
        std::vector<Piece> pieces{best_cut(0, values_.count(), judge_.rule())};
        while (ends_.size() < wanted && !stopped()) {
            const auto best =
                std::max_element(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
                    if ((a.cut > 0) != (b.cut > 0)) return b.cut > 0;
                    return a.gained != b.gained ? a.gained < b.gained : a.begin > b.begin;
                });
            if (best->cut == 0) break;
            const Piece piece = *best;
            ends_.push_back(piece.cut);
            *best = best_cut(piece.begin, piece.cut, judge_.rule());
            pieces.push_back(best_cut(piece.cut, piece.end, judge_.rule()));
        }
        std::sort(ends_.begin(), ends_.end());
    }

    void total(std::size_t begin, std::size_t end, std::vector<Number>& out) const {
        std::fill(out.begin(), out.end(), Number(0));
        for (std::size_t i = begin; i < end; ++i)
            judge_.sum(out.data(), out.data(), values_.cell(i));
    }

    // The cut of [begin, end) with the largest sum of terms, of equals the lowest; none: cut = 0.
    template <typename Criterion>
    Piece best_cut(std::size_t begin, std::size_t end, const Criterion& criterion) {
        Piece best{begin, end, 0, 0};
        const auto& cells = judge_.cells;
        total(begin, end, whole_);
        const double whole = criterion.term(cells, whole_.data(), cells.weight(whole_.data()));
        std::fill(left_.begin(), left_.end(), Number(0));
        for (std::size_t i = begin; i + 1 < end; ++i) {
            judge_.sum(left_.data(), left_.data(), values_.cell(i));
            judge_.difference(right_.data(), whole_.data(), left_.data());
            double unused = 0, weights = 0;
            if (!judge_.branch(left_.data(), unused, weights) ||
                !judge_.branch(right_.data(), unused, weights))
                continue;
            const double gained =
                criterion.term(cells, left_.data(), cells.weight(left_.data())) +
                criterion.term(cells, right_.data(), cells.weight(right_.data())) - whole;
            if (best.cut == 0 || gained > best.gained) {
                best.cut = i + 1;
                best.gained = gained;
            }
        }
        return best;
    }

    // Entropy of a cell in bits, and the classes it has.
    struct Spread {
        double weight, bits, classes;
    };
    Spread spread(std::size_t begin, std::size_t end) {
        total(begin, end, whole_);
        Spread found{double(judge_.cells.weight(whole_.data())), 0, 0};
        if constexpr (Judge<Cells, Rule>::kClasses) {
            const Number weight = judge_.cells.weight(whole_.data());
            found.bits = -entropy_.term(judge_.cells, whole_.data(), weight) / double(weight);
            for (int k = 0; k < judge_.cells.classes(); ++k) found.classes += whole_[size_t(k)] > 0;
        }
        return found;
    }

    // Fayyad & Irani's criterion: the gain must exceed the cost of naming the cut and the classes.
    bool pays(const Piece& piece) {
        const Spread s = spread(piece.begin, piece.end), s1 = spread(piece.begin, piece.cut),
                     s2 = spread(piece.cut, piece.end);
        const double n = s.weight * judge_.rules.real_unit;
        if (n <= 1) return false;
        // Beyond a few classes the 2 is lost in rounding, and 3^k beyond all numbers.
        const double named = s.classes * std::log2(3.0);
        const double subsets = s.classes > 30 ? named : std::log2(std::exp2(named) - 2);
        const double delta =
            subsets - (s.classes * s.bits - s1.classes * s1.bits - s2.classes * s2.bits);
        const double gain = piece.gained / s.weight;
        return gain > (std::log2(n - 1) + delta) / n;
    }

    void note(Candidate& best) {
        intervals_.clear(judge_.size);
        std::size_t begin = 0;
        for (const std::size_t end : ends_) {
            Number* cell = intervals_.add(std::uint32_t(intervals_.count()));
            for (; begin < end; ++begin) judge_.sum(cell, cell, values_.cell(begin));
        }
        std::int32_t gap = kHeavier;
        if (!multiway_.offer(intervals_, best, gap)) return;
        best.shape = Shape::kIntervals;
        best.method = Method::kIntervals;
        best.gap = gap;
        best.cuts.clear();
        for (std::size_t b = 0; b + 1 < ends_.size(); ++b)
            best.cuts.emplace_back(last_[ends_[b] - 1], values_.codes[ends_[b]]);
        std::tie(best.cut, best.next) = best.cuts.front();
    }

    Judge<Cells, Rule>& judge_;
    Multiway<Cells, Rule> multiway_;
    Entropy entropy_;
    Items values_, intervals_;
    std::vector<std::uint32_t> last_;  // the last code of each value: some are joined
    std::vector<std::size_t> ends_;
    std::vector<Number> whole_, left_, right_;
};

}  // namespace ceiba::tree
