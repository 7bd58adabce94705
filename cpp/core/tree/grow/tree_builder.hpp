// A growing tree: its nodes, in the order in which they were made, and their totals.
//
// All of it is plain arrays, so that a growing tree can be passed on: a distributed fit grows one
// depth after the other from merged histograms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/config.hpp"
#include "tree/grow/column_sampler.hpp"
#include "tree/grow/interaction_sets.hpp"
#include "tree/split/candidate.hpp"

namespace ceiba::tree {

// Why a node is a leaf; kSplit if it is not, kOpen if that is undecided.
enum class Reason : std::uint8_t {
    kSplit,
    kPure,
    kImpurity,  // min_impurity_split
    kDepth,     // max_depth
    kRows,      // min_samples_split
    kNoSplit,   // no column has two values
    kLeafRows,  // min_samples_leaf, min_weight_fraction_leaf
    kGain,      // min_impurity_decrease
    kLeaves,    // max_leaf_nodes
    kNoGain,    // no split decreases the impurity
    kEmpty,     // a branch without rows
    kPruned,
    kOpen,
    kMonotonic  // monotonic_cst
};

struct Node {
    std::uint64_t path = 1;
    double term = 0;
    // Absolute error: the median, and the sum of the distances to it. Several outputs: the squared
    // error.
    double median = 0, deviation = 0;
    double min_target = 0, max_target = 0;  // of the node's rows
    double gain = 0;
    double runner_up_gain = 0;
    // Integer columns: its distance above the value of threshold_code. NaN: the midpoint of the
    // values on both sides.
    double threshold = std::numeric_limits<double>::quiet_NaN();
    Bounds bounds;  // of the values below, in fixed-point units; only for monotonic constraints
    Number squares = 0;
    std::int64_t table = -1;           // first index in TreeBuilder::tables
    std::uint32_t begin = 0, end = 0;  // range of its rows, whose indices have 32 bits
    std::int32_t column = -1;
    std::uint32_t threshold_code = 0, next_code = 0;
    std::int32_t missing_branch = kHeavierBranch;
    std::int32_t n_branches = 0;
    std::int32_t child = -1;
    std::int32_t depth = 0;
    std::uint32_t ties = 0;
    std::int32_t runner_up = -1;
    std::int32_t parent = -1;
    std::int32_t interaction_state = 0;  // of InteractionSets
    SplitShape shape = SplitShape::kNone;
    SearchMethod method = SearchMethod::kNone;
    Reason reason = Reason::kOpen;
    std::uint8_t nominal = 0;  // whether the column of the split is nominal

    bool expanded() const { return child >= 0; }
};

// A split of another column that routes rows much as a node's own split does, for rows whose value
// is missing there. Categories absent from the node have the branch -1.
struct Surrogate {
    double agreement = 0;  // fraction of the known weight that is routed alike
    double adjusted = 0;   // agreement relative to that of always choosing the heavier branch
    std::int64_t table = -1;
    std::int32_t node = 0;
    std::int32_t column = 0;
    std::uint32_t threshold_code = 0, next_code = 0;
    std::int32_t flipped = 0;  // codes up to the threshold go to branch 1
    std::int32_t padding = 0;
};

// Weights of two classes.
using ClassPair = std::array<Number, 2>;

class TreeBuilder {
  public:
    explicit TreeBuilder(const TreeConfig& config, std::size_t columns)
        : config(config),
          columns(columns),
          size(std::size_t(config.cell_size())),
          interactions(config.interactions) {}

    TreeConfig config;
    std::size_t columns;
    std::size_t size;  // of a cell
    std::vector<Node> nodes;
    std::vector<Number> cells;
    // Branches of categories (-1: absent from the node), and thresholds of intervals.
    std::vector<std::int32_t> tables;
    std::vector<Surrogate> surrogates;   // in node order, the best first
    std::vector<std::int32_t> excluded;  // columns that no node may test, ascending
    std::vector<double> candidate_gains;
    std::vector<std::uint32_t> candidate_codes;
    InteractionSets interactions;

    Number* cell(std::size_t node) { return cells.data() + node * size; }
    const Number* cell(std::size_t node) const { return cells.data() + node * size; }
    Number weight(std::size_t node) const;
    Number count(std::size_t node) const;

    // Remove all nodes, but keep the memory.
    void clear();
    // Add a node without rows, and return its index.
    std::int32_t add(std::int32_t depth, std::uint64_t path);
    // For growers that keep open nodes only: copy a node over another one, or behind all.
    void copy(std::size_t node, std::size_t to);
    std::size_t add_copy(std::size_t node);
    void truncate(std::size_t count);
    // Make the node a leaf if no split has to be searched.
    void close_if_leaf(std::size_t node);
    bool pure(std::size_t node) const;
    double impurity(std::size_t node) const;
    // Sums, term and path of a node, for the split search.
    NodeCell node_cell(std::size_t node) const;
    // Decide from the best candidate of every column that was searched, in the order of the search.
    void decide(std::size_t node, const std::vector<std::int32_t>& columns_searched,
                const std::vector<Candidate>& found);
    // Make a candidate the split of a node.
    void record_split(std::size_t node, std::int32_t column, const Candidate& chosen);
    double gain(std::size_t node, const Candidate& candidate) const;
    // A gain in the units of the terms.
    double to_terms(double gain) const;
    // Make the branches of a split node, without rows.
    void make_branches(std::size_t node);
    // Make the branches without paths; set the path of one of them (leaves need none).
    void add_branches(std::size_t node);
    void set_path(std::size_t node, std::uint64_t path_above, std::size_t branch);
    // Send missing values to the heavier branch, if the split was found without any.
    void assign_missing(std::size_t node);
    // Bound the values below the branches of a split node: a split of a constrained column
    // separates them by the middle between the values of its branches.
    void bound_branches(std::size_t node) {
        if (config.split.has_monotonic()) separate_branches(node);
    }
    // Class weights from which a node with rows predicts: its own, or moved to the bounds of
    // monotonic constraints, within a unit.
    ClassPair bounded_weights(std::size_t node) const;
    bool is_within_bounds(std::size_t node) const {
        return !config.split.has_monotonic() ||
               nodes[node].bounds.contains(constrained_value(cell(node), weight(node)));
    }
    // Derive the interaction states of nodes that arrived without them from the splits above.
    void restore_interactions();
    std::int32_t branch(const Node& node, std::uint32_t code, std::uint32_t missing_code) const {
        if (code == missing_code) return node.missing_branch;
        if (node.shape == SplitShape::kThreshold) return code > node.threshold_code;
        if (node.shape == SplitShape::kTable) return tables[std::size_t(node.table) + code];
        return node.shape == SplitShape::kKnown ? 0 : interval(node, code);
    }
    // Thresholds of a split into intervals: the code below each, or the one above.
    std::int32_t n_thresholds(const Node& node) const { return tables[std::size_t(node.table)]; }
    std::uint32_t threshold_code(const Node& node, std::int32_t i, bool above) const {
        return std::uint32_t(tables[std::size_t(node.table + 1 + 2 * i + above)]);
    }
    // Columns that a node must not test, ascending: tested above and not to be tested again, or
    // kept apart from a column tested above by interaction constraints.
    std::vector<std::int32_t> excluded_columns(std::size_t node) const;
    bool may_reuse(bool nominal) const {
        return config.feature_reuse == FeatureReuse::kAll ||
               (config.feature_reuse == FeatureReuse::kNumeric && !nominal);
    }
    // Begin the search order of a node: column order, or random order keyed by its path, the first
    // `columns_per_node` and then the rest. Ties go to the column searched first, so that random
    // order favors no column.
    void begin_columns(std::size_t node, ColumnSampler& order) const;
    // A tree of this node only, to be grown separately.
    TreeBuilder subtree(std::size_t node) const;
    // Append a subtree that was grown separately; its first node replaces `node`.
    void append_subtree(std::size_t node, const TreeBuilder& subtree);

  private:
    std::int32_t interval(const Node& node, std::uint32_t code) const {
        std::int32_t branch = 0;
        for (std::int32_t i = 0; i < n_thresholds(node); ++i)
            branch += code > threshold_code(node, i, false);
        return branch;
    }
    struct Ranking;

    Ranking rank_columns(std::size_t node, const std::vector<Candidate>& columns) const;
    void separate_branches(std::size_t node);
    void record_thresholds(Node& node, const Candidate& chosen);
    bool has_no_gain(std::size_t node, const Candidate& candidate) const;
    double average_gain(std::size_t node, const std::vector<Candidate>& best) const;
    void record_candidates(std::size_t node, const std::vector<std::int32_t>& columns_searched,
                           const std::vector<Candidate>& best);
};

// Call body(branch), where branch(code) is the branch of a code at a split node. Thresholds, by far
// the most frequent splits, then need no switch over the shapes of splits in every row.
template <typename Body>
decltype(auto) with_branches(const TreeBuilder& builder, const Node& node,
                             std::uint32_t missing_code, const Body& body) {
    const std::uint32_t threshold_code = node.threshold_code;
    if (node.shape != SplitShape::kThreshold || node.missing_branch > 1)
        return body([&](std::uint32_t code) { return builder.branch(node, code, missing_code); });
    if (node.missing_branch == 1)
        return body([=](std::uint32_t code) { return code > threshold_code; });
    return body(
        [=](std::uint32_t code) { return (code > threshold_code) & (code != missing_code); });
}

}  // namespace ceiba::tree
