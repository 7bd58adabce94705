// Candidate thresholds of a column at a node, computed by a threshold grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/random.hpp"
#include "tree/encode/columns.hpp"
#include "tree/split/candidate.hpp"

namespace ceiba::tree {

// Stream of the keyed draws of random thresholds; any number serves.
constexpr std::uint64_t kThresholdStream = 0x63757473;

class GridThresholds {
  public:
    // Compute the thresholds of a node, unless they are given for the column.
    template <typename Source, typename Scorer>
    void compute(const Column& column, Source source, const Scorer& scorer) {
        column_ = &column;
        grid_ = scorer.config.threshold_grid;
        thresholds_.clear();
        if (grid_ == ThresholdGrid::kGiven) return;
        gather(source, scorer);
        const double lowest = values_.front(), highest = values_.back();
        const auto n = double(scorer.config.n_thresholds);
        switch (grid_) {
            case ThresholdGrid::kMean:
                add_single(mean());
                break;
            case ThresholdGrid::kMedian:
                add_single(median());
                break;
            case ThresholdGrid::kQuantile:
                for (double i = 1; i <= n; ++i) {
                    const std::size_t index = quantile_index(i, n + 1);
                    thresholds_.push_back({index, values_[index]});
                }
                break;
            case ThresholdGrid::kEqualWidth:
                for (double i = 1; i <= n; ++i) add(interpolate(lowest, highest, i, n + 1));
                break;
            default:
                for (double i = 0; i < n; ++i)
                    add(interpolate(lowest, highest, draw(column, scorer, i), 1));
        }
        std::sort(thresholds_.begin(), thresholds_.end());
    }

    std::size_t size() const {
        return grid_ == ThresholdGrid::kGiven ? column_->n_thresholds : thresholds_.size();
    }

    // Whether threshold t, in ascending order, is below the i-th value of the node; values up to a
    // threshold go left.
    bool is_below(std::size_t t, std::size_t i, std::uint32_t code) const {
        if (grid_ != ThresholdGrid::kGiven) return thresholds_[t].index < i;
        if (column_->distances != nullptr)
            return column_->whole_thresholds[t] < column_->distances[code];
        return column_->thresholds[t] < column_->value(code);
    }

    // Threshold t, not below the i-th value: a number, for integers its distance from that value.
    double threshold(std::size_t t, std::size_t i, std::uint32_t code) const {
        if (grid_ != ThresholdGrid::kGiven)
            return thresholds_[t].value - (column_->integer ? values_[i] : 0);
        if (column_->distances != nullptr)
            return double(column_->whole_thresholds[t] - column_->distances[code]) +
                   column_->thresholds[t];
        return column_->thresholds[t] - (column_->integer ? column_->value(code) : 0);
    }

  private:
    // A threshold, and the index of the last value of the node that is not above it.
    struct NodeThreshold {
        std::size_t index;
        double value;

        auto operator<=>(const NodeThreshold&) const = default;
    };

    // Distinct values of the node, and the cumulative weight of each. Values with exact distances
    // count from the smallest of the node: float64 rounds them as little as possible.
    template <typename Source, typename Scorer>
    void gather(Source& source, const Scorer& scorer) {
        values_.clear();
        weights_.clear();
        cell_.assign(scorer.size, 0);
        const std::uint64_t* distances = column_->distances;
        const std::uint64_t lowest = distances == nullptr ? 0 : distances[source.code()];
        while (source.more()) {
            const std::uint32_t code = source.code();
            values_.push_back(distances == nullptr ? column_->value(code)
                                                   : double(distances[code] - lowest));
            source.take(cell_.data());
            weights_.push_back(double(scorer.cells.weight(cell_.data())));
        }
    }

    // Infinite values have no midpoint: NaN is no threshold.
    void add(double threshold) {
        if (std::isnan(threshold)) return;
        const auto above = std::upper_bound(values_.begin(), values_.end(), threshold);
        if (above != values_.begin())
            thresholds_.push_back({std::size_t(above - values_.begin()) - 1, threshold});
    }

    // A single threshold above all values would separate nothing: use the second largest value.
    void add_single(double threshold) {
        const std::size_t n = values_.size();
        if (n > 1 && threshold >= values_.back())
            thresholds_.push_back({n - 2, values_[n - 2]});
        else
            add(threshold);
    }

    // `part` / `parts` of the way from `lowest` to `highest`, whose difference may overflow.
    static double interpolate(double lowest, double highest, double part, double parts) {
        const double width = highest - lowest;
        if (std::isfinite(part * width)) return lowest + part * width / parts;
        return lowest * (1 - part / parts) + highest * (part / parts);
    }

    template <typename Scorer>
    static double draw(const Column& column, const Scorer& scorer, double i) {
        const std::uint64_t key = std::uint64_t(column.index) << 32 | std::uint64_t(i);
        return uniform(scorer.config.seed ^ scorer.path(), kThresholdStream, key);
    }

    double mean() const {
        double sum = 0, fractions = 0, before = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            sum += values_[i] * (weights_[i] - before);
            fractions += values_[i] * ((weights_[i] - before) / weights_.back());
            before = weights_[i];
        }
        // The sum of fractions cannot overflow, but is rounded.
        const double mean = std::isfinite(sum) ? sum / weights_.back() : fractions;
        return std::clamp(mean, values_.front(), values_.back());
    }

    // Index of the first value up to which there is `part` / `parts` of the weight.
    std::size_t quantile_index(double part, double parts) const {
        const double weight = part * weights_.back() / parts;
        const auto found = std::lower_bound(weights_.begin(), weights_.end(), weight);
        return std::min(std::size_t(found - weights_.begin()), values_.size() - 1);
    }

    // The midpoint of two values if the weight is halved between them.
    double median() const {
        const std::size_t i = quantile_index(1, 2);
        if (weights_[i] != 0.5 * weights_.back() || i + 1 == values_.size()) return values_[i];
        return values_[i] / 2 + values_[i + 1] / 2;
    }

    const Column* column_ = nullptr;
    ThresholdGrid grid_ = ThresholdGrid::kEvery;
    std::vector<double> values_, weights_;
    std::vector<NodeThreshold> thresholds_;
    std::vector<Number> cell_;
};

}  // namespace ceiba::tree
