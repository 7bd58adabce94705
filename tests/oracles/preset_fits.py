"""Fit Ceiba's trees with the options of the naive ones, and compare predictions."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles.preset_naive import PresetProblem, leaf_of, predicted
from tests.oracles.preset_options import CART, OF_CLASSES, PRESETS, changes

NEAR = 1e-9


def estimator(options, algorithm="cart", *, regression=False, **more):
    """Return an unfitted tree with the options, given as changes of a preset."""
    more = {"category_correction": False, **more}
    if regression:
        given = {k: v for k, v in changes(options, CART).items() if k not in OF_CLASSES}
        criterion = given.pop("criterion", "squared_error")
        return DecisionTreeRegressor(criterion=criterion, **given, n_jobs=1, **more)
    given = changes(options, PRESETS[algorithm])
    off = {"pruning": "none", "collapse": False}
    return DecisionTreeClassifier(algorithm=algorithm, **off, **given, n_jobs=1, **more)


def fit(table, options, algorithm="cart", **more):
    regression = table.target.n_classes is None
    model = estimator(options, algorithm, regression=regression, **more)
    return model.fit(table.frame, table.y, sample_weight=table.sample_weight)


def problem_of(table, options):
    return PresetProblem(table.columns, table.target, options)


def assert_predictions(model, problem, nodes, table):
    """Assert that leaves, probabilities or numbers, and classes equal those of the naive tree."""
    frame = table.frame
    rows = [table.row(i) for i in range(len(frame))]
    assert model.apply(frame).tolist() == [leaf_of(nodes, problem, row) for row in rows]
    expected = np.array([[float(p) for p in predicted(problem, nodes, row)] for row in rows])
    if problem.target.n_classes is None:
        assert model.predict(frame).tolist() == pytest.approx(expected[:, 0].tolist(), rel=NEAR)
        return
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=NEAR, atol=NEAR)
    assert_classes(model, problem, expected, frame)


def assert_classes(model, problem, fractions, frame):
    """Assert that the predicted class has minimum cost, the first one unless nearly tied."""
    k = problem.target.n_classes
    costs = problem.options.costs or [[float(i != j) for j in range(k)] for i in range(k)]
    expected = fractions @ np.array(costs, dtype=float)
    for own, label in zip(expected, model.predict(frame).tolist(), strict=True):
        index = model.classes_.tolist().index(label)
        minimum = own.min()
        assert own[index] == pytest.approx(minimum, abs=NEAR)
        if np.sum(own <= minimum + NEAR) == 1:
            assert index == own.argmin()
