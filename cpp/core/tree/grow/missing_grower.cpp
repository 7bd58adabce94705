// Growth of a tree whose missing values need more than the column of the split (grow_with_missing).
//
// A row with a missing value goes down every branch with a fraction of its weight (Quinlan 1993,
// "C4.5", chapter 3), or where a surrogate split sends it (Breiman et al. 1984, section 5.3). Each
// node keeps its own list of rows, since a row may be in several nodes at once.
#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "common/parallel.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/grow/evaluate_node.hpp"
#include "tree/grow/grow.hpp"
#include "tree/grow/surrogates.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {
namespace {

// Rows of one node: their indices in the table, and their targets and weights in this node.
struct NodeRows {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint16_t> label;
    std::vector<Number> weighted_target, weight, weighted_square, weight_without_costs;

    std::size_t size() const { return rows.size(); }

    void take(const NodeRows& from, std::size_t position) {
        rows.push_back(from.rows[position]);
        if (!from.label.empty()) label.push_back(from.label[position]);
        if (!from.weighted_target.empty())
            weighted_target.push_back(from.weighted_target[position]);
        if (!from.weight.empty()) weight.push_back(from.weight[position]);
        if (!from.weighted_square.empty())
            weighted_square.push_back(from.weighted_square[position]);
        if (!from.weight_without_costs.empty())
            weight_without_costs.push_back(from.weight_without_costs[position]);
    }

    // Weight of a row when branches are compared: costs of classes do not count there.
    Number branch_weight(std::size_t position) const {
        return !weight_without_costs.empty() ? weight_without_costs[position]
               : weight.empty()              ? 1
                                             : weight[position];
    }

    // Take a fraction of a row; nothing if that is less than the smallest representable weight.
    void take_fraction(const NodeRows& from, std::size_t position, double fraction) {
        const Number fraction_weight = scaled(from.weight[position], fraction);
        if (fraction_weight == 0) return;
        take(from, position);
        weight.back() = fraction_weight;
        if (!weighted_target.empty())
            weighted_target.back() = scaled(weighted_target.back(), fraction);
        if (!weighted_square.empty())
            weighted_square.back() = scaled(weighted_square.back(), fraction);
        if (!weight_without_costs.empty())
            weight_without_costs.back() =
                std::max<Number>(1, scaled(weight_without_costs.back(), fraction));
    }

  private:
    static Number scaled(Number value, double fraction) {
        return Number(std::llround(double(value) * fraction));
    }
};

template <typename T>
std::vector<T> copy_of(const T* values, std::size_t n) {
    return values == nullptr ? std::vector<T>() : std::vector<T>(values, values + n);
}

template <typename Code, typename Rows>
class MissingGrower {
  public:
    MissingGrower(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
                  int threads)
        : builder_(builder),
          columns_(columns),
          targets_(targets),
          threads_(threads),
          xlog2x_(xlog2x_table(builder.config, columns.rows)),
          buffers_(std::size_t(threads)) {
        SplitFinderSpec spec = split_finder_spec(builder.config);
        spec.xlog2x = {xlog2x_.data(), xlog2x_.size()};
        for (int t = 0; t < threads; ++t) finders_.push_back(make_split_finder<Rows>(spec));
    }

    void run() {
        builder_.add(0, 1);
        node_rows_[0] = all_rows();
        compute_totals(0);
        builder_.config.root_weight = double(builder_.weight(0));
        evaluate(0);
        SplitOrder order(builder_);
        order.push_if_split(0);
        std::int64_t leaves = 1;
        while (!order.empty()) {
            check_interrupt();
            const auto node = std::size_t(order.pop());
            leaves += builder_.nodes[node].n_branches - 1;
            if (builder_.config.limits_leaves() && leaves > builder_.config.max_leaves) break;
            expand(node);
            order.push_branches(node);
        }
    }

  private:
    void check_interrupt() {
        if (interrupt_.stopped(0) && interrupt_.by_user()) throw Interrupted();
    }

    NodeRows all_rows() const {
        NodeRows all;
        const std::size_t n = columns_.rows;
        all.rows.resize(n);
        for (std::size_t i = 0; i < n; ++i) all.rows[i] = std::uint32_t(i);
        all.label = copy_of(targets_.label, n);
        all.weighted_target = copy_of(targets_.weighted_target, n);
        all.weight = copy_of(targets_.weight, n);
        all.weighted_square = copy_of(targets_.weighted_square, n);
        all.weight_without_costs = copy_of(targets_.weight_without_costs, n);
        return all;
    }

    Rows node_targets(const NodeRows& rows_of_node) const {
        Rows rows;
        if constexpr (requires { rows.label; }) {
            rows.label = rows_of_node.label.data();
            rows.n_classes = int(builder_.config.n_classes);
        } else {
            rows.target = rows_of_node.weighted_target.data();
        }
        rows.weight = rows_of_node.weight.empty() ? nullptr : rows_of_node.weight.data();
        return rows;
    }

    void compute_totals(std::size_t node) {
        const NodeRows& rows_of_node = node_rows_.at(node);
        const Rows rows = node_targets(rows_of_node);
        Node& n = builder_.nodes[node];
        for (std::size_t i = 0; i < rows_of_node.size(); ++i) {
            rows.add(builder_.cell(node), i);
            if (targets_.value == nullptr) continue;
            n.min_target = std::min(n.min_target, targets_.value[rows_of_node.rows[i]]);
            n.max_target = std::max(n.max_target, targets_.value[rows_of_node.rows[i]]);
            n.squares += rows_of_node.weighted_square[i];
        }
        if (rows_of_node.size() > 0) n.term = finders_[0]->term(builder_.cell(node));
        builder_.close_if_leaf(node);
    }

    template <typename Body>
    void for_columns(const NodeRows& rows_of_node, std::size_t count, const Body& body) {
        const double work = 20.0 * double(rows_of_node.size() * count);
        for_segments({count, count}, threads_for(work, threads_),
                     [&](std::size_t i, int thread, Interrupt& interrupt) {
                         SplitFinder<Rows>& finder = *finders_[std::size_t(thread)];
                         finder.set_interrupt(&interrupt, thread);
                         body(i, thread);
                         finder.set_interrupt(nullptr);
                     });
    }

    // Sort the rows of a node by the codes of a column.
    std::span<const LargeEntry> sorted(const NodeRows& rows_of_node, std::size_t j, int thread) {
        std::vector<LargeEntry>& buffer = buffers_[std::size_t(thread)];
        const std::size_t n = rows_of_node.size();
        buffer.resize(2 * n);
        const Code* codes = columns_.column(j);
        for (std::size_t i = 0; i < n; ++i)
            buffer[i] = LargeEntry(codes[rows_of_node.rows[i]]) << kLargeBits | LargeEntry(i);
        return {radix_sort(buffer.data(), buffer.data() + n, n, kLargeBits,
                           kLargeBits + bits_of(columns_.columns[j].missing_code())),
                n};
    }

    void evaluate(std::size_t node) {
        if (builder_.nodes[node].reason == Reason::kOpen) {
            const NodeRows& rows_of_node = node_rows_.at(node);
            const Rows rows = node_targets(rows_of_node);
            const NodeCell cell = builder_.node_cell(node);
            const ColumnCandidates candidates = evaluate_columns(
                builder_, node,
                [&](std::size_t count, const auto& body) {
                    for_columns(rows_of_node, count, body);
                },
                [&](std::size_t j, int thread, Candidate& best) {
                    finders_[std::size_t(thread)]->search_large(
                        cell, columns_.columns[j], rows, sorted(rows_of_node, j, thread), best);
                },
                [&] { check_interrupt(); });
            builder_.decide(node, candidates.columns, candidates.best);
        }
        if (builder_.nodes[node].reason != Reason::kSplit) node_rows_.erase(node);
    }

    void expand(std::size_t node) {
        const NodeRows rows_of_node = std::move(node_rows_.at(node));
        node_rows_.erase(node);
        std::vector<std::int32_t> branch = known_branches(node, rows_of_node);
        const std::vector<Number> weights = weights_of(node, rows_of_node, branch);
        builder_.make_branches(node);
        Node& n = builder_.nodes[node];
        n.missing_branch =
            std::int32_t(std::max_element(weights.begin(), weights.end()) - weights.begin());
        const bool is_fractional = builder_.config.split.missing == MissingPolicy::kFractional;
        if (!is_fractional) route_by_surrogates(node, rows_of_node, branch);
        const auto child = std::size_t(builder_.nodes[node].child);
        for (std::size_t b = 0; b < weights.size(); ++b) node_rows_[child + b];
        Number known = 0;
        for (const Number weight : weights) known += weight;
        for (std::size_t i = 0; i < rows_of_node.size(); ++i) {
            if (branch[i] >= 0) {
                node_rows_[child + std::size_t(branch[i])].take(rows_of_node, i);
                continue;
            }
            for (std::size_t b = 0; b < weights.size(); ++b)
                node_rows_[child + b].take_fraction(rows_of_node, i,
                                                    double(weights[b]) / double(known));
        }
        for (std::size_t b = 0; b < weights.size(); ++b) {
            compute_totals(child + b);
            evaluate(child + b);
        }
    }

    // Branch of every row with a value in the column of the split, -1 for the others.
    std::vector<std::int32_t> known_branches(std::size_t node, const NodeRows& rows_of_node) const {
        const Node& n = builder_.nodes[node];
        const auto j = std::size_t(n.column);
        const Code* codes = columns_.column(j);
        const std::uint32_t missing_code = columns_.columns[j].missing_code();
        std::vector<std::int32_t> branch(rows_of_node.size());
        for (std::size_t i = 0; i < rows_of_node.size(); ++i) {
            const std::uint32_t code = codes[rows_of_node.rows[i]];
            branch[i] = code == missing_code ? -1 : builder_.branch(n, code, missing_code);
        }
        return branch;
    }

    std::vector<Number> weights_of(std::size_t node, const NodeRows& rows_of_node,
                                   const std::vector<std::int32_t>& branch) const {
        std::vector<Number> weights(std::size_t(builder_.nodes[node].n_branches), 0);
        for (std::size_t i = 0; i < rows_of_node.size(); ++i)
            if (branch[i] >= 0) weights[std::size_t(branch[i])] += rows_of_node.branch_weight(i);
        return weights;
    }

    void route_by_surrogates(std::size_t node, const NodeRows& rows_of_node,
                             std::vector<std::int32_t>& branch) {
        const std::vector<Agreement> found = surrogates(node, rows_of_node, branch);
        for (const Agreement& agreement : found) record(node, agreement);
        const std::int32_t heavier = builder_.nodes[node].missing_branch;
        for (std::size_t i = 0; i < rows_of_node.size(); ++i) {
            if (branch[i] >= 0) continue;
            for (std::size_t s = 0; s < found.size() && branch[i] < 0; ++s)
                branch[i] = surrogate_branch(found[s], rows_of_node.rows[i]);
            if (branch[i] < 0) branch[i] = heavier;
        }
    }

    // Find the best surrogates, in descending order; ties go to the first column.
    std::vector<Agreement> surrogates(std::size_t node, const NodeRows& rows_of_node,
                                      const std::vector<std::int32_t>& branch) {
        if (builder_.config.max_surrogates == 0) return {};
        const std::vector<std::int8_t> routed(branch.begin(), branch.end());
        RoutedRows rows{routed, rows_of_node.weight_without_costs.empty()
                                    ? rows_of_node.weight
                                    : rows_of_node.weight_without_costs};
        for (std::size_t i = 0; i < routed.size(); ++i)
            if (routed[i] >= 0) rows.known += rows.weight_of(i);
        const std::vector<Number> weights = weights_of(node, rows_of_node, branch);
        rows.majority = std::max(weights[0], weights[1]);
        std::vector<Agreement> agreements(columns_.count());
        for_columns(rows_of_node, agreements.size(), [&](std::size_t j, int thread) {
            if (std::int32_t(j) != builder_.nodes[node].column)
                agreements[j] =
                    best_agreement(columns_.columns[j], sorted(rows_of_node, j, thread), rows);
        });
        std::erase_if(agreements, [&](const Agreement& a) { return !a.beats_majority(rows); });
        std::stable_sort(agreements.begin(), agreements.end(),
                         [](const Agreement& a, const Agreement& b) {
                             return a.agreeing_weight > b.agreeing_weight;
                         });
        agreements.resize(std::min(agreements.size(), std::size_t(builder_.config.max_surrogates)));
        return agreements;
    }

    void record(std::size_t node, const Agreement& agreement) {
        Surrogate surrogate = agreement.split;
        surrogate.node = std::int32_t(node);
        if (!agreement.category_branches.empty()) {
            surrogate.table = std::int64_t(builder_.tables.size());
            builder_.tables.insert(builder_.tables.end(), agreement.category_branches.begin(),
                                   agreement.category_branches.end());
        }
        builder_.surrogates.push_back(surrogate);
    }

    // Branch to which a surrogate sends a row; -1 if its value is missing there as well.
    std::int32_t surrogate_branch(const Agreement& agreement, std::uint32_t row) const {
        const auto j = std::size_t(agreement.split.column);
        const std::uint32_t code = columns_.column(j)[row];
        if (code == columns_.columns[j].missing_code()) return -1;
        if (!agreement.category_branches.empty()) return agreement.category_branches[code];
        return std::int32_t(code > agreement.split.threshold_code) ^ agreement.split.flipped;
    }

    TreeBuilder& builder_;
    const Columns<Code>& columns_;
    const Targets& targets_;
    int threads_;
    std::vector<double> xlog2x_;
    std::vector<std::unique_ptr<SplitFinder<Rows>>> finders_;
    std::vector<std::vector<LargeEntry>> buffers_;
    std::unordered_map<std::size_t, NodeRows> node_rows_;
    Interrupt interrupt_;
};

}  // namespace

template <typename Code>
void grow_with_missing(TreeBuilder& builder, const Columns<Code>& columns, const Targets& targets,
                       int threads) {
    const bool weighted = builder.config.weighted;
    if (builder.config.n_classes && weighted)
        MissingGrower<Code, ClassRows<true>>(builder, columns, targets, threads).run();
    else if (builder.config.n_classes)
        MissingGrower<Code, ClassRows<false>>(builder, columns, targets, threads).run();
    else if (weighted)
        MissingGrower<Code, MomentRows<true>>(builder, columns, targets, threads).run();
    else
        MissingGrower<Code, MomentRows<false>>(builder, columns, targets, threads).run();
}

template void grow_with_missing(TreeBuilder&, const Columns<std::uint8_t>&, const Targets&, int);
template void grow_with_missing(TreeBuilder&, const Columns<std::uint16_t>&, const Targets&, int);
template void grow_with_missing(TreeBuilder&, const Columns<std::uint32_t>&, const Targets&, int);

}  // namespace ceiba::tree
