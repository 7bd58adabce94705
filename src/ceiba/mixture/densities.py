"""How many rows each part has, those of weight zero included: numbers that a user knows rows by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.linalg.lapack import dtrtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.stats.moments import Moments
from ceiba.stats.row_values import RowValues
from ceiba.stats.rows import Points


@dataclass(frozen=True, slots=True)
class RowGaps:
    """Whether a batch has gaps and, if asked for, its rows in the order of what they miss."""

    any: bool
    order: Array | None = None
    starts: Array | None = None

    @classmethod
    def of(cls, batch: Any, full: bool) -> RowGaps:
        """The gaps of a batch of points; ``full`` covariances need the order. Refuses infinity.

        They are kept beside the rows where the engine keeps such things.
        """
        known: RowGaps | None = batch.scratch.get("gaps")
        needs_order = full and batch.rows.X.shape[1] > 1
        if known is None or (needs_order and known.any and known.order is None):
            known = _find(batch, needs_order)
            batch.scratch["gaps"] = known
        return known if needs_order or not known.any else RowGaps(True)

    def arguments(self) -> dict[str, Any]:
        """What crosses to the native kernels."""
        return {"gaps": self.any, "order": self.order, "starts": self.starts}


def _find(batch: Any, needs_order: bool) -> RowGaps:
    X = batch.rows.X
    # One sum tells in most cases, without a mask of all rows: it is finite if every value is.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return RowGaps(False)
    if np.isinf(X).any():
        Moments.of(batch)  # says where
    if not np.isnan(X).any():
        return RowGaps(False)
    return RowGaps(True, *_native.gap_patterns(X)) if needs_order else RowGaps(True)


@dataclass(frozen=True, slots=True)
class Gaussians:
    """Weights, means and covariances of components, with the factors that densities are made of.

    Parameters
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d) or, where they are diagonal, (k, d)
    factors : ndarray of the covariances' shape
        Inverse of the lower Cholesky factor, or one over the standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> one = Gaussians.of(np.ones(1), np.zeros((1, 2)), np.array([[[4.0, 2.0], [2.0, 2.0]]]))
    >>> one.factors
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    """

    weights: Array
    means: Array
    covariances: Array
    factors: Array

    @classmethod
    def of(cls, weights: Array, means: Array, covariances: Array) -> Gaussians:
        """Components of these parameters; LinAlgError where a covariance is not one."""
        covariances = np.ascontiguousarray(covariances)
        if not np.isfinite(covariances).all():
            raise np.linalg.LinAlgError("a covariance is not finite")
        if covariances.ndim == 2:
            if not (covariances > 0).all():
                raise np.linalg.LinAlgError("a variance is not positive")
            return cls(weights, means, covariances, 1.0 / np.sqrt(covariances))
        factors = np.linalg.cholesky(covariances)
        for place, lower in enumerate(factors):
            # The transpose is LAPACK's own order: an upper triangle, inverted without a copy.
            factors[place] = dtrtri(lower.T, lower=0)[0].T
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
        sums: Array = -2.0 * np.log(diagonals).sum(axis=1)
        return sums

    def take(self, places: Any) -> Gaussians:
        """Some of the components, with their weights as they are."""
        return Gaussians(
            self.weights[places], self.means[places], self.covariances[places], self.factors[places]
        )

    def arrays(self) -> dict[str, Any]:
        """What crosses to the native kernels."""
        k = len(self.means)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return {
            "log_weights": log_weights,
            "means": np.ascontiguousarray(self.means),
            "covariances": np.ascontiguousarray(self.covariances.reshape(k, -1)),
            "factors": np.ascontiguousarray(self.factors.reshape(k, -1)),
        }


def _asked(batch: Any, model: Gaussians, **out: Any) -> Array:
    """Fill ``out`` for the rows of a batch; returns the log densities."""
    X = batch.rows.X
    density = np.empty(len(X))
    gaps = RowGaps.of(batch, model.full)
    _native.mixture_posteriors(
        X, **model.arrays(), **gaps.arguments(), log_density=density, **out, threads=batch.threads
    )
    far = ~np.isfinite(density)
    if far.any():
        row = batch.rows.row_number(int(np.argmax(far)))
        raise ValueError(
            f"row {row} lies so far from every component that its density cannot be told: correct "
            "or leave out its values"
        )
    return density


class LogDensities(RowValues):
    """Log density of every row under the mixture."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> Self:
        """Of the rows of a batch."""
        return cls((_asked(batch, model),))


class Posteriors(RowValues):
    """Posterior probability of every component for every row."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> Self:
        """Of the rows of a batch."""
        shares = np.empty((len(batch.rows.X), len(model.means)))
        _asked(batch, model, posteriors=shares)
        return cls((shares,))


class Likeliest(RowValues):
    """The likeliest component of every row; the first of equals."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> Self:
        """Of the rows of a batch."""
        labels = np.empty(len(batch.rows.X), np.int32)
        _asked(batch, model, labels=labels)
        return cls((labels,))


# Rows whose posteriors are looked at together, where only sums of them are kept.
_BLOCK = 16_384


def _blocks(batch: Any) -> Iterator[Any]:
    """A batch, some rows at a time; one without rows as it is."""
    points = batch.rows
    for first in range(0, max(len(points.X), 1), _BLOCK):
        here = slice(first, first + _BLOCK)
        rows = replace(
            points,
            X=points.X[here],
            weight=None if points.weight is None else points.weight[here],
            kept=None if points.kept is None else points.kept[here],
        )
        # Rows of which some were left out have numbers of their own, from the batch's first on.
        start = batch.first_row + (first if points.kept is None else 0)
        yield replace(batch, rows=rows, first_row=start, scratch={})


def _fit_of(batch: Any, model: Gaussians, entropy: bool) -> tuple[float, float, float]:
    weight, n = batch.rows.weight, len(batch.rows.X)
    weight = np.ones(n) if weight is None else weight
    if not entropy:
        return float(weight.sum()), float(_asked(batch, model) @ weight), 0.0
    shares = np.empty((n, len(model.means)))
    density = _asked(batch, model, posteriors=shares)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    uncertain = -float((shares * logs).sum(axis=1) @ weight)
    return float(weight.sum()), float(density @ weight), uncertain


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a mixture describes rows: weight, log-likelihood, entropy of the posteriors."""

    weight: float
    log_likelihood: float
    entropy: float

    @classmethod
    def of(cls, batch: Any, model: Gaussians, entropy: bool = False) -> Fit:
        """Of the rows of a batch; the entropy is only taken if it is asked for."""
        parts = (_fit_of(block, model, entropy) for block in _blocks(batch))
        weight, log_likelihood, uncertain = (sum(numbers) for numbers in zip(*parts, strict=True))
        return cls(weight, log_likelihood, uncertain)

    def merge(self, other: Fit) -> Fit:
        """Of both parts."""
        return Fit(
            self.weight + other.weight,
            self.log_likelihood + other.log_likelihood,
            self.entropy + other.entropy,
        )


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ``m`` rows with the largest values of something, ordered by value, then by row."""

    values: Array
    rows: Array
    points: Array
    m: int

    @classmethod
    def least_likely(cls, batch: Any, model: Gaussians, m: int) -> Extremes:
        """The rows that the mixture describes worst; values are minus their log densities."""
        return cls._of(batch, -_asked(batch, model), m)

    @classmethod
    def _of(cls, batch: Any, values: Array, m: int) -> Extremes:
        order = np.lexsort((np.arange(len(values)), -values))[:m]
        # Where some rows were left out, numbers are those among all.
        kept = batch.rows.kept
        rows = (order if kept is None else kept[order]) + batch.first_row
        return cls(values[order], rows, batch.rows.X[order].astype(np.float64), m)

    def merge(self, other: Extremes) -> Extremes:
        """The largest of both parts."""
        values = np.concatenate([self.values, other.values])
        rows = np.concatenate([self.rows, other.rows])
        order = np.lexsort((rows, -values))[: self.m]
        points = np.concatenate([self.points, other.points])[order]
        return Extremes(values[order], rows[order], points, self.m)


@dataclass(frozen=True, slots=True)
class Members:
    """The rows that belong most to each of some components; values are their posteriors."""

    each: tuple[Extremes, ...]

    @classmethod
    def of(cls, batch: Any, model: Gaussians, components: tuple[int, ...], m: int) -> Members:
        """The ``m`` rows of a batch that belong most to each component."""
        found = None
        for block in _blocks(batch):
            shares = np.empty((len(block.rows.X), len(model.means)))
            _asked(block, model, posteriors=shares)
            here = cls(tuple(Extremes._of(block, shares[:, c], m) for c in components))
            found = here if found is None else found.merge(here)
        assert found is not None
        return found

    def merge(self, other: Members) -> Members:
        """Of both parts."""
        return Members(tuple(a.merge(b) for a, b in zip(self.each, other.each, strict=True)))


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of each part in order."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, batch: Any) -> RowCounts:
        """Of a batch of points."""
        points: Points = batch.rows
        return cls((len(points.X) if points.n_given is None else points.n_given,))

    def merge(self, other: RowCounts) -> RowCounts:
        """Of both parts."""
        return RowCounts(self.counts + other.counts)


def numbered_as_given(rows: Any, engine: Any) -> Any:
    """The rows with the numbers that they have among all rows, those of weight zero included."""
    return (
        rows if engine.name == "local" else rows.numbered(engine.reduce(rows, RowCounts.of).counts)
    )
