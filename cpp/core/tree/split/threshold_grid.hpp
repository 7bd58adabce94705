// Candidate thresholds of a column at a node, computed by a threshold grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/random.hpp"
#include "tree/encode/columns.hpp"
#include "tree/split/candidate.hpp"

namespace ceiba::tree {

// Stream of the keyed draws of random thresholds; any number serves.
constexpr std::uint64_t kThresholdStream = 0x63757473;

// Representative value of a code: its value, the middle of its bin, or its index in an ordinal
// column.
inline double value_of(const Column& column, std::uint32_t code) {
    return column.values == nullptr ? double(code) : column.values[code];
}

class GridThresholds {
  public:
    // The thresholds in ascending order; values up to a threshold go left.
    template <typename Source, typename Scorer>
    const std::vector<double>& compute(const Column& column, Source source, const Scorer& scorer) {
        if (scorer.config.threshold_grid == ThresholdGrid::kGiven) {
            thresholds_.assign(column.thresholds, column.thresholds + column.n_thresholds);
            return thresholds_;
        }
        gather(column, source, scorer);
        thresholds_.clear();
        const double lowest = values_.front(), highest = values_.back();
        const auto n = double(scorer.config.n_thresholds);
        switch (scorer.config.threshold_grid) {
            case ThresholdGrid::kMean:
                thresholds_.push_back(mean());
                break;
            case ThresholdGrid::kMedian:
                thresholds_.push_back(median());
                break;
            case ThresholdGrid::kQuantile:
                for (double i = 1; i <= n; ++i) thresholds_.push_back(quantile(i, n + 1));
                break;
            case ThresholdGrid::kEqualWidth:
                for (double i = 1; i <= n; ++i)
                    thresholds_.push_back(interpolate(lowest, highest, i, n + 1));
                break;
            default:
                for (double i = 0; i < n; ++i)
                    thresholds_.push_back(interpolate(lowest, highest, draw(column, scorer, i), 1));
        }
        // A single threshold above all values would separate nothing: use the second largest value.
        const ThresholdGrid grid = scorer.config.threshold_grid;
        const bool single = grid == ThresholdGrid::kMean || grid == ThresholdGrid::kMedian;
        if (single && values_.size() > 1 && thresholds_[0] >= highest)
            thresholds_[0] = values_[values_.size() - 2];
        // Infinite values have no midpoint.
        std::erase_if(thresholds_, [](double threshold) { return std::isnan(threshold); });
        std::sort(thresholds_.begin(), thresholds_.end());
        return thresholds_;
    }

  private:
    // Distinct values of the node, and the cumulative weight of each.
    template <typename Source, typename Scorer>
    void gather(const Column& column, Source& source, const Scorer& scorer) {
        values_.clear();
        weights_.clear();
        cell_.assign(scorer.size, 0);
        while (source.more()) {
            values_.push_back(value_of(column, source.code()));
            source.take(cell_.data());
            weights_.push_back(double(scorer.cells.weight(cell_.data())));
        }
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
        return std::size_t(std::lower_bound(weights_.begin(), weights_.end(), weight) -
                           weights_.begin());
    }

    double quantile(double part, double parts) const {
        return values_[std::min(quantile_index(part, parts), values_.size() - 1)];
    }

    // The midpoint of two values if the weight is halved between them.
    double median() const {
        const std::size_t i = quantile_index(1, 2);
        if (weights_[i] != 0.5 * weights_.back() || i + 1 == values_.size()) return values_[i];
        return values_[i] / 2 + values_[i + 1] / 2;
    }

    std::vector<double> values_, weights_, thresholds_;
    std::vector<Number> cell_;
};

}  // namespace ceiba::tree
