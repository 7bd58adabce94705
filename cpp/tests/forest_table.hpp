// A random table with missing values and categories, and forests grown on it, shared by the forest
// tests.
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
#include "forest/grow/grow_forest.hpp"
#include "forest/predict/leaf_predictions.hpp"
#include "forest/predict/packed_forest.hpp"
#include "forest/predict/predict_forest.hpp"
#include "forest/sample/sampling.hpp"

namespace ceiba::tests {

using forest::ForestRows;
using forest::ForestView;
using forest::PackedForest;
using tree::Number;

struct ForestTable {
    static constexpr std::size_t kNumeric = 5;

    std::size_t rows, classes;    // 0 classes: regression
    std::uint32_t n_categories;   // of the last column; 0: no such column
    std::vector<double> numeric;  // column by column
    std::vector<std::int32_t> nominal;
    std::vector<std::uint16_t> label;
    std::vector<Number> number, weight;
    std::vector<double> value;
    std::vector<std::uint32_t> codes;
    std::vector<tree::Column> columns;
    std::vector<std::uint64_t> bits;
    std::vector<std::int64_t> offsets{0};
    tree::Scales scales;

    ForestTable(std::size_t rows, std::size_t classes, std::uint32_t n_categories, bool has_missing,
                std::uint64_t seed)
        : rows(rows), classes(classes), n_categories(n_categories) {
        RandomSource random(seed);
        for (std::size_t j = 0; j < kNumeric; ++j)
            for (std::size_t i = 0; i < rows; ++i) {
                const bool is_missing = has_missing && j < 2 && random.one_in(9);
                const double x = double(random.below(j % 2 ? 7 : 100'000)) / 8 - 20;
                numeric.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : x);
            }
        for (std::size_t i = 0; n_categories > 0 && i < rows; ++i)
            nominal.push_back(
                has_missing && random.one_in(11) ? -1 : std::int32_t(random.below(n_categories)));
        for (std::size_t i = 0; i < rows; ++i) set_target(i, random);
        encode();
    }

    std::size_t width() const { return kNumeric + (n_categories > 0); }

    tree::Targets targets() const {
        tree::Targets found;
        if (classes > 0) {
            found.label = label.data();
        } else {
            found.weighted_target = number.data();
            found.value = value.data();
        }
        if (!weight.empty()) found.weight = weight.data();
        return found;
    }

    template <typename Code>
    tree::Columns<Code> encoded(std::vector<Code>& own) const {
        own.assign(codes.begin(), codes.end());
        tree::Columns<Code> found;
        found.codes = own.data();
        found.rows = rows;
        found.columns = columns;
        return found;
    }

    ForestRows input_rows() const {
        ForestRows found;
        found.rows = rows;
        found.width = width();
        for (std::size_t j = 0; j < kNumeric; ++j)
            found.columns.push_back(
                {tree::Type::kDouble, numeric.data() + j * rows, 1, nullptr, 0});
        if (n_categories > 0)
            found.columns.push_back(
                {tree::Type::kNominal, nominal.data(), 1, nullptr, n_categories});
        return found;
    }

  private:
    void set_target(std::size_t i, RandomSource& random) {
        const double x = numeric[i], y = numeric[rows + i];
        const Number score = Number(x == x ? x / 40 : 3) + Number(y == y ? y / 4 : 1) +
                             (n_categories > 0 && nominal[i] % 3 == 0 ? 5 : 0) +
                             Number(random.below(4));
        const auto shifted = std::uint64_t(score + 100);
        label.push_back(std::uint16_t(
            classes ? (random.one_in(6) ? random.below(classes) : shifted % classes) : 0));
        number.push_back(score);
        value.push_back(double(score));
    }

    void encode() {
        for (std::size_t j = 0; j < kNumeric; ++j) {
            const double* x = numeric.data() + j * rows;
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
        if (n_categories > 0) {
            for (const std::int32_t category : nominal)
                codes.push_back(category < 0 ? n_categories : std::uint32_t(category));
            add_column(n_categories, tree::Type::kNominal, n_categories);
            offsets.push_back(std::int64_t(bits.size()));
        }
        scales.bits = bits.data();
        scales.offsets = offsets.data();
        scales.values = true;
    }

    void add_column(std::uint32_t n_codes, tree::Type type, std::uint32_t n_own_categories) {
        tree::Column column;
        column.n_codes = n_codes;
        column.nominal = type == tree::Type::kNominal;
        column.index = std::uint32_t(columns.size());
        columns.push_back(column);
        scales.types.push_back(type);
        scales.n_categories.push_back(n_own_categories);
    }
};

// One configuration of a forest and its row sampling.
struct ForestCase {
    const char* name;
    std::size_t classes = 3;
    std::uint32_t n_categories = 9;
    bool has_missing = true;
    std::int64_t columns_per_node = 2;
    std::size_t columns_per_tree = 0;
    tree::MissingPolicy missing = tree::MissingPolicy::kLearned;
    tree::Criterion criterion = tree::Criterion::kGini;
    std::int64_t max_depth = 1000, max_leaves = 0;
    Number min_rows = 1;
    bool weighted = false, replace = true;
};

inline forest::ForestConfig config_of(const ForestCase& test_case, std::size_t trees) {
    forest::ForestConfig config;
    config.tree.criterion = test_case.criterion;
    config.tree.n_classes = Number(test_case.classes);
    config.tree.weighted = true;
    config.tree.columns_per_node = test_case.columns_per_node;
    config.tree.split.missing = test_case.missing;
    config.tree.split.min_rows = test_case.min_rows;
    config.tree.max_depth = test_case.max_depth;
    config.tree.max_leaves = test_case.max_leaves;
    if (test_case.max_leaves > 0) config.tree.growth_order = tree::GrowthOrder::kBestFirst;
    config.columns_per_tree = test_case.columns_per_tree;
    for (std::size_t t = 0; t < trees; ++t) config.seeds.push_back(forest::tree_seed(11, t));
    return config;
}

inline forest::Sampling sampling_of(const ForestCase& test_case, std::size_t rows) {
    forest::Sampling sampling;
    sampling.rows = rows;
    sampling.draws = test_case.replace ? rows : rows / 2;
    sampling.replace = test_case.replace;
    return sampling;
}

inline ForestTable table_of(const ForestCase& test_case, std::size_t rows, std::uint64_t seed = 1) {
    ForestTable table(rows, test_case.classes, test_case.n_categories, test_case.has_missing, seed);
    RandomSource random(seed + 1);
    for (std::size_t i = 0; test_case.weighted && i < rows; ++i) {
        table.weight.push_back(Number(random.between(1, 90'000)));
        table.number[i] *= table.weight[i];
    }
    return table;
}

template <typename Code = std::uint32_t>
PackedForest grow(const ForestCase& test_case, const ForestTable& table, std::size_t trees,
                  int threads = 1) {
    std::vector<Code> own;
    const tree::Columns<Code> columns = table.encoded(own);
    return forest::grow_forest(config_of(test_case, trees), columns, table.targets(),
                               sampling_of(test_case, table.rows), table.scales, threads);
}

// A view of a forest with its defect, if any, and the offsets of its leaf bytes.
struct CheckedForest {
    CheckedForest(const PackedForest& trees, const ForestTable& table) {
        view.nodes = trees.nodes.data();
        view.count = trees.nodes.size();
        view.first = trees.first.data();
        view.n_trees = trees.first.size() - 1;
        view.words = trees.words.data();
        view.n_words = trees.words.size();
        view.tables = trees.tables.data();
        view.n_tables = trees.tables.size();
        view.leaves = trees.leaves.data();
        view.n_leaves = trees.leaves.size();
        view.n_classes = table.classes;
        view.class_units = trees.class_units.empty() ? nullptr : trees.class_units.data();
        defect =
            forest::forest_defect(view, table.scales.types, table.scales.n_categories, first_leaf);
        view.first_leaf = first_leaf.data();
    }
    CheckedForest(const CheckedForest&) = delete;

    ForestView view;
    std::vector<std::int64_t> first_leaf;
    const char* defect;
};

inline bool same_nodes(const std::vector<tree::PackedNode>& a,
                       const std::vector<tree::PackedNode>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.bits == y.bits && x.child == y.child && x.test == y.test;
    });
}

inline bool same(const PackedForest& a, const PackedForest& b) {
    return same_nodes(a.nodes, b.nodes) && a.first == b.first && a.words == b.words &&
           a.tables == b.tables && a.leaves == b.leaves && a.importances == b.importances;
}

}  // namespace ceiba::tests
