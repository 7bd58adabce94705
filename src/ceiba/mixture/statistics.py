"""Sufficient statistics of the E step: expected moments per component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.cluster.seeding import DrawKey
from ceiba.cluster.statistics import assign_nearest
from ceiba.engine import Batch
from ceiba.mixture.densities import Gaussians, MissingPatterns
from ceiba.stats.points import Points, Space

# Fraction of a sum of squares about the pivot that must be about the mean: with less, rounding
# dominates. 1e-4 leaves 11 of double's 15 digits.
_MIN_CENTERED_FRACTION = 1e-4
# Rounding, of 1e-16 of the squares, is then less than a millionth of the smallest variance.
_NEGLIGIBLE_FRACTION = 1e-10


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
            raise ValueError("scatters must be an array of float64.")
        if self.scatters.shape not in ((k, d, d), (k, d)):
            raise ValueError(
                f"scatters must have shape {(k, d, d)} or {(k, d)}, got {self.scatters.shape}."
            )
        if not all(np.isfinite(a).all() for a in (self.weights, self.means, self.scatters)):
            raise ValueError("moments must be finite.")

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
        squares: Array = weights[:, None] * shifts**2
        return squares
    outer: Array = (weights[:, None] * shifts)[:, :, None] * shifts[:, None, :]
    return outer


@dataclass(frozen=True, slots=True)
class NearestCenterResponsibilities:
    """Responsibility 1 of the nearest center for each row."""

    space: Space
    centers: Array

    def native(self, batch: Batch[Points]) -> _native.Responsibilities:
        """Return the responsibilities of a batch for the kernel."""
        nearest = assign_nearest(batch, self.space, self.centers, consume_state=True)
        return _native.Responsibilities(labels=nearest.labels)


@dataclass(frozen=True, slots=True)
class RandomResponsibilities:
    """Normalized uniform random responsibilities, keyed by the global row."""

    key: DrawKey

    def native(self, batch: Batch[Points]) -> _native.Responsibilities:
        """Return the responsibilities of a batch for the kernel."""
        return _native.Responsibilities(key=self.key.native(batch.first_row))


@dataclass(frozen=True, slots=True)
class GivenResponsibilities:
    """Given responsibilities, one row of ``values`` for each row of the (single) batch."""

    values: Array

    def native(self, batch: Batch[Points]) -> _native.Responsibilities:
        """Return the responsibilities of a batch for the kernel."""
        kept = batch.rows.kept
        values = self.values if kept is None else self.values[kept]
        return _native.Responsibilities(values=np.ascontiguousarray(values))


Responsibilities = NearestCenterResponsibilities | RandomResponsibilities | GivenResponsibilities


@dataclass(frozen=True, slots=True)
class ExpectedMoments:
    """Log-likelihood, and each component's expected moments about a pivot.

    The pivots are the current means (or given ones), the same in every part, so that parts add up.
    About them second moments lose no digits as long as an iteration moves a mean by at most a
    hundred standard deviations; `loses_digits` detects a larger move. A missing value counts with
    its conditional mean and variance.

    References
    ----------
    Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
    JRSS B 39.
    Ghahramani & Jordan (1994), "Supervised learning from incomplete data via an EM approach",
    NIPS 6.
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
            None if responsibilities is None else responsibilities.native(batch),
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
        means: Array = self.pivots + shift
        return means

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
