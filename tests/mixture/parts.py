"""Rows for tests of mixtures: groups, scale-free initialization, partitioned sources."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba import GaussianMixture
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine.local import InMemorySource

# Every form once; aliases are tested elsewhere.
FORMS = (
    "full", "tied", "diag", "spherical", "EII", "EEI", "VEI", "EVI", "VEE", "EVV", "EEV", "VEV",
    "ppca",
)  # fmt: skip


def groups(seed: int, n: int, d: int, k: int, apart: float = 5.0) -> Array:
    """Rows of ``k`` groups in turn, each of its own shape."""
    rng = np.random.default_rng(seed)
    middles = apart * rng.normal(size=(k, d))
    turns = np.eye(d) + 0.4 * rng.normal(size=(k, d, d))
    noise: Array = np.einsum("nij,nj->ni", turns[np.arange(n) % k], rng.normal(size=(n, d)))
    return middles[np.arange(n) % k] + noise


def shares(n: int, k: int) -> Array:
    """Responsibilities for `groups`: mostly the right group, for any scale of the rows."""
    return 0.7 * np.eye(k)[np.arange(n) % k] + 0.3 / k


def drop_values(X: Array, seed: int = 0, share: float = 0.2) -> Array:
    """Rows with values missing at random; the first row is complete."""
    missing: Array = np.asarray(np.random.default_rng(seed).random(X.shape) < share)
    missing[0] = False
    return np.where(missing, np.nan, X)


def quiet(model: Any, X: Any, **given: Any) -> Any:
    """Fit without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, **given)


def fitted(X: Any, k: int = 3, weight: Any = None, **options: Any) -> Any:
    """Fit rows of `groups` from a scale-free initialization."""
    options = {"responsibilities_init": shares(len(X), k), **options}
    return quiet(GaussianMixture(k, **options), X, sample_weight=weight)


def matrices(model: Any) -> Array:
    """The covariances as (k, d, d)."""
    covariances = model._gaussians.covariances
    if covariances.ndim == 3:
        found: Array = covariances
        return found
    found = covariances[:, :, None] * np.eye(covariances.shape[1])
    return found


def assert_valid(model: Any, X: Any) -> None:
    """Fitted attributes and predictions are finite, and probabilities sum to one."""
    for name in ("weights_", "means_", "covariances_", "log_likelihood_", "lower_bound_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert model.weights_.sum() == np.float64(1.0) or abs(model.weights_.sum() - 1) < 1e-12
    assert (np.linalg.eigvalsh(_correlations(matrices(model))) > 0).all()
    assert np.isfinite(model.score_samples(X)).all()
    shares_of_rows = model.predict_proba(X)
    np.testing.assert_allclose(shares_of_rows.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(shares_of_rows.argmax(axis=1), model.predict(X))


def _correlations(covariances: Array) -> Array:
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    found: Array = covariances / (scale[:, :, None] * scale[:, None, :])
    return found


def assert_same_mixture(
    one: Any, other: Any, close: float, scale: Any = 1.0, shift: Any = 0.0
) -> None:
    """``one`` is the mixture ``other`` after scaling and shifting the columns."""
    scale = np.broadcast_to(np.asarray(scale, dtype=float), other.means_.shape[1:])
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=close, atol=close)
    spread = np.sqrt(np.diagonal(matrices(other), axis1=1, axis2=2))
    away = ((one.means_ - shift) / scale - other.means_) / spread
    assert np.abs(away).max() < close, f"means differ by {np.abs(away).max():.2g} sd"
    back = matrices(one) / scale[:, None] / scale - matrices(other)
    back = back / (spread[:, :, None] * spread[:, None, :])
    assert np.abs(back).max() < close, f"covariances differ by {np.abs(back).max():.2g}"


@dataclass(frozen=True)
class Partitions:
    """A source whose partitions are slices of a table."""

    schema: Schema
    partitions: list[InMemorySource]
    target: str | None = None


def in_partitions(X: Any, splits: list[int], weight: Any = None) -> Partitions:
    """The rows split at ``splits`` as partitions."""
    table = Table.of(X)
    weight = None if weight is None else np.asarray(weight, dtype=float)
    parts = []
    for k, (begin, end) in enumerate(pairwise([0, *splits, len(table)])):
        own = None if weight is None else weight[begin:end]
        parts.append(InMemorySource(Chunk(table.take(slice(begin, end)), None, own), f"part {k}"))
    return Partitions(table.schema, parts)
