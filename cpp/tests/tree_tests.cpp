// Tests of the tree engine: row partition, histogram subtraction, and the order of splits.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "naive_tree.hpp"
#include "tree/prune/row_stack.hpp"
#include "tree/split/median_finder.hpp"
#include "tree/split/split_finder.hpp"
#include "tree_table.hpp"

namespace ceiba::tests {
namespace {

using tree::Candidate;
using tree::Reason;

// Row partition

void a_partition_of_weighted_rows_is_stable() {
    constexpr std::size_t kRows = 40;
    RandomSource random(3);
    std::vector<double> x;
    for (std::size_t i = 0; i < kRows; ++i) x.push_back(double(random.below(10)));
    const std::uint32_t test = tree::packed_test(0, tree::Test::kReal, 0);
    const tree::PackedNode root{std::bit_cast<std::uint64_t>(4.0), 1, test};
    const tree::TreeView tree{&root, 1, nullptr, 0, nullptr, 0};
    const std::vector<tree::AnyColumn> columns{{tree::Type::kDouble, x.data(), 1, nullptr, 0}};
    std::vector<tree::WeightedRow> rows;
    for (std::uint32_t i = 0; i < kRows; ++i) rows.push_back({1.0 + i, i, std::uint16_t(i % 3)});
    const tree::MissingRouting routing;
    tree::RowStack stack(tree, columns, routing, rows);
    std::vector<tree::RowRange> branches;
    const tree::RowRange range{5, 35};
    expect(!stack.split(0, 2, range, branches), "no row is divided");
    expect(branches.size() == 2 && branches[0].begin == 5 && branches[0].end == branches[1].begin &&
               branches[1].end == 35,
           "the branches cover the range");
    for (const bool right : {false, true}) {
        std::vector<std::uint32_t> expected, found;
        for (std::uint32_t i = 5; i < 35; ++i)
            if ((x[i] > 4) == right) expected.push_back(i);
        for (const tree::WeightedRow& row : stack.copy(branches[right])) {
            found.push_back(row.index);
            expect(row.weight == 1.0 + row.index && row.label == row.index % 3,
                   "a row stays whole");
        }
        expect(!expected.empty() && found == expected, right ? "right side" : "left side");
    }
}

// Sizes and totals of all nodes: those of large nodes, which are partitioned in place, and those of
// subtrees, which partition sorted entries.
void nodes_have_the_rows_that_their_splits_select() {
    for (CodedTable& table : tables(12'000)) {
        for (std::size_t j = 0; j < 64; ++j) table.add_column(20, j % 2 ? 7 : 0, j % 8 == 5);
        table.add_targets();
        table.config.max_depth = 7;
        const TreeBuilder builder = table.grow(2);
        const std::vector<RowList> rows = rows_of_nodes(table, builder);
        std::size_t in_place = 0;
        for (std::size_t v = 0; v < builder.nodes.size(); ++v) {
            const tree::Node& node = builder.nodes[v];
            const std::string what = " of node " + std::to_string(v) + ", " + name_of(table);
            const std::vector<Number> total = table.total(rows[v]);
            expect(std::equal(total.begin(), total.end(), builder.cell(v)), "totals" + what);
            expect(builder.count(v) == Number(rows[v].size()), "rows" + what);
            if (node.end > node.begin)
                expect(node.end - node.begin == rows[v].size(), "range" + what);
            const bool partitioned = node.expanded() && node.end > node.begin &&
                                     builder.nodes[std::size_t(node.child)].end > node.begin;
            if (!partitioned) continue;
            std::uint32_t begin = node.begin;
            for (std::int32_t b = 0; b < node.n_branches; ++b) {
                const tree::Node& branch = builder.nodes[std::size_t(node.child + b)];
                expect(branch.begin == begin, "the branches follow each other" + what);
                begin = branch.end;
            }
            expect(begin == node.end, "the branches cover the range" + what);
            ++in_place;
        }
        expect(in_place >= 3, "large nodes are split, " + name_of(table));
    }
}

// A sum of doubles depends on its order: the deviation of a node has the bits of a sum in table
// order only if every partition above it was stable.
void rows_of_a_node_keep_the_order_of_the_table() {
    CodedTable table(6'000, 0, false, 21);
    for (std::size_t j = 0; j < 64; ++j) table.add_column(30, j % 4 ? 0 : 9);
    table.add_targets();
    RandomSource random(8);
    for (double& y : table.value) y += double(random.bits() >> 11) * 0x1p-53;
    std::vector<double> ranked = table.value;
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t i = 0; i < table.rows; ++i)
        table.weighted_target[i] =
            std::lower_bound(ranked.begin(), ranked.end(), table.value[i]) - ranked.begin();
    table.config.criterion = Criterion::kAbsolute;
    table.config.max_depth = 5;
    tree::Targets targets = table.targets();
    targets.ranked = ranked.data();
    targets.weighted_square = nullptr;
    TreeBuilder builder(table.config, table.columns.size());
    tree::grow(builder, table.view(), targets, nullptr, 2);
    const std::vector<RowList> rows = rows_of_nodes(table, builder);
    expect(builder.nodes.size() > 40, "the tree is grown");
    for (std::size_t v = 0; v < builder.nodes.size(); ++v) {
        tree::RunningMedian median;
        for (const std::uint32_t row : rows[v]) median.add({table.value[row], 1, table.value[row]});
        expect(builder.nodes[v].deviation == median.deviation(), "node " + std::to_string(v));
    }
}

// Histograms

// The best split of one column at a node, from a histogram that is counted directly.
template <typename Rows>
Candidate best_by_counting(const CodedTable& table, const TreeBuilder& builder, std::size_t v,
                           const RowList& rows, std::size_t j, tree::SplitFinder<Rows>& finder) {
    const std::size_t size = builder.size;
    std::vector<Number> bins((table.columns[j].n_codes + 1) * size, 0);
    for (const std::uint32_t row : rows) table.add(bins.data() + table.code(j, row) * size, row);
    Candidate best;
    const tree::Node& node = builder.nodes[v];
    finder.search_bins({builder.cell(v), node.term, node.path}, table.columns[j], bins.data(),
                       best);
    return best;
}

// Gain and threshold of every column at every large node: all but the root and the smaller branches
// were searched in histograms that are differences.
template <typename Rows>
void check_candidates(const CodedTable& table, std::size_t max_subtree_rows) {
    const TreeBuilder builder = table.grow(2);
    const std::vector<RowList> rows = rows_of_nodes(table, builder);
    const auto finder = tree::make_split_finder<Rows>(tree::split_finder_spec(table.config));
    std::size_t n_large = 0;
    for (std::size_t v = 0; v < builder.nodes.size(); ++v) {
        if (rows[v].size() <= max_subtree_rows || builder.nodes[v].reason != Reason::kSplit)
            continue;
        ++n_large;
        for (std::size_t j = 0; j < table.columns.size(); ++j) {
            const std::size_t index = v * table.columns.size() + j;
            const Candidate best = best_by_counting(table, builder, v, rows[v], j, *finder);
            const std::string what = " of column " + std::to_string(j) + " at node " +
                                     std::to_string(v) + ", " + name_of(table);
            const double gain = best.found() ? builder.gain(v, best) : -1;
            expect(builder.candidate_gains[index] == gain, "gain" + what);
            if (best.found())
                expect(builder.candidate_codes[index] == best.threshold_code, "threshold" + what);
        }
    }
    expect(n_large >= 4, "several nodes are large, " + name_of(table));
}

void a_difference_of_histograms_equals_counting() {
    constexpr std::size_t kColumns = 64, kMaxSubtreeRows = (1 << 20) / (8 * kColumns);
    for (CodedTable& table : tables(14'000)) {
        for (std::size_t j = 0; j < kColumns; ++j) table.add_column(24, j % 2 ? 0 : 6, j % 8 == 3);
        table.add_targets();
        table.config.max_depth = 5;
        table.config.keep_candidates = true;
        tree::with_rows(table.config, [&]<typename Rows>(std::type_identity<Rows>) {
            check_candidates<Rows>(table, kMaxSubtreeRows);
        });
    }
}

void sums_of_one_depth_equal_counting() {
    for (CodedTable& table : tables(3'000)) {
        for (std::size_t j = 0; j < 5; ++j) table.add_column(6 + 5 * std::uint32_t(j), j % 2 * 5);
        table.add_targets();
        RandomSource random(2);
        std::vector<std::int32_t> slot;
        for (std::size_t i = 0; i < table.rows; ++i)
            slot.push_back(std::int32_t(random.below(4)) - 1);
        SumArrays sums(table, 3), naive(table, 3);
        tree::add_depth_sums(table.view(), table.targets(), table.config, slot.data(), sums.view(),
                             2);
        const auto size = std::size_t(table.config.cell_size());
        const std::size_t n_cells = naive.cells.size() / 3;
        std::size_t first = 0;
        for (std::size_t j = 0; j < table.columns.size(); ++j) {
            for (const std::uint32_t row : table.all_rows())
                if (slot[row] >= 0)
                    table.add(naive.cells.data() + std::size_t(slot[row]) * n_cells +
                                  (first + table.code(j, row)) * size,
                              row);
            first += table.columns[j].n_codes + 1;
        }
        expect(sums.cells == naive.cells, "cells, " + name_of(table));
        for (std::size_t i = 0; table.label.empty() && i < table.rows; ++i)
            if (slot[i] >= 0) naive.squares[std::size_t(slot[i])] += table.weighted_square[i];
        expect(sums.squares == naive.squares, "squares, " + name_of(table));
    }
}

// Order of splits

// One column of codes 0 to 3 with the labels 0 1 1 0: the thresholds behind the codes 0 and 2 tie.
void ties_go_to_the_lowest_threshold() {
    const Column column{4, false, 0};
    constexpr int kBits = 1;
    const std::vector<std::uint16_t> label{0, 1, 1, 0};
    const std::vector<Number> cell{2, 2}, bins{1, 0, 0, 1, 0, 1, 1, 0, 0, 0};
    std::vector<std::uint32_t> labels;
    std::vector<tree::SmallEntry> small;
    std::vector<tree::LargeEntry> large;
    for (std::uint32_t i = 0; i < 4; ++i) {
        labels.push_back(i << kBits | label[i]);
        small.push_back(i << tree::kSmallBits | i);
        large.push_back(tree::LargeEntry(i) << tree::kLargeBits | i);
    }
    for (const Criterion criterion : {Criterion::kGini, Criterion::kEntropy, Criterion::kError}) {
        TreeConfig config;
        config.n_classes = 2;
        config.criterion = criterion;
        const auto finder =
            tree::make_split_finder<tree::ClassRows<false>>(tree::split_finder_spec(config));
        const tree::NodeCell node{cell.data(), finder->term(cell.data()), 1};
        const tree::ClassRows<false> rows{label.data(), nullptr, 2};
        std::vector<Candidate> best(4);
        finder->search_bins(node, column, bins.data(), best[0]);
        finder->search_labels(node, column, labels, kBits, best[1]);
        finder->search_small(node, column, column.missing_code(), rows, small, best[2]);
        finder->search_large(node, column, rows, large, best[3]);
        for (std::size_t i = 0; i < best.size(); ++i) {
            const std::string what = " of source " + std::to_string(i);
            expect(best[i].shape == SplitShape::kThreshold, "shape" + what);
            expect(best[i].threshold_code == 0 && best[i].next_code == 1, "threshold" + what);
            expect(best[i].ties == 1, "ties" + what);
        }
    }
}

// The columns 2 and 3 repeat the columns 0 and 1, so every split has a tie.
void ties_go_to_the_first_column() {
    for (CodedTable& table : tables(3'000)) {
        table.add_column(40, 8);
        table.add_column(40, 0);
        const std::vector<std::uint8_t> first = table.codes;
        table.codes.insert(table.codes.end(), first.begin(), first.end());
        for (const std::size_t j : {0, 1})
            table.columns.push_back({40, false, std::uint32_t(2 + j)});
        table.add_targets();
        // Small nodes are grown as subtrees, or one by one if the leaves are limited.
        for (const std::int64_t max_leaves : {0, 3'000}) {
            table.config.max_leaves = max_leaves;
            const TreeBuilder builder = table.grow(1);
            std::size_t splits = 0;
            for (const tree::Node& node : builder.nodes) {
                if (node.reason != Reason::kSplit) continue;
                ++splits;
                expect(node.column < 2, "column, " + name_of(table));
                expect(node.ties >= 1, "ties, " + name_of(table));
            }
            expect(splits > 20, "the tree is grown, " + name_of(table));
        }
    }
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

void trees_are_equal_for_any_number_of_threads() {
    for (CodedTable& table : tables(9'000)) {
        for (std::size_t j = 0; j < 64; ++j) table.add_column(50, j % 3 ? 0 : 9, j % 8 == 7);
        table.add_targets();
        for (const std::int64_t columns_per_node : {0, 7}) {
            table.config.columns_per_node = columns_per_node;
            const TreeBuilder one = table.grow(1);
            expect(one.nodes.size() > 100, "the tree is grown, " + name_of(table));
            for (const int threads : {2, 3}) {
                const TreeBuilder other = table.grow(threads);
                const std::string what = std::to_string(threads) + " threads, " + name_of(table);
                expect(same_bytes(one.nodes, other.nodes), "nodes, " + what);
                expect(one.cells == other.cells && one.tables == other.tables, "totals, " + what);
            }
        }
    }
}

void expect_equal(const TreeBuilder& builder, std::size_t v, const NaiveNode& naive,
                  const std::string& what) {
    const tree::Node& node = builder.nodes[v];
    expect(std::equal(naive.total.begin(), naive.total.end(), builder.cell(v)), "totals" + what);
    expect((node.reason == Reason::kSplit) == (naive.column >= 0), "leaf or split" + what);
    if (naive.column < 0) return;
    expect(node.column == naive.column, "column" + what);
    expect(node.shape == naive.shape, "shape" + what);
    if (node.shape == SplitShape::kThreshold)
        expect(node.threshold_code == naive.threshold_code, "threshold" + what);
    if (node.shape == SplitShape::kTable)
        expect(std::equal(naive.category_branch.begin(), naive.category_branch.end(),
                          builder.tables.begin() + node.table),
               "categories" + what);
    expect(node.missing_branch == naive.missing_branch, "missing values" + what);
    for (std::size_t b = 0; b < 2; ++b)
        expect_equal(builder, std::size_t(node.child) + b, naive.branches[b],
                     what + (b ? "r" : "l"));
}

// Grow one depth after the other from the sums of its rows.
TreeBuilder grow_by_depth(const CodedTable& table) {
    TreeBuilder builder(table.config, table.columns.size());
    builder.add(0, 1);
    std::vector<std::int32_t> open{0};
    while (!open.empty()) {
        const std::vector<RowList> rows = rows_of_nodes(table, builder);
        std::vector<std::int32_t> slot(table.rows, -1);
        for (std::size_t s = 0; s < open.size(); ++s)
            for (const std::uint32_t row : rows[std::size_t(open[s])]) slot[row] = std::int32_t(s);
        SumArrays sums(table, open.size());
        tree::add_depth_sums(table.view(), table.targets(), table.config, slot.data(), sums.view(),
                             1);
        tree::solve_depth(builder, table.columns, open, sums.view());
        open.clear();
        for (std::size_t v = 0; v < builder.nodes.size(); ++v)
            if (builder.nodes[v].reason == Reason::kOpen) open.push_back(std::int32_t(v));
    }
    return builder;
}

void a_small_tree_equals_a_naive_search() {
    std::size_t n_nodes = 0;
    for (std::uint64_t round = 0; round < 30; ++round)
        for (CodedTable& table : tables(35 + 5 * (round % 4))) {
            table = CodedTable(table.rows, std::size_t(table.config.n_classes),
                               table.config.weighted, 100 + round);
            table.add_column(6, 5);
            table.add_column(12, 0);
            table.add_column(3, 4);
            // Groupings are searched one by one only with three classes or more.
            if (table.config.n_classes > 2) table.add_column(4, 0, true);
            table.add_targets();
            const NaiveNode naive = NaiveTree(table).grow(table.all_rows());
            const std::string what = " in round " + std::to_string(round) + ", " + name_of(table);
            const TreeBuilder builder = table.grow(2);
            n_nodes += builder.nodes.size();
            expect_equal(builder, 0, naive, what + ", subtree, node ");
            expect_equal(grow_by_depth(table), 0, naive, what + ", by depth, node ");
            table.config.max_leaves = 1'000;
            expect_equal(table.grow(2), 0, naive, what + ", node by node, node ");
        }
    expect(n_nodes > 3'000, "the trees have splits");
}

// Two columns of a table with other directions, and columns that must not meet on a path.
void constrain(CodedTable& table, bool monotonic, bool interacting) {
    if (monotonic) table.config.split.monotonic = {1, -1, 0};
    if (interacting)
        table.config.interactions = std::make_shared<const std::vector<std::vector<std::int32_t>>>(
            std::vector<std::vector<std::int32_t>>{{0, 1}, {1, 2}});
}

void a_constrained_tree_equals_a_naive_search() {
    std::size_t n_fewer = 0;
    for (std::uint64_t round = 0; round < 40; ++round)
        for (const std::size_t n_classes : {2, 0}) {
            CodedTable table(40 + round, n_classes, round % 2 == 0, 200 + round);
            table.add_column(6, round % 4 < 2 ? 5 : 0);
            table.add_column(12, 0);
            table.add_column(9, 4);
            table.add_targets();
            const std::size_t n_nodes = table.grow(1).nodes.size();
            constrain(table, round % 3 != 0, round % 3 != 1);
            const NaiveNode naive = NaiveTree(table).grow(table.all_rows());
            const std::string what = " in round " + std::to_string(round) + ", " + name_of(table);
            const TreeBuilder builder = table.grow(2);
            n_fewer += builder.nodes.size() < n_nodes;
            expect_equal(builder, 0, naive, what + ", subtree, node ");
            expect_equal(grow_by_depth(table), 0, naive, what + ", by depth, node ");
            table.config.max_leaves = 1'000;
            expect_equal(table.grow(2), 0, naive, what + ", node by node, node ");
        }
    expect(n_fewer > 20, "constraints leave out splits");
}

// Leaves predict within the bounds of their nodes, though their own rows may not.
void leaves_are_moved_to_their_bounds() {
    std::size_t n_moved = 0;
    for (std::uint64_t round = 0; round < 20; ++round) {
        CodedTable table(200, 2, true, 300 + round);
        for (int j = 0; j < 3; ++j) table.add_column(12, 0);
        table.add_targets();
        for (Number& weight : table.weight) weight <<= 30;
        constrain(table, true, false);
        const TreeBuilder builder = table.grow(1);
        for (std::size_t v = 0; v < builder.nodes.size(); ++v) {
            if (builder.is_within_bounds(v)) continue;
            const tree::ClassPair moved = builder.bounded_weights(v);
            const double fraction = double(moved[1]) / double(moved[0] + moved[1]);
            expect(moved[0] + moved[1] == builder.weight(v), "the weight stays");
            expect(builder.nodes[v].bounds.contains(fraction), "the fraction is within the bounds");
            ++n_moved;
        }
    }
    expect(n_moved > 50, "leaves are moved");
}

}  // namespace

Tests tree_tests() {
    return {
        {"a_partition_of_weighted_rows_is_stable", a_partition_of_weighted_rows_is_stable},
        {"nodes_have_the_rows_that_their_splits_select",
         nodes_have_the_rows_that_their_splits_select},
        {"rows_of_a_node_keep_the_order_of_the_table", rows_of_a_node_keep_the_order_of_the_table},
        {"a_difference_of_histograms_equals_counting", a_difference_of_histograms_equals_counting},
        {"sums_of_one_depth_equal_counting", sums_of_one_depth_equal_counting},
        {"ties_go_to_the_lowest_threshold", ties_go_to_the_lowest_threshold},
        {"ties_go_to_the_first_column", ties_go_to_the_first_column},
        {"trees_are_equal_for_any_number_of_threads", trees_are_equal_for_any_number_of_threads},
        {"a_small_tree_equals_a_naive_search", a_small_tree_equals_a_naive_search},
        {"a_constrained_tree_equals_a_naive_search", a_constrained_tree_equals_a_naive_search},
        {"leaves_are_moved_to_their_bounds", leaves_are_moved_to_their_bounds},
    };
}

}  // namespace ceiba::tests
