"""Every covariance form against mclust, after three iterations and at convergence."""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import GaussianMixture, datasets
from ceiba._typing import Array
from tests.paths import GOLDEN_FILES

GOLDEN = GOLDEN_FILES / "mclust"
STARTS = ("iris-species", "iris-thirds", "glass-type", "glass-thirds")
FORMS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "EEV", "VEV", "VVV")
# Six components on 214 rows: in these forms one of them collapses, and mclust fails.
SINGULAR = {("glass-type", form) for form in ("VEE", "EVV", "VVV")}
CASES = [(start, form) for start in STARTS for form in FORMS]
SETTLING = [case for case in CASES if case not in SINGULAR]

# Iterations until no responsibility changes by 1e-12, for the slowest of them: 314.
ENOUGH = 400
# A naive EM in NumPy stays within 6e-12 of mclust in all of these (glass's refractive index, 1.518
# +- 0.003, has lost three of sixteen digits before any arithmetic); the rest is for other rounding.
CLOSE = 1e-10


@cache
def golden(start: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{start}.json").read_text())
    return found


@cache
def rows(start: str) -> Array:
    expected = golden(start)
    table = datasets.load(expected["table"])
    X = np.asarray(table.X, dtype=float)
    if expected["table"] == "glass":
        X = X[:, [table.feature_names.index(name) for name in expected["columns"]]]
    np.testing.assert_allclose(X.sum(axis=0), expected["column_sums"], rtol=1e-13)
    return X


@cache
def fitted(start: str, form: str, steps: int) -> Any:
    labels = np.array(golden(start)["labels"])
    one_hot = np.eye(labels.max() + 1)[labels]
    model = GaussianMixture(
        one_hot.shape[1],
        covariance_type=form,
        responsibilities_init=one_hot,
        tol=0.0,
        max_iter=steps,
        covariance_floor=1e-12,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows(start))


def whole(model: Any) -> Array:
    """Covariances as (K, d, d), as mclust returns every form."""
    k, d = model.means_.shape
    kept: Array = model.covariances_
    if model.covariance_type.endswith("II"):
        return kept[:, None, None] * np.eye(d)
    if model.covariance_type.endswith("I"):
        return kept[:, :, None] * np.eye(d)
    return np.broadcast_to(kept, (k, d, d))


def assert_equal(model: Any, expected: dict[str, Any], n: int) -> None:
    """Equal to mclust's, relative to each component's own deviations."""
    covariances = np.array(expected["covariances"])
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    value = expected["log_likelihood"]
    assert model.log_likelihood_ == pytest.approx(value, rel=CLOSE, abs=CLOSE * n)
    np.testing.assert_allclose(model.weights_, expected["weights"], rtol=CLOSE)
    away = (model.means_ - expected["means"]) / scale
    assert np.abs(away).max() < CLOSE
    apart = (whole(model) - covariances) / (scale[:, :, None] * scale[:, None, :])
    assert np.abs(apart).max() < CLOSE


@pytest.mark.parametrize("start", STARTS)
def test_golden_files_have_all_but_the_singular_mixtures(start):
    mixtures = golden(start)["mixtures"]
    assert tuple(mixtures) == FORMS
    skipped = {(start, form) for form in FORMS if "skipped" in mixtures[form]["end"]}
    assert skipped == {case for case in SINGULAR if case[0] == start}


@pytest.mark.parametrize(("start", "form"), CASES)
def test_three_iterations_match_mclust(start, form):
    expected = golden(start)["mixtures"][form]["few_steps"]
    # The first iteration of mclust turns the labels into parameters: here that is the init.
    model = fitted(start, form, expected["steps"] - 1)
    assert_equal(model, expected, len(rows(start)))


@pytest.mark.parametrize(("start", "form"), SETTLING)
def test_converged_mixture_matches_mclust(start, form):
    model = fitted(start, form, ENOUGH)
    assert_equal(model, golden(start)["mixtures"][form]["end"], len(rows(start)))
    assert not model.fit_events_


@pytest.mark.parametrize(("start", "form"), SETTLING)
def test_bic_is_minus_that_of_mclust(start, form):
    model = fitted(start, form, ENOUGH)
    expected = golden(start)["mixtures"][form]["end"]["mclust_bic"]
    n = len(rows(start))
    assert model.bic(rows(start)) == pytest.approx(-expected, rel=CLOSE, abs=2 * CLOSE * n)


@pytest.mark.parametrize(("start", "form"), CASES)
def test_number_of_parameters_matches_mclust(start, form):
    mixture = golden(start)["mixtures"][form]
    model = fitted(start, form, mixture["few_steps"]["steps"] - 1)
    count = model.aic(rows(start)) / 2 + model.log_likelihood_
    assert count == pytest.approx(mixture["n_parameters"], abs=1e-6)
