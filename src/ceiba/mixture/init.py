"""Where EM starts: responsibilities from centres, from draws or as given, and one M step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Steps
from ceiba.cluster.lloyd import lloyd
from ceiba.cluster.seeding import Draw, plus_plus, random_rows
from ceiba.engine import Engine
from ceiba.mixture.covariance import Form
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.statistics import (
    ComponentMoments,
    Drawn,
    MixtureSums,
    NearestCentre,
    Responsibility,
    Shares,
)
from ceiba.mixture.summary import Surveyed
from ceiba.stats.moments import Moments
from ceiba.stats.rows import suits


@dataclass(frozen=True, slots=True)
class GivenParameters:
    """Weights, means and precisions to start with; None where a start finds them itself."""

    weights: Any = None
    means: Any = None
    precisions: Any = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to find."""
        return all(part is not None for part in (self.weights, self.means, self.precisions))

    def gaussians(self, form: Form, k: int, d: int, data: Moments) -> Gaussians:
        """The components, where all is given."""
        weights, means = _weights(self.weights, k), _means(self.means, k, d, data)
        return _components(weights, means, _covariances(self.precisions, form, k, d))

    def over(self, found: Gaussians, form: Form, data: Moments) -> Gaussians:
        """What a start found, with the given parts in its place."""
        k, d = found.shape
        if self.weights is not None:
            found = replace(found, weights=_weights(self.weights, k))
        if self.means is not None:
            found = replace(found, means=_means(self.means, k, d, data))
        if self.precisions is not None:
            covariances = _covariances(self.precisions, form, k, d)
            found = _components(found.weights, found.means, covariances)
        return found


def _components(weights: Array, means: Array, covariances: Array) -> Gaussians:
    try:
        return Gaussians.of(weights, means, covariances)
    except np.linalg.LinAlgError:
        raise ValueError("precisions_init must be positive definite") from None


def _weights(given: Any, k: int) -> Array:
    weights = _finite(given, (k,), "weights_init", f"one weight for each of the {k} components")
    if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(
            f"weights_init must be at least 0 and sum to 1; they sum to {weights.sum():g}"
        )
    scaled: Array = weights / weights.sum()
    return scaled


def _means(given: Any, k: int, d: int, data: Moments) -> Array:
    meaning = f"a row for each of the {k} components and a column for each of the {d} of X"
    means = _finite(given, (k, d), "means_init", meaning)
    if not suits(data.reaching(means).spread, "float64"):
        raise ValueError("means_init lies so far from the rows that distances cannot be squared")
    return means


def _covariances(given: Any, form: Form, k: int, d: int) -> Array:
    shape = form.shape(k, d)
    meaning = f"the shape of covariance_type={form.name!r}"
    precisions = _finite(given, shape, "precisions_init", meaning)
    if precisions.ndim < 2 or not form.full:
        if not (precisions > 0).all():
            raise ValueError("precisions_init must be positive")
        return form.spread(1.0 / precisions, k, d)
    if not symmetric(precisions):
        raise ValueError("precisions_init must be symmetric")
    try:
        np.linalg.cholesky(precisions)
    except np.linalg.LinAlgError:
        raise ValueError("precisions_init must be positive definite") from None
    inverse = np.linalg.inv(precisions)
    return form.spread(0.5 * (inverse + np.swapaxes(inverse, -1, -2)), k, d)


def symmetric(matrices: Array) -> bool:
    """Whether matrices are symmetric, to rounding beside their diagonals: in whatever units."""
    diagonal = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    size = diagonal[..., :, None] * diagonal[..., None, :]
    return bool((np.abs(matrices - np.swapaxes(matrices, -1, -2)) <= 1e-6 * size).all())


def _finite(given: Any, shape: tuple[int, ...], name: str, meaning: str) -> Array:
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {shape}: {meaning}") from None
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape} and needs {shape}: {meaning}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers")
    return array


# A start need not be the best clustering: this many steps of k-means, to this tolerance.
_STEPS, _TOL = 100, 1e-4
# Share of a column's variance that counts as none.
_NONE = 1e-6


@dataclass(frozen=True, slots=True)
class Start:
    """How runs begin.

    Parameters
    ----------
    init : str
        ``"kmeans"``, ``"k-means++"``, ``"random_from_data"`` or ``"random"``.
    seed : int
    shares : ndarray of shape (n_rows, k), optional
        Responsibilities that are used instead.
    """

    init: str
    seed: int
    shares: Array | None = None

    def moments(
        self, data: Surveyed, sizes: tuple[int, ...], full: bool, run: int
    ) -> ComponentMoments:
        """Moments of the components that run number ``run`` starts with, group by group."""
        sums = []
        for place, (rows, k) in enumerate(zip(data.groups, sizes, strict=True)):
            draw_run = run * len(sizes) + place
            given = self._given(rows, data, k, draw_run)
            sums.append(_first_sums(rows, data, k, full, given))
            rows.forget()  # bounds and distances of k-means
        return MixtureSums.stacked(sums).centred()

    def _given(self, rows: Any, data: Surveyed, k: int, run: int) -> Responsibility | None:
        if self.shares is not None:
            return Shares(self.shares)
        if k == 1:  # every row is its own, whatever its density
            return None
        if self.init == "random":
            return Drawn(Draw(self.seed, run, 0))
        centres = _centres(self.init, rows, data, k, self.seed, run)
        return NearestCentre(data.space, centres)


def _centres(init: str, rows: Any, data: Surveyed, k: int, seed: int, run: int) -> Array:
    engine, space = data.engine, data.space
    if init == "random_from_data":
        return random_rows(rows, engine, space, k, seed, run)
    centres = plus_plus(rows, engine, space, k, seed, run)
    if init == "k-means++":
        return centres
    tol = _TOL * float(np.mean(data.variances))
    steps = Steps(None, _STEPS, name="k-means")
    return lloyd(rows, engine, space, centres, steps, tol, lambda centres: {}).centres


def _first_sums(
    rows: Any, data: Surveyed, k: int, full: bool, given: Responsibility | None
) -> MixtureSums:
    """Missing values count as their column's mean and variance."""
    common = data.common(k, full)
    reduce = data.engine.reduce
    sums = reduce(rows, MixtureSums.of, common, None, given)
    if not sums.lossy(_NONE * data.variances):
        return sums
    return reduce(rows, MixtureSums.of, common, sums.means, given)


def given_shares(values: Any, n_rows: int, k: int, engine: Engine) -> Array:
    """Responsibilities that a user gives, checked and brought to a sum of one a row."""
    if engine.name != "local":
        raise ValueError(
            "responsibilities_init needs the rows in memory: give weights_init, means_init and "
            "precisions_init instead"
        )
    shares = np.array(values, dtype=np.float64, order="C")
    if shares.shape != (n_rows, k):
        raise ValueError(
            f"responsibilities_init has shape {shares.shape}; it needs a row for each of the "
            f"{n_rows} rows and a column for each of the {k} components"
        )
    totals = shares.sum(axis=1, keepdims=True)
    if not np.isfinite(shares).all() or (shares < 0).any() or not (totals > 0).all():
        raise ValueError(
            "responsibilities_init must be finite numbers of at least 0, with a positive one in "
            "every row"
        )
    scaled: Array = shares / totals
    return scaled
