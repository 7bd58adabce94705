"""What a mixture says of each row, as statistics: their merge puts rows one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ceiba import _native
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array
from ceiba.stats.row_gaps import RowGaps
from ceiba.stats.row_values import RowValues


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
