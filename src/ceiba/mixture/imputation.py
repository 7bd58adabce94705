"""What a mixture expects of the missing values of each row, given the observed ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.mixture.densities import Gaussians, Posteriors
from ceiba.stats.row_values import joined


@dataclass(frozen=True, slots=True)
class Imputation:
    """What is wanted: means, or draws keyed by ``seed`` and row; covariances as well or not."""

    seed: int | None = None
    covariances: bool = False


@dataclass(frozen=True, slots=True)
class Imputed:
    """Rows with their gaps filled and, if they were asked for, the covariances of the filled.

    Rows are handled pattern by pattern: those that miss the same columns share their matrices.
    """

    parts: tuple[Array, ...]
    covariance_parts: tuple[Array, ...] = ()

    @classmethod
    def of(cls, batch: Any, model: Gaussians, wish: Imputation) -> Imputed:
        """Fill the gaps of a batch's rows."""
        X = batch.rows.X
        filled = X.astype(np.float64)
        n, d = X.shape
        covariances = np.zeros((n, d, d)) if wish.covariances else None
        if np.isnan(filled).any():
            shares = Posteriors.of(batch, model).values
            draws = None if wish.seed is None else _Draws(wish.seed, batch.first_row, n)
            order, starts = _native.gap_patterns(X)
            for begin, end in pairwise(starts):
                rows = order[begin:end]
                missing = np.isnan(filled[rows[0]])
                if missing.any():
                    _fill(filled, rows, missing, shares[rows], model, draws, covariances)
        return cls((filled,), () if covariances is None else (covariances,))

    def merge(self, other: Imputed) -> Imputed:
        """Both parts, in order."""
        covariances = self.covariance_parts + other.covariance_parts
        return Imputed(self.parts + other.parts, covariances)

    @property
    def values(self) -> Array:
        """All rows, in order."""
        return joined(self.parts)

    @property
    def covariances(self) -> Array:
        """Conditional covariances of all rows, in order."""
        return joined(self.covariance_parts)


def _fill(
    filled: Array,
    rows: Array,
    missing: Array,
    shares: Array,
    model: Gaussians,
    draws: _Draws | None,
    covariances: Array | None,
) -> None:
    """The rows of one pattern."""
    X = filled[rows][:, ~missing]
    each = [_conditional(model, c, missing, X) for c in range(len(model.means))]
    means = np.stack([mean for mean, _ in each], axis=1)  # (rows, k, missing)
    spreads = np.stack([spread for _, spread in each])  # (k, missing, missing)
    mean = np.einsum("rk,rkm->rm", shares, means)
    if draws is not None:
        drawn = draws.values(means, spreads, shares, rows, np.flatnonzero(missing))
    filled[np.ix_(rows, missing)] = mean if draws is None else drawn
    if covariances is not None:
        away = means - mean[:, None, :]
        own = np.einsum("rk,kab->rab", shares, spreads)
        own += np.einsum("rk,rka,rkb->rab", shares, away, away)
        places = np.flatnonzero(missing)
        covariances[rows[:, None, None], places[:, None], places] = own


@dataclass(frozen=True, slots=True)
class _Draws:
    """Uniform numbers of a batch's rows, keyed by (seed, row, column), never by part.

    Stream 0 is for the component, stream 1 + j for column j.
    """

    seed: int
    first_row: int
    n_rows: int
    known: dict[int, Array] = field(default_factory=dict)

    def stream(self, number: int) -> Array:
        """A number for each row."""
        if number not in self.known:
            self.known[number] = np.empty(self.n_rows)
            _native.uniforms(self.seed, number, self.first_row, self.known[number])
        return self.known[number]

    def values(
        self, means: Array, spreads: Array, shares: Array, rows: Array, gaps: Array
    ) -> Array:
        """A component of each row, by its posteriors, and a draw from what that one expects."""
        edges = np.cumsum(shares, axis=1)
        chosen = (self.stream(0)[rows, None] * edges[:, -1:] > edges).sum(axis=1)
        chosen = np.minimum(chosen, shares.shape[1] - 1)
        normal = np.column_stack([ndtri(self.stream(1 + int(j))[rows]) for j in gaps])
        roots = np.stack([_root(spread) for spread in spreads])
        noise = np.einsum("rab,rb->ra", roots[chosen], normal)
        drawn: Array = means[np.arange(len(rows)), chosen] + noise
        return drawn


def _conditional(model: Gaussians, c: int, missing: Array, X: Array) -> tuple[Array, Array]:
    """Mean of the missing columns for each row of observed ones, and their covariance."""
    mean, covariance = model.means[c], model.covariances[c]
    if not model.full:
        return np.broadcast_to(mean[missing], (len(X), int(missing.sum()))), np.diag(
            covariance[missing]
        )
    seen = covariance[np.ix_(~missing, ~missing)]
    cross = covariance[np.ix_(missing, ~missing)]
    slopes = np.linalg.solve(seen, cross.T).T if seen.size else cross
    spread = covariance[np.ix_(missing, missing)] - slopes @ cross.T
    return mean[missing] + (X - mean[~missing]) @ slopes.T, 0.5 * (spread + spread.T)


def _root(covariance: Array) -> Array:
    """A root R with R R' = covariance, for one that may have no extent in some direction."""
    values, vectors = np.linalg.eigh(covariance)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
