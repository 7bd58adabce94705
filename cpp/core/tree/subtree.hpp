// A subtree whose rows fit the cache, grown to its end by one thread.
//
// Every column is sorted once; below that, a split parts the sorted entries of each column and
// keeps their order, so that a node costs one pass over its entries and no sorting. Shafer, Agrawal
// & Mehta (1996), "SPRINT: a scalable parallel classifier for data mining", VLDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "tree/finder.hpp"
#include "tree/growth.hpp"
#include "tree/measure.hpp"
#include "tree/sort.hpp"

namespace ceiba::tree {

// Codes from here on do not fit beside a row: the column is ranked anew within the subtree.
constexpr std::uint32_t kWide = 0xFFFF;

template <typename Code, typename Rows>
class Subtree {
  public:
    Subtree(const Columns<Code>& columns, const Targets& targets, Finder<Rows>& finder)
        : columns_(columns), targets_(targets), finder_(finder) {}

    // Grow `part`, whose only node has these rows: numbers in the table, and targets beside them.
    void grow(Growth& part, std::span<const std::uint32_t> rows, const Rows& payload,
              Interrupt& interrupt, int thread) {
        rows_ = rows;
        payload_ = payload;
        finder_.listen(&interrupt, thread);
        n_ = rows.size();
        sort_columns();
        places_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) places_[i] = std::uint32_t(i);
        branch_.resize(n_);
        spare_.resize(n_);
        spare_places_.resize(n_);
        std::vector<Open> open{{0, 0, n_, varying(part.used)}};
        while (!open.empty() && !interrupt.stopped(thread)) {
            const Open node = std::move(open.back());
            open.pop_back();
            split(part, node, open);
        }
        finder_.listen(nullptr);
    }

  private:
    struct Open {
        std::size_t node, begin, end;
        std::vector<std::int32_t> columns;  // those that still vary
    };

    SmallEntry* entries(std::size_t j) { return entries_.data() + j * n_; }
    bool wide(std::size_t j) const { return columns_.columns[j].n_codes >= kWide; }
    std::uint32_t gap_code(std::size_t j) const {
        return wide(j) ? kWide : columns_.columns[j].gap();
    }

    void sort_columns() {
        entries_.resize(columns_.count() * n_);
        ranks_.resize(columns_.count());
        values_.resize(columns_.count());
        for (std::size_t j = 0; j < columns_.count(); ++j) {
            if (wide(j))
                rank_column(j);
            else
                sort_column(j);
        }
    }

    // Entries (code, place) of a column whose codes fit.
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
        // Counting sort: as many counters as codes.
        counts_.assign(n_codes + 2, 0);
        for (std::size_t i = 0; i < n_; ++i) ++counts_[std::size_t(codes[rows_[i]]) + 1];
        for (std::size_t c = 1; c < counts_.size(); ++c) counts_[c] += counts_[c - 1];
        for (std::size_t i = 0; i < n_; ++i) {
            const Code code = codes[rows_[i]];
            out[counts_[code]++] = SmallEntry(code) << kSmallBits | SmallEntry(i);
        }
    }

    // Codes too large to stand beside a place become ranks among those of the subtree.
    void rank_column(std::size_t j) {
        const Code* codes = columns_.column(j);
        const std::uint32_t gap = columns_.columns[j].gap();
        large_.resize(2 * n_);
        for (std::size_t i = 0; i < n_; ++i)
            large_[i] = LargeEntry(codes[rows_[i]]) << kSmallBits | LargeEntry(i);
        const LargeEntry* sorted = radix_sort(large_.data(), large_.data() + n_, n_, kSmallBits,
                                              kSmallBits + bits_of(gap));
        SmallEntry* out = entries(j);
        std::vector<std::uint32_t>& rank = ranks_[j];
        rank.clear();
        for (std::size_t i = 0; i < n_; ++i) {
            const auto code = std::uint32_t(sorted[i] >> kSmallBits);
            const auto place = SmallEntry(sorted[i] & (kWide));
            if (code != gap && (rank.empty() || rank.back() != code)) rank.push_back(code);
            const SmallEntry small = code == gap ? kWide : SmallEntry(rank.size() - 1);
            out[i] = small << kSmallBits | place;
        }
        if (columns_.columns[j].values == nullptr) return;
        values_[j].clear();
        for (const std::uint32_t code : rank)
            values_[j].push_back(columns_.columns[j].values[code]);
    }

    // Columns that vary, without those that were tested above and may not be again.
    std::vector<std::int32_t> varying(const std::vector<std::int32_t>& used) {
        std::vector<std::int32_t> found;
        for (std::size_t j = 0; j < columns_.count(); ++j)
            if (entries(j)[0] >> kSmallBits != entries(j)[n_ - 1] >> kSmallBits)
                found.push_back(std::int32_t(j));
        std::erase_if(found, [&](std::int32_t j) {
            return std::find(used.begin(), used.end(), j) != used.end();
        });
        return found;
    }

    void split(Growth& part, const Open& node, std::vector<Open>& open) {
        std::vector<std::int32_t> left = look(part, node);
        part.decide(node.node, looked_at_, best_);
        if (part.nodes[node.node].reason != Reason::kSplit) return;
        if (!part.reusable(part.nodes[node.node].nominal))
            std::erase(left, part.nodes[node.node].column);
        mark(part, node);
        part.branch_out(node.node);
        part_places(part, node);
        part.settle_gaps(node.node);
        const auto child = std::size_t(part.nodes[node.node].child);
        const auto branches = std::size_t(part.nodes[node.node].branches);
        bool any = false;
        for (std::size_t b = 0; b < branches; ++b)
            any = any || part.nodes[child + b].reason == Reason::kOpen;
        if (!any) return;
        for (const std::int32_t j : left) part_entries(node, branches, entries(std::size_t(j)));
        std::size_t begin = node.begin;
        for (std::size_t b = 0; b < branches; ++b) {
            const std::size_t end = begin + starts_[b];
            if (part.nodes[child + b].reason == Reason::kOpen)
                open.push_back({child + b, begin, end, left});
            begin = end;
        }
    }

    // Candidates of the columns that the node looks at; returns the columns that vary in it.
    std::vector<std::int32_t> look(Growth& part, const Open& node) {
        const Node& n = part.nodes[node.node];
        const NodeCell cell{part.cell(node.node), n.term, n.path};
        looked_at_.clear();
        best_.clear();
        const std::size_t wanted = std::size_t(part.rules.columns_a_node);
        if (wanted == 0 || wanted >= columns_.count()) return look_at_all(part, node, cell);
        const std::vector<std::int32_t> drawn = part.drawn(node.node);
        bool found = false;
        for (std::size_t i = 0; i < drawn.size() && (i < wanted || !found); ++i) {
            find(cell, node, drawn[i]);
            found = found || best_.back().found();
        }
        return node.columns;
    }

    // In their order or in drawn order; those that do not vary are passed over.
    std::vector<std::int32_t> look_at_all(Growth& part, const Open& node, const NodeCell& cell) {
        std::vector<std::int32_t> left, order = node.columns;
        if (part.rules.columns_a_node > 0) {
            order = part.drawn(node.node);
            std::erase_if(order, [&](std::int32_t j) {
                return !std::binary_search(node.columns.begin(), node.columns.end(), j);
            });
        }
        for (const std::int32_t j : order)
            if (find(cell, node, j)) left.push_back(j);
        std::sort(left.begin(), left.end());
        return left;
    }

    bool find(const NodeCell& cell, const Open& node, std::int32_t column) {
        const auto j = std::size_t(column);
        best_.emplace_back();
        looked_at_.push_back(column);
        Candidate& best = best_.back();
        Column own = columns_.columns[j];
        if (own.values != nullptr && wide(j)) own.values = values_[j].data();
        finder_.small(cell, own, gap_code(j), payload_,
                      {entries(j) + node.begin, node.end - node.begin}, best);
        if (best.found() && wide(j)) {
            best.cut = ranks_[j][best.cut];
            best.next = ranks_[j][best.next];
            for (auto& [cut, next] : best.cuts) {
                cut = ranks_[j][cut];
                next = ranks_[j][next];
            }
        }
        return best.seen || best.varies;
    }

    // The branch of every row, told by the entries of the column that was chosen.
    void mark(const Growth& part, const Open& node) {
        const Node& n = part.nodes[node.node];
        const auto j = std::size_t(n.column);
        const std::uint32_t gap = gap_code(j);
        const SmallEntry* own = entries(j);
        for (std::size_t i = node.begin; i < node.end; ++i) {
            std::uint32_t code = own[i] >> kSmallBits;
            std::int32_t branch = n.gap;
            if (code != gap) {
                if (wide(j)) code = ranks_[j][code];
                branch = part.branch(n, code, columns_.columns[j].gap());
            }
            branch_[own[i] & kWide] = std::uint16_t(branch);
        }
    }

    // Part the places, and measure the branches: their rows lie side by side now.
    void part_places(Growth& part, const Open& node) {
        const auto child = std::size_t(part.nodes[node.node].child);
        const auto branches = std::size_t(part.nodes[node.node].branches);
        starts_.assign(branches, 0);
        for (std::size_t i = node.begin; i < node.end; ++i) ++starts_[branch_[places_[i]]];
        next_.assign(branches, node.begin);
        for (std::size_t b = 1; b < branches; ++b) next_[b] = next_[b - 1] + starts_[b - 1];
        for (std::size_t i = node.begin; i < node.end; ++i)
            spare_places_[next_[branch_[places_[i]]]++] = places_[i];
        std::copy(spare_places_.begin() + std::ptrdiff_t(node.begin),
                  spare_places_.begin() + std::ptrdiff_t(node.end),
                  places_.begin() + std::ptrdiff_t(node.begin));
        std::size_t begin = node.begin;
        for (std::size_t b = 0; b < branches; ++b) {
            measure(part, child + b, std::span(places_).subspan(begin, starts_[b]), payload_,
                    rows_.data(), targets_, finder_);
            begin += starts_[b];
        }
    }

    void part_entries(const Open& node, std::size_t branches, SmallEntry* own) {
        if (branches > 2) return part_many(node, branches, own);
        SmallEntry* left = own + node.begin;
        SmallEntry* right = spare_.data();
        // Both are written, one is moved on: no branch to mispredict.
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const SmallEntry entry = own[i];
            const std::size_t goes_right = branch_[entry & kWide];
            *left = entry;
            *right = entry;
            left += 1 - goes_right;
            right += goes_right;
        }
        std::copy(spare_.data(), right, left);
    }

    void part_many(const Open& node, std::size_t branches, SmallEntry* own) {
        next_.assign(branches, 0);
        for (std::size_t b = 1; b < branches; ++b) next_[b] = next_[b - 1] + starts_[b - 1];
        for (std::size_t i = node.begin; i < node.end; ++i)
            spare_[next_[branch_[own[i] & kWide]]++] = own[i];
        std::copy_n(spare_.begin(), node.end - node.begin, own + node.begin);
    }

    const Columns<Code>& columns_;
    const Targets& targets_;
    Finder<Rows>& finder_;
    std::span<const std::uint32_t> rows_;
    Rows payload_;
    std::size_t n_ = 0;
    std::vector<SmallEntry> entries_, spare_, small_;
    std::vector<LargeEntry> large_;
    std::vector<std::vector<std::uint32_t>> ranks_;
    std::vector<std::vector<double>> values_;  // of the ranks
    std::vector<std::uint32_t> counts_, places_, spare_places_;
    std::vector<std::uint16_t> branch_;
    std::vector<std::size_t> starts_, next_;
    std::vector<std::int32_t> looked_at_;
    std::vector<Candidate> best_;
};

}  // namespace ceiba::tree
