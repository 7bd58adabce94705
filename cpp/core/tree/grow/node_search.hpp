// Totals of a node from its rows, and the search for its best split.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "common/parallel.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/tree_builder.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

// Compute the totals of a node. `positions` are its rows in `rows`; the row at a position has the
// index row_index[position] in the table and the weighted square square(position).
template <typename Rows, typename Positions, typename Square>
void compute_totals(TreeBuilder& builder, std::size_t node, const Positions& positions,
                    const Rows& rows, const std::uint32_t* row_index, const Targets& targets,
                    SplitFinder<Rows>& finder, const Square& square) {
    Number* cell = builder.cell(node);
    for (const std::uint32_t position : positions) rows.add(cell, position);
    if (positions.empty()) return builder.close_if_leaf(node);
    Node& n = builder.nodes[node];
    if (targets.value != nullptr) {
        for (const std::uint32_t position : positions) {
            const double value = targets.value[row_index[position]];
            n.min_target = std::min(n.min_target, value);
            n.max_target = std::max(n.max_target, value);
            if (targets.weighted_square != nullptr) n.squares += square(position);
        }
    }
    if (finder.needs_rows()) {
        const std::vector<std::uint32_t> all(positions.begin(), positions.end());
        const MedianSummary summary = finder.median_of(rows, all);
        n.median = summary.median;
        n.deviation = summary.deviation;
        n.term = -summary.deviation;
    } else {
        n.term = finder.term(cell);
    }
    builder.close_if_leaf(node);
}

// Rows that are not divided have the squares of the table.
template <typename Rows, typename Positions>
void compute_totals(TreeBuilder& builder, std::size_t node, const Positions& positions,
                    const Rows& rows, const std::uint32_t* row_index, const Targets& targets,
                    SplitFinder<Rows>& finder) {
    compute_totals(builder, node, positions, rows, row_index, targets, finder,
                   [&](std::size_t i) { return targets.weighted_square[row_index[i]]; });
}

// Columns in the order of the search, and the best split of each.
struct ColumnCandidates {
    std::vector<std::int32_t> columns;
    std::vector<Candidate> best;

    bool any_found() const {
        return std::any_of(best.begin(), best.end(), [](auto& each) { return each.found(); });
    }
    // Candidates of the columns, not yet searched.
    void reset() {
        best.resize(columns.size());
        for (Candidate& candidate : best) candidate.clear();
    }
};

// Search the first `n_first` columns of an order (0: all), then further ones one by one until a
// split is found. `find(i)` fills the candidates from index i on.
template <typename Find>
void evaluate_columns(ColumnSampler& order, std::size_t n_first, ColumnCandidates& found,
                      const Find& find) {
    found.columns.clear();
    while (order.has_more() && (n_first == 0 || found.columns.size() < n_first))
        found.columns.push_back(order.next());
    found.reset();
    find(0);
    if (found.any_found()) return;
    while (order.has_more() && (found.best.empty() || !found.best.back().found())) {
        found.columns.push_back(order.next());
        found.best.emplace_back();
        find(found.best.size() - 1);
    }
}

// Split searches at the nodes of one tree, their columns distributed over threads.
template <typename Code, typename Rows>
class NodeSearch {
  public:
    NodeSearch(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
               int threads)
        : builder_(builder),
          columns_(columns),
          threads_(threads),
          xlog2x_(xlog2x_table(builder.config, columns.rows)),
          buffers_(std::size_t(threads)) {
        SplitFinderSpec spec = split_finder_spec(builder.config);
        spec.xlog2x = {xlog2x_.data(), xlog2x_.size()};
        spec.values = targets.ranked;
        for (int t = 0; t < threads; ++t) finders_.push_back(make_split_finder<Rows>(spec));
    }

    SplitFinder<Rows>& finder(int thread) { return *finders_[std::size_t(thread)]; }
    int threads() const { return threads_; }

    void check_interrupt() {
        if (interrupt_.stopped(0) && interrupt_.by_user()) throw Interrupted();
    }

    // Call body(i, thread) for i < count, where each costs about `work` multiply-adds.
    template <typename Body>
    void for_columns(double work, std::size_t count, const Body& body) {
        for_segments({count, count}, threads_for(work * double(count), threads_),
                     [&](std::size_t i, int thread, Interrupt& interrupt) {
                         finder(thread).set_interrupt(&interrupt, thread);
                         body(i, thread);
                         finder(thread).set_interrupt(nullptr);
                     });
    }

    // Find the best split of a node, where find(column, thread, best) searches a column.
    template <typename Find>
    void evaluate(std::size_t node, double work, const Find& find) {
        builder_.begin_columns(node, order_);
        const auto n_first = std::size_t(builder_.config.columns_per_node);
        evaluate_columns(order_, n_first, found_, [&](std::size_t first) {
            check_interrupt();
            for_columns(work, found_.best.size() - first, [&](std::size_t i, int thread) {
                find(std::size_t(found_.columns[first + i]), thread, found_.best[first + i]);
            });
        });
        builder_.decide(node, found_.columns, found_.best);
    }

    // Sort rows by their codes in a column: entries of (code, low(i)), `bits` of them for the
    // latter.
    template <typename Entry, typename Low>
    std::span<const Entry> sorted(std::span<const std::uint32_t> rows, std::size_t j, int bits,
                                  const Low& low, int thread) {
        const std::size_t n = rows.size();
        auto& memory = std::get<std::vector<Entry>>(buffers_[std::size_t(thread)]);
        if (memory.size() < 2 * n) memory.resize(2 * n);
        Entry* entries = memory.data();
        const Code* codes = columns_.column(j);
        for (std::size_t i = 0; i < n; ++i)
            entries[i] = Entry(codes[rows[i]]) << bits | Entry(low(i));
        return {radix_sort(entries, entries + n, n, bits,
                           bits + bits_of(columns_.columns[j].missing_code())),
                n};
    }
    std::span<const LargeEntry> sorted(std::span<const std::uint32_t> rows, std::size_t j,
                                       int thread) {
        return sorted<LargeEntry>(rows, j, kLargeBits, [](std::size_t i) { return i; }, thread);
    }

  private:
    TreeBuilder& builder_;
    const Columns<Code>& columns_;
    int threads_;
    std::vector<double> xlog2x_;
    std::vector<std::unique_ptr<SplitFinder<Rows>>> finders_;
    std::vector<std::tuple<std::vector<std::uint32_t>, std::vector<LargeEntry>>> buffers_;
    ColumnSampler order_;
    ColumnCandidates found_;
    Interrupt interrupt_;
};

}  // namespace ceiba::tree
