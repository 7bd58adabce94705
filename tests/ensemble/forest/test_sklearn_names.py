"""Names that scikit-learn's forests have too: trees as estimators, samples, paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, mean_absolute_error

import ceiba
from ceiba import RandomForestClassifier, RandomForestRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
LABELS = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)]
NUMBERS = X[:, 0] + X[:, 1] ** 2

FORESTS = [
    (RandomForestClassifier(6), LABELS),
    (RandomForestClassifier(6, max_samples=0.5, leaf_probability="laplace"), LABELS),
    (RandomForestClassifier(6, bootstrap=False, class_weight="balanced"), LABELS),
    (RandomForestRegressor(6), NUMBERS),
    (RandomForestRegressor(6, thresholds="random", max_features=2), NUMBERS),
]


@pytest.mark.parametrize(("model", "y"), FORESTS)
def test_trees_are_estimators_whose_mean_the_forest_predicts(model: Any, y: Any) -> None:
    forest = clone(model).fit(X, y)
    assert len(forest) == len(forest.estimators_) == 6
    method = "predict_proba" if y is LABELS else "predict"
    mean = np.mean([getattr(tree, method)(X) for tree in forest], axis=0)
    np.testing.assert_allclose(mean, getattr(forest, method)(X), rtol=1e-12)
    assert forest[-1].tree_.n_nodes == forest.tree(5).n_nodes
    assert [tree.get_depth() for tree in forest.estimators_[1:3]] == [
        forest.tree(number).max_depth for number in (1, 2)
    ]
    assert (
        forest.estimator_.get_params() == clone(forest[0]).set_params(random_state=0).get_params()
    )
    assert forest.n_outputs_ == forest[0].n_outputs_ == 1
    with pytest.raises(IndexError):
        forest[6]


def test_a_forest_that_is_not_fitted_has_no_trees() -> None:
    forest = RandomForestClassifier()
    assert forest  # as scikit-learn's `if estimator`, without a length
    for name in ("estimators_", "estimator_", "estimators_samples_", "n_outputs_"):
        with pytest.raises(NotFittedError):
            getattr(forest, name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"max_samples": 0.4}, {"bootstrap": False}])
def test_a_tree_can_be_grown_again_from_its_sample(
    options: dict[str, Any], weighted: bool, tmp_path: Path
) -> None:
    weight = RANDOM.integers(0, 4, len(X)) if weighted and not options else None
    forest = RandomForestClassifier(4, **options).fit(X, LABELS, sample_weight=weight)
    ceiba.save(forest, tmp_path / "forest")
    forest = ceiba.load(tmp_path / "forest")
    samples = forest.estimators_samples_
    for tree, rows in zip(forest, samples, strict=True):
        assert rows.dtype == np.int32
        if weight is not None:
            assert (weight[rows] > 0).all()
        again = clone(tree).fit(X[rows], LABELS[rows])
        np.testing.assert_array_equal(again.predict_proba(X), tree.predict_proba(X))


def test_samples_of_trees_that_were_added_dropped_and_merged() -> None:
    forest = RandomForestClassifier(3, warm_start=True).fit(X, LABELS)
    first = forest.estimators_samples_
    forest.set_params(n_estimators=5).fit(X[:50], LABELS[:50])
    samples = forest.estimators_samples_
    np.testing.assert_array_equal(samples[:3], first)
    assert all(len(rows) == 50 and rows.max() < 50 for rows in samples[3:])
    kept = forest.drop_trees([1])
    np.testing.assert_array_equal(kept.estimators_samples_[1], samples[2])
    other = RandomForestClassifier(2, random_state=1).fit(X, LABELS)
    merged = kept.merge_forests(other)
    np.testing.assert_array_equal(merged.estimators_samples_[-1], other.estimators_samples_[1])
    del vars(other)["batches_"]
    with pytest.raises(AttributeError, match="stores how its rows were drawn"):
        _ = other.estimators_samples_


def test_decision_path_is_that_of_the_trees() -> None:
    forest = RandomForestClassifier(4).fit(X, LABELS)
    indicator, ends = forest.decision_path(X)
    assert indicator.shape == (len(X), ends[-1])
    for number, tree in enumerate(forest):
        own = indicator[:, ends[number] : ends[number + 1]]
        assert (own != tree.decision_path(X)).nnz == 0
        leaves = forest.apply(X)[:, number]
        assert (own[np.arange(len(X)), leaves] == 1).all()


def test_oob_score_by_a_metric() -> None:
    model = RandomForestClassifier(30, oob_score=f1_score).fit(X, LABELS)
    probabilities = model.oob_decision_function_
    scored = ~np.isnan(probabilities[:, 0])
    expected = f1_score((LABELS[scored] == "yes").astype(int), probabilities[scored].argmax(axis=1))
    assert model.oob_score_ == expected
    regressor = RandomForestRegressor(30, oob_score=mean_absolute_error).fit(X, NUMBERS)
    assert regressor.oob_score_ == mean_absolute_error(NUMBERS, regressor.oob_prediction_)
