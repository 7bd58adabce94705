// Search for the best split of the columns of a large node that sorts few of its rows.
//
// The rows of each column are summed in coarse bins, ranges of codes. The sums at both ends of a
// bin bound the score of every threshold inside, and only bins whose bound reaches the best score
// found between two bins are sorted. A column that cannot reach the best of the others is not
// sorted at all: its candidate may then be missing or be worse than its best, but the best split of
// the node is the one that sorting all rows finds.
//
// The score of a split in two, the sum of its branches' terms, is c + W / (L R) |d|^2, where c does
// not depend on it, W, L and R are the weights of the node and its branches, and d are the
// distances of the sums on the left from what they would be if both branches were alike.
// Bounds of bins in this way: Alsabti, Ranka & Singh (1998), "CLOUDS: a decision tree classifier
// for large datasets", KDD.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "forest/grow/entry_sort.hpp"
#include "forest/grow/lane_search.hpp"
#include "forest/sample/in_bag_sample.hpp"

namespace ceiba::forest {

// Ranges of codes of a column at a node.
struct CoarseBins {
    std::uint32_t min_code = 0;
    int shift = 0;
    std::size_t count = 0;

    // At most `max_bins` bins, a power of two, for these codes.
    static CoarseBins of(std::uint32_t min_code, std::uint32_t max_code, std::size_t max_bins) {
        const std::uint32_t range = max_code - min_code;
        const int shift =
            std::max(0, int(std::bit_width(range)) - int(std::bit_width(max_bins - 1)));
        return {min_code, shift, std::size_t(range >> shift) + 1};
    }
    std::size_t bin(LargeEntry entry) const {
        return (std::uint32_t(entry >> kLargeBits) - min_code) >> shift;
    }
    std::uint32_t first_code(std::size_t bin) const {
        return min_code + (std::uint32_t(bin) << shift);
    }
};

// The size of a node, and the minimum size of its branches.
struct CoarseLimits {
    Number rows, weight, min_rows, min_weight;

    bool allow(Number left_rows, Number left_weight) const {
        return left_rows >= min_rows && rows - left_rows >= min_rows && left_weight >= min_weight &&
               weight - left_weight >= min_weight;
    }
    // A lower bound of L * R / W for the thresholds of a bin with these weights left of its ends;
    // zero if it has none. A row weighs at least 1.
    double min_product(Number begin, Number end) const {
        const Number side = std::max({Number(1), min_rows, min_weight});
        const Number low = std::max(begin + 1, side), high = std::min(end, weight - side);
        if (low > high) return 0;
        const auto product = [&](Number left) { return double(left) * double(weight - left); };
        return std::min(product(low), product(high)) / double(weight);
    }
};

// Scores of a bin: of the threshold at its end, and an upper bound for all of its thresholds. Minus
// infinity: there is no threshold that is allowed.
struct CoarseScores {
    double at_end = -std::numeric_limits<double>::infinity();
    double bound = -std::numeric_limits<double>::infinity();
};

// Classification by Gini; d has an entry per class. Rows of weight x_k in class k that a threshold
// inside of a bin moves to the left add x_k - p_k * (sum of x) to d_k, where p are the class
// fractions of the node.
class GiniCoarseSums {
  public:
    // Words of (bin, class): weight in the upper half, rows in the lower one, summed over the bins
    // below.
    using Sums = std::vector<std::uint64_t>;

    explicit GiniCoarseSums(const TreeConfig& config)
        : classes_(std::size_t(config.n_classes)), left_(classes_), total_(classes_) {}

    // The sums of the bins of a column fit into the first-level cache.
    std::size_t max_bins() const { return std::bit_floor(kMaxSums / classes_); }

    bool begin(const CountedClassSample&, const TreeBuilder& builder, const NodeRows& node,
               const CoarseLimits& limits) {
        if (limits.weight > kMaxWeight) return false;
        limits_ = limits;
        total_squares_ = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            total_[k] = builder.cell(node.node)[k];
            total_squares_ += total_[k] * total_[k];
        }
        return true;
    }

    // Sum the entries of a column; there is one more bin, behind the last.
    void sum(std::span<const LargeEntry> entries, const CoarseBins& bins, Sums& sums) const {
        sums.assign((bins.count + 1) * classes_, 0);
        std::uint64_t* next = sums.data() + classes_;
        for (const LargeEntry entry : entries)
            next[bins.bin(entry) * classes_ + TaggedSource::label_of(entry)] +=
                std::uint64_t(TaggedSource::count_of(entry)) << kRowBits | 1;
        for (std::size_t i = classes_; i < sums.size(); ++i) sums[i] += sums[i - classes_];
    }
    std::size_t rows_before(std::size_t bin, const Sums& sums) const {
        std::uint64_t rows = 0;
        for (std::size_t k = 0; k < classes_; ++k) rows += sums[bin * classes_ + k] & kRowMask;
        return std::size_t(rows);
    }

    CoarseScores scores(std::size_t bin, const Sums& sums) const {
        const std::uint64_t *begin = sums.data() + bin * classes_, *end = begin + classes_;
        Number begin_weight = 0, end_weight = 0, end_rows = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            begin_weight += Number(begin[k] >> kRowBits);
            end_weight += Number(end[k] >> kRowBits);
            end_rows += Number(end[k] & kRowMask);
        }
        CoarseScores found;
        const double product = limits_.min_product(begin_weight, end_weight);
        if (end_weight == begin_weight || product == 0) return found;
        const auto weight = double(limits_.weight);
        double squared_distance = 0, left_squares = 0, right_squares = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            const auto left = double(end[k] >> kRowBits), right = double(total_[k]) - left;
            left_squares += left * left;
            right_squares += right * right;
            const double before = double(begin[k] >> kRowBits), added = left - before;
            const double p = double(total_[k]) / weight;
            const double distance = before - p * double(begin_weight);
            const double upper = distance + (1 - p) * added;
            const double lower = distance - p * (double(end_weight - begin_weight) - added);
            const double farther = std::max(upper, -lower);
            squared_distance += farther * farther;
        }
        if (limits_.allow(end_rows, end_weight))
            found.at_end =
                left_squares / double(end_weight) + right_squares / (weight - double(end_weight));
        found.bound = double(total_squares_) / weight + squared_distance / product;
        return found;
    }

    // Start with the sums of the rows below a bin.
    void begin_bin(std::size_t bin, const Sums& sums) {
        rows_ = weight_ = squares_ = products_ = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
            const std::uint64_t sum = sums[bin * classes_ + k];
            left_[k] = Number(sum >> kRowBits);
            rows_ += Number(sum & kRowMask);
            weight_ += left_[k];
            squares_ += left_[k] * left_[k];
            products_ += left_[k] * total_[k];
        }
    }
    // Move a row to the left; as in tree/split/threshold_search.hpp.
    void move_left(LargeEntry entry) {
        const std::size_t label = TaggedSource::label_of(entry);
        const auto w = Number(TaggedSource::count_of(entry));
        squares_ += w * (2 * left_[label] + w);
        products_ += w * total_[label];
        left_[label] += w;
        weight_ += w;
        ++rows_;
    }
    bool is_allowed() const { return limits_.allow(rows_, weight_); }
    double score() const {
        const Number right = total_squares_ - 2 * products_ + squares_;
        const auto weight = double(weight_);
        return double(squares_) / weight + double(right) / (double(limits_.weight) - weight);
    }

  private:
    static constexpr int kRowBits = 32;
    static constexpr std::uint64_t kRowMask = 0xFFFFFFFF;
    static constexpr std::size_t kMaxSums = 4096;
    // Up to here sums of squared weights are exact in any order.
    static constexpr Number kMaxWeight = 90'000'000;

    std::size_t classes_;
    CoarseLimits limits_{};
    std::vector<Number> left_, total_;
    Number total_squares_ = 0;
    Number rows_ = 0, weight_ = 0, squares_ = 0, products_ = 0;
};

// Regression by squared error, with targets relative to the integer part of the node's mean. What a
// threshold inside of a bin adds to d is between the sums of the negative and the positive targets.
class SquaredErrorCoarseSums {
  public:
    struct Sum {
        Number target = 0, positive = 0;
        std::uint64_t weight_and_rows = 0;

        Number weight() const { return Number(weight_and_rows >> 32); }
        Number rows() const { return Number(weight_and_rows & 0xFFFFFFFF); }
        void add(const Sum& other) {
            target += other.target;
            positive += other.positive;
            weight_and_rows += other.weight_and_rows;
        }
    };
    using Sums = std::vector<Sum>;

    explicit SquaredErrorCoarseSums(const TreeConfig&) {}

    std::size_t max_bins() const { return 1024; }

    bool begin(const RegressionSample& sample, const TreeBuilder& builder, const NodeRows& node,
               const CoarseLimits& limits) {
        if (limits.weight > kMaxWeight) return false;
        limits_ = limits;
        const Number* cell = builder.cell(node.node);
        mean_ = cell[1] / cell[0];
        total_ = cell[1] - cell[0] * mean_;
        target_ = sample.view(node.begin).target;
        row_weight_ = sample.view(node.begin).weight;
        return true;
    }

    void sum(std::span<const LargeEntry> entries, const CoarseBins& bins, Sums& sums) const {
        sums.assign(bins.count + 1, Sum{});
        for (const LargeEntry entry : entries) {
            const Sum row = row_of(entry);
            sums[bins.bin(entry) + 1].add(row);
        }
        for (std::size_t b = 1; b <= bins.count; ++b) sums[b].add(sums[b - 1]);
    }
    std::size_t rows_before(std::size_t bin, const Sums& sums) const {
        return std::size_t(sums[bin].rows());
    }

    CoarseScores scores(std::size_t bin, const Sums& sums) const {
        const Sum &begin = sums[bin], &end = sums[bin + 1];
        CoarseScores found;
        const double product = limits_.min_product(begin.weight(), end.weight());
        if (end.rows() == begin.rows() || product == 0) return found;
        const Number positive = end.positive - begin.positive;
        const Number negative = positive - (end.target - begin.target);
        // Targets are relative to the mean, from which its integer part differs by less than 1 per
        // unit of weight.
        const auto added = double(end.weight() - begin.weight());
        const double mean = double(total_) / double(limits_.weight);
        const double distance = double(begin.target) - mean * double(begin.weight());
        const double farther =
            added + std::max(distance + double(positive), double(negative) - distance);
        if (limits_.allow(end.rows(), end.weight())) found.at_end = score_of(end);
        found.bound = mean * double(total_) + farther * farther / product;
        return found;
    }

    void begin_bin(std::size_t bin, const Sums& sums) { left_ = sums[bin]; }
    void move_left(LargeEntry entry) { left_.add(row_of(entry)); }
    bool is_allowed() const { return limits_.allow(left_.rows(), left_.weight()); }
    double score() const { return score_of(left_); }

  private:
    static constexpr Number kMaxWeight = 0xFFFFFFFF;

    Sum row_of(LargeEntry entry) const {
        const auto i = std::uint32_t(entry);
        const Number weight = row_weight_[i], target = target_[i] - weight * mean_;
        return {target, std::max<Number>(target, 0), std::uint64_t(weight) << 32 | 1};
    }
    double score_of(const Sum& left_sum) const {
        const auto left = double(left_sum.target), right = double(total_ - left_sum.target);
        const auto weight = double(left_sum.weight());
        return left / weight * left + right / (double(limits_.weight) - weight) * right;
    }

    CoarseLimits limits_{};
    Number mean_ = 0, total_ = 0;
    const Number *target_ = nullptr, *row_weight_ = nullptr;
    Sum left_;
};

// Rows with individual weights are sorted.
class NoCoarseSums {
  public:
    using Sums = std::vector<std::uint64_t>;

    explicit NoCoarseSums(const TreeConfig&) {}

    std::size_t max_bins() const { return 0; }
    bool begin(const WeightedClassSample&, const TreeBuilder&, const NodeRows&,
               const CoarseLimits&) {
        return false;
    }
    void sum(std::span<const LargeEntry>, const CoarseBins&, Sums&) const {}
    std::size_t rows_before(std::size_t, const Sums&) const { return 0; }
    CoarseScores scores(std::size_t, const Sums&) const { return {}; }
    void begin_bin(std::size_t, const Sums&) {}
    void move_left(LargeEntry) {}
    bool is_allowed() const { return false; }
    double score() const { return 0; }
};

template <typename Sample>
using CoarseSums = std::conditional_t<std::is_same_v<Sample, CountedClassSample>, GiniCoarseSums,
                                      std::conditional_t<std::is_same_v<Sample, RegressionSample>,
                                                         SquaredErrorCoarseSums, NoCoarseSums>>;

// Searches the numeric columns of a node together.
template <typename Sample>
class CoarseSearch {
  public:
    explicit CoarseSearch(const TreeConfig& config) : sums_(config), supported_(supports(config)) {}

    static bool supports(const TreeConfig& config) {
        return LaneSearch<Sample>::supports(config) &&
               config.split.threshold_grid == tree::ThresholdGrid::kEvery;
    }

    // Prepare a node; returns false if coarse bins do not apply.
    bool begin(const Sample& sample, const TreeBuilder& builder, const NodeRows& node) {
        n_columns_ = 0;
        best_score_ = -std::numeric_limits<double>::infinity();
        max_bins_ = std::min(sums_.max_bins(), std::bit_floor(node.size() / kRowsPerBin));
        if (!supported_ || max_bins_ < kMinBins) return false;
        const auto& split = builder.config.split;
        return sums_.begin(
            sample, builder, node,
            {Number(node.size()), builder.weight(node.node), split.min_rows, split.min_weight});
    }

    // Sum the entries of a column without missing values, in the order of the rows of the node.
    void add(std::span<const LargeEntry> entries, std::uint32_t min_code, std::uint32_t max_code,
             Candidate& best) {
        if (n_columns_ == columns_.size()) columns_.emplace_back();
        CoarseColumn& column = columns_[n_columns_++];
        column.entries = entries;
        column.bins = CoarseBins::of(min_code, max_code, max_bins_);
        column.best = &best;
        best.has_candidates = true;
        sums_.sum(entries, column.bins, column.sums);
        column.bound.resize(column.bins.count);
        for (std::size_t b = 0; b < column.bins.count; ++b) {
            const CoarseScores scores = sums_.scores(b, column.sums);
            column.bound[b] = scores.bound;
            best_score_ = std::max(best_score_, scores.at_end);
        }
    }

    // Find the best thresholds of the columns that can reach the best score.
    void find() {
        for (std::size_t c = 0; c < n_columns_; ++c) {
            CoarseColumn& column = columns_[c];
            if (!reserve_bins(column)) continue;
            collect_entries(column);
            for (std::size_t b = 0; b < column.bins.count; ++b)
                if (is_open(column, b)) search_bin(column, b);
            best_score_ = std::max(best_score_, column.best->score);
        }
    }

  private:
    static constexpr std::size_t kRowsPerBin = 8, kMinBins = 64;
    // Bounds are rounded differently from scores.
    static constexpr double kRounding = 1 + 1e-9;

    struct CoarseColumn {
        std::span<const LargeEntry> entries;
        CoarseBins bins;
        Candidate* best;
        typename CoarseSums<Sample>::Sums sums;
        std::vector<double> bound;
    };
    // Entries [begin, end) of a bin to sort.
    struct BinEntries {
        std::uint32_t begin, end;
        bool is_taken;
    };

    bool is_open(const CoarseColumn& column, std::size_t b) const {
        return column.bound[b] * kRounding >= best_score_;
    }

    // Reserve space for the entries of the open bins, and of the bins that follow them, for the
    // code above their last threshold. Returns false if there are none.
    bool reserve_bins(const CoarseColumn& column) {
        bins_.assign(column.bins.count, {0, 0, false});
        std::uint32_t begin = 0;
        bool follows = false;
        std::size_t before = 0;
        for (std::size_t b = 0; b < column.bins.count; ++b) {
            const std::size_t after = sums_.rows_before(b + 1, column.sums), rows = after - before;
            before = after;
            if (rows == 0) continue;
            const bool open = is_open(column, b);
            if (open || follows) {
                bins_[b] = {begin, begin, true};
                begin += std::uint32_t(rows);
            }
            follows = open;
        }
        if (collected_.size() < begin) collected_.resize(begin);
        return begin > 0;
    }

    void collect_entries(const CoarseColumn& column) {
        const CoarseBins bins = column.bins;
        for (const LargeEntry entry : column.entries) {
            BinEntries& own = bins_[bins.bin(entry)];
            if (own.is_taken) collected_[own.end++] = entry;
        }
    }

    void search_bin(CoarseColumn& column, std::size_t b) {
        const BinEntries& own = bins_[b];
        const std::size_t n = own.end - own.begin;
        const std::uint32_t first_code = column.bins.first_code(b);
        const std::uint32_t last_code = first_code + ((1u << column.bins.shift) - 1);
        const LargeEntry* sorted = sort_(collected_.data() + own.begin, n, first_code, last_code);
        sums_.begin_bin(b, column.sums);
        for (std::size_t i = 0; i < n; ++i) {
            sums_.move_left(sorted[i]);
            const std::uint32_t code = TaggedSource::code_of(sorted[i]);
            const std::uint32_t next =
                i + 1 < n ? TaggedSource::code_of(sorted[i + 1]) : code_behind(b, code);
            if (code == next || !sums_.is_allowed()) continue;
            const double score = sums_.score();
            if (score > column.best->score) column.best->split_between(code, next, score);
        }
    }

    // The smallest code behind a bin, or `code` if it is the last one.
    std::uint32_t code_behind(std::size_t b, std::uint32_t code) const {
        for (++b; b < bins_.size(); ++b) {
            const BinEntries& own = bins_[b];
            if (!own.is_taken) continue;
            const auto first = collected_.begin() + own.begin;
            return TaggedSource::code_of(*std::min_element(first, first + (own.end - own.begin)));
        }
        return code;
    }

    CoarseSums<Sample> sums_;
    bool supported_;
    EntrySorter sort_;
    std::size_t max_bins_ = 0, n_columns_ = 0;
    double best_score_ = 0;
    std::vector<CoarseColumn> columns_;
    std::vector<BinEntries> bins_;
    std::vector<LargeEntry> collected_;
};

}  // namespace ceiba::forest
