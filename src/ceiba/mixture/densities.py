"""Densities, posterior probabilities and labels of rows under Gaussian components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.cluster.statistics import TopRows
from ceiba.engine import AdditiveStatistic, Batch, Engine
from ceiba.mixture.statistics import Gaussians, MissingPatterns
from ceiba.stats.points import Points

# Rows whose responsibilities are held at a time, where only their sums are kept.
_BLOCK_ROWS = 16_384


def log_densities(batch: Batch[Points], model: Gaussians, **out: Any) -> Array:
    """Compute the log density of every row, and fill the arrays ``out``: posteriors or labels."""
    X = batch.rows.X
    density = np.empty(len(X))
    missing = MissingPatterns.of(batch, model.full)
    _native.mixture_posteriors(
        X,
        model.native(),
        missing.native(),
        log_density=density,
        **out,
        threads=batch.threads,
    )
    underflow = ~np.isfinite(density)
    if underflow.any():
        row = batch.rows.row_number(int(np.argmax(underflow)))
        raise ValueError(
            f"The density of row {row} underflows, it is too far from every component: correct its "
            "values or drop the row."
        )
    factors = batch.rows.log_factors
    return density if factors is None else density + ~np.isnan(X) @ factors


def posteriors(batch: Batch[Points], model: Gaussians) -> Array:
    """Compute the posterior probability of every component for every row."""
    out = np.empty((len(batch.rows.X), len(model.means)))
    log_densities(batch, model, posteriors=out)
    return out


def most_probable_components(batch: Batch[Points], model: Gaussians) -> Array:
    """Return the index of every row's most probable component; ties go to the first."""
    labels = np.empty(len(batch.rows.X), np.int32)
    log_densities(batch, model, labels=labels)
    return labels


def _blocks(batch: Batch[Points]) -> Iterator[Batch[Points]]:
    """Split a batch into blocks of rows; a batch without rows is one block."""
    points = batch.rows
    for first in range(0, max(len(points.X), 1), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        rows = replace(
            points,
            X=points.X[block],
            weight=None if points.weight is None else points.weight[block],
            kept=None if points.kept is None else points.kept[block],
        )
        # Where rows were dropped, ``kept`` has their numbers relative to the batch's first row.
        start = batch.first_row + (first if points.kept is None else 0)
        yield replace(batch, rows=rows, first_row=start, scratch={})


@dataclass(frozen=True, slots=True)
class LikelihoodSums(AdditiveStatistic):
    """Weight and log-likelihood of rows, and the entropy of their posteriors."""

    weight: float
    log_likelihood: float
    entropy: float

    @classmethod
    def of(cls, batch: Batch[Points], model: Gaussians, entropy: bool = False) -> LikelihoodSums:
        """Sum over the rows of a batch; the entropy only where requested."""
        parts = (_likelihood_sums(block, model, entropy) for block in _blocks(batch))
        weight, log_likelihood, total = (sum(numbers) for numbers in zip(*parts, strict=True))
        return cls(weight, log_likelihood, total)


def _likelihood_sums(
    batch: Batch[Points], model: Gaussians, entropy: bool
) -> tuple[float, float, float]:
    weight, n = batch.rows.weight, len(batch.rows.X)
    weight = np.ones(n) if weight is None else weight
    if not entropy:
        return float(weight.sum()), float(log_densities(batch, model) @ weight), 0.0
    probabilities = np.empty((n, len(model.means)))
    density = log_densities(batch, model, posteriors=probabilities)
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    total = -float((probabilities * logs).sum(axis=1) @ weight)
    return float(weight.sum()), float(density @ weight), total


def lowest_densities(batch: Batch[Points], model: Gaussians, m: int) -> TopRows:
    """Find the ``m`` rows of smallest density; values are minus their log densities."""
    return TopRows.of(batch, -log_densities(batch, model), m, batch.rows.kept)


@dataclass(frozen=True, slots=True)
class ComponentRows:
    """The rows of largest posterior probability for each of some components."""

    components: tuple[TopRows, ...]

    @classmethod
    def of(
        cls, batch: Batch[Points], model: Gaussians, components: tuple[int, ...], m: int
    ) -> ComponentRows:
        """Find the ``m`` rows of a batch with the largest posteriors of each component."""
        found = None
        for block in _blocks(batch):
            values, kept = posteriors(block, model), block.rows.kept
            here = cls(tuple(TopRows.of(block, values[:, c], m, kept) for c in components))
            found = here if found is None else found.merge(here)
        assert found is not None
        return found

    def merge(self, other: ComponentRows) -> ComponentRows:
        """Keep the rows of largest posteriors of both parts."""
        pairs = zip(self.components, other.components, strict=True)
        return ComponentRows(tuple(one.merge(two) for one, two in pairs))


@dataclass(frozen=True, slots=True)
class _RowCounts(AdditiveStatistic):
    """Rows per partition, rows of weight zero included."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch[Points]) -> _RowCounts:
        points = batch.rows
        return cls((len(points.X) if points.n_given is None else points.n_given,))


def number_input_rows(rows: Any, engine: Engine) -> Any:
    """Number rows as in the input, rows of weight zero included."""
    if engine.in_memory:
        return rows
    return rows.numbered(engine.reduce(rows, _RowCounts.of).counts)
