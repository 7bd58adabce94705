// The rows in the bag of one tree, in the order of its nodes: those of a node lie side by side.
// A bag is filled again for the next tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "forest/forest.hpp"
#include "tree/finder.hpp"
#include "tree/growth.hpp"
#include "tree/problem.hpp"
#include "tree/source.hpp"

namespace ceiba::forest {

using tree::Candidate;
using tree::Column;
using tree::Finder;
using tree::Growth;
using tree::GrowthRules;
using tree::LargeEntry;
using tree::NodeCell;
using tree::Number;
using tree::Tagged;
using tree::Targets;

// A node of the growth, and where its rows stand in the bag.
struct NodeRows {
    std::size_t node, begin, end;

    std::size_t size() const { return end - begin; }
};

// What belongs to the rows of a node, one after the other, and room for as much.
template <typename T>
struct Values {
    T* own;
    T* spare;
};

// Part the rows of a node in two, in order, with all that belongs to them: `right(i)` is whether
// the i-th goes behind the others. Tells how many do not.
template <typename Right, typename... T>
std::size_t part_in_two(std::size_t n, const Right& right, Values<T>... values) {
    std::size_t left = 0, other = 0;
    // Both are written, one is moved on: no branch to mispredict.
    const auto write = [&](auto& each, std::size_t i) {
        const auto value = each.own[i];
        each.own[left] = value;
        each.spare[other] = value;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const auto behind = std::size_t(right(i));
        (write(values, i), ...);
        left += 1 - behind;
        other += behind;
    }
    (std::copy_n(values.spare, other, values.own + left), ...);
    return left;
}

// ... into any number of branches: `to[i]` is the new place of the i-th.
template <typename T>
void part_in_many(std::span<const std::uint32_t> to, Values<T> values) {
    for (std::size_t i = 0; i < to.size(); ++i) values.spare[to[i]] = values.own[i];
    std::copy_n(values.spare, to.size(), values.own);
}

// Classes of rows that were drawn a few times each: a row is one number (row, draws, class).
class TaggedBag {
  public:
    using Rows = tree::ClassRows<true>;
    static constexpr bool kClasses = true;

    static bool fits(const Targets& targets, const Number* count, std::size_t rows) {
        if (targets.label == nullptr || targets.weight != nullptr) return false;
        // All draws together must fit into the counters of a histogram.
        const Number draws = std::accumulate(count, count + rows, Number(0));
        return *std::max_element(count, count + rows) <= Number(Tagged::kMost) &&
               draws <= Number(std::numeric_limits<std::uint32_t>::max());
    }

    void fill(const Targets& targets, const GrowthRules& rules, const Number* count,
              std::size_t rows) {
        classes_ = std::size_t(rules.classes);
        items_.clear();
        for (std::size_t i = 0; i < rows; ++i)
            if (count[i] > 0)
                items_.push_back(std::uint64_t(i) << Tagged::kCodeShift |
                                 std::uint64_t(count[i]) << Tagged::kCountShift | targets.label[i]);
        spare_.resize(items_.size());
    }

    std::size_t size() const { return items_.size(); }
    std::uint32_t row(std::size_t i) const { return Tagged::code_of(items_[i]); }
    const std::uint64_t* items(std::size_t begin) const { return items_.data() + begin; }
    // What stands below the code of the i-th row, in an entry of a node that begins at `begin`.
    std::uint32_t tag(std::size_t, std::size_t i) const { return std::uint32_t(items_[i]); }
    Number weight_of(std::size_t i) const { return Number(Tagged::count_of(items_[i])); }
    // A leaf of one row, which may be asked for soon.
    void fetch(std::size_t) const {}
    PackedNode leaf(std::size_t i) const {
        return leaf_of_class(Tagged::label_of(items_[i]), weight_of(i));
    }

    void measure(Number* cell, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            cell[Tagged::label_of(items_[i])] += Tagged::count_of(items_[i]);
        cell[classes_] = Number(end - begin);
    }
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.tagged(cell, column, sorted, best);
    }
    template <typename Right>
    std::size_t part(std::size_t begin, std::size_t end, const Right& right) {
        const Values<std::uint64_t> items = of(begin);
        return part_in_two(
            end - begin, [&](std::size_t i) { return right(Tagged::code_of(items.own[i])); },
            items);
    }
    void part(std::size_t begin, std::span<const std::uint32_t> to) { part_in_many(to, of(begin)); }

  private:
    Values<std::uint64_t> of(std::size_t begin) { return {items_.data() + begin, spare_.data()}; }

    std::size_t classes_ = 0;
    std::vector<std::uint64_t> items_, spare_;
};

// Classes of rows with weights of their own.
class WeightedBag {
  public:
    using Rows = tree::ClassRows<true>;
    static constexpr bool kClasses = true;

    void fill(const Targets& targets, const GrowthRules& rules, const Number* count,
              std::size_t rows) {
        classes_ = int(rules.classes);
        rows_.clear();
        label_.clear();
        weight_.clear();
        for (std::size_t i = 0; i < rows; ++i) {
            if (count[i] == 0) continue;
            rows_.push_back(std::uint32_t(i));
            label_.push_back(targets.label[i]);
            weight_.push_back(count[i] * (targets.weight ? targets.weight[i] : 1));
        }
        spare_rows_.resize(size());
        spare_label_.resize(size());
        spare_.resize(size());
    }

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    std::uint32_t tag(std::size_t begin, std::size_t i) const { return std::uint32_t(i - begin); }
    Number weight_of(std::size_t i) const { return weight_[i]; }
    void fetch(std::size_t) const {}
    PackedNode leaf(std::size_t i) const { return leaf_of_class(label_[i], weight_[i]); }
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    void measure(Number* cell, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) add(cell, i);
    }
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t begin,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.large(cell, column, view(begin), sorted, best);
    }
    template <typename Right>
    std::size_t part(std::size_t begin, std::size_t end, const Right& right) {
        const std::uint32_t* row = rows_.data() + begin;
        return part_in_two(
            end - begin, [&](std::size_t i) { return right(row[i]); }, rows_of(begin),
            labels_of(begin), weights_of(begin));
    }
    void part(std::size_t begin, std::span<const std::uint32_t> to) {
        part_in_many(to, rows_of(begin));
        part_in_many(to, labels_of(begin));
        part_in_many(to, weights_of(begin));
    }

  private:
    Rows view(std::size_t begin) const {
        return {label_.data() + begin, weight_.data() + begin, classes_};
    }
    Values<std::uint32_t> rows_of(std::size_t begin) {
        return {rows_.data() + begin, spare_rows_.data()};
    }
    Values<std::uint16_t> labels_of(std::size_t begin) {
        return {label_.data() + begin, spare_label_.data()};
    }
    Values<Number> weights_of(std::size_t begin) { return {weight_.data() + begin, spare_.data()}; }

    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<std::uint16_t> label_, spare_label_;
    std::vector<Number> weight_, spare_;
    int classes_ = 0;
};

// Numbers.
class NumberBag {
  public:
    using Rows = tree::MomentRows<true>;
    static constexpr bool kClasses = false;

    void fill(const Targets& targets, const GrowthRules&, const Number* count, std::size_t rows) {
        value_ = targets.value;
        rows_.clear();
        number_.clear();
        weight_.clear();
        for (std::size_t i = 0; i < rows; ++i) {
            if (count[i] == 0) continue;
            rows_.push_back(std::uint32_t(i));
            number_.push_back(count[i] * targets.number[i]);
            weight_.push_back(count[i] * (targets.weight ? targets.weight[i] : 1));
        }
        spare_rows_.resize(size());
        spare_number_.resize(size());
        spare_weight_.resize(size());
    }

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    std::uint32_t tag(std::size_t begin, std::size_t i) const { return std::uint32_t(i - begin); }
    Number weight_of(std::size_t i) const { return weight_[i]; }
    void fetch(std::size_t i) const { __builtin_prefetch(value_ + rows_[i]); }
    PackedNode leaf(std::size_t i) const { return leaf_of_number(value_[rows_[i]], weight_[i]); }
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    // Targets and weights of a node that begins at `begin`.
    const Number* number(std::size_t begin) const { return number_.data() + begin; }
    const Number* weight(std::size_t begin) const { return weight_.data() + begin; }
    void measure(Number* cell, std::size_t begin, std::size_t end) const {
        Number weight = 0, sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            weight += weight_[i];
            sum += number_[i];
        }
        cell[0] = weight;
        cell[1] = sum;
        cell[2] = Number(end - begin);
    }
    // Whether targets of a node differ. What is near at hand tells it of most, by their first two.
    bool varies(std::size_t begin, std::size_t end) const {
        const auto times = [](Number a, Number b) { return std::uint64_t(a) * std::uint64_t(b); };
        for (std::size_t i = begin + 1; i < end; ++i)
            if (times(number_[i], weight_[begin]) != times(number_[begin], weight_[i]) ||
                value_[rows_[i]] != value_[rows_[begin]])
                return true;
        return false;
    }
    void find_range(tree::Node& node, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            node.least = std::min(node.least, value_[rows_[i]]);
            node.most = std::max(node.most, value_[rows_[i]]);
        }
    }
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t begin,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.large(cell, column, view(begin), sorted, best);
    }
    template <typename Right>
    std::size_t part(std::size_t begin, std::size_t end, const Right& right) {
        const std::uint32_t* row = rows_.data() + begin;
        return part_in_two(
            end - begin, [&](std::size_t i) { return right(row[i]); }, rows_of(begin),
            Values<Number>{number_.data() + begin, spare_number_.data()},
            Values<Number>{weight_.data() + begin, spare_weight_.data()});
    }
    void part(std::size_t begin, std::span<const std::uint32_t> to) {
        part_in_many(to, rows_of(begin));
        part_in_many(to, Values<Number>{number_.data() + begin, spare_number_.data()});
        part_in_many(to, Values<Number>{weight_.data() + begin, spare_weight_.data()});
    }

  private:
    Rows view(std::size_t begin) const { return {number(begin), weight(begin)}; }
    Values<std::uint32_t> rows_of(std::size_t begin) {
        return {rows_.data() + begin, spare_rows_.data()};
    }

    const double* value_ = nullptr;  // of all rows
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Number> number_, spare_number_, weight_, spare_weight_;
};

}  // namespace ceiba::forest
