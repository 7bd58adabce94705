#include "tree/median.hpp"

#include <stdexcept>

namespace ceiba::tree {

void RunningMedian::clear() {
    below_.clear();
    above_.clear();
    weight_below_ = weight_above_ = sum_below_ = sum_above_ = 0;
}

void RunningMedian::push_below(WeightedValue item) {
    below_.push_back(item);
    std::push_heap(below_.begin(), below_.end(), less);
    weight_below_ += item.weight;
    sum_below_ += item.weight * item.value;
}

void RunningMedian::push_above(WeightedValue item) {
    above_.push_back(item);
    std::push_heap(above_.begin(), above_.end(), more);
    weight_above_ += item.weight;
    sum_above_ += item.weight * item.value;
}

WeightedValue RunningMedian::pop_below() {
    std::pop_heap(below_.begin(), below_.end(), less);
    const WeightedValue item = below_.back();
    below_.pop_back();
    weight_below_ -= item.weight;
    sum_below_ -= item.weight * item.value;
    return item;
}

WeightedValue RunningMedian::pop_above() {
    std::pop_heap(above_.begin(), above_.end(), more);
    const WeightedValue item = above_.back();
    above_.pop_back();
    weight_above_ -= item.weight;
    sum_above_ -= item.weight * item.value;
    return item;
}

// Below holds at least half of the weight, and would not without its greatest value.
void RunningMedian::add(WeightedValue item) {
    if (below_.empty() || item.value <= below_.front().value)
        push_below(item);
    else
        push_above(item);
    while (weight_below_ < weight_above_) push_below(pop_above());
    while (below_.front().weight + weight_above_ <= weight_below_ - below_.front().weight)
        push_above(pop_below());
}

double RunningMedian::median() const {
    const double lower = below_.front().target;
    if (above_.empty() || weight_below_ != weight_above_) return lower;
    return lower / 2 + above_.front().target / 2;
}

double RunningMedian::deviation() const {
    const double middle = below_.front().value;
    return (sum_above_ - middle * weight_above_) + (middle * weight_below_ - sum_below_);
}

template <bool Weighted>
WeightedValue MedianFinder<Weighted>::item(const Rows& rows, std::size_t place) const {
    const double weight = Weighted ? double(rows.weight[place]) : 1.0;
    const double target = values_[rows.target[place]];
    return {target - centre_, weight, target};
}

template <bool Weighted>
Middle MedianFinder<Weighted>::middle(const Rows& rows, std::span<const std::uint32_t> places) {
    heap_.clear();
    for (const std::uint32_t place : places) heap_.add(item(rows, place));
    return {heap_.median(), heap_.deviation()};
}

template <bool Weighted>
void MedianFinder<Weighted>::bins(const NodeCell&, const Column&, const Number*, Candidate&) {
    throw std::logic_error("absolute error is told from rows, not from bins");
}

template <bool Weighted>
void MedianFinder<Weighted>::labels(const NodeCell&, const Column&, std::span<const std::uint32_t>,
                                    int, Candidate&) {
    throw std::logic_error("absolute error is told from rows, not from labels");
}

template <bool Weighted>
void MedianFinder<Weighted>::small(const NodeCell&, const Column& column, std::uint32_t gap_code,
                                   const Rows& rows, std::span<const SmallEntry> sorted,
                                   Candidate& best) {
    gather<SmallEntry, kSmallBits>(rows, sorted, gap_code);
    find(column, best);
}

template <bool Weighted>
void MedianFinder<Weighted>::large(const NodeCell&, const Column& column, const Rows& rows,
                                   std::span<const LargeEntry> sorted, Candidate& best) {
    gather<LargeEntry, kLargeBits>(rows, sorted, column.gap());
    find(column, best);
}

template <bool Weighted>
template <typename Entry, int Bits>
void MedianFinder<Weighted>::gather(const Rows& rows, std::span<const Entry> sorted,
                                    std::uint32_t gap_code) {
    using Source = Entries<Rows, Entry, Bits>;
    items_.clear();
    runs_.clear();
    for (const Entry entry : sorted) {
        const std::uint32_t code = Source::code_of(entry);
        if (runs_.empty() || runs_.back().code != code)
            runs_.push_back({code, items_.size(), items_.size(), 0});
        items_.push_back(item(rows, Source::row_of(entry)));
        runs_.back().end = items_.size();
        runs_.back().weight += items_.back().weight;
    }
    gaps_ = !runs_.empty() && runs_.back().code == gap_code;
    if (gaps_) {
        gap_ = runs_.back();
        runs_.pop_back();
    }
}

template <bool Weighted>
void MedianFinder<Weighted>::find(const Column& column, Candidate& best) {
    if (runs_.empty()) return;
    if (!column.nominal)
        ordered(best);
    else if (rules_.multiway)
        multiway(column, best);
    else
        grouped(column, best);
}

template <bool Weighted>
bool MedianFinder<Weighted>::allowed(const Side& side) const {
    return Number(side.rows) >= rules_.least_rows && side.weight >= double(rules_.least_weight);
}

template <bool Weighted>
bool MedianFinder<Weighted>::offer(Candidate& best, std::initializer_list<Side> branches) const {
    best.seen = true;
    double terms = 0;
    for (const Side& side : branches) {
        if (!allowed(side)) return false;
        terms -= side.deviation;
    }
    if (!best.offer(terms)) return false;
    best.terms = terms;
    best.branches = std::int32_t(branches.size());
    return true;
}

template <bool Weighted>
typename MedianFinder<Weighted>::Side MedianFinder<Weighted>::whole(std::size_t begin,
                                                                    std::size_t end) {
    heap_.clear();
    double weight = 0;
    for (std::size_t i = begin; i < end; ++i) {
        heap_.add(items_[i]);
        weight += items_[i].weight;
    }
    return {heap_.deviation(), weight, end - begin};
}

// What the first 1, 2, ... runs come to together, or the last; with the gaps or without.
template <bool Weighted>
std::vector<typename MedianFinder<Weighted>::Side> MedianFinder<Weighted>::sides(bool forward,
                                                                                 bool with_gaps) {
    std::vector<Side> found;
    heap_.clear();
    Side side{0, 0, 0};
    const auto add = [&](const Run& run) {
        for (std::size_t i = run.begin; i < run.end; ++i) heap_.add(items_[i]);
        side.weight += run.weight;
        side.rows += run.end - run.begin;
        side.deviation = heap_.deviation();
    };
    if (with_gaps) add(gap_);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        add(runs_[forward ? r : runs_.size() - 1 - r]);
        found.push_back(side);
    }
    return found;
}

// Cuts after the first 1, 2, ... runs, under the rule for gaps; `most` is how many go left.
template <bool Weighted>
void MedianFinder<Weighted>::scan(bool gap_is_run, bool threshold, Candidate& best,
                                  std::size_t& most) {
    const bool apart = gaps_ && !gap_is_run;
    const std::vector<Side> left = sides(true, false), right = sides(false, false);
    std::vector<Side> left_gaps, right_gaps;
    Side gap{0, 0, 0};
    if (apart && rules_.gaps != GapRule::kBranch) {
        left_gaps = sides(true, true);
        right_gaps = sides(false, true);
    } else if (apart) {
        gap = whole(gap_.begin, gap_.end);
    }
    const auto take = [&](std::size_t r, std::int32_t gap_branch) {
        most = r + 1;
        best.gap = gap_branch;
        if (!threshold) return;
        best.shape = Shape::kThreshold;
        best.method = Method::kThreshold;
        best.cut = runs_[r].code;
        best.next = runs_[r + 1].code;
    };
    for (std::size_t r = 0; r + 1 < runs_.size(); ++r) {
        const std::size_t rest = runs_.size() - 2 - r;
        if (!apart) {
            if (offer(best, {left[r], right[rest]})) take(r, kHeavier);
        } else if (rules_.gaps == GapRule::kBranch) {
            if (offer(best, {left[r], right[rest], gap})) take(r, 2);
        } else {
            const bool heavier = right[rest].weight > left[r].weight;
            const bool learned = rules_.gaps == GapRule::kLearned;
            if ((learned || !heavier) && offer(best, {left_gaps[r], right[rest]})) take(r, 0);
            if ((learned || heavier) && offer(best, {left[r], right_gaps[rest]})) take(r, 1);
        }
    }
}

template <bool Weighted>
void MedianFinder<Weighted>::ordered(Candidate& best) {
    std::size_t most = 0;
    scan(false, true, best, most);
    if (!gaps_ || rules_.gaps == GapRule::kMajority) return;
    const Side known = whole(runs_.front().begin, runs_.back().end);
    if (!offer(best, {known, whole(gap_.begin, gap_.end)})) return;
    best.shape = Shape::kKnown;
    best.method = Method::kThreshold;
    best.cut = best.next = runs_.back().code;
    best.gap = 1;
}

template <bool Weighted>
void MedianFinder<Weighted>::sort_by_median() {
    std::vector<double> median;
    for (const Run& run : runs_) {
        whole(run.begin, run.end);
        median.push_back(heap_.lower_median());
    }
    std::vector<std::size_t> order(runs_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return median[a] < median[b]; });
    std::vector<Run> sorted;
    for (const std::size_t i : order) sorted.push_back(runs_[i]);
    runs_ = sorted;
}

template <bool Weighted>
void MedianFinder<Weighted>::grouped(const Column& column, Candidate& best) {
    const bool gap_is_run = gaps_ && rules_.gaps == GapRule::kLearned;
    if (gap_is_run) runs_.push_back({column.gap(), gap_.begin, gap_.end, gap_.weight});
    sort_by_median();
    std::size_t most = 0;
    scan(gap_is_run, false, best, most);
    const bool known_or_gap = gaps_ && rules_.gaps == GapRule::kBranch && [&] {
        // Runs lie in the order of their medians, their rows do not: all known rows come first.
        const Side known = whole(0, gap_.begin);
        return offer(best, {known, whole(gap_.begin, gap_.end)});
    }();
    if (known_or_gap) {
        most = runs_.size();
        best.gap = 1;
    }
    if (most == 0) return;
    best.shape = Shape::kTable;
    best.method = Method::kMedian;
    best.levels = column.n_codes;
    best.table.clear();
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        if (gap_is_run && runs_[r].code == column.gap())
            best.gap = r < most ? 0 : 1;
        else
            best.table.emplace_back(runs_[r].code, r < most ? 0 : 1);
    }
}

template <bool Weighted>
void MedianFinder<Weighted>::multiway(const Column& column, Candidate& best) {
    const std::size_t levels = runs_.size();
    const bool own = gaps_ && (rules_.gaps == GapRule::kBranch ||
                               (rules_.gaps == GapRule::kLearned && levels == 1));
    if (levels + own < 2) return;
    std::vector<Side> alone;
    for (const Run& run : runs_) alone.push_back(whole(run.begin, run.end));
    if (own) alone.push_back(whole(gap_.begin, gap_.end));
    std::size_t heaviest = 0;
    for (std::size_t r = 1; r < levels; ++r)
        if (runs_[r].weight > runs_[heaviest].weight) heaviest = r;
    const bool hosted = gaps_ && !own;
    for (std::size_t host = 0; host < (hosted ? levels : 1); ++host) {
        if (hosted && rules_.gaps == GapRule::kMajority && host != heaviest) continue;
        std::vector<Side> branches = alone;
        if (hosted) {
            heap_.clear();
            for (std::size_t i = runs_[host].begin; i < runs_[host].end; ++i) heap_.add(items_[i]);
            for (std::size_t i = gap_.begin; i < gap_.end; ++i) heap_.add(items_[i]);
            branches[host] = {heap_.deviation(), alone[host].weight + gap_.weight,
                              alone[host].rows + gap_.end - gap_.begin};
        }
        best.seen = true;
        double terms = 0;
        bool all_allowed = true;
        for (const Side& side : branches) {
            all_allowed = all_allowed && allowed(side);
            terms -= side.deviation;
        }
        if (!all_allowed || !best.offer(terms)) continue;
        best.terms = terms;
        best.branches = std::int32_t(branches.size());
        best.shape = Shape::kTable;
        best.method = Method::kMultiway;
        best.gap = own ? std::int32_t(levels) : hosted ? std::int32_t(host) : kHeavier;
        best.levels = column.n_codes;
        best.table.clear();
        for (std::size_t r = 0; r < levels; ++r)
            best.table.emplace_back(runs_[r].code, std::int32_t(r));
    }
}

template class MedianFinder<false>;
template class MedianFinder<true>;

}  // namespace ceiba::tree
