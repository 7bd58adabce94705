"""What a mixture says of each row, as statistics: their merge puts rows one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.stats.assignment import joined
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array
from ceiba.stats.row_gaps import RowGaps


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


@dataclass(frozen=True, slots=True)
class LogDensities:
    """Log density of every row under the mixture."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> LogDensities:
        """Of the rows of a batch."""
        return cls((_asked(batch, model),))

    def merge(self, other: LogDensities) -> LogDensities:
        """Both parts, in order."""
        return LogDensities(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """Log densities of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True)
class Posteriors:
    """Posterior probability of every component for every row."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> Posteriors:
        """Of the rows of a batch."""
        shares = np.empty((len(batch.rows.X), len(model.means)))
        _asked(batch, model, posteriors=shares)
        return cls((shares,))

    def merge(self, other: Posteriors) -> Posteriors:
        """Both parts, in order."""
        return Posteriors(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """Posteriors of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True)
class Likeliest:
    """The likeliest component of every row; the first of equals."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, model: Gaussians) -> Likeliest:
        """Of the rows of a batch."""
        labels = np.empty(len(batch.rows.X), np.int32)
        _asked(batch, model, labels=labels)
        return cls((labels,))

    def merge(self, other: Likeliest) -> Likeliest:
        """Both parts, in order."""
        return Likeliest(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """Labels of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a mixture describes rows: weight, log-likelihood, entropy of the posteriors."""

    weight: float
    log_likelihood: float
    entropy: float

    @classmethod
    def of(cls, batch: Any, model: Gaussians, entropy: bool = False) -> Fit:
        """Of the rows of a batch; the entropy is only taken if it is asked for."""
        weight = batch.rows.weight
        uncertain = 0.0
        if entropy:
            shares = np.empty((len(batch.rows.X), len(model.means)))
            density = _asked(batch, model, posteriors=shares)
            logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
            own = -(shares * logs).sum(axis=1)
            uncertain = float(own.sum() if weight is None else own @ weight)
        else:
            density = _asked(batch, model)
        if weight is None:
            return cls(float(len(density)), float(density.sum()), uncertain)
        return cls(float(weight.sum()), float(density @ weight), uncertain)

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
    def members(cls, batch: Any, model: Gaussians, component: int, m: int) -> Extremes:
        """The rows that belong most to one component; values are its posteriors."""
        shares = np.empty((len(batch.rows.X), len(model.means)))
        _asked(batch, model, posteriors=shares)
        return cls._of(batch, shares[:, component], m)

    @classmethod
    def _of(cls, batch: Any, values: Array, m: int) -> Extremes:
        order = np.lexsort((np.arange(len(values)), -values))[:m]
        # Row numbers are those of the rows that were given, where some weigh nothing.
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
