// Grows a tree whose nodes search a few drawn columns each, on one thread.
//
// Codes are in row-major order: the drawn columns of a row are then in one or two cache lines, and
// the cost of a node depends on its rows and drawn columns only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "forest/grow/column_search.hpp"
#include "forest/grow/pair_split.hpp"
#include "forest/predict/packed_forest.hpp"
#include "forest/sample/in_bag_sample.hpp"
#include "tree/grow/column_sampler.hpp"

namespace ceiba::forest {

template <typename Code, typename Sample>
class RandomTreeGrower {
  public:
    using Rows = typename Sample::Rows;

    RandomTreeGrower(const RowCodes<Code>& codes, const TreeConfig& config)
        : codes_(codes),
          any_split_separates_(config.split.threshold_grid == tree::ThresholdGrid::kEvery &&
                               !config.split.has_monotonic()),
          pair_(codes, config),
          search_(codes, config) {}

    // Grow a tree from its root. The builder is empty except for its excluded columns, and only
    // ever holds the open nodes; finished nodes are packed.
    void grow(TreeBuilder& builder, Sample& sample, SplitFinder<Rows>& finder, TreePacker& packer,
              Interrupt& interrupt, int thread) {
        begin(builder, finder);
        finder.set_interrupt(&interrupt, thread);
        builder.add(0, 1);
        sum_targets(builder, sample, 0, 0, sample.size());
        builder.config.root_weight = double(builder.weight(0));
        open_.assign(1, {{0, 0, sample.size()}, packer.add(1)});
        if (builder.nodes[0].reason != tree::Reason::kOpen) close(builder, sample, packer);
        while (!open_.empty() && !interrupt.stopped(thread)) {
            const OpenNode node = open_.back();
            if (node.size() == 2 && split_pair(builder, sample, packer, node)) continue;
            evaluate(builder, sample, node);
            builder.decide(node.node, search_.found.columns, search_.found.best);
            if (builder.nodes[node.node].reason == tree::Reason::kSplit)
                split(builder, sample, packer, node);
            else
                close(builder, sample, packer);
        }
        finder.set_interrupt(nullptr);
    }

  private:
    // Entry i belongs to node i of the builder.
    struct OpenNode : NodeRows {
        std::int32_t packed_index;
    };

    // Set up the state of one tree.
    void begin(const TreeBuilder& builder, SplitFinder<Rows>& finder) {
        finder_ = &finder;
        allowed_ = allowed_columns(builder);
        search_.begin_tree(finder);
    }

    static std::vector<std::int32_t> allowed_columns(const TreeBuilder& builder) {
        std::vector<std::int32_t> found;
        for (std::size_t j = 0; j < builder.columns; ++j)
            if (!std::binary_search(builder.excluded.begin(), builder.excluded.end(),
                                    std::int32_t(j)))
                found.push_back(std::int32_t(j));
        return found;
    }

    void sum_targets(TreeBuilder& builder, const Sample& sample, std::size_t node,
                     std::size_t begin, std::size_t end) {
        sample.sum_targets(builder.cell(node), begin, end);
        close_if_leaf(builder, sample, node, begin, end);
    }

    void close_if_leaf(TreeBuilder& builder, const Sample& sample, std::size_t node,
                       std::size_t begin, std::size_t end) {
        tree::Node& n = builder.nodes[node];
        if (begin < end) n.term = finder_->term(builder.cell(node));
        if constexpr (!Sample::kIsClassification)
            if (begin < end && !sample.varies(begin, end)) sample.update_range(n, begin, begin + 1);
        if constexpr (!Sample::kIsClassification)
            if (builder.config.split.category_correction) n.squares = sample.squares(begin, end);
        builder.close_if_leaf(node);
    }

    // The mean of a leaf must not leave the range of its targets.
    void pack_leaf(TreeBuilder& builder, const Sample& sample, TreePacker& packer,
                   const OpenNode& leaf) {
        tree::Node& n = builder.nodes[leaf.node];
        if constexpr (!Sample::kIsClassification)
            if (n.reason != tree::Reason::kPure) sample.update_range(n, leaf.begin, leaf.end);
        packer.leaf(leaf.node, leaf.packed_index);
    }

    // Pack the last open node as a leaf.
    void close(TreeBuilder& builder, const Sample& sample, TreePacker& packer) {
        pack_leaf(builder, sample, packer, open_.back());
        open_.pop_back();
        builder.truncate(open_.size());
    }

    void split(TreeBuilder& builder, Sample& sample, TreePacker& packer, const OpenNode& node) {
        builder.add_branches(node.node);
        const std::vector<std::size_t>& starts = partition_rows(builder, sample, node);
        builder.assign_missing(node.node);
        builder.bound_branches(node.node);
        const tree::Node n = builder.nodes[node.node];
        const auto branches = std::size_t(n.n_branches);
        const std::int32_t packed_index = packer.add(branches);
        packer.split(node.node, node.packed_index, packed_index);
        builder.tables.clear();
        open_.pop_back();
        // Open branches replace the node, the first branch last.
        for (std::size_t b = branches; b-- > 0;) {
            const std::size_t branch = std::size_t(n.child) + b;
            const OpenNode entry{{branch, node.begin + starts[b], node.begin + starts[b + 1]},
                                 packed_index + std::int32_t(b)};
            if (builder.nodes[branch].reason == tree::Reason::kOpen) {
                builder.set_path(branch, n.path, b);
                open_.push_back(entry);
            } else {
                pack_leaf(builder, sample, packer, entry);
            }
        }
        compact(builder, node.node);
    }

    // Move the open nodes from index `first` on to the front of the builder.
    void compact(TreeBuilder& builder, std::size_t first) {
        // Up to two nodes can be moved without overwriting each other.
        for (std::size_t i = first; open_.size() > first + 2 && i < open_.size(); ++i)
            open_[i].node = builder.add_copy(open_[i].node);
        for (std::size_t i = first; i < open_.size(); ++i) {
            builder.copy(open_[i].node, i);
            open_[i].node = i;
        }
        builder.truncate(open_.size());
    }

    bool split_pair(TreeBuilder& builder, const Sample& sample, TreePacker& packer,
                    const OpenNode& node) {
        if (!pair_.enabled()) return false;
        begin_draw(builder, builder.nodes[node.node]);
        if (!pair_.try_split(builder, sample, draw_, packer, node.node, node.begin,
                             node.packed_index))
            return false;
        open_.pop_back();
        builder.truncate(open_.size());
        return true;
    }

    void begin_draw(const TreeBuilder& builder, const tree::Node& node) {
        const std::vector<std::int32_t>& allowed = allowed_at(builder, node);
        if (builder.config.columns_per_node == 0)
            draw_.begin(allowed);
        else
            draw_.begin(allowed, builder.config.seed ^ node.path, tree::kNodeStream);
    }

    // Columns of the tree that a node may test.
    const std::vector<std::int32_t>& allowed_at(const TreeBuilder& builder,
                                                const tree::Node& node) {
        if (!builder.config.interactions) return allowed_;
        const auto& interacting = builder.interactions.columns(node.interaction_state);
        allowed_at_node_.clear();
        std::set_intersection(allowed_.begin(), allowed_.end(), interacting.begin(),
                              interacting.end(), std::back_inserter(allowed_at_node_));
        return allowed_at_node_;
    }

    void evaluate(const TreeBuilder& builder, const Sample& sample, const OpenNode& node) {
        const tree::Node& n = builder.nodes[node.node];
        const auto n_drawn = std::size_t(builder.config.columns_per_node);
        const auto find = [&](std::size_t first) { search_.find(builder, sample, node, first); };
        begin_draw(builder, n);
        if (n_drawn > 0 && node.size() == 2 && any_split_separates_) {
            const std::int32_t column = pair_.separating_column(sample, node.begin, draw_);
            if (column != pair_.kNeedsSearch) {
                search_.found.columns.assign(column == pair_.kNoColumn ? 0 : 1, column);
                search_.found.reset();
                return find(0);
            }
            begin_draw(builder, n);
        }
        tree::evaluate_columns(draw_, n_drawn, search_.found, find);
    }

    // Partition the rows of a split node and sum the targets of its branches; returns where each
    // branch begins in the node, and the end.
    const std::vector<std::size_t>& partition_rows(TreeBuilder& builder, Sample& sample,
                                                   const OpenNode& node) {
        const tree::Node n = builder.nodes[node.node];
        const std::vector<std::size_t>& starts =
            codes_.partition(builder, sample, n, node.begin, node.end);
        const auto child = std::size_t(n.child), branches = std::size_t(n.n_branches);
        if (branches == 2)
            sum_targets_of_two(builder, sample, node, child, node.begin + starts[1]);
        else
            for (std::size_t b = 0; b < branches; ++b)
                sum_targets(builder, sample, child + b, node.begin + starts[b],
                            node.begin + starts[b + 1]);
        return starts;
    }

    // The sums of the larger branch are those of the node minus the smaller branch.
    void sum_targets_of_two(TreeBuilder& builder, const Sample& sample, const OpenNode& node,
                            std::size_t child, std::size_t middle) {
        const bool left = middle - node.begin < node.end - middle;
        const std::size_t small = child + !left, large = child + left;
        sum_targets(builder, sample, small, left ? node.begin : middle, left ? middle : node.end);
        for (std::size_t s = 0; s < builder.size; ++s)
            builder.cell(large)[s] = builder.cell(node.node)[s] - builder.cell(small)[s];
        close_if_leaf(builder, sample, large, left ? middle : node.begin, left ? node.end : middle);
    }

    const RowCodes<Code> codes_;
    bool any_split_separates_;  // two rows that differ in a column are separated by it
    PairSplit<Code, Sample> pair_;
    ColumnSearch<Code, Sample> search_;
    SplitFinder<Rows>* finder_ = nullptr;
    tree::ColumnSampler draw_;
    std::vector<std::int32_t> allowed_, allowed_at_node_;
    std::vector<OpenNode> open_;
};

}  // namespace ceiba::forest
