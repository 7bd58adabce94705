"""Weighted mean and scatter of every component's rows: what the M step of a mixture needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.cluster.seeding import Draw
from ceiba.cluster.statistics import nearest
from ceiba.mixture.densities import Gaussians, RowGaps
from ceiba.stats.rows import Space


@dataclass(frozen=True, slots=True)
class ComponentMoments:
    """For each component the weight of its rows, their mean, and their scatter about it.

    Parameters
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    scatters : ndarray of shape (k, d, d) or, for diagonal covariances, (k, d)
        Centred sums of products, or of squares.
    """

    weights: Array
    means: Array
    scatters: Array

    def scaled(self, factor: float) -> ComponentMoments:
        """As if every row weighed ``factor`` times as much."""
        return ComponentMoments(factor * self.weights, self.means, factor * self.scatters)

    def merge(self, other: ComponentMoments) -> ComponentMoments:
        """Moments of both parts' rows, centred (Chan, Golub & LeVeque 1983)."""
        weights = self.weights + other.weights
        share = np.divide(other.weights, weights, out=np.zeros_like(weights), where=weights > 0)
        shift = other.means - self.means
        return ComponentMoments(
            weights,
            self.means + share[:, None] * shift,
            self.scatters + other.scatters + products(self.weights * share, shift, self.scatters),
        )

    def take(self, places: Any) -> ComponentMoments:
        """Some of the components."""
        return ComponentMoments(self.weights[places], self.means[places], self.scatters[places])

    def suits(self, k: int, d: int, full: bool) -> bool:
        """Whether these are finite moments of ``k`` components of ``d`` columns."""
        shapes = ((k,), (k, d), (k, d, d) if full else (k, d))
        arrays = (self.weights, self.means, self.scatters)
        return all(
            isinstance(array, np.ndarray) and array.shape == shape and np.isfinite(array).all()
            for array, shape in zip(arrays, shapes, strict=True)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {"weights": self.weights, "means": self.means, "scatters": self.scatters}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ComponentMoments:
        """The moments that `to_json` wrote."""
        return cls(record["weights"], record["means"], record["scatters"])


def products(weights: Array, shifts: Array, like: Array) -> Array:
    """``weight × shift shift'`` of each component, or its diagonal, in the shape of ``like``."""
    if like.ndim == 2:
        squares: Array = weights[:, None] * shifts**2
        return squares
    outer: Array = (weights[:, None] * shifts)[:, :, None] * shifts[:, None, :]
    return outer


@dataclass(frozen=True, slots=True)
class NearestCentre:
    """Each row belongs wholly to its nearest centre."""

    space: Space
    centres: Array

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        return {"labels": nearest(batch, self.space, self.centres, last=True).labels}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Shares are uniform numbers, brought to a sum of one; keyed by the global row."""

    draw: Draw

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        return {"draw": (self.draw.seed, self.draw.stream, batch.first_row)}


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares that somebody gives, a row of ``values`` for each row of the (one) batch."""

    values: Array

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        kept = batch.rows.kept
        values = self.values if kept is None else self.values[kept]
        return {"shares": np.ascontiguousarray(values)}


Responsibility = NearestCentre | Drawn | Shares


# Of a sum of squares about the pivot, this share must be about the mean: less of it would be
# rounding. 1e-4 leaves 11 of double's 15 digits.
_ENOUGH = 1e-4
# Rounding, of 1e-16 of the squares, is then less than a millionth of the least variance.
_HARMLESS = 1e-10


@dataclass(frozen=True, slots=True)
class MixtureSums:
    """Log-likelihood, and each component's responsibilities and moments about a pivot.

    The pivots are the current means (or what is given for them), the same in every part, so that
    parts add up. About them second moments lose no digits as long as a step moves a mean by no more
    than a hundred standard deviations; `lossy` tells when it did. A missing value counts with its
    conditional mean and variance.

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
        batch: Any,
        model: Gaussians,
        pivots: Array | None = None,
        given: Responsibility | None = None,
    ) -> MixtureSums:
        """The E step for a batch of points; with ``given`` responsibilities no density is taken.

        The model then only says what to expect of missing values.
        """
        k, d = model.shape
        arrays = model.arrays()
        pivots = arrays["means"] if pivots is None else np.ascontiguousarray(pivots)
        weights, first = np.empty(k), np.empty((k, d))
        second = np.empty_like(arrays["covariances"])
        more = RowGaps.of(batch, model.full).arguments()
        if given is not None:
            more |= given.arguments(batch)
        log_likelihood = _native.mixture_moments(
            batch.rows.X,
            batch.rows.weight,
            **arrays,
            pivots=pivots,
            weights=weights,
            first=first,
            second=second,
            **more,
            threads=batch.threads,
        )
        shape = model.covariances.shape
        return cls(log_likelihood, weights, first, second.reshape(shape), pivots)

    def merge(self, other: MixtureSums) -> MixtureSums:
        """Sums over both parts' rows."""
        return MixtureSums(
            self.log_likelihood + other.log_likelihood,
            self.weights + other.weights,
            self.first + other.first,
            self.second + other.second,
            self.pivots,
        )

    @classmethod
    def stacked(cls, groups: Sequence[MixtureSums]) -> MixtureSums:
        """The components of several groups of rows, one after the other."""
        if len(groups) == 1:
            return groups[0]
        joined = (
            np.concatenate([getattr(group, name) for group in groups])
            for name in ("weights", "first", "second", "pivots")
        )
        return cls(sum(group.log_likelihood for group in groups), *joined)

    @property
    def means(self) -> Array:
        """Mean of each component's rows; the pivot where it has none."""
        weights = self.weights[:, None]
        shift = np.divide(self.first, weights, out=np.zeros_like(self.first), where=weights > 0)
        means: Array = self.pivots + shift
        return means

    def centred(self) -> ComponentMoments:
        """The same moments about the components' own means."""
        means = self.means
        scatters = products(self.weights, means - self.pivots, self.second)
        np.subtract(self.second, scatters, out=scatters)
        variances = _diagonals(scatters)
        if (variances < 0).any():  # rounding of a sum that is zero
            np.maximum(variances, 0.0, out=variances)
        return ComponentMoments(self.weights, means, scatters)

    def lossy(self, least: Array) -> bool:
        """Whether a mean lies so far from its pivot that its scatter would be mostly rounding.

        Rounding far below ``least``, the variances of (d,) columns that count as none, is no loss.
        """
        weights, squares = self.weights[:, None], _diagonals(self.second)
        with np.errstate(over="ignore"):
            # Squares about the mean are squares - first² / weight: too small a share of them.
            far = ~(self.first * self.first <= (1.0 - _ENOUGH) * weights * squares)
            lost = far & ~(_HARMLESS * squares < weights * least)
        return bool(lost.any()) or not np.isfinite(squares).all()


def _diagonals(scatters: Array) -> Array:
    """A writable view of the diagonals, (k, d)."""
    if scatters.ndim == 2:
        return scatters
    k, d, _ = scatters.shape
    return scatters.reshape(k, d * d)[:, :: d + 1]
