"""Golden scores of R's gbm; README.md describes the files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

TABLES = ("auto_mpg", "auto_cylinders", "iris_petal_width", "iris_virginica")
LOSSES = {
    "gaussian": "squared_error",
    "laplace": "absolute_error",
    "poisson": "poisson",
    "bernoulli": "log_loss",
    "adaboost": "exponential",
}


def load_fits(name):
    """Return X, y and the fits of a table; a fit has ``weight``, ``loss`` and ``parameters``."""
    golden = json.loads((Path(__file__).parent / f"{name}.json").read_text())
    X, y = np.array(golden["X"], dtype=float), np.array(golden["y"])
    for fit in golden["fits"]:
        fit["loss"] = LOSSES[fit["distribution"]]
        fit["weight"] = 1.0 + np.arange(len(y)) % 3 if fit["weighted"] else np.ones(len(y))
        fit["parameters"] = {
            "n_estimators": golden["n_trees"],
            "learning_rate": golden["shrinkage"],
            "min_samples_leaf": golden["n_minobsinnode"],
            "max_leaf_nodes": fit["interaction_depth"] + 1,
        }
    return X, y, golden["fits"]
