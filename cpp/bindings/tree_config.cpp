// Enumerations of the tree engine and the settings of a tree.
#include "tree/config.hpp"

#include "training_arrays.hpp"
#include "tree/split/threshold_grid.hpp"

namespace ceiba::bindings {
namespace {

// Members have the names of the parameter values of Python, in upper case.
void bind_parameter_enums(nb::module_& module) {
    nb::enum_<Criterion>(module, "Criterion", nb::is_arithmetic(), "Split criterion.")
        .value("GINI", Criterion::kGini)
        .value("ENTROPY", Criterion::kEntropy)
        .value("LOG_LOSS", Criterion::kEntropy)
        .value("GAIN_RATIO", Criterion::kGainRatio)
        .value("ERROR", Criterion::kError)
        .value("SQUARED_ERROR", Criterion::kSquared)
        .value("ABSOLUTE_ERROR", Criterion::kAbsolute)
        .value("POISSON", Criterion::kPoisson);
    nb::enum_<MissingPolicy>(module, "MissingPolicy", nb::is_arithmetic(),
                             "What a split does with missing values.")
        .value("LEARNED", MissingPolicy::kLearned)
        .value("BRANCH", MissingPolicy::kBranch)
        .value("MAJORITY", MissingPolicy::kMajority)
        .value("FRACTIONAL", MissingPolicy::kFractional)
        .value("SURROGATE", MissingPolicy::kSurrogate);
    nb::enum_<ThresholdGrid>(module, "ThresholdGrid", nb::is_arithmetic(),
                             "Candidate thresholds of a numeric column at a node.")
        .value("MIDPOINT", ThresholdGrid::kEvery)
        .value("VALUE", ThresholdGrid::kEvery)
        .value("QUANTILE", ThresholdGrid::kQuantile)
        .value("EQUAL_WIDTH", ThresholdGrid::kEqualWidth)
        .value("MEAN", ThresholdGrid::kMean)
        .value("MEDIAN", ThresholdGrid::kMedian)
        .value("RANDOM", ThresholdGrid::kRandom)
        .value("GIVEN", ThresholdGrid::kGiven);
    nb::enum_<FeatureReuse>(module, "FeatureReuse", nb::is_arithmetic(),
                            "Columns that may be tested again below a node that tests them.")
        .value("ALL", FeatureReuse::kAll)
        .value("NUMERIC", FeatureReuse::kNumeric)
        .value("NONE", FeatureReuse::kNone);
    nb::enum_<GrowthOrder>(module, "GrowthOrder", nb::is_arithmetic(),
                           "Order in which nodes are split.")
        .value("DEPTH_FIRST", GrowthOrder::kDepthFirst)
        .value("BREADTH_FIRST", GrowthOrder::kBreadthFirst)
        .value("BEST_FIRST", GrowthOrder::kBestFirst);
}

// Codes in the arrays of a tree.
void bind_model_enums(nb::module_& module) {
    nb::enum_<Type>(module, "ColumnType", nb::is_arithmetic(),
                    "Type in which the values of a column are stored and compared.")
        .value("FLOAT64", Type::kDouble)
        .value("FLOAT32", Type::kFloat)
        .value("INT64", Type::kInt)
        .value("UINT64", Type::kUnsigned)
        .value("ORDINAL", Type::kOrdinal)
        .value("NOMINAL", Type::kNominal);
    nb::enum_<Test>(module, "NodeTest", nb::is_arithmetic(), "Kind of test in a packed node.")
        .value("LEAF", Test::kLeaf)
        .value("REAL", Test::kReal)
        .value("INT", Test::kInt)
        .value("UNSIGNED", Test::kUnsigned)
        .value("ORDINAL", Test::kOrdinal)
        .value("MASK", Test::kMask, "Categories of branch 0 as bits of the word.")
        .value("WORDS", Test::kWords, "Categories of branch 0 as bits in words.")
        .value("TABLE", Test::kTable, "Branch of each category in tables.")
        .value("INTERVALS", Test::kIntervals, "Thresholds in words.");
    nb::enum_<Reason>(module, "LeafReason", nb::is_arithmetic(),
                      "Why a node is a leaf; OPEN while that is undecided or if it is not stored.")
        .value("SPLIT", Reason::kSplit)
        .value("PURE", Reason::kPure)
        .value("IMPURITY", Reason::kImpurity)
        .value("MAX_DEPTH", Reason::kDepth)
        .value("MIN_SAMPLES_SPLIT", Reason::kRows)
        .value("NO_SPLIT", Reason::kNoSplit)
        .value("MIN_SAMPLES_LEAF", Reason::kLeafRows)
        .value("MIN_IMPURITY_DECREASE", Reason::kGain)
        .value("MAX_LEAF_NODES", Reason::kLeaves)
        .value("NO_GAIN", Reason::kNoGain)
        .value("EMPTY", Reason::kEmpty)
        .value("PRUNED", Reason::kPruned)
        .value("NOT_KEPT", Reason::kOpen)
        .value("OPEN", Reason::kOpen)
        .value("MONOTONIC_CST", Reason::kMonotonic);
    nb::enum_<SearchMethod>(module, "SearchMethod", nb::is_arithmetic(),
                            "Search that found a split.")
        .value("NONE", SearchMethod::kNone)
        .value("THRESHOLD", SearchMethod::kThreshold)
        .value("ORDERED", SearchMethod::kOrdered)
        .value("EXHAUSTIVE", SearchMethod::kExhaustive)
        .value("PRINCIPAL", SearchMethod::kPrincipal)
        .value("MEDIAN", SearchMethod::kMedian)
        .value("MULTIWAY", SearchMethod::kMultiway)
        .value("INTERVALS", SearchMethod::kIntervals);
}

// Bind a field of SplitConfig as one of the whole configuration.
template <auto Member, typename Class>
void split_field(Class& config, const char* name) {
    using T = std::remove_reference_t<decltype(std::declval<SplitConfig&>().*Member)>;
    config.def_prop_rw(
        name, [](const TreeConfig& self) { return self.split.*Member; },
        [](TreeConfig& self, T value) { self.split.*Member = value; });
}

void bind_config(nb::module_& module) {
    nb::class_<TreeConfig> config(module, "TreeConfig", "Settings of a tree and of its splits.");
    config.def(nb::init<>())
        .def_prop_rw(
            "criterion", [](const TreeConfig& self) { return self.criterion; },
            [](TreeConfig& self, Criterion value) {
                self.criterion = value;
                self.split.gain_ratio = value == Criterion::kGainRatio;
            });
    split_field<&SplitConfig::missing>(config, "missing");
    split_field<&SplitConfig::multiway>(config, "multiway");
    split_field<&SplitConfig::empty_branches>(config, "empty_branches");
    split_field<&SplitConfig::two_branches_suffice>(config, "two_branches_suffice");
    split_field<&SplitConfig::above_average_gain>(config, "above_average_gain");
    split_field<&SplitConfig::mdl_correction>(config, "mdl_correction");
    split_field<&SplitConfig::category_correction>(config, "category_correction");
    split_field<&SplitConfig::min_rows>(config, "min_rows");
    split_field<&SplitConfig::min_weight>(config, "min_weight");
    split_field<&SplitConfig::max_min_side_weight>(config, "max_min_side_weight");
    split_field<&SplitConfig::min_side_fraction>(config, "min_side_fraction");
    split_field<&SplitConfig::real_unit>(config, "real_unit");
    split_field<&SplitConfig::threshold_grid>(config, "threshold_grid");
    split_field<&SplitConfig::n_thresholds>(config, "n_thresholds");
    split_field<&SplitConfig::exact_values>(config, "exact_values");
    split_field<&SplitConfig::n_intervals>(config, "n_intervals");
    split_field<&SplitConfig::monotonic>(config, "monotonic");
    config.def_prop_rw("interactions", &interactions_of<TreeConfig>, &set_interactions<TreeConfig>);
    config.def_prop_rw(
        "cost_factors", [](const TreeConfig& self) { return self.split.cost_factors; },
        [](TreeConfig& self, std::vector<double> value) {
            for (const double factor : value) require(factor > 0, "cost_factors must be positive.");
            self.split.cost_factors = std::move(value);
        });
    config.def_rw("growth_order", &TreeConfig::growth_order)
        .def_rw("n_classes", &TreeConfig::n_classes)
        .def_rw("weighted", &TreeConfig::weighted)
        .def_rw("max_depth", &TreeConfig::max_depth)
        .def_rw("min_rows_split", &TreeConfig::min_rows_split)
        .def_rw("max_leaves", &TreeConfig::max_leaves)
        .def_rw("columns_per_node", &TreeConfig::columns_per_node)
        .def_rw("feature_reuse", &TreeConfig::feature_reuse)
        .def_rw("many_categories", &TreeConfig::many_categories)
        .def_rw("max_surrogates", &TreeConfig::max_surrogates)
        .def_rw("min_impurity_decrease", &TreeConfig::min_impurity_decrease)
        .def_rw("min_impurity", &TreeConfig::min_impurity)
        .def_rw("seed", &TreeConfig::seed)
        .def_rw("weight_unit", &TreeConfig::weight_unit)
        .def_rw("target_unit", &TreeConfig::target_unit)
        .def_rw("square_unit", &TreeConfig::square_unit)
        .def_rw("target_center", &TreeConfig::target_center)
        .def_rw("target_factors", &TreeConfig::target_factors)
        .def_rw("keep_candidates", &TreeConfig::keep_candidates);
}

}  // namespace

void bind_tree_config(nb::module_& module) {
    bind_parameter_enums(module);
    bind_model_enums(module);
    bind_config(module);
    module.attr("THRESHOLD_STREAM") = kThresholdStream;
    module.attr("FEW_CATEGORIES") = kFewCategories;
}

}  // namespace ceiba::bindings
