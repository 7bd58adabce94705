"""Cost-complexity pruning of the trees of a forest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import ceiba
from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba.base import ParameterError

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 4))
X[::7, 2] = np.nan
SIGNAL = X[:, 0] + X[:, 1] ** 2
CLASSES = np.digitize(SIGNAL + RANDOM.normal(size=300), [0.0, 1.0, 2.0])
COUNTS = RANDOM.poisson(np.exp(SIGNAL / 3)).astype(float)
MANY = RANDOM.integers(0, 90, 300)  # leaves whose code does not fit into a node

CASES: list[tuple[Any, Any, float]] = [
    (RandomForestClassifier(5), CLASSES, 0.004),
    (RandomForestClassifier(5, criterion="entropy", max_features=2), CLASSES, 0.01),
    (RandomForestClassifier(5, class_weight="balanced"), CLASSES, 0.004),
    (RandomForestClassifier(3, min_samples_leaf=20, bootstrap=False), MANY, 0.004),
    (RandomForestRegressor(5), SIGNAL + RANDOM.normal(size=300), 0.02),
    (RandomForestRegressor(5, criterion="poisson"), COUNTS, 0.01),
]


@pytest.mark.parametrize(("model", "y", "alpha"), CASES)
def test_trees_are_those_that_a_decision_tree_prunes(
    model: Any, y: Any, alpha: float, tmp_path: Path
) -> None:
    full, pruned = clone(model).fit(X, y), clone(model).set_params(ccp_alpha=alpha).fit(X, y)
    ceiba.save(pruned, tmp_path / "forest")  # loading checks every node and leaf
    pruned = ceiba.load(tmp_path / "forest")
    weight = None
    if model.get_params().get("class_weight"):
        weight = (len(y) / (4 * np.bincount(y)))[y]
    members = zip(pruned, pruned.estimators_samples_, pruned.forest_.importances, strict=True)
    for tree, rows, importances in members:
        again = clone(tree)
        if weight is not None:
            again.fit(X[rows], y[rows], sample_weight=weight[rows])
        else:
            again.fit(X[rows], y[rows])
        assert again.tree_.n_nodes == tree.tree_.n_nodes
        np.testing.assert_array_equal(again.apply(X), tree.apply(X))
        predict = "predict_proba" if hasattr(tree, "predict_proba") else "predict"
        np.testing.assert_allclose(
            getattr(again, predict)(X), getattr(tree, predict)(X), rtol=1e-9, atol=1e-12
        )
        own = importances / importances.sum() if importances.any() else importances
        np.testing.assert_allclose(own, again.feature_importances_, rtol=1e-6, atol=1e-9)
    assert 1 < pruned.forest_.n_nodes < full.forest_.n_nodes


def test_pruned_trees_can_be_added_and_have_out_of_bag_rows() -> None:
    once = RandomForestClassifier(40, ccp_alpha=0.01, oob_score=True).fit(X, CLASSES)
    grown = RandomForestClassifier(20, ccp_alpha=0.01, oob_score=True, warm_start=True)
    grown.fit(X, CLASSES).set_params(n_estimators=40).fit(X, CLASSES)
    np.testing.assert_array_equal(grown.forest_.nodes, once.forest_.nodes)
    assert grown.oob_score_ == once.oob_score_ > 0.3
    stump = RandomForestClassifier(3, ccp_alpha=10.0).fit(X, CLASSES)
    assert stump.forest_.n_nodes == 3
    assert not stump.feature_importances_.any()


def test_pruning_of_absolute_errors_and_fractional_weights_is_refused() -> None:
    with pytest.raises(ParameterError, match="ccp_alpha must be 0 with criterion='absolute_error'"):
        RandomForestRegressor(criterion="absolute_error", ccp_alpha=0.1).fit(X, SIGNAL)
    model = RandomForestRegressor(3, ccp_alpha=0.1, bootstrap=False)
    with pytest.raises(ValueError, match="requires integer sample_weight"):
        model.fit(X, SIGNAL, sample_weight=np.linspace(0.5, 1.5, 300))
