"""Comparison of a mixture with the naive one from the same initial parameters."""

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

# Sums in another order and one more matrix inversion cost some of the sixteen digits.
CLOSE = 1e-9


def quiet(model: Any, X: Array, w: Array | None = None) -> Any:
    """Fit without warnings of convergence and of the floor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", CollapsedComponentWarning)
        return model.fit(X, sample_weight=w)


def form_options(form: str, n_latent: int) -> dict[str, Any]:
    """Parameters of a form; ``n_latent`` for ppca alone."""
    return {"covariance_type": form, **({"n_latent": n_latent} if form == "ppca" else {})}


def fitted(
    X: Array,
    w: Array | None,
    start: Parameters,
    form: str,
    steps: int,
    n_latent: int = 1,
    **options: Any,
) -> Any:
    """Fit exactly so many iterations from given initial parameters."""
    options = {"tol": 0.0, "max_iter": steps, **given(form, start), **options}
    return quiet(GaussianMixture(start.size, **form_options(form, n_latent), **options), X, w)


def parameters_of(model: Any) -> Parameters:
    """Parameters of a model, covariances as (K, d, d)."""
    k, d = model.means_.shape
    covariances = whole(model.covariances_, model.covariance_type, k, d)
    return Parameters(model.weights_, model.means_, covariances)


def assert_close(found: Parameters, expected: Parameters, close: float = CLOSE) -> None:
    """Equal on the scale of each component's variances."""
    scale = np.sqrt(np.diagonal(expected.covariances, axis1=1, axis2=2))
    np.testing.assert_allclose(found.weights, expected.weights, rtol=close, err_msg="weights")
    assert found.means.shape == expected.means.shape
    away = np.abs(found.means - expected.means) / (scale + np.abs(expected.means))
    assert away.max() < close, f"means differ by {away.max():.2g}"
    apart = np.abs(found.covariances - expected.covariances)
    apart = apart / (scale[:, :, None] * scale[:, None, :])
    assert apart.max() < close, f"covariances differ by {apart.max():.2g}"


def frame_parameters(frame: Any) -> Parameters:
    """Parameters of a frame, whose covariances are (K, d, d) or, if diagonal, (K, d)."""
    covariances = frame["covariances"]
    if covariances.ndim == 2:
        covariances = covariances[:, :, None] * np.eye(covariances.shape[1])
    return Parameters(frame["weights"], frame["means"], covariances)


def assert_iterations(
    model: Any, X: Array, w: Array | None, start: Parameters, config: naive.Config
) -> list[Parameters]:
    """Check every frame against the naive iterations, which are returned.

    The last frame is the model.
    """
    steps, found = [], start
    assert [frame.step for frame in model.trace_] == list(range(1, model.n_iter_ + 2))
    for frame in model.trace_:
        value, following = naive.iterate(X, w, found, config)
        assert_close(frame_parameters(frame), found)
        assert frame["log_likelihood"] == pytest.approx(value, rel=CLOSE)
        value += naive.log_prior(found, config.prior)
        assert frame["objective"] == pytest.approx(value, rel=CLOSE)
        steps.append(found)
        found = following
    assert_close(parameters_of(model), steps[-1])
    assert model.log_likelihood_ == frame["log_likelihood"]
    assert model.lower_bound_ == pytest.approx(value / naive.ones(X, w).sum(), rel=CLOSE)
    return steps


def letters(form: str) -> str:
    """mclust's letters of a form."""
    return ALIASES.get(form, form)
