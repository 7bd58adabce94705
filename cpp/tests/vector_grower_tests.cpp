// Tests of trees of several targets: every split is the best of all thresholds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "tree/grow/vector_grower.hpp"

namespace ceiba::tests {
namespace {

using tree::Column;
using tree::Number;
using tree::TreeBuilder;
using tree::VectorTargets;

constexpr std::size_t kRows = 90;
constexpr std::uint32_t kCodes = 12;

// Three numeric columns of codes, weights, and two outputs: numbers, or two and three classes.
struct VectorTable {
    std::vector<std::uint8_t> codes;
    std::vector<Column> columns;
    std::vector<Number> weight, weighted_target;
    std::vector<double> value;
    std::vector<std::uint16_t> label;
    // Of each (row, target): the number, or 1 for the class of the row.
    std::vector<double> target;
    std::vector<double> factors, center, unit;

    VectorTable(bool has_classes, std::uint64_t seed) : factors(has_classes ? 5 : 2, 0.5) {
        RandomSource random(seed);
        for (std::uint32_t j = 0; j < 3; ++j) {
            columns.push_back({kCodes, false, j});
            for (std::size_t i = 0; i < kRows; ++i)
                codes.push_back(std::uint8_t(random.below(kCodes)));
        }
        target.assign(kRows * factors.size(), 0);
        center.assign(factors.size(), 0);
        unit.assign(factors.size(), 1);
        for (std::size_t i = 0; i < kRows; ++i) {
            weight.push_back(Number(random.between(1, 3)));
            double* own = target.data() + i * factors.size();
            if (has_classes) {
                label.push_back(std::uint16_t(random.below(2)));
                label.push_back(std::uint16_t(2 + (codes[i] / 4 + random.below(2)) % 3));
                own[label[2 * i]] = own[label[2 * i + 1]] = 1;
            } else {
                own[0] = double(random.below(9)) - codes[i];
                own[1] = double(random.below(5)) + codes[kRows + i] / 2;
                for (std::size_t k = 0; k < 2; ++k) {
                    value.push_back(own[k]);
                    weighted_target.push_back(weight[i] * Number(own[k]));
                }
            }
        }
    }

    VectorTargets view() const {
        VectorTargets found;
        found.n_targets = factors.size();
        found.weight = weight.data();
        if (label.empty()) {
            found.weighted_target = weighted_target.data();
            found.value = value.data();
            found.center = center.data();
            found.unit = unit.data();
        } else {
            found.label = label.data();
            found.n_outputs = 2;
        }
        return found;
    }

    double total_weight(const std::vector<std::uint32_t>& rows) const {
        double sum = 0;
        for (const std::uint32_t row : rows) sum += double(weight[row]);
        return sum;
    }
    double mean(const std::vector<std::uint32_t>& rows, std::size_t k) const {
        double sum = 0;
        for (const std::uint32_t row : rows)
            sum += double(weight[row]) * target[row * factors.size() + k];
        return sum / total_weight(rows);
    }
    // Squared error of some rows, averaged over the outputs.
    double error(const std::vector<std::uint32_t>& rows) const {
        double sum = 0;
        for (std::size_t k = 0; k < factors.size(); ++k) {
            const double center_of_rows = mean(rows, k);
            for (const std::uint32_t row : rows) {
                const double distance = target[row * factors.size() + k] - center_of_rows;
                sum += factors[k] * double(weight[row]) * distance * distance;
            }
        }
        return sum;
    }
    // The largest decrease of the error by a threshold; negative if there is none.
    double best_gain(const std::vector<std::uint32_t>& rows, std::size_t min_rows) const {
        double best = -1;
        for (std::size_t j = 0; j < columns.size(); ++j)
            for (std::uint32_t threshold = 0; threshold + 1 < kCodes; ++threshold) {
                std::vector<std::uint32_t> left, right;
                for (const std::uint32_t row : rows)
                    (codes[j * kRows + row] <= threshold ? left : right).push_back(row);
                if (std::min(left.size(), right.size()) < min_rows) continue;
                const double decrease = error(rows) - error(left) - error(right);
                best = std::max(best, decrease / total_weight(rows));
            }
        return best;
    }
};

void every_split_of_several_targets_is_the_best() {
    for (const bool has_classes : {false, true})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const VectorTable table(has_classes, seed);
            const std::string what =
                (has_classes ? "classes, seed " : "numbers, seed ") + std::to_string(seed);
            tree::TreeConfig config;
            config.criterion = tree::Criterion::kSquared;
            config.weighted = true;
            config.split.min_rows = 4;
            config.target_factors = table.factors;
            TreeBuilder builder(config, table.columns.size());
            const std::vector<Number> count(kRows, 1);
            const VectorTargets targets = table.view();
            const std::vector<std::uint32_t> rows = tree::grow_vectors(
                builder, tree::Columns<std::uint8_t>{table.codes.data(), kRows, table.columns},
                targets, count.data(), true, 2);
            expect(builder.nodes.size() > 9, "a tree, " + what);
            for (std::size_t v = 0; v < builder.nodes.size(); ++v) {
                const tree::Node& node = builder.nodes[v];
                const std::vector<std::uint32_t> own(rows.begin() + node.begin,
                                                     rows.begin() + node.end);
                std::vector<double> means(table.factors.size());
                tree::write_means(builder, v, targets, rows, means.data());
                for (std::size_t k = 0; k < means.size(); ++k)
                    expect(std::abs(means[k] - table.mean(own, k)) < 1e-9, "means, " + what);
                const double best = table.best_gain(own, 4);
                if (node.expanded())
                    expect(std::abs(node.gain - best) < 1e-9, "gain, " + what);
                else
                    expect(best < 0 || table.error(own) < 1e-9, "a leaf, " + what);
            }
        }
}

}  // namespace

Tests vector_grower_tests() {
    return {
        {"every_split_of_several_targets_is_the_best", every_split_of_several_targets_is_the_best}};
}

}  // namespace ceiba::tests
