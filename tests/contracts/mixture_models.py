"""What the statistics of a mixture are asked with: components among the rows, shares of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.seeding import Draw
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.imputation import Imputation
from ceiba.mixture.statistics import Drawn, NearestCentre
from ceiba.stats import Points, Space
from tests.contracts.row_kinds import POINTS, RowKind, points


def _holed(rows: Points) -> Points:
    """Every second value of some rows is missing, and all of the third row."""
    X = rows.X.copy()
    n, d = X.shape
    X[(np.arange(n)[:, None] + np.arange(d)) % 4 == 1] = np.nan
    X[2:3] = np.nan
    return Points(X, rows.weight)


HOLED: RowKind = RowKind(points().map(_holed), POINTS.size, POINTS.cut, POINTS.repeat, POINTS.ready)


def _parts(rows: Points, k: int = 3) -> tuple[Array, Array, Array]:
    d = rows.X.shape[1]
    rng = np.random.default_rng(10 * k + d)
    weights = rng.uniform(0.5, 1.0, size=k)
    roots = 20.0 * (np.eye(d) + 0.3 * rng.normal(size=(k, d, d)))
    return weights / weights.sum(), rng.normal(scale=50.0, size=(k, d)), roots


def full(rows: Points) -> tuple[Any, ...]:
    """Components with whole covariances."""
    weights, means, roots = _parts(rows)
    return (Gaussians.of(weights, means, roots @ roots.transpose(0, 2, 1)),)


def diagonal(rows: Points) -> tuple[Any, ...]:
    """Components with variances alone."""
    weights, means, roots = _parts(rows)
    return (Gaussians.of(weights, means, (roots**2).sum(axis=2)),)


def pivoted(rows: Points) -> tuple[Any, ...]:
    """Moments about other places than the means."""
    (model,) = full(rows)
    return model, model.means + 1.0


def labelled(rows: Points) -> tuple[Any, ...]:
    """Responsibilities from centres: each row is its nearest one's."""
    (model,) = full(rows)
    gaps = bool(np.isnan(rows.X).any())
    space = Space(np.zeros(rows.X.shape[1]), gaps)
    centres = np.random.default_rng(7).normal(scale=100.0, size=model.means.shape)
    return model, None, NearestCentre(space, centres)


def shared(rows: Points) -> tuple[Any, ...]:
    """Responsibilities that are drawn by row."""
    (model,) = diagonal(rows)
    return model, None, Drawn(Draw(7, 1, 0))


def scored(rows: Points) -> tuple[Any, ...]:
    """With the entropy of the posteriors."""
    return *full(rows), True


def worst(rows: Points) -> tuple[Any, ...]:
    """The four rows that are described worst."""
    return *diagonal(rows), 4


def members(rows: Points) -> tuple[Any, ...]:
    """The four rows that are most the first component's, and those most the second's."""
    return *full(rows), (0, 1), 4


def filled(rows: Points) -> tuple[Any, ...]:
    """Conditional means, and covariances with them."""
    return *full(rows), Imputation(None, True)


def drawn(rows: Points) -> tuple[Any, ...]:
    """Draws that are keyed by row."""
    return *diagonal(rows), Imputation(5)
