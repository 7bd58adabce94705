#include "tree/finder.hpp"

#include <stdexcept>
#include <type_traits>

#include "tree/interval_search.hpp"
#include "tree/judge.hpp"
#include "tree/level_search.hpp"
#include "tree/median.hpp"
#include "tree/source.hpp"
#include "tree/threshold_search.hpp"

namespace ceiba::tree {
namespace {

template <typename Rows, typename Cells, typename Rule>
class CellFinder final : public Finder<Rows> {
  public:
    CellFinder(const Cells& cells, const Rule& rule, const FinderSpec& spec)
        : judge_(cells, rule, spec.xlog2x, spec.rules),
          thresholds_(judge_),
          intervals_(judge_, spec.xlog2x),
          levels_(judge_) {}

    double term(const Number* cell) const override { return judge_.term(cell); }

    void bins(const NodeCell& node, const Column& column, const Number* bins,
              Candidate& best) override {
        find(node, column, Bins<Cells>(judge_.cells, bins, column.n_codes), best);
    }
    void labels(const NodeCell& node, const Column& column, std::span<const std::uint32_t> sorted,
                int bits, Candidate& best) override {
        const auto* first = sorted.data();
        find(node, column, Labels(first, first + sorted.size(), bits, column.gap()), best);
    }
    void tagged(const NodeCell& node, const Column& column, std::span<const LargeEntry> sorted,
                Candidate& best) override {
        if constexpr (std::is_same_v<Rows, ClassRows<true>>) {
            const auto* first = sorted.data();
            const int classes = judge_.cells.classes();
            find(node, column, Tagged(first, first + sorted.size(), column.gap(), classes), best);
        } else {
            Finder<Rows>::tagged(node, column, sorted, best);
        }
    }
    void small(const NodeCell& node, const Column& column, std::uint32_t gap_code, const Rows& rows,
               std::span<const SmallEntry> sorted, Candidate& best) override {
        using Source = Entries<Rows, SmallEntry, kSmallBits>;
        const auto* first = sorted.data();
        find(node, column, Source(rows, first, first + sorted.size(), gap_code), best);
    }
    void large(const NodeCell& node, const Column& column, const Rows& rows,
               std::span<const LargeEntry> sorted, Candidate& best) override {
        using Source = Entries<Rows, LargeEntry, kLargeBits>;
        const auto* first = sorted.data();
        find(node, column, Source(rows, first, first + sorted.size(), column.gap()), best);
    }

  private:
    template <typename Source>
    void find(const NodeCell& node, const Column& column, const Source& source, Candidate& best) {
        judge_.begin(node, source);
        if (!source.more()) return;
        if (column.nominal)
            levels_.find(column, source, best);
        else if (judge_.rules.intervals > 0)
            intervals_.find(source, best, [this] { return this->stopped(); });
        else
            thresholds_.find(column, source, best);
        judge_.settle(best);
    }

    Judge<Cells, Rule> judge_;
    ThresholdSearch<Cells, Rule> thresholds_;
    IntervalSearch<Cells, Rule> intervals_;
    LevelSearch<Cells, Rule> levels_;
};

template <typename Rows, typename Cells>
std::unique_ptr<Finder<Rows>> class_finder(const Cells& cells, const FinderSpec& spec) {
    switch (spec.criterion) {
        case Criterion::kGini:
            return std::make_unique<CellFinder<Rows, Cells, Gini>>(cells, Gini{}, spec);
        case Criterion::kError:
            return std::make_unique<CellFinder<Rows, Cells, Error>>(cells, Error{}, spec);
        case Criterion::kEntropy:
        case Criterion::kGainRatio:
            return std::make_unique<CellFinder<Rows, Cells, Entropy>>(cells, Entropy{spec.xlog2x},
                                                                      spec);
        default:
            throw std::invalid_argument("this criterion is not one for classes");
    }
}

template <bool Weighted>
std::unique_ptr<Finder<ClassRows<Weighted>>> make_class_finder(const FinderSpec& spec) {
    using Rows = ClassRows<Weighted>;
    if (spec.classes == 2) return class_finder<Rows>(ClassCells<2, Weighted>{}, spec);
    return class_finder<Rows>(ClassCells<0, Weighted>{spec.classes}, spec);
}

template <bool Weighted>
std::unique_ptr<Finder<MomentRows<Weighted>>> make_moment_finder(const FinderSpec& spec) {
    using Rows = MomentRows<Weighted>;
    using Cells = MomentCells<Weighted>;
    if (spec.criterion == Criterion::kAbsolute)
        return std::make_unique<MedianFinder<Weighted>>(spec.rules, spec.values, spec.centre);
    if (spec.criterion == Criterion::kPoisson)
        return std::make_unique<CellFinder<Rows, Cells, PoissonDeviance>>(Cells{},
                                                                          PoissonDeviance{}, spec);
    if (spec.criterion != Criterion::kSquared)
        throw std::invalid_argument("this criterion is not one for numbers");
    return std::make_unique<CellFinder<Rows, Cells, SquaredError>>(
        Cells{}, SquaredError{spec.fractional}, spec);
}

}  // namespace

template <>
std::unique_ptr<Finder<ClassRows<false>>> make_finder(const FinderSpec& spec) {
    return make_class_finder<false>(spec);
}
template <>
std::unique_ptr<Finder<ClassRows<true>>> make_finder(const FinderSpec& spec) {
    return make_class_finder<true>(spec);
}
template <>
std::unique_ptr<Finder<MomentRows<false>>> make_finder(const FinderSpec& spec) {
    return make_moment_finder<false>(spec);
}
template <>
std::unique_ptr<Finder<MomentRows<true>>> make_finder(const FinderSpec& spec) {
    return make_moment_finder<true>(spec);
}

}  // namespace ceiba::tree
