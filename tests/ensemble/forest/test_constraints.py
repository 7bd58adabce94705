"""Monotonic and interaction constraints of forests: scikit-learn, probes, threads, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as SklearnClassifier
from sklearn.ensemble import RandomForestRegressor as SklearnRegressor

import ceiba
from ceiba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from ceiba.base import ParameterError
from tests.oracles.constraint_probes import (
    assert_interactions,
    assert_monotone,
    is_monotone,
    max_interacting,
)

SIGNS = [1, -1, 0, 1]
SETS = [[0, 1], [2], [1, 3]]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]


def rows(n: int = 400, missing: float = 0.0) -> tuple[Any, Any, Any]:
    """Return four columns, a target that breaks SIGNS here and there, and two classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)  # scikit-learn rounds
    y = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, (y > 0).astype(int)


X, NUMBERS, CLASSES = rows()
OPTIONS: list[dict[str, Any]] = [
    {},
    {"max_bins": 12},
    {"max_leaf_nodes": 20},
    {"max_features": None},
    {"max_features_per": "tree"},
    {"missing": "branch"},
    {"missing": "majority"},
    {"bootstrap": False},
    {"ccp_alpha": 0.002},
    {"min_samples_leaf": 4},
]
OF_CLASSES: list[dict[str, Any]] = [
    {"criterion": "entropy"},
    {"criterion": "log_loss"},
    {"class_weight": "balanced"},
    {"class_weight": "balanced_subsample"},
    {"class_weight": {0: 2.5}},
]


def probability(model: Any) -> Any:
    return lambda rows: model.predict_proba(rows)[:, 1]


@pytest.mark.parametrize("options", [*OPTIONS, {"criterion": "poisson"}], ids=str)
@pytest.mark.parametrize("kind", REGRESSORS)
def test_regression_forests_are_monotone(kind: Any, options: dict[str, Any]) -> None:
    own, target, _ = rows(missing=0.1 if "missing" in options else 0.0)
    target = np.exp(target / 4)
    model = kind(5, monotonic_cst=SIGNS, **options).fit(own, target)
    assert_monotone(model.predict, own[:40], SIGNS)
    assert not is_monotone(kind(5, **options).fit(own, target).predict, own[:40], SIGNS)


@pytest.mark.parametrize("options", [*OPTIONS, *OF_CLASSES], ids=str)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classification_forests_are_monotone(kind: Any, options: dict[str, Any]) -> None:
    own, _, target = rows(missing=0.1 if "missing" in options else 0.0)
    model = kind(5, monotonic_cst=SIGNS, **options).fit(own, target)
    assert_monotone(probability(model), own[:40], SIGNS)
    free = kind(5, **options).fit(own, target)
    assert not is_monotone(probability(free), own[:40], SIGNS)


@pytest.mark.parametrize("replace", [True, False])
def test_weighted_forests_are_monotone(replace: bool) -> None:
    weight = np.random.default_rng(2).random(len(X)) + 0.1
    options: dict[str, Any] = {"monotonic_cst": SIGNS, "bootstrap": replace, "max_features": 2}
    classifier = RandomForestClassifier(5, **options).fit(X, CLASSES, weight)
    assert_monotone(probability(classifier), X[:40], SIGNS)
    regressor = RandomForestRegressor(5, **options).fit(X, NUMBERS, weight)
    assert_monotone(regressor.predict, X[:40], SIGNS)


def test_forests_of_all_rows_and_columns_equal_scikit_learns() -> None:
    # All trees are alike then, without draws; of few rows, columns often make the same branches.
    alike: dict[str, Any] = {
        "n_estimators": 2, "bootstrap": False, "max_features": None, "min_samples_leaf": 7,
        "monotonic_cst": SIGNS,
    }  # fmt: skip
    numbers = RandomForestRegressor(**alike).fit(X, NUMBERS)
    theirs = SklearnRegressor(**alike, random_state=0).fit(X, NUMBERS)
    np.testing.assert_allclose(numbers.predict(X), theirs.predict(X), rtol=1e-9)
    weight = np.random.default_rng(1).random(len(X)) + 0.5
    classes = RandomForestClassifier(**alike).fit(X, CLASSES, weight)
    theirs = SklearnClassifier(**alike, random_state=0).fit(X, CLASSES, weight)
    np.testing.assert_allclose(classes.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("max_leaf_nodes", [None, 1000])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_a_tree_of_a_forest_equals_a_constrained_tree(
    max_leaf_nodes: int | None, missing: float
) -> None:
    own, numbers, classes = rows(missing=missing)
    options: dict[str, Any] = {"monotonic_cst": SIGNS, "interaction_cst": [[0, 1], [1, 2, 3]]}
    alike = {"n_estimators": 1, "bootstrap": False, "max_features": None}
    alike["max_leaf_nodes"] = max_leaf_nodes
    forest = RandomForestRegressor(**options, **alike).fit(own, numbers)
    tree = DecisionTreeRegressor(**options).fit(own, numbers)
    np.testing.assert_array_equal(forest.predict(own), tree.predict(own))
    forest = RandomForestClassifier(**options, **alike).fit(own, classes)
    tree = DecisionTreeClassifier(**options).fit(own, classes)
    np.testing.assert_allclose(forest.predict_proba(own), tree.predict_proba(own), atol=1e-12)


@pytest.mark.parametrize("kind", [*REGRESSORS, *CLASSIFIERS])
@pytest.mark.parametrize("options", [{}, {"max_features": 1}, {"max_leaf_nodes": 30}], ids=str)
def test_paths_stay_in_a_set(kind: Any, options: dict[str, Any]) -> None:
    target = NUMBERS if kind in REGRESSORS else CLASSES
    for tree in kind(4, interaction_cst=SETS, **options).fit(X, target).estimators_:
        assert_interactions(tree.tree_, SETS)
        assert tree.interaction_cst == SETS
    free = kind(4, **options).fit(X, target)
    assert max(max_interacting(tree.tree_) for tree in free.estimators_) > 2


def test_threads_and_files_keep_constrained_forests(tmp_path: Any) -> None:
    options: dict[str, Any] = {"monotonic_cst": SIGNS, "interaction_cst": [[0, 1]]}
    one = RandomForestClassifier(8, **options, n_jobs=1).fit(X, CLASSES)
    two = RandomForestClassifier(8, **options, n_jobs=2).fit(X, CLASSES)
    assert one.forest_.nodes.tobytes() == two.forest_.nodes.tobytes()
    assert one.forest_.leaves.tobytes() == two.forest_.leaves.tobytes()
    ceiba.save(one, tmp_path / "forest.ceiba")
    loaded = ceiba.load(tmp_path / "forest.ceiba")
    assert loaded.get_params()["monotonic_cst"] == SIGNS
    np.testing.assert_array_equal(loaded.predict_proba(X), one.predict_proba(X))
    assert loaded.drop_trees([0]).forest_.n_trees == 7


def test_out_of_bag_results_of_constrained_forests() -> None:
    model = RandomForestClassifier(30, monotonic_cst=SIGNS, oob_score=True).fit(X, CLASSES)
    assert 0.6 < model.oob_score_ < 0.9
    sums = model.oob_decision_function_.sum(axis=1)
    np.testing.assert_allclose(sums[~np.isnan(sums)], 1)
    # Class weights of leaves are still numbers of rows.
    assert model.estimators_[0].tree_.weight[0] == pytest.approx(len(X))


def test_settings_that_break_constraints_are_refused() -> None:
    for options, message in (
        ({"leaf_probability": "laplace"}, "requires leaf_probability='plain', got 'laplace'"),
        ({"monotonic_cst": [1]}, "monotonic_cst has shape 1 but"),
    ):
        with pytest.raises(ParameterError, match=message):
            RandomForestClassifier(2, **{"monotonic_cst": SIGNS, **options}).fit(X, CLASSES)
    with pytest.raises(ParameterError, match="requires criterion='squared_error' or 'poisson'"):
        RandomForestRegressor(2, monotonic_cst=SIGNS, criterion="absolute_error").fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="requires two classes, got 3"):
        RandomForestClassifier(2, monotonic_cst=SIGNS).fit(X, np.arange(len(X)) % 3)
