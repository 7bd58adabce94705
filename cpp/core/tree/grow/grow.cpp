// Growth of a tree on rows in memory (grow, presort).
//
// Large nodes are split one after the other, their columns distributed over the threads: a column
// with few codes by a histogram (that of the largest branch is the parent's minus those of the
// other branches), one with many codes by sorting. Nodes that fit into the cache are grown to the
// end in parallel (SubtreeGrower).
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "common/parallel.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/grow/evaluate_node.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/node_targets.hpp"
#include "tree/grow/subtree_grower.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {
namespace {

// Columns whose histogram has at most this many numbers are counted, the others are sorted.
constexpr std::size_t kMaxHistogramSize = 16384;

struct Buffers {
    std::vector<std::uint32_t> labels;
    std::vector<LargeEntry> entries;
};

template <typename Code, typename NodeTargets>
class InMemoryGrower {
  public:
    using Rows = typename NodeTargets::Rows;

    InMemoryGrower(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
                   int threads)
        : builder_(builder), columns_(columns), targets_(targets), threads_(threads) {
        // The entries of all columns and their spare copy should stay in the second-level cache.
        const std::size_t fitting_rows =
            (std::size_t(1) << 20) / (8 * std::max<std::size_t>(1, columns.count()));
        max_subtree_rows_ = std::clamp<std::size_t>(fitting_rows, 256, 16384);
        xlog2x_ = xlog2x_table(builder.config, columns.rows);
        SplitFinderSpec spec = split_finder_spec(builder.config);
        spec.xlog2x = {xlog2x_.data(), xlog2x_.size()};
        spec.values = targets.ranked;
        for (int t = 0; t < threads; ++t) finders_.push_back(make_split_finder<Rows>(spec));
        buffers_.resize(std::size_t(threads));
        offsets_.push_back(0);
        for (const Column& column : columns.columns)
            offsets_.push_back(offsets_.back() +
                               (has_histogram(column) ? (column.n_codes + 1) * builder.size : 0));
        subtrees_allowed_ =
            std::all_of(columns.columns.begin(), columns.columns.end(),
                        [](const Column& c) { return !c.nominal || c.n_codes < kMaxSmallCode; });
    }

    void grow_from_root() {
        has_all_rows_ = true;
        rows_.resize(columns_.rows);
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = std::uint32_t(i);
        node_targets_.emplace_back(targets_, builder_.config, rows_);
        builder_.add(0, 1);
        assign_rows(0, 0, rows_.size());
        builder_.config.root_weight = double(builder_.weight(0));
        run({0});
    }

    // Gather the rows of the open nodes only, node by node and in row order.
    void grow_open_nodes(const std::int32_t* node) {
        std::vector<std::size_t> begin(builder_.nodes.size() + 1, 0);
        for (std::size_t i = 0; i < columns_.rows; ++i)
            if (node[i] >= 0) ++begin[std::size_t(node[i]) + 1];
        for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];
        rows_.resize(begin.back());
        std::vector<std::size_t> next = begin;
        for (std::size_t i = 0; i < columns_.rows; ++i)
            if (node[i] >= 0) rows_[next[std::size_t(node[i])]++] = std::uint32_t(i);
        node_targets_.emplace_back(targets_, builder_.config, rows_);
        std::vector<std::int32_t> open;
        for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
            if (begin[v] == begin[v + 1]) continue;
            std::fill_n(builder_.cell(v), builder_.size, Number(0));
            builder_.nodes[v].squares = 0;
            builder_.nodes[v].reason = Reason::kOpen;
            assign_rows(v, begin[v], begin[v + 1]);
            open.push_back(std::int32_t(v));
        }
        run(open);
    }

  private:
    bool has_histogram(const Column& column) const {
        return (std::size_t(column.n_codes) + 1) * builder_.size <= kMaxHistogramSize &&
               builder_.config.criterion != Criterion::kAbsolute;
    }
    NodeTargets& node_targets() { return node_targets_.front(); }
    std::size_t rows_of(std::size_t node) const {
        return std::size_t(builder_.nodes[node].end - builder_.nodes[node].begin);
    }
    bool open(std::size_t node) const { return builder_.nodes[node].reason == Reason::kOpen; }
    bool large(std::size_t node) const { return rows_of(node) > max_subtree_rows_; }

    void assign_rows(std::size_t node, std::size_t begin, std::size_t end) {
        builder_.nodes[node].begin = std::int64_t(begin);
        builder_.nodes[node].end = std::int64_t(end);
        positions_.resize(end - begin);
        for (std::size_t i = 0; i < positions_.size(); ++i) positions_[i] = std::uint32_t(i);
        compute_totals<Rows>(builder_, node, positions_, node_targets().rows(begin),
                             rows_.data() + begin, targets_, *finders_[0]);
    }

    void run(const std::vector<std::int32_t>& open_nodes) {
        if (builder_.config.limits_leaves())
            grow_in_order(open_nodes);
        else
            grow_unordered(open_nodes);
    }

    // Without a limit on leaves the order is free: split the large nodes first, then all small
    // ones.
    void grow_unordered(std::vector<std::int32_t> pending) {
        std::vector<std::int32_t> small;
        std::reverse(pending.begin(), pending.end());
        while (!pending.empty()) {
            check_interrupt();
            const auto node = std::size_t(pending.back());
            pending.pop_back();
            if (!open(node)) continue;
            if (!large(node) && subtrees_allowed_) {
                small.push_back(std::int32_t(node));
                continue;
            }
            evaluate(node);
            if (builder_.nodes[node].reason != Reason::kSplit) continue;
            expand(node);
            for (std::int32_t b = builder_.nodes[node].n_branches; b-- > 0;)
                pending.push_back(builder_.nodes[node].child + b);
        }
        histograms_.clear();
        grow_subtrees(small);
    }

    // With a limit on leaves, split one node after the other in growth order. Nodes that were split
    // before are visited again, since they count towards the leaves.
    void grow_in_order(const std::vector<std::int32_t>& open_nodes) {
        for (const std::int32_t node : open_nodes)
            if (open(std::size_t(node))) evaluate(std::size_t(node));
        SplitOrder order(builder_);
        order.push_if_split(0);
        std::int64_t leaves = 1;
        while (!order.empty()) {
            check_interrupt();
            const auto node = std::size_t(order.pop());
            const std::int32_t n_branches = builder_.nodes[node].n_branches;
            if (leaves + n_branches - 1 > builder_.config.max_leaves) break;
            leaves += n_branches - 1;
            if (!builder_.nodes[node].expanded()) grow_branches(node);
            order.push_branches(node);
        }
    }

    void grow_branches(std::size_t node) {
        expand(node);
        for (std::int32_t b = 0; b < builder_.nodes[node].n_branches; ++b) {
            const auto child = std::size_t(builder_.nodes[node].child + b);
            if (open(child)) evaluate(child);
        }
    }

    // Start with the largest nodes, so that no thread is left with a large one at the end.
    void grow_subtrees(std::vector<std::int32_t>& nodes) {
        std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
            return rows_of(std::size_t(a)) > rows_of(std::size_t(b));
        });
        std::vector<std::unique_ptr<TreeBuilder>> subtrees(nodes.size());
        std::vector<std::unique_ptr<SubtreeGrower<Code, Rows>>> workers(finders_.size());
        double work = 0;
        for (const std::int32_t node : nodes)
            work += 10.0 * double(rows_of(std::size_t(node)) * columns_.count());
        const auto task = [&](std::size_t t, int thread, Interrupt& interrupt) {
            auto& worker = workers[std::size_t(thread)];
            if (!worker)
                worker = std::make_unique<SubtreeGrower<Code, Rows>>(
                    columns_, targets_, *finders_[std::size_t(thread)]);
            subtrees[t] = subtree_root(std::size_t(nodes[t]));
            const auto begin = std::size_t(builder_.nodes[std::size_t(nodes[t])].begin);
            worker->grow(*subtrees[t],
                         std::span(rows_).subspan(begin, rows_of(std::size_t(nodes[t]))),
                         node_targets().rows(begin), interrupt, thread);
        };
        if (nodes.empty()) return;
        for_segments({nodes.size(), nodes.size()}, threads_for(work, threads_), task);
        for (std::size_t t = 0; t < nodes.size(); ++t) {
            builder_.append_subtree(std::size_t(nodes[t]), *subtrees[t]);
            subtrees[t].reset();
        }
    }

    std::unique_ptr<TreeBuilder> subtree_root(std::size_t node) {
        auto subtree = std::make_unique<TreeBuilder>(builder_.config, builder_.columns);
        subtree->add(0, 1);
        subtree->nodes[0] = builder_.nodes[node];
        subtree->nodes[0].parent = -1;
        subtree->excluded = builder_.excluded_columns(node);
        std::copy_n(builder_.cell(node), builder_.size, subtree->cell(0));
        return subtree;
    }

    void check_interrupt() {
        if (interrupt_.stopped(0) && interrupt_.by_user()) throw Interrupted();
    }

    template <typename Body>
    void for_columns(std::size_t node, std::size_t count, const Body& body) {
        const double work = 4.0 * double(rows_of(node) * count);
        for_segments({count, count}, threads_for(work, threads_),
                     [&](std::size_t i, int thread, Interrupt& interrupt) {
                         SplitFinder<Rows>& finder = *finders_[std::size_t(thread)];
                         finder.set_interrupt(&interrupt, thread);
                         body(i, thread);
                         finder.set_interrupt(nullptr);
                     });
    }

    // Find the best split of a node, column by column.
    void evaluate(std::size_t node) {
        if (large(node)) count_bins(node);
        const NodeCell cell = builder_.node_cell(node);
        const ColumnCandidates candidates = evaluate_columns(
            builder_, node,
            [&](std::size_t count, const auto& body) { for_columns(node, count, body); },
            [&](std::size_t j, int thread, Candidate& best) { find(node, cell, j, thread, best); },
            [&] { check_interrupt(); });
        builder_.decide(node, candidates.columns, candidates.best);
        if (builder_.nodes[node].reason != Reason::kSplit) histograms_.erase(node);
    }

    void find(std::size_t node, const NodeCell& cell, std::size_t j, int thread, Candidate& best) {
        const Column& column = columns_.columns[j];
        SplitFinder<Rows>& finder = *finders_[std::size_t(thread)];
        if (large(node) && has_histogram(column))
            return finder.search_bins(cell, column, histograms_.at(node).data() + offsets_[j],
                                      best);
        if (columns_.sorted != nullptr && has_all_rows_ && node == 0)
            return finder.search_large(cell, column, node_targets().rows(0),
                                       {columns_.sorted + j * columns_.rows, columns_.rows}, best);
        const int bits = node_targets().label_bits();
        if (bits > 0 && bits + bits_of(column.missing_code()) <= 32)
            sort_labels(node, cell, j, bits, thread, best);
        else
            sort_entries(node, cell, j, thread, best);
    }

    void sort_labels(std::size_t node, const NodeCell& cell, std::size_t j, int bits, int thread,
                     Candidate& best) {
        const std::size_t n = rows_of(node), begin = std::size_t(builder_.nodes[node].begin);
        std::vector<std::uint32_t>& buffer = buffers_[std::size_t(thread)].labels;
        if (buffer.size() < 2 * n) buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        const NodeTargets& targets = node_targets();
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = std::uint32_t(codes[rows_[begin + i]]) << bits | targets.label(begin + i);
        const std::uint32_t* sorted =
            radix_sort(buffer.data(), buffer.data() + n, n, bits,
                       bits + bits_of(columns_.columns[j].missing_code()));
        finders_[std::size_t(thread)]->search_labels(cell, columns_.columns[j], {sorted, n}, bits,
                                                     best);
    }

    void sort_entries(std::size_t node, const NodeCell& cell, std::size_t j, int thread,
                      Candidate& best) {
        const std::size_t n = rows_of(node), begin = std::size_t(builder_.nodes[node].begin);
        std::vector<LargeEntry>& buffer = buffers_[std::size_t(thread)].entries;
        if (buffer.size() < 2 * n) buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = LargeEntry(codes[rows_[begin + i]]) << kLargeBits | LargeEntry(i);
        const LargeEntry* sorted =
            radix_sort(buffer.data(), buffer.data() + n, n, kLargeBits,
                       kLargeBits + bits_of(columns_.columns[j].missing_code()));
        finders_[std::size_t(thread)]->search_large(cell, columns_.columns[j],
                                                    node_targets().rows(begin), {sorted, n}, best);
    }

    // Count the histograms of a node, unless they were derived from its parent's.
    void count_bins(std::size_t node) {
        if (offsets_.back() == 0 || histograms_.contains(node)) return;
        std::vector<Number>& bins = histograms_[node];
        bins.assign(offsets_.back(), 0);
        for_columns(node, columns_.count(), [&](std::size_t j, int) {
            if (has_histogram(columns_.columns[j]))
                count_column(node, j, bins.data() + offsets_[j]);
        });
    }

    void count_column(std::size_t node, std::size_t j, Number* bins) const {
        const std::size_t n = rows_of(node), begin = std::size_t(builder_.nodes[node].begin);
        const Rows targets = node_targets_.front().rows(begin);
        const Code* codes = columns_.column(j);
        const std::uint32_t* rows = rows_.data() + begin;
        const std::size_t size = builder_.size;
        for (std::size_t i = 0; i < n; ++i) targets.add(bins + codes[rows[i]] * size, i);
    }

    // Partition the rows of a node and derive the histogram of the largest branch: the node's minus
    // those of the other branches.
    void expand(std::size_t node) {
        builder_.make_branches(node);
        partition_rows(node);
        builder_.assign_missing(node);
        const auto parent = histograms_.find(node);
        if (parent == histograms_.end()) return;
        std::vector<Number> bins = std::move(parent->second);
        histograms_.erase(parent);
        const auto child = std::size_t(builder_.nodes[node].child);
        std::size_t largest = child;
        for (std::int32_t b = 1; b < builder_.nodes[node].n_branches; ++b)
            if (rows_of(child + std::size_t(b)) > rows_of(largest))
                largest = child + std::size_t(b);
        if (!open(largest) || !large(largest)) return;
        for (std::int32_t b = 0; b < builder_.nodes[node].n_branches; ++b) {
            const std::size_t other = child + std::size_t(b);
            if (other == largest) continue;
            count_bins(other);
            const std::vector<Number>& subtracted = histograms_.at(other);
            for (std::size_t i = 0; i < bins.size(); ++i) bins[i] -= subtracted[i];
            if (!open(other) || !large(other)) histograms_.erase(other);
        }
        histograms_[largest] = std::move(bins);
    }

    void partition_rows(std::size_t node) {
        const Node parent = builder_.nodes[node];
        const auto begin = std::size_t(parent.begin);
        const std::size_t n = rows_of(node);
        const Code* codes = columns_.column(std::size_t(parent.column));
        const std::uint32_t missing_code =
            columns_.columns[std::size_t(parent.column)].missing_code();
        branch_.resize(n);
        destination_.resize(n);
        std::vector<std::uint32_t> next(std::size_t(parent.n_branches) + 1, 0);
        for (std::size_t i = 0; i < n; ++i) {
            branch_[i] =
                std::uint32_t(builder_.branch(parent, codes[rows_[begin + i]], missing_code));
            ++next[branch_[i] + 1u];
        }
        for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
        const std::vector<std::uint32_t> starts = next;
        for (std::size_t i = 0; i < n; ++i) destination_[i] = next[branch_[i]]++;
        permute(rows_, begin, destination_, spare_rows_);
        node_targets().move(begin, destination_);
        for (std::size_t b = 0; b + 1 < starts.size(); ++b)
            assign_rows(std::size_t(parent.child) + b, begin + starts[b], begin + starts[b + 1]);
    }

    TreeBuilder& builder_;
    const Columns<Code>& columns_;
    const Targets& targets_;
    int threads_;
    std::size_t max_subtree_rows_;
    bool subtrees_allowed_;
    bool has_all_rows_ = false;  // the rows of the root are all rows, in order
    std::vector<double> xlog2x_;
    std::vector<std::unique_ptr<SplitFinder<Rows>>> finders_;
    std::vector<Buffers> buffers_;
    std::vector<std::size_t> offsets_;  // of each column in a histogram
    std::unordered_map<std::size_t, std::vector<Number>> histograms_;
    std::vector<std::uint32_t> rows_, spare_rows_, positions_, destination_;
    std::vector<std::uint32_t> branch_;
    std::vector<NodeTargets> node_targets_;
    Interrupt interrupt_;
};

template <typename Code, typename NodeTargets>
void grow_with(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
               const std::int32_t* node, int threads) {
    InMemoryGrower<Code, NodeTargets> grower(builder, columns, targets, threads);
    if (node == nullptr)
        grower.grow_from_root();
    else
        grower.grow_open_nodes(node);
}

}  // namespace

template <typename Code>
void grow(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
          const std::int32_t* node, int threads) {
    const bool weighted = builder.config.weighted;
    if (builder.config.n_classes && weighted)
        grow_with<Code, ClassNodeTargets<true>>(builder, columns, targets, node, threads);
    else if (builder.config.n_classes)
        grow_with<Code, ClassNodeTargets<false>>(builder, columns, targets, node, threads);
    else if (weighted)
        grow_with<Code, MomentNodeTargets<true>>(builder, columns, targets, node, threads);
    else
        grow_with<Code, MomentNodeTargets<false>>(builder, columns, targets, node, threads);
}

template <typename Code>
std::vector<std::uint64_t> presort(const Columns<Code>& columns, int threads) {
    const std::size_t n = columns.rows, p = columns.count();
    std::vector<LargeEntry> all(p * n);
    for_segments({p, p}, threads_for(10.0 * double(p * n), threads),
                 [&](std::size_t j, int, Interrupt&) {
                     LargeEntry* own = all.data() + j * n;
                     std::vector<LargeEntry> spare(n);
                     for (std::size_t i = 0; i < n; ++i)
                         own[i] = LargeEntry(columns.column(j)[i]) << kLargeBits | LargeEntry(i);
                     const LargeEntry* sorted =
                         radix_sort(own, spare.data(), n, kLargeBits,
                                    kLargeBits + bits_of(columns.columns[j].missing_code()));
                     if (sorted != own) std::copy_n(sorted, n, own);
                 });
    return all;
}

template std::vector<std::uint64_t> presort(const Columns<std::uint8_t>&, int);
template std::vector<std::uint64_t> presort(const Columns<std::uint16_t>&, int);
template std::vector<std::uint64_t> presort(const Columns<std::uint32_t>&, int);

template void grow(TreeBuilder&, const Columns<std::uint8_t>&, const Targets&, const std::int32_t*,
                   int);
template void grow(TreeBuilder&, const Columns<std::uint16_t>&, const Targets&, const std::int32_t*,
                   int);
template void grow(TreeBuilder&, const Columns<std::uint32_t>&, const Targets&, const std::int32_t*,
                   int);

}  // namespace ceiba::tree
