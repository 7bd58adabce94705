// The rules by which a tree is grown, as Python sets them.
#include "tree/growth.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

// A choice that Python knows as a number.
template <typename Choice>
Choice chosen(int value, Choice last, const char* sentence) {
    require(value >= 0 && value <= int(last), sentence);
    return Choice(value);
}

// A part of SplitRules as a part of all rules.
template <auto Member, typename Class>
void split_part(Class& rules, const char* name) {
    using T = std::remove_reference_t<decltype(std::declval<SplitRules&>().*Member)>;
    rules.def_prop_rw(
        name, [](const GrowthRules& r) { return r.split.*Member; },
        [](GrowthRules& r, T value) { r.split.*Member = value; });
}

}  // namespace

void bind_tree_rules(nb::module_& module) {
    nb::class_<GrowthRules> rules(module, "TreeRules", "How a tree is grown.");
    rules.def(nb::init<>())
        .def_prop_rw(
            "criterion", [](const GrowthRules& r) { return int(r.criterion); },
            [](GrowthRules& r, int value) {
                r.criterion = chosen(value, Criterion::kPoisson, "unknown criterion");
                r.split.ratio = r.criterion == Criterion::kGainRatio;
            })
        .def_prop_rw(
            "gaps", [](const GrowthRules& r) { return int(r.split.gaps); },
            [](GrowthRules& r, int value) {
                r.split.gaps = chosen(value, GapRule::kSurrogate, "unknown rule for gaps");
            })
        .def_prop_rw(
            "cuts", [](const GrowthRules& r) { return int(r.split.cuts); },
            [](GrowthRules& r, int value) {
                r.split.cuts = chosen(value, CutRule::kGiven, "unknown rule for cuts");
            })
        .def_prop_rw(
            "growing", [](const GrowthRules& r) { return int(r.growing); },
            [](GrowthRules& r, int value) {
                r.growing = chosen(value, Growing::kBestFirst, "unknown growing order");
            })
        .def_prop_rw(
            "reuse", [](const GrowthRules& r) { return int(r.reuse); },
            [](GrowthRules& r, int value) {
                r.reuse = chosen(value, Reuse::kNone, "unknown rule for reuse");
            });
    split_part<&SplitRules::multiway>(rules, "multiway");
    split_part<&SplitRules::empty>(rules, "empty");
    split_part<&SplitRules::two>(rules, "two");
    split_part<&SplitRules::guard>(rules, "guard");
    split_part<&SplitRules::mdl>(rules, "mdl");
    split_part<&SplitRules::least_rows>(rules, "least_rows");
    split_part<&SplitRules::least_weight>(rules, "least_weight");
    split_part<&SplitRules::most_least>(rules, "most_least");
    split_part<&SplitRules::cut_share>(rules, "cut_share");
    split_part<&SplitRules::real_unit>(rules, "real_unit");
    split_part<&SplitRules::n_cuts>(rules, "n_cuts");
    split_part<&SplitRules::exact_values>(rules, "exact_values");
    split_part<&SplitRules::intervals>(rules, "intervals");
    rules.def_prop_rw(
        "factors", [](const GrowthRules& r) { return r.split.factors; },
        [](GrowthRules& r, std::vector<double> value) {
            for (const double factor : value) require(factor > 0, "factors are positive");
            r.split.factors = std::move(value);
        });
    rules.def_rw("classes", &GrowthRules::classes)
        .def_rw("weighted", &GrowthRules::weighted)
        .def_rw("max_depth", &GrowthRules::max_depth)
        .def_rw("least_to_split", &GrowthRules::least_to_split)
        .def_rw("max_leaves", &GrowthRules::max_leaves)
        .def_rw("columns_a_node", &GrowthRules::columns_a_node)
        .def_rw("many_levels", &GrowthRules::many_levels)
        .def_rw("surrogates", &GrowthRules::surrogates)
        .def_rw("least_decrease", &GrowthRules::least_decrease)
        .def_rw("enough", &GrowthRules::enough)
        .def_rw("seed", &GrowthRules::seed)
        .def_rw("weight_unit", &GrowthRules::weight_unit)
        .def_rw("target_unit", &GrowthRules::target_unit)
        .def_rw("square_unit", &GrowthRules::square_unit)
        .def_rw("centre", &GrowthRules::centre)
        .def_rw("candidates", &GrowthRules::candidates);
}

}  // namespace ceiba::bindings
