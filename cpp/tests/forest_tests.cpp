// Forests as a whole: growing, joining, packing, what is refused, and the way of rows through them.
#include "forest_table.hpp"

namespace ceiba::tests {
namespace {

using tree::Criterion;
using tree::GapRule;
using tree::PackedNode;
using tree::Test;

constexpr std::size_t kTrees = 9, kRows = 260;

// Every bag and every way to grow: drawn columns or all, counted classes, weights, numbers.
std::vector<ForestWay> ways() {
    ForestWay plain{"two columns a node"};
    std::vector<ForestWay> all{plain};
    const auto add = [&](const char* name, const std::function<void(ForestWay&)>& change) {
        all.push_back(plain);
        all.back().name = name;
        change(all.back());
    };
    add("two classes", [](ForestWay& way) { way.classes = 2; });
    add("many classes", [](ForestWay& way) { way.classes = 70, way.max_depth = 3; });
    add("many levels", [](ForestWay& way) { way.levels = 150; });
    add("numbers alone", [](ForestWay& way) { way.levels = 0, way.gaps = false; });
    add("entropy", [](ForestWay& way) { way.criterion = Criterion::kEntropy; });
    add("all columns", [](ForestWay& way) { way.columns_a_node = 0; });
    add("columns of a tree", [](ForestWay& way) { way.columns_a_tree = 3; });
    add("few leaves", [](ForestWay& way) { way.max_leaves = 12; });
    add("large leaves", [](ForestWay& way) { way.least_rows = 6; });
    add("a branch for gaps", [](ForestWay& way) { way.missing = GapRule::kBranch; });
    add("the majority's branch", [](ForestWay& way) { way.missing = GapRule::kMajority; });
    add("weights", [](ForestWay& way) { way.weighted = true; });
    add("some rows", [](ForestWay& way) { way.replace = false; });
    const auto numbers = [](ForestWay& way) {
        way.classes = 0, way.criterion = Criterion::kSquared;
    };
    add("numbers to predict", numbers);
    add("numbers with weights", [&](ForestWay& way) { numbers(way), way.weighted = true; });
    add("numbers by all columns", [&](ForestWay& way) { numbers(way), way.columns_a_node = 0; });
    return all;
}

// body(way, table, forest) for all of them; what fails is named.
template <typename Body>
void for_ways(const Body& body) {
    for (const ForestWay& way : ways()) {
        const ForestTable table = table_of(way, kRows);
        try {
            body(way, table, grown(way, table, kTrees));
        } catch (const std::exception& error) {
            throw std::runtime_error(std::string(way.name) + ": " + error.what());
        }
    }
}

const char* complaint_of(const Trees& trees, const ForestTable& table) {
    return Checked(trees, table).wrong;
}

std::vector<std::int32_t> leaves_of(const Trees& trees, const ForestTable& table, int threads = 1) {
    const Checked checked(trees, table);
    const ForestView& view = checked.view;
    std::vector<std::int32_t> leaf(table.rows * view.trees, -1);
    forest::apply(view, table.asked(), leaf.data(), threads);
    return leaf;
}

std::vector<double> told(const Trees& trees, const ForestTable& table, int threads = 1) {
    const Checked checked(trees, table);
    const ForestView& view = checked.view;
    const std::vector<double> added(view.trees, 0.0);
    std::vector<double> out(table.rows * std::max<std::size_t>(1, table.classes), -1);
    forest::tell(view, table.asked(), added.data(), out.data(), threads);
    return out;
}

// Growing

void threads_and_codes_do_not_change_a_forest() {
    for_ways([](const ForestWay& way, const ForestTable& table, const Trees& alone) {
        expect(alone.first.size() == kTrees + 1, "as many trees as seeds");
        for (const int threads : {2, 3})
            expect(same(grown(way, table, kTrees, threads), alone), "threads");
        expect(same(grown<std::uint16_t>(way, table, kTrees, 2), alone), "narrow codes");
    });
}

void a_tree_depends_on_its_own_seed_alone() {
    for_ways([](const ForestWay& way, const ForestTable& table, const Trees& all) {
        Trees joined = grown(way, table, kTrees - 4);
        forest::ForestRules rules = rules_of(way, kTrees);
        rules.seeds.erase(rules.seeds.begin(), rules.seeds.begin() + kTrees - 4);
        std::vector<std::uint32_t> own;
        joined.join(forest::grow_forest(rules, table.coded(own), table.targets(),
                                        sampling_of(way, table.rows), table.scales, 2));
        expect(same(joined, all), "the first trees, and the others behind them");
    });
}

// Weight of each class, or of all rows, in every (tree, leaf) by the rows of the bags themselves.
void leaves_weigh_what_their_rows_weigh() {
    for_ways([](const ForestWay& way, const ForestTable& table, const Trees& trees) {
        const Checked checked(trees, table);
        const ForestView& view = checked.view;
        const std::vector<std::int32_t> leaf = leaves_of(trees, table);
        const forest::Sampling sampling = sampling_of(way, table.rows);
        for (std::size_t t = 0; t < kTrees; ++t) {
            std::vector<Number> count(table.rows);
            sampling.counts(forest::seed_of_tree(11, t), count.data());
            std::vector<double> weight(view.tree(t).count * table.classes);
            if (table.classes > 0) forest::class_weights(view, t, weight.data());
            std::map<std::int32_t, std::vector<Number>> sums;
            for (std::size_t i = 0; i < table.rows; ++i) {
                std::vector<Number>& sum = sums[leaf[i * kTrees + t]];
                sum.resize(std::max<std::size_t>(2, table.classes));
                const Number own = count[i] * (way.weighted ? table.weight[i] : 1);
                sum[table.label[i]] += own;
                if (table.classes == 0) sum[1] += count[i] * table.number[i];
            }
            for (const auto& [place, sum] : sums) {
                const PackedNode& node = trees.nodes[std::size_t(trees.first[t] + place)];
                expect(node.kind() == Test::kLeaf, "rows end in leaves");
                for (std::size_t k = 0; k < table.classes; ++k)
                    expect(weight[std::size_t(place) * table.classes + k] == double(sum[k]),
                           "weight of a class");
                if (table.classes == 0 && sum[0] > 0)
                    expect(std::abs(std::bit_cast<double>(node.cut) -
                                    double(sum[1]) / double(sum[0])) <= 1e-12,
                           "mean of a leaf");
            }
        }
    });
}

// Counted draws and weights of 1 go different ways, and arrive at one forest.
void weights_of_one_are_no_weights() {
    for (const ForestWay& way : ways()) {
        if (way.weighted) continue;
        ForestTable table = table_of(way, kRows);
        const Trees counted = grown(way, table, kTrees);
        table.weight.assign(table.rows, 1);
        expect(same(grown(way, table, kTrees), counted), way.name);
    }
}

// Packing, and what is refused

void a_grown_forest_is_sound() {
    for_ways([](const ForestWay& way, const ForestTable& table, const Trees& trees) {
        const char* wrong = complaint_of(trees, table);
        expect(wrong == nullptr, wrong ? wrong : "");
        expect(trees.nodes.size() > 3 * kTrees, "trees have splits");
        expect(way.max_leaves == 0 ||
                   trees.nodes.size() <= kTrees * std::size_t(2 * way.max_leaves - 1),
               "no more leaves than asked for");
    });
}

using Change = std::function<void(Trees&)>;

void refused(const ForestTable& table, const Trees& sound, const char* what, const Change& change) {
    Trees damaged = sound;
    change(damaged);
    expect(complaint_of(damaged, table) != nullptr, std::string("refuses ") + what);
}

PackedNode& first_of(Trees& trees, bool leaf) {
    for (PackedNode& node : trees.nodes)
        if ((node.kind() == Test::kLeaf) == leaf) return node;
    throw std::runtime_error("there is no such node");
}

void damaged_forests_are_refused() {
    for_ways([](const ForestWay&, const ForestTable& table, const Trees& trees) {
        const auto no = [&](const char* what, const Change& change) {
            refused(table, trees, what, change);
        };
        no("trees that begin later", [](Trees& t) { t.first[0] = 1; });
        no("trees that end early", [](Trees& t) { --t.first.back(); });
        no("trees that end late", [](Trees& t) { ++t.first.back(); });
        no("trees out of order", [](Trees& t) { std::swap(t.first[1], t.first[2]); });
        no("a tree without nodes", [](Trees& t) { t.first[1] = t.first[2]; });
        no("a tree before the first", [](Trees& t) { t.first[1] = -1; });
        no("a tree with the root of the next", [](Trees& t) { ++t.first[1]; });
        no("no more nodes", [](Trees& t) { t.nodes.pop_back(); });
        no("one more node", [](Trees& t) { t.nodes.push_back(t.nodes.back()); });
        no("a branch beyond the end", [](Trees& t) { first_of(t, false).child = 1 << 30; });
        no("a branch before its node", [](Trees& t) { first_of(t, false).child = 0; });
        no("a negative branch", [](Trees& t) { first_of(t, false).child = -1; });
        no("a branch of two nodes", [](Trees& t) { ++first_of(t, false).child; });
        no("an unknown column", [](Trees& t) { first_of(t, false).test |= 0xFFFFFF; });
        no("an unknown test", [](Trees& t) { first_of(t, false).test |= 0xF << 24; });
        no("a split that became a leaf", [](Trees& t) { first_of(t, false).test = 0; });
        no("a leaf that tests", [](Trees& t) { first_of(t, true).test |= 1; });
        no("a leaf below zero", [](Trees& t) { first_of(t, true).child = -2; });
        no("intervals",
           [](Trees& t) { first_of(t, false).test = tree::packed_test(0, Test::kIntervals, 0); });
    });
}

void damaged_leaves_are_refused() {
    ForestWay way{"pure leaves"};
    const ForestTable table = table_of(way, kRows);
    const Trees trees = grown(way, table, kTrees);
    refused(table, trees, "a class that is not there",
            [](Trees& t) { first_of(t, true).child = 3; });
    refused(table, trees, "no weight", [](Trees& t) { first_of(t, true).cut = 0; });
    ForestWay mixed{"mixed leaves"};
    mixed.classes = 70, mixed.max_depth = 3;
    const ForestTable many = table_of(mixed, kRows);
    const Trees large = grown(mixed, many, kTrees);
    refused(many, large, "a byte less", [](Trees& t) { t.leaves.pop_back(); });
    refused(many, large, "a byte more", [](Trees& t) { t.leaves.push_back(1); });
    refused(many, large, "other bytes", [](Trees& t) {
        for (PackedNode& node : t.nodes)
            node.child +=
                node.kind() == Test::kLeaf && forest::leaf_kind(node) == forest::Leaf::kListed;
    });
    way.classes = 0;
    way.criterion = Criterion::kSquared;
    const ForestTable numbers = table_of(way, kRows);
    const Trees means = grown(way, numbers, kTrees);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
        refused(numbers, means, "a value that is no number",
                [&](Trees& t) { first_of(t, true).cut = std::bit_cast<std::uint64_t>(bad); });
    refused(numbers, means, "a leaf of no weight", [](Trees& t) { first_of(t, true).child = 0; });
}

template <typename T>
void flip(std::vector<T>& values, Chance& chance) {
    if (values.empty()) return;
    T& value = values[chance.below(values.size())];
    auto* bytes = reinterpret_cast<unsigned char*>(&value);
    bytes[chance.below(sizeof(T))] ^= static_cast<unsigned char>(1 << chance.below(8));
}

void wound(Trees& trees, Chance& chance) {
    switch (chance.below(6)) {
        case 0:
            return flip(trees.first, chance);
        case 1:
            return flip(trees.words, chance);
        case 2:
            return flip(trees.tables, chance);
        case 3:
            return flip(trees.leaves, chance);
        default:
            return flip(trees.nodes, chance);
    }
}

// Whatever is not refused leads every row to a leaf that says something.
void what_is_not_refused_says_something_sound() {
    Chance chance(3);
    for_ways([&](const ForestWay&, const ForestTable& table, const Trees& trees) {
        std::size_t kept = 0;
        for (int round = 0; round < 400; ++round) {
            Trees damaged = trees;
            for (std::size_t wounds = chance.between(1, 3); wounds > 0; --wounds)
                wound(damaged, chance);
            if (complaint_of(damaged, table) != nullptr) continue;
            ++kept;
            const std::size_t width = std::max<std::size_t>(1, table.classes);
            const std::vector<double> said = told(damaged, table);
            for (std::size_t i = 0; i < table.rows; ++i) {
                const double* own = said.data() + i * width;
                const double sum = std::accumulate(own, own + width, 0.0);
                expect(std::isfinite(sum), "finite");
                if (table.classes > 0) expect(std::abs(sum - 1) < 1e-9, "shares");
            }
        }
        expect(kept > 20 && kept < 400, "some are refused");
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

void rows_go_the_way_of_one_row_alone() {
    for_ways([](const ForestWay&, const ForestTable& table, const Trees& trees) {
        const Checked checked(trees, table);
        const ForestView& view = checked.view;
        const ForestRows rows = table.asked();
        const std::vector<std::int32_t> leaf = leaves_of(trees, table);
        for (std::size_t i = 0; i < table.rows; ++i)
            for (std::size_t t = 0; t < kTrees; ++t)
                expect(leaf[i * kTrees + t] == leaf_by_hand(view, rows, t, i), "leaf");
        const std::size_t width = std::max<std::size_t>(1, table.classes);
        const std::vector<double> said = told(trees, table);
        forest::LeafShares shares(view);
        for (std::size_t i = 0; i < table.rows; ++i) {
            std::vector<double> sum(width, 0.0);
            for (std::size_t t = 0; t < kTrees; ++t) {
                shares.enter(t);
                shares.add(leaf[i * kTrees + t], sum.data());
            }
            for (std::size_t k = 0; k < width; ++k)
                expect(said[i * width + k] == sum[k] / double(kTrees), "mean of the trees");
        }
    });
}

void a_changed_column_is_read_from_other_rows() {
    for_ways([](const ForestWay&, const ForestTable& table, const Trees& trees) {
        const Checked checked(trees, table);
        const ForestView& view = checked.view;
        const ForestRows rows = table.asked();
        std::vector<std::uint32_t> all(table.rows), from(table.rows);
        std::iota(all.begin(), all.end(), 0);
        std::reverse_copy(all.begin(), all.end(), from.begin());
        ForestTable other = table;
        std::reverse(other.reals.begin() + std::ptrdiff_t(table.rows),
                     other.reals.begin() + std::ptrdiff_t(2 * table.rows));
        const std::vector<std::int32_t> wanted = leaves_of(trees, other);
        std::vector<std::int32_t> leaf(table.rows);
        for (std::size_t t = 0; t < kTrees; ++t) {
            forest::route_changed(view, rows, t, all, 1, from, leaf.data());
            for (std::size_t i = 0; i < table.rows; ++i)
                expect(leaf[i] == wanted[i * kTrees + t], "column 1 from the end");
        }
    });
}

// More rows than one block has.
void blocks_of_rows_and_a_matrix_say_the_same() {
    ForestWay way{"numbers alone"};
    way.levels = 0;
    const ForestTable small = table_of(way, kRows), large = table_of(way, 9000, 5);
    const Trees trees = grown(way, small, kTrees);
    const std::vector<double> said = told(trees, large);
    for (const int threads : {2, 3}) {
        expect(told(trees, large, threads) == said, "threads");
        expect(leaves_of(trees, large, threads) == leaves_of(trees, large), "leaves");
    }
    std::vector<double> matrix(large.rows * large.width());
    for (std::size_t i = 0; i < large.rows; ++i)
        for (std::size_t j = 0; j < large.width(); ++j)
            matrix[i * large.width() + j] = large.reals[j * large.rows + i];
    ForestRows rows;
    rows.doubles = matrix.data();
    rows.rows = large.rows;
    rows.width = large.width();
    std::vector<std::int32_t> leaf(large.rows * kTrees);
    forest::apply(Checked(trees, small).view, rows, leaf.data(), 2);
    expect(leaf == leaves_of(trees, large), "a matrix");
}

}  // namespace

Tests forest_tests() {
    return {
        {"threads_and_codes_do_not_change_a_forest", threads_and_codes_do_not_change_a_forest},
        {"a_tree_depends_on_its_own_seed_alone", a_tree_depends_on_its_own_seed_alone},
        {"leaves_weigh_what_their_rows_weigh", leaves_weigh_what_their_rows_weigh},
        {"weights_of_one_are_no_weights", weights_of_one_are_no_weights},
        {"a_grown_forest_is_sound", a_grown_forest_is_sound},
        {"damaged_forests_are_refused", damaged_forests_are_refused},
        {"damaged_leaves_are_refused", damaged_leaves_are_refused},
        {"what_is_not_refused_says_something_sound", what_is_not_refused_says_something_sound},
        {"rows_go_the_way_of_one_row_alone", rows_go_the_way_of_one_row_alone},
        {"a_changed_column_is_read_from_other_rows", a_changed_column_is_read_from_other_rows},
        {"blocks_of_rows_and_a_matrix_say_the_same", blocks_of_rows_and_a_matrix_say_the_same},
    };
}

}  // namespace ceiba::tests
