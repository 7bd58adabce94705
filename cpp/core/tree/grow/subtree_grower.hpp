// Growth of a subtree whose rows fit into the cache, by one thread.
//
// Every column is sorted once; below that, a split partitions the sorted entries of each column and
// keeps their order, so that a node costs one pass over its entries and no sorting. Shafer, Agrawal
// & Mehta (1996), "SPRINT: a scalable parallel classifier for data mining", VLDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/grow/evaluate_node.hpp"
#include "tree/grow/tree_builder.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

// Larger codes do not fit beside a position: the column is ranked anew within the subtree.
constexpr std::uint32_t kMaxSmallCode = 0xFFFF;

template <typename Code, typename Rows>
class SubtreeGrower {
  public:
    SubtreeGrower(const Columns<Code>& columns, const Targets& targets, SplitFinder<Rows>& finder)
        : columns_(columns), targets_(targets), finder_(finder) {}

    // Grow `subtree`, whose only node has these rows (indices in the table) and their targets.
    void grow(TreeBuilder& subtree, std::span<const std::uint32_t> rows, const Rows& node_targets,
              Interrupt& interrupt, int thread) {
        rows_ = rows;
        node_targets_ = node_targets;
        finder_.set_interrupt(&interrupt, thread);
        n_ = rows.size();
        sort_columns();
        positions_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) positions_[i] = std::uint32_t(i);
        branch_.resize(n_);
        spare_.resize(n_);
        spare_positions_.resize(n_);
        std::vector<OpenNode> open{{0, 0, n_, varying(subtree.excluded)}};
        while (!open.empty() && !interrupt.stopped(thread)) {
            const OpenNode node = std::move(open.back());
            open.pop_back();
            split(subtree, node, open);
        }
        finder_.set_interrupt(nullptr);
    }

  private:
    struct OpenNode {
        std::size_t node, begin, end;
        std::vector<std::int32_t> columns;  // that still vary
    };

    SmallEntry* entries(std::size_t j) { return entries_.data() + j * n_; }
    bool is_wide(std::size_t j) const { return columns_.columns[j].n_codes >= kMaxSmallCode; }
    std::uint32_t missing_code(std::size_t j) const {
        return is_wide(j) ? kMaxSmallCode : columns_.columns[j].missing_code();
    }

    void sort_columns() {
        entries_.resize(columns_.count() * n_);
        ranks_.resize(columns_.count());
        values_.resize(columns_.count());
        distances_.resize(columns_.count());
        for (std::size_t j = 0; j < columns_.count(); ++j) {
            if (is_wide(j))
                rank_column(j);
            else
                sort_column(j);
        }
    }

    // Sort the entries (code, position) of a column whose codes fit.
    void sort_column(std::size_t j) {
        const Code* codes = columns_.column(j);
        const std::uint32_t n_codes = columns_.columns[j].n_codes;
        SmallEntry* out = entries(j);
        if (n_codes >= 4 * n_ + 256) {
            small_.resize(2 * n_);
            for (std::size_t i = 0; i < n_; ++i)
                small_[i] = SmallEntry(codes[rows_[i]]) << kSmallBits | SmallEntry(i);
            const SmallEntry* sorted = radix_sort(small_.data(), small_.data() + n_, n_, kSmallBits,
                                                  kSmallBits + bits_of(n_codes));
            std::copy_n(sorted, n_, out);
            return;
        }
        // Counting sort, with one counter per code.
        counts_.assign(n_codes + 2, 0);
        for (std::size_t i = 0; i < n_; ++i) ++counts_[std::size_t(codes[rows_[i]]) + 1];
        for (std::size_t c = 1; c < counts_.size(); ++c) counts_[c] += counts_[c - 1];
        for (std::size_t i = 0; i < n_; ++i) {
            const Code code = codes[rows_[i]];
            out[counts_[code]++] = SmallEntry(code) << kSmallBits | SmallEntry(i);
        }
    }

    // Replace codes that do not fit beside a position by their ranks within the subtree.
    void rank_column(std::size_t j) {
        const Code* codes = columns_.column(j);
        const std::uint32_t missing = columns_.columns[j].missing_code();
        large_.resize(2 * n_);
        for (std::size_t i = 0; i < n_; ++i)
            large_[i] = LargeEntry(codes[rows_[i]]) << kSmallBits | LargeEntry(i);
        const LargeEntry* sorted = radix_sort(large_.data(), large_.data() + n_, n_, kSmallBits,
                                              kSmallBits + bits_of(missing));
        SmallEntry* out = entries(j);
        std::vector<std::uint32_t>& rank = ranks_[j];
        rank.clear();
        for (std::size_t i = 0; i < n_; ++i) {
            const auto code = std::uint32_t(sorted[i] >> kSmallBits);
            const auto position = SmallEntry(sorted[i] & (kMaxSmallCode));
            if (code != missing && (rank.empty() || rank.back() != code)) rank.push_back(code);
            const SmallEntry small = code == missing ? kMaxSmallCode : SmallEntry(rank.size() - 1);
            out[i] = small << kSmallBits | position;
        }
        const Column& column = columns_.columns[j];
        values_[j].clear();
        distances_[j].clear();
        for (const std::uint32_t code : rank) {
            if (column.values != nullptr) values_[j].push_back(column.values[code]);
            if (column.distances != nullptr) distances_[j].push_back(column.distances[code]);
        }
    }

    // Columns that vary, without those that must not be tested again.
    std::vector<std::int32_t> varying(const std::vector<std::int32_t>& excluded) {
        std::vector<std::int32_t> found;
        for (std::size_t j = 0; j < columns_.count(); ++j)
            if (entries(j)[0] >> kSmallBits != entries(j)[n_ - 1] >> kSmallBits)
                found.push_back(std::int32_t(j));
        std::erase_if(found, [&](std::int32_t j) {
            return std::find(excluded.begin(), excluded.end(), j) != excluded.end();
        });
        return found;
    }

    void split(TreeBuilder& subtree, const OpenNode& node, std::vector<OpenNode>& open) {
        std::vector<std::int32_t> varying_columns = evaluate_columns(subtree, node);
        subtree.decide(node.node, columns_searched_, best_);
        if (subtree.nodes[node.node].reason != Reason::kSplit) return;
        if (!subtree.may_reuse(subtree.nodes[node.node].nominal))
            std::erase(varying_columns, subtree.nodes[node.node].column);
        find_branches(subtree, node);
        subtree.make_branches(node.node);
        partition_positions(subtree, node);
        subtree.assign_missing(node.node);
        const auto child = std::size_t(subtree.nodes[node.node].child);
        const auto n_branches = std::size_t(subtree.nodes[node.node].n_branches);
        bool any = false;
        for (std::size_t b = 0; b < n_branches; ++b)
            any = any || subtree.nodes[child + b].reason == Reason::kOpen;
        if (!any) return;
        for (const std::int32_t j : varying_columns)
            partition_entries(node, n_branches, entries(std::size_t(j)));
        std::size_t begin = node.begin;
        for (std::size_t b = 0; b < n_branches; ++b) {
            const std::size_t end = begin + sizes_[b];
            if (subtree.nodes[child + b].reason == Reason::kOpen)
                open.push_back({child + b, begin, end, varying_columns});
            begin = end;
        }
    }

    // Search the columns of a node, and return those that vary in it.
    std::vector<std::int32_t> evaluate_columns(TreeBuilder& subtree, const OpenNode& node) {
        const NodeCell cell = subtree.node_cell(node.node);
        columns_searched_.clear();
        best_.clear();
        const std::size_t limit = std::size_t(subtree.config.columns_per_node);
        if (limit == 0 || limit >= columns_.count())
            return evaluate_all_columns(subtree, node, cell);
        const std::vector<std::int32_t> order = subtree.columns_to_search(node.node);
        bool found = false;
        for (std::size_t i = 0; i < order.size() && (i < limit || !found); ++i) {
            search_column(cell, node, order[i]);
            found = found || best_.back().found();
        }
        return node.columns;
    }

    // Search all columns, in column order or in random order, except those that do not vary.
    std::vector<std::int32_t> evaluate_all_columns(TreeBuilder& subtree, const OpenNode& node,
                                                   const NodeCell& cell) {
        std::vector<std::int32_t> varying_columns, order = node.columns;
        if (subtree.config.columns_per_node > 0) {
            order = subtree.columns_to_search(node.node);
            std::erase_if(order, [&](std::int32_t j) {
                return !std::binary_search(node.columns.begin(), node.columns.end(), j);
            });
        }
        for (const std::int32_t j : order)
            if (search_column(cell, node, j)) varying_columns.push_back(j);
        std::sort(varying_columns.begin(), varying_columns.end());
        return varying_columns;
    }

    bool search_column(const NodeCell& cell, const OpenNode& node, std::int32_t column) {
        const auto j = std::size_t(column);
        best_.emplace_back();
        columns_searched_.push_back(column);
        Candidate& best = best_.back();
        Column own = columns_.columns[j];
        if (own.values != nullptr && is_wide(j)) own.values = values_[j].data();
        if (own.distances != nullptr && is_wide(j)) own.distances = distances_[j].data();
        finder_.search_small(cell, own, missing_code(j), node_targets_,
                             {entries(j) + node.begin, node.end - node.begin}, best);
        if (best.found() && is_wide(j)) {
            best.threshold_code = ranks_[j][best.threshold_code];
            best.next_code = ranks_[j][best.next_code];
            for (auto& [code, next_code] : best.thresholds) {
                code = ranks_[j][code];
                next_code = ranks_[j][next_code];
            }
        }
        return best.has_candidates || best.column_varies;
    }

    // Find the branch of every row from the entries of the column of the split.
    void find_branches(const TreeBuilder& subtree, const OpenNode& node) {
        const Node& n = subtree.nodes[node.node];
        const auto j = std::size_t(n.column);
        const std::uint32_t missing = missing_code(j);
        const SmallEntry* own = entries(j);
        for (std::size_t i = node.begin; i < node.end; ++i) {
            std::uint32_t code = own[i] >> kSmallBits;
            std::int32_t branch = n.missing_branch;
            if (code != missing) {
                if (is_wide(j)) code = ranks_[j][code];
                branch = subtree.branch(n, code, columns_.columns[j].missing_code());
            }
            branch_[own[i] & kMaxSmallCode] = std::uint16_t(branch);
        }
    }

    // Partition the positions, which makes the rows of a branch contiguous, and compute its totals.
    void partition_positions(TreeBuilder& subtree, const OpenNode& node) {
        const auto child = std::size_t(subtree.nodes[node.node].child);
        const auto n_branches = std::size_t(subtree.nodes[node.node].n_branches);
        sizes_.assign(n_branches, 0);
        for (std::size_t i = node.begin; i < node.end; ++i) ++sizes_[branch_[positions_[i]]];
        next_.assign(n_branches, node.begin);
        for (std::size_t b = 1; b < n_branches; ++b) next_[b] = next_[b - 1] + sizes_[b - 1];
        for (std::size_t i = node.begin; i < node.end; ++i)
            spare_positions_[next_[branch_[positions_[i]]]++] = positions_[i];
        std::copy(spare_positions_.begin() + std::ptrdiff_t(node.begin),
                  spare_positions_.begin() + std::ptrdiff_t(node.end),
                  positions_.begin() + std::ptrdiff_t(node.begin));
        std::size_t begin = node.begin;
        for (std::size_t b = 0; b < n_branches; ++b) {
            compute_totals(subtree, child + b, std::span(positions_).subspan(begin, sizes_[b]),
                           node_targets_, rows_.data(), targets_, finder_);
            begin += sizes_[b];
        }
    }

    void partition_entries(const OpenNode& node, std::size_t n_branches, SmallEntry* own) {
        if (n_branches > 2) return partition_many(node, n_branches, own);
        SmallEntry* left = own + node.begin;
        SmallEntry* right = spare_.data();
        // Write each entry to both sides and advance one of them: there is no branch to mispredict.
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const SmallEntry entry = own[i];
            const std::size_t goes_right = branch_[entry & kMaxSmallCode];
            *left = entry;
            *right = entry;
            left += 1 - goes_right;
            right += goes_right;
        }
        std::copy(spare_.data(), right, left);
    }

    void partition_many(const OpenNode& node, std::size_t n_branches, SmallEntry* own) {
        next_.assign(n_branches, 0);
        for (std::size_t b = 1; b < n_branches; ++b) next_[b] = next_[b - 1] + sizes_[b - 1];
        for (std::size_t i = node.begin; i < node.end; ++i)
            spare_[next_[branch_[own[i] & kMaxSmallCode]]++] = own[i];
        std::copy_n(spare_.begin(), node.end - node.begin, own + node.begin);
    }

    const Columns<Code>& columns_;
    const Targets& targets_;
    SplitFinder<Rows>& finder_;
    std::span<const std::uint32_t> rows_;
    Rows node_targets_;
    std::size_t n_ = 0;
    std::vector<SmallEntry> entries_, spare_, small_;
    std::vector<LargeEntry> large_;
    std::vector<std::vector<std::uint32_t>> ranks_;
    std::vector<std::vector<double>> values_;  // of the ranks
    std::vector<std::vector<std::uint64_t>> distances_;
    std::vector<std::uint32_t> counts_, positions_, spare_positions_;
    std::vector<std::uint16_t> branch_;
    std::vector<std::size_t> sizes_, next_;
    std::vector<std::int32_t> columns_searched_;
    std::vector<Candidate> best_;
};

}  // namespace ceiba::tree
