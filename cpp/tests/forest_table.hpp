// A table with numbers, gaps and levels, and forests grown on it: what the tests of forests share.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "check.hpp"
#include "forest/forest.hpp"
#include "forest/grow_forest.hpp"
#include "forest/leaf_shares.hpp"
#include "forest/route_forest.hpp"
#include "forest/sampling.hpp"

namespace ceiba::tests {

using forest::ForestRows;
using forest::ForestView;
using forest::Trees;
using tree::Number;

struct ForestTable {
    static constexpr std::size_t kReals = 5;

    std::size_t rows, classes;  // 0 classes: numbers
    std::uint32_t levels;       // of the last column; 0: there is none
    std::vector<double> reals;  // column after column
    std::vector<std::int32_t> words;
    std::vector<std::uint16_t> label;
    std::vector<Number> number, weight;
    std::vector<double> value;
    std::vector<std::uint32_t> codes;
    std::vector<tree::Column> columns;
    std::vector<std::uint64_t> bits;
    std::vector<std::int64_t> offsets{0};
    tree::Scales scales;

    ForestTable(std::size_t rows, std::size_t classes, std::uint32_t levels, bool gaps,
                std::uint64_t seed)
        : rows(rows), classes(classes), levels(levels) {
        Chance chance(seed);
        for (std::size_t j = 0; j < kReals; ++j)
            for (std::size_t i = 0; i < rows; ++i) {
                const bool gap = gaps && j < 2 && chance.one_in(9);
                const double x = double(chance.below(j % 2 ? 7 : 100'000)) / 8 - 20;
                reals.push_back(gap ? std::numeric_limits<double>::quiet_NaN() : x);
            }
        for (std::size_t i = 0; levels > 0 && i < rows; ++i)
            words.push_back(gaps && chance.one_in(11) ? -1 : std::int32_t(chance.below(levels)));
        for (std::size_t i = 0; i < rows; ++i) set_target(i, chance);
        code();
    }

    std::size_t width() const { return kReals + (levels > 0); }

    tree::Targets targets() const {
        tree::Targets found;
        if (classes > 0) {
            found.label = label.data();
        } else {
            found.number = number.data();
            found.value = value.data();
        }
        if (!weight.empty()) found.weight = weight.data();
        return found;
    }

    template <typename Code>
    tree::Columns<Code> coded(std::vector<Code>& own) const {
        own.assign(codes.begin(), codes.end());
        tree::Columns<Code> found;
        found.codes = own.data();
        found.rows = rows;
        found.columns = columns;
        return found;
    }

    ForestRows asked() const {
        ForestRows found;
        found.rows = rows;
        found.width = width();
        for (std::size_t j = 0; j < kReals; ++j)
            found.columns.push_back({tree::Type::kDouble, reals.data() + j * rows, 1, nullptr, 0});
        if (levels > 0)
            found.columns.push_back({tree::Type::kNominal, words.data(), 1, nullptr, levels});
        return found;
    }

  private:
    void set_target(std::size_t i, Chance& chance) {
        const double x = reals[i], y = reals[rows + i];
        const Number score = Number(x == x ? x / 40 : 3) + Number(y == y ? y / 4 : 1) +
                             (levels > 0 && words[i] % 3 == 0 ? 5 : 0) + Number(chance.below(4));
        const auto place = std::uint64_t(score + 100);
        label.push_back(std::uint16_t(
            classes ? (chance.one_in(6) ? chance.below(classes) : place % classes) : 0));
        number.push_back(score);
        value.push_back(double(score));
    }

    void code() {
        for (std::size_t j = 0; j < kReals; ++j) {
            const double* x = reals.data() + j * rows;
            std::set<double> known;
            for (std::size_t i = 0; i < rows; ++i)
                if (x[i] == x[i]) known.insert(x[i]);
            const std::vector<double> all(known.begin(), known.end());
            for (std::size_t i = 0; i < rows; ++i)
                codes.push_back(std::uint32_t(
                    x[i] == x[i] ? std::lower_bound(all.begin(), all.end(), x[i]) - all.begin()
                                 : std::ptrdiff_t(all.size())));
            add_column(std::uint32_t(all.size()), tree::Type::kDouble, 0);
            for (const double v : all) bits.push_back(std::bit_cast<std::uint64_t>(v));
            offsets.push_back(std::int64_t(bits.size()));
        }
        if (levels > 0) {
            for (const std::int32_t level : words)
                codes.push_back(level < 0 ? levels : std::uint32_t(level));
            add_column(levels, tree::Type::kNominal, levels);
            offsets.push_back(std::int64_t(bits.size()));
        }
        scales.bits = bits.data();
        scales.offsets = offsets.data();
        scales.values = true;
    }

    void add_column(std::uint32_t n_codes, tree::Type type, std::uint32_t own_levels) {
        tree::Column column;
        column.n_codes = n_codes;
        column.nominal = type == tree::Type::kNominal;
        column.index = std::uint32_t(columns.size());
        columns.push_back(column);
        scales.types.push_back(type);
        scales.levels.push_back(own_levels);
    }
};

// A way to grow a forest: the rules, and how rows are drawn.
struct ForestWay {
    const char* name;
    std::size_t classes = 3;
    std::uint32_t levels = 9;
    bool gaps = true;
    std::int64_t columns_a_node = 2;
    std::size_t columns_a_tree = 0;
    tree::GapRule missing = tree::GapRule::kLearned;
    tree::Criterion criterion = tree::Criterion::kGini;
    std::int64_t max_depth = 1000, max_leaves = 0;
    Number least_rows = 1;
    bool weighted = false, replace = true;
};

inline forest::ForestRules rules_of(const ForestWay& way, std::size_t trees) {
    forest::ForestRules rules;
    rules.tree.criterion = way.criterion;
    rules.tree.classes = Number(way.classes);
    rules.tree.weighted = true;
    rules.tree.columns_a_node = way.columns_a_node;
    rules.tree.split.gaps = way.missing;
    rules.tree.split.least_rows = way.least_rows;
    rules.tree.max_depth = way.max_depth;
    rules.tree.max_leaves = way.max_leaves;
    if (way.max_leaves > 0) rules.tree.growing = tree::Growing::kBestFirst;
    rules.columns_a_tree = way.columns_a_tree;
    for (std::size_t t = 0; t < trees; ++t) rules.seeds.push_back(forest::seed_of_tree(11, t));
    return rules;
}

inline forest::Sampling sampling_of(const ForestWay& way, std::size_t rows) {
    forest::Sampling sampling;
    sampling.rows = rows;
    sampling.draws = way.replace ? rows : rows / 2;
    sampling.replace = way.replace;
    return sampling;
}

inline ForestTable table_of(const ForestWay& way, std::size_t rows, std::uint64_t seed = 1) {
    ForestTable table(rows, way.classes, way.levels, way.gaps, seed);
    Chance chance(seed + 1);
    for (std::size_t i = 0; way.weighted && i < rows; ++i) {
        table.weight.push_back(Number(chance.between(1, 90'000)));
        table.number[i] *= table.weight[i];
    }
    return table;
}

template <typename Code = std::uint32_t>
Trees grown(const ForestWay& way, const ForestTable& table, std::size_t trees, int threads = 1) {
    std::vector<Code> own;
    const tree::Columns<Code> columns = table.coded(own);
    return forest::grow_forest(rules_of(way, trees), columns, table.targets(),
                               sampling_of(way, table.rows), table.scales, threads);
}

// A forest that was looked at: what is wrong with it, and where the bytes of its leaves begin.
struct Checked {
    Checked(const Trees& trees, const ForestTable& table) {
        view.nodes = trees.nodes.data();
        view.count = trees.nodes.size();
        view.first = trees.first.data();
        view.trees = trees.first.size() - 1;
        view.words = trees.words.data();
        view.n_words = trees.words.size();
        view.tables = trees.tables.data();
        view.n_tables = trees.tables.size();
        view.leaves = trees.leaves.data();
        view.n_leaves = trees.leaves.size();
        view.classes = table.classes;
        view.steps = trees.steps.empty() ? nullptr : trees.steps.data();
        wrong = forest::complaint(view, table.scales.types, table.scales.levels, first_leaf);
        view.first_leaf = first_leaf.data();
    }
    Checked(const Checked&) = delete;

    ForestView view;
    std::vector<std::int64_t> first_leaf;
    const char* wrong;
};

inline bool same_nodes(const std::vector<tree::PackedNode>& a,
                       const std::vector<tree::PackedNode>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.cut == y.cut && x.child == y.child && x.test == y.test;
    });
}

inline bool same(const Trees& a, const Trees& b) {
    return same_nodes(a.nodes, b.nodes) && a.first == b.first && a.words == b.words &&
           a.tables == b.tables && a.leaves == b.leaves && a.importances == b.importances;
}

}  // namespace ceiba::tests
