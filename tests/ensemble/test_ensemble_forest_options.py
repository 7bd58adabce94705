"""Every option of a forest changes it in the way that it says; bad values are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forest_parts import CLASSES, NUMBERS, X, classes, numbers, record_bits, shape

from ceiba import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from ceiba.base import declared

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


# What is refused

BAD: list[tuple[str, Any]] = [
    ("n_estimators", 0), ("n_estimators", 2.0), ("n_estimators", None), ("n_estimators", True),
    ("criterion", "ginny"), ("thresholds", "median"), ("thresholds", None),
    ("n_thresholds", 0), ("n_thresholds", 65_536), ("n_thresholds", 1.5), ("n_thresholds", None),
    ("max_bins", 1), ("max_bins", 65_536), ("max_bins", 16.0), ("missing", "surrogate"),
    ("missing", "fractional"), ("missing", None), ("max_depth", 0), ("max_depth", 2.5),
    ("max_depth", "deep"), ("min_samples_split", 1), ("min_samples_split", 0.0),
    ("min_samples_split", 1.5), ("min_samples_split", "2"), ("min_samples_leaf", 0),
    ("min_samples_leaf", 1.0), ("min_samples_leaf", -0.1), ("min_samples_leaf", True),
    ("min_weight_fraction_leaf", 0.6), ("min_weight_fraction_leaf", -0.1),
    ("min_weight_fraction_leaf", np.nan), ("min_impurity_decrease", -1e-9),
    ("min_impurity_decrease", np.nan), ("max_leaf_nodes", 1), ("max_leaf_nodes", 2.0),
    ("max_features", 0), ("max_features", 0.0), ("max_features", 1.5), ("max_features", "all"),
    ("features_per", "split"), ("features_per", None), ("tree_features", 0),
    ("tree_features", 1.01), ("tree_features", "half"), ("bootstrap", "yes"), ("bootstrap", 1),
    ("bootstrap", None), ("max_samples", 0), ("max_samples", 0.0), ("max_samples", 1.5),
    ("max_samples", -3), ("max_samples", "all"), ("max_samples", np.nan), ("oob_score", "yes"),
    ("oob_score", None), ("importance", "yes"), ("importance", 1), ("warm_start", 2),
    ("warm_start", None), ("random_state", "x"), ("random_state", 1.5), ("n_jobs", 0),
    ("n_jobs", 1.5), ("n_jobs", "all"),
]  # fmt: skip
BAD_OF_CLASSES: list[tuple[str, Any]] = [
    ("criterion", "squared_error"), ("class_weight", "even"), ("class_weight", 3),
    ("leaf_probability", "m_estimate"), ("leaf_probability", None),
]  # fmt: skip
BAD_OF_NUMBERS: list[tuple[str, Any]] = [
    ("criterion", "gini"), ("quantiles", "yes"), ("quantiles", None), ("quantiles", 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD + BAD_OF_CLASSES)
def test_bad_values_of_classes_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        RandomForestClassifier(**{name: value}).fit(X, CLASSES)


@pytest.mark.parametrize(("name", "value"), BAD + BAD_OF_NUMBERS)
def test_bad_values_of_numbers_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        RandomForestRegressor(**{name: value}).fit(X, NUMBERS)


def test_every_parameter_has_bad_values() -> None:
    for kind, own in zip(KINDS, (BAD_OF_CLASSES, BAD_OF_NUMBERS), strict=True):
        assert {name for name, _ in BAD + own} == {parameter.name for parameter in declared(kind)}


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tree_features": 3}, "features_per='both': give both or neither"),
    ({"tree_features": 3, "features_per": "tree"}, "features_per='both': give both or neither"),
    ({"features_per": "both"}, "tree_features"),
    ({"bootstrap": False, "oob_score": True}, "set bootstrap=True or max_samples"),
    ({"bootstrap": False, "importance": True}, "set bootstrap=True or max_samples"),
    ({"n_thresholds": 2}, "n_thresholds is for thresholds='random'"),
    ({"bootstrap": False, "max_samples": 241}, "max_samples=241 of 240 rows: more than there are"),
    ({"thresholds": "random", "criterion": "absolute_error"}, "absolute_error|absolute error"),
    (
        {"bootstrap": False, "max_samples": 1.0, "importance": True},
        "no row is out of any bag, so there is nothing to measure importance on",
    ),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS, ids=str)
@pytest.mark.parametrize("fit", [classes, numbers])
def test_contradictions_are_refused(fit: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(**options)


def test_class_weights_are_checked() -> None:
    for given, message in [
        ({7: 1.0}, "class_weight names 7"),
        ({0: -1.0}, "positive"),
        ({0: 0.0}, "positive"),
        ({0: np.nan}, "positive"),
        ({0: np.inf}, "positive"),
    ]:
        with pytest.raises(ValueError, match=message):
            classes(class_weight=given)


def test_targets_that_a_criterion_does_not_suit_are_refused() -> None:
    with pytest.raises(ValueError, match="Poisson deviance is that of counts"):
        numbers(criterion="poisson")
    with pytest.raises(ValueError, match="continuous"):
        RandomForestClassifier().fit(X, NUMBERS)


def test_what_methods_are_asked_is_checked() -> None:
    model = numbers(20, oob_score=True, quantiles=True)
    for call, message in [
        (lambda: model.predict_quantiles(X, 1.5), "q must be numbers from 0 to 1"),
        (lambda: model.predict_quantiles(X, [[0.5]]), "q must be numbers from 0 to 1"),
        (lambda: model.predict_quantiles(X, np.nan), "q must be numbers from 0 to 1"),
        (lambda: model.predict_interval(X, 1.0), "coverage=1.0: give a chance between 0 and 1"),
        (lambda: model.predict_interval(X, 0.0), "coverage=0.0"),
        (lambda: model.predict_interval(X, np.nan), "coverage=nan"),
        (lambda: model.predict_interval(X, method="t"), "method='t': it is 'oob' or 'quantiles'"),
        (lambda: model.oob_importance(X, NUMBERS, repeats=0), "repeats=0: give a"),
        (lambda: model.oob_importance(X, NUMBERS, repeats=256), "repeats=256"),
        (lambda: model.oob_importance(X, NUMBERS, level=1.0), "level=1.0: give a confidence"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    plain = numbers()
    for call, message in [
        (lambda: plain.predict_quantiles(X, 0.5), "fit with quantiles=True"),
        (lambda: plain.predict_interval(X), "fit with oob_score=True"),
        (lambda: plain.predict_interval(X, method="quantiles"), "fit with quantiles=True"),
        (plain.enough_trees, "fit with oob_score=True"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
