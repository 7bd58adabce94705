"""What `TreeBagger` takes, and the forest that it stands for."""

from __future__ import annotations

import math
from typing import Any

from ceiba.compat.matlab.bagger_rows import BaggerRows
from ceiba.compat.matlab.fit import surrogates
from ceiba.compat.matlab.name_value import NameValue
from ceiba.ensemble import RandomForestClassifier, RandomForestRegressor

METHODS = ("classification", "regression", "c", "r")
OPTIONS = (
    "CategoricalPredictors", "ClassNames", "InBagFraction", "MergeLeaves", "Method", "MinLeafSize",
    "NumPredictorsToSample", "OOBPrediction", "OOBPredictorImportance", "PredictorNames",
    "PredictorSelection", "Prior", "Prune", "random_state", "SampleWithReplacement",
    "SplitCriterion", "Surrogate", "Weights",
)  # fmt: skip
_OF_CLASSES = ("ClassNames", "Prior")
_CRITERIA = {"gdi": "gini", "deviance": "entropy"}
_LEVELS = "leave it out: every column of levels is split by its best two groups"
_SILENT = "leave it out: nothing is printed"
ELSEWHERE = {
    "AlgorithmForCategorical": _LEVELS,
    "ChunkSize": "leave it out: the rows are in memory",
    "Cost": "give Prior with every class's prior times its row's sum in Cost, which grows the "
    "same trees",
    "MaxNumCategories": _LEVELS,
    "MaxNumSplits": "give MinLeafSize, or set max_leaf_nodes or max_depth of Ceiba's own forests",
    "NumBins": "set max_bins of Ceiba's own forests",
    "NumPrint": _SILENT,
    "Options": "leave it out: every core is used, and random_state seeds the draws",
    "QuadraticErrorTolerance": "give MinLeafSize, or set min_impurity_decrease of Ceiba's own "
    "forests",
    "Reproducible": "leave it out: the same random_state always gives the same trees",
}


def forest_of(options: NameValue, rows: BaggerRows, n_trees: int) -> Any:
    """Ceiba's forest, not yet fitted."""
    _check_fixed(options)
    shared = {
        "missing": "majority",
        "max_features": _columns(options, len(rows.table.schema), rows.of_classes),
        "oob_score": told_out_of_bag(options),
        "random_state": options.of("random_state", 0),
        **_sampling(options, rows),
    }
    if rows.of_classes:
        criterion: Any = _CRITERIA[options.word("SplitCriterion", list(_CRITERIA), "gdi")]
        return RandomForestClassifier(n_trees, criterion=criterion, **shared)
    for name in _OF_CLASSES:
        if name in options.given:
            raise ValueError(f"{name} is for Method='classification': numbers have no classes")
    options.word("SplitCriterion", ["mse"], "mse")
    return RandomForestRegressor(n_trees, quantiles=True, **shared)


def told_out_of_bag(options: NameValue) -> bool:
    """Whether out-of-bag predictions are wanted; importances need them, too."""
    wanted = options.switch("OOBPrediction", False)
    return options.switch("OOBPredictorImportance", False) or wanted


def _check_fixed(options: NameValue) -> None:
    """Refuse what a forest of Ceiba's does not do."""
    options.word("PredictorSelection", ["allsplits"], "allsplits")
    for name in ("MergeLeaves", "Prune"):
        if options.switch(name, False):
            raise ValueError(f"{name} is 'off' here: the trees of a forest are grown to the end")
    if surrogates(options):
        raise ValueError(
            "Surrogate is 'off' here: rows with a gap join the heavier branch; to follow "
            "surrogates, bag trees that do, ceiba.BaggingClassifier("
            "ceiba.DecisionTreeClassifier(missing='surrogate'))"
        )


def _columns(options: NameValue, p: int, of_classes: bool) -> int:
    """Columns that a node looks at."""
    asked = options.of("NumPredictorsToSample")
    if isinstance(asked, str) and asked.lower() == "all":
        return p
    usual = math.ceil(math.sqrt(p)) if of_classes else math.ceil(p / 3)
    wanted = options.count("NumPredictorsToSample", usual)
    if wanted > p:
        raise ValueError(f"NumPredictorsToSample={wanted}: there are {p} columns; give 'all'")
    return wanted


def _sampling(options: NameValue, rows: BaggerRows) -> dict[str, Any]:
    """How many rows a tree draws, and how few a leaf may have."""
    n = len(rows.values)
    share = options.number("InBagFraction", 1.0)
    if not 0 < share <= 1:
        raise ValueError(f"InBagFraction={share!r}: give a share of the rows, above 0 and up to 1")
    replace = options.switch("SampleWithReplacement", True)
    if share == 1 and not replace:
        raise ValueError(
            "SampleWithReplacement='off' needs an InBagFraction below 1: otherwise every tree has "
            "all rows"
        )
    draws = max(1, round(share * n))
    least = options.count("MinLeafSize", 1 if rows.of_classes else 5)
    sizes: dict[str, Any] = {"min_samples_leaf": least, "min_samples_split": max(2, 2 * least)}
    if replace:
        # A leaf's rows count as often as they were drawn, and that is their weight.
        sizes = {"min_weight_fraction_leaf": (least - 0.5) / draws if least > 1 else 0.0}
        if 2 * least > draws:  # no share above one half is taken: nothing can be split
            sizes = {"min_samples_split": n + 1}
    return {"bootstrap": replace, "max_samples": draws, **sizes}
