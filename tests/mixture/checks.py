"""A mixture fitted from a given start beside the naive one: fits, and what must agree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import GaussianMixture
from ceiba._typing import Array
from ceiba.mixture import CollapsedComponentWarning
from tests.mixture.tables import ALIASES, given, whole
from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_rows import Parameters

# Sums in another order and a matrix inverted once more: some digits of the sixteen.
CLOSE = 1e-9


def quiet(model: Any, X: Array, w: Array | None = None) -> Any:
    """Fit without being told that so few steps do not converge, or that the floor is reached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", CollapsedComponentWarning)
        return model.fit(X, sample_weight=w)


def fitted(
    X: Array, w: Array | None, start: Parameters, form: str, steps: int, **options: Any
) -> Any:
    """The estimator after exactly so many steps from a given start."""
    options = {"tol": 0.0, "max_iter": steps, **given(form, start), **options}
    return quiet(GaussianMixture(start.size, covariance_type=form, **options), X, w)


def parameters_of(model: Any) -> Parameters:
    """What a model holds, covariances as (K, d, d)."""
    k, d = model.means_.shape
    covariances = whole(model.covariances_, model.covariance_type, k, d)
    return Parameters(model.weights_, model.means_, covariances)


def assert_close(found: Parameters, expected: Parameters, close: float = CLOSE) -> None:
    """Equal on the scale of each component: an entry near zero is measured by its variances."""
    scale = np.sqrt(np.diagonal(expected.covariances, axis1=1, axis2=2))
    np.testing.assert_allclose(found.weights, expected.weights, rtol=close, err_msg="weights")
    assert found.means.shape == expected.means.shape
    away = np.abs(found.means - expected.means) / (scale + np.abs(expected.means))
    assert away.max() < close, f"means differ by {away.max():.2g}"
    apart = np.abs(found.covariances - expected.covariances)
    apart = apart / (scale[:, :, None] * scale[:, None, :])
    assert apart.max() < close, f"covariances differ by {apart.max():.2g}"


def frame_parameters(frame: Any) -> Parameters:
    """A frame's parameters: its covariances are (K, d, d) or, diagonal ones, (K, d)."""
    covariances = frame["covariances"]
    if covariances.ndim == 2:
        covariances = covariances[:, :, None] * np.eye(covariances.shape[1])
    return Parameters(frame["weights"], frame["means"], covariances)


def assert_steps(
    model: Any, X: Array, w: Array | None, start: Parameters, rules: naive.Rules
) -> list[Parameters]:
    """The start and every naive step in a frame each, with its worth; gives the naive steps.

    The last frame is the model.
    """
    steps, found = [], start
    assert [frame.step for frame in model.trace_] == list(range(1, model.n_iter_ + 2))
    for frame in model.trace_:
        value, following = naive.step(X, w, found, rules)
        assert_close(frame_parameters(frame), found)
        assert frame["log_likelihood"] == pytest.approx(value, rel=CLOSE)
        value += naive.log_prior(found, rules.prior)
        assert frame["objective"] == pytest.approx(value, rel=CLOSE)
        steps.append(found)
        found = following
    assert_close(parameters_of(model), steps[-1])
    assert model.log_likelihood_ == frame["log_likelihood"]
    assert model.lower_bound_ == pytest.approx(value / naive.ones(X, w).sum(), rel=CLOSE)
    return steps


def letters(form: str) -> str:
    """The three letters of a form whichever way it is named."""
    return ALIASES.get(form, form)
