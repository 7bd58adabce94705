"""Every option of a forest changes it in the way that it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from ceiba.base import declared
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, numbers, record_bits, shape

KINDS = [RandomForestClassifier, RandomForestRegressor]

CHANGES: list[dict[str, Any]] = [
    {"n_estimators": 7},
    {"thresholds": "random"},
    {"thresholds": "random", "n_thresholds": 3},
    {"max_bins": 5},
    {"missing": "branch"},
    {"missing": "majority"},
    {"max_depth": 3},
    {"min_samples_split": 30},
    {"min_samples_split": 0.1},
    {"min_samples_leaf": 9},
    {"min_samples_leaf": 0.04},
    {"min_weight_fraction_leaf": 0.05},
    {"min_impurity_decrease": 0.01},
    {"max_leaf_nodes": 6},
    {"max_features": 1},
    {"max_features": 4},
    {"max_features": 0.7},
    {"max_features": "log2"},
    {"features_per": "tree", "max_features": 2},
    {"features_per": "both", "max_features": 2, "tree_features": 5},
    {"features_per": "both", "max_features": 2, "tree_features": 0.8},
    {"features_per": "both", "max_features": 1, "tree_features": "sqrt"},
    {"features_per": "both", "max_features": 1, "tree_features": "log2"},
    {"bootstrap": False},
    {"bootstrap": False, "max_samples": 100},
    {"max_samples": 50},
    {"max_samples": 0.5},
    {"random_state": 1},
]
OF_CLASSES: list[dict[str, Any]] = [
    {"criterion": "entropy"},
    {"max_features": None},
    {"class_weight": "balanced"},
    {"class_weight": "balanced_subsample"},
    {"class_weight": {0: 5.0}},
]
OF_NUMBERS: list[dict[str, Any]] = [
    {"criterion": "absolute_error"},
    {"criterion": "poisson"},
    {"max_features": "sqrt"},
]
# The same trees, and what else changes: see the tests below.
ELSEWHERE = {"oob_score", "importance", "warm_start", "n_jobs"}


def positive_numbers(trees: int = 6, **options: Any) -> RandomForestRegressor:
    """Counts are for poisson, too."""
    return RandomForestRegressor(trees, **options).fit(X, np.exp(NUMBERS / 2))


@pytest.mark.parametrize("change", CHANGES + OF_CLASSES, ids=str)
def test_every_option_changes_the_forest_of_classes(change: dict[str, Any]) -> None:
    model = RandomForestClassifier(**{"n_estimators": 6, **change}).fit(X, CLASSES)
    assert shape(model) != shape(classes())


@pytest.mark.parametrize("change", CHANGES + OF_NUMBERS, ids=str)
def test_every_option_changes_the_forest_of_numbers(change: dict[str, Any]) -> None:
    model = RandomForestRegressor(**{"n_estimators": 6, **change}).fit(X, np.exp(NUMBERS / 2))
    assert shape(model) != shape(positive_numbers())


def test_no_two_values_do_the_same() -> None:
    """A value that is taken for another would hide behind the default."""
    for kind, y, changes in (
        (RandomForestClassifier, CLASSES, CHANGES + OF_CLASSES),
        (RandomForestRegressor, np.exp(NUMBERS / 2), CHANGES + OF_NUMBERS),
    ):
        found = {shape(kind(**{"n_estimators": 6, **change}).fit(X, y)) for change in changes}
        assert len(found) == len(changes)


@pytest.mark.parametrize("kind", KINDS)
def test_every_declared_parameter_and_choice_is_covered(kind: Any) -> None:
    own = OF_CLASSES if kind is RandomForestClassifier else OF_NUMBERS
    alone = "leaf_probability" if kind is RandomForestClassifier else "quantiles"
    tried: dict[str, set[Any]] = {}
    for change in CHANGES + own:
        for name, value in change.items():
            tried.setdefault(name, set()).add(value if not isinstance(value, dict) else "mapping")
    parameters = {parameter.name: parameter for parameter in declared(kind)}
    assert set(tried) | ELSEWHERE | {alone} == set(parameters)
    assert set(kind().get_params()) == set(parameters)
    same = {"criterion": {"log_loss"}}  # test_log_loss_is_entropy
    for name, values in tried.items():
        wanted = set(parameters[name].choices) - {parameters[name].default}
        assert wanted <= values | same.get(name, set()), name


# Options that leave the trees as they are


def test_log_loss_is_entropy() -> None:
    assert shape(classes(criterion="log_loss")) == shape(classes(criterion="entropy"))


@pytest.mark.parametrize("fit", [classes, numbers])
def test_threads_and_what_is_measured_leave_the_trees_alone(fit: Any) -> None:
    plain = fit(20)
    told = ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_", "oob_errors_")
    assert not any(hasattr(plain, name) for name in (*told, "oob_importance_", "leaf_targets_"))
    asked = fit(20, oob_score=True)
    assert {"oob_score_", "oob_curve_"} <= set(vars(asked))
    assert not hasattr(asked, "oob_importance_")
    weighed = fit(20, importance=True)
    assert hasattr(weighed, "oob_importance_")
    assert not any(hasattr(weighed, name) for name in told)
    for model in (asked, weighed, fit(20, n_jobs=1), fit(20, n_jobs=2), fit(20, warm_start=True)):
        assert shape(model) == shape(plain)


def test_quantiles_keep_the_targets_of_leaves() -> None:
    assert not hasattr(numbers(), "leaf_targets_")
    assert hasattr(numbers(quantiles=True), "leaf_targets_")
    assert shape(numbers(quantiles=True)) == shape(numbers())


def test_seeds() -> None:
    assert shape(classes(random_state=3)) == shape(classes(random_state=3))
    assert shape(classes(random_state=np.int64(3))) == shape(classes(random_state=3))
    assert len({shape(classes(random_state=None)) for _ in range(4)}) > 1
    for make in (np.random.RandomState, np.random.default_rng):
        assert shape(classes(random_state=make(2))) == shape(classes(random_state=make(2)))
        assert shape(classes(random_state=make(2))) != shape(classes(random_state=make(3)))
        state = make(2)
        assert shape(classes(random_state=state)) != shape(classes(random_state=state))


def test_laplace_adds_a_row_of_each_class_to_every_leaf() -> None:
    for options in ({}, {"class_weight": {1: 2.5}}, {"class_weight": "balanced_subsample"}):
        plain, laplace = (
            classes(1, max_depth=2, leaf_probability=way, **options) for way in ("plain", "laplace")
        )
        assert shape(plain) == shape(laplace)
        tree = plain.tree(0)
        weights = tree.value[plain.apply(X)[:, 0]]
        total = weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(plain.predict_proba(X), weights / total, rtol=1e-9)
        np.testing.assert_allclose(laplace.predict_proba(X), (weights + 1) / (total + 3), rtol=1e-9)


# What each one says


@pytest.mark.parametrize("fit", [classes, numbers])
@pytest.mark.parametrize("more", [{}, {"max_bins": 8}, {"max_features": 1}], ids=str)
def test_limits_are_kept(fit: Any, more: dict[str, Any]) -> None:
    model = fit(max_depth=3, **more)
    assert max(int(model.tree(t).depth.max()) for t in range(6)) == 3
    for most in (2, 3, 9):
        model = fit(max_leaf_nodes=most, **more)
        assert {model.tree(t).n_leaves for t in range(6)} == {most}
    # Rows of a branch are those drawn, each counted once: at least as much weight as that.
    model = fit(min_samples_leaf=9, **more)
    assert min(model.tree(t).weight.min() for t in range(6)) >= 9
    model = fit(min_weight_fraction_leaf=0.1, **more)
    assert min(model.tree(t).weight.min() for t in range(6)) >= 0.1 * len(X)
    model = fit(bootstrap=False, min_samples_split=40, **more)
    for t in range(6):
        tree = model.tree(t)
        assert tree.weight[~tree.is_leaf].min() >= 40


def used_columns(model: Any, t: int) -> set[int]:
    tree = model.tree(t)
    return set(tree.column[~tree.is_leaf].tolist())


def test_columns_are_drawn_for_each_tree() -> None:
    for options, most in (
        ({"features_per": "tree", "max_features": 2}, 2),
        ({"features_per": "tree", "max_features": 0.4}, 3),
        ({"features_per": "both", "max_features": 1, "tree_features": 3}, 3),
        ({"features_per": "both", "max_features": 4, "tree_features": 1}, 1),
    ):
        model = classes(30, **options)
        drawn = [used_columns(model, t) for t in range(30)]
        assert max(map(len, drawn)) == most
        assert set.union(*drawn) == set(range(8))
    assert max(len(used_columns(classes(), t)) for t in range(6)) == 8


def test_columns_drawn_for_a_tree_are_then_all_looked_at() -> None:
    """With features_per='tree' a tree is one of its columns alone, with nothing drawn below."""
    rows = X[["a", "b", "c"]].to_numpy()
    model = RandomForestClassifier(
        6, features_per="tree", max_features=2, bootstrap=False
    ).fit(rows, CLASSES)  # fmt: skip
    for t in range(6):
        chosen = sorted(used_columns(model, t))
        assert len(chosen) == 2
        alone = DecisionTreeClassifier().fit(rows[:, chosen], CLASSES)
        np.testing.assert_array_equal(
            alone.predict_proba(rows[:, chosen]),
            model.without([u for u in range(6) if u != t]).predict_proba(rows),
        )


@pytest.mark.parametrize("fit", [classes, numbers])
def test_the_number_of_rows_drawn(fit: Any) -> None:
    for options, drawn in (
        ({}, len(X)),
        ({"max_samples": 50}, 50),
        ({"max_samples": 500}, 500),
        ({"max_samples": 0.5}, len(X) // 2),
        ({"max_samples": 1e-9}, 1),
        ({"bootstrap": False}, len(X)),
        ({"bootstrap": False, "max_samples": 0.25}, len(X) // 4),
    ):
        model = fit(**options)
        assert {model.tree(t).weight[0] for t in range(6)} == {drawn}


def test_without_anything_drawn_all_trees_are_the_decision_tree() -> None:
    model = classes(3, bootstrap=False, max_features=None)
    alone = DecisionTreeClassifier().fit(X, CLASSES)
    for t in range(3):
        tree = model.tree(t)
        np.testing.assert_array_equal(tree.column, alone.tree_.column)
        np.testing.assert_array_equal(tree.value, alone.tree_.value)
        np.testing.assert_array_equal(tree.threshold, alone.tree_.threshold)
    np.testing.assert_allclose(model.feature_importances_, alone.feature_importances_)


def test_class_weights_are_told() -> None:
    assert not hasattr(classes(), "class_weight_")
    np.testing.assert_array_equal(classes(class_weight={0: 5.0}).class_weight_, [5, 1, 1])
    told = classes(class_weight="balanced").class_weight_
    np.testing.assert_allclose(told, len(X) / (3 * np.bincount(CLASSES)))
    assert not hasattr(classes(class_weight="balanced_subsample"), "class_weight_")
    model = classes(class_weight="balanced_subsample")
    for t in range(6):
        value = model.tree(t).value[0]
        np.testing.assert_allclose(value, value[0], rtol=1e-3)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_class_weights_are_factors_of_what_a_row_weighs(bootstrap: bool) -> None:
    options = {"bootstrap": bootstrap, "max_depth": 4}
    plain = classes(class_weight={0: 3.0, 2: 3.0, 1: 3.0}, **options)
    np.testing.assert_array_equal(plain.predict_proba(X), classes(**options).predict_proba(X))
    heavier = classes(class_weight={2: 20.0}, **options)
    assert (heavier.predict(X) == 2).sum() > (classes(**options).predict(X) == 2).sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 4), ("min_samples_leaf", 9), ("min_samples_split", 30),
        ("max_features", 2), ("max_depth", 2), ("max_bins", 5), ("max_leaf_nodes", 7),
        ("max_samples", 60),
    ],
)  # fmt: skip
def test_whole_numbers_of_numpy_mean_the_same(kind: Any, name: str, value: int) -> None:
    """As `GridSearchCV` over `numpy.arange` gives them."""
    y = NUMBERS if kind is RandomForestRegressor else CLASSES
    plain = kind(**{"n_estimators": 3, name: value}).fit(X, y)
    for dtype in (np.int64, np.uint8):
        assert shape(kind(**{"n_estimators": 3, name: dtype(value)}).fit(X, y)) == shape(plain)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", 0.125), ("min_samples_split", 0.5), ("max_features", 0.5),
        ("min_impurity_decrease", 0.015625), ("min_weight_fraction_leaf", 0.125),
        ("max_samples", 0.25),
    ],
)  # fmt: skip
def test_floats_of_numpy_mean_the_same(name: str, value: float) -> None:
    for dtype in (np.float64, np.float32):
        assert shape(classes(**{name: dtype(value)})) == shape(classes(**{name: value}))


def test_truth_values_of_numpy_mean_the_same() -> None:
    assert shape(classes(bootstrap=np.False_)) == shape(classes(bootstrap=False))
    assert record_bits(classes(20, oob_score=np.True_).oob_curve_) == record_bits(
        classes(20, oob_score=True).oob_curve_
    )
