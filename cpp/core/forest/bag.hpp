// The rows in the bag of one tree, in the order of its nodes: those of a node lie side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// Parts the rows of a node in two, in order: `right[i]` is 1 for those that go behind the others.
struct PartInTwo {
    std::size_t n;
    const std::uint8_t* right;

    template <typename T>
    void operator()(T* values, std::vector<T>& spare) const {
        T* left = values;
        T* other = spare.data();
        // Both are written, one is moved on: no branch to mispredict.
        for (std::size_t i = 0; i < n; ++i) {
            const T value = values[i];
            *left = value;
            *other = value;
            left += 1 - right[i];
            other += right[i];
        }
        std::copy(spare.data(), other, left);
    }
};

// ... into any number of branches: `to[i]` is the new place of the i-th.
struct PartInMany {
    std::span<const std::uint32_t> to;

    template <typename T>
    void operator()(T* values, std::vector<T>& spare) const {
        for (std::size_t i = 0; i < to.size(); ++i) spare[to[i]] = values[i];
        std::copy_n(spare.data(), to.size(), values);
    }
};

// Classes of rows that were drawn a few times each: a row is one number (row, draws, class).
class TaggedBag {
  public:
    using Rows = tree::ClassRows<true>;

    static bool fits(const Targets& targets, const Number* count, std::size_t rows) {
        if (targets.label == nullptr || targets.weight != nullptr) return false;
        return *std::max_element(count, count + rows) <= Number(Tagged::kMost);
    }

    TaggedBag(const Targets& targets, const GrowthRules& rules, const Number* count,
              std::size_t rows)
        : classes_(std::size_t(rules.classes)) {
        for (std::size_t i = 0; i < rows; ++i)
            if (count[i] > 0)
                items_.push_back(std::uint64_t(i) << Tagged::kCodeShift |
                                 std::uint64_t(count[i]) << Tagged::kCountShift | targets.label[i]);
        spare_.resize(items_.size());
    }

    std::size_t size() const { return items_.size(); }
    std::uint32_t row(std::size_t i) const { return Tagged::code_of(items_[i]); }
    // What stands below the code of the i-th row, in an entry of a node that begins at `begin`.
    std::uint32_t tag(std::size_t, std::size_t i) const { return std::uint32_t(items_[i]); }

    void add(Number* cell, std::size_t i) const {
        cell[Tagged::label_of(items_[i])] += Tagged::count_of(items_[i]);
        ++cell[classes_];
    }
    void widen(tree::Node&, std::size_t) const {}
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.tagged(cell, column, sorted, best);
    }
    template <typename Parting>
    void part(std::size_t begin, const Parting& parting) {
        parting(items_.data() + begin, spare_);
    }

  private:
    std::size_t classes_;
    std::vector<std::uint64_t> items_, spare_;
};

// Classes of rows with weights of their own.
class WeightedBag {
  public:
    using Rows = tree::ClassRows<true>;

    WeightedBag(const Targets& targets, const GrowthRules& rules, const Number* count,
                std::size_t rows)
        : classes_(int(rules.classes)) {
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
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    void widen(tree::Node&, std::size_t) const {}
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t begin,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.large(cell, column, view(begin), sorted, best);
    }
    template <typename Parting>
    void part(std::size_t begin, const Parting& parting) {
        parting(rows_.data() + begin, spare_rows_);
        parting(label_.data() + begin, spare_label_);
        parting(weight_.data() + begin, spare_);
    }

  private:
    Rows view(std::size_t begin) const {
        return {label_.data() + begin, weight_.data() + begin, classes_};
    }

    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<std::uint16_t> label_, spare_label_;
    std::vector<Number> weight_, spare_;
    int classes_;
};

// Numbers.
class NumberBag {
  public:
    using Rows = tree::MomentRows<true>;

    NumberBag(const Targets& targets, const GrowthRules&, const Number* count, std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
            if (count[i] == 0) continue;
            rows_.push_back(std::uint32_t(i));
            number_.push_back(count[i] * targets.number[i]);
            value_.push_back(targets.value[i]);
            weight_.push_back(count[i] * (targets.weight ? targets.weight[i] : 1));
        }
        spare_rows_.resize(size());
        spare_value_.resize(size());
        spare_.resize(size());
    }

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    std::uint32_t tag(std::size_t begin, std::size_t i) const { return std::uint32_t(i - begin); }
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    // The range of a node's targets, with one more row.
    void widen(tree::Node& node, std::size_t i) const {
        node.least = std::min(node.least, value_[i]);
        node.most = std::max(node.most, value_[i]);
    }
    void find(Finder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t begin,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.large(cell, column, view(begin), sorted, best);
    }
    template <typename Parting>
    void part(std::size_t begin, const Parting& parting) {
        parting(rows_.data() + begin, spare_rows_);
        parting(number_.data() + begin, spare_);
        parting(weight_.data() + begin, spare_);
        parting(value_.data() + begin, spare_value_);
    }

  private:
    Rows view(std::size_t begin) const { return {number_.data() + begin, weight_.data() + begin}; }

    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Number> number_, weight_, spare_;
    std::vector<double> value_, spare_value_;
};

}  // namespace ceiba::forest
