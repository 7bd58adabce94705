"""Small tables for mixtures, and initial parameters for each covariance form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from ceiba import datasets
from ceiba._typing import Array
from tests.oracles.mixture_forms import DIAGONAL, FORMS, SPHERICAL
from tests.oracles.mixture_naive import (
    Config,
    Statistics,
    column_means,
    column_variances,
    m_step,
    ones,
)
from tests.oracles.mixture_rows import Parameters

# mclust's letters of the public names.
ALIASES = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
KINDS = ("plain", "weights", "missing", "weights+missing")
SHIFT = 1e9


@dataclass(frozen=True)
class Case:
    """Rows (NaN for missing), their weights or None, and the number of components to fit."""

    X: Array
    w: Array | None
    k: int


def overlapping(seed: int, n: int, d: int, k: int, apart: float = 1.5) -> Array:
    """Rows of ``k`` overlapping Gaussians, each of its own shape."""
    rng = np.random.default_rng(seed)
    middles = apart * rng.normal(size=(k, d))
    turns = rng.normal(size=(k, d, d)) / np.sqrt(d) + np.eye(d)
    labels = np.arange(n) % k
    noise: Array = np.einsum("nij,nj->ni", turns[labels], rng.normal(size=(n, d)))
    return noise + middles[labels]


def with_missing(X: Array, seed: int, share: float = 0.2) -> Array:
    """Missing values at random; the second row has no value, and every column has some."""
    missing: Array = np.asarray(np.random.default_rng(seed).random(X.shape) < share)
    missing[1] = True
    missing[[0, 2]] = False
    return np.where(missing, np.nan, X)


def some_weights(n: int, seed: int) -> Array:
    """Weights, some of them zero, that of the first row included."""
    w = np.random.default_rng(seed).exponential(size=n)
    w[::7] = 0.0
    return w


def case(kind: str, seed: int = 0, n: int = 60, d: int = 3, k: int = 3) -> Case:
    """A table of overlapping groups, plain or with weights, missing values or both."""
    X = overlapping(seed, n, d, k)
    if "missing" in kind:
        X = with_missing(X, seed + 1)
    return Case(X, some_weights(n, seed + 2) if "weights" in kind else None, k)


def iris() -> Array:
    return np.asarray(datasets.load("iris").X, dtype=float)


def glass() -> Array:
    """Nine columns, several of them mostly zero."""
    return np.asarray(datasets.load("glass").X, dtype=float)


def single(X: Array) -> Array:
    """The same rows in single precision."""
    return X.astype(np.float32)


def shifted(X: Array) -> Array:
    """The same rows far from the origin, rounded to the precision of float64 there."""
    return X + SHIFT


# Initial parameters


def start(X: Array, w: Array | None, k: int, form: str, q: int = 1, seed: int = 0) -> Parameters:
    """Parameters of the form: rows belong mostly to the nearest of ``k`` rows."""
    v = ones(X, w)
    mean, scale = column_means(X, w), np.sqrt(column_variances(X, w))
    Z = np.where(np.isnan(X), 0.0, (X - mean) / scale)
    middles = Z[np.random.default_rng(seed).choice(np.flatnonzero(v), size=k, replace=False)]
    nearest = ((Z[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    shares = v[:, None] * (0.6 * np.eye(k)[nearest] + 0.4 / k)
    filled = mean + scale * Z
    sizes = shares.sum(axis=0)
    means = shares.T @ filled / sizes[:, None]
    away = filled[:, None] - means
    scatters = np.einsum("nk,nki,nkj->kij", shares, away, away)
    return m_step(Statistics(sizes, means, scatters), Config(form, q), scale**2)


def precisions(form: str, covariances: Array) -> Array:
    """Inverse covariances in the shape of the form: (K, d, d), (d, d), (K, d) or (K,)."""
    form = ALIASES.get(form, form)
    if form in SPHERICAL:
        return 1 / covariances[:, 0, 0]
    if form in DIAGONAL:
        return 1 / np.diagonal(covariances, axis1=1, axis2=2)
    inverse: Array = np.linalg.inv(covariances[0] if form == "EEE" else covariances)
    return (inverse + np.swapaxes(inverse, -1, -2)) / 2


def given(form: str, parameters: Parameters) -> dict[str, Array]:
    """Initial parameters as the three hyper-parameters of an estimator."""
    return {
        "weights_init": parameters.weights,
        "means_init": parameters.means,
        "precisions_init": precisions(form, parameters.covariances),
    }


def whole(covariances: Array, form: str, k: int, d: int) -> Array:
    """Covariances of a form's own shape as (K, d, d)."""
    form = ALIASES.get(form, form)
    if form in SPHERICAL:
        return covariances[:, None, None] * np.eye(d)
    if form in DIAGONAL:
        return covariances[:, :, None] * np.eye(d)
    return np.broadcast_to(covariances, (k, d, d))


# Random tables


@st.composite
def problems(draw: st.DrawFn) -> tuple[Case, str, int]:
    """A table of at most 4 columns on uneven scales, a form, and a latent dimension."""
    d, k = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    form = draw(st.sampled_from(FORMS if d > 1 else FORMS[:-1]))
    n = draw(st.integers(4 * k * (d + 1), 60))
    found = case(draw(st.sampled_from(KINDS)), draw(st.integers(0, 9999)), n, d, k)
    units = 10.0 ** np.array(draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d)))
    if form in SPHERICAL or form == "ppca":
        units[:] = units[0]  # on uneven scales a spherical form describes one column alone
    return Case(found.X * units, found.w, k), form, draw(st.integers(1, max(1, d - 1)))
