// Tests of whole forests: growing, appending, packing, validation and routing.
#include "forest_table.hpp"

namespace ceiba::tests {
namespace {

using tree::Criterion;
using tree::MissingPolicy;
using tree::PackedNode;
using tree::Test;

constexpr std::size_t kTrees = 9, kRows = 260;

// Cases for every kind of sample and both growers: drawn columns or all, counted and weighted
// classes, regression.
std::vector<ForestCase> forest_cases() {
    ForestCase plain{"two columns per node"};
    std::vector<ForestCase> all{plain};
    const auto add = [&](const char* name, const std::function<void(ForestCase&)>& change) {
        all.push_back(plain);
        all.back().name = name;
        change(all.back());
    };
    add("two classes", [](ForestCase& test_case) { test_case.classes = 2; });
    add("many classes",
        [](ForestCase& test_case) { test_case.classes = 70, test_case.max_depth = 3; });
    add("many categories", [](ForestCase& test_case) { test_case.n_categories = 150; });
    add("numeric columns only",
        [](ForestCase& test_case) { test_case.n_categories = 0, test_case.has_missing = false; });
    add("entropy", [](ForestCase& test_case) { test_case.criterion = Criterion::kEntropy; });
    add("all columns", [](ForestCase& test_case) { test_case.columns_per_node = 0; });
    add("columns per tree", [](ForestCase& test_case) { test_case.columns_per_tree = 3; });
    add("few leaves", [](ForestCase& test_case) { test_case.max_leaves = 12; });
    add("large leaves", [](ForestCase& test_case) { test_case.min_rows = 6; });
    add("a branch for missing values",
        [](ForestCase& test_case) { test_case.missing = MissingPolicy::kBranch; });
    add("missing values to the majority branch",
        [](ForestCase& test_case) { test_case.missing = MissingPolicy::kMajority; });
    add("weights", [](ForestCase& test_case) { test_case.weighted = true; });
    add("without replacement", [](ForestCase& test_case) { test_case.replace = false; });
    const auto numbers = [](ForestCase& test_case) {
        test_case.classes = 0, test_case.criterion = Criterion::kSquared;
    };
    add("regression", numbers);
    add("weighted regression",
        [&](ForestCase& test_case) { numbers(test_case), test_case.weighted = true; });
    add("regression on all columns",
        [&](ForestCase& test_case) { numbers(test_case), test_case.columns_per_node = 0; });
    return all;
}

// Call body(test_case, table, forest) for all cases; a failure names its case.
template <typename Body>
void for_cases(const Body& body) {
    for (const ForestCase& test_case : forest_cases()) {
        const ForestTable table = table_of(test_case, kRows);
        try {
            body(test_case, table, grow(test_case, table, kTrees));
        } catch (const std::exception& error) {
            throw std::runtime_error(std::string(test_case.name) + ": " + error.what());
        }
    }
}

const char* defect_of(const PackedForest& trees, const ForestTable& table) {
    return CheckedForest(trees, table).defect;
}

std::vector<std::int32_t> leaves_of(const PackedForest& trees, const ForestTable& table,
                                    int threads = 1) {
    const CheckedForest checked(trees, table);
    const ForestView& view = checked.view;
    std::vector<std::int32_t> leaf(table.rows * view.n_trees, -1);
    forest::apply(view, table.input_rows(), leaf.data(), threads);
    return leaf;
}

std::vector<double> predictions(const PackedForest& trees, const ForestTable& table,
                                int threads = 1) {
    const CheckedForest checked(trees, table);
    const ForestView& view = checked.view;
    const std::vector<double> added(view.n_trees, 0.0);
    std::vector<double> out(table.rows * std::max<std::size_t>(1, table.classes), -1);
    forest::predict(view, table.input_rows(), added.data(), out.data(), threads);
    return out;
}

// Growing

void threads_and_codes_do_not_change_a_forest() {
    for_cases([](const ForestCase& test_case, const ForestTable& table, const PackedForest& alone) {
        expect(alone.first.size() == kTrees + 1, "one tree per seed");
        for (const int threads : {2, 3})
            expect(same(grow(test_case, table, kTrees, threads), alone), "threads");
        expect(same(grow<std::uint16_t>(test_case, table, kTrees, 2), alone), "narrow codes");
    });
}

void a_tree_depends_on_its_own_seed_only() {
    for_cases([](const ForestCase& test_case, const ForestTable& table, const PackedForest& all) {
        PackedForest joined = grow(test_case, table, kTrees - 4);
        forest::ForestConfig config = config_of(test_case, kTrees);
        config.seeds.erase(config.seeds.begin(), config.seeds.begin() + kTrees - 4);
        std::vector<std::uint32_t> own;
        joined.append(forest::grow_forest(config, table.encoded(own), table.targets(),
                                          sampling_of(test_case, table.rows), table.scales, 2));
        expect(same(joined, all), "appended trees");
    });
}

// Compare class weights or means of every (tree, leaf) with sums over the in-bag rows.
void leaf_weights_are_sums_of_row_weights() {
    for_cases([](const ForestCase& test_case, const ForestTable& table, const PackedForest& trees) {
        const CheckedForest checked(trees, table);
        const ForestView& view = checked.view;
        const std::vector<std::int32_t> leaf = leaves_of(trees, table);
        const forest::Sampling sampling = sampling_of(test_case, table.rows);
        for (std::size_t t = 0; t < kTrees; ++t) {
            std::vector<Number> count(table.rows);
            sampling.counts(forest::tree_seed(11, t), count.data());
            std::vector<double> weight(view.tree(t).count * table.classes);
            if (table.classes > 0) forest::class_weights(view, t, weight.data());
            std::map<std::int32_t, std::vector<Number>> sums;
            for (std::size_t i = 0; i < table.rows; ++i) {
                std::vector<Number>& sum = sums[leaf[i * kTrees + t]];
                sum.resize(std::max<std::size_t>(2, table.classes));
                const Number own = count[i] * (test_case.weighted ? table.weight[i] : 1);
                sum[table.label[i]] += own;
                if (table.classes == 0) sum[1] += count[i] * table.number[i];
            }
            for (const auto& [leaf_index, sum] : sums) {
                const PackedNode& node = trees.nodes[std::size_t(trees.first[t] + leaf_index)];
                expect(node.kind() == Test::kLeaf, "rows end in leaves");
                for (std::size_t k = 0; k < table.classes; ++k)
                    expect(weight[std::size_t(leaf_index) * table.classes + k] == double(sum[k]),
                           "weight of a class");
                if (table.classes == 0 && sum[0] > 0)
                    expect(std::abs(std::bit_cast<double>(node.bits) -
                                    double(sum[1]) / double(sum[0])) <= 1e-12,
                           "mean of a leaf");
            }
        }
    });
}

// Counted draws and unit weights use different samples but give the same forest.
void unit_weights_equal_no_weights() {
    for (const ForestCase& test_case : forest_cases()) {
        if (test_case.weighted) continue;
        ForestTable table = table_of(test_case, kRows);
        const PackedForest counted = grow(test_case, table, kTrees);
        table.weight.assign(table.rows, 1);
        expect(same(grow(test_case, table, kTrees), counted), test_case.name);
    }
}

// Packing and validation

void a_grown_forest_is_valid() {
    for_cases([](const ForestCase& test_case, const ForestTable& table, const PackedForest& trees) {
        const char* defect = defect_of(trees, table);
        expect(defect == nullptr, defect ? defect : "");
        expect(trees.nodes.size() > 3 * kTrees, "trees have splits");
        expect(test_case.max_leaves == 0 ||
                   trees.nodes.size() <= kTrees * std::size_t(2 * test_case.max_leaves - 1),
               "at most max_leaves leaves");
    });
}

using Change = std::function<void(PackedForest&)>;

void expect_rejected(const ForestTable& table, const PackedForest& valid, const char* what,
                     const Change& change) {
    PackedForest damaged = valid;
    change(damaged);
    expect(defect_of(damaged, table) != nullptr, std::string("must reject ") + what);
}

PackedNode& first_of(PackedForest& trees, bool leaf) {
    for (PackedNode& node : trees.nodes)
        if ((node.kind() == Test::kLeaf) == leaf) return node;
    throw std::runtime_error("no such node");
}

void damaged_forests_are_rejected() {
    for_cases([](const ForestCase&, const ForestTable& table, const PackedForest& trees) {
        const auto rejects = [&](const char* what, const Change& change) {
            expect_rejected(table, trees, what, change);
        };
        rejects("trees that begin later", [](PackedForest& t) { t.first[0] = 1; });
        rejects("trees that end early", [](PackedForest& t) { --t.first.back(); });
        rejects("trees that end late", [](PackedForest& t) { ++t.first.back(); });
        rejects("trees out of order", [](PackedForest& t) { std::swap(t.first[1], t.first[2]); });
        rejects("a tree without nodes", [](PackedForest& t) { t.first[1] = t.first[2]; });
        rejects("a tree before the first", [](PackedForest& t) { t.first[1] = -1; });
        rejects("a tree with the root of the next", [](PackedForest& t) { ++t.first[1]; });
        rejects("no more nodes", [](PackedForest& t) { t.nodes.pop_back(); });
        rejects("one more node", [](PackedForest& t) { t.nodes.push_back(t.nodes.back()); });
        rejects("a branch beyond the end",
                [](PackedForest& t) { first_of(t, false).child = 1 << 30; });
        rejects("a branch before its node", [](PackedForest& t) { first_of(t, false).child = 0; });
        rejects("a negative branch", [](PackedForest& t) { first_of(t, false).child = -1; });
        rejects("a branch of two nodes", [](PackedForest& t) { ++first_of(t, false).child; });
        rejects("an unknown column", [](PackedForest& t) { first_of(t, false).test |= 0xFFFFFF; });
        rejects("an unknown test", [](PackedForest& t) { first_of(t, false).test |= 0xF << 24; });
        rejects("a split that became a leaf", [](PackedForest& t) { first_of(t, false).test = 0; });
        rejects("a leaf with a test", [](PackedForest& t) { first_of(t, true).test |= 1; });
        rejects("a leaf below zero", [](PackedForest& t) { first_of(t, true).child = -2; });
        rejects("intervals", [](PackedForest& t) {
            first_of(t, false).test = tree::packed_test(0, Test::kIntervals, 0);
        });
    });
}

void damaged_leaves_are_rejected() {
    ForestCase test_case{"pure leaves"};
    const ForestTable table = table_of(test_case, kRows);
    const PackedForest trees = grow(test_case, table, kTrees);
    expect_rejected(table, trees, "a class index out of range",
                    [](PackedForest& t) { first_of(t, true).child = 3; });
    expect_rejected(table, trees, "a class without weight",
                    [](PackedForest& t) { first_of(t, true).bits = 0; });
    ForestCase mixed{"mixed leaves"};
    mixed.classes = 70, mixed.max_depth = 3;
    const ForestTable many = table_of(mixed, kRows);
    const PackedForest large = grow(mixed, many, kTrees);
    expect_rejected(many, large, "a byte less", [](PackedForest& t) { t.leaves.pop_back(); });
    expect_rejected(many, large, "a byte more", [](PackedForest& t) { t.leaves.push_back(1); });
    expect_rejected(many, large, "other bytes", [](PackedForest& t) {
        for (PackedNode& node : t.nodes)
            node.child +=
                node.kind() == Test::kLeaf && forest::leaf_kind(node) == forest::Leaf::kMixedLong;
    });
    test_case.classes = 0;
    test_case.criterion = Criterion::kSquared;
    const ForestTable numbers = table_of(test_case, kRows);
    const PackedForest means = grow(test_case, numbers, kTrees);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
        expect_rejected(numbers, means, "a value that is not finite", [&](PackedForest& t) {
            first_of(t, true).bits = std::bit_cast<std::uint64_t>(bad);
        });
    expect_rejected(numbers, means, "a leaf without weight",
                    [](PackedForest& t) { first_of(t, true).child = 0; });
}

template <typename T>
void flip_bit(std::vector<T>& values, RandomSource& random) {
    if (values.empty()) return;
    T& value = values[random.below(values.size())];
    auto* bytes = reinterpret_cast<unsigned char*>(&value);
    bytes[random.below(sizeof(T))] ^= static_cast<unsigned char>(1 << random.below(8));
}

void corrupt(PackedForest& trees, RandomSource& random) {
    switch (random.below(6)) {
        case 0:
            return flip_bit(trees.first, random);
        case 1:
            return flip_bit(trees.words, random);
        case 2:
            return flip_bit(trees.tables, random);
        case 3:
            return flip_bit(trees.leaves, random);
        default:
            return flip_bit(trees.nodes, random);
    }
}

// Whatever passes validation leads every row to a leaf with a finite prediction.
void accepted_forests_predict_finite_values() {
    RandomSource random(3);
    for_cases([&](const ForestCase&, const ForestTable& table, const PackedForest& trees) {
        std::size_t kept = 0;
        for (int round = 0; round < 400; ++round) {
            PackedForest damaged = trees;
            for (std::size_t n_flips = random.between(1, 3); n_flips > 0; --n_flips)
                corrupt(damaged, random);
            if (defect_of(damaged, table) != nullptr) continue;
            ++kept;
            const std::size_t width = std::max<std::size_t>(1, table.classes);
            const std::vector<double> predicted = predictions(damaged, table);
            for (std::size_t i = 0; i < table.rows; ++i) {
                const double* own = predicted.data() + i * width;
                const double sum = std::accumulate(own, own + width, 0.0);
                expect(std::isfinite(sum), "finite");
                if (table.classes > 0) expect(std::abs(sum - 1) < 1e-9, "probabilities");
            }
        }
        expect(kept > 20 && kept < 400, "some are rejected");
    });
}

// Routing

std::int32_t leaf_by_hand(const ForestView& view, const ForestRows& rows, std::size_t t,
                          std::size_t row) {
    const tree::TreeView tree = view.tree(t);
    std::int32_t at = 0;
    while (tree.nodes[at].kind() != Test::kLeaf) {
        const PackedNode& node = tree.nodes[at];
        at = node.child + tree::branch_of(tree, node, rows.columns[node.column()], row);
    }
    return at;
}

void batch_routing_equals_routing_single_rows() {
    for_cases([](const ForestCase&, const ForestTable& table, const PackedForest& trees) {
        const CheckedForest checked(trees, table);
        const ForestView& view = checked.view;
        const ForestRows rows = table.input_rows();
        const std::vector<std::int32_t> leaf = leaves_of(trees, table);
        for (std::size_t i = 0; i < table.rows; ++i)
            for (std::size_t t = 0; t < kTrees; ++t)
                expect(leaf[i * kTrees + t] == leaf_by_hand(view, rows, t, i), "leaf");
        const std::size_t width = std::max<std::size_t>(1, table.classes);
        const std::vector<double> predicted = predictions(trees, table);
        forest::LeafPredictions leaf_predictions(view);
        for (std::size_t i = 0; i < table.rows; ++i) {
            std::vector<double> sum(width, 0.0);
            for (std::size_t t = 0; t < kTrees; ++t) {
                leaf_predictions.set_tree(t);
                leaf_predictions.add(leaf[i * kTrees + t], sum.data());
            }
            for (std::size_t k = 0; k < width; ++k)
                expect(predicted[i * width + k] == sum[k] / double(kTrees), "mean of the trees");
        }
    });
}

void a_permuted_column_is_read_from_other_rows() {
    for_cases([](const ForestCase&, const ForestTable& table, const PackedForest& trees) {
        const CheckedForest checked(trees, table);
        const ForestView& view = checked.view;
        const ForestRows rows = table.input_rows();
        std::vector<std::uint32_t> all(table.rows), from(table.rows);
        std::iota(all.begin(), all.end(), 0);
        std::reverse_copy(all.begin(), all.end(), from.begin());
        ForestTable other = table;
        std::reverse(other.numeric.begin() + std::ptrdiff_t(table.rows),
                     other.numeric.begin() + std::ptrdiff_t(2 * table.rows));
        const std::vector<std::int32_t> expected = leaves_of(trees, other);
        std::vector<std::int32_t> leaf(table.rows);
        for (std::size_t t = 0; t < kTrees; ++t) {
            forest::route_permuted(view, rows, t, all, 1, from, leaf.data());
            for (std::size_t i = 0; i < table.rows; ++i)
                expect(leaf[i] == expected[i * kTrees + t], "column 1 from the end");
        }
    });
}

// More rows than one block.
void blocks_and_matrices_give_equal_predictions() {
    ForestCase test_case{"numeric columns only"};
    test_case.n_categories = 0;
    const ForestTable small = table_of(test_case, kRows), large = table_of(test_case, 9000, 5);
    const PackedForest trees = grow(test_case, small, kTrees);
    const std::vector<double> predicted = predictions(trees, large);
    for (const int threads : {2, 3}) {
        expect(predictions(trees, large, threads) == predicted, "threads");
        expect(leaves_of(trees, large, threads) == leaves_of(trees, large), "leaves");
    }
    std::vector<double> matrix(large.rows * large.width());
    for (std::size_t i = 0; i < large.rows; ++i)
        for (std::size_t j = 0; j < large.width(); ++j)
            matrix[i * large.width() + j] = large.numeric[j * large.rows + i];
    ForestRows rows;
    rows.doubles = matrix.data();
    rows.rows = large.rows;
    rows.width = large.width();
    std::vector<std::int32_t> leaf(large.rows * kTrees);
    forest::apply(CheckedForest(trees, small).view, rows, leaf.data(), 2);
    expect(leaf == leaves_of(trees, large), "a matrix");
}

}  // namespace

Tests forest_tests() {
    return {
        {"threads_and_codes_do_not_change_a_forest", threads_and_codes_do_not_change_a_forest},
        {"a_tree_depends_on_its_own_seed_only", a_tree_depends_on_its_own_seed_only},
        {"leaf_weights_are_sums_of_row_weights", leaf_weights_are_sums_of_row_weights},
        {"unit_weights_equal_no_weights", unit_weights_equal_no_weights},
        {"a_grown_forest_is_valid", a_grown_forest_is_valid},
        {"damaged_forests_are_rejected", damaged_forests_are_rejected},
        {"damaged_leaves_are_rejected", damaged_leaves_are_rejected},
        {"accepted_forests_predict_finite_values", accepted_forests_predict_finite_values},
        {"batch_routing_equals_routing_single_rows", batch_routing_equals_routing_single_rows},
        {"a_permuted_column_is_read_from_other_rows", a_permuted_column_is_read_from_other_rows},
        {"blocks_and_matrices_give_equal_predictions", blocks_and_matrices_give_equal_predictions},
    };
}

}  // namespace ceiba::tests
