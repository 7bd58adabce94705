"""Reduced-error pruning warns if its validation rows are the training rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree import TrainingRowsWarning


def glass() -> tuple[Any, np.ndarray]:
    table = datasets.load("glass")
    return table.table, table.y


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"algorithm": "c45", "pruning": "none"},
        {"missing": "fractional"},
        {"class_weight": "balanced"},
    ],
)
def test_classifiers_warn(options: dict[str, Any]) -> None:
    X, y = glass()
    order = np.random.default_rng(0).permutation(len(y))
    model = DecisionTreeClassifier(**options).fit(X, y)
    with pytest.warns(TrainingRowsWarning, match="no effect on the training rows") as caught:
        model.pruned("reduced_error", X, y)
    assert caught[0].filename == __file__
    with pytest.warns(TrainingRowsWarning):
        model.pruned("reduced_error", X.take(order), y[order])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_regressors_warn(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    weight = rng.uniform(0.5, 2, 200)
    model = DecisionTreeRegressor(criterion=criterion).fit(X, y, sample_weight=weight)
    with pytest.warns(TrainingRowsWarning):
        model.pruned("reduced_error", X, y, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.pruned("reduced_error", X + rng.normal(size=X.shape) / 10, y, weight)


def test_other_rows_do_not_warn() -> None:
    X, y = glass()
    even = np.arange(len(y)) % 2 == 0
    model = DecisionTreeClassifier().fit(X.take(even), y[even])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.pruned("reduced_error", X.take(~even), y[~even])
        model.pruned("reduced_error", X, y)  # some of them were not in training
        DecisionTreeClassifier(pruning="reduced_error").fit(X, y)
