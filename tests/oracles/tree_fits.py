"""Fit Ceiba's trees on the oracle's tables, and compare the paths of rows."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles.tree_naive import path

CRITERIA = ["gini", "entropy", "gain_ratio", "error", "squared_error", "absolute_error"]
MISSING_POLICIES = ["learned", "branch", "majority"]
GROWTH = ["depth_first", "best_first", "breadth_first"]


def fit(table, options, **more):
    """Fit Ceiba's tree with the naive tree's options, which have the same names."""
    kind = DecisionTreeRegressor if table.target.n_classes is None else DecisionTreeClassifier
    # Small tables gain nothing from threads, and the naive tree compares gains as they are.
    model = kind(**asdict(options), n_jobs=1, category_correction=False, **more)
    return model.fit(table.frame, table.y, sample_weight=table.sample_weight)


def assert_predictions(model, nodes, table):
    """Assert that paths, leaves and predictions equal those of the naive tree.

    ``nodes`` are those of the fitted tree, as `assert_tree` returns them.
    """
    frame = table.frame
    paths = [path(nodes, table.row(i)) for i in range(len(frame))]
    leaves = [found[-1] for found in paths]
    assert model.apply(frame).tolist() == leaves
    marks = np.zeros((len(frame), len(nodes)), dtype=int)
    for i, found in enumerate(paths):
        marks[i, found] = 1
    np.testing.assert_array_equal(model.decision_path(frame).toarray(), marks)
    value = model.tree_.node_values[leaves]
    if table.target.n_classes is None:
        assert model.predict(frame).tolist() == value[:, 0].tolist()
        return
    fractions = value / value.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(frame), fractions, rtol=1e-12)
    assert model.predict(frame).tolist() == model.classes_[value.argmax(axis=1)].tolist()
