// Where a rule cuts a column at one node: numbers between which its rows are parted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tree/candidate.hpp"
#include "tree/columns.hpp"

namespace ceiba::tree {

// What a code counts as: its value, the middle of its bin, or its number in an ordinal column.
inline double value_of(const Column& column, std::uint32_t code) {
    return column.values == nullptr ? double(code) : column.values[code];
}

class CutTargets {
  public:
    // The numbers in ascending order; a value that is not above one goes left of it.
    template <typename Source, typename Judge>
    const std::vector<double>& of(const Column& column, Source source, const Judge& judge) {
        if (judge.rules.cuts == CutRule::kGiven) {
            targets_.assign(column.cuts, column.cuts + column.n_cuts);
            return targets_;
        }
        gather(column, source, judge);
        targets_.clear();
        const double least = values_.front(), most = values_.back();
        const auto n = double(judge.rules.n_cuts);
        switch (judge.rules.cuts) {
            case CutRule::kMean:
                targets_.push_back(mean());
                break;
            case CutRule::kMedian:
                targets_.push_back(median());
                break;
            case CutRule::kQuantile:
                for (double i = 1; i <= n; ++i) targets_.push_back(quantile(i, n + 1));
                break;
            case CutRule::kEqualWidth:
                for (double i = 1; i <= n; ++i) targets_.push_back(along(least, most, i, n + 1));
                break;
            default:
                for (double i = 0; i < n; ++i)
                    targets_.push_back(along(least, most, draw(column, judge, i), 1));
        }
        // A lone number that all values lie below would part nothing: the next value below does.
        const CutRule rule = judge.rules.cuts;
        const bool lone = rule == CutRule::kMean || rule == CutRule::kMedian;
        if (lone && values_.size() > 1 && targets_[0] >= most)
            targets_[0] = values_[values_.size() - 2];
        // Infinite values have no middle.
        std::erase_if(targets_, [](double target) { return std::isnan(target); });
        std::sort(targets_.begin(), targets_.end());
        return targets_;
    }

  private:
    // Different values of the node, and the weight up to each.
    template <typename Source, typename Judge>
    void gather(const Column& column, Source& source, const Judge& judge) {
        values_.clear();
        weights_.clear();
        cell_.assign(judge.size, 0);
        while (source.more()) {
            values_.push_back(value_of(column, source.code()));
            source.take(cell_.data());
            weights_.push_back(double(judge.cells.weight(cell_.data())));
        }
    }

    // `part` of `parts` of the way from least to most, which may be as far apart as numbers get.
    static double along(double least, double most, double part, double parts) {
        const double width = most - least;
        if (std::isfinite(part * width)) return least + part * width / parts;
        return least * (1 - part / parts) + most * (part / parts);
    }

    template <typename Judge>
    static double draw(const Column& column, const Judge& judge, double i) {
        constexpr std::uint64_t kCutStream = 0x63757473;
        const std::uint64_t key = std::uint64_t(column.index) << 32 | std::uint64_t(i);
        return uniform(judge.rules.seed ^ judge.path(), kCutStream, key);
    }

    double mean() const {
        double sum = 0, shares = 0, before = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            sum += values_[i] * (weights_[i] - before);
            shares += values_[i] * ((weights_[i] - before) / weights_.back());
            before = weights_[i];
        }
        // Shares cannot overflow, but are rounded.
        const double mean = std::isfinite(sum) ? sum / weights_.back() : shares;
        return std::clamp(mean, values_.front(), values_.back());
    }

    // The first value up to which there is `part` of `parts` of the weight.
    std::size_t place(double part, double parts) const {
        const double wanted = part * weights_.back() / parts;
        return std::size_t(std::lower_bound(weights_.begin(), weights_.end(), wanted) -
                           weights_.begin());
    }

    double quantile(double part, double parts) const {
        return values_[std::min(place(part, parts), values_.size() - 1)];
    }

    // Where the weight is halved between two values, their middle.
    double median() const {
        const std::size_t i = place(1, 2);
        if (weights_[i] != 0.5 * weights_.back() || i + 1 == values_.size()) return values_[i];
        return values_[i] / 2 + values_[i + 1] / 2;
    }

    std::vector<double> values_, weights_, targets_;
    std::vector<Number> cell_;
};

}  // namespace ceiba::tree
