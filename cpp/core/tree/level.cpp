// One level of a tree that is grown from merged histograms.
#include <algorithm>
#include <cmath>

#include "parallel.hpp"
#include "tree/finder.hpp"
#include "tree/look.hpp"
#include "tree/problem.hpp"

namespace ceiba::tree {
namespace {

std::vector<std::size_t> offsets_of(const std::vector<Column>& columns) {
    std::vector<std::size_t> offsets{0};
    for (const Column& column : columns) offsets.push_back(offsets.back() + column.n_codes + 1);
    return offsets;
}

template <typename Code, typename Rows>
void sum_columns(const Columns<Code>& columns, const Rows& rows, const std::int32_t* slot,
                 Number* cells, int threads) {
    const std::vector<std::size_t> offsets = offsets_of(columns.columns);
    const std::size_t size = std::size_t(rows.size());
    const std::size_t wide = offsets.back() * size;
    const double work = 4.0 * double(columns.rows) * double(columns.count());
    for_segments({columns.count(), columns.count()}, threads_for(work, threads),
                 [&](std::size_t j, int, Interrupt&) {
                     const Code* codes = columns.column(j);
                     Number* first = cells + offsets[j] * size;
                     for (std::size_t i = 0; i < columns.rows; ++i)
                         if (slot[i] >= 0)
                             rows.add(first + std::size_t(slot[i]) * wide + codes[i] * size, i);
                 });
}

void sum_targets(const Targets& targets, std::size_t rows, const std::int32_t* slot,
                 const LevelSums& out) {
    if (targets.value == nullptr || targets.square == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
        if (slot[i] < 0) continue;
        out.squares[slot[i]] += targets.square[i];
        out.least[slot[i]] = std::min(out.least[slot[i]], targets.value[i]);
        out.most[slot[i]] = std::max(out.most[slot[i]], targets.value[i]);
    }
}

template <typename Rows>
class LevelSolver {
  public:
    LevelSolver(Growth& growth, const std::vector<Column>& columns, const LevelSums& sums)
        : growth_(growth), columns_(columns), sums_(sums), offsets_(offsets_of(columns)) {
        finder_ = make_finder<Rows>(finder_spec(growth.rules));
    }

    void solve(const std::vector<std::int32_t>& nodes) {
        for (std::size_t s = 0; s < nodes.size(); ++s) decide(std::size_t(nodes[s]), s);
        for (const std::int32_t node : number(growth_).unexpanded) {
            const auto found = std::find(nodes.begin(), nodes.end(), node);
            if (found != nodes.end()) expand(std::size_t(node), std::size_t(found - nodes.begin()));
        }
    }

  private:
    const Number* bins(std::size_t slot, std::size_t j) const {
        return sums_.cells + (slot * offsets_.back() + offsets_[j]) * growth_.size;
    }

    void add(Number* cell, const Number* more) const {
        for (std::size_t s = 0; s < growth_.size; ++s) cell[s] += more[s];
    }

    void measure(std::size_t node) {
        if (growth_.count(node) > 0) growth_.nodes[node].term = finder_->term(growth_.cell(node));
        growth_.close_if_done(node);
    }

    void decide(std::size_t node, std::size_t slot) {
        Number* cell = growth_.cell(node);
        std::fill_n(cell, growth_.size, Number(0));
        for (std::size_t code = 0; code <= columns_[0].n_codes; ++code)
            add(cell, bins(slot, 0) + code * growth_.size);
        Node& n = growth_.nodes[node];
        if (!growth_.rules.classes) {
            n.squares = sums_.squares[slot];
            n.least = sums_.least[slot];
            n.most = sums_.most[slot];
        }
        if (node == 0) growth_.rules.root_weight = double(growth_.weight(0));
        measure(node);
        if (growth_.nodes[node].reason == Reason::kOpen) evaluate(node, slot);
    }

    void evaluate(std::size_t node, std::size_t slot) {
        const NodeCell cell{growth_.cell(node), growth_.nodes[node].term, growth_.nodes[node].path};
        const Looked looked = look(
            growth_, node,
            [](std::size_t count, const auto& body) {
                for (std::size_t i = 0; i < count; ++i) body(i, 0);
            },
            [&](std::size_t j, int, Candidate& best) {
                finder_->bins(cell, columns_[j], bins(slot, j), best);
            },
            [] {});
        growth_.decide(node, looked.columns, looked.best);
    }

    void expand(std::size_t node, std::size_t slot) {
        growth_.branch_out(node);
        const Node n = growth_.nodes[node];
        const auto j = std::size_t(n.column);
        const std::uint32_t gap = columns_[j].gap();
        for (std::uint32_t code = 0; code <= gap; ++code) {
            const Number* bin = bins(slot, j) + code * growth_.size;
            if (std::all_of(bin, bin + growth_.size, [](Number x) { return x == 0; })) continue;
            add(growth_.cell(std::size_t(n.child + growth_.branch(n, code, gap))), bin);
        }
        growth_.settle_gaps(node);
        // Of numbers the squares are still to come: what can be measured now are classes, and
        // branches without rows.
        for (std::int32_t b = 0; b < n.branches; ++b) {
            const auto child = std::size_t(n.child + b);
            if (growth_.rules.classes || growth_.count(child) == 0) measure(child);
        }
    }

    Growth& growth_;
    const std::vector<Column>& columns_;
    const LevelSums& sums_;
    std::vector<std::size_t> offsets_;
    std::unique_ptr<Finder<Rows>> finder_;
};

}  // namespace

template <typename Code>
void level_sums(const Columns<Code>& columns, const Targets& targets, const GrowthRules& rules,
                const std::int32_t* slot, const LevelSums& out, int threads) {
    if (rules.classes && rules.weighted)
        sum_columns(columns, ClassRows<true>{targets.label, targets.weight, int(rules.classes)},
                    slot, out.cells, threads);
    else if (rules.classes)
        sum_columns(columns, ClassRows<false>{targets.label, nullptr, int(rules.classes)}, slot,
                    out.cells, threads);
    else if (rules.weighted)
        sum_columns(columns, MomentRows<true>{targets.number, targets.weight}, slot, out.cells,
                    threads);
    else
        sum_columns(columns, MomentRows<false>{targets.number, nullptr}, slot, out.cells, threads);
    sum_targets(targets, columns.rows, slot, out);
}

template void level_sums(const Columns<std::uint8_t>&, const Targets&, const GrowthRules&,
                         const std::int32_t*, const LevelSums&, int);
template void level_sums(const Columns<std::uint16_t>&, const Targets&, const GrowthRules&,
                         const std::int32_t*, const LevelSums&, int);
template void level_sums(const Columns<std::uint32_t>&, const Targets&, const GrowthRules&,
                         const std::int32_t*, const LevelSums&, int);

void solve_level(Growth& growth, const std::vector<Column>& columns,
                 const std::vector<std::int32_t>& nodes, const LevelSums& sums) {
    const bool weighted = growth.rules.weighted;
    if (growth.rules.classes && weighted)
        LevelSolver<ClassRows<true>>(growth, columns, sums).solve(nodes);
    else if (growth.rules.classes)
        LevelSolver<ClassRows<false>>(growth, columns, sums).solve(nodes);
    else if (weighted)
        LevelSolver<MomentRows<true>>(growth, columns, sums).solve(nodes);
    else
        LevelSolver<MomentRows<false>>(growth, columns, sums).solve(nodes);
}

}  // namespace ceiba::tree
