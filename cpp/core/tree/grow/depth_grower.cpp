// Growth of a tree one depth at a time from merged histograms (solve_depth).
#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/node_search.hpp"
#include "tree/grow/split_order.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {
namespace {

std::vector<std::size_t> offsets_of(const std::vector<Column>& columns) {
    std::vector<std::size_t> offsets{0};
    for (const Column& column : columns) offsets.push_back(offsets.back() + column.n_codes + 1);
    return offsets;
}

// View of the targets of all rows.
template <typename Rows>
Rows all_rows(const Targets& targets, const TreeConfig& config) {
    if constexpr (Rows::kIsClassification)
        return Rows::of(targets.label, targets.weight, int(config.n_classes));
    else
        return Rows::of(targets.weighted_target, targets.weight, 0);
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
                 const DepthSums& out) {
    if (targets.value == nullptr || targets.weighted_square == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
        if (slot[i] < 0) continue;
        out.squares[slot[i]] += targets.weighted_square[i];
        out.min_target[slot[i]] = std::min(out.min_target[slot[i]], targets.value[i]);
        out.max_target[slot[i]] = std::max(out.max_target[slot[i]], targets.value[i]);
    }
}

template <typename Rows>
class DepthSolver {
  public:
    DepthSolver(TreeBuilder& builder, const std::vector<Column>& columns, const DepthSums& sums)
        : builder_(builder), columns_(columns), sums_(sums), offsets_(offsets_of(columns)) {
        finder_ = make_split_finder<Rows>(split_finder_spec(builder.config));
    }

    void solve(const std::vector<std::int32_t>& nodes) {
        for (std::size_t s = 0; s < nodes.size(); ++s) decide(std::size_t(nodes[s]), s);
        for (const std::int32_t node : number_nodes(builder_).unexpanded) {
            const auto found = std::find(nodes.begin(), nodes.end(), node);
            if (found != nodes.end()) expand(std::size_t(node), std::size_t(found - nodes.begin()));
        }
    }

  private:
    const Number* bins(std::size_t slot, std::size_t j) const {
        return sums_.cells + (slot * offsets_.back() + offsets_[j]) * builder_.size;
    }

    void add(Number* cell, const Number* other) const {
        for (std::size_t s = 0; s < builder_.size; ++s) cell[s] += other[s];
    }

    void compute_totals(std::size_t node) {
        if (builder_.count(node) > 0)
            builder_.nodes[node].term = finder_->term(builder_.cell(node));
        builder_.close_if_leaf(node);
    }

    void decide(std::size_t node, std::size_t slot) {
        Number* cell = builder_.cell(node);
        std::fill_n(cell, builder_.size, Number(0));
        for (std::size_t code = 0; code <= columns_[0].n_codes; ++code)
            add(cell, bins(slot, 0) + code * builder_.size);
        Node& n = builder_.nodes[node];
        if (!builder_.config.n_classes) {
            n.squares = sums_.squares[slot];
            n.min_target = sums_.min_target[slot];
            n.max_target = sums_.max_target[slot];
        }
        if (node == 0) builder_.config.root_weight = double(builder_.weight(0));
        compute_totals(node);
        if (builder_.nodes[node].reason == Reason::kOpen) evaluate(node, slot);
    }

    void evaluate(std::size_t node, std::size_t slot) {
        const NodeCell cell = builder_.node_cell(node);
        builder_.begin_columns(node, order_);
        const auto n_first = std::size_t(builder_.config.columns_per_node);
        evaluate_columns(order_, n_first, found_, [&](std::size_t i) {
            for (; i < found_.best.size(); ++i) {
                const auto j = std::size_t(found_.columns[i]);
                finder_->search_bins(cell, columns_[j], bins(slot, j), found_.best[i]);
            }
        });
        builder_.decide(node, found_.columns, found_.best);
    }

    void expand(std::size_t node, std::size_t slot) {
        builder_.make_branches(node);
        const Node n = builder_.nodes[node];
        const auto j = std::size_t(n.column);
        const std::uint32_t missing_code = columns_[j].missing_code();
        for (std::uint32_t code = 0; code <= missing_code; ++code) {
            const Number* bin = bins(slot, j) + code * builder_.size;
            if (std::all_of(bin, bin + builder_.size, [](Number x) { return x == 0; })) continue;
            add(builder_.cell(std::size_t(n.child + builder_.branch(n, code, missing_code))), bin);
        }
        builder_.assign_missing(node);
        builder_.bound_branches(node);
        // In regression the squared targets of the branches are known only after the next pass over
        // the rows: for now, compute the totals of classification nodes and of empty branches.
        for (std::int32_t b = 0; b < n.n_branches; ++b) {
            const auto child = std::size_t(n.child + b);
            if (builder_.config.n_classes || builder_.count(child) == 0) compute_totals(child);
        }
    }

    TreeBuilder& builder_;
    const std::vector<Column>& columns_;
    const DepthSums& sums_;
    std::vector<std::size_t> offsets_;
    std::unique_ptr<SplitFinder<Rows>> finder_;
    ColumnSampler order_;
    ColumnCandidates found_;
};

}  // namespace

template <typename Code>
void add_depth_sums(const Columns<Code>& columns, const Targets& targets, const TreeConfig& config,
                    const std::int32_t* slot, const DepthSums& out, int threads) {
    with_rows(config, [&]<typename Rows>(std::type_identity<Rows>) {
        sum_columns(columns, all_rows<Rows>(targets, config), slot, out.cells, threads);
    });
    sum_targets(targets, columns.rows, slot, out);
}

template void add_depth_sums(const Columns<std::uint8_t>&, const Targets&, const TreeConfig&,
                             const std::int32_t*, const DepthSums&, int);
template void add_depth_sums(const Columns<std::uint16_t>&, const Targets&, const TreeConfig&,
                             const std::int32_t*, const DepthSums&, int);
template void add_depth_sums(const Columns<std::uint32_t>&, const Targets&, const TreeConfig&,
                             const std::int32_t*, const DepthSums&, int);

void solve_depth(TreeBuilder& builder, const std::vector<Column>& columns,
                 const std::vector<std::int32_t>& nodes, const DepthSums& sums) {
    with_rows(builder.config, [&]<typename Rows>(std::type_identity<Rows>) {
        DepthSolver<Rows>(builder, columns, sums).solve(nodes);
    });
}

}  // namespace ceiba::tree
