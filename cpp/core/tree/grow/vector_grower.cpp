// Implementation of the growth of trees with several targets.
//
// Nodes are split one after the other, their columns distributed over the threads: a column of few
// codes for the rows of the node by a histogram, any other one by sorting the rows.
#include "tree/grow/vector_grower.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "tree/grow/node_search.hpp"
#include "tree/grow/row_store.hpp"
#include "tree/grow/split_order.hpp"
#include "tree/split/vector_cells.hpp"

namespace ceiba::tree {
namespace {

// Columns whose histogram has more numbers (8 MB) are sorted: a thousand targets would take 2.7 GB
// of a column of 333,000 codes.
constexpr std::size_t kMaxHistogramSize = std::size_t(1) << 20;

// Clearing and scanning a histogram pays off where there are many more rows than codes.
constexpr std::size_t kRowsPerCode = 3;

template <typename Code, typename Rows>
class VectorGrower {
  public:
    VectorGrower(TreeBuilder& builder, const Columns<Code>& columns, const VectorTargets& targets,
                 const Rows& target_rows, std::vector<std::uint32_t> rows, bool with_impurity,
                 int threads)
        : builder_(builder),
          columns_(columns),
          targets_(targets),
          target_rows_(target_rows),
          with_impurity_(with_impurity || builder.config.min_impurity > 0 ||
                         builder.config.split.category_correction),
          search_(builder, columns, Targets{}, threads),
          bins_(std::size_t(threads)),
          rows_(std::move(rows)),
          spare_(rows_.size()) {}

    std::vector<std::uint32_t> run() {
        builder_.add(0, 1);
        set_rows(0, 0, rows_.size());
        builder_.config.root_weight = double(builder_.weight(0));
        evaluate_if_open(0);
        for_splits_in_order(builder_, [&](std::size_t node) {
            expand(node);
            for (std::int32_t b = 0; b < builder_.nodes[node].n_branches; ++b)
                evaluate_if_open(std::size_t(builder_.nodes[node].child + b));
        });
        return std::move(rows_);
    }

  private:
    std::span<const std::uint32_t> rows_of(std::size_t node) const {
        const Node& n = builder_.nodes[node];
        return std::span(rows_).subspan(std::size_t(n.begin), std::size_t(n.end - n.begin));
    }

    // Give a node its rows, and compute their totals.
    void set_rows(std::size_t node, std::size_t begin, std::size_t end) {
        Node& n = builder_.nodes[node];
        n.begin = std::uint32_t(begin);
        n.end = std::uint32_t(end);
        const auto rows = rows_of(node);
        Number* cell = builder_.cell(node);
        for (const std::uint32_t row : rows) target_rows_.add(cell, row);
        n.term = search_.finder(0).term(cell);
        // A pure node has a range of zero.
        n.min_target = 0;
        n.max_target = varies(rows) ? 1 : 0;
        if (with_impurity_ && n.max_target > 0) n.deviation = squared_error(rows, cell);
        builder_.close_if_leaf(node);
    }

    // Whether the targets of rows differ. For most nodes the first two rows decide.
    bool varies(std::span<const std::uint32_t> rows) const {
        const auto differs = [&](const auto* values, std::size_t width) {
            const auto* first = values + rows[0] * width;
            return std::any_of(rows.begin() + 1, rows.end(), [&](std::uint32_t row) {
                return !std::equal(first, first + width, values + row * width);
            });
        };
        return targets_.label != nullptr ? differs(targets_.label, targets_.n_outputs)
                                         : differs(targets_.value, targets_.n_targets);
    }

    // Squared error of the rows of a node, in the units of its term.
    double squared_error(std::span<const std::uint32_t> rows, const Number* cell) const {
        const auto weight = double(cell[0]);
        const std::vector<double>& factors = builder_.config.target_factors;
        double sum = 0;
        if constexpr (std::is_same_v<Rows, LabelVectors>) {
            // The number of outputs times the factor is 1.
            for (std::size_t k = 0; k < factors.size(); ++k)
                sum += factors[k] * (double(cell[1 + k]) / weight) * double(cell[1 + k]);
            return std::max(0.0, weight - sum);
        } else {
            std::vector<double> mean(factors.size());
            for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = double(cell[1 + k]) / weight;
            for (const std::uint32_t row : rows) {
                const auto once = double(targets_.weight_of(row));
                double squares = 0;
                for (std::size_t k = 0; k < mean.size(); ++k) {
                    const Number target = targets_.weighted_target[row * mean.size() + k];
                    const double error = double(target) / once - mean[k];
                    squares += factors[k] * error * error;
                }
                sum += double(target_rows_.weight[row]) * squares;
            }
            return sum;
        }
    }

    void evaluate_if_open(std::size_t node) {
        if (builder_.nodes[node].reason != Reason::kOpen) return;
        const NodeCell cell = builder_.node_cell(node);
        const double work = double(rows_of(node).size() * (4 + targets_.n_targets));
        search_.evaluate(node, work, [&](std::size_t j, int thread, Candidate& best) {
            find(cell, rows_of(node), j, thread, best);
        });
    }

    void find(const NodeCell& cell, std::span<const std::uint32_t> rows, std::size_t j, int thread,
              Candidate& best) {
        const Column& column = columns_.columns[j];
        SplitFinder<Rows>& finder = search_.finder(thread);
        const std::size_t n_codes = std::size_t(column.n_codes) + 1;
        if (rows.size() < kRowsPerCode * n_codes || n_codes * builder_.size > kMaxHistogramSize) {
            const auto entries = search_.template sorted<LargeEntry>(
                rows, j, kLargeBits, [&](std::size_t i) { return rows[i]; }, thread);
            return finder.search_large(cell, column, target_rows_, entries, best);
        }
        std::vector<Number>& bins = bins_[std::size_t(thread)];
        bins.assign(n_codes * builder_.size, 0);
        const Code* codes = columns_.column(j);
        for (const std::uint32_t row : rows)
            target_rows_.add(bins.data() + codes[row] * builder_.size, row);
        finder.search_bins(cell, column, bins.data(), best);
    }

    // Make the branches of a split node, with their rows.
    void expand(std::size_t node) {
        builder_.make_branches(node);
        const Node n = builder_.nodes[node];
        const auto j = std::size_t(n.column), begin = std::size_t(n.begin);
        const Code* codes = columns_.column(j);
        std::uint32_t* rows = rows_.data() + begin;
        with_branches(builder_, n, columns_.columns[j].missing_code(), [&](const auto& branch) {
            partition_.split(
                std::size_t(n.end) - begin, std::size_t(n.n_branches),
                [&](std::size_t i) { return branch(codes[rows[i]]); },
                RowValues{rows, spare_.data()});
        });
        const std::vector<std::size_t>& starts = partition_.starts();
        for (std::size_t b = 0; b + 1 < starts.size(); ++b)
            set_rows(std::size_t(n.child) + b, begin + starts[b], begin + starts[b + 1]);
        builder_.assign_missing(node);
    }

    TreeBuilder& builder_;
    const Columns<Code>& columns_;
    const VectorTargets& targets_;
    const Rows target_rows_;
    bool with_impurity_;
    NodeSearch<Code, Rows> search_;
    std::vector<std::vector<Number>> bins_;  // of one column, per thread
    std::vector<std::uint32_t> rows_, spare_;
    RowPartition partition_;
};

}  // namespace

template <typename Code>
std::vector<std::uint32_t> grow_vectors(TreeBuilder& builder, const Columns<Code>& columns,
                                        const VectorTargets& targets, const Number* count,
                                        bool with_impurity, int threads) {
    std::vector<std::uint32_t> rows;
    std::vector<Number> weight(columns.rows, 0);
    for (std::size_t i = 0; i < columns.rows; ++i) {
        if (count[i] == 0) continue;
        rows.push_back(std::uint32_t(i));
        weight[i] = count[i] * targets.weight_of(i);
    }
    const auto run = [&](const auto& target_rows) {
        using Rows = std::remove_cvref_t<decltype(target_rows)>;
        VectorGrower<Code, Rows> grower(builder, columns, targets, target_rows, std::move(rows),
                                        with_impurity, threads);
        return grower.run();
    };
    if (targets.label != nullptr)
        return run(
            LabelVectors{targets.label, weight.data(), targets.n_outputs, targets.n_targets});
    return run(NumberVectors{targets.weighted_target, count, weight.data(), targets.n_targets});
}

void write_means(const TreeBuilder& builder, std::size_t node, const VectorTargets& targets,
                 const std::vector<std::uint32_t>& rows, double* out) {
    const Number* cell = builder.cell(node);
    const std::size_t n_targets = targets.n_targets;
    for (std::size_t k = 0; k < n_targets; ++k) out[k] = double(cell[1 + k]) / double(cell[0]);
    if (targets.label != nullptr) return;
    const Node& n = builder.nodes[node];
    const std::uint32_t *first = rows.data() + n.begin, *last = rows.data() + n.end;
    const double* own = targets.value + *first * n_targets;
    std::vector<double> low(own, own + n_targets), high = low;
    for (; first < last; ++first) {
        own = targets.value + *first * n_targets;
        for (std::size_t k = 0; k < n_targets; ++k) {
            low[k] = std::min(low[k], own[k]);
            high[k] = std::max(high[k], own[k]);
        }
    }
    for (std::size_t k = 0; k < n_targets; ++k)
        out[k] = std::clamp(targets.center[k] + out[k] * targets.unit[k], low[k], high[k]);
}

template std::vector<std::uint32_t> grow_vectors(TreeBuilder&, const Columns<std::uint8_t>&,
                                                 const VectorTargets&, const Number*, bool, int);
template std::vector<std::uint32_t> grow_vectors(TreeBuilder&, const Columns<std::uint16_t>&,
                                                 const VectorTargets&, const Number*, bool, int);
template std::vector<std::uint32_t> grow_vectors(TreeBuilder&, const Columns<std::uint32_t>&,
                                                 const VectorTargets&, const Number*, bool, int);

}  // namespace ceiba::tree
