// Split search by absolute error: sums of distances to medians, updated row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/split/sources.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

struct WeightedValue {
    double value;  // the target minus the center of all targets, so that sums keep its digits
    double weight;
    double target;  // as given
};

// Weighted median of a growing set and the sum of distances to it. One heap holds the lower values,
// at least half of the weight, the other one the upper values.
class RunningMedian {
  public:
    void clear();
    void add(WeightedValue item);
    double deviation() const;
    // The midpoint of the two middle values if the halves have equal weight.
    double median() const;
    double lower_median() const { return below_.front().value; }

  private:
    static bool less(const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; }
    static bool more(const WeightedValue& a, const WeightedValue& b) { return a.value > b.value; }
    void push_below(WeightedValue item);
    void push_above(WeightedValue item);
    WeightedValue pop_below();
    WeightedValue pop_above();

    std::vector<WeightedValue> below_, above_;
    double weight_below_ = 0, weight_above_ = 0;
    double sum_below_ = 0, sum_above_ = 0;
};

template <bool Weighted>
class MedianSplitFinder final : public SplitFinder<MomentRows<Weighted>> {
  public:
    using Rows = MomentRows<Weighted>;

    MedianSplitFinder(const SplitConfig& config, const double* values, double target_center)
        : config_(config), values_(values), target_center_(target_center) {}

    double term(const Number*) const override { return 0; }
    bool needs_rows() const override { return true; }
    MedianSummary median_of(const Rows& rows, std::span<const std::uint32_t> positions) override;

    void search_bins(const NodeCell&, const Column&, const Number*, Candidate&) override;
    void search_labels(const NodeCell&, const Column&, std::span<const std::uint32_t>, int,
                       Candidate&) override;
    void search_small(const NodeCell& node, const Column& column, std::uint32_t missing_code,
                      const Rows& rows, std::span<const SmallEntry> sorted,
                      Candidate& best) override;
    void search_large(const NodeCell& node, const Column& column, const Rows& rows,
                      std::span<const LargeEntry> sorted, Candidate& best) override;

  private:
    // Rows that stay together: those of one code, in the order in which thresholds are tried.
    struct Run {
        std::uint32_t code;
        std::size_t begin, end;  // in items_
        double weight = 0;
    };
    struct Side {
        double deviation, weight;
        std::size_t rows;
    };

    template <typename Entry, int Bits>
    void gather_runs(const Rows& rows, std::span<const Entry> sorted, std::uint32_t missing_code);
    WeightedValue item(const Rows& rows, std::size_t position) const;
    void find(const NodeCell& node, const Column& column, Candidate& best);
    void search_thresholds(Candidate& best);
    void search_groups(const Column& column, Candidate& best);
    void search_multiway(const Column& column, Candidate& best);
    void scan(bool missing_is_run, bool threshold, Candidate& best, std::size_t& n_left);
    void sort_by_median();
    std::vector<Side> sides(bool forward, bool with_missing);
    Side whole(std::size_t begin, std::size_t end);
    bool try_split(Candidate& best, std::initializer_list<Side> branches) const;
    bool is_allowed(const Side& side) const;

    SplitConfig config_;
    const double* values_;
    double target_center_;
    RunningMedian running_;
    std::vector<WeightedValue> items_;
    std::vector<Run> runs_;
    Run missing_run_{};
    bool has_missing_ = false;
};

}  // namespace ceiba::tree
