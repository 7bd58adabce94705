// Tests of the core without Python: random draws, segments, moments, k-means, mixtures, parts of
// trees. Forests and tree growth have their own files. A test is a function that throws.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check.hpp"
#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"
#include "kmeans/center_sums.hpp"
#include "kmeans/moments.hpp"
#include "kmeans/plus_plus.hpp"
#include "mixture/marginal.hpp"
#include "mixture/missing_patterns.hpp"
#include "simd/kmeans_kernels.hpp"
#include "simd/mixture_kernels.hpp"
#include "tree/encode/encoding.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/split/median_finder.hpp"

using namespace ceiba;

namespace {

using tests::expect;

bool close(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

std::vector<double> draws(std::size_t n, std::uint64_t stream) {
    std::vector<double> values(n);
    kmeans_kernels<double>().uniforms(1, stream, 0, n, values.data());
    return values;
}

// Test vectors of Random123 (kat_vectors, philox4x32 with ten rounds).
void philox_matches_the_published_vectors() {
    const Philox zeros = philox(0, 0, 0);
    expect(zeros.word[0] == 0x6627e8d5 && zeros.word[1] == 0xe169c58d &&
               zeros.word[2] == 0xbc57ac4c && zeros.word[3] == 0x9b00dbd8,
           "zero key and counter");
    const std::uint64_t ones = ~std::uint64_t(0);
    const Philox full = philox(ones, ones, ones);
    expect(full.word[0] == 0x408f276d && full.word[1] == 0x41c83b0e && full.word[2] == 0xa20bc7c6 &&
               full.word[3] == 0x6d5451fd,
           "all ones");
}

void draws_depend_on_the_row_only() {
    std::vector<double> all = draws(100, 7), part(10);
    kmeans_kernels<double>().uniforms(1, 7, 50, 10, part.data());
    for (std::size_t i = 0; i < part.size(); ++i) expect(part[i] == all[50 + i], "draw by row");
    for (double u : all) expect(u > 0 && u < 1, "inside (0, 1)");
}

void segments_cover_every_row_once() {
    for (std::size_t rows : {0, 1, 2047, 2048, 100000, 12345678}) {
        const Segments parts = segments(rows, 2048);
        expect(parts.begin(0) == 0 && parts.end(parts.count - 1) == rows, "ends");
        for (std::size_t s = 1; s < parts.count; ++s)
            expect(parts.begin(s) == parts.end(s - 1), "contiguous");
    }
}

void a_failing_segment_stops_the_others() {
    bool caught = false;
    try {
        for_segments(segments(1 << 20, 2048), 2, [](std::size_t s, int, Interrupt&) {
            if (s == 3) throw std::runtime_error("three");
        });
    } catch (const std::runtime_error& error) {
        caught = std::string(error.what()) == "three";
    }
    expect(caught, "the exception of the body is rethrown");
}

void moments_survive_a_large_shift() {
    const std::size_t n = 5000;
    std::vector<double> X = draws(n, 3);
    double mean = 0, squares = 0;
    for (double x : X) mean += x / n;
    for (double x : X) squares += (x - mean) * (x - mean);
    for (double& x : X) x += 1e6;
    X[7] = std::numeric_limits<double>::quiet_NaN();
    const Moments result = moments<double>({X.data(), n, 1}, nullptr, 2);
    expect(result.n_missing == 1 && result.weight[0] == n - 1, "one missing value");
    expect(close(result.mean[0], 1e6 + mean, 1e-9), "mean");
    expect(close(result.squares[0], squares, 1e-2), "squares");
    X[9] = std::numeric_limits<double>::infinity();
    expect(moments<double>({X.data(), n, 1}, nullptr, 1).infinite_row == 9, "infinity is found");
}

struct Naive {
    std::vector<std::int32_t> labels;
    std::vector<double> table;
    double inertia = 0;
};

template <typename T>
Naive naive_step(Matrix<const T> X, Matrix<const double> centers) {
    const std::size_t d = X.cols;
    Naive result{{}, std::vector<double>(centers.rows * (d + 2)), 0};
    for (std::size_t i = 0; i < X.rows; ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        std::int32_t label = 0;
        for (std::size_t c = 0; c < centers.rows; ++c) {
            double squared = 0;
            for (std::size_t j = 0; j < d; ++j)
                squared += std::pow(double(X.row(i)[j]) - centers.row(c)[j], 2);
            if (squared < nearest) nearest = squared, label = std::int32_t(c);
        }
        result.labels.push_back(label);
        result.inertia += nearest;
        for (std::size_t j = 0; j < d; ++j) result.table[label * (d + 2) + j] += X.row(i)[j];
        result.table[label * (d + 2) + d] += 1;
        result.table[label * (d + 2) + d + 1] += 1;
    }
    return result;
}

// Many iterations with stored bounds and sums: each must equal a naive one.
template <typename T>
void bounds_do_not_change_an_iteration() {
    for (auto [n, d, k] : {std::tuple<std::size_t, std::size_t, std::size_t>{5000, 3, 5},
                           {3001, 16, 20},
                           {2500, 37, 7}}) {
        const std::vector<double> raw = draws(n * d, d);
        const std::vector<T> values(raw.begin(), raw.end());
        std::vector<double> centers(values.begin(), values.begin() + k * d), previous;
        const std::vector<double> offset(d, 0.0);
        CenterProblem<T> problem;
        problem.X = {values.data(), n, d};
        problem.offset = offset.data();
        problem.centers = {centers.data(), k, d};
        std::vector<std::int32_t> labels(n);
        std::vector<float> upper(n), lower(n);
        std::vector<double> memory(2 * problem.parts().count * k * (d + 2)), table(k * (d + 2));
        for (int step = 0; step < 12; ++step) {
            RowState state{labels.data(), upper.data(), lower.data(), memory.data(),
                           step ? previous.data() : nullptr};
            CenterTotals totals;
            totals.table = table.data();
            totals.compute_inertia = true;
            center_sums(problem, state, 1 + step % 3, totals);
            const Naive naive = naive_step<T>(problem.X, problem.centers);
            expect(labels == naive.labels, "labels");
            expect(close(totals.inertia, naive.inertia, sizeof(T) == 4 ? 1e-5 : 1e-12), "inertia");
            for (std::size_t i = 0; i < table.size(); ++i)
                expect(close(table[i], naive.table[i], 1e-11), "sums");
            previous = centers;
            for (std::size_t c = 0; c < k; ++c)
                for (std::size_t j = 0; j < d && table[c * (d + 2) + d] > 0; ++j)
                    centers[c * d + j] = table[c * (d + 2) + j] / table[c * (d + 2) + d];
        }
    }
}

void partitions_give_the_same_plus_plus_draws() {
    const std::size_t n = 4000, d = 4, n_draws = 5;
    const std::vector<double> X = draws(n * d, 5), offset(d, 0.5);
    const auto run = [&](std::size_t first, std::size_t count, PlusPlusTotals totals) {
        PlusPlusProblem<double> problem;
        problem.X = {X.data() + first * d, count, d};
        problem.offset = offset.data();
        problem.chosen = {X.data(), 2, d};
        problem.candidates = {X.data() + 2 * d, 1, d};
        problem.seed = 9;
        problem.stream = 4;
        problem.first_row = first;
        next_candidates(problem, 2, totals);
    };
    double potential[3], keys[3 * n_draws];
    std::int64_t rows[3 * n_draws];
    run(0, n, {n_draws, potential, keys, rows});
    run(0, 1500, {n_draws, potential + 1, keys + n_draws, rows + n_draws});
    run(1500, n - 1500, {n_draws, potential + 2, keys + 2 * n_draws, rows + 2 * n_draws});
    expect(close(potential[0], potential[1] + potential[2], 1e-12), "potentials add");
    std::vector<std::pair<double, std::int64_t>> both;
    for (std::size_t i = n_draws; i < 3 * n_draws; ++i) both.emplace_back(keys[i], rows[i]);
    std::sort(both.begin(), both.end());
    for (std::size_t i = 0; i < n_draws; ++i)
        expect(both[i].first == keys[i] && both[i].second == rows[i], "smallest keys");
}

void a_threshold_separates_any_two_values() {
    const double inf = std::numeric_limits<double>::infinity();
    const double reals[] = {-inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.0 + 0x1p-52, inf};
    for (std::size_t i = 0; i + 1 < std::size(reals); ++i) {
        const double t = tree::midpoint(reals[i], reals[i + 1]);
        expect(reals[i] <= t && t < reals[i + 1], "floating-point values");
    }
    const auto min = std::numeric_limits<std::int64_t>::min(), max = ~min;
    for (const auto& [a, b] : {std::pair{min, max}, {max - 1, max}, {min, min + 1}}) {
        const std::int64_t t = tree::midpoint<std::int64_t>(a, b);
        expect(a <= t && t < b, "integers");
    }
}

void radix_sort_keeps_the_order_of_equal_codes() {
    for (std::size_t n : {0, 1, 63, 64, 5000}) {
        std::vector<std::uint64_t> entries(n), spare(n);
        for (std::size_t i = 0; i < n; ++i) entries[i] = (i * 2654435761u % 700) << 20 | i;
        std::vector<std::uint64_t> expected = entries;
        std::sort(expected.begin(), expected.end());
        const std::uint64_t* sorted =
            tree::radix_sort(entries.data(), spare.data(), n, 20, 20 + tree::bits_of(700));
        expect(std::equal(expected.begin(), expected.end(), sorted), "sorted");
    }
}

void ranks_and_values_of_codes_are_inverse() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> x = draws(3000, 3);
    for (std::size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 ? nan : 1e9 + std::floor(5 * x[i]);
    const tree::ColumnValues<double> values{x.data(), x.size(), 1, nullptr};
    std::vector<std::uint32_t> codes(x.size()), all;
    tree::RankBuffers buffers;
    const std::uint32_t different = tree::rank(values, codes.data(), buffers);
    for (std::uint32_t code = 0; code < different; ++code) all.push_back(code);
    const std::vector<double> found = tree::values_of_codes(values, codes.data(), all);
    expect(std::is_sorted(found.begin(), found.end()), "ascending");
    for (std::size_t i = 0; i < x.size(); ++i)
        expect(std::isnan(x[i]) ? codes[i] == different : found[codes[i]] == x[i],
               "value of a code");
}

void a_running_median_is_the_median_so_far() {
    tree::RunningMedian running;
    std::vector<double> so_far;
    for (const double x : draws(200, 9)) {
        running.add({x, 1.0, x});
        so_far.push_back(x);
        std::sort(so_far.begin(), so_far.end());
        const std::size_t n = so_far.size();
        const double median = n % 2 ? so_far[n / 2] : so_far[n / 2 - 1] / 2 + so_far[n / 2] / 2;
        double deviation = 0;
        for (const double y : so_far) deviation += std::abs(y - median);
        expect(close(running.median(), median, 1e-12), "median");
        expect(close(running.deviation(), deviation, 1e-9), "deviation");
    }
}

// Densities over the whole range of exponents, compared with the exp and log of the C library.
void responsibilities_are_normalized_densities() {
    constexpr std::size_t k = 3, rows = kMixtureRows;
    Aligned<double> joint(k * rows), weight(rows, 1.0), density(rows);
    const std::vector<double> u = draws(k * rows, 21);
    for (std::size_t i = 0; i < k * rows; ++i) joint[i] = -1500 * u[i] * u[i];
    const Aligned<double> given = joint;
    const double total =
        mixture_kernels().responsibilities(joint.data(), k, rows, weight.data(), density.data());
    double sum = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        double max = given[r], normalizer = 0;
        for (std::size_t c = 1; c < k; ++c) max = std::max(max, given[c * rows + r]);
        for (std::size_t c = 0; c < k; ++c) normalizer += std::exp(given[c * rows + r] - max);
        const double expected = max + std::log(normalizer);
        expect(close(density[r], expected, 1e-15), "log density");
        for (std::size_t c = 0; c < k; ++c) {
            const double responsibility = std::exp(given[c * rows + r] - max) / normalizer;
            expect(
                std::abs(joint[c * rows + r] - responsibility) <= 4e-16 * responsibility + 1e-300,
                "responsibility");
        }
        sum += expected;
    }
    expect(close(total, sum, 1e-13), "sum of log densities");
}

void missing_patterns_group_equal_rows() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> X = {1, 2, nan, 4, 5, 6, nan, 8, 9, nan, nan, nan};
    const MissingPatternOrder found = missing_patterns<double>({X.data(), 6, 2});
    expect(found.order == std::vector<std::int64_t>{0, 2, 1, 3, 4, 5}, "order");
    expect(found.starts == std::vector<std::int64_t>{0, 2, 4, 5, 6}, "starts");
}

// Regression of the second of two columns on the first, computed by hand.
void missing_columns_are_predicted_by_regression() {
    const double log_weight = 0, means[] = {1, 2}, covariance[] = {4, 3, 3, 9};
    const double factor[] = {0.5, 0, -0.75 / std::sqrt(6.75), 1 / std::sqrt(6.75)};
    Gaussians model;
    model.k = 1;
    model.d = 2;
    model.full = true;
    model.log_weights = &log_weight;
    model.means = means;
    model.covariances = covariance;
    model.factors = factor;
    Marginal marginal(model, true);
    marginal.set_missing({false, true});
    expect(close(marginal.slopes(0, 0)[0], 0.75, 1e-15), "slope");
    expect(close(marginal.conditional(0)[0], 9 - 9.0 / 4, 1e-15), "conditional variance");
    expect(close(marginal.panels(0)[0], 0.5, 1e-15), "factor of the observed column");
    marginal.set_missing({true, true});
    expect(marginal.norm(0) == 0 && marginal.conditional(0)[1] == 3, "nothing observed");
}

}  // namespace

int main() {
    tests::Tests all = {
        {"philox_matches_the_published_vectors", philox_matches_the_published_vectors},
        {"draws_depend_on_the_row_only", draws_depend_on_the_row_only},
        {"segments_cover_every_row_once", segments_cover_every_row_once},
        {"a_failing_segment_stops_the_others", a_failing_segment_stops_the_others},
        {"moments_survive_a_large_shift", moments_survive_a_large_shift},
        {"bounds_do_not_change_an_iteration<double>", bounds_do_not_change_an_iteration<double>},
        {"bounds_do_not_change_an_iteration<float>", bounds_do_not_change_an_iteration<float>},
        {"partitions_give_the_same_plus_plus_draws", partitions_give_the_same_plus_plus_draws},
        {"a_threshold_separates_any_two_values", a_threshold_separates_any_two_values},
        {"radix_sort_keeps_the_order_of_equal_codes", radix_sort_keeps_the_order_of_equal_codes},
        {"ranks_and_values_of_codes_are_inverse", ranks_and_values_of_codes_are_inverse},
        {"a_running_median_is_the_median_so_far", a_running_median_is_the_median_so_far},
        {"responsibilities_are_normalized_densities", responsibilities_are_normalized_densities},
        {"missing_patterns_group_equal_rows", missing_patterns_group_equal_rows},
        {"missing_columns_are_predicted_by_regression",
         missing_columns_are_predicted_by_regression},
    };
    for (const tests::Tests& more :
         {tests::boosting_part_tests(), tests::forest_part_tests(), tests::forest_tests(),
          tests::leaf_code_tests(), tests::tree_part_tests(), tests::tree_tests(),
          tests::vector_grower_tests()})
        all.insert(all.end(), more.begin(), more.end());
    int passed = 0, failed = 0;
    for (const auto& [name, test] : all) {
        try {
            test();
            ++passed;
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", name, error.what());
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
