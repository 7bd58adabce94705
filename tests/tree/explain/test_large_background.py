"""Shapley values with more background rows than are counted at a time."""

from __future__ import annotations

import numpy as np

from ceiba import DecisionTreeRegressor, RandomForestClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1300, 6))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2])


def test_values_are_the_mean_over_parts_of_the_background() -> None:
    for model in (
        DecisionTreeRegressor(max_depth=6).fit(X, Y),
        RandomForestClassifier(5, max_depth=5).fit(X, np.digitize(Y, [-0.5, 0.5])),
    ):
        whole = model.shap_values(X[:20], background=X)
        parts = [model.shap_values(X[:20], background=part) for part in np.split(X, 13)]
        np.testing.assert_allclose(whole, np.mean(parts, axis=0), rtol=1e-10, atol=1e-12)
