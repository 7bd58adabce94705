// Growing on rows in memory.
//
// Large nodes are split one after the other, their columns spread over the threads: a column with
// few codes by a histogram (the largest branch is its node less the other branches), one with many
// by sorting its codes. Nodes small enough for the cache are grown to their ends side by side
// (Subtree).
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <unordered_map>

#include "parallel.hpp"
#include "tree/finder.hpp"
#include "tree/logarithms.hpp"
#include "tree/look.hpp"
#include "tree/measure.hpp"
#include "tree/payload.hpp"
#include "tree/problem.hpp"
#include "tree/sort.hpp"
#include "tree/subtree.hpp"

namespace ceiba::tree {
namespace {

// Columns whose histogram has at most this many numbers are counted, others sorted.
constexpr std::size_t kCounted = 16384;

struct Buffers {
    std::vector<std::uint32_t> labels;
    std::vector<LargeEntry> entries;
};

template <typename Code, typename Payload>
class Grower {
  public:
    using Rows = typename Payload::Rows;

    Grower(Growth& growth, const Columns<Code>& columns, const Targets& targets, int threads)
        : growth_(growth), columns_(columns), targets_(targets), threads_(threads) {
        // Entries and their spare copy of all columns are to stay in the second-level cache.
        const std::size_t fits =
            (std::size_t(1) << 20) / (8 * std::max<std::size_t>(1, columns.count()));
        small_ = std::clamp<std::size_t>(fits, 256, 16384);
        table_ = xlog2x_table(growth.rules, columns.rows);
        FinderSpec spec = finder_spec(growth.rules);
        spec.xlog2x = {table_.data(), table_.size()};
        spec.values = targets.ranked;
        for (int t = 0; t < threads; ++t) finders_.push_back(make_finder<Rows>(spec));
        buffers_.resize(std::size_t(threads));
        offsets_.push_back(0);
        for (const Column& column : columns.columns)
            offsets_.push_back(offsets_.back() +
                               (counted(column) ? (column.n_codes + 1) * growth.size : 0));
        narrow_ = std::all_of(columns.columns.begin(), columns.columns.end(),
                              [](const Column& c) { return !c.nominal || c.n_codes < kWide; });
    }

    void whole() {
        whole_ = true;
        rows_.resize(columns_.rows);
        for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = std::uint32_t(i);
        payload_.emplace_back(targets_, growth_.rules, rows_);
        growth_.add(0, 1);
        take_rows(0, 0, rows_.size());
        growth_.rules.root_weight = double(growth_.weight(0));
        run({0});
    }

    // Rows of open nodes only, node by node and in their own order.
    void rest(const std::int32_t* node) {
        std::vector<std::size_t> begin(growth_.nodes.size() + 1, 0);
        for (std::size_t i = 0; i < columns_.rows; ++i)
            if (node[i] >= 0) ++begin[std::size_t(node[i]) + 1];
        for (std::size_t v = 1; v < begin.size(); ++v) begin[v] += begin[v - 1];
        rows_.resize(begin.back());
        std::vector<std::size_t> next = begin;
        for (std::size_t i = 0; i < columns_.rows; ++i)
            if (node[i] >= 0) rows_[next[std::size_t(node[i])]++] = std::uint32_t(i);
        payload_.emplace_back(targets_, growth_.rules, rows_);
        std::vector<std::int32_t> open;
        for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
            if (begin[v] == begin[v + 1]) continue;
            std::fill_n(growth_.cell(v), growth_.size, Number(0));
            growth_.nodes[v].squares = 0;
            growth_.nodes[v].reason = Reason::kOpen;
            take_rows(v, begin[v], begin[v + 1]);
            open.push_back(std::int32_t(v));
        }
        run(open);
    }

  private:
    bool counted(const Column& column) const {
        return (std::size_t(column.n_codes) + 1) * growth_.size <= kCounted &&
               growth_.rules.criterion != Criterion::kAbsolute;
    }
    Payload& payload() { return payload_.front(); }
    std::size_t rows_of(std::size_t node) const {
        return std::size_t(growth_.nodes[node].end - growth_.nodes[node].begin);
    }
    bool open(std::size_t node) const { return growth_.nodes[node].reason == Reason::kOpen; }
    bool large(std::size_t node) const { return rows_of(node) > small_; }

    void take_rows(std::size_t node, std::size_t begin, std::size_t end) {
        growth_.nodes[node].begin = std::int64_t(begin);
        growth_.nodes[node].end = std::int64_t(end);
        places_.resize(end - begin);
        for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = std::uint32_t(i);
        measure<Rows>(growth_, node, places_, payload().rows(begin), rows_.data() + begin, targets_,
                      *finders_[0]);
    }

    void run(const std::vector<std::int32_t>& open_nodes) {
        if (growth_.rules.limited())
            in_order(open_nodes);
        else
            freely(open_nodes);
    }

    // Without a limit on leaves the order is free: large nodes first, then all small ones.
    void freely(std::vector<std::int32_t> waiting) {
        std::vector<std::int32_t> small;
        std::reverse(waiting.begin(), waiting.end());
        while (!waiting.empty()) {
            check_interrupt();
            const auto node = std::size_t(waiting.back());
            waiting.pop_back();
            if (!open(node)) continue;
            if (!large(node) && narrow_) {
                small.push_back(std::int32_t(node));
                continue;
            }
            evaluate(node);
            if (growth_.nodes[node].reason != Reason::kSplit) continue;
            expand(node);
            for (std::int32_t b = growth_.nodes[node].branches; b-- > 0;)
                waiting.push_back(growth_.nodes[node].child + b);
        }
        histograms_.clear();
        finish(small);
    }

    // With a limit on leaves: one node after the other, in the order of the learner. Nodes that
    // were grown before are passed through once more, since they take up leaves.
    void in_order(const std::vector<std::int32_t>& open_nodes) {
        for (const std::int32_t node : open_nodes)
            if (open(std::size_t(node))) evaluate(std::size_t(node));
        Order order(growth_);
        order.push_if_split(0);
        std::int64_t leaves = 1;
        while (!order.empty()) {
            check_interrupt();
            const auto node = std::size_t(order.pop());
            const std::int32_t branches = growth_.nodes[node].branches;
            if (leaves + branches - 1 > growth_.rules.max_leaves) break;
            leaves += branches - 1;
            if (!growth_.nodes[node].expanded()) grow_branches(node);
            order.push_branches(node);
        }
    }

    void grow_branches(std::size_t node) {
        expand(node);
        for (std::int32_t b = 0; b < growth_.nodes[node].branches; ++b) {
            const auto child = std::size_t(growth_.nodes[node].child + b);
            if (open(child)) evaluate(child);
        }
    }

    // The longest first, so that no thread is left with a long one at the end.
    void finish(std::vector<std::int32_t>& nodes) {
        std::stable_sort(nodes.begin(), nodes.end(), [&](std::int32_t a, std::int32_t b) {
            return rows_of(std::size_t(a)) > rows_of(std::size_t(b));
        });
        std::vector<std::unique_ptr<Growth>> parts(nodes.size());
        std::vector<std::unique_ptr<Subtree<Code, Rows>>> workers(finders_.size());
        double work = 0;
        for (const std::int32_t node : nodes)
            work += 10.0 * double(rows_of(std::size_t(node)) * columns_.count());
        const auto task = [&](std::size_t t, int thread, Interrupt& interrupt) {
            auto& worker = workers[std::size_t(thread)];
            if (!worker)
                worker = std::make_unique<Subtree<Code, Rows>>(columns_, targets_,
                                                               *finders_[std::size_t(thread)]);
            parts[t] = seedling(std::size_t(nodes[t]));
            const auto begin = std::size_t(growth_.nodes[std::size_t(nodes[t])].begin);
            worker->grow(*parts[t], std::span(rows_).subspan(begin, rows_of(std::size_t(nodes[t]))),
                         payload().rows(begin), interrupt, thread);
        };
        if (nodes.empty()) return;
        for_segments({nodes.size(), nodes.size()}, threads_for(work, threads_), task);
        for (std::size_t t = 0; t < nodes.size(); ++t) {
            growth_.graft(std::size_t(nodes[t]), *parts[t]);
            parts[t].reset();
        }
    }

    std::unique_ptr<Growth> seedling(std::size_t node) {
        auto part = std::make_unique<Growth>(growth_.rules, growth_.columns);
        part->add(0, 1);
        part->nodes[0] = growth_.nodes[node];
        part->nodes[0].parent = -1;
        part->used = growth_.barred(node);
        std::copy_n(growth_.cell(node), growth_.size, part->cell(0));
        return part;
    }

    void check_interrupt() {
        if (interrupt_.stopped(0) && interrupt_.by_user()) throw Interrupted();
    }

    template <typename Body>
    void for_columns(std::size_t node, std::size_t count, const Body& body) {
        const double work = 4.0 * double(rows_of(node) * count);
        for_segments({count, count}, threads_for(work, threads_),
                     [&](std::size_t i, int thread, Interrupt& interrupt) {
                         Finder<Rows>& finder = *finders_[std::size_t(thread)];
                         finder.listen(&interrupt, thread);
                         body(i, thread);
                         finder.listen(nullptr);
                     });
    }

    // The best split of a node, column by column.
    void evaluate(std::size_t node) {
        if (large(node)) count_bins(node);
        const NodeCell cell{growth_.cell(node), growth_.nodes[node].term, growth_.nodes[node].path};
        const Looked looked = look(
            growth_, node,
            [&](std::size_t count, const auto& body) { for_columns(node, count, body); },
            [&](std::size_t j, int thread, Candidate& best) { find(node, cell, j, thread, best); },
            [&] { check_interrupt(); });
        growth_.decide(node, looked.columns, looked.best);
        if (growth_.nodes[node].reason != Reason::kSplit) histograms_.erase(node);
    }

    void find(std::size_t node, const NodeCell& cell, std::size_t j, int thread, Candidate& best) {
        const Column& column = columns_.columns[j];
        Finder<Rows>& finder = *finders_[std::size_t(thread)];
        if (large(node) && counted(column))
            return finder.bins(cell, column, histograms_.at(node).data() + offsets_[j], best);
        if (columns_.sorted != nullptr && whole_ && node == 0)
            return finder.large(cell, column, payload().rows(0),
                                {columns_.sorted + j * columns_.rows, columns_.rows}, best);
        const int bits = payload().label_bits();
        if (bits > 0 && bits + bits_of(column.gap()) <= 32)
            sort_labels(node, cell, j, bits, thread, best);
        else
            sort_entries(node, cell, j, thread, best);
    }

    void sort_labels(std::size_t node, const NodeCell& cell, std::size_t j, int bits, int thread,
                     Candidate& best) {
        const std::size_t n = rows_of(node), begin = std::size_t(growth_.nodes[node].begin);
        std::vector<std::uint32_t>& buffer = buffers_[std::size_t(thread)].labels;
        if (buffer.size() < 2 * n) buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        const Payload& targets = payload();
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = std::uint32_t(codes[rows_[begin + i]]) << bits | targets.label(begin + i);
        const std::uint32_t* sorted = radix_sort(buffer.data(), buffer.data() + n, n, bits,
                                                 bits + bits_of(columns_.columns[j].gap()));
        finders_[std::size_t(thread)]->labels(cell, columns_.columns[j], {sorted, n}, bits, best);
    }

    void sort_entries(std::size_t node, const NodeCell& cell, std::size_t j, int thread,
                      Candidate& best) {
        const std::size_t n = rows_of(node), begin = std::size_t(growth_.nodes[node].begin);
        std::vector<LargeEntry>& buffer = buffers_[std::size_t(thread)].entries;
        if (buffer.size() < 2 * n) buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = LargeEntry(codes[rows_[begin + i]]) << kLargeBits | LargeEntry(i);
        const LargeEntry* sorted = radix_sort(buffer.data(), buffer.data() + n, n, kLargeBits,
                                              kLargeBits + bits_of(columns_.columns[j].gap()));
        finders_[std::size_t(thread)]->large(cell, columns_.columns[j], payload().rows(begin),
                                             {sorted, n}, best);
    }

    // Histograms of the counted columns, unless the parent has handed them down.
    void count_bins(std::size_t node) {
        if (offsets_.back() == 0 || histograms_.contains(node)) return;
        std::vector<Number>& bins = histograms_[node];
        bins.assign(offsets_.back(), 0);
        for_columns(node, columns_.count(), [&](std::size_t j, int) {
            if (counted(columns_.columns[j])) count_column(node, j, bins.data() + offsets_[j]);
        });
    }

    void count_column(std::size_t node, std::size_t j, Number* bins) const {
        const std::size_t n = rows_of(node), begin = std::size_t(growth_.nodes[node].begin);
        const Rows targets = payload_.front().rows(begin);
        const Code* codes = columns_.column(j);
        const std::uint32_t* rows = rows_.data() + begin;
        const std::size_t size = growth_.size;
        for (std::size_t i = 0; i < n; ++i) targets.add(bins + codes[rows[i]] * size, i);
    }

    // Part a node's rows, and hand its histograms down: the largest branch gets what is left when
    // those of the other branches are taken away.
    void expand(std::size_t node) {
        growth_.branch_out(node);
        part_rows(node);
        growth_.settle_gaps(node);
        const auto parent = histograms_.find(node);
        if (parent == histograms_.end()) return;
        std::vector<Number> bins = std::move(parent->second);
        histograms_.erase(parent);
        const auto child = std::size_t(growth_.nodes[node].child);
        std::size_t heir = child;
        for (std::int32_t b = 1; b < growth_.nodes[node].branches; ++b)
            if (rows_of(child + std::size_t(b)) > rows_of(heir)) heir = child + std::size_t(b);
        if (!open(heir) || !large(heir)) return;
        for (std::int32_t b = 0; b < growth_.nodes[node].branches; ++b) {
            const std::size_t other = child + std::size_t(b);
            if (other == heir) continue;
            count_bins(other);
            const std::vector<Number>& away = histograms_.at(other);
            for (std::size_t i = 0; i < bins.size(); ++i) bins[i] -= away[i];
            if (!open(other) || !large(other)) histograms_.erase(other);
        }
        histograms_[heir] = std::move(bins);
    }

    void part_rows(std::size_t node) {
        const Node parent = growth_.nodes[node];
        const auto begin = std::size_t(parent.begin);
        const std::size_t n = rows_of(node);
        const Code* codes = columns_.column(std::size_t(parent.column));
        const std::uint32_t gap = columns_.columns[std::size_t(parent.column)].gap();
        branch_.resize(n);
        to_.resize(n);
        std::vector<std::uint32_t> next(std::size_t(parent.branches) + 1, 0);
        for (std::size_t i = 0; i < n; ++i) {
            branch_[i] = std::uint32_t(growth_.branch(parent, codes[rows_[begin + i]], gap));
            ++next[branch_[i] + 1u];
        }
        for (std::size_t b = 1; b < next.size(); ++b) next[b] += next[b - 1];
        const std::vector<std::uint32_t> starts = next;
        for (std::size_t i = 0; i < n; ++i) to_[i] = next[branch_[i]]++;
        move_to(rows_, begin, to_, spare_rows_);
        payload().move(begin, to_);
        for (std::size_t b = 0; b + 1 < starts.size(); ++b)
            take_rows(std::size_t(parent.child) + b, begin + starts[b], begin + starts[b + 1]);
    }

    Growth& growth_;
    const Columns<Code>& columns_;
    const Targets& targets_;
    int threads_;
    std::size_t small_;
    bool narrow_;
    bool whole_ = false;  // the rows of the root are all rows, in order
    std::vector<double> table_;
    std::vector<std::unique_ptr<Finder<Rows>>> finders_;
    std::vector<Buffers> buffers_;
    std::vector<std::size_t> offsets_;  // of each column in a histogram
    std::unordered_map<std::size_t, std::vector<Number>> histograms_;
    std::vector<std::uint32_t> rows_, spare_rows_, places_, to_;
    std::vector<std::uint32_t> branch_;
    std::vector<Payload> payload_;
    Interrupt interrupt_;
};

template <typename Code, typename Payload>
void grow_with(Growth& growth, const Columns<Code>& columns, const Targets& targets,
               const std::int32_t* node, int threads) {
    Grower<Code, Payload> grower(growth, columns, targets, threads);
    if (node == nullptr)
        grower.whole();
    else
        grower.rest(node);
}

}  // namespace

template <typename Code>
void grow(Growth& growth, const Columns<Code>& columns, const Targets& targets,
          const std::int32_t* node, int threads) {
    const bool weighted = growth.rules.weighted;
    if (growth.rules.classes && weighted)
        grow_with<Code, ClassPayload<true>>(growth, columns, targets, node, threads);
    else if (growth.rules.classes)
        grow_with<Code, ClassPayload<false>>(growth, columns, targets, node, threads);
    else if (weighted)
        grow_with<Code, MomentPayload<true>>(growth, columns, targets, node, threads);
    else
        grow_with<Code, MomentPayload<false>>(growth, columns, targets, node, threads);
}

template <typename Code>
std::vector<std::uint64_t> presorted(const Columns<Code>& columns, int threads) {
    const std::size_t n = columns.rows, p = columns.count();
    std::vector<LargeEntry> all(p * n);
    for_segments(
        {p, p}, threads_for(10.0 * double(p * n), threads), [&](std::size_t j, int, Interrupt&) {
            LargeEntry* own = all.data() + j * n;
            std::vector<LargeEntry> spare(n);
            for (std::size_t i = 0; i < n; ++i)
                own[i] = LargeEntry(columns.column(j)[i]) << kLargeBits | LargeEntry(i);
            const LargeEntry* sorted = radix_sort(own, spare.data(), n, kLargeBits,
                                                  kLargeBits + bits_of(columns.columns[j].gap()));
            if (sorted != own) std::copy_n(sorted, n, own);
        });
    return all;
}

template std::vector<std::uint64_t> presorted(const Columns<std::uint8_t>&, int);
template std::vector<std::uint64_t> presorted(const Columns<std::uint16_t>&, int);
template std::vector<std::uint64_t> presorted(const Columns<std::uint32_t>&, int);

template void grow(Growth&, const Columns<std::uint8_t>&, const Targets&, const std::int32_t*, int);
template void grow(Growth&, const Columns<std::uint16_t>&, const Targets&, const std::int32_t*,
                   int);
template void grow(Growth&, const Columns<std::uint32_t>&, const Targets&, const std::int32_t*,
                   int);

}  // namespace ceiba::tree
