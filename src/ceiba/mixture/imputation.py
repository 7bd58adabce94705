"""Conditional expectation of missing values under a mixture, given the observed ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine import Batch
from ceiba.mixture.densities import posteriors
from ceiba.mixture.statistics import Gaussians
from ceiba.stats.points import Points
from ceiba.stats.scaling import PointScaling


def impute_in_units(
    batch: Batch[Points],
    model: Gaussians,
    seed: int | None,
    return_cov: bool,
    scaling: PointScaling | None,
) -> tuple[Array, ...]:
    """Fill the missing values of rows in their own units, under a model in those of its fit."""
    if scaling is None:
        return impute(batch, model, seed, return_cov)
    X = batch.rows.X
    converted = replace(batch.rows, X=np.ascontiguousarray(scaling.to_units(X)))
    filled, *covariances = impute(
        replace(batch, rows=converted, scratch={}), model, seed, return_cov
    )
    own = np.where(np.isnan(X), scaling.from_units(filled), X)
    return own, *(scaling.covariances_from_units(matrices) for matrices in covariances)


def impute(
    batch: Batch[Points], model: Gaussians, seed: int | None, return_cov: bool
) -> tuple[Array, ...]:
    """Fill the missing values of a batch, for `Engine.predict`.

    Rows that miss the same columns are filled together: they share their matrices. ``seed`` keys
    the draws, together with the row; None fills in conditional means. ``return_cov`` adds the
    conditional covariances, (n, d, d), to the result.
    """
    X = batch.rows.X
    filled = X.astype(np.float64)
    n, d = X.shape
    covariances = np.zeros((n, d, d)) if return_cov else None
    if np.isnan(filled).any():
        probabilities = posteriors(batch, model)
        draws = None if seed is None else _Draws(seed, batch.first_row, n)
        order, starts = _native.missing_patterns(X)
        for begin, end in pairwise(starts):
            rows = order[begin:end]
            missing = np.isnan(filled[rows[0]])
            if missing.any():
                _fill(filled, rows, missing, probabilities[rows], model, draws, covariances)
    return (filled,) if covariances is None else (filled, covariances)


def _fill(
    filled: Array,
    rows: Array,
    missing: Array,
    probabilities: Array,
    model: Gaussians,
    draws: _Draws | None,
    covariances: Array | None,
) -> None:
    """Fill the rows of one pattern of missing values."""
    X = filled[rows][:, ~missing]
    conditionals = [_conditional(model, c, missing, X) for c in range(len(model.means))]
    means = np.stack([mean for mean, _ in conditionals], axis=1)  # (rows, k, missing)
    own = np.stack([covariance for _, covariance in conditionals])  # (k, missing, missing)
    mean = np.einsum("rk,rkm->rm", probabilities, means)
    columns = np.flatnonzero(missing)
    if draws is None:
        filled[np.ix_(rows, missing)] = mean
    else:
        filled[np.ix_(rows, missing)] = draws.values(means, own, probabilities, rows, columns)
    if covariances is not None:
        shift = means - mean[:, None, :]
        total = np.einsum("rk,kab->rab", probabilities, own)
        total += np.einsum("rk,rka,rkb->rab", probabilities, shift, shift)
        covariances[rows[:, None, None], columns[:, None], columns] = total


@dataclass(frozen=True, slots=True)
class _Draws:
    """Uniform numbers of a batch's rows, keyed by (seed, row, column), never by partition.

    Stream 0 is for the component, stream 1 + j for column j.
    """

    seed: int
    first_row: int
    n_rows: int
    streams: dict[int, Array] = field(default_factory=dict)

    def stream(self, number: int) -> Array:
        """Return one uniform number per row."""
        if number not in self.streams:
            self.streams[number] = np.empty(self.n_rows)
            _native.uniforms(self.seed, number, self.first_row, self.streams[number])
        return self.streams[number]

    def values(
        self, means: Array, covariances: Array, probabilities: Array, rows: Array, columns: Array
    ) -> Array:
        """Draw a component of each row by its posteriors, then values from that component."""
        edges = np.cumsum(probabilities, axis=1)
        chosen = (self.stream(0)[rows, None] * edges[:, -1:] > edges).sum(axis=1)
        chosen = np.minimum(chosen, probabilities.shape[1] - 1)
        normal = np.column_stack([ndtri(self.stream(1 + int(j))[rows]) for j in columns])
        roots = np.stack([_root(covariance) for covariance in covariances])
        noise = np.einsum("rab,rb->ra", roots[chosen], normal)
        return np.asarray(means[np.arange(len(rows)), chosen] + noise)


def _conditional(model: Gaussians, c: int, missing: Array, X: Array) -> tuple[Array, Array]:
    """Compute means (per row) and covariance of the missing columns, given the observed ``X``."""
    mean, covariance = model.means[c], model.covariances[c]
    if not model.full:
        means = np.broadcast_to(mean[missing], (len(X), int(missing.sum())))
        return means, np.diag(covariance[missing])
    observed = covariance[np.ix_(~missing, ~missing)]
    cross = covariance[np.ix_(missing, ~missing)]
    slopes = np.linalg.solve(observed, cross.T).T if observed.size else cross
    conditional = covariance[np.ix_(missing, missing)] - slopes @ cross.T
    means = mean[missing] + (X - mean[~missing]) @ slopes.T
    return means, 0.5 * (conditional + conditional.T)


def _root(covariance: Array) -> Array:
    """Compute R with R R' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
