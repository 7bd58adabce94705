"""Fitting Ceiba's forests on the oracle's tables, and following rows through them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from ceiba import RandomForestClassifier, RandomForestRegressor
from tests.oracles.forest_naive import mean_told
from tests.oracles.forest_walk import EXACT

# What a naive tree knows and a forest does not offer: all of these are as they are.
FIXED = ("splits", "growth", "min_impurity_split")
OF_CLASSES = ("class_weight", "leaf_probability")


def parameters(options, n_classes):
    """The estimator's parameters for the options of a naive forest."""
    given = {name: value for name, value in asdict(options).items() if name not in FIXED}
    given["random_state"] = given.pop("seed")
    if isinstance(given["class_weight"], list | tuple):
        given["class_weight"] = {k: float(w) for k, w in enumerate(given["class_weight"])}
    if n_classes is None:
        given = {name: value for name, value in given.items() if name not in OF_CLASSES}
    return given


def estimator(options, n_classes, **more):
    kind = RandomForestRegressor if n_classes is None else RandomForestClassifier
    # Threads would only wait for each other on tables this small.
    return kind(**{**parameters(options, n_classes), "n_jobs": 1, **more})


def fit(table, options, **more):
    """Ceiba's forest with the naive forest's options."""
    model = estimator(options, table.target.n_classes, **more)
    return model.fit(table.frame, table.y, sample_weight=table.sample_weight)


def assert_forest_predictions(model, members, table):
    """Leaves, mean probabilities or numbers, and classes of all rows are those of the naive way.

    ``members`` are the trees of the fitted forest, as `assert_forest` returns them.
    """
    frame, rows = table.frame, [table.row(i) for i in range(len(table.y))]
    leaves = [[member.leaf(row) for member in members] for row in rows]
    assert model.apply(frame).tolist() == leaves
    told = np.array([[float(p) for p in mean_told(members, row)] for row in rows])
    if table.target.n_classes is None:
        np.testing.assert_allclose(model.predict(frame), told[:, 0], rtol=EXACT, atol=EXACT)
        return
    found = model.predict_proba(frame)
    np.testing.assert_allclose(found, told, rtol=EXACT, atol=EXACT)
    np.testing.assert_array_equal(model.predict(frame), model.classes_[found.argmax(axis=1)])
