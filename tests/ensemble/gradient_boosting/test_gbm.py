"""Raw scores of both estimators against the golden scores of R's gbm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.ensemble.gradient_boosting.losses.regression import AbsoluteError
from tests.golden.gbm import TABLES, load_fits

# Gradients of 41 bits leave differences of 2e-12 of the largest gradient in the search for splits;
# leaf values are exact, so that scores differ by rounding.
TOLERANCE = 1e-10


@pytest.mark.parametrize("table", TABLES)
def test_scores_of_gbm(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    derivatives = AbsoluteError._derivatives

    def gbm_derivatives(self: Any, raw: Any, gradient: Any, hessian: Any) -> None:
        derivatives(self, raw, gradient, hessian)
        gradient[gradient == 0] = 1.0

    monkeypatch.setattr(AbsoluteError, "_derivatives", gbm_derivatives)
    X, y, fits = load_fits(table)
    for golden in fits:
        is_classifier = golden["loss"] in ("log_loss", "exponential")
        cls: Any = GradientBoostingClassifier if is_classifier else GradientBoostingRegressor
        model = cls(
            loss=golden["loss"], method="gradient", min_split_gain=1e-9, gradient_bits=41,
            max_bins=65_535, **golden["parameters"],
        ).fit(X, y, sample_weight=golden["weight"])  # fmt: skip
        assert model.boosted_trees_.first_scores[0] == pytest.approx(golden["init"], abs=1e-12)
        stages = [raw[:, 0] for raw in model._staged_raw_scores(X)]
        for n_trees in (1, 20):
            expected = golden[f"scores_{n_trees}"]
            np.testing.assert_allclose(stages[n_trees - 1], expected, rtol=0, atol=TOLERANCE)
