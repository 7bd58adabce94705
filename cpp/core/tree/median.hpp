// Splits by absolute error: sums of distances to medians, kept up while rows come one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/finder.hpp"
#include "tree/source.hpp"

namespace ceiba::tree {

// A target relative to the middle of all, so that sums do not lose its digits, and as it is.
struct WeightedValue {
    double value;
    double weight;
    double target;
};

// The weighted median of a growing set and the sum of the distances to it: the rest above,
// at least half of the weight below, each in a heap.
class RunningMedian {
  public:
    void clear();
    void add(WeightedValue item);
    double deviation() const;
    // Between the two middle values where the halves are equally heavy.
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
class MedianFinder final : public Finder<MomentRows<Weighted>> {
  public:
    using Rows = MomentRows<Weighted>;

    MedianFinder(const SplitRules& rules, const double* values, double centre)
        : rules_(rules), values_(values), centre_(centre) {}

    double term(const Number*) const override { return 0; }
    bool by_rows() const override { return true; }
    Middle middle(const Rows& rows, std::span<const std::uint32_t> places) override;

    void bins(const NodeCell&, const Column&, const Number*, Candidate&) override;
    void labels(const NodeCell&, const Column&, std::span<const std::uint32_t>, int,
                Candidate&) override;
    void small(const NodeCell& node, const Column& column, std::uint32_t gap_code, const Rows& rows,
               std::span<const SmallEntry> sorted, Candidate& best) override;
    void large(const NodeCell& node, const Column& column, const Rows& rows,
               std::span<const LargeEntry> sorted, Candidate& best) override;

  private:
    // Rows that go together: those of one code, in the order in which cuts are tried.
    struct Run {
        std::uint32_t code;
        std::size_t begin, end;  // into items_
        double weight = 0;
    };
    struct Side {
        double deviation, weight;
        std::size_t rows;
    };

    template <typename Entry, int Bits>
    void gather(const Rows& rows, std::span<const Entry> sorted, std::uint32_t gap_code);
    WeightedValue item(const Rows& rows, std::size_t place) const;
    void find(const Column& column, Candidate& best);
    void ordered(Candidate& best);
    void grouped(const Column& column, Candidate& best);
    void multiway(const Column& column, Candidate& best);
    void scan(bool gap_is_run, bool threshold, Candidate& best, std::size_t& most);
    void sort_by_median();
    std::vector<Side> sides(bool forward, bool with_gaps);
    Side whole(std::size_t begin, std::size_t end);
    bool offer(Candidate& best, std::initializer_list<Side> branches) const;
    bool allowed(const Side& side) const;

    SplitRules rules_;
    const double* values_;
    double centre_;
    RunningMedian heap_;
    std::vector<WeightedValue> items_;
    std::vector<Run> runs_;
    Run gap_{};
    bool gaps_ = false;
};

}  // namespace ceiba::tree
