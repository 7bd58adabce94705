// Implementation of the split search by absolute error (median_finder.hpp).
#include "tree/split/median_finder.hpp"

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

// The lower heap holds at least half of the weight, and less than half without its largest value.
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
    const double median = below_.front().value;
    return (sum_above_ - median * weight_above_) + (median * weight_below_ - sum_below_);
}

template <bool Weighted>
WeightedValue MedianSplitFinder<Weighted>::item(const Rows& rows, std::size_t position) const {
    const double weight = Weighted ? double(rows.weight[position]) : 1.0;
    const double target = values_[rows.target[position]];
    return {target - target_center_, weight, target};
}

template <bool Weighted>
MedianSummary MedianSplitFinder<Weighted>::median_of(const Rows& rows,
                                                     std::span<const std::uint32_t> positions) {
    running_.clear();
    for (const std::uint32_t position : positions) running_.add(item(rows, position));
    return {running_.median(), running_.deviation()};
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_bins(const NodeCell&, const Column&, const Number*,
                                              Candidate&) {
    throw std::logic_error("criterion 'absolute_error' requires rows, got bins.");
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_labels(const NodeCell&, const Column&,
                                                std::span<const std::uint32_t>, int, Candidate&) {
    throw std::logic_error("criterion 'absolute_error' requires rows, got labels.");
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_small(const NodeCell& node, const Column& column,
                                               std::uint32_t missing_code, const Rows& rows,
                                               std::span<const SmallEntry> sorted,
                                               Candidate& best) {
    gather_runs<SmallEntry, kSmallBits>(rows, sorted, missing_code);
    find(node, column, best);
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_large(const NodeCell& node, const Column& column,
                                               const Rows& rows, std::span<const LargeEntry> sorted,
                                               Candidate& best) {
    gather_runs<LargeEntry, kLargeBits>(rows, sorted, column.missing_code());
    find(node, column, best);
}

template <bool Weighted>
template <typename Entry, int Bits>
void MedianSplitFinder<Weighted>::gather_runs(const Rows& rows, std::span<const Entry> sorted,
                                              std::uint32_t missing_code) {
    using Source = EntrySource<Rows, Entry, Bits>;
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
    has_missing_ = !runs_.empty() && runs_.back().code == missing_code;
    if (has_missing_) {
        missing_run_ = runs_.back();
        runs_.pop_back();
    }
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::find(const NodeCell& node, const Column& column,
                                       Candidate& best) {
    if (runs_.empty()) return;
    if (!column.nominal)
        search_thresholds(best);
    else if (config_.multiway)
        search_multiway(column, best);
    else
        search_groups(column, best);
    if (!best.found() || !config_.corrects(column)) return;
    best.chance_gain = chance_gain(node.max_gain, runs_.size(), items_.size());
    best.score = best.terms - best.chance_gain;
    best.no_gain = best.chance_gain > 0 && best.score <= node.term;
    if (best.no_gain) best.shape = SplitShape::kNone;
}

template <bool Weighted>
bool MedianSplitFinder<Weighted>::is_allowed(const Side& side) const {
    return Number(side.rows) >= config_.min_rows && side.weight >= double(config_.min_weight);
}

template <bool Weighted>
bool MedianSplitFinder<Weighted>::try_split(Candidate& best,
                                            std::initializer_list<Side> branches) const {
    best.has_candidates = true;
    double terms = 0;
    for (const Side& side : branches) {
        if (!is_allowed(side)) return false;
        terms -= side.deviation;
    }
    if (!best.update(terms)) return false;
    best.terms = terms;
    best.n_branches = std::int32_t(branches.size());
    return true;
}

template <bool Weighted>
typename MedianSplitFinder<Weighted>::Side MedianSplitFinder<Weighted>::whole(std::size_t begin,
                                                                              std::size_t end) {
    running_.clear();
    double weight = 0;
    for (std::size_t i = begin; i < end; ++i) {
        running_.add(items_[i]);
        weight += items_[i].weight;
    }
    return {running_.deviation(), weight, end - begin};
}

// Totals of the first 1, 2, ... runs, or of the last; with the missing rows or without.
template <bool Weighted>
std::vector<typename MedianSplitFinder<Weighted>::Side> MedianSplitFinder<Weighted>::sides(
    bool forward, bool with_missing) {
    std::vector<Side> found;
    running_.clear();
    Side side{0, 0, 0};
    const auto add = [&](const Run& run) {
        for (std::size_t i = run.begin; i < run.end; ++i) running_.add(items_[i]);
        side.weight += run.weight;
        side.rows += run.end - run.begin;
        side.deviation = running_.deviation();
    };
    if (with_missing) add(missing_run_);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        add(runs_[forward ? r : runs_.size() - 1 - r]);
        found.push_back(side);
    }
    return found;
}

// Try thresholds after the first 1, 2, ... runs, under the missing-value policy; `n_left` is the
// number of runs on the left of the best.
template <bool Weighted>
void MedianSplitFinder<Weighted>::scan(bool missing_is_run, bool threshold, Candidate& best,
                                       std::size_t& n_left) {
    const bool apart = has_missing_ && !missing_is_run;
    const std::vector<Side> left = sides(true, false), right = sides(false, false);
    std::vector<Side> left_with_missing, right_with_missing;
    Side missing_side{0, 0, 0};
    if (apart && config_.missing != MissingPolicy::kBranch) {
        left_with_missing = sides(true, true);
        right_with_missing = sides(false, true);
    } else if (apart) {
        missing_side = whole(missing_run_.begin, missing_run_.end);
    }
    const auto take = [&](std::size_t r, std::int32_t missing_branch) {
        n_left = r + 1;
        best.missing_branch = missing_branch;
        if (!threshold) return;
        best.shape = SplitShape::kThreshold;
        best.method = SearchMethod::kThreshold;
        best.threshold_code = runs_[r].code;
        best.next_code = runs_[r + 1].code;
    };
    for (std::size_t r = 0; r + 1 < runs_.size(); ++r) {
        const std::size_t rest = runs_.size() - 2 - r;
        if (!apart) {
            if (try_split(best, {left[r], right[rest]})) take(r, kHeavierBranch);
        } else if (config_.missing == MissingPolicy::kBranch) {
            if (try_split(best, {left[r], right[rest], missing_side})) take(r, 2);
        } else {
            const bool heavier = right[rest].weight > left[r].weight;
            const bool learned = config_.missing == MissingPolicy::kLearned;
            if ((learned || !heavier) && try_split(best, {left_with_missing[r], right[rest]}))
                take(r, 0);
            if ((learned || heavier) && try_split(best, {left[r], right_with_missing[rest]}))
                take(r, 1);
        }
    }
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_thresholds(Candidate& best) {
    std::size_t n_left = 0;
    scan(false, true, best, n_left);
    if (!has_missing_ || config_.missing == MissingPolicy::kMajority) return;
    const Side known = whole(runs_.front().begin, runs_.back().end);
    if (!try_split(best, {known, whole(missing_run_.begin, missing_run_.end)})) return;
    best.shape = SplitShape::kKnown;
    best.method = SearchMethod::kThreshold;
    best.threshold_code = best.next_code = runs_.back().code;
    best.missing_branch = 1;
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::sort_by_median() {
    std::vector<double> median;
    for (const Run& run : runs_) {
        whole(run.begin, run.end);
        median.push_back(running_.lower_median());
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
void MedianSplitFinder<Weighted>::search_groups(const Column& column, Candidate& best) {
    const bool missing_is_run = has_missing_ && config_.missing == MissingPolicy::kLearned;
    if (missing_is_run)
        runs_.push_back(
            {column.missing_code(), missing_run_.begin, missing_run_.end, missing_run_.weight});
    sort_by_median();
    std::size_t n_left = 0;
    scan(missing_is_run, false, best, n_left);
    const bool known_against_missing =
        has_missing_ && config_.missing == MissingPolicy::kBranch && [&] {
            // Runs are in the order of their medians, their rows are not: all known rows come
            // first.
            const Side known = whole(0, missing_run_.begin);
            return try_split(best, {known, whole(missing_run_.begin, missing_run_.end)});
        }();
    if (known_against_missing) {
        n_left = runs_.size();
        best.missing_branch = 1;
    }
    if (n_left == 0) return;
    best.shape = SplitShape::kTable;
    best.method = SearchMethod::kMedian;
    best.n_categories = column.n_codes;
    best.table.clear();
    for (std::size_t r = 0; r < runs_.size(); ++r) {
        if (missing_is_run && runs_[r].code == column.missing_code())
            best.missing_branch = r < n_left ? 0 : 1;
        else
            best.table.emplace_back(runs_[r].code, r < n_left ? 0 : 1);
    }
}

template <bool Weighted>
void MedianSplitFinder<Weighted>::search_multiway(const Column& column, Candidate& best) {
    const std::size_t n_categories = runs_.size();
    const bool missing_has_branch =
        has_missing_ && (config_.missing == MissingPolicy::kBranch ||
                         (config_.missing == MissingPolicy::kLearned && n_categories == 1));
    if (n_categories + missing_has_branch < 2) return;
    std::vector<Side> alone;
    for (const Run& run : runs_) alone.push_back(whole(run.begin, run.end));
    if (missing_has_branch) alone.push_back(whole(missing_run_.begin, missing_run_.end));
    std::size_t heaviest = 0;
    for (std::size_t r = 1; r < n_categories; ++r)
        if (runs_[r].weight > runs_[heaviest].weight) heaviest = r;
    const bool missing_joins = has_missing_ && !missing_has_branch;
    for (std::size_t host = 0; host < (missing_joins ? n_categories : 1); ++host) {
        if (missing_joins && config_.missing == MissingPolicy::kMajority && host != heaviest)
            continue;
        std::vector<Side> branches = alone;
        if (missing_joins) {
            running_.clear();
            for (std::size_t i = runs_[host].begin; i < runs_[host].end; ++i)
                running_.add(items_[i]);
            for (std::size_t i = missing_run_.begin; i < missing_run_.end; ++i)
                running_.add(items_[i]);
            branches[host] = {running_.deviation(), alone[host].weight + missing_run_.weight,
                              alone[host].rows + missing_run_.end - missing_run_.begin};
        }
        best.has_candidates = true;
        double terms = 0;
        bool all_allowed = true;
        for (const Side& side : branches) {
            all_allowed = all_allowed && is_allowed(side);
            terms -= side.deviation;
        }
        if (!all_allowed || !best.update(terms)) continue;
        best.terms = terms;
        best.n_branches = std::int32_t(branches.size());
        best.shape = SplitShape::kTable;
        best.method = SearchMethod::kMultiway;
        best.missing_branch = missing_has_branch ? std::int32_t(n_categories)
                              : missing_joins    ? std::int32_t(host)
                                                 : kHeavierBranch;
        best.n_categories = column.n_codes;
        best.table.clear();
        for (std::size_t r = 0; r < n_categories; ++r)
            best.table.emplace_back(runs_[r].code, std::int32_t(r));
    }
}

template class MedianSplitFinder<false>;
template class MedianSplitFinder<true>;

}  // namespace ceiba::tree
