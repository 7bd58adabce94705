// Settings of a tree and of its split search (TreeConfig, SplitConfig).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/split/cells.hpp"

namespace ceiba::tree {

enum class Criterion : std::uint8_t {
    kGini,
    kEntropy,
    kGainRatio,
    kError,
    kSquared,
    kAbsolute,
    kPoisson
};
// What a split does with missing values. kFractional and kSurrogate score a split by the rows whose
// value is known.
enum class MissingPolicy : std::uint8_t { kLearned, kBranch, kMajority, kFractional, kSurrogate };

// Candidate thresholds of a numeric column at a node: between any two neighboring values, at
// numbers computed from the node's values, or at numbers given for the column.
enum class ThresholdGrid : std::uint8_t {
    kEvery,
    kQuantile,
    kEqualWidth,
    kMean,
    kMedian,
    kRandom,
    kGiven
};

// Columns of at most this many categories are compared as they are: they cannot fit much noise, and
// trees of ordinary nominal tables, with splits that gain only together, stay as in the literature.
constexpr std::uint32_t kFewCategories = 10;

// Settings of the search for the best split of one column at one node.
struct SplitConfig {
    MissingPolicy missing = MissingPolicy::kLearned;
    bool multiway = false;
    bool gain_ratio = false;
    bool empty_branches = false;  // multiway: categories absent from the node get a branch as well
    bool two_branches_suffice = false;  // multiway: only two branches must be large enough
    bool above_average_gain = false;    // gain ratio: only columns of at least average gain compete
    bool mdl_correction = false;  // subtract the cost of choosing a threshold (MDL) from its gain
    bool category_correction = false;  // subtract the gain that so many categories reach by chance
    Number min_rows = 1;
    Number min_weight = 0;
    Number max_min_side_weight = 0;  // upper bound of what min_side_fraction requires
    // Min weight on each side of a threshold, relative to the mean class weight.
    double min_side_fraction = 0;
    double real_unit = 1;  // real weight of one fixed-point unit
    ThresholdGrid threshold_grid = ThresholdGrid::kEvery;
    std::int64_t n_thresholds = 1;
    bool exact_values = false;     // codes stand for values, not for bins
    std::int64_t n_intervals = 0;  // of a numeric column; 0: binary threshold, 1: chosen by MDL
    std::uint64_t seed = 0;

    // Factor by which costs scaled the weight of each class; empty: none. Branch weights are
    // compared without it.
    std::vector<double> cost_factors;

    // Per column: 1 if values must not decrease with it, -1 if they must not increase; empty: no
    // constraints. The values are means, or fractions of the second of two classes.
    std::vector<std::int8_t> monotonic;

    bool has_monotonic() const { return !monotonic.empty(); }

    double weight_without_costs(const Number* cell, Number weight) const {
        if (cost_factors.empty()) return double(weight);
        double sum = 0;
        for (std::size_t k = 0; k < cost_factors.size(); ++k)
            sum += double(cell[k]) / cost_factors[k];
        return sum;
    }

    bool corrects(const Column& column) const {
        return category_correction && column.nominal && column.n_codes > kFewCategories;
    }

    bool ignores_missing() const { return missing >= MissingPolicy::kFractional; }
};

// Columns that may be tested again below a node that tests them.
enum class FeatureReuse : std::uint8_t { kAll, kNumeric, kNone };

enum class GrowthOrder : std::uint8_t { kDepthFirst, kBreadthFirst, kBestFirst };

// Sets of columns that may be tested together on a path, each ascending. Shared, because subtrees
// have copies of their config and there may be a set for every pair of columns.
using ColumnSets = std::shared_ptr<const std::vector<std::vector<std::int32_t>>>;

struct TreeConfig {
    Criterion criterion = Criterion::kGini;
    SplitConfig split;
    GrowthOrder growth_order = GrowthOrder::kDepthFirst;
    std::int64_t n_classes = 0;  // 0: regression
    bool weighted = false;
    std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
    std::int64_t min_rows_split = 2;
    std::int64_t max_leaves = 0;        // 0: no limit
    std::int64_t columns_per_node = 0;  // 0: all, in column order; else this many, in random order
    FeatureReuse feature_reuse = FeatureReuse::kAll;
    // Columns with at least this many categories are left out of the average gain.
    double many_categories = std::numeric_limits<double>::infinity();
    ColumnSets interactions;          // null: all columns may be tested together
    std::int64_t max_surrogates = 0;  // per node
    double min_impurity_decrease = 0;
    double min_impurity = 0;  // a node of at most this impurity is a leaf
    double root_weight = 0;
    std::uint64_t seed = 0;
    // Real size of one fixed-point unit.
    double weight_unit = 1, target_unit = 1, square_unit = 1;
    double target_center = 0;  // subtracted from all targets before they are rounded
    // Several outputs: factor of the squares of each target (tree/split/vector_cells.hpp). Empty:
    // one output.
    std::vector<double> target_factors;
    bool keep_candidates = false;  // keep the best candidate of every column (trace)
    std::size_t max_histogram_bytes = std::size_t(1) << 30;  // of all open nodes together

    bool has_vectors() const { return !target_factors.empty(); }
    int cell_size() const {
        if (has_vectors()) return int(target_factors.size()) + 2;
        return n_classes ? int(n_classes) + weighted : 2 + weighted;
    }
    bool has_fractional_weights() const { return weight_unit != 1; }
    bool limits_leaves() const { return max_leaves > 0; }
};

// Call body(std::type_identity<Rows>{}) for the rows of a config: classes or numbers, weighted or
// not.
template <typename Body>
decltype(auto) with_rows(const TreeConfig& config, const Body& body) {
    if (config.n_classes && config.weighted) return body(std::type_identity<ClassRows<true>>{});
    if (config.n_classes) return body(std::type_identity<ClassRows<false>>{});
    if (config.weighted) return body(std::type_identity<MomentRows<true>>{});
    return body(std::type_identity<MomentRows<false>>{});
}

}  // namespace ceiba::tree
