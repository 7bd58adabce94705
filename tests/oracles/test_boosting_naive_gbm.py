"""Naive gradient boosting against the golden scores of R's gbm."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.gbm import TABLES, load_fits
from tests.oracles import boosting_naive
from tests.oracles.boosting_losses_naive import gradient


def gbm_gradient(loss, y, F, **options):
    """Return the gradient, for laplace 1 where the score is equal to the target."""
    g = gradient(loss, y, F, **options)
    return np.where(g == 0, 1.0, g) if loss == "absolute_error" else g


@pytest.mark.parametrize("table", TABLES)
def test_scores_of_gbm(table, monkeypatch):
    monkeypatch.setattr(boosting_naive, "gradient", gbm_gradient)
    X, y, fits = load_fits(table)
    for golden in fits:
        # Nodes of equal gradients have a gain of 0, but for rounding errors.
        options = {"method": "gradient", "min_split_gain": 1e-9, **golden["parameters"]}
        model = boosting_naive.fit(X, y, loss=golden["loss"], weight=golden["weight"], **options)
        assert model.init[0] == pytest.approx(golden["init"], abs=1e-12)
        stages = model.staged_raw_scores(X)
        for n_trees in (1, 20):
            expected = golden[f"scores_{n_trees}"]
            np.testing.assert_allclose(stages[n_trees][:, 0], expected, rtol=0, atol=1e-12)
