"""Fit Ceiba's forests to the tables of the oracle, and compare their predictions."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ceiba import RandomForestClassifier, RandomForestRegressor
from tests.oracles.forest_naive import mean_prediction
from tests.oracles.forest_walk import EXACT

# Options of a naive tree that a forest does not have.
FIXED = ("splits", "growth", "min_impurity_split")
OF_CLASSES = ("class_weight", "leaf_probability")


def parameters(options, n_classes):
    """Return the estimator's parameters for the options of a naive forest."""
    given = {name: value for name, value in asdict(options).items() if name not in FIXED}
    given["random_state"] = given.pop("seed")
    if isinstance(given["class_weight"], list | tuple):
        given["class_weight"] = {k: float(w) for k, w in enumerate(given["class_weight"])}
    if n_classes is None:
        given = {name: value for name, value in given.items() if name not in OF_CLASSES}
    return given


def estimator(options, n_classes, **more):
    kind = RandomForestRegressor if n_classes is None else RandomForestClassifier
    # Threads do not help on tables this small; the naive forest compares gains as they are.
    fixed = {"n_jobs": 1, "category_correction": False}
    return kind(**{**parameters(options, n_classes), **fixed, **more})


def fit(table, options, **more):
    """Fit Ceiba's forest with the options of a naive forest."""
    model = estimator(options, table.target.n_classes, **more)
    return model.fit(table.frame, table.y, sample_weight=table.sample_weight)


def assert_forest_predictions(model, members, table):
    """Check leaves, mean probabilities or numbers, and classes of all rows.

    ``members`` are the trees of the fitted forest, as `assert_forest` returns them.
    """
    frame, rows = table.frame, [table.row(i) for i in range(len(table.y))]
    leaves = [[member.leaf(row) for member in members] for row in rows]
    assert model.apply(frame).tolist() == leaves
    expected = np.array([[float(p) for p in mean_prediction(members, row)] for row in rows])
    if table.target.n_classes is None:
        np.testing.assert_allclose(model.predict(frame), expected[:, 0], rtol=EXACT, atol=EXACT)
        return
    found = model.predict_proba(frame)
    np.testing.assert_allclose(found, expected, rtol=EXACT, atol=EXACT)
    np.testing.assert_array_equal(model.predict(frame), model.classes_[found.argmax(axis=1)])
