// A tree while it grows: its nodes, in the order in which they were made, and what they hold.
//
// Everything is plain numbers, so that a growing tree can be handed over as arrays: levels of a
// distributed fit are grown one after the other from merged histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/candidate.hpp"

namespace ceiba::tree {

// Why a node is a leaf; kSplit where it is none, kOpen where nobody has decided yet.
enum class Reason : std::uint8_t {
    kSplit,
    kPure,
    kImpurity,
    kDepth,
    kRows,
    kNoSplit,
    kLeafRows,
    kGain,
    kLeaves,
    kNoGain,
    kEmpty,
    kPruned,
    kOpen
};

// Columns that may be tested again below a node that tests them.
enum class Reuse : std::uint8_t { kAll, kNumeric, kNone };

enum class Growing : std::uint8_t { kDepthFirst, kLevelWise, kBestFirst };

struct GrowthRules {
    Criterion criterion = Criterion::kGini;
    SplitRules split;
    Growing growing = Growing::kDepthFirst;
    std::int64_t classes = 0;  // 0: numbers
    bool weighted = false;
    std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
    std::int64_t least_to_split = 2;
    std::int64_t max_leaves = 0;      // 0: no limit
    std::int64_t columns_a_node = 0;  // 0: all, in their order; else so many, in drawn order
    Reuse reuse = Reuse::kAll;
    double many_levels = std::numeric_limits<double>::infinity();  // left out of the average gain
    std::int64_t surrogates = 0;                                   // most of a node
    double least_decrease = 0;
    double enough = 0;  // an impurity that is good enough
    double root_weight = 0;
    std::uint64_t seed = 0;
    // Real size of one unit of the fixed-point numbers.
    double weight_unit = 1, target_unit = 1, square_unit = 1;
    double centre = 0;        // of all targets: what means are told relative to
    bool candidates = false;  // keep the best of every column (trace)

    int cell_size() const { return classes ? int(classes) + weighted : 2 + weighted; }
    bool fractional() const { return weight_unit != 1; }
    bool limited() const { return max_leaves > 0; }
};

struct Node {
    std::uint64_t path = 1;
    double term = 0, terms = 0;
    double median = 0, deviation = 0;  // absolute error
    double least = 0, most = 0;        // of the targets
    double gain = 0;
    double runner_up_gain = 0;
    double at = std::numeric_limits<double>::quiet_NaN();  // the threshold, if it is no midpoint
    Number squares = 0;
    std::int64_t table = -1;  // first place in Growth::tables: branches of levels, or cuts
    std::int64_t begin = 0, end = 0;
    std::int32_t column = -1;
    std::uint32_t cut = 0, next = 0;
    std::int32_t gap = kHeavier;
    std::int32_t branches = 0;
    std::int32_t child = -1;
    std::int32_t depth = 0;
    std::uint32_t ties = 0;
    std::int32_t runner_up = -1;
    std::int32_t parent = -1;
    std::int32_t padding = 0;
    Shape shape = Shape::kLeaf;
    Method method = Method::kNone;
    Reason reason = Reason::kOpen;
    std::uint8_t nominal = 0;  // whether the column of the split is

    bool expanded() const { return child >= 0; }
};

// A split of another column that sends rows much as a node's own split does, for rows that have no
// value there. Codes of the table say -1 for levels that the node does not have.
struct Surrogate {
    double agreement = 0;  // share of the known weight that is sent the same way
    double adjusted = 0;   // ... of what is not sent right by the heavier branch alone
    std::int64_t table = -1;
    std::int32_t node = 0;
    std::int32_t column = 0;
    std::uint32_t cut = 0, next = 0;
    std::int32_t flipped = 0;  // codes up to the cut go to branch 1
    std::int32_t padding = 0;
};

class Growth {
  public:
    explicit Growth(const GrowthRules& rules, std::size_t columns)
        : rules(rules), columns(columns), size(std::size_t(rules.cell_size())) {}

    GrowthRules rules;
    std::size_t columns;
    std::size_t size;  // of a cell
    std::vector<Node> nodes;
    std::vector<Number> cells;
    std::vector<std::int32_t> tables;  // branches of levels, -1 for those that a node does not have
    std::vector<Surrogate> surrogates;  // node after node, the best first
    std::vector<std::int32_t> used;     // columns that no node may test, ascending
    std::vector<double> candidate_gains;
    std::vector<std::uint32_t> candidate_cuts;

    Number* cell(std::size_t node) { return cells.data() + node * size; }
    const Number* cell(std::size_t node) const { return cells.data() + node * size; }
    Number weight(std::size_t node) const;
    Number count(std::size_t node) const;

    // No nodes as yet; memory that was had is kept.
    void clear();
    // A new node without rows; the next number.
    std::int32_t add(std::int32_t depth, std::uint64_t path);
    // For those who keep only some nodes: put one at the place of another, or behind all.
    void copy(std::size_t node, std::size_t to);
    std::size_t add_copy(std::size_t node);
    void drop_to(std::size_t count);
    // Decide, before any split is looked for, whether the node is a leaf.
    void close_if_done(std::size_t node);
    bool pure(std::size_t node) const;
    double impurity(std::size_t node) const;
    // Decide by the best candidate of every column looked at (in the order of the columns).
    void decide(std::size_t node, const std::vector<std::int32_t>& looked_at,
                const std::vector<Candidate>& best);
    double gain(std::size_t node, const Candidate& candidate) const;
    // Make the branches of a split node, empty as yet.
    void branch_out(std::size_t node);
    // ... as yet without paths, and the path of one of them: a leaf needs none.
    void add_branches(std::size_t node);
    void name(std::size_t node, std::uint64_t path_above, std::size_t branch);
    // Gaps of a split that saw none go to the heavier branch.
    void settle_gaps(std::size_t node);
    std::int32_t branch(const Node& node, std::uint32_t code, std::uint32_t gap_code) const {
        if (code == gap_code) return node.gap;
        if (node.shape == Shape::kThreshold) return code > node.cut;
        if (node.shape == Shape::kTable) return tables[std::size_t(node.table) + code];
        return node.shape == Shape::kKnown ? 0 : interval(node, code);
    }
    // Cuts and the codes above them, of a split into intervals.
    std::int32_t n_cuts(const Node& node) const { return tables[std::size_t(node.table)]; }
    std::uint32_t cut(const Node& node, std::int32_t i, bool above) const {
        return std::uint32_t(tables[std::size_t(node.table + 1 + 2 * i + above)]);
    }
    // Columns that were tested above a node and may not be tested again, ascending.
    std::vector<std::int32_t> barred(std::size_t node) const;
    bool reusable(bool nominal) const {
        return rules.reuse == Reuse::kAll || (rules.reuse == Reuse::kNumeric && !nominal);
    }
    // Columns to look at: all in their order, or drawn by the node's path, the first
    // `columns_a_node` and then the rest. Of equal splits that of the first column looked at wins,
    // so where columns are drawn no column is favoured.
    std::vector<std::int32_t> drawn(std::size_t node) const;
    // Append what was grown elsewhere below `node`: the part's first node stands for it.
    void graft(std::size_t node, const Growth& part);

  private:
    std::int32_t interval(const Node& node, std::uint32_t code) const {
        std::int32_t branch = 0;
        for (std::int32_t i = 0; i < n_cuts(node); ++i) branch += code > cut(node, i, false);
        return branch;
    }
    void note_cuts(Node& node, const Candidate& chosen);
    bool offers_nothing(std::size_t node, const Candidate& candidate) const;
    double average_gain(std::size_t node, const std::vector<Candidate>& best) const;
    void keep(std::size_t node, const std::vector<std::int32_t>& looked_at,
              const std::vector<Candidate>& best);
};

// The order in which nodes are split.
class Order {
  public:
    Order(const Growth& growth) : growth_(growth) {}
    void push_if_split(std::int32_t node);
    void push_branches(std::size_t node);
    bool empty() const { return waiting_.size() == first_; }
    std::int32_t pop();

  private:
    struct Waiting {
        double priority;
        std::size_t number;  // of two alike the one found earlier
        std::int32_t node;

        bool operator<(const Waiting& other) const {
            return priority != other.priority ? priority < other.priority : number > other.number;
        }
    };

    const Growth& growth_;
    std::vector<Waiting> waiting_;
    std::size_t first_ = 0;
    std::size_t pushed_ = 0;
};

// The tree in its final numbering: splits in growing order until the leaves are used up.
// `order[i]` is the node of `growth` that gets number i.
struct Numbering {
    std::vector<std::int32_t> order;
    std::vector<std::int32_t> child;  // new number of the first branch, -1 in a leaf
    // Nodes whose split is part of the tree and whose branches have not been made yet.
    std::vector<std::int32_t> unexpanded;
};
Numbering number(const Growth& growth);

}  // namespace ceiba::tree
