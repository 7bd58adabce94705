"""A mixed table with missing values, for models of other libraries and languages."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import ceiba

N = 400
COSTS = np.array([[0, 1, 5], [2, 0, 1], [9, 1, 0]])


@cache
def table() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Mixed columns with missing values, classes and numbers."""
    rng = np.random.default_rng(16)
    sizes = pd.CategoricalDtype(["S", "M", "L"], ordered=True)
    frame = pd.DataFrame(
        {
            "width": rng.normal(size=N),
            "count": rng.integers(0, 9, N),
            "color": rng.choice(["red", "green", "blue", "grün", 'o\'range "x"'], N),
            "code": pd.Categorical(rng.choice([10, 2, 35], N)),
            "flag": rng.random(N) < 0.4,
            "size": pd.Series(rng.choice(["S", "M", "L"], N), dtype=sizes),
            "many": [f"v{i}" for i in rng.integers(0, 90, N)],
        }
    )
    score = frame["width"] + (frame["color"] == "red") * 2 - frame["flag"] + frame["count"] / 4
    score += (frame["size"] == "L") * 1.5 + (frame["code"] == 35) + rng.normal(size=N) / 2
    label = np.array(["low", "mid", "to'p"])[np.searchsorted([0.5, 2.5], score)]
    frame["width"] = frame["width"].mask(rng.random(N) < 0.1)
    frame["size"] = frame["size"].mask(rng.random(N) < 0.1)
    for name in ("color", "flag"):
        frame[name] = frame[name].astype(object).mask(rng.random(N) < 0.1)
    return frame, label, score.to_numpy()


def fuzzed() -> pd.DataFrame:
    """Rows of the table with more missing values, and categories that it does not have."""
    frame = table()[0].copy()
    rng = np.random.default_rng(3)
    frame["color"] = frame["color"].mask(rng.random(N) < 0.2, "violet")
    frame["many"] = frame["many"].mask(rng.random(N) < 0.2, "new")
    frame["width"] = frame["width"].mask(rng.random(N) < 0.2)
    frame["size"] = frame["size"].mask(rng.random(N) < 0.2)
    return frame


def fitted(model: Any, X: Any = None) -> Any:
    """Fit a model to the table, or to its target and other columns."""
    frame, label, number = table()
    is_regressor = "Regressor" in type(model).__name__
    return model.fit(frame if X is None else X, number if is_regressor else label)


TREES: dict[str, Any] = {
    "cart": ceiba.DecisionTreeClassifier(),
    "laplace": ceiba.DecisionTreeClassifier(leaf_probability="laplace", max_depth=5),
    "branch": ceiba.DecisionTreeClassifier(missing="branch", max_depth=6),
    "hunt": ceiba.DecisionTreeClassifier(algorithm="hunt", max_depth=5),
    "id3": ceiba.DecisionTreeClassifier(algorithm="id3"),
    "intervals": ceiba.DecisionTreeClassifier(splits="intervals", max_depth=4),
    "costs": ceiba.DecisionTreeClassifier(cost_matrix=COSTS, max_depth=4),
    "root": ceiba.DecisionTreeClassifier(min_samples_leaf=N),
    "regressor": ceiba.DecisionTreeRegressor(),
    "forest": ceiba.RandomForestClassifier(5, max_depth=8),
    "smoothed forest": ceiba.RandomForestClassifier(5, leaf_probability="laplace", max_bins=32),
    "extra trees": ceiba.ExtraTreesClassifier(5, max_depth=8),
    "forest regressor": ceiba.RandomForestRegressor(4, missing="branch", max_depth=7),
    "gradient": ceiba.GradientBoostingClassifier(4, max_leaf_nodes=6),
    "gradient regressor": ceiba.GradientBoostingRegressor(4, min_samples_leaf=5),
    "gradient quantile": ceiba.GradientBoostingRegressor(3, loss="quantile", method="gradient"),
    "bagging": ceiba.BaggingClassifier(n_estimators=4, max_features=0.6),
    "bagging regressor": ceiba.BaggingRegressor(n_estimators=3),
}
