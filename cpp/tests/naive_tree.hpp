// A naive tree: at every node all splits of all columns that constraints allow, scored by the
// definition of the criterion.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "tree_table.hpp"

namespace ceiba::tests {

using tree::SplitShape;

// A node with its split, if it has one: the first of the best.
struct NaiveNode {
    RowList rows;
    std::vector<Number> total;
    int column = -1;
    std::uint32_t threshold_code = 0;
    SplitShape shape = SplitShape::kNone;
    std::int32_t missing_branch = 0;
    std::vector<std::int32_t> category_branch;  // -1: absent from the node
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
    std::vector<int> tested;  // columns above
    std::vector<NaiveNode> branches;
};

class NaiveTree {
  public:
    explicit NaiveTree(const CodedTable& table) : table_(table) {}

    NaiveNode grow(const RowList& rows, NaiveNode node = {}) {
        node.rows = rows;
        node.total = table_.total(rows);
        if (is_pure(rows)) return node;
        best_ = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < table_.columns.size(); ++j)
            if (may_test(node, int(j))) search_column(node, j);
        if (node.column < 0) return node;
        std::vector<RowList> parts(2);
        for (const std::uint32_t row : rows)
            parts[std::size_t(branch_of(node, row))].push_back(row);
        if (!has_missing(rows, std::size_t(node.column)))
            node.missing_branch = weight(parts[1]) > weight(parts[0]);
        for (std::size_t b = 0; b < 2; ++b)
            node.branches.push_back(NaiveTree(table_).grow(parts[b], branch_of(node, parts, b)));
        return node;
    }

  private:
    bool is_pure(const RowList& rows) const {
        return std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
            return table_.label.empty() ? table_.value[row] == table_.value[rows[0]]
                                        : table_.label[row] == table_.label[rows[0]];
        });
    }
    Number weight(const RowList& rows) const {
        Number sum = 0;
        for (const std::uint32_t row : rows) sum += table_.weight_of(row);
        return sum;
    }
    bool is_missing(std::size_t j, std::uint32_t row) const {
        return table_.code(j, row) == table_.columns[j].missing_code();
    }
    bool has_missing(const RowList& rows, std::size_t j) const {
        return std::any_of(rows.begin(), rows.end(), [&](auto row) { return is_missing(j, row); });
    }

    std::int32_t branch_of(const NaiveNode& node, std::uint32_t row) const {
        const auto j = std::size_t(node.column);
        if (is_missing(j, row)) return node.missing_branch;
        if (node.shape == SplitShape::kTable) return node.category_branch[table_.code(j, row)];
        return node.shape == SplitShape::kThreshold && table_.code(j, row) > node.threshold_code;
    }

    // Gini: sum c_k^2 / t. Squared error: (sum w (y - m))^2 / sum w, m the integer part of the
    // mean.
    double term(const RowList& rows, const std::vector<Number>& node) const {
        const std::vector<Number> cell = table_.total(rows);
        const auto t = double(weight(rows));
        double sum = 0;
        if (table_.config.n_classes == 0) {
            sum = double(cell[1] - cell[0] * (node[1] / node[0]));
            return sum / t * sum;
        }
        for (std::size_t k = 0; k < std::size_t(table_.config.n_classes); ++k)
            sum += double(cell[k]) * double(cell[k]);
        return sum / t;
    }

    // Fraction of the second class, or mean.
    double value(const RowList& rows) const {
        return double(table_.total(rows)[1]) / double(weight(rows));
    }
    int sign(int column) const {
        const auto& signs = table_.config.split.monotonic;
        return signs.empty() ? 0 : signs[std::size_t(column)];
    }
    bool may_test(const NaiveNode& node, int column) const {
        if (!table_.config.interactions) return true;
        std::vector<int> together = node.tested;
        together.push_back(column);
        const auto& sets = *table_.config.interactions;
        return std::any_of(sets.begin(), sets.end(), [&](const auto& set) {
            return std::all_of(together.begin(), together.end(), [&](int j) {
                return std::find(set.begin(), set.end(), j) != set.end();
            });
        });
    }
    bool keeps_order(const NaiveNode& node, const NaiveNode& split,
                     const std::vector<RowList>& parts) const {
        if (sign(split.column) == 0) return true;
        const double left = value(parts[0]), right = value(parts[1]);
        return std::min(left, right) >= node.lower && std::max(left, right) <= node.upper &&
               sign(split.column) * (right - left) >= 0;
    }
    // An empty branch of a split node: bounds, and the columns tested above.
    NaiveNode branch_of(const NaiveNode& node, const std::vector<RowList>& parts,
                        std::size_t b) const {
        NaiveNode branch;
        branch.lower = node.lower;
        branch.upper = node.upper;
        branch.tested = node.tested;
        branch.tested.push_back(node.column);
        if (sign(node.column) == 0) return branch;
        const double middle = (value(parts[0]) + value(parts[1])) / 2;
        (b == (sign(node.column) > 0) ? branch.lower : branch.upper) = middle;
        return branch;
    }

    // Keep a split if its score is above all before.
    void try_split(NaiveNode& node, NaiveNode split) {
        std::vector<RowList> parts(2);
        for (const std::uint32_t row : node.rows)
            parts[std::size_t(branch_of(split, row))].push_back(row);
        if (parts[0].empty() || parts[1].empty()) return;
        const double score = term(parts[0], node.total) + term(parts[1], node.total);
        if (score <= best_ || !keeps_order(node, split, parts)) return;
        best_ = score;
        node.column = split.column;
        node.threshold_code = split.threshold_code;
        node.shape = split.shape;
        node.missing_branch = split.missing_branch;
        node.category_branch = split.category_branch;
    }

    void search_column(NaiveNode& node, std::size_t j) {
        std::vector<std::uint32_t> codes;  // of the node, ascending
        for (std::uint32_t code = 0; code < table_.columns[j].n_codes; ++code)
            if (std::any_of(node.rows.begin(), node.rows.end(),
                            [&](std::uint32_t row) { return table_.code(j, row) == code; }))
                codes.push_back(code);
        if (codes.empty()) return;
        NaiveNode split;
        split.column = int(j);
        if (table_.columns[j].nominal) return search_groups(node, split, codes);
        const bool missing = has_missing(node.rows, j);
        split.shape = SplitShape::kThreshold;
        for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
            split.threshold_code = codes[i];
            for (split.missing_branch = 0; split.missing_branch <= missing; ++split.missing_branch)
                try_split(node, split);
        }
        split.shape = SplitShape::kKnown;
        split.threshold_code = codes.back();
        split.missing_branch = 1;
        if (missing) try_split(node, split);
    }

    // All groupings of the categories; the last one is always on the right.
    void search_groups(NaiveNode& node, NaiveNode split, const std::vector<std::uint32_t>& codes) {
        split.shape = SplitShape::kTable;
        for (std::uint32_t subset = 1; subset < 1u << (codes.size() - 1); ++subset) {
            split.category_branch.assign(table_.columns[std::size_t(split.column)].n_codes, -1);
            for (std::size_t i = 0; i < codes.size(); ++i)
                split.category_branch[codes[i]] = subset >> i & 1 ? 0 : 1;
            try_split(node, split);
        }
    }

    const CodedTable& table_;
    double best_ = 0;
};

}  // namespace ceiba::tests
