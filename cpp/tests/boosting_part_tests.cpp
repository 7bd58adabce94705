// Tests of the parts of gradient boosting: quantized cells, split search, leaf values, raw scores.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "boosting/boosting_grower.hpp"
#include "boosting/leaf_values.hpp"
#include "boosting/raw_scores.hpp"
#include "check.hpp"
#include "simd/boosting_kernels.hpp"
#include "tree_table.hpp"

namespace ceiba::tests {
namespace {

using boosting::BoostedNode;
using boosting::BoostingConfig;
using boosting::BoostingGrower;
using boosting::Bounds;
using boosting::Candidate;
using boosting::Gradients;
using boosting::GradientScale;
using boosting::GradientSum;
using boosting::kInfinity;
using boosting::PackedGradients;
using boosting::SplitSearch;
using boosting::WideGradients;

double uniform(RandomSource& random) { return double(random.below(1u << 20)) / double(1u << 20); }

bool near(double a, double b, double tolerance = 1e-9) {
    return std::abs(a - b) <= tolerance * (1 + std::abs(a) + std::abs(b));
}

// Gradients of some rows, and a table of codes: a numeric column, one with missing values, and
// nominal ones of few and of many categories.
struct BoostedTable {
    CodedTable codes;
    std::vector<double> gradient, hessian;
    std::size_t outputs;

    BoostedTable(std::size_t rows, std::size_t outputs, std::uint64_t seed)
        : codes(rows, 0, false, seed), outputs(outputs) {
        codes.add_column(40, 0);
        codes.add_column(25, 5);
        codes.add_column(6, 7, true);
        codes.add_column(14, 0, true);
        RandomSource random(seed + 100);
        for (std::size_t k = 0; k < outputs; ++k)
            for (std::uint32_t row = 0; row < rows; ++row) {
                const double signal = codes.code(0, row) / 20.0 + codes.code(2, row) % 3;
                gradient.push_back(signal - 2 + double(k) + uniform(random));
                hessian.push_back(0.1 + uniform(random));
            }
    }

    Gradients view() const {
        return {gradient.data(), hessian.data(), nullptr, codes.rows, outputs};
    }
};

// Quantized cells

// A word of one row; without a Hessian, of no rows.
template <typename Layout>
typename Layout::Word pack(Number gradient, Number hessian) {
    typename Layout::Word word{};
    if (hessian > 0) Layout::pack(&gradient, &hessian, 1, &word);
    return word;
}

template <typename Layout>
void check_sums(std::size_t n) {
    RandomSource random(n);
    const auto max_quantized = Number(Layout::max_quantized(n));
    expect(max_quantized >= 1, "a unit for " + std::to_string(n) + " rows");
    for (const bool extreme : {false, true}) {
        typename Layout::Word sum{}, part{};
        GradientSum expected, of_part;
        for (std::size_t i = 0; i < n; ++i) {
            const Number g = extreme ? -max_quantized
                                     : Number(random.below(2 * max_quantized + 1)) - max_quantized;
            const Number h = extreme ? max_quantized : 1 + Number(random.below(max_quantized));
            sum += pack<Layout>(g, h);
            expected += {g, h};
            if (i % 3 != 0) continue;
            part += pack<Layout>(g, h);
            of_part += {g, h};
        }
        const auto equal = [](const GradientSum& a, const GradientSum& b) {
            return a.gradient == b.gradient && a.hessian == b.hessian;
        };
        expect(equal(Layout::sum(sum), expected), "sum of " + std::to_string(n) + " rows");
        expected -= of_part;
        expect(equal(Layout::sum(sum - part), expected), "difference");
    }
}

void packed_sums_do_not_overflow() {
    for (const std::size_t n : {1, 2, 3, 100, 4097, 200'000}) {
        check_sums<PackedGradients>(n);
        check_sums<WideGradients>(n);
    }
}

void gradients_are_rounded_to_units() {
    for (const double size : {1.0, 3e150, 7e-150}) {
        const std::vector<double> gradient{size, -size / 2, size / 3, 0};
        const std::vector<double> hessian{size, size / 4, size / 5, size / 1000};
        const RowList rows{0, 1, 2, 3};
        GradientScale scale =
            boosting::measure_gradients({gradient.data(), hessian.data(), nullptr, 4, 1}, rows, 1);
        expect(scale.max_gradient == size && scale.max_hessian == size, "sizes");
        expect(!scale.equal_hessians && near(scale.mean_hessian / size, 1.451 / 4), "means");
        scale.set_max_quantized(1000);
        boosting::GradientBlock block;
        block.load({gradient.data(), hessian.data(), nullptr, 4, 1}, 0, 4, 0);
        block.round(scale.gradient_factor, scale.hessian_factor);
        const auto units = [](const Number* first) {
            return std::vector<Number>(first, first + 4);
        };
        expect(units(block.quantized_gradient) == std::vector<Number>{1000, -500, 333, 0},
               "rounded to the nearest unit");
        expect(units(block.quantized_hessian) == std::vector<Number>{1000, 250, 200, 1},
               "units of Hessians");
    }
    // Few rows with nearly all of the gradient need wide cells.
    GradientScale scale;
    scale.max_gradient = scale.max_hessian = 1;
    scale.mean_abs_gradient = scale.mean_hessian = 0.1;
    expect(boosting::packed_suffices(scale, 100'000, 0), "12 bits suffice");
    scale.mean_abs_gradient = 1e-5;
    expect(!boosting::packed_suffices(scale, 100'000, 0), "outliers");
    expect(boosting::packed_suffices(scale, 1000, 8) && !boosting::packed_suffices(scale, 1000, 40),
           "requested bits");
}

void sizes_are_those_of_every_row() {
    RandomSource random(5);
    for (const std::size_t n : {1, 15, 16, 17, 100, 512}) {
        std::vector<double> gradient(n), hessian(n, 0.25);
        for (double& g : gradient) g = uniform(random) - 0.5;
        GradientSummary expected;
        for (const double g : gradient) {
            expected.max_gradient = std::max(expected.max_gradient, std::abs(g));
            expected.gradient_sum += std::abs(g);
        }
        const auto summarize = [&] {
            return boosting_kernels().summarize(gradient.data(), hessian.data(), n, 0.25);
        };
        const GradientSummary summary = summarize();
        expect(summary.max_gradient == expected.max_gradient && summary.max_hessian == 0.25 &&
                   near(summary.gradient_sum, expected.gradient_sum) &&
                   near(summary.hessian_sum, 0.25 * double(n)) && summary.equal_hessians,
               "summary of " + std::to_string(n) + " rows");
        for (std::size_t i = 0; i < n; ++i) {
            hessian[i] = 0.5;
            expect(!summarize().equal_hessians && summarize().max_hessian == 0.5,
                   "another Hessian in row " + std::to_string(i));
            hessian[i] = 0.25;
        }
    }
}

void blocks_hold_the_gradients_of_their_rows() {
    const BoostedTable table(40, 2, 9);
    boosting::GradientBlock block;
    for (const RowList& rows : {RowList{3, 4, 5, 6}, RowList{0, 7, 8, 39}, RowList{12}})
        for (std::size_t k = 0; k < 2; ++k) {
            block.load(table.view(), rows, k);
            for (std::size_t i = 0; i < rows.size(); ++i)
                expect(block.gradient[i] == table.view().gradient_of(rows[i], k) &&
                           block.hessian[i] == table.view().hessian_of(rows[i], k),
                       "row " + std::to_string(rows[i]));
        }
}

// Rows

void rows_are_divided_by_ranges_of_codes() {
    RandomSource random(3);
    for (const std::size_t n_table_rows : {1, 17, 500, 3000}) {
        std::vector<std::uint8_t> codes(n_table_rows);
        for (std::uint8_t& code : codes) code = std::uint8_t(random.below(256));
        for (const std::size_t step : {1, 2, 7}) {
            RowList rows, divided, expected, on_right;
            for (std::size_t row = 0; row < n_table_rows; row += step)
                rows.push_back(std::uint32_t(row));
            for (const RightCodes right :
                 {RightCodes{100, 156}, RightCodes{7, 0}, RightCodes{0, 256}, RightCodes{250, 5}}) {
                divided.assign(rows.size(), 0);
                const std::size_t n_left = boosting_kernels().partition(
                    codes.data(), n_table_rows, rows.data(), rows.size(), right, divided.data());
                expected.clear();
                on_right.clear();
                for (const std::uint32_t row : rows)
                    (codes[row] >= right.first && codes[row] < right.first + right.count ? on_right
                                                                                         : expected)
                        .push_back(row);
                expect(n_left == expected.size(), "rows on the left");
                expected.insert(expected.end(), on_right.rbegin(), on_right.rend());
                expect(divided == expected, std::to_string(rows.size()) + " rows in their order");
            }
        }
    }
}

// Histograms

// Compare the cells of a table of `n_columns` columns with sums made row by row.
void check_histogram(std::size_t rows, std::uint32_t n_columns, std::uint32_t n_codes) {
    CodedTable table(rows, 0, false, n_columns);
    for (std::uint32_t j = 0; j < n_columns; ++j) table.add_column(n_codes, 9);
    const boosting::CodeMatrix<std::uint8_t> matrix(table.view(), 1);
    std::vector<std::uint64_t> values(rows);
    RandomSource random(rows);
    for (std::uint64_t& value : values) value = random.below(1000);
    RowList some;
    for (std::uint32_t row = 0; row < rows; ++row)
        if (row % 5 != 0) some.push_back(row);

    // All columns, the last ones, and every third one.
    for (const auto& [first, step] : {std::pair{0u, 1u}, {n_columns / 3, 1u}, {0u, 3u}}) {
        std::vector<std::int32_t> columns;
        for (std::uint32_t j = first; j < n_columns; j += step) columns.push_back(std::int32_t(j));
        std::vector<std::uint64_t> cells(matrix.n_cells()), expected(matrix.n_cells());
        matrix.add(some, columns, values.data(), 1, cells.data());
        for (const std::uint32_t row : some)
            for (const std::int32_t j : columns)
                expected[matrix.offset(std::size_t(j)) + table.code(std::uint32_t(j), row)] +=
                    values[row];
        expect(cells == expected,
               std::to_string(rows) + " rows, " + std::to_string(columns.size()) + " columns of " +
                   std::to_string(n_codes) + " codes from " + std::to_string(first));
    }
}

void histograms_of_many_columns_are_added_in_blocks() {
    for (const std::uint32_t n_columns : {1u, 28u, 29u, 100u})
        for (const std::size_t rows : {std::size_t{3}, 3 * boosting::kBlockRows})
            for (const std::uint32_t n_codes : {12u, 255u})
                check_histogram(rows, n_columns, n_codes);
}

// Split search

// Cells of a column in units of 1, so that the search has no rounding: gradients and Hessians of
// each code, and of missing values in the last cell.
struct Cells {
    std::vector<GradientSum> sums;
    std::vector<std::uint32_t> rows;

    Cells(std::size_t n_codes, bool has_missing, RandomSource& random) {
        for (std::size_t code = 0; code <= n_codes; ++code) {
            const bool empty = code == n_codes ? !has_missing : random.one_in(4);
            sums.push_back({empty ? 0 : Number(random.below(200)) - 100,
                            empty ? 0 : Number(random.between(1, 40))});
            rows.push_back(empty ? 0 : std::uint32_t(random.between(1, 9)));
        }
    }
    GradientSum total() const {
        GradientSum sum;
        for (const GradientSum& cell : sums) sum += cell;
        return sum;
    }
    std::size_t n_rows() const { return std::accumulate(rows.begin(), rows.end(), std::size_t(0)); }
    template <typename Layout>
    std::vector<typename Layout::Word> words() const {
        std::vector<typename Layout::Word> words;
        for (const GradientSum& cell : sums)
            words.push_back(pack<Layout>(cell.gradient, cell.hessian));
        return words;
    }
};

// Score of the division into the codes for which left[code] is set, and the others.
double score_of(const Cells& cells, const std::vector<bool>& left, const BoostingConfig& config,
                const SplitSearch& search) {
    GradientSum one, other;
    std::size_t rows = 0, other_rows = 0;
    for (std::size_t code = 0; code < cells.sums.size(); ++code) {
        (left[code] ? one : other) += cells.sums[code];
        (left[code] ? rows : other_rows) += cells.rows[code];
    }
    const double h = double(one.hessian), other_h = double(other.hessian);
    if (h == 0 || other_h == 0 || h < config.min_child_weight || other_h < config.min_child_weight)
        return -kInfinity;
    if (Number(rows) < config.min_rows || Number(other_rows) < config.min_rows) return -kInfinity;
    return search.score(double(one.gradient), h) + search.score(double(other.gradient), other_h);
}

// Best score of all thresholds, with missing values on either side, or of all prefixes of the
// categories (missing values are one more) in the order of their smoothed means, relative to that
// of all rows.
double best_score(const Cells& cells, const Column& column, const BoostingConfig& config,
                  const SplitSearch& search) {
    const std::size_t n = column.n_codes;
    std::vector<std::size_t> order(n + 1);
    std::iota(order.begin(), order.end(), 0u);
    if (column.nominal) {
        const double total_mean = double(cells.total().gradient) / double(cells.total().hessian);
        const auto mean = [&](std::size_t code) {
            const double h = double(cells.sums[code].hessian);
            return (double(cells.sums[code].gradient) - h * total_mean) /
                   (h + config.category_smoothing);
        };
        std::erase_if(order, [&](std::size_t code) { return cells.sums[code].hessian == 0; });
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return mean(a) < mean(b); });
    }
    double best = -kInfinity;
    std::vector<bool> left(n + 1, false);
    for (const std::size_t code : order) {
        if (!column.nominal && code == n) break;
        left[code] = true;
        best = std::max(best, score_of(cells, left, config, search));
        if (column.nominal) continue;
        left[n] = true;
        best = std::max(best, score_of(cells, left, config, search));
        left[n] = false;
    }
    return best;
}

template <typename Layout>
void check_search(std::uint64_t seed) {
    RandomSource random(seed);
    BoostingConfig config;
    config.reg_lambda = double(random.below(3));
    config.reg_alpha = double(random.below(2)) * 20;
    config.min_child_weight = double(random.below(3)) * 15;
    config.min_rows = Number(random.between(1, 8));
    config.category_smoothing = double(random.below(2)) * 10;
    GradientScale scale;
    scale.equal_hessians = false;
    SplitSearch search(config, scale, 1);
    const bool nominal = random.one_in(2);
    const Column column{std::uint32_t(random.between(1, nominal ? 10 : 30)), nominal, 0};
    const Cells cells(column.n_codes, random.one_in(2), random);
    if (cells.total().hessian == 0) return;
    BoostedNode node;
    const GradientSum total = cells.total();
    search.to_real(&total, Number(cells.n_rows()), node.sums);
    node.score = search.node_score(node.sums, node.bounds);
    const auto words = cells.words<Layout>();
    Candidate found;
    search.find<Layout>(node, column, words.data(), cells.rows.data(), found);
    const double best = best_score(cells, column, config, search) - node.score;
    const std::string what = "search " + std::to_string(seed);
    expect(found.found() == (best > tree::kGainRounding * node.score), what + " finds a split");
    if (!found.found()) return;
    expect(near(found.score, best), what + " finds the best score");
    // The branches of the split have this score.
    std::vector<bool> left(column.n_codes + 1, false);
    if (found.shape == tree::SplitShape::kTable)
        for (const auto& [code, branch] : found.table) left[code] = branch == 0;
    else
        for (std::uint32_t code = 0; code < column.n_codes; ++code)
            left[code] = found.shape == tree::SplitShape::kKnown || code <= found.threshold_code;
    left[column.n_codes] = cells.sums[column.n_codes].hessian != 0 && found.missing_branch == 0;
    expect(near(score_of(cells, left, config, search) - node.score, best),
           what + " splits as found");
}

void splits_are_the_best_of_all() {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        check_search<PackedGradients>(seed);
        check_search<WideGradients>(seed);
    }
}

void branches_of_exactly_min_rows_are_found() {
    for (std::size_t n = 41; n < 400; ++n) {
        BoostingConfig config;
        config.min_rows = 20;
        GradientScale scale;
        scale.max_gradient = scale.max_hessian = 1;
        scale.set_max_quantized(PackedGradients::max_quantized(n));
        SplitSearch search(config, scale, 1);
        // 20 rows on the right with another gradient.
        const std::vector<std::uint64_t> words{
            std::uint64_t(n - 20) *
                pack<PackedGradients>(-scale.max_quantized / 2, scale.max_quantized),
            20 * pack<PackedGradients>(scale.max_quantized, scale.max_quantized), 0};
        const GradientSum total = PackedGradients::sum(words[0] + words[1]);
        BoostedNode node;
        search.to_real(&total, Number(n), node.sums);
        node.score = search.node_score(node.sums, node.bounds);
        Candidate found;
        search.find<PackedGradients>(node, Column{2, false, 0}, words.data(), nullptr, found);
        expect(found.found(), std::to_string(n) + " rows");
    }
}

void values_minimize_the_objective() {
    BoostingConfig config;
    config.reg_lambda = 2;
    config.reg_alpha = 3;
    GradientScale scale;
    const SplitSearch search(config, scale, 1);
    for (const double g : {-10.0, -2.0, 0.0, 1.0, 40.0})
        for (const double h : {0.5, 7.0}) {
            const double best = search.value(g, h);
            expect(near(search.score_of_value(g, h, best), search.score(g, h)),
                   "score of the value");
            for (const double step : {-0.1, 0.1})
                expect(search.score_of_value(g, h, best + step) < search.score(g, h), "maximum");
            expect(search.clipped_value(g, h, Bounds{-0.5, 0.25}) == std::clamp(best, -0.5, 0.25),
                   "bounds");
        }
    const BoostingConfig none;
    const SplitSearch plain(none, scale, 1);
    expect(plain.value(0, 0) == 0 && plain.score(0, 0) == 0, "no rows, no value");
}

// Trees

struct GrownTree {
    std::vector<tree::Node> nodes;
    std::vector<std::uint32_t> rows;
    std::vector<double> values;
};

GrownTree grow(const BoostedTable& table, const BoostingConfig& config, int threads) {
    BoostingGrower<std::uint8_t> grower(config, table.codes.view(), threads);
    std::vector<std::int32_t> columns(table.codes.columns.size());
    std::iota(columns.begin(), columns.end(), 0);
    grower.grow(table.view(), {}, columns, 7, threads);
    return {grower.builder().nodes,
            {grower.rows().begin(), grower.rows().end()},
            boosting::newton_values(grower, table.view(), true)};
}

bool equal_splits(const tree::Node& a, const tree::Node& b) {
    return a.column == b.column && a.child == b.child && a.threshold_code == b.threshold_code &&
           a.shape == b.shape && a.missing_branch == b.missing_branch && a.gain == b.gain;
}

void expect_equal(const GrownTree& a, const GrownTree& b, const std::string& what) {
    expect(std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), equal_splits),
           "nodes, " + what);
    expect(a.rows == b.rows && a.values == b.values, "rows and values, " + what);
}

BoostingConfig config_of(std::int64_t max_leaves, int gradient_bits) {
    BoostingConfig config;
    config.max_leaves = max_leaves;
    config.min_rows = 3;
    config.reg_lambda = 1;
    config.category_smoothing = 10;
    config.gradient_bits = gradient_bits;
    return config;
}

// With room for a single histogram nearly all are dropped before they are needed. Large branches
// are counted at once, small ones with the search.
void a_small_budget_does_not_change_a_boosted_tree() {
    for (const std::size_t rows : {900, 300'000})
        for (const std::size_t outputs : {1, 3})
            for (const int bits : {0, 41}) {
                const BoostedTable table(rows, outputs, 3);
                BoostingConfig config = config_of(25, bits);
                const GrownTree all = grow(table, config, 2);
                // 900 rows of three outputs have 27 nodes: reg_lambda outweighs smaller gains.
                expect(all.nodes.size() > 20, "the tree is grown");
                for (const std::size_t bytes : {1, 10'000}) {
                    config.max_histogram_bytes = bytes;
                    expect_equal(
                        grow(table, config, 2), all,
                        std::to_string(rows) + " rows, " + std::to_string(bytes) + " bytes");
                }
            }
}

void boosted_trees_do_not_depend_on_threads() {
    for (const std::size_t outputs : {1, 3}) {
        const BoostedTable table(20'000, outputs, 4);
        const GrownTree one = grow(table, config_of(40, 0), 1);
        for (const int threads : {2, 3})
            expect_equal(grow(table, config_of(40, 0), threads), one,
                         std::to_string(threads) + " threads");
    }
}

void leaves_have_newton_steps_and_quantiles_of_their_rows() {
    const BoostedTable table(2000, 1, 5);
    const BoostingConfig config = config_of(20, 0);
    BoostingGrower<std::uint8_t> grower(config, table.codes.view(), 2);
    grower.grow(table.view(), {}, {0, 1, 2, 3}, 1, 2);
    const std::vector<double> newton = boosting::newton_values(grower, table.view(), true);
    const std::vector<double> quantiles =
        boosting::leaf_quantiles(grower, table.gradient.data(), table.hessian.data(), 0.3);
    expect(grower.leaves().size() == 20 && newton.size() == 20, "twenty leaves");
    std::vector<int> seen(2000, 0);
    for (std::size_t l = 0; l < 20; ++l) {
        double g = 0, h = 0, below = 0, at_most = 0;
        for (const std::uint32_t row : grower.rows_of(grower.leaves()[l])) {
            ++seen[row];
            g += table.gradient[row];
            h += table.hessian[row];
            if (table.gradient[row] < quantiles[l]) below += table.hessian[row];
            if (table.gradient[row] <= quantiles[l]) at_most += table.hessian[row];
        }
        expect(grower.leaves()[l].end - grower.leaves()[l].begin >= 3, "min_rows");
        expect(near(newton[l], -g / (h + 1)), "Newton step");
        expect(below < 0.3 * h && at_most >= 0.3 * h, "quantile");
    }
    expect(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }), "each row once");
    // Rows outside of a sample get the values of their leaves, too.
    RowList sample;
    for (std::uint32_t row = 0; row < 2000; row += 3) sample.push_back(row);
    grower.grow(table.view(), sample, {0, 1, 2, 3}, 1, 2);
    std::vector<double> values(grower.leaves().size()), scores(2000, 0.5);
    std::iota(values.begin(), values.end(), 1.0);
    grower.add_values(values.data(), 1, scores.data());
    for (std::size_t l = 0; l < values.size(); ++l)
        for (const std::uint32_t row : grower.rows_of(grower.leaves()[l]))
            expect(scores[row] == values[l] + 0.5, "rows of the sample");
    expect(std::all_of(scores.begin(), scores.end(), [](double s) { return s >= 1.5; }), "others");
}

void weighted_quantiles_are_averaged_where_just_reached() {
    using Pairs = std::vector<std::pair<double, double>>;
    Pairs four{{4, 1}, {1, 1}, {3, 1}, {2, 1}};
    expect(boosting::weighted_quantile(four, 0.5) == 2.5, "median of four");
    expect(boosting::weighted_quantile(four, 0.25) == 1.5, "just reached");
    expect(boosting::weighted_quantile(four, 0.3) == 2, "in between");
    Pairs weighted{{1, 1}, {2, 5}, {3, 1}};
    expect(boosting::weighted_quantile(weighted, 0.5) == 2, "weights");
    Pairs one{{7, 0.1}};
    expect(boosting::weighted_quantile(one, 0.99) == 7, "one row");
}

// Raw scores

// Trees of random thresholds, some of which are equal to values or lie between two floats.
struct RandomTrees {
    std::vector<tree::PackedNode> nodes;
    std::vector<std::int64_t> first{0};

    void add(std::size_t n_leaves, std::size_t n_columns, RandomSource& random) {
        std::vector<tree::PackedNode> own{leaf(random)};
        while (own.size() < 2 * n_leaves - 1) {
            const std::size_t at = random.below(own.size());
            if (own[at].kind() != tree::Test::kLeaf) continue;
            const double between = random.one_in(2) ? 1e-9 : 0;
            own[at] = {std::bit_cast<std::uint64_t>(double(random.below(40)) / 4 - 5 + between),
                       std::int32_t(own.size()),
                       tree::packed_test(random.below(n_columns), tree::Test::kReal,
                                         std::int32_t(random.below(2)))};
            own.push_back(leaf(random));
            own.push_back(leaf(random));
        }
        nodes.insert(nodes.end(), own.begin(), own.end());
        first.push_back(std::int64_t(nodes.size()));
    }
    forest::ForestView view() const {
        forest::ForestView view;
        view.nodes = nodes.data();
        view.count = nodes.size();
        view.first = first.data();
        view.n_trees = first.size() - 1;
        return view;
    }
    double value_of(std::size_t t, const double* row) const {
        const tree::PackedNode* own = nodes.data() + first[t];
        std::size_t at = 0;
        while (own[at].kind() != tree::Test::kLeaf) {
            const double x = row[own[at].column()];
            const bool right = std::isnan(x) ? own[at].missing_branch() == 1
                                             : x > std::bit_cast<double>(own[at].bits);
            at = std::size_t(own[at].child) + right;
        }
        return std::bit_cast<double>(own[at].bits);
    }

  private:
    static tree::PackedNode leaf(RandomSource& random) {
        return {std::bit_cast<std::uint64_t>(double(random.below(1000)) / 7), 0,
                tree::packed_test(0, tree::Test::kLeaf, 0)};
    }
};

// Few rows are routed one by one, many walk in lanes; trees of up to 128 nodes in registers.
void raw_scores_are_sums_of_leaf_values() {
    constexpr std::size_t kColumns = 5;
    RandomSource random(9);
    RandomTrees trees;
    for (const std::size_t n_leaves : {1, 2, 16, 17, 33, 60, 65, 150})
        trees.add(n_leaves, kColumns, random);
    for (const std::size_t n : {1, 63, 64, 1000})
        for (const std::size_t outputs : {1, 2, 4}) {
            std::vector<double> values(n * kColumns);
            for (double& x : values)
                x = random.one_in(9) ? std::nan("") : double(random.below(80)) / 8 - 5;
            if (n == 1000) values[7] = kInfinity;
            std::vector<float> floats(values.begin(), values.end());
            std::vector<double> expected(n * outputs, 0.25);
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t t = 0; t < 8; ++t)
                    expected[i * outputs + t % outputs] +=
                        trees.value_of(t, values.data() + i * kColumns);
            for (const bool single : {false, true})
                for (const int threads : {1, 2}) {
                    forest::ForestRows rows;
                    if (single)
                        rows.floats = floats.data();
                    else
                        rows.doubles = values.data();
                    rows.rows = n;
                    rows.width = kColumns;
                    std::vector<double> scores(n * outputs, 0.25);
                    boosting::add_raw_scores(trees.view(), rows, 0, 8, outputs, scores.data(),
                                             threads);
                    expect(scores == expected, std::to_string(n) + " rows");
                }
        }
}

}  // namespace

Tests boosting_part_tests() {
    return {
        {"packed_sums_do_not_overflow", packed_sums_do_not_overflow},
        {"gradients_are_rounded_to_units", gradients_are_rounded_to_units},
        {"sizes_are_those_of_every_row", sizes_are_those_of_every_row},
        {"blocks_hold_the_gradients_of_their_rows", blocks_hold_the_gradients_of_their_rows},
        {"rows_are_divided_by_ranges_of_codes", rows_are_divided_by_ranges_of_codes},
        {"histograms_of_many_columns_are_added_in_blocks",
         histograms_of_many_columns_are_added_in_blocks},
        {"splits_are_the_best_of_all", splits_are_the_best_of_all},
        {"branches_of_exactly_min_rows_are_found", branches_of_exactly_min_rows_are_found},
        {"values_minimize_the_objective", values_minimize_the_objective},
        {"a_small_budget_does_not_change_a_boosted_tree",
         a_small_budget_does_not_change_a_boosted_tree},
        {"boosted_trees_do_not_depend_on_threads", boosted_trees_do_not_depend_on_threads},
        {"leaves_have_newton_steps_and_quantiles_of_their_rows",
         leaves_have_newton_steps_and_quantiles_of_their_rows},
        {"weighted_quantiles_are_averaged_where_just_reached",
         weighted_quantiles_are_averaged_where_just_reached},
        {"raw_scores_are_sums_of_leaf_values", raw_scores_are_sums_of_leaf_values},
    };
}

}  // namespace ceiba::tests
