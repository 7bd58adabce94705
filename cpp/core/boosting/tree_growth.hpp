// Growth of one boosted tree.
//
//     histogram of the root = sums of the quantized gradients by column and code
//     while a leaf may be split, in growth order:
//         split it; partition its rows
//         histogram of the smaller branch = sums of its rows, of the larger one = the difference
//         best split of both branches = largest gain over their columns
//
// The rows of a node are contiguous. Histograms are those of boosting/node_histograms.hpp, the
// growth order is that of all trees (tree/grow/split_order.hpp).
//
// Part of boosting_grower.cpp.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "boosting/boosting_grower.hpp"
#include "boosting/node_histograms.hpp"
#include "boosting/row_partition.hpp"
#include "common/parallel.hpp"
#include "simd/boosting_kernels.hpp"
#include "tree/grow/split_order.hpp"

namespace ceiba::boosting {

using tree::HistogramStore;
using tree::Node;
using tree::Reason;
using tree::TreeBuilder;

// The growth of one tree: quantizes the gradients, then splits the leaves in growth order. `Layout`
// is that of the histogram cells, which is chosen for each tree from its gradients. The tree and
// its leaves are written to the BoostingGrower.
template <typename Code, typename Layout>
class TreeGrowth {
    using Word = typename Layout::Word;
    using Histograms = NodeHistograms<Code, Layout>;
    using Unsummed = typename Histograms::Unsummed;

  public:
    TreeGrowth(BoostingGrower<Code>& grower, const Gradients& gradients, const GradientScale& scale,
               std::vector<std::int32_t> columns, std::uint64_t seed, int threads,
               std::vector<Word>& values, HistogramStore<Layout>& store)
        : grower_(grower),
          config_(grower.config_),
          builder_(*grower.builder_),
          gradients_(gradients),
          scale_(scale),
          outputs_(gradients.outputs),
          tree_columns_(std::move(columns)),
          seed_(seed),
          histograms_(*grower.codes_, outputs_, tree_columns_, threads, values, store),
          threads_(threads) {
        for (int t = 0; t < threads_; ++t) searches_.emplace_back(config_, scale_, outputs_);
        for (const std::int32_t j : tree_columns_) {
            const Column& column = grower_.columns_.columns[std::size_t(j)];
            corrects_categories_ |= column.nominal && column.n_codes > tree::kFewCategories;
        }
    }

    void grow() {
        builder_.add(0, 1);
        states_.emplace_back();
        set_rows(0, 0, grower_.rows_.size());
        states_[0].sums = histograms_.quantize(gradients_, scale_, grower_.rows_);
        evaluate({0}, {});
        std::int64_t n_leaves = 1;
        tree::for_splits_in_order(builder_, [&](std::size_t node) {
            // The loops of one split are too short to poll.
            if (interrupt_.stopped(0)) throw Interrupted{};
            is_last_ = ++n_leaves == config_.max_leaves;
            expand(node);
            const auto child = std::size_t(builder_.nodes[node].child);
            evaluate({child, child + 1},
                     histograms_.split(node, branch_of(child), branch_of(child + 1)));
        });
        collect_leaves();
        keep_sums();
    }

  private:
    // What growth keeps of a node beside the builder.
    struct State {
        std::vector<GradientSum> sums, left_sums;  // of its rows, and of those that its split sends
                                                   // to the left
        Bounds bounds;
    };

    std::size_t begin_of(std::size_t node) const { return std::size_t(builder_.nodes[node].begin); }
    std::size_t end_of(std::size_t node) const { return std::size_t(builder_.nodes[node].end); }
    std::size_t n_rows(std::size_t node) const { return end_of(node) - begin_of(node); }
    std::span<const std::uint32_t> rows_of(std::size_t node) const {
        return std::span(grower_.rows_).subspan(begin_of(node), n_rows(node));
    }
    bool is_open(std::size_t node) const { return builder_.nodes[node].reason == Reason::kOpen; }
    typename Histograms::Branch branch_of(std::size_t node) const {
        return {node, rows_of(node), is_open(node)};
    }

    void set_rows(std::size_t node, std::size_t begin, std::size_t end) {
        Node& n = builder_.nodes[node];
        n.begin = std::uint32_t(begin);
        n.end = std::uint32_t(end);
        builder_.cell(node)[0] = Number(end - begin);
        if (is_last_)
            n.reason = Reason::kLeaves;
        else if (n.depth >= config_.max_depth)
            n.reason = Reason::kDepth;
        else if (Number(end - begin) < std::max<Number>(2, 2 * config_.min_rows))
            n.reason = Reason::kRows;
    }

    // The best splits of the columns at one node.
    struct NodeCandidates {
        std::size_t node;
        BoostedNode scored_node;
        std::vector<std::int32_t> columns;
        std::vector<Candidate> found;          // one per column
        std::vector<std::uint8_t> has_counts;  // whether the rows of a column were counted
        std::size_t best = 0;                  // index of the best column

        bool has_split() const { return !found.empty() && found[best].found(); }
        std::int32_t column() const { return columns[best]; }
        Candidate& split() { return found[best]; }
        // Choose the column of the largest score, of equal ones the first.
        void choose() {
            best = 0;
            for (std::size_t i = 1; i < found.size(); ++i)
                if (found[i].score > found[best].score) best = i;
        }
    };

    // Find the best splits of sibling nodes that may be split.
    void evaluate(std::initializer_list<std::size_t> nodes, const Unsummed& branches) {
        std::vector<NodeCandidates> searches;
        for (const std::size_t node : nodes) {
            if (!is_open(node)) continue;
            if (!histograms_.contains(node)) histograms_.add(node, rows_of(node), *nodes.begin());
            searches.push_back({node, make_scored_node(node), columns_of(node), {}, {}, 0});
        }
        find(searches, branches);
        for (NodeCandidates& search : searches) {
            search.choose();
            while (recounts_rows(search)) {
                find_with_counts(search);
                search.choose();
            }
            decide(search);
        }
    }

    void decide(NodeCandidates& search) {
        Node& node = builder_.nodes[search.node];
        if (search.has_split()) {
            builder_.record_split(search.node, search.column(), search.split());
            node.gain = search.split().score / double(n_rows(search.node));
            // The histogram may be dropped before the node is expanded.
            states_[search.node].left_sums = histograms_.sums_of(
                search.node, search.column(), codes_on_left(search.column(), search.split()));
        } else {
            node.reason = Reason::kNoGain;
            histograms_.erase(search.node);
        }
    }

    // Search the columns of some nodes, after summing them if that is still to be done; every
    // thread does both for columns of its own.
    void find(std::span<NodeCandidates> searches, const Unsummed& branches) {
        const std::size_t p = grower_.columns_.count();
        double work = 2.0 * double(branches.rows.size() * tree_columns_.size() * outputs_);
        for (NodeCandidates& search : searches) {
            search.found.assign(search.columns.size(), Candidate{});
            search.has_counts.assign(search.columns.size(), 0);
            work += 16.0 * double(histograms_.n_cells());
        }
        if (searches.empty()) return;
        const int threads = threads_for(work, threads_);
        const Segments blocks{p, std::min(p, std::size_t(threads > 1 ? 2 * threads : 1))};
        for_segments(blocks, threads, [&](std::size_t s, int thread, Interrupt&) {
            const std::size_t first = blocks.begin(s), last = blocks.end(s);
            if (branches.smaller != nullptr) histograms_.sum_columns(branches, first, last);
            for (NodeCandidates& search : searches)
                find_in(search, first, last, searches_[std::size_t(thread)]);
        });
    }

    // Search the columns [first, last) of a node.
    void find_in(NodeCandidates& search, std::size_t first, std::size_t last, SplitSearch& splits) {
        const auto& columns = search.columns;
        auto i = std::size_t(std::lower_bound(columns.begin(), columns.end(), std::int32_t(first)) -
                             columns.begin());
        for (; i < columns.size() && std::size_t(columns[i]) < last; ++i)
            find_in_column(search, i, nullptr, splits);
    }

    void find_in_column(NodeCandidates& search, std::size_t i, const std::uint32_t* counts,
                        SplitSearch& splits) {
        const auto j = std::size_t(search.columns[i]);
        splits.template find<Layout>(search.scored_node, grower_.columns_.columns[j],
                                     histograms_.cells(search.node, j), counts, search.found[i]);
    }

    // Cells have no room for the number of rows. Columns are therefore searched as if every branch
    // had enough of them, which gives an upper bound of their gain. While the best split has too
    // few rows on a side, its column is searched again with the rows counted. Counting the rows of
    // all columns took 25 % of the time with 5,000 rows.
    bool recounts_rows(NodeCandidates& search) {
        if (!search.has_split() || search.has_counts[search.best] || config_.min_rows <= 1 ||
            searches_[0].counts_by_hessian())
            return false;
        const std::vector<std::uint32_t> left_codes =
            codes_on_left(search.column(), search.split());
        // A branch has at least H / max(h) rows, which are mostly enough.
        const Number left =
            histograms_.sums_of(search.node, search.column(), left_codes)[0].hessian;
        const Number right = states_[search.node].sums[0].hessian - left;
        if (std::min(left, right) >= config_.min_rows * scale_.max_quantized) return false;
        count_rows_by_code(search);
        Number rows = 0;
        for (const std::uint32_t code : left_codes) rows += counts_[code];
        return std::min(rows, Number(n_rows(search.node)) - rows) < config_.min_rows;
    }

    // Count the rows of a node by their codes of the best column.
    void count_rows_by_code(const NodeCandidates& search) {
        const auto j = std::size_t(search.column());
        counts_.assign(grower_.columns_.columns[j].n_codes + 1, 0);
        const Code* codes = grower_.columns_.column(j);
        for (const std::uint32_t row : rows_of(search.node)) ++counts_[codes[row]];
    }

    void find_with_counts(NodeCandidates& search) {
        search.has_counts[search.best] = 1;
        search.split().clear();
        find_in_column(search, search.best, counts_.data(), searches_[0]);
    }

    BoostedNode make_scored_node(std::size_t node) {
        BoostedNode scored;
        SplitSearch& search = searches_[0];
        search.to_real(states_[node].sums.data(), Number(n_rows(node)), scored.sums);
        scored.bounds = states_[node].bounds;
        scored.score = search.node_score(scored.sums, scored.bounds);
        if (corrects_categories_) scored.chance_gain_per_category = chance_gain(node, scored.sums);
        return scored;
    }

    // Gain that one more random category reaches in a node: (sum of (g - h G / H)^2) /
    // (H + reg_lambda). Gradients are multiplied by the weights, so that the scale of weights does
    // not matter.
    double chance_gain(std::size_t node, const RealSums& sums) const {
        double gain = 0;
        for (std::size_t k = 0; k < outputs_; ++k) {
            const double mean = sums.mean_gradient(k);
            double squares = 0;
            for (const std::uint32_t row : rows_of(node)) {
                const double g =
                    gradients_.gradient_of(row, k) - gradients_.hessian_of(row, k) * mean;
                squares += g * g;
            }
            gain += squares / (sums.hessian[k] + config_.reg_lambda);
        }
        return gain;
    }

    // Columns of the tree that a node may test: those allowed by interaction constraints, of which
    // some are drawn.
    std::vector<std::int32_t> columns_of(std::size_t node) {
        std::vector<std::int32_t> allowed = tree_columns_;
        if (config_.interactions)
            std::erase_if(allowed, [&](std::int32_t j) {
                return !builder_.interactions.is_allowed(builder_.nodes[node].interaction_state, j);
            });
        const auto n_drawn = std::size_t(config_.columns_per_node);
        if (n_drawn == 0 || n_drawn >= allowed.size()) return allowed;
        sampler_.begin(allowed, seed_, tree::kNodeStream ^ builder_.nodes[node].path);
        std::vector<std::int32_t> drawn;
        while (drawn.size() < n_drawn) drawn.push_back(sampler_.next());
        std::sort(drawn.begin(), drawn.end());
        return drawn;
    }

    // Codes that a split sends to the left.
    std::vector<std::uint32_t> codes_on_left(std::int32_t column, const Candidate& split) const {
        const Column& tested = grower_.columns_.columns[std::size_t(column)];
        std::vector<std::uint32_t> codes;
        if (split.shape == tree::SplitShape::kTable) {
            for (const auto& [code, branch] : split.table)
                if (branch == 0) codes.push_back(code);
        } else {
            const std::uint32_t last =
                split.shape == tree::SplitShape::kKnown ? tested.n_codes - 1 : split.threshold_code;
            codes.resize(last + 1);
            std::iota(codes.begin(), codes.end(), 0u);
        }
        if (split.missing_branch == 0) codes.push_back(tested.missing_code());
        return codes;
    }

    // Make the branches of a split node, with their rows, sums and bounds.
    void expand(std::size_t node) {
        builder_.make_branches(node);
        const Node n = builder_.nodes[node];
        const auto child = std::size_t(n.child);
        const std::size_t left = partition(node);
        set_rows(child, begin_of(node), begin_of(node) + left);
        set_rows(child + 1, begin_of(node) + left, end_of(node));
        builder_.assign_missing(node);
        states_.resize(builder_.nodes.size());
        states_[child].sums = states_[node].left_sums;
        states_[child + 1].sums = states_[node].sums;
        for (std::size_t k = 0; k < outputs_; ++k)
            states_[child + 1].sums[k] -= states_[child].sums[k];
        set_bounds(node, child);
    }

    void set_bounds(std::size_t node, std::size_t child) {
        const Bounds bounds = states_[node].bounds;
        states_[child].bounds = states_[child + 1].bounds = bounds;
        if (config_.monotonic.empty()) return;
        const int direction = config_.monotonic[std::size_t(builder_.nodes[node].column)];
        if (direction == 0) return;
        const auto value = [&](std::size_t branch) {
            RealSums sums;
            searches_[0].to_real(states_[branch].sums.data(), 0, sums);
            return searches_[0].clipped_value(sums.gradient[0], sums.hessian[0], bounds);
        };
        tree::separate(states_[child].bounds, states_[child + 1].bounds, direction, value(child),
                       value(child + 1));
    }

    // Partition the rows of a node; returns the number of rows on the left.
    std::size_t partition(std::size_t node) {
        const Node& n = builder_.nodes[node];
        const auto j = std::size_t(n.column);
        const Code* codes = grower_.columns_.column(j);
        const std::uint32_t missing_code = grower_.columns_.columns[j].missing_code();
        const auto partition_by = [&](const auto& divide) {
            return partition_in_two(grower_.rows_.data() + begin_of(node), n_rows(node), divide,
                                    grower_.spare_rows_, threads_);
        };
        if constexpr (sizeof(Code) == 1) {
            if (n.shape == tree::SplitShape::kThreshold && n.missing_branch <= 1) {
                const std::uint32_t first = n.threshold_code + 1;
                const std::uint32_t end = missing_code + std::uint32_t(n.missing_branch == 1);
                return partition_by(
                    [&](const std::uint32_t* rows, std::size_t count, std::uint32_t* out) {
                        return boosting_kernels().partition(codes, grower_.columns_.rows, rows,
                                                            count, {first, end - first}, out);
                    });
            }
        }
        return tree::with_branches(builder_, n, missing_code, [&](const auto& branch) {
            return partition_by(divide_by([&](std::uint32_t row) { return branch(codes[row]); }));
        });
    }

    void collect_leaves() {
        grower_.leaves_.clear();
        for (std::size_t node = 0; node < builder_.nodes.size(); ++node) {
            if (builder_.nodes[node].expanded()) continue;
            if (builder_.nodes[node].reason == Reason::kSplit)
                builder_.nodes[node].reason = Reason::kLeaves;
            grower_.leaves_.push_back(
                {std::int32_t(node), begin_of(node), end_of(node), states_[node].bounds});
        }
        grower_.index_leaves(threads_);
    }

    void keep_sums() {
        grower_.node_sums_.clear();
        grower_.node_bounds_.clear();
        for (const State& state : states_) {
            for (const GradientSum& sum : state.sums) {
                grower_.node_sums_.push_back(double(sum.gradient) * scale_.gradient_unit);
                grower_.node_sums_.push_back(double(sum.hessian) * scale_.hessian_unit);
            }
            grower_.node_bounds_.push_back(state.bounds.lower);
            grower_.node_bounds_.push_back(state.bounds.upper);
        }
    }

    BoostingGrower<Code>& grower_;
    const BoostingConfig& config_;
    TreeBuilder& builder_;
    const Gradients& gradients_;
    const GradientScale& scale_;
    std::size_t outputs_;
    std::vector<std::int32_t> tree_columns_;  // those that the tree may test, ascending
    std::uint64_t seed_;
    Histograms histograms_;
    int threads_;
    Interrupt interrupt_;
    bool corrects_categories_ = false;
    bool is_last_ = false;  // the split uses the last leaf: its branches are not searched
    std::vector<SplitSearch> searches_;
    std::vector<State> states_;
    std::vector<std::uint32_t> counts_;  // rows of the codes of one column
    tree::ColumnSampler sampler_;
};

}  // namespace ceiba::boosting
