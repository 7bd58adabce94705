"""Errors of forests: invalid and contradictory parameters, invalid arguments."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba.base import declared
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, numbers

KINDS = [RandomForestClassifier, RandomForestRegressor]

BAD: list[tuple[str, Any]] = [
    ("n_estimators", 0), ("n_estimators", 2.0), ("n_estimators", None), ("n_estimators", True),
    ("criterion", "ginny"), ("thresholds", "median"), ("thresholds", None),
    ("n_thresholds", 0), ("n_thresholds", 65_536), ("n_thresholds", 1.5), ("n_thresholds", None),
    ("max_bins", 1), ("max_bins", 65_536), ("max_bins", 16.0), ("missing", "surrogate"),
    ("missing", "fractional"), ("missing", None), ("category_correction", "yes"),
    ("max_depth", 0), ("max_depth", 2.5),
    ("max_depth", "deep"), ("min_samples_split", 1), ("min_samples_split", 0.0),
    ("min_samples_split", 1.5), ("min_samples_split", "2"), ("min_samples_leaf", 0),
    ("min_samples_leaf", 1.0), ("min_samples_leaf", -0.1), ("min_samples_leaf", True),
    ("min_weight_fraction_leaf", 0.6), ("min_weight_fraction_leaf", -0.1),
    ("min_weight_fraction_leaf", np.nan), ("min_impurity_decrease", -1e-9),
    ("min_impurity_decrease", np.nan), ("max_leaf_nodes", 1), ("max_leaf_nodes", 2.0),
    ("max_features", 0), ("max_features", 0.0), ("max_features", 1.5), ("max_features", "all"),
    ("max_features_per", "split"), ("max_features_per", None), ("tree_features", 0),
    ("tree_features", 1.01), ("tree_features", "half"), ("bootstrap", "yes"), ("bootstrap", 1),
    ("bootstrap", None), ("max_samples", 0), ("max_samples", 0.0), ("max_samples", -0.5),
    ("max_samples", -3), ("max_samples", "all"), ("max_samples", np.nan), ("oob_score", "yes"),
    ("oob_score", None), ("importance", "yes"), ("importance", 1), ("warm_start", 2),
    ("warm_start", None), ("random_state", "x"), ("random_state", 1.5), ("n_jobs", 0),
    ("n_jobs", 1.5), ("n_jobs", "all"), ("verbose", -1), ("verbose", "yes"),
    ("ccp_alpha", -1.0), ("ccp_alpha", np.inf), ("monotonic_cst", [2]), ("monotonic_cst", "up"),
    ("interaction_cst", "all"), ("interaction_cst", [0, 1]), ("interaction_cst", [["none"]]),
]  # fmt: skip
BAD_OF_CLASSES: list[tuple[str, Any]] = [
    ("criterion", "squared_error"), ("class_weight", "even"), ("class_weight", 3),
    ("leaf_probability", "m_estimate"), ("leaf_probability", None),
]  # fmt: skip
BAD_OF_NUMBERS: list[tuple[str, Any]] = [
    ("criterion", "gini"), ("quantiles", "yes"), ("quantiles", None), ("quantiles", 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD + BAD_OF_CLASSES)
def test_invalid_value_names_the_parameter_of_the_classifier(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        RandomForestClassifier(**{name: value}).fit(X, CLASSES)


@pytest.mark.parametrize(("name", "value"), BAD + BAD_OF_NUMBERS)
def test_invalid_value_names_the_parameter_of_the_regressor(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        RandomForestRegressor(**{name: value}).fit(X, NUMBERS)


def test_invalid_values_cover_every_parameter() -> None:
    for kind, own in zip(KINDS, (BAD_OF_CLASSES, BAD_OF_NUMBERS), strict=True):
        assert {name for name, _ in BAD + own} == {parameter.name for parameter in declared(kind)}


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tree_features": 3}, "'tree_features' has no effect with max_features_per="),
    (
        {"tree_features": 3, "max_features_per": "tree"},
        "'tree_features' has no effect with max_features_per=",
    ),
    ({"max_features_per": "both"}, "requires tree_features, got None"),
    ({"bootstrap": False, "oob_score": True}, "only available if bootstrap=True or max_samples"),
    ({"bootstrap": False, "importance": True}, "only available if bootstrap=True or max_samples"),
    ({"n_thresholds": 2}, "'n_thresholds' has no effect with thresholds='midpoint'"),
    (
        {"bootstrap": False, "max_samples": 241},
        "max_samples must be at most the number of rows, 240",
    ),
    (
        {"bootstrap": False, "max_samples": 1.0, "importance": True},
        "requires out-of-bag rows, and there are none",
    ),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS, ids=str)
@pytest.mark.parametrize("fit", [classes, numbers])
def test_contradictory_parameters_are_rejected(
    fit: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit(**options)


def test_absolute_error_requires_midpoint_thresholds() -> None:
    """The message names parameters of forests only."""
    with pytest.raises(ValueError, match="requires thresholds='midpoint'") as error:
        numbers(thresholds="random", criterion="absolute_error")
    for name in re.findall(r"(\w+)=", str(error.value)):
        assert name in RandomForestRegressor().get_params()


def test_class_weights_are_checked() -> None:
    for given, message in [
        ({7: 1.0}, "keys of class_weight must be classes of y"),
        ({0: -1.0}, "positive"),
        ({0: 0.0}, "positive"),
        ({0: np.nan}, "positive"),
        ({0: np.inf}, "positive"),
        ({0: 1e300}, r"in \[1e-50, 1e\+50\]"),
        ({0: 1e-320, 1: 1e-320, 2: 1e-320}, r"in \[1e-50, 1e\+50\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            classes(class_weight=given)


def test_criterion_checks_the_target() -> None:
    with pytest.raises(ValueError, match="requires y >= 0"):
        numbers(criterion="poisson")
    with pytest.raises(ValueError, match="continuous"):
        RandomForestClassifier().fit(X, NUMBERS)


def test_method_arguments_are_checked() -> None:
    model = numbers(20, oob_score=True, quantiles=True)
    for call, message in [
        (lambda: model.predict_quantiles(X, 1.5), "q must be in \\[0, 1\\]"),
        (lambda: model.predict_quantiles(X, [[0.5]]), "q must be in \\[0, 1\\]"),
        (lambda: model.predict_quantiles(X, np.nan), "q must be in \\[0, 1\\]"),
        (lambda: model.predict_interval(X, 1.0), "coverage must be in .*, got 1.0"),
        (lambda: model.predict_interval(X, 0.0), "coverage must be in .*, got 0.0"),
        (lambda: model.predict_interval(X, np.nan), "coverage must be in .*, got nan"),
        (
            lambda: model.predict_interval(X, method="t"),
            "method must be 'oob' or 'quantiles', got 't'",
        ),
        (
            lambda: model.oob_importance(X, NUMBERS, n_repeats=0),
            "n_repeats must be an int in .*, got 0",
        ),
        (
            lambda: model.oob_importance(X, NUMBERS, n_repeats=256),
            "n_repeats must be an int in .*, got 256",
        ),
        (
            lambda: model.oob_importance(X, NUMBERS, confidence_level=1.0),
            "confidence_level must be in .*, got 1.0",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    plain = numbers()
    for call, message in [
        (lambda: plain.predict_quantiles(X, 0.5), "requires quantiles=True"),
        (lambda: plain.predict_interval(X), "requires oob_score=True"),
        (lambda: plain.predict_interval(X, method="quantiles"), "requires quantiles=True"),
        (plain.n_trees_sufficient, "requires oob_score=True"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("options", [{"min_impurity_decrease": 1e308}, {"max_samples": 1e-4}])
def test_forest_of_single_leaves_warns(options: dict[str, Any]) -> None:
    for forest, y in ((RandomForestClassifier(3), CLASSES), (RandomForestRegressor(3), NUMBERS)):
        forest.set_params(**options)
        with pytest.warns(UserWarning, match="Each of the 3 trees is a single leaf.*min_impurity"):
            forest.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RandomForestRegressor(3).fit(X, np.ones(len(X)))
