"""Rows and options of `TreeBagger`, and the forest that they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.compat.matlab.fit import CRITERIA, read_surrogates
from ceiba.compat.matlab.inputs import read_prior, read_rows
from ceiba.compat.matlab.name_value import NameValue
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.ensemble import RandomForestClassifier, RandomForestRegressor

METHODS = ("classification", "regression", "c", "r")
OPTIONS = (
    "CategoricalPredictors", "ClassNames", "InBagFraction", "MergeLeaves", "Method", "MinLeafSize",
    "NumPredictorsToSample", "OOBPrediction", "OOBPredictorImportance", "PredictorNames",
    "PredictorSelection", "Prior", "Prune", "random_state", "SampleWithReplacement",
    "SplitCriterion", "Surrogate", "Weights",
)  # fmt: skip
_CLASSIFICATION_DEFAULTS = {"ClassNames": None, "Prior": "empirical"}
_BEST_GROUPS = "leave it out: every categorical column is split by its best two groups"
UNSUPPORTED = {
    "AlgorithmForCategorical": _BEST_GROUPS,
    "ChunkSize": "leave it out: the rows are in memory",
    "Cost": "give Prior with every class's prior times its row's sum in Cost, which grows the "
    "same trees",
    "MaxNumCategories": _BEST_GROUPS,
    "MaxNumSplits": "give MinLeafSize, or set max_leaf_nodes or max_depth of Ceiba's own forests",
    "NumBins": "set max_bins of Ceiba's own forests",
    "NumPrint": "leave it out: nothing is printed",
    "Options": "leave it out: every core is used, and random_state seeds the draws",
    "QuadraticErrorTolerance": "give MinLeafSize, or set min_impurity_decrease of Ceiba's own "
    "forests",
    "Reproducible": "leave it out: the same random_state always gives the same trees",
}


@dataclass(frozen=True, slots=True, eq=False)
class BaggerRows:
    """Rows with a response, and the weights by which they are drawn.

    ``values`` are class indices in the order of ``classes``, or floats; ``weights`` are those of
    the rows in drawing, up to a factor, or None; ``classes`` and their probabilities in drawing,
    ``prior``, are empty for regression; ``response`` is the name of the response.
    """

    table: Table
    values: Array
    weights: Array | None
    classes: Array
    prior: Array
    response: str

    @classmethod
    def of(cls, X: Any, Y: Any, options: NameValue, classification: bool) -> BaggerRows:
        """Read the arguments of `TreeBagger`."""
        table, given, name = read_rows(X, Y, options, classification)
        values, weights, prior = given.values, given.weights, np.empty(0)
        if classification:
            prior, factors = read_prior(options.of("Prior", "empirical"), given)
            if factors is not None:
                weights = (np.ones(len(values)) if weights is None else weights) * factors[values]
        return cls(table, values, weights, given.classes, prior, name)

    @property
    def is_classification(self) -> bool:
        """Whether the response is a class."""
        return len(self.classes) > 0

    @property
    def normalized_weights(self) -> Array:
        """Weights of the rows that sum to 1."""
        if self.weights is None:
            return np.full(len(self.values), 1 / len(self.values))
        return np.asarray(self.weights / self.weights.sum())

    def encode_response(self, Y: Any, n: int) -> Array:
        """Encode the response of other rows as ``values`` are."""
        if not self.is_classification:
            return Target.of(Y, n, task="regression").values
        target = Target.of(Y, n)
        assert target.classes is not None
        index = {label: code for code, label in enumerate(self.classes.tolist())}
        labels = target.classes.tolist()
        unknown = [label for label in labels if label not in index]
        if unknown:
            raise ValueError(f"Y contains the class {unknown[0]!r}, which is not in ClassNames.")
        return np.asarray(np.array([index[label] for label in labels])[target.values])


def make_forest(options: NameValue, rows: BaggerRows, n_trees: int) -> Any:
    """Return Ceiba's forest for the options, not yet fitted."""
    _check_fixed_options(options)
    parameters = {
        "missing": "majority",
        "max_bins": None,
        "max_features": _n_features(options, len(rows.table.schema), rows.is_classification),
        "oob_score": needs_oob(options),
        "random_state": options.of("random_state", 0),
        **_sampling_parameters(options, rows),
    }
    if rows.is_classification:
        criterion: Any = CRITERIA[options.word("SplitCriterion", list(CRITERIA), "gdi")]
        return RandomForestClassifier(n_trees, criterion=criterion, **parameters)
    for name, default in _CLASSIFICATION_DEFAULTS.items():
        if name in options.given:
            raise unused_error(name, "Method='regression'", options.of(name), default)
    options.word("SplitCriterion", ["mse"], "mse")
    return RandomForestRegressor(n_trees, quantiles=True, **parameters)


def needs_oob(options: NameValue) -> bool:
    """Whether out-of-bag predictions are needed; importances need them, too."""
    prediction = options.switch("OOBPrediction", False)
    return options.switch("OOBPredictorImportance", False) or prediction


def _check_fixed_options(options: NameValue) -> None:
    """Raise ValueError for options that Ceiba's forests do not have."""
    options.word("PredictorSelection", ["allsplits"], "allsplits")
    for name in ("MergeLeaves", "Prune"):
        if options.switch(name, False):
            raise ValueError(f"{name} must be 'off': the trees of a forest are not pruned.")
    if read_surrogates(options):
        raise ValueError(
            "Surrogate must be 'off': rows with a missing value join the heavier branch. For "
            "surrogates, bag trees that have them, ceiba.BaggingClassifier("
            "ceiba.DecisionTreeClassifier(missing='surrogate'))."
        )


def _n_features(options: NameValue, n_columns: int, classification: bool) -> int:
    """Return the number of columns that are drawn for a split."""
    value = options.of("NumPredictorsToSample")
    if isinstance(value, str) and value.lower() == "all":
        return n_columns
    default = math.ceil(math.sqrt(n_columns)) if classification else math.ceil(n_columns / 3)
    n_features = options.count("NumPredictorsToSample", default)
    if n_features > n_columns:
        raise ValueError(
            f"NumPredictorsToSample must be an int in [1, {n_columns}] or 'all', got {n_features}."
        )
    return n_features


def _sampling_parameters(options: NameValue, rows: BaggerRows) -> dict[str, Any]:
    """Return the parameters of drawing rows, and of the size of leaves."""
    n = len(rows.values)
    fraction = options.number("InBagFraction", 1.0)
    if not 0 < fraction <= 1:
        raise ValueError(f"InBagFraction must be a float in (0, 1], got {fraction!r}.")
    replace = options.switch("SampleWithReplacement", True)
    if fraction == 1 and not replace:
        raise ValueError(
            "SampleWithReplacement='off' requires InBagFraction < 1: otherwise every tree has all "
            "rows."
        )
    n_draws = max(1, round(fraction * n))
    min_leaf = options.count("MinLeafSize", 1 if rows.is_classification else 5)
    sizes: dict[str, Any] = {
        "min_samples_leaf": min_leaf, "min_samples_split": max(2, 2 * min_leaf),
    }  # fmt: skip
    if replace:
        # A row counts as often as it was drawn, and that is its weight.
        sizes = {"min_weight_fraction_leaf": (min_leaf - 0.5) / n_draws if min_leaf > 1 else 0.0}
        if 2 * min_leaf > n_draws:  # a fraction above 0.5 is not accepted: nothing can be split
            sizes = {"min_samples_split": n + 1}
    return {"bootstrap": replace, "max_samples": n_draws, **sizes}
