// Tests of the parts of the tree engine: row stores, histograms, search and growth order.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "tree/grow/histogram_store.hpp"
#include "tree/grow/node_search.hpp"
#include "tree/grow/row_store.hpp"
#include "tree/grow/split_order.hpp"
#include "tree_table.hpp"

namespace ceiba::tests {
namespace {

using tree::GrowthOrder;
using tree::Reason;
using tree::RowValues;
using tree::SplitShape;

// Row stores

// The naive partition: the rows of branch 0 in order, then those of branch 1, and so on.
RowList by_branch(const std::vector<std::size_t>& branch, std::size_t n_branches) {
    RowList rows;
    for (std::size_t b = 0; b < n_branches; ++b)
        for (std::size_t i = 0; i < branch.size(); ++i)
            if (branch[i] == b) rows.push_back(std::uint32_t(i));
    return rows;
}

void a_partition_is_stable_and_complete() {
    RandomSource random(1);
    tree::RowPartition partition;
    for (const std::size_t n : {0, 1, 2, 57, 1000})
        for (std::size_t n_branches = 1; n_branches <= 5; ++n_branches) {
            std::vector<std::size_t> branch(n);
            for (std::size_t& b : branch) b = random.below(n_branches);
            RowList rows(n), expected = by_branch(branch, n_branches), row_buffer(n);
            std::vector<double> value(n), value_buffer(n), later(n);
            for (std::size_t i = 0; i < n; ++i) {
                rows[i] = std::uint32_t(i);
                value[i] = later[i] = 0.5 * double(i);
            }
            const auto of_row = [&](std::size_t i) { return branch[i]; };
            const std::vector<std::size_t> starts =
                partition.split(n, n_branches, of_row, RowValues{rows.data(), row_buffer.data()},
                                RowValues{value.data(), value_buffer.data()});
            partition.repeat(n, of_row, RowValues{later.data(), value_buffer.data()});
            const std::string what = std::to_string(n) + " rows, " + std::to_string(n_branches);
            expect(rows == expected, "order of " + what);
            for (std::size_t i = 0; i < n; ++i)
                expect(value[i] == 0.5 * rows[i] && later[i] == value[i], "values of " + what);
            expect(starts.size() == n_branches + 1 && starts.back() == n, "ends of " + what);
            for (std::size_t b = 0; b < n_branches; ++b)
                expect(starts[b + 1] - starts[b] ==
                           std::size_t(std::count(branch.begin(), branch.end(), b)),
                       "sizes of " + what);
        }
}

// Partition all rows in two and the second branch in three.
template <typename Rows>
void check_row_store(const CodedTable& table) {
    tree::RowStore<Rows> store;
    store.clear(table.config);
    for (const std::uint32_t row : table.all_rows()) store.add(table.targets(), row);
    const std::size_t middle =
        store.partition(0, table.rows, 2, [](auto row) { return row % 3 != 0; })[1];
    store.partition(middle, table.rows, 3, [](auto row) { return row % 5 / 2; });
    std::vector<RowList> expected(4);
    for (const std::uint32_t row : table.all_rows())
        expected[row % 3 != 0 ? 1 + row % 5 / 2 : 0].push_back(row);
    std::size_t i = 0;
    for (const RowList& node : expected)
        for (const std::uint32_t row : node) {
            expect(store.row(i) == row, "row, " + name_of(table));
            std::vector<Number> cell(std::size_t(table.config.cell_size()), 0);
            store.view(i).add(cell.data(), 0);
            expect(cell == table.total({row}), "target and weight, " + name_of(table));
            ++i;
        }
    expect(i == store.size(), "all rows, " + name_of(table));
}

void targets_and_weights_move_with_their_rows() {
    for (CodedTable& table : tables(200)) {
        table.add_column(9, 0);
        table.add_column(9, 0);
        table.add_targets();
        tree::with_rows(table.config, [&]<typename Rows>(std::type_identity<Rows>) {
            check_row_store<Rows>(table);
        });
    }
}

void branches_of_codes_equal_those_of_the_tree() {
    TreeBuilder builder(TreeConfig{}, 1);
    builder.tables = {0, 2, 1, 0, 1};
    for (const SplitShape shape : {SplitShape::kThreshold, SplitShape::kKnown, SplitShape::kTable})
        for (const std::int32_t missing_branch : {0, 1, 2}) {
            tree::Node node;
            node.shape = shape;
            node.table = 0;
            node.threshold_code = 2;
            node.missing_branch = missing_branch;
            tree::with_branches(builder, node, 5, [&](const auto& branch) {
                for (std::uint32_t code = 0; code <= 5; ++code)
                    expect(std::int32_t(branch(code)) == builder.branch(node, code, 5),
                           "code " + std::to_string(code));
            });
        }
}

void fractions_of_a_row_add_up_to_its_weight() {
    for (const std::size_t n_classes : {0, 3}) {
        CodedTable table(300, n_classes, true, 6);
        table.add_column(9, 0);
        table.add_column(9, 0);
        table.add_targets();
        for (Number& w : table.weight) w *= 1000;
        for (Number& y : table.weighted_target) y *= 1000;
        for (Number& y : table.weighted_square) y *= 1000;
        tree::with_rows(table.config, [&]<typename Rows>(std::type_identity<Rows>) {
            tree::FractionalRows<Rows> all;
            all.clear(table.config);
            for (const std::uint32_t row : table.all_rows()) all.add(table.targets(), row);
            const std::vector<double> fractions{0.61, 0.32, 0.07};
            std::vector<tree::FractionalRows<Rows>> parts(3);
            for (std::size_t b = 0; b < 3; ++b)
                for (std::size_t i = 0; i < all.size(); ++i)
                    parts[b].take_fraction(all, i, fractions[b]);
            for (std::size_t i = 0; i < all.size(); ++i) {
                std::vector<Number> whole(std::size_t(table.config.cell_size()), 0), sum = whole;
                Number square = 0;
                all.view(i).add(whole.data(), 0);
                for (const auto& part : parts) {
                    expect(part.row(i) == all.row(i), "row");
                    part.view(i).add(sum.data(), 0);
                    if (n_classes == 0) square += part.square(i);
                }
                // Every fraction is rounded to an integer.
                for (std::size_t s = 0; s + 1 < sum.size(); ++s)
                    expect(std::abs(sum[s] - whole[s]) <= 2, "weights and targets");
                expect(n_classes > 0 || std::abs(square - all.square(i)) <= 2, "squares");
            }
            tree::FractionalRows<Rows> tiny;
            tiny.take_fraction(all, 0, 1e-9);
            expect(tiny.size() == 0, "a fraction without weight is not a row");
        });
    }
}

// Histograms

// Counts in a layout are those in plain cells; those of some rows, subtracted from those of all,
// are those of the others.
template <typename Layout, typename Rows>
void check_layout(const TreeConfig& config, const Rows& rows, const std::vector<Number>& cells,
                  const std::vector<Number>& of_odd_rows, const std::vector<std::uint8_t>& codes,
                  std::size_t n_codes) {
    tree::Histogram<Layout> all(config), even(config);
    all.begin(n_codes + 3);
    even.begin(n_codes + 3);
    all.add(rows, codes.size(), 3, [&](std::size_t i) { return codes[i]; });
    const std::size_t size = cells.size() / n_codes;
    expect(std::equal(cells.begin(), cells.end(), all.cells() + 3 * size), "counts");
    // Even rows one by one; the histogram is a sum over calls.
    for (std::size_t i = 0; i < codes.size(); i += 2) {
        if constexpr (std::is_pointer_v<Rows>)
            even.add(rows + i, 1, 3, [&](std::size_t) { return codes[i]; });
        else
            even.add(Rows{rows.target + i, rows.weight + i}, 1, 3,
                     [&](std::size_t) { return codes[i]; });
    }
    all.subtract(even);
    expect(std::equal(of_odd_rows.begin(), of_odd_rows.end(), all.cells() + 3 * size),
           "difference");
}

void packed_histograms_equal_plain_cells() {
    constexpr std::size_t kRows = 900, kCodes = 13;
    for (const std::size_t n_classes : {0, 2, 7}) {
        CodedTable table(kRows, n_classes, true, 30 + n_classes);
        table.add_column(kCodes, 0);
        table.add_column(kCodes, 0);
        table.add_targets();
        const std::vector<std::uint8_t> codes(table.codes.begin(), table.codes.begin() + kRows);
        const auto size = std::size_t(table.config.cell_size());
        std::vector<Number> cells(kCodes * size, 0), odd = cells;
        std::vector<std::uint64_t> tagged;
        for (const std::uint32_t row : table.all_rows()) {
            table.add(cells.data() + codes[row] * size, row);
            if (row % 2) table.add(odd.data() + codes[row] * size, row);
            if (n_classes > 0)
                tagged.push_back(std::uint64_t(table.weight[row])
                                     << tree::TaggedSource::kCountShift |
                                 table.label[row]);
        }
        const tree::MomentRows<true> moments{table.weighted_target.data(), table.weight.data()};
        if (n_classes > 0) {
            const std::uint64_t* rows = tagged.data();
            check_layout<tree::ClassCounters<std::uint32_t>>(table.config, rows, cells, odd, codes,
                                                             kCodes);
            check_layout<tree::ClassCounters<std::uint64_t>>(table.config, rows, cells, odd, codes,
                                                             kCodes);
        } else {
            check_layout<tree::PackedMoments>(table.config, moments, cells, odd, codes, kCodes);
            check_layout<tree::PlainCells>(table.config, moments, cells, odd, codes, kCodes);
        }
    }
}

// The branches of a node, counted by rows: those that are not needed get no histogram.
void the_largest_branch_is_the_rest_of_its_node() {
    constexpr std::size_t kCodes = 13;
    CodedTable table(900, 3, true, 40);
    table.add_column(kCodes, 0);
    table.add_column(kCodes, 0);
    table.add_targets();
    using Bins = tree::Histogram<tree::PlainCells>;
    const tree::ClassRows<true> rows{table.label.data(), table.weight.data(), 3};
    const auto count = [&](const RowList& of) {
        Bins bins(table.config);
        bins.begin(kCodes);
        for (const std::uint32_t row : of)
            bins.add(tree::ClassRows<true>{rows.label + row, rows.weight + row, 3}, 1, 0,
                     [&](std::size_t) { return table.code(0, row); });
        return bins;
    };
    for (const std::size_t n_branches : {2, 4}) {
        std::vector<RowList> branches(n_branches);
        for (const std::uint32_t row : table.all_rows())
            branches[std::min<std::size_t>(row % 7, n_branches - 1)].push_back(row);
        const std::size_t first = 5, end = first + n_branches, largest = end - 1;
        tree::HistogramStore<tree::PlainCells> store(std::size_t(1) << 20);
        store.put(2, count(table.all_rows()));
        store.split(
            2, first, end, largest, [&](std::size_t branch) { return branch != first; },
            [&](std::size_t branch) { return count(branches[branch - first]); });
        expect(!store.contains(2) && !store.contains(first), "what is not needed is dropped");
        for (std::size_t branch = first + 1; branch < end; ++branch) {
            Bins expected = count(branches[branch - first]);
            expect(std::equal(expected.cells(), expected.cells() + kCodes * 4,
                              store.at(branch).cells()),
                   "branch " + std::to_string(branch));
        }
    }
}

void the_histograms_of_the_oldest_nodes_are_dropped() {
    TreeConfig config;
    config.n_classes = 2;
    tree::Histogram<tree::PlainCells> histogram(config);
    histogram.begin(10);
    tree::HistogramStore<tree::PlainCells> store(3 * histogram.bytes());
    for (const std::size_t node : {4, 9, 7}) store.put(node, histogram);
    expect(store.contains(4) && store.bytes() == 3 * histogram.bytes(), "all fit");
    store.put(12, histogram);
    expect(!store.contains(4) && store.contains(7) && store.contains(9), "the oldest is dropped");
    store.put(5, histogram);
    expect(store.contains(5) && !store.contains(7), "never the one that was put");
    store.erase(5);
    store.take(9);
    expect(store.bytes() == histogram.bytes() && store.contains(12), "the rest is kept");
}

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// With room for a single histogram nearly all are dropped before they are needed.
void a_small_budget_does_not_change_a_tree() {
    for (CodedTable& table : tables(12'000)) {
        for (std::size_t j = 0; j < 64; ++j) table.add_column(20, j % 2 ? 7 : 0, j % 8 == 5);
        table.add_targets();
        table.config.max_depth = 6;
        for (const std::int64_t max_leaves : {0, 40}) {
            table.config.max_leaves = max_leaves;
            table.config.growth_order =
                max_leaves ? GrowthOrder::kBestFirst : GrowthOrder::kDepthFirst;
            table.config.max_histogram_bytes = std::size_t(1) << 30;
            const TreeBuilder all = table.grow(2);
            table.config.max_histogram_bytes = 1;
            const TreeBuilder one = table.grow(2);
            expect(all.nodes.size() > 30, "the tree is grown, " + name_of(table));
            expect(same_bytes(all.nodes, one.nodes) && all.cells == one.cells, name_of(table));
        }
    }
}

// Search and growth order

void columns_are_searched_until_a_split_is_found() {
    tree::ColumnSampler order;
    tree::ColumnCandidates found;
    const auto searched = [&](std::size_t n_first, std::int32_t splitting) {
        order.begin(std::vector<std::int32_t>{0, 2, 3, 5, 8});
        std::vector<std::size_t> calls;
        tree::evaluate_columns(order, n_first, found, [&](std::size_t i) {
            calls.push_back(i);
            for (; i < found.best.size(); ++i)
                if (found.columns[i] == splitting) found.best[i].split_between(1, 2, 1.0);
        });
        return calls;
    };
    using Calls = std::vector<std::size_t>;
    expect(searched(0, 3) == Calls{0} && found.columns.size() == 5, "all at once");
    expect(searched(2, 2) == Calls{0} && found.columns.size() == 2, "the first two suffice");
    expect(searched(2, 5) == Calls{0, 2, 3} && found.columns.size() == 4, "two more");
    expect(searched(2, -1) == Calls{0, 2, 3, 4} && !found.any_found(), "none can be split");
}

// A complete binary tree of depth 2; the right branch of the root gains more than the left one.
TreeBuilder seven_nodes(GrowthOrder growth_order, std::int64_t max_leaves) {
    TreeConfig config;
    config.n_classes = 2;
    config.growth_order = growth_order;
    config.max_leaves = max_leaves;
    TreeBuilder builder(config, 1);
    builder.add(0, 1);
    const double gain[] = {0.5, 0.1, 0.3};
    for (std::size_t node = 0; node < 3; ++node) {
        builder.nodes[node].reason = Reason::kSplit;
        builder.nodes[node].n_branches = 2;
        builder.nodes[node].gain = gain[node];
        builder.cell(node)[0] = 8;
        builder.make_branches(node);
    }
    for (std::size_t node = 3; node < 7; ++node) builder.nodes[node].reason = Reason::kPure;
    // A further split below each side; the one on the left gains most of all.
    for (const std::size_t node : {4, 5}) {
        builder.nodes[node].reason = Reason::kSplit;
        builder.nodes[node].n_branches = 2;
        builder.nodes[node].gain = node == 4 ? 0.9 : 0.2;
        builder.cell(node)[0] = 4;
    }
    return builder;
}

void splits_are_visited_in_growth_order() {
    using Nodes = std::vector<std::size_t>;
    const auto visited = [](GrowthOrder growth_order, std::int64_t max_leaves) {
        Nodes nodes;
        tree::for_splits_in_order(seven_nodes(growth_order, max_leaves),
                                  [&](std::size_t node) { nodes.push_back(node); });
        return nodes;
    };
    expect(visited(GrowthOrder::kDepthFirst, 0) == Nodes{0, 1, 4, 2, 5}, "depth first");
    expect(visited(GrowthOrder::kBreadthFirst, 0) == Nodes{0, 1, 2, 4, 5}, "breadth first");
    // Weight times gain: 2.4 and 0.8 below the root, then 3.6 and 0.8; ties go to the older node.
    expect(visited(GrowthOrder::kBestFirst, 0) == Nodes{0, 2, 1, 4, 5}, "best first");
    expect(visited(GrowthOrder::kDepthFirst, 3) == Nodes{0, 1}, "three leaves, depth first");
    expect(visited(GrowthOrder::kBestFirst, 3) == Nodes{0, 2}, "three leaves, best first");
}

}  // namespace

Tests tree_part_tests() {
    return {
        {"a_partition_is_stable_and_complete", a_partition_is_stable_and_complete},
        {"targets_and_weights_move_with_their_rows", targets_and_weights_move_with_their_rows},
        {"branches_of_codes_equal_those_of_the_tree", branches_of_codes_equal_those_of_the_tree},
        {"fractions_of_a_row_add_up_to_its_weight", fractions_of_a_row_add_up_to_its_weight},
        {"packed_histograms_equal_plain_cells", packed_histograms_equal_plain_cells},
        {"the_largest_branch_is_the_rest_of_its_node", the_largest_branch_is_the_rest_of_its_node},
        {"the_histograms_of_the_oldest_nodes_are_dropped",
         the_histograms_of_the_oldest_nodes_are_dropped},
        {"a_small_budget_does_not_change_a_tree", a_small_budget_does_not_change_a_tree},
        {"columns_are_searched_until_a_split_is_found",
         columns_are_searched_until_a_split_is_found},
        {"splits_are_visited_in_growth_order", splits_are_visited_in_growth_order},
    };
}

}  // namespace ceiba::tests
