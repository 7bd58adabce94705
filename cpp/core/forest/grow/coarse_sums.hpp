// Sums of the rows of a column in coarse bins, and the bounds of the scores that they imply.
//
// The score of a split in two, the sum of its branches' terms, is c + W / (L R) |d|^2, where c does
// not depend on it, W, L and R are the weights of the node and its branches, and d are the
// distances of the sums on the left from what they would be if both branches were alike.
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

}  // namespace ceiba::forest
