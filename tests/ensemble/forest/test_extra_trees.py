"""Extremely randomized trees: defaults, equality with the forest, and scikit-learn's beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble

import ceiba
from ceiba import ExtraTreesClassifier, ExtraTreesRegressor, datasets
from tests.ensemble.forest.parts import CLASSES, NEW, NUMBERS, X, digest

KINDS = pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
EXTRA = {"thresholds": "random", "bootstrap": False}


def fit(name: str, trees: int = 6, **options: Any) -> Any:
    y = CLASSES if name.endswith("Classifier") else NUMBERS
    return getattr(ceiba, name)(trees, **options).fit(X, y)


@KINDS
def test_they_are_forests_with_other_defaults(kind: str) -> None:
    extra, forest = fit(f"ExtraTrees{kind}"), fit(f"RandomForest{kind}", **EXTRA)
    assert digest(extra) == digest(forest)
    np.testing.assert_array_equal(extra.predict(NEW), forest.predict(NEW))
    assert digest(extra) != digest(fit(f"RandomForest{kind}"))


@KINDS
def test_defaults_are_those_of_sklearn(kind: str) -> None:
    ours = getattr(ceiba, f"ExtraTrees{kind}")().get_params()
    theirs = getattr(ensemble, f"ExtraTrees{kind}")().get_params()
    # n_jobs, random_state and verbose differ in all estimators of Ceiba.
    names = ours.keys() & theirs.keys() - {"n_jobs", "random_state", "verbose"}
    assert len(names) > 10
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


@KINDS
@pytest.mark.parametrize(
    "options",
    [{"bootstrap": True}, {"n_thresholds": 3}, {"thresholds": "midpoint"}, {"random_state": 1}],
    ids=str,
)
def test_options_change_the_trees(kind: str, options: dict[str, Any]) -> None:
    assert digest(fit(f"ExtraTrees{kind}", **options)) != digest(fit(f"ExtraTrees{kind}"))


def test_n_thresholds_requires_random_thresholds() -> None:
    with pytest.raises(ValueError, match="'n_thresholds' has no effect"):
        fit("ExtraTreesClassifier", thresholds="midpoint", n_thresholds=2)


@KINDS
def test_out_of_bag_results_require_rows_out_of_bag(kind: str) -> None:
    with pytest.raises(ValueError, match="Out of bag estimation only available if bootstrap=True"):
        fit(f"ExtraTrees{kind}", oob_score=True)
    assert fit(f"ExtraTrees{kind}", 40, oob_score=True, bootstrap=True).oob_score_ > 0.4


@KINDS
def test_they_merge_with_their_own_class_only(kind: str) -> None:
    extra, forest = fit(f"ExtraTrees{kind}"), fit(f"RandomForest{kind}")
    other = fit(f"ExtraTrees{kind}", random_state=1)
    assert extra.merge_forests(other).forest_.n_trees == 12
    with pytest.raises(TypeError, match=f"others must be instances of ExtraTrees{kind}"):
        extra.merge_forests(forest)


# Beside scikit-learn

SEEDS = 10
TREES = 100


def row_predictions(model: Any, table: Any, y: Any) -> Any:
    """Predict every second row by the others: probability of its class, or its number."""
    model.fit(table[::2], y[::2])
    if hasattr(model, "predict_proba"):
        return model.predict_proba(table[1::2])[model.classes_ == y[1::2, None]]
    return model.predict(table[1::2])


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("wine", ExtraTreesClassifier, ensemble.ExtraTreesClassifier),
        ("vehicle", ExtraTreesClassifier, ensemble.ExtraTreesClassifier),
        ("diabetes", ExtraTreesRegressor, ensemble.ExtraTreesRegressor),
    ],
)
def test_predictions_agree_with_sklearn(name: str, ours: Any, theirs: Any) -> None:
    """The rule of test_agreement: rows differ by at most twice what chance explains."""
    loaded = datasets.load(name)
    rows = np.random.default_rng(0).permutation(len(loaded.y))
    table, y = np.asarray(loaded.table, float)[rows], loaded.y[rows]

    def over_seeds(cls: Any, **options: Any) -> Any:
        return np.array(
            [
                row_predictions(cls(TREES, random_state=seed, n_jobs=1, **options), table, y)
                for seed in range(SEEDS)
            ]
        )

    peer = over_seeds(theirs)

    def chance_ratio(predictions: Any) -> float:
        expected = 2 * peer.var(axis=0, ddof=1).mean() / SEEDS
        return float(((predictions.mean(axis=0) - peer.mean(axis=0)) ** 2).mean() / expected)

    assert chance_ratio(over_seeds(ours)) <= 2
    # Power: the best threshold, or the best of three random ones, is another forest.
    assert chance_ratio(over_seeds(ours, thresholds="midpoint")) > 4
    assert chance_ratio(over_seeds(ours, n_thresholds=3)) > 2
