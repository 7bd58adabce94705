// In-bag rows of one tree, stored so that the rows of a node are contiguous; buffers are reused for
// the next tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "forest/predict/packed_forest.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/tree_builder.hpp"
#include "tree/split/sources.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::forest {

using tree::Candidate;
using tree::Column;
using tree::LargeEntry;
using tree::NodeCell;
using tree::Number;
using tree::SplitFinder;
using tree::TaggedSource;
using tree::Targets;
using tree::TreeBuilder;
using tree::TreeConfig;

// A node of the growing tree and the range of its rows in the sample.
struct NodeRows {
    std::size_t node, begin, end;

    std::size_t size() const { return end - begin; }
};

// Values of the rows of a node, and a buffer of the same length.
template <typename T>
struct PartitionArray {
    T* data;
    T* buffer;
};

// Partition the rows of a node in two, stably, with all their values: `goes_right(i)` is whether
// row i goes right. Returns the number of rows on the left.
template <typename GoesRight, typename... T>
std::size_t partition_in_two(std::size_t n, const GoesRight& goes_right,
                             PartitionArray<T>... values) {
    std::size_t left = 0, n_right = 0;
    // Write to both sides and advance one index: no branch to mispredict.
    const auto write = [&](auto& each, std::size_t i) {
        const auto value = each.data[i];
        each.data[left] = value;
        each.buffer[n_right] = value;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const auto is_right = std::size_t(goes_right(i));
        (write(values, i), ...);
        left += 1 - is_right;
        n_right += is_right;
    }
    (std::copy_n(values.buffer, n_right, values.data + left), ...);
    return left;
}

// Partition into any number of branches: `target[i]` is the new position of row i.
template <typename T>
void partition_in_many(std::span<const std::uint32_t> target, PartitionArray<T> values) {
    for (std::size_t i = 0; i < target.size(); ++i) values.buffer[target[i]] = values.data[i];
    std::copy_n(values.buffer, target.size(), values.data);
}

// Class labels of rows drawn a few times each: a row is one integer (row, draws, class).
class CountedClassSample {
  public:
    using Rows = tree::ClassRows<true>;
    static constexpr bool kIsClassification = true;

    static bool applies_to(const Targets& targets, const Number* count, std::size_t rows) {
        if (targets.label == nullptr || targets.weight != nullptr) return false;
        // The total number of draws must fit into the counters of a histogram.
        const Number draws = std::accumulate(count, count + rows, Number(0));
        return *std::max_element(count, count + rows) <= Number(TaggedSource::kMax) &&
               draws <= Number(std::numeric_limits<std::uint32_t>::max());
    }

    void fill(const Targets& targets, const TreeConfig& config, const Number* count,
              std::size_t rows) {
        classes_ = std::size_t(config.n_classes);
        items_.clear();
        for (std::size_t i = 0; i < rows; ++i)
            if (count[i] > 0)
                items_.push_back(std::uint64_t(i) << TaggedSource::kCodeShift |
                                 std::uint64_t(count[i]) << TaggedSource::kCountShift |
                                 targets.label[i]);
        spare_.resize(items_.size());
    }

    std::size_t size() const { return items_.size(); }
    std::uint32_t row(std::size_t i) const { return TaggedSource::code_of(items_[i]); }
    const std::uint64_t* items(std::size_t begin) const { return items_.data() + begin; }
    // Low bits of the entry of row i, in a node that begins at `begin`.
    std::uint32_t tag(std::size_t, std::size_t i) const { return std::uint32_t(items_[i]); }
    Number weight_of(std::size_t i) const { return Number(TaggedSource::count_of(items_[i])); }
    // Prefetch what a leaf of this single row needs.
    void prefetch(std::size_t) const {}
    PackedNode leaf(std::size_t i) const {
        return pure_leaf(TaggedSource::label_of(items_[i]), weight_of(i));
    }

    void sum_targets(Number* cell, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i)
            cell[TaggedSource::label_of(items_[i])] += TaggedSource::count_of(items_[i]);
        cell[classes_] = Number(end - begin);
    }
    void find(SplitFinder<Rows>& finder, const NodeCell& cell, const Column& column, std::size_t,
              std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.search_tagged(cell, column, sorted, best);
    }
    template <typename GoesRight>
    std::size_t partition(std::size_t begin, std::size_t end, const GoesRight& goes_right) {
        const PartitionArray<std::uint64_t> items = of(begin);
        return partition_in_two(
            end - begin,
            [&](std::size_t i) { return goes_right(TaggedSource::code_of(items.data[i])); }, items);
    }
    void partition(std::size_t begin, std::span<const std::uint32_t> target) {
        partition_in_many(target, of(begin));
    }

  private:
    PartitionArray<std::uint64_t> of(std::size_t begin) {
        return {items_.data() + begin, spare_.data()};
    }

    std::size_t classes_ = 0;
    std::vector<std::uint64_t> items_, spare_;
};

// Class labels of rows with individual weights.
class WeightedClassSample {
  public:
    using Rows = tree::ClassRows<true>;
    static constexpr bool kIsClassification = true;

    void fill(const Targets& targets, const TreeConfig& config, const Number* count,
              std::size_t rows) {
        classes_ = int(config.n_classes);
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
    void prefetch(std::size_t) const {}
    PackedNode leaf(std::size_t i) const { return pure_leaf(label_[i], weight_[i]); }
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    void sum_targets(Number* cell, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) add(cell, i);
    }
    void find(SplitFinder<Rows>& finder, const NodeCell& cell, const Column& column,
              std::size_t begin, std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.search_large(cell, column, view(begin), sorted, best);
    }
    template <typename GoesRight>
    std::size_t partition(std::size_t begin, std::size_t end, const GoesRight& goes_right) {
        const std::uint32_t* row = rows_.data() + begin;
        return partition_in_two(
            end - begin, [&](std::size_t i) { return goes_right(row[i]); }, rows_of(begin),
            labels_of(begin), weights_of(begin));
    }
    void partition(std::size_t begin, std::span<const std::uint32_t> target) {
        partition_in_many(target, rows_of(begin));
        partition_in_many(target, labels_of(begin));
        partition_in_many(target, weights_of(begin));
    }

  private:
    Rows view(std::size_t begin) const {
        return {label_.data() + begin, weight_.data() + begin, classes_};
    }
    PartitionArray<std::uint32_t> rows_of(std::size_t begin) {
        return {rows_.data() + begin, spare_rows_.data()};
    }
    PartitionArray<std::uint16_t> labels_of(std::size_t begin) {
        return {label_.data() + begin, spare_label_.data()};
    }
    PartitionArray<Number> weights_of(std::size_t begin) {
        return {weight_.data() + begin, spare_.data()};
    }

    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<std::uint16_t> label_, spare_label_;
    std::vector<Number> weight_, spare_;
    int classes_ = 0;
};

// Numeric targets.
class RegressionSample {
  public:
    using Rows = tree::MomentRows<true>;
    static constexpr bool kIsClassification = false;

    void fill(const Targets& targets, const TreeConfig&, const Number* count, std::size_t rows) {
        value_ = targets.value;
        weighted_square_ = targets.weighted_square;
        count_ = count;
        rows_.clear();
        weighted_target_.clear();
        weight_.clear();
        for (std::size_t i = 0; i < rows; ++i) {
            if (count[i] == 0) continue;
            rows_.push_back(std::uint32_t(i));
            weighted_target_.push_back(count[i] * targets.weighted_target[i]);
            weight_.push_back(count[i] * (targets.weight ? targets.weight[i] : 1));
        }
        spare_rows_.resize(size());
        spare_target_.resize(size());
        spare_weight_.resize(size());
    }

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    std::uint32_t tag(std::size_t begin, std::size_t i) const { return std::uint32_t(i - begin); }
    Number weight_of(std::size_t i) const { return weight_[i]; }
    void prefetch(std::size_t i) const { __builtin_prefetch(value_ + rows_[i]); }
    PackedNode leaf(std::size_t i) const { return number_leaf(value_[rows_[i]], weight_[i]); }
    void add(Number* cell, std::size_t i) const { view(0).add(cell, i); }
    // Targets and weights of a node that begins at `begin`.
    const Number* weighted_target(std::size_t begin) const {
        return weighted_target_.data() + begin;
    }
    const Number* weight(std::size_t begin) const { return weight_.data() + begin; }
    void sum_targets(Number* cell, std::size_t begin, std::size_t end) const {
        Number weight = 0, sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            weight += weight_[i];
            sum += weighted_target_[i];
        }
        cell[0] = weight;
        cell[1] = sum;
        cell[2] = Number(end - begin);
    }
    // Sum of the weighted squares of a node, if the targets have them.
    Number squares(std::size_t begin, std::size_t end) const {
        Number sum = 0;
        for (std::size_t i = begin; i < end; ++i)
            sum += count_[rows_[i]] * weighted_square_[rows_[i]];
        return sum;
    }
    // Whether the targets of a node differ. For most nodes the first two rows decide,
    // without access to the original values.
    bool varies(std::size_t begin, std::size_t end) const {
        const auto times = [](Number a, Number b) { return std::uint64_t(a) * std::uint64_t(b); };
        for (std::size_t i = begin + 1; i < end; ++i)
            if (times(weighted_target_[i], weight_[begin]) !=
                    times(weighted_target_[begin], weight_[i]) ||
                value_[rows_[i]] != value_[rows_[begin]])
                return true;
        return false;
    }
    void update_range(tree::Node& node, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) {
            node.min_target = std::min(node.min_target, value_[rows_[i]]);
            node.max_target = std::max(node.max_target, value_[rows_[i]]);
        }
    }
    void find(SplitFinder<Rows>& finder, const NodeCell& cell, const Column& column,
              std::size_t begin, std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.search_large(cell, column, view(begin), sorted, best);
    }
    template <typename GoesRight>
    std::size_t partition(std::size_t begin, std::size_t end, const GoesRight& goes_right) {
        const std::uint32_t* row = rows_.data() + begin;
        return partition_in_two(
            end - begin, [&](std::size_t i) { return goes_right(row[i]); }, rows_of(begin),
            PartitionArray<Number>{weighted_target_.data() + begin, spare_target_.data()},
            PartitionArray<Number>{weight_.data() + begin, spare_weight_.data()});
    }
    void partition(std::size_t begin, std::span<const std::uint32_t> target) {
        partition_in_many(target, rows_of(begin));
        partition_in_many(
            target, PartitionArray<Number>{weighted_target_.data() + begin, spare_target_.data()});
        partition_in_many(target,
                          PartitionArray<Number>{weight_.data() + begin, spare_weight_.data()});
    }

  private:
    Rows view(std::size_t begin) const { return {weighted_target(begin), weight(begin)}; }
    PartitionArray<std::uint32_t> rows_of(std::size_t begin) {
        return {rows_.data() + begin, spare_rows_.data()};
    }

    // Per training row.
    const double* value_ = nullptr;
    const Number* weighted_square_ = nullptr;
    const Number* count_ = nullptr;
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Number> weighted_target_, spare_target_, weight_, spare_weight_;
};

}  // namespace ceiba::forest
