"""Gaussian components, and the statistics of the E step: expected moments per component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.linalg.lapack import dtrtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.base.value_types import format_value
from ceiba.cluster.lloyd import DrawKey
from ceiba.cluster.statistics import assign_nearest
from ceiba.engine import Batch
from ceiba.mixture import linalg
from ceiba.stats.points import Moments, Points, PointSpace

# Fraction of a sum of squares about the pivot that must be about the mean: with less, rounding
# dominates. 1e-4 leaves 11 of double's 15 digits.
_MIN_CENTERED_FRACTION = 1e-4
# Rounding, of 1e-16 of the squares, is then less than a millionth of the smallest variance.
_NEGLIGIBLE_FRACTION = 1e-10


@dataclass(frozen=True, slots=True)
class Gaussians:
    """Weights, means and covariances of components, with the factors that densities need."""

    weights: Array  # shape (k,)
    means: Array  # shape (k, d)
    covariances: Array  # shape (k, d, d) or, where they are diagonal, (k, d)
    factors: Array  # inverse of the lower Cholesky factor, or one over the standard deviation

    @classmethod
    def of(cls, weights: Array, means: Array, covariances: Array) -> Gaussians:
        """Factorize the covariances; raise LinAlgError where one is not positive definite."""
        covariances = np.ascontiguousarray(covariances)
        if not np.isfinite(covariances).all():
            raise np.linalg.LinAlgError("a covariance is not finite")
        if covariances.ndim == 2:
            if not (covariances > 0).all():
                raise np.linalg.LinAlgError("a variance is not positive")
            return cls(weights, means, covariances, 1.0 / np.sqrt(covariances))
        factors = linalg.cholesky(covariances)
        for component, lower in enumerate(factors):
            # The transpose is LAPACK's own order: an upper triangle, inverted without a copy.
            factors[component] = dtrtri(lower.T, lower=0)[0].T
        return cls(weights, means, covariances, factors)

    @property
    def full(self) -> bool:
        """Whether covariances are matrices."""
        return self.covariances.ndim == 3

    @property
    def shape(self) -> tuple[int, int]:
        """Number of components and of columns."""
        k, d = self.means.shape
        return k, d

    @property
    def log_dets(self) -> Array:
        """Logarithm of each covariance's determinant."""
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2) if self.full else self.factors
        return np.asarray(-2.0 * np.log(diagonals).sum(axis=1))

    def take(self, index: Any) -> Gaussians:
        """Select components; their weights are not rescaled."""
        return Gaussians(
            self.weights[index], self.means[index], self.covariances[index], self.factors[index]
        )

    def native(self) -> _native.GaussianComponents:
        """Return the native view."""
        k = len(self.means)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return _native.GaussianComponents(
            log_weights,
            np.ascontiguousarray(self.means),
            np.ascontiguousarray(self.covariances.reshape(k, -1)),
            np.ascontiguousarray(self.factors.reshape(k, -1)),
        )


@dataclass(frozen=True, slots=True)
class MissingPatterns:
    """Whether a batch has missing values, and its rows grouped by the columns that they miss."""

    any: bool
    order: Array | None = None
    starts: Array | None = None

    @classmethod
    def of(cls, batch: Batch[Points], full: bool) -> MissingPatterns:
        """Find the patterns of a batch, which ``full`` covariances need; raise for infinity.

        They are cached beside the rows where the engine keeps row state.
        """
        known: MissingPatterns | None = batch.scratch.get("missing")
        needs_order = full and batch.rows.X.shape[1] > 1
        if known is None or (needs_order and known.any and known.order is None):
            known = _find_patterns(batch, needs_order)
            batch.scratch["missing"] = known
        return known if needs_order or not known.any else MissingPatterns(True)

    def native(self) -> _native.MissingPatterns | None:
        """Return the native view; None without missing values."""
        return _native.MissingPatterns(True, self.order, self.starts) if self.any else None


def _find_patterns(batch: Batch[Points], needs_order: bool) -> MissingPatterns:
    X = batch.rows.X
    # In most cases one sum decides, without a mask of all rows: it is finite if every value is.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return MissingPatterns(False)
    if np.isinf(X).any():
        Moments.of(batch)  # raises, and names the row and the column
    if not np.isnan(X).any():
        return MissingPatterns(False)
    return MissingPatterns(True, *(_native.missing_patterns(X) if needs_order else ()))


@dataclass(frozen=True, eq=False)
class ComponentMoments(Record):
    """Weight, mean and scatter about the mean of each component's rows."""

    weights: Annotated[Array, ArrayOf("float64", "k")]
    means: Annotated[Array, ArrayOf("float64", "k", "d")]
    # Centered sums of products, (k, d, d), or of squares, (k, d), for diagonal covariances.
    scatters: Array

    def check(self) -> None:
        """Raise ValueError unless the moments are finite and of consistent shapes."""
        k, d = self.means.shape
        if not isinstance(self.scatters, np.ndarray) or self.scatters.dtype != np.float64:
            found = format_value(self.scatters)
            raise ValueError(f"scatters must be an array of float64, got {found}.")
        if self.scatters.shape not in ((k, d, d), (k, d)):
            raise ValueError(
                f"scatters must have shape {(k, d, d)} or {(k, d)}, got {self.scatters.shape}."
            )
        for name in ("weights", "means", "scatters"):
            array = getattr(self, name)
            check_values(name, array, np.isfinite(array), "finite")

    def scale(self, factor: float) -> ComponentMoments:
        """Multiply the weight of every row by ``factor``."""
        return ComponentMoments(factor * self.weights, self.means, factor * self.scatters)

    def merge(self, other: ComponentMoments) -> ComponentMoments:
        """Merge the moments of both parts' rows, centered (Chan, Golub & LeVeque 1983)."""
        weights = self.weights + other.weights
        ratio = np.divide(other.weights, weights, out=np.zeros_like(weights), where=weights > 0)
        shift = other.means - self.means
        between = outer_products(self.weights * ratio, shift, self.scatters)
        return ComponentMoments(
            weights, self.means + ratio[:, None] * shift, self.scatters + other.scatters + between
        )

    def take(self, index: Any) -> ComponentMoments:
        """Select components."""
        return ComponentMoments(self.weights[index], self.means[index], self.scatters[index])


def outer_products(weights: Array, shifts: Array, like: Array) -> Array:
    """Compute ``weight × shift shift'`` per component, or its diagonal, shaped as ``like``."""
    if like.ndim == 2:
        return np.asarray(weights[:, None] * shifts**2)
    outer: Array = (weights[:, None] * shifts)[:, :, None] * shifts[:, None, :]
    return outer


# Function that returns the responsibilities of a batch for the kernel.
Responsibilities = Callable[[Batch[Points]], _native.Responsibilities]


def nearest_responsibilities(
    batch: Batch[Points], space: PointSpace, centers: Array
) -> _native.Responsibilities:
    """Return responsibility 1 of the nearest center for each row."""
    labels, _, _ = assign_nearest(batch, space, centers, consume_state=True)
    return _native.Responsibilities(labels=labels)


def random_responsibilities(batch: Batch[Points], key: DrawKey) -> _native.Responsibilities:
    """Return normalized uniform random responsibilities, keyed by the global row."""
    return _native.Responsibilities(key=key.native(batch.first_row))


def given_responsibilities(batch: Batch[Points], values: Array) -> _native.Responsibilities:
    """Return given responsibilities, one row of ``values`` for each row of the (single) batch."""
    kept = batch.rows.kept
    values = values if kept is None else values[kept]
    return _native.Responsibilities(values=np.ascontiguousarray(values))


@dataclass(frozen=True, slots=True)
class ExpectedMoments:
    """Log-likelihood, and each component's expected moments about a pivot.

    The pivots are the current means (or given ones), the same in every part, so that parts add up.
    About them second moments lose no digits as long as an iteration moves a mean by at most a
    hundred standard deviations; `loses_digits` detects a larger move. A missing value counts with
    its conditional mean and variance.
    """

    log_likelihood: float
    weights: Array
    first: Array
    second: Array
    pivots: Array

    @classmethod
    def of(
        cls,
        batch: Batch[Points],
        model: Gaussians,
        pivots: Array | None = None,
        responsibilities: Responsibilities | None = None,
    ) -> ExpectedMoments:
        """Compute the E step of a batch.

        With given ``responsibilities`` no density is computed: the model only gives the conditional
        moments of missing values.
        """
        k, d = model.shape
        pivots = np.ascontiguousarray(model.means if pivots is None else pivots)
        weights, first = np.empty(k), np.empty((k, d))
        second = np.empty((k, model.covariances.size // k))
        log_likelihood = _native.mixture_moments(
            batch.rows.X,
            batch.rows.weight,
            model.native(),
            _native.MomentSums(pivots, weights, first, second),
            MissingPatterns.of(batch, model.full).native(),
            None if responsibilities is None else responsibilities(batch),
            threads=batch.threads,
        )
        shape = model.covariances.shape
        return cls(log_likelihood, weights, first, second.reshape(shape), pivots)

    def merge(self, other: ExpectedMoments) -> ExpectedMoments:
        """Add the sums of both parts' rows."""
        return ExpectedMoments(
            self.log_likelihood + other.log_likelihood,
            self.weights + other.weights,
            self.first + other.first,
            self.second + other.second,
            self.pivots,
        )

    @classmethod
    def stack(cls, groups: Sequence[ExpectedMoments]) -> ExpectedMoments:
        """Concatenate the components of several groups of rows."""
        if len(groups) == 1:
            return groups[0]
        stacked = (
            np.concatenate([getattr(group, name) for group in groups])
            for name in ("weights", "first", "second", "pivots")
        )
        return cls(sum(group.log_likelihood for group in groups), *stacked)

    @property
    def means(self) -> Array:
        """Mean of each component's rows; the pivot where it has none."""
        weights = self.weights[:, None]
        shift = np.divide(self.first, weights, out=np.zeros_like(self.first), where=weights > 0)
        return np.asarray(self.pivots + shift)

    def centered(self) -> ComponentMoments:
        """Return the moments about the components' own means."""
        means = self.means
        scatters = outer_products(self.weights, means - self.pivots, self.second)
        np.subtract(self.second, scatters, out=scatters)
        variances = _diagonals(scatters)
        if (variances < 0).any():  # rounding of a sum that is zero
            np.maximum(variances, 0.0, out=variances)
        return ComponentMoments(self.weights, means, scatters)

    def loses_digits(self, negligible: Array) -> bool:
        """Whether a mean is so far from its pivot that its scatter would be mostly rounding.

        Rounding far below ``negligible``, the variances of (d,) columns that count as zero, is
        harmless.
        """
        weights, squares = self.weights[:, None], _diagonals(self.second)
        with np.errstate(over="ignore"):
            # Squares about the mean are squares - first² / weight: too small a fraction of them.
            limit = (1.0 - _MIN_CENTERED_FRACTION) * weights * squares
            far = ~(self.first * self.first <= limit)
            lost = far & ~(_NEGLIGIBLE_FRACTION * squares < weights * negligible)
        return bool(lost.any()) or not np.isfinite(squares).all()


def _diagonals(scatters: Array) -> Array:
    """Return a writable view of the diagonals, (k, d)."""
    if scatters.ndim == 2:
        return scatters
    k, d, _ = scatters.shape
    return scatters.reshape(k, d * d)[:, :: d + 1]
