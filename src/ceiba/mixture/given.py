"""Parameters that a user gives for a start, in scikit-learn's names and shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba.mixture.form import Form
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.moments import Moments
from ceiba.stats.points import Array, suits


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
