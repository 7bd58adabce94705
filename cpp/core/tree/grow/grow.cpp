// Growth of a tree on rows in memory (grow, presort).
//
// Large nodes are split one after the other, their columns distributed over the threads: a column
// with few codes by a histogram (that of the largest branch is the parent's minus those of the
// other branches), one with many codes by sorting. Without a limit on leaves, nodes that fit into
// the cache are grown to the end in parallel (SubtreeGrower).
#include <algorithm>
#include <memory>
#include <ranges>

#include "common/parallel.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/histogram_store.hpp"
#include "tree/grow/node_search.hpp"
#include "tree/grow/row_store.hpp"
#include "tree/grow/split_order.hpp"
#include "tree/grow/subtree_grower.hpp"

namespace ceiba::tree {
namespace {

// Columns whose histogram has at most this many numbers are counted, the others are sorted.
constexpr std::size_t kMaxHistogramSize = 16384;

template <typename Code, typename Rows>
class InMemoryGrower {
  public:
    InMemoryGrower(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
                   int threads)
        : builder_(builder),
          columns_(columns),
          targets_(targets),
          search_(builder, columns, targets, threads),
          histograms_(builder.config.max_histogram_bytes) {
        // The entries of all columns and their spare copy should stay in the second-level cache.
        const std::size_t fitting_rows =
            (std::size_t(1) << 20) / (8 * std::max<std::size_t>(1, columns.count()));
        max_subtree_rows_ = std::clamp<std::size_t>(fitting_rows, 256, 16384);
        offsets_.push_back(0);
        for (const Column& column : columns.columns)
            offsets_.push_back(offsets_.back() + (has_histogram(column) ? column.n_codes + 1 : 0));
        subtrees_allowed_ =
            std::all_of(columns.columns.begin(), columns.columns.end(),
                        [](const Column& c) { return !c.nominal || c.n_codes < kMaxSmallCode; });
    }

    void grow_from_root() {
        has_all_rows_ = true;
        rows_.clear(builder_.config);
        rows_.reserve(columns_.rows);
        for (std::size_t i = 0; i < columns_.rows; ++i) rows_.add(targets_, i);
        builder_.add(0, 1);
        assign_rows(0, 0, rows_.size());
        builder_.config.root_weight = double(builder_.weight(0));
        run({0});
    }

    // Gather the rows of the open nodes only, node by node and in row order.
    void grow_open_nodes(const std::int32_t* node) {
        std::vector<std::uint32_t> rows;
        for (std::size_t i = 0; i < columns_.rows; ++i)
            if (node[i] >= 0) rows.push_back(std::uint32_t(i));
        RowPartition partition;
        std::vector<std::uint32_t> buffer(rows.size());
        const std::vector<std::size_t>& begin = partition.split(
            rows.size(), builder_.nodes.size(), [&](std::size_t i) { return node[rows[i]]; },
            RowValues{rows.data(), buffer.data()});
        rows_.clear(builder_.config);
        rows_.reserve(rows.size());
        for (const std::uint32_t row : rows) rows_.add(targets_, row);
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
    std::size_t begin_of(std::size_t node) const { return std::size_t(builder_.nodes[node].begin); }
    std::size_t end_of(std::size_t node) const { return std::size_t(builder_.nodes[node].end); }
    std::size_t n_rows(std::size_t node) const { return end_of(node) - begin_of(node); }
    std::span<const std::uint32_t> rows_of(std::size_t node) const {
        return rows_.rows(begin_of(node), end_of(node));
    }
    bool open(std::size_t node) const { return builder_.nodes[node].reason == Reason::kOpen; }
    bool large(std::size_t node) const { return n_rows(node) > max_subtree_rows_; }

    void assign_rows(std::size_t node, std::size_t begin, std::size_t end) {
        builder_.nodes[node].begin = std::uint32_t(begin);
        builder_.nodes[node].end = std::uint32_t(end);
        compute_totals(builder_, node, std::views::iota(0u, std::uint32_t(end - begin)),
                       rows_.view(begin), rows_of(node).data(), targets_, search_.finder(0));
    }

    void run(const std::vector<std::int32_t>& open_nodes) {
        if (!builder_.config.limits_leaves()) return grow_unordered(open_nodes);
        // With a limit on leaves, split one node after the other. Nodes that were split before are
        // visited again, since they count towards the leaves.
        for (const std::int32_t node : open_nodes) evaluate_if_open(std::size_t(node));
        for_splits_in_order(builder_, [&](std::size_t node) {
            search_.check_interrupt();
            if (builder_.nodes[node].expanded()) return;
            expand(node);
            for (std::int32_t b = 0; b < builder_.nodes[node].n_branches; ++b)
                evaluate_if_open(std::size_t(builder_.nodes[node].child + b));
        });
    }

    // Without a limit on leaves the order is free: split the large nodes first, then all small
    // ones.
    void grow_unordered(std::vector<std::int32_t> pending) {
        std::vector<std::size_t> small;
        std::reverse(pending.begin(), pending.end());
        while (!pending.empty()) {
            search_.check_interrupt();
            const auto node = std::size_t(pending.back());
            pending.pop_back();
            if (open(node) && !large(node) && subtrees_allowed_) {
                small.push_back(node);
                continue;
            }
            evaluate_if_open(node);
            if (builder_.nodes[node].reason != Reason::kSplit) continue;
            expand(node);
            for (std::int32_t b = builder_.nodes[node].n_branches; b-- > 0;)
                pending.push_back(builder_.nodes[node].child + b);
        }
        if (!small.empty()) grow_subtrees(small);
    }

    // Start with the largest nodes, so that no thread is left with a large one at the end.
    void grow_subtrees(std::vector<std::size_t>& nodes) {
        std::stable_sort(nodes.begin(), nodes.end(),
                         [&](std::size_t a, std::size_t b) { return n_rows(a) > n_rows(b); });
        std::vector<std::unique_ptr<TreeBuilder>> subtrees(nodes.size());
        std::vector<std::unique_ptr<SubtreeGrower<Code, Rows>>> workers(
            std::size_t(search_.threads()));
        double work = 0;
        for (const std::size_t node : nodes) work += 10.0 * double(n_rows(node) * columns_.count());
        const auto task = [&](std::size_t t, int thread, Interrupt& interrupt) {
            auto& worker = workers[std::size_t(thread)];
            if (!worker)
                worker = std::make_unique<SubtreeGrower<Code, Rows>>(columns_, targets_,
                                                                     search_.finder(thread));
            subtrees[t] = std::make_unique<TreeBuilder>(builder_.subtree(nodes[t]));
            worker->grow(*subtrees[t], rows_of(nodes[t]), rows_.view(begin_of(nodes[t])), interrupt,
                         thread);
        };
        for_segments({nodes.size(), nodes.size()}, threads_for(work, search_.threads()), task);
        for (std::size_t t = 0; t < nodes.size(); ++t) {
            builder_.append_subtree(nodes[t], *subtrees[t]);
            subtrees[t].reset();
        }
    }

    // Find the best split of a node, column by column.
    void evaluate_if_open(std::size_t node) {
        if (!open(node)) return;
        if (needs_bins(node) && !histograms_.contains(node))
            histograms_.put(node, count_bins(node));
        const NodeCell cell = builder_.node_cell(node);
        const Number* bins = histograms_.contains(node) ? histograms_.at(node).cells() : nullptr;
        search_.evaluate(node, 4.0 * double(n_rows(node)),
                         [&](std::size_t j, int thread, Candidate& best) {
                             find(node, cell, bins, j, thread, best);
                         });
        if (builder_.nodes[node].reason != Reason::kSplit) histograms_.erase(node);
    }

    void find(std::size_t node, const NodeCell& cell, const Number* bins, std::size_t j, int thread,
              Candidate& best) {
        const Column& column = columns_.columns[j];
        SplitFinder<Rows>& finder = search_.finder(thread);
        if (bins != nullptr && has_histogram(column))
            return finder.search_bins(cell, column, bins + offsets_[j] * builder_.size, best);
        const Rows rows = rows_.view(begin_of(node));
        if (columns_.sorted != nullptr && has_all_rows_ && node == 0)
            return finder.search_large(cell, column, rows,
                                       {columns_.sorted + j * columns_.rows, columns_.rows}, best);
        if constexpr (Rows::kIsClassification && !Rows::kWeighted) {
            const int bits = std::max(1, bits_of(std::uint32_t(rows.n_classes - 1)));
            if (bits + bits_of(column.missing_code()) <= 32)
                return finder.search_labels(
                    cell, column,
                    search_.template sorted<std::uint32_t>(
                        rows_of(node), j, bits, [&](std::size_t i) { return rows.label[i]; },
                        thread),
                    bits, best);
        }
        finder.search_large(cell, column, rows, search_.sorted(rows_of(node), j, thread), best);
    }

    bool needs_bins(std::size_t node) const {
        return open(node) && large(node) && offsets_.back() > 0;
    }

    Histogram<PlainCells> count_bins(std::size_t node) {
        Histogram<PlainCells> bins = histograms_.make(builder_.config);
        bins.begin(offsets_.back());
        const std::uint32_t* rows = rows_of(node).data();
        search_.for_columns(4.0 * double(n_rows(node)), columns_.count(), [&](std::size_t j, int) {
            if (!has_histogram(columns_.columns[j])) return;
            const Code* codes = columns_.column(j);
            bins.add(rows_.view(begin_of(node)), n_rows(node), offsets_[j],
                     [=](std::size_t i) { return codes[rows[i]]; });
        });
        return bins;
    }

    // Make the branches of a split node, with their rows and histograms.
    void expand(std::size_t node) {
        builder_.make_branches(node);
        partition_rows(node);
        builder_.assign_missing(node);
        builder_.bound_branches(node);
        const auto child = std::size_t(builder_.nodes[node].child);
        const std::size_t end = child + std::size_t(builder_.nodes[node].n_branches);
        std::size_t largest = child;
        for (std::size_t b = child + 1; b < end; ++b)
            if (n_rows(b) > n_rows(largest)) largest = b;
        histograms_.split(
            node, child, end, largest, [&](std::size_t b) { return needs_bins(b); },
            [&](std::size_t b) { return count_bins(b); });
    }

    void partition_rows(std::size_t node) {
        const Node n = builder_.nodes[node];
        const auto j = std::size_t(n.column);
        const Code* codes = columns_.column(j);
        const std::vector<std::size_t>& starts = with_branches(
            builder_, n, columns_.columns[j].missing_code(),
            [&](const auto& branch) -> const std::vector<std::size_t>& {
                return rows_.partition(begin_of(node), end_of(node), std::size_t(n.n_branches),
                                       [&](std::uint32_t row) { return branch(codes[row]); });
            });
        for (std::size_t b = 0; b + 1 < starts.size(); ++b)
            assign_rows(std::size_t(n.child) + b, begin_of(node) + starts[b],
                        begin_of(node) + starts[b + 1]);
    }

    TreeBuilder& builder_;
    const Columns<Code>& columns_;
    const Targets& targets_;
    std::size_t max_subtree_rows_;
    bool subtrees_allowed_;
    bool has_all_rows_ = false;  // the rows of the root are all rows, in order
    NodeSearch<Code, Rows> search_;
    std::vector<std::size_t> offsets_;  // of the codes of each column in a histogram
    HistogramStore<PlainCells> histograms_;
    RowStore<Rows> rows_;
};

}  // namespace

template <typename Code>
void grow(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
          const std::int32_t* node, int threads) {
    with_rows(builder.config, [&]<typename Rows>(std::type_identity<Rows>) {
        InMemoryGrower<Code, Rows> grower(builder, columns, targets, threads);
        node == nullptr ? grower.grow_from_root() : grower.grow_open_nodes(node);
    });
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
