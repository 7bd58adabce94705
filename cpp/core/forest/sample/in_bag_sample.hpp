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
#include "tree/grow/row_store.hpp"
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
    const std::uint64_t* view(std::size_t begin) const { return items_.data() + begin; }
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
    // As RowStore::partition.
    template <typename Branch>
    const std::vector<std::size_t>& partition(std::size_t begin, std::size_t end,
                                              std::size_t n_branches, const Branch& branch) {
        std::uint64_t* items = items_.data() + begin;
        return partition_.split(
            end - begin, n_branches,
            [&](std::size_t i) { return branch(TaggedSource::code_of(items[i])); },
            tree::RowValues{items, spare_.data()});
    }

  private:
    std::size_t classes_ = 0;
    std::vector<std::uint64_t> items_, spare_;
    tree::RowPartition partition_;
};

// Rows with individual weights, in the arrays of a row store.
template <typename RowTargets>
class WeightedSample : public tree::RowStore<RowTargets> {
  public:
    static constexpr bool kIsClassification = RowTargets::kIsClassification;

    void fill(const Targets& targets, const TreeConfig& config, const Number* count,
              std::size_t rows) {
        this->clear(config);
        for (std::size_t i = 0; i < rows; ++i)
            if (count[i] > 0) this->add(targets, i, count[i]);
    }
    std::uint32_t tag(std::size_t begin, std::size_t i) const { return std::uint32_t(i - begin); }
    Number weight_of(std::size_t i) const { return this->weight_[i]; }
    void find(SplitFinder<RowTargets>& finder, const NodeCell& cell, const Column& column,
              std::size_t begin, std::span<const LargeEntry> sorted, Candidate& best) const {
        finder.search_large(cell, column, this->view(begin), sorted, best);
    }
};

class WeightedClassSample : public WeightedSample<tree::ClassRows<true>> {
  public:
    void prefetch(std::size_t) const {}
    PackedNode leaf(std::size_t i) const { return pure_leaf(target_[i], weight_[i]); }
    void sum_targets(Number* cell, std::size_t begin, std::size_t end) const {
        for (std::size_t i = begin; i < end; ++i) view(0).add(cell, i);
    }
};

// Numeric targets.
class RegressionSample : public WeightedSample<tree::MomentRows<true>> {
  public:
    void fill(const Targets& targets, const TreeConfig& config, const Number* count,
              std::size_t rows) {
        WeightedSample::fill(targets, config, count, rows);
        value_ = targets.value;
        weighted_square_ = targets.weighted_square;
        count_ = count;
    }
    void prefetch(std::size_t i) const { __builtin_prefetch(value_ + rows_[i]); }
    PackedNode leaf(std::size_t i) const { return number_leaf(value_[rows_[i]], weight_[i]); }
    void sum_targets(Number* cell, std::size_t begin, std::size_t end) const {
        Number weight = 0, sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            weight += weight_[i];
            sum += target_[i];
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
            if (times(target_[i], weight_[begin]) != times(target_[begin], weight_[i]) ||
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

  private:
    // Per training row.
    const double* value_ = nullptr;
    const Number* weighted_square_ = nullptr;
    const Number* count_ = nullptr;
};

}  // namespace ceiba::forest
