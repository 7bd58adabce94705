"""Every option of a forest has the documented effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from ceiba.base import declared
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, digest, numbers, record_bits

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
    {"interaction_cst": "no_interactions"},
    {"interaction_cst": "pairwise"},
    {"max_features": 1},
    {"max_features": 4},
    {"max_features": 0.7},
    {"max_features": "log2"},
    {"max_features_per": "tree", "max_features": 2},
    {"max_features_per": "both", "max_features": 2, "tree_features": 5},
    {"max_features_per": "both", "max_features": 2, "tree_features": 0.8},
    {"max_features_per": "both", "max_features": 1, "tree_features": "sqrt"},
    {"max_features_per": "both", "max_features": 1, "tree_features": "log2"},
    {"bootstrap": False},
    {"bootstrap": False, "max_samples": 100},
    {"max_samples": 50},
    {"max_samples": 0.5},
    {"max_samples": 1.5},
    {"ccp_alpha": 0.02},
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
# Options that do not change the trees: see the tests below.
ELSEWHERE = {"oob_score", "importance", "warm_start", "n_jobs", "category_correction", "verbose"}
ELSEWHERE |= {"monotonic_cst"}  # test_constraints


def positive_numbers(trees: int = 6, **options: Any) -> RandomForestRegressor:
    """Return a regressor of positive targets, as poisson needs them."""
    return RandomForestRegressor(trees, **options).fit(X, np.exp(NUMBERS / 2))


@pytest.mark.parametrize("change", CHANGES + OF_CLASSES, ids=str)
def test_every_option_changes_the_classifier(change: dict[str, Any]) -> None:
    model = RandomForestClassifier(**{"n_estimators": 6, **change}).fit(X, CLASSES)
    assert digest(model) != digest(classes())


@pytest.mark.parametrize("change", CHANGES + OF_NUMBERS, ids=str)
def test_every_option_changes_the_regressor(change: dict[str, Any]) -> None:
    model = RandomForestRegressor(**{"n_estimators": 6, **change}).fit(X, np.exp(NUMBERS / 2))
    assert digest(model) != digest(positive_numbers())


def test_all_values_give_different_forests() -> None:
    for kind, y, changes in (
        (RandomForestClassifier, CLASSES, CHANGES + OF_CLASSES),
        (RandomForestRegressor, np.exp(NUMBERS / 2), CHANGES + OF_NUMBERS),
    ):
        found = {digest(kind(**{"n_estimators": 6, **change}).fit(X, y)) for change in changes}
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


# Options that do not change the trees


def test_log_loss_is_entropy() -> None:
    assert digest(classes(criterion="log_loss")) == digest(classes(criterion="entropy"))


@pytest.mark.parametrize("fit", [classes, numbers])
def test_threads_and_oob_options_do_not_change_the_trees(fit: Any) -> None:
    plain = fit(20)
    oob = ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_", "oob_errors_")
    assert not any(hasattr(plain, name) for name in (*oob, "oob_importance_", "leaf_targets_"))
    scored = fit(20, oob_score=True)
    assert {"oob_score_", "oob_curve_"} <= set(vars(scored))
    assert not hasattr(scored, "oob_importance_")
    with_importance = fit(20, importance=True)
    assert hasattr(with_importance, "oob_importance_")
    assert not any(hasattr(with_importance, name) for name in oob)
    for model in (
        scored,
        with_importance,
        fit(20, n_jobs=1),
        fit(20, n_jobs=2),
        fit(20, warm_start=True),
    ):
        assert digest(model) == digest(plain)


def test_quantiles_keep_leaf_targets() -> None:
    assert not hasattr(numbers(), "leaf_targets_")
    assert hasattr(numbers(quantiles=True), "leaf_targets_")
    assert digest(numbers(quantiles=True)) == digest(numbers())


def test_random_state() -> None:
    assert digest(classes(random_state=3)) == digest(classes(random_state=3))
    assert digest(classes(random_state=np.int64(3))) == digest(classes(random_state=3))
    assert len({digest(classes(random_state=None)) for _ in range(4)}) > 1
    for make in (np.random.RandomState, np.random.default_rng):
        assert digest(classes(random_state=make(2))) == digest(classes(random_state=make(2)))
        assert digest(classes(random_state=make(2))) != digest(classes(random_state=make(3)))
        state = make(2)
        assert digest(classes(random_state=state)) != digest(classes(random_state=state))


def test_laplace_adds_one_row_of_each_class_to_every_leaf() -> None:
    for options in ({}, {"class_weight": {1: 2.5}}, {"class_weight": "balanced_subsample"}):
        plain, laplace = (
            classes(1, max_depth=2, leaf_probability=value, **options)
            for value in ("plain", "laplace")
        )
        assert digest(plain) == digest(laplace)
        tree = plain.tree(0)
        weights = tree.node_values[plain.apply(X)[:, 0]]
        total = weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(plain.predict_proba(X), weights / total, rtol=1e-9)
        np.testing.assert_allclose(laplace.predict_proba(X), (weights + 1) / (total + 3), rtol=1e-9)


# Effects of single options


@pytest.mark.parametrize("fit", [classes, numbers])
@pytest.mark.parametrize("more", [{}, {"max_bins": 8}, {"max_features": 1}], ids=str)
def test_limits_hold(fit: Any, more: dict[str, Any]) -> None:
    model = fit(max_depth=3, **more)
    assert max(int(model.tree(t).depth.max()) for t in range(6)) == 3
    for limit in (2, 3, 9):
        model = fit(max_leaf_nodes=limit, **more)
        assert {model.tree(t).n_leaves for t in range(6)} == {limit}
    # Drawn rows of a branch are counted once, so its weight is at least their number.
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


def test_columns_are_drawn_per_tree() -> None:
    for options, limit in (
        ({"max_features_per": "tree", "max_features": 2}, 2),
        ({"max_features_per": "tree", "max_features": 0.4}, 3),
        ({"max_features_per": "both", "max_features": 1, "tree_features": 3}, 3),
        ({"max_features_per": "both", "max_features": 4, "tree_features": 1}, 1),
    ):
        model = classes(30, **options)
        drawn = [used_columns(model, t) for t in range(30)]
        assert max(map(len, drawn)) == limit
        assert set.union(*drawn) == set(range(8))
    assert max(len(used_columns(classes(), t)) for t in range(6)) == 8


def test_all_columns_of_a_tree_are_searched() -> None:
    """With max_features_per='tree' nodes do not draw columns again."""
    rows = X[["a", "b", "c"]].to_numpy()
    model = RandomForestClassifier(
        6, max_features_per="tree", max_features=2, bootstrap=False
    ).fit(rows, CLASSES)  # fmt: skip
    for t in range(6):
        chosen = sorted(used_columns(model, t))
        assert len(chosen) == 2
        alone = DecisionTreeClassifier().fit(rows[:, chosen], CLASSES)
        np.testing.assert_array_equal(
            alone.predict_proba(rows[:, chosen]),
            model.drop_trees([u for u in range(6) if u != t]).predict_proba(rows),
        )


@pytest.mark.parametrize("fit", [classes, numbers])
def test_number_of_drawn_rows(fit: Any) -> None:
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


def test_forest_without_draws_equals_the_decision_tree() -> None:
    model = classes(3, bootstrap=False, max_features=None)
    alone = DecisionTreeClassifier().fit(X, CLASSES)
    for t in range(3):
        tree = model.tree(t)
        np.testing.assert_array_equal(tree.column, alone.tree_.column)
        np.testing.assert_array_equal(tree.node_values, alone.tree_.node_values)
        np.testing.assert_array_equal(tree.threshold, alone.tree_.threshold)
    np.testing.assert_allclose(model.feature_importances_, alone.feature_importances_)


def test_class_weight_attribute() -> None:
    assert not hasattr(classes(), "class_weight_")
    np.testing.assert_array_equal(classes(class_weight={0: 5.0}).class_weight_, [5, 1, 1])
    weights = classes(class_weight="balanced").class_weight_
    np.testing.assert_allclose(weights, len(X) / (3 * np.bincount(CLASSES)))
    assert not hasattr(classes(class_weight="balanced_subsample"), "class_weight_")
    model = classes(class_weight="balanced_subsample")
    for t in range(6):
        value = model.tree(t).node_values[0]
        np.testing.assert_allclose(value, value[0], rtol=1e-3)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_class_weights_are_factors_of_row_weights(bootstrap: bool) -> None:
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
def test_numpy_integers_are_accepted(kind: Any, name: str, value: int) -> None:
    """As `GridSearchCV` over `numpy.arange` gives them."""
    y = NUMBERS if kind is RandomForestRegressor else CLASSES
    plain = kind(**{"n_estimators": 3, name: value}).fit(X, y)
    for dtype in (np.int64, np.uint8):
        assert digest(kind(**{"n_estimators": 3, name: dtype(value)}).fit(X, y)) == digest(plain)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", 0.125), ("min_samples_split", 0.5), ("max_features", 0.5),
        ("min_impurity_decrease", 0.015625), ("min_weight_fraction_leaf", 0.125),
        ("max_samples", 0.25),
    ],
)  # fmt: skip
def test_numpy_floats_are_accepted(name: str, value: float) -> None:
    for dtype in (np.float64, np.float32):
        assert digest(classes(**{name: dtype(value)})) == digest(classes(**{name: value}))


def test_numpy_booleans_are_accepted() -> None:
    assert digest(classes(bootstrap=np.False_)) == digest(classes(bootstrap=False))
    assert record_bits(classes(20, oob_score=np.True_).oob_curve_) == record_bits(
        classes(20, oob_score=True).oob_curve_
    )


# Automatic number of bins


def large_table(n: int, kind: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3))
    score = rows[:, 0] + rng.normal(size=n)
    return rows, score > 0 if kind is RandomForestClassifier else score


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_auto_bins_above_a_number_of_rows(kind: Any) -> None:
    limit = 10_000
    for n, max_bins in ((limit, None), (limit + 1, 255)):
        rows, y = large_table(n, kind)
        auto = kind(2, max_depth=6).fit(rows, y)
        assert auto.max_bins == "auto"
        assert digest(auto) == digest(kind(2, max_depth=6, max_bins=max_bins).fit(rows, y))
        assert [tree.max_bins for tree in auto.estimators_] == [max_bins] * 2
        assert auto.estimator_.max_bins == max_bins
    exact = kind(2, max_depth=6, max_bins=None).fit(rows, y)
    assert digest(exact) != digest(auto)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_auto_keeps_random_thresholds_exact(kind: Any) -> None:
    rows, y = large_table(10_001, kind)
    options = {"max_depth": 5, "thresholds": "random"}
    auto = kind(2, **options).fit(rows, y)
    assert digest(auto) == digest(kind(2, max_bins=None, **options).fit(rows, y))


def test_auto_resolves_for_each_set_of_rows() -> None:
    rows, y = large_table(10_001, RandomForestClassifier)
    model = RandomForestClassifier(1, max_depth=3, warm_start=True).fit(rows[:500], y[:500])
    model.set_params(n_estimators=2).fit(rows, y)
    assert [tree.max_bins for tree in model.estimators_] == [None, 255]


def test_other_words_than_auto_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'max_bins' .* must be .*'auto'.*, got 'some'"):
        RandomForestClassifier(max_bins="some").fit([[0.0], [1.0]], [0, 1])
