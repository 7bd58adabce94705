// Implementations of SplitFinder for each criterion and kind of target.
#include "tree/split/split_finder.hpp"

#include <stdexcept>
#include <type_traits>

#include "tree/split/category_search.hpp"
#include "tree/split/interval_search.hpp"
#include "tree/split/median_finder.hpp"
#include "tree/split/monotonic.hpp"
#include "tree/split/sources.hpp"
#include "tree/split/split_scorer.hpp"
#include "tree/split/threshold_search.hpp"
#include "tree/split/vector_cells.hpp"

namespace ceiba::tree {
namespace {

template <typename Rows, typename Cells, typename CriterionTerm>
class CellSplitFinder final : public SplitFinder<Rows> {
  public:
    CellSplitFinder(const Cells& cells, const CriterionTerm& criterion, const SplitFinderSpec& spec)
        : scorer_(cells, criterion, spec.xlog2x, spec.config),
          thresholds_(scorer_),
          intervals_(scorer_, spec.xlog2x),
          categories_(scorer_) {}

    double term(const Number* cell) const override { return scorer_.term(cell); }

    void search_bins(const NodeCell& node, const Column& column, const Number* bins,
                     Candidate& best) override {
        search(node, column, HistogramSource<Cells>(scorer_.cells, bins, column.n_codes), best);
    }
    void search_labels(const NodeCell& node, const Column& column,
                       std::span<const std::uint32_t> sorted, int bits, Candidate& best) override {
        const auto* first = sorted.data();
        search(node, column, LabelSource(first, first + sorted.size(), bits, column.missing_code()),
               best);
    }
    void search_tagged(const NodeCell& node, const Column& column,
                       std::span<const LargeEntry> sorted, Candidate& best) override {
        if constexpr (std::is_same_v<Rows, ClassRows<true>>) {
            const auto* first = sorted.data();
            const int n_classes = scorer_.cells.n_classes();
            search(node, column,
                   TaggedSource(first, first + sorted.size(), column.missing_code(), n_classes),
                   best);
        } else {
            SplitFinder<Rows>::search_tagged(node, column, sorted, best);
        }
    }
    void search_small(const NodeCell& node, const Column& column, std::uint32_t missing_code,
                      const Rows& rows, std::span<const SmallEntry> sorted,
                      Candidate& best) override {
        using Source = EntrySource<Rows, SmallEntry, kSmallBits>;
        const auto* first = sorted.data();
        search(node, column, Source(rows, first, first + sorted.size(), missing_code), best);
    }
    void search_large(const NodeCell& node, const Column& column, const Rows& rows,
                      std::span<const LargeEntry> sorted, Candidate& best) override {
        using Source = EntrySource<Rows, LargeEntry, kLargeBits>;
        const auto* first = sorted.data();
        search(node, column, Source(rows, first, first + sorted.size(), column.missing_code()),
               best);
    }

  private:
    template <typename Source>
    void search(const NodeCell& node, const Column& column, const Source& source, Candidate& best) {
        scorer_.begin(node, column, source);
        if (!source.more()) return;
        if (column.nominal)
            categories_.find(column, source, best);
        else if (scorer_.config.n_intervals > 0)
            intervals_.find(source, best, [this] { return this->stopped(); });
        else
            thresholds_.find(column, source, best);
        scorer_.finalize(best);
    }

    SplitScorer<Cells, CriterionTerm> scorer_;
    ThresholdSearch<Cells, CriterionTerm> thresholds_;
    IntervalSearch<Cells, CriterionTerm> intervals_;
    CategorySearch<Cells, CriterionTerm> categories_;
};

// A finder by a criterion, or by the same under monotonic constraints. They are for two classes or
// numbers, so that there is no code for more classes.
template <typename Rows, typename Cells, typename CriterionTerm>
std::unique_ptr<SplitFinder<Rows>> finder_by(const Cells& cells, const CriterionTerm& criterion,
                                             const SplitFinderSpec& spec) {
    if (!spec.config.has_monotonic())
        return std::make_unique<CellSplitFinder<Rows, Cells, CriterionTerm>>(cells, criterion,
                                                                             spec);
    if constexpr (std::is_same_v<Cells, ClassCells<0, Rows::kWeighted>>) {
        throw std::invalid_argument("monotonic requires two classes or numbers.");
    } else {
        using Term = Constrained<CriterionTerm>;
        return std::make_unique<CellSplitFinder<Rows, Cells, Term>>(cells, Term{criterion, {}},
                                                                    spec);
    }
}

template <typename Rows, typename Cells>
std::unique_ptr<SplitFinder<Rows>> class_finder(const Cells& cells, const SplitFinderSpec& spec) {
    switch (spec.criterion) {
        case Criterion::kGini:
            return finder_by<Rows>(cells, Gini{}, spec);
        case Criterion::kError:
            return finder_by<Rows>(cells, Error{}, spec);
        case Criterion::kEntropy:
        case Criterion::kGainRatio:
            return finder_by<Rows>(cells, Entropy{spec.xlog2x}, spec);
        default:
            throw std::invalid_argument("criterion must be one for classification.");
    }
}

template <bool Weighted>
std::unique_ptr<SplitFinder<ClassRows<Weighted>>> make_class_finder(const SplitFinderSpec& spec) {
    using Rows = ClassRows<Weighted>;
    if (spec.n_classes == 2) return class_finder<Rows>(ClassCells<2, Weighted>{}, spec);
    return class_finder<Rows>(ClassCells<0, Weighted>{spec.n_classes}, spec);
}

template <bool Weighted>
std::unique_ptr<SplitFinder<MomentRows<Weighted>>> make_moment_finder(const SplitFinderSpec& spec) {
    using Rows = MomentRows<Weighted>;
    const MomentCells<Weighted> cells;
    if (spec.criterion == Criterion::kAbsolute)
        return std::make_unique<MedianSplitFinder<Weighted>>(spec.config, spec.values,
                                                             spec.target_center);
    if (spec.criterion == Criterion::kPoisson)
        return finder_by<Rows>(cells, PoissonDeviance{}, spec);
    if (spec.criterion != Criterion::kSquared)
        throw std::invalid_argument("criterion must be one for regression.");
    return finder_by<Rows>(cells, SquaredError{spec.has_fractional_weights}, spec);
}

template <typename Rows>
std::unique_ptr<SplitFinder<Rows>> make_vector_finder(const SplitFinderSpec& spec) {
    return std::make_unique<CellSplitFinder<Rows, VectorCells, VectorSquaredError>>(
        VectorCells{int(spec.target_factors.size())},
        VectorSquaredError{spec.target_factors, {}, {}}, spec);
}

}  // namespace

template <>
std::unique_ptr<SplitFinder<ClassRows<false>>> make_split_finder(const SplitFinderSpec& spec) {
    return make_class_finder<false>(spec);
}
template <>
std::unique_ptr<SplitFinder<ClassRows<true>>> make_split_finder(const SplitFinderSpec& spec) {
    return make_class_finder<true>(spec);
}
template <>
std::unique_ptr<SplitFinder<MomentRows<false>>> make_split_finder(const SplitFinderSpec& spec) {
    return make_moment_finder<false>(spec);
}
template <>
std::unique_ptr<SplitFinder<MomentRows<true>>> make_split_finder(const SplitFinderSpec& spec) {
    return make_moment_finder<true>(spec);
}
template <>
std::unique_ptr<SplitFinder<NumberVectors>> make_split_finder(const SplitFinderSpec& spec) {
    return make_vector_finder<NumberVectors>(spec);
}
template <>
std::unique_ptr<SplitFinder<LabelVectors>> make_split_finder(const SplitFinderSpec& spec) {
    return make_vector_finder<LabelVectors>(spec);
}

}  // namespace ceiba::tree
