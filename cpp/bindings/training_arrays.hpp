// Encoded rows and targets at the boundary of the growers.
#pragma once

#include <algorithm>
#include <limits>

#include "tree/grow/grow.hpp"
#include "tree/grow/vector_grower.hpp"
#include "tree_arrays.hpp"

namespace ceiba::bindings {

// The sets of columns of a config that may be tested together, as Python has them: empty for none.
template <typename Config>
std::vector<std::vector<std::int32_t>> interactions_of(const Config& config) {
    if (!config.interactions) return {};
    return *config.interactions;
}
template <typename Config>
void set_interactions(Config& config, std::vector<std::vector<std::int32_t>> sets) {
    config.interactions.reset();
    if (!sets.empty())
        config.interactions =
            std::make_shared<const std::vector<std::vector<std::int32_t>>>(std::move(sets));
}
inline void check_interactions(const ColumnSets& sets, std::size_t n_columns) {
    if (!sets) return;
    for (const std::vector<std::int32_t>& set : *sets) {
        require(std::is_sorted(set.begin(), set.end()), "interactions must be ascending.");
        for (const std::int32_t column : set)
            require(column >= 0 && std::size_t(column) < n_columns,
                    "interactions must be indices of columns.");
    }
}

inline void check_monotonic(const std::vector<std::int8_t>& signs,
                            const std::vector<Column>& columns) {
    require(signs.empty() || signs.size() == columns.size(),
            "monotonic must have one entry per column.");
    for (std::size_t j = 0; j < signs.size(); ++j)
        require(signs[j] >= -1 && signs[j] <= 1 && (signs[j] == 0 || !columns[j].nominal),
                "monotonic must be -1, 0 or 1, and 0 for nominal columns.");
}

// Check that a config has constraints of these columns, and that all growers keep them.
inline void check_constraints(const TreeConfig& config, const std::vector<Column>& columns) {
    check_interactions(config.interactions, columns.size());
    require(!config.interactions || config.split.missing != MissingPolicy::kSurrogate,
            "interactions must be empty with surrogate splits.");
    check_monotonic(config.split.monotonic, columns);
    if (!config.split.has_monotonic()) return;
    require((config.n_classes == 0 || config.n_classes == 2) &&
                config.criterion != Criterion::kAbsolute && !config.split.multiway &&
                config.split.n_intervals == 0 && !config.split.ignores_missing(),
            "monotonic requires means or two classes, binary splits, and missing values that are "
            "scored with the others.");
}

// Check what all functions rely on: a criterion that fits the targets, and a sane cell size.
inline const TreeConfig& checked(const TreeConfig& config) {
    require(config.n_classes >= 0 && config.n_classes <= 0xFFFF,
            "n_classes must be in [0, 65535].");
    const bool regression = config.criterion >= Criterion::kSquared;
    require(regression == (config.n_classes == 0),
            "criterion must be one of classification if n_classes > 0, else one of regression.");
    require(!config.has_vectors() || (config.criterion == Criterion::kSquared && config.weighted),
            "target_factors requires squared error and weighted=True.");
    require(config.split.cost_factors.empty() ||
                std::int64_t(config.split.cost_factors.size()) == config.n_classes,
            "cost_factors must have one entry per class.");
    return config;
}

struct TargetArrays {
    Maybe1<const std::uint16_t> label;
    Maybe1<const std::int64_t> weighted_target, weighted_square;
    Maybe1<const double> value;
    Maybe1<const std::int64_t> weight;
    Maybe1<const double> distinct_values;
    Maybe1<const std::int64_t> weight_without_costs;

    // The rows of a sample are weighted when they are drawn: `sampled` requires neither weights nor
    // squares.
    Targets view(std::size_t rows, const TreeConfig& config, bool sampled = false) const {
        constexpr const char* kPerRow = "targets and weights must have one entry per row.";
        Targets targets;
        targets.label = sized(label, rows, kPerRow);
        targets.weighted_target = sized(weighted_target, rows, kPerRow);
        targets.weighted_square = sized(weighted_square, rows, kPerRow);
        targets.weight = sized(weight, rows, kPerRow);
        targets.value = sized(value, rows, kPerRow);
        targets.ranked = pointer(distinct_values);
        targets.weight_without_costs = sized(weight_without_costs, rows, kPerRow);
        checked(config);
        require(sampled || bool(weight) == config.weighted,
                "weight must be given if, and only if, config.weighted is set.");
        for (std::size_t i = 0; targets.weight != nullptr && i < rows; ++i)
            require(targets.weight[i] > 0, "weight must be positive.");
        if (config.n_classes)
            check_labels(targets, rows, config);
        else
            check_numbers(targets, rows, config, sampled);
        return targets;
    }

  private:
    static void check_labels(const Targets& targets, std::size_t rows, const TreeConfig& config) {
        require(targets.label != nullptr, "classification requires label.");
        for (std::size_t i = 0; i < rows; ++i)
            require(targets.label[i] < config.n_classes, "label must be less than n_classes.");
    }

    void check_numbers(const Targets& targets, std::size_t rows, const TreeConfig& config,
                       bool sampled) const {
        require(targets.weighted_target != nullptr && targets.value != nullptr,
                "regression requires weighted_target and value.");
        const bool absolute = config.criterion == Criterion::kAbsolute;
        require(absolute == bool(distinct_values),
                "distinct_values must be given for absolute error, and only then.");
        const bool needs_squares = !absolute && (!sampled || config.split.category_correction);
        require(needs_squares == bool(weighted_square),
                "weighted_square must be given if impurities of nodes are computed from it.");
        for (std::size_t i = 0; absolute && i < rows; ++i)
            require(targets.weighted_target[i] >= 0 &&
                        std::size_t(targets.weighted_target[i]) < distinct_values->shape(0),
                    "ranks must be indices of distinct_values.");
    }
};

// Targets of several outputs: numbers with their centers and units, or classes as indices of one
// list of targets.
struct VectorTargetArrays {
    Maybe2<const std::int64_t> weighted_target;
    Maybe2<const double> value;
    Maybe1<const double> center, unit;
    Maybe2<const std::uint16_t> label;
    Maybe1<const std::int64_t> weight;

    VectorTargets view(std::size_t rows, const TreeConfig& config) const {
        require(config.has_vectors(), "several targets require target_factors.");
        VectorTargets targets;
        targets.n_targets = config.target_factors.size();
        targets.weight = sized(weight, rows, "weight must have one entry per row.");
        for (std::size_t i = 0; targets.weight != nullptr && i < rows; ++i)
            require(targets.weight[i] > 0, "weight must be positive.");
        if (label)
            set_labels(targets, rows);
        else
            set_numbers(targets, rows);
        return targets;
    }

  private:
    void set_labels(VectorTargets& targets, std::size_t rows) const {
        require(label->shape(0) == rows, "label must have one entry per row and output.");
        targets.label = label->data();
        targets.n_outputs = label->shape(1);
        for (std::size_t i = 0; i < label->size(); ++i)
            require(targets.label[i] < targets.n_targets, "label must be an index of a target.");
    }
    void set_numbers(VectorTargets& targets, std::size_t rows) const {
        constexpr const char* kPerTarget = "center and unit must have one entry per target.";
        require(weighted_target && has_shape(*weighted_target, rows, targets.n_targets) && value &&
                    has_shape(*value, rows, targets.n_targets),
                "weighted_target and value must have one entry per row and target.");
        require(center && unit, kPerTarget);
        targets.weighted_target = weighted_target->data();
        targets.value = value->data();
        targets.center = sized(center, targets.n_targets, kPerTarget);
        targets.unit = sized(unit, targets.n_targets, kPerTarget);
    }
};

// Meaning of the codes of each column: how many there are and, for threshold grids, the value that
// represents each and thresholds that are given for the column. Columns with `exact` integers have
// distances in place of representatives.
struct EncodingArrays {
    Array1<const std::uint32_t> n_codes;
    Array1<const bool> nominal, integer;
    Maybe1<const double> representatives;
    Maybe1<const std::uint64_t> distances;
    Maybe1<const bool> exact;
    Maybe1<const double> thresholds;
    Maybe1<const std::uint64_t> whole_thresholds;
    Maybe1<const std::int64_t> first_threshold;

    std::vector<Column> view() const {
        const std::size_t p = n_codes.shape(0);
        require(p >= 1 && p < kMaxColumns, "n_codes must have 1 to 2^24 - 1 entries.");
        require(nominal.shape(0) == p && integer.shape(0) == p,
                "nominal and integer must have one entry per column.");
        const bool* is_exact = sized(exact, p, "exact must have one entry per column.");
        require(bool(exact) == bool(distances), "distances requires exact, and exact distances.");
        std::vector<Column> columns;
        columns.reserve(p);
        std::size_t first = 0;
        for (std::size_t j = 0; j < p; ++j) {
            require(n_codes.data()[j] < kMaxRows, "n_codes must be less than 2^31.");
            columns.push_back({n_codes.data()[j], nominal.data()[j], std::uint32_t(j)});
            columns[j].integer = integer.data()[j];
            if (is_exact != nullptr && is_exact[j])
                columns[j].distances = distances->data() + first;
            else if (representatives)
                columns[j].values = representatives->data() + first;
            first += n_codes.data()[j];
        }
        require(!representatives || representatives->shape(0) == first,
                "representatives must have one entry per code.");
        require(!distances || distances->shape(0) == first,
                "distances must have one entry per code.");
        if (thresholds) set_thresholds(columns);
        return columns;
    }

  private:
    void set_thresholds(std::vector<Column>& columns) const {
        require(first_threshold && first_threshold->shape(0) == columns.size() + 1,
                "first_threshold must have one entry per column, and the end.");
        const std::int64_t* begin = first_threshold->data();
        check_offsets(begin, columns.size(), thresholds->shape(0),
                      "first_threshold must be ascending indices of thresholds.");
        const std::uint64_t* whole = sized(whole_thresholds, thresholds->shape(0),
                                           "whole_thresholds must have one entry per threshold.");
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const double *own = thresholds->data() + begin[j],
                         *end = thresholds->data() + begin[j + 1];
            if (columns[j].distances != nullptr) {
                require(whole != nullptr, "distances require whole_thresholds.");
                columns[j].whole_thresholds = whole + begin[j];
                require(std::is_sorted(whole + begin[j], whole + begin[j + 1]),
                        "whole_thresholds must be ascending in each column.");
            } else {
                require(std::is_sorted(own, end), "thresholds must be ascending in each column.");
            }
            columns[j].thresholds = own;
            columns[j].n_thresholds = std::size_t(end - own);
        }
    }
};

template <typename Code>
Columns<Code> encoded_columns(const Array2<const Code>& codes, std::vector<Column> columns) {
    require(codes.shape(0) == columns.size(), "codes must have one row per column.");
    require(codes.shape(1) < kMaxRows, kTooManyRows);
    for (const Column& column : columns)
        require(column.n_codes <= std::numeric_limits<Code>::max(),
                "n_codes must be codes of their type.");
    for (std::size_t j = 0; codes.shape(1) > 0 && j < columns.size(); ++j) {
        const Code* own = codes.data() + j * codes.shape(1);
        // One comparison at the end: the maximum is found with vectors.
        const Code max = *std::max_element(own, own + codes.shape(1));
        require(max <= columns[j].n_codes, "codes must be at most n_codes.");
    }
    return {codes.data(), codes.shape(1), std::move(columns)};
}

// Upper edges of bins, or values of some or all codes, from which thresholds are computed.
struct CodeValues {
    ColumnTypes columns;
    Array1<const std::uint64_t> bits;
    Array1<const std::int64_t> offsets;
    Maybe1<const std::uint32_t> codes;
    bool all_values;
    Maybe1<const bool> halves;

    Scales view() const {
        require(offsets.shape(0) == columns.size() + 1,
                "offsets must have one entry per column, and the end.");
        check_offsets(offsets.data(), columns.size(), bits.shape(0),
                      "offsets must be ascending indices of bits.");
        Scales scales;
        scales.types = columns.types;
        scales.n_categories = columns.n_categories;
        scales.bits = bits.data();
        scales.offsets = offsets.data();
        scales.codes = sized(codes, bits.shape(0), "codes must have one entry per value.");
        scales.values = all_values;
        scales.halves = sized(halves, bits.shape(0), "halves must have one entry per edge.");
        return scales;
    }
};

}  // namespace ceiba::bindings
