// Growing where a row with a gap needs more than the node's own column to find its way: it goes
// down every branch with a share of its weight (Quinlan 1993, "C4.5", chapter 3), or as a surrogate
// split says (Breiman et al. 1984, section 5.3).
//
// Rows of a node are lists of its own, since a row may be in many nodes at once.
#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "parallel.hpp"
#include "tree/finder.hpp"
#include "tree/logarithms.hpp"
#include "tree/look.hpp"
#include "tree/problem.hpp"
#include "tree/sort.hpp"
#include "tree/surrogates.hpp"

namespace ceiba::tree {
namespace {

// Rows of one node: their numbers in the table, and what they add up to there.
struct Held {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint16_t> label;
    std::vector<Number> number, weight, square, plain;

    std::size_t size() const { return rows.size(); }

    void take(const Held& from, std::size_t place) {
        rows.push_back(from.rows[place]);
        if (!from.label.empty()) label.push_back(from.label[place]);
        if (!from.number.empty()) number.push_back(from.number[place]);
        if (!from.weight.empty()) weight.push_back(from.weight[place]);
        if (!from.square.empty()) square.push_back(from.square[place]);
        if (!from.plain.empty()) plain.push_back(from.plain[place]);
    }

    // What a row counts where branches are compared: costs of classes have no say there.
    Number said(std::size_t place) const {
        return !plain.empty() ? plain[place] : weight.empty() ? 1 : weight[place];
    }

    // A share of a row; nothing where that is less than the smallest weight there is.
    void take_share(const Held& from, std::size_t place, double share) {
        const Number part = scaled(from.weight[place], share);
        if (part == 0) return;
        take(from, place);
        weight.back() = part;
        if (!number.empty()) number.back() = scaled(number.back(), share);
        if (!square.empty()) square.back() = scaled(square.back(), share);
        if (!plain.empty()) plain.back() = std::max<Number>(1, scaled(plain.back(), share));
    }

  private:
    static Number scaled(Number number, double share) {
        return Number(std::llround(double(number) * share));
    }
};

template <typename T>
std::vector<T> copied(const T* values, std::size_t n) {
    return values == nullptr ? std::vector<T>() : std::vector<T>(values, values + n);
}

template <typename Code, typename Rows>
class GapGrower {
  public:
    GapGrower(Growth& growth, const Columns<Code>& columns, const Targets& targets, int threads)
        : growth_(growth),
          columns_(columns),
          targets_(targets),
          threads_(threads),
          logarithms_(xlog2x_table(growth.rules, columns.rows)),
          buffers_(std::size_t(threads)) {
        FinderSpec spec = finder_spec(growth.rules);
        spec.xlog2x = {logarithms_.data(), logarithms_.size()};
        for (int t = 0; t < threads; ++t) finders_.push_back(make_finder<Rows>(spec));
    }

    void run() {
        growth_.add(0, 1);
        held_[0] = everyone();
        measure(0);
        growth_.rules.root_weight = double(growth_.weight(0));
        evaluate(0);
        Order order(growth_);
        order.push_if_split(0);
        std::int64_t leaves = 1;
        while (!order.empty()) {
            check_interrupt();
            const auto node = std::size_t(order.pop());
            leaves += growth_.nodes[node].branches - 1;
            if (growth_.rules.limited() && leaves > growth_.rules.max_leaves) break;
            expand(node);
            order.push_branches(node);
        }
    }

  private:
    void check_interrupt() {
        if (interrupt_.stopped(0) && interrupt_.by_user()) throw Interrupted();
    }

    Held everyone() const {
        Held all;
        const std::size_t n = columns_.rows;
        all.rows.resize(n);
        for (std::size_t i = 0; i < n; ++i) all.rows[i] = std::uint32_t(i);
        all.label = copied(targets_.label, n);
        all.number = copied(targets_.number, n);
        all.weight = copied(targets_.weight, n);
        all.square = copied(targets_.square, n);
        all.plain = copied(targets_.plain, n);
        return all;
    }

    Rows payload(const Held& held) const {
        Rows rows;
        if constexpr (requires { rows.label; }) {
            rows.label = held.label.data();
            rows.classes = int(growth_.rules.classes);
        } else {
            rows.target = held.number.data();
        }
        rows.weight = held.weight.empty() ? nullptr : held.weight.data();
        return rows;
    }

    void measure(std::size_t node) {
        const Held& held = held_.at(node);
        const Rows rows = payload(held);
        Node& n = growth_.nodes[node];
        for (std::size_t i = 0; i < held.size(); ++i) {
            rows.add(growth_.cell(node), i);
            if (targets_.value == nullptr) continue;
            n.least = std::min(n.least, targets_.value[held.rows[i]]);
            n.most = std::max(n.most, targets_.value[held.rows[i]]);
            n.squares += held.square[i];
        }
        if (held.size() > 0) n.term = finders_[0]->term(growth_.cell(node));
        growth_.close_if_done(node);
    }

    template <typename Body>
    void for_columns(const Held& held, std::size_t count, const Body& body) {
        const double work = 20.0 * double(held.size() * count);
        for_segments({count, count}, threads_for(work, threads_),
                     [&](std::size_t i, int thread, Interrupt& interrupt) {
                         Finder<Rows>& finder = *finders_[std::size_t(thread)];
                         finder.listen(&interrupt, thread);
                         body(i, thread);
                         finder.listen(nullptr);
                     });
    }

    // Rows of a node in the order of a column's codes.
    std::span<const LargeEntry> sorted(const Held& held, std::size_t j, int thread) {
        std::vector<LargeEntry>& buffer = buffers_[std::size_t(thread)];
        const std::size_t n = held.size();
        buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = LargeEntry(codes[held.rows[i]]) << kLargeBits | LargeEntry(i);
        return {radix_sort(buffer.data(), buffer.data() + n, n, kLargeBits,
                           kLargeBits + bits_of(columns_.columns[j].gap())),
                n};
    }

    void evaluate(std::size_t node) {
        if (growth_.nodes[node].reason == Reason::kOpen) {
            const Held& held = held_.at(node);
            const Rows rows = payload(held);
            const Node& n = growth_.nodes[node];
            const NodeCell cell{growth_.cell(node), n.term, n.path};
            const Looked looked = look(
                growth_, node,
                [&](std::size_t count, const auto& body) { for_columns(held, count, body); },
                [&](std::size_t j, int thread, Candidate& best) {
                    finders_[std::size_t(thread)]->large(cell, columns_.columns[j], rows,
                                                         sorted(held, j, thread), best);
                },
                [&] { check_interrupt(); });
            growth_.decide(node, looked.columns, looked.best);
        }
        if (growth_.nodes[node].reason != Reason::kSplit) held_.erase(node);
    }

    void expand(std::size_t node) {
        const Held held = std::move(held_.at(node));
        held_.erase(node);
        std::vector<std::int32_t> branch = known_branches(node, held);
        const std::vector<Number> weights = weights_of(node, held, branch);
        growth_.branch_out(node);
        Node& n = growth_.nodes[node];
        n.gap = std::int32_t(std::max_element(weights.begin(), weights.end()) - weights.begin());
        const bool shared = growth_.rules.split.gaps == GapRule::kFractional;
        if (!shared) send_by_surrogates(node, held, branch);
        const auto child = std::size_t(growth_.nodes[node].child);
        for (std::size_t b = 0; b < weights.size(); ++b) held_[child + b];
        Number known = 0;
        for (const Number weight : weights) known += weight;
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (branch[i] >= 0) {
                held_[child + std::size_t(branch[i])].take(held, i);
                continue;
            }
            for (std::size_t b = 0; b < weights.size(); ++b)
                held_[child + b].take_share(held, i, double(weights[b]) / double(known));
        }
        for (std::size_t b = 0; b < weights.size(); ++b) {
            measure(child + b);
            evaluate(child + b);
        }
    }

    // The branch of every row that has a value in the node's column, and -1 of the others.
    std::vector<std::int32_t> known_branches(std::size_t node, const Held& held) const {
        const Node& n = growth_.nodes[node];
        const auto j = std::size_t(n.column);
        const Code* codes = columns_.column(j);
        const std::uint32_t gap = columns_.columns[j].gap();
        std::vector<std::int32_t> branch(held.size());
        for (std::size_t i = 0; i < held.size(); ++i) {
            const std::uint32_t code = codes[held.rows[i]];
            branch[i] = code == gap ? -1 : growth_.branch(n, code, gap);
        }
        return branch;
    }

    std::vector<Number> weights_of(std::size_t node, const Held& held,
                                   const std::vector<std::int32_t>& branch) const {
        std::vector<Number> weights(std::size_t(growth_.nodes[node].branches), 0);
        for (std::size_t i = 0; i < held.size(); ++i)
            if (branch[i] >= 0) weights[std::size_t(branch[i])] += held.said(i);
        return weights;
    }

    void send_by_surrogates(std::size_t node, const Held& held, std::vector<std::int32_t>& branch) {
        const std::vector<Agreement> found = surrogates(node, held, branch);
        for (const Agreement& agreement : found) note(node, agreement);
        const std::int32_t heavier = growth_.nodes[node].gap;
        for (std::size_t i = 0; i < held.size(); ++i) {
            if (branch[i] >= 0) continue;
            for (std::size_t s = 0; s < found.size() && branch[i] < 0; ++s)
                branch[i] = said(found[s], held.rows[i]);
            if (branch[i] < 0) branch[i] = heavier;
        }
    }

    // The best surrogates first; of equals that of the first column.
    std::vector<Agreement> surrogates(std::size_t node, const Held& held,
                                      const std::vector<std::int32_t>& branch) {
        if (growth_.rules.surrogates == 0) return {};
        const std::vector<std::int8_t> sent(branch.begin(), branch.end());
        SentRows rows{sent, held.plain.empty() ? held.weight : held.plain};
        for (std::size_t i = 0; i < sent.size(); ++i)
            if (sent[i] >= 0) rows.known += rows.weight_of(i);
        const std::vector<Number> weights = weights_of(node, held, branch);
        rows.majority = std::max(weights[0], weights[1]);
        std::vector<Agreement> every(columns_.count());
        for_columns(held, every.size(), [&](std::size_t j, int thread) {
            if (std::int32_t(j) != growth_.nodes[node].column)
                every[j] = best_agreement(columns_.columns[j], sorted(held, j, thread), rows);
        });
        std::erase_if(every, [&](const Agreement& a) { return !a.helps(rows); });
        std::stable_sort(every.begin(), every.end(),
                         [](const Agreement& a, const Agreement& b) { return a.right > b.right; });
        every.resize(std::min(every.size(), std::size_t(growth_.rules.surrogates)));
        return every;
    }

    void note(std::size_t node, const Agreement& agreement) {
        Surrogate surrogate = agreement.split;
        surrogate.node = std::int32_t(node);
        if (!agreement.levels.empty()) {
            surrogate.table = std::int64_t(growth_.tables.size());
            growth_.tables.insert(growth_.tables.end(), agreement.levels.begin(),
                                  agreement.levels.end());
        }
        growth_.surrogates.push_back(surrogate);
    }

    // Where a surrogate sends a row; -1 where it has no value there either.
    std::int32_t said(const Agreement& agreement, std::uint32_t row) const {
        const auto j = std::size_t(agreement.split.column);
        const std::uint32_t code = columns_.column(j)[row];
        if (code == columns_.columns[j].gap()) return -1;
        if (!agreement.levels.empty()) return agreement.levels[code];
        return std::int32_t(code > agreement.split.cut) ^ agreement.split.flipped;
    }

    Growth& growth_;
    const Columns<Code>& columns_;
    const Targets& targets_;
    int threads_;
    std::vector<double> logarithms_;
    std::vector<std::unique_ptr<Finder<Rows>>> finders_;
    std::vector<std::vector<LargeEntry>> buffers_;
    std::unordered_map<std::size_t, Held> held_;
    Interrupt interrupt_;
};

}  // namespace

template <typename Code>
void grow_by_gaps(Growth& growth, const Columns<Code>& columns, const Targets& targets,
                  int threads) {
    const bool weighted = growth.rules.weighted;
    if (growth.rules.classes && weighted)
        GapGrower<Code, ClassRows<true>>(growth, columns, targets, threads).run();
    else if (growth.rules.classes)
        GapGrower<Code, ClassRows<false>>(growth, columns, targets, threads).run();
    else if (weighted)
        GapGrower<Code, MomentRows<true>>(growth, columns, targets, threads).run();
    else
        GapGrower<Code, MomentRows<false>>(growth, columns, targets, threads).run();
}

template void grow_by_gaps(Growth&, const Columns<std::uint8_t>&, const Targets&, int);
template void grow_by_gaps(Growth&, const Columns<std::uint16_t>&, const Targets&, int);
template void grow_by_gaps(Growth&, const Columns<std::uint32_t>&, const Targets&, int);

}  // namespace ceiba::tree
