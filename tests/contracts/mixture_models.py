"""Models for the statistics of a mixture: components and responsibilities."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.lloyd import DrawKey
from ceiba.mixture.statistics import (
    Gaussians,
    nearest_responsibilities,
    random_responsibilities,
)
from ceiba.stats import Points, PointSpace
from tests.contracts.row_kinds import POINTS, RowKind, points


def _with_missing(rows: Points) -> Points:
    """Rows with missing values, the third without any value."""
    X = rows.X.copy()
    n, d = X.shape
    X[(np.arange(n)[:, None] + np.arange(d)) % 4 == 1] = np.nan
    X[2:3] = np.nan
    return Points(X, rows.weight)


WITH_MISSING: RowKind = RowKind(
    points().map(_with_missing), POINTS.size, POINTS.slice, POINTS.repeat, POINTS.ready
)


def _parts(rows: Points, k: int = 3) -> tuple[Array, Array, Array]:
    d = rows.X.shape[1]
    rng = np.random.default_rng(10 * k + d)
    weights = rng.uniform(0.5, 1.0, size=k)
    roots = 20.0 * (np.eye(d) + 0.3 * rng.normal(size=(k, d, d)))
    return weights / weights.sum(), rng.normal(scale=50.0, size=(k, d)), roots


def full(rows: Points) -> tuple[Any, ...]:
    """Components with full covariances."""
    weights, means, roots = _parts(rows)
    return (Gaussians.of(weights, means, roots @ roots.transpose(0, 2, 1)),)


def diagonal(rows: Points) -> tuple[Any, ...]:
    """Components with diagonal covariances."""
    weights, means, roots = _parts(rows)
    return (Gaussians.of(weights, means, (roots**2).sum(axis=2)),)


def pivoted(rows: Points) -> tuple[Any, ...]:
    """Pivots other than the means."""
    (model,) = full(rows)
    return model, model.means + 1.0


def nearest(rows: Points) -> tuple[Any, ...]:
    """Responsibilities of the nearest center."""
    (model,) = full(rows)
    space = PointSpace(np.zeros(rows.X.shape[1]), bool(np.isnan(rows.X).any()))
    centers = np.random.default_rng(7).normal(scale=100.0, size=model.means.shape)
    return model, None, partial(nearest_responsibilities, space=space, centers=centers)


def random(rows: Points) -> tuple[Any, ...]:
    """Random responsibilities."""
    (model,) = diagonal(rows)
    return model, None, partial(random_responsibilities, key=DrawKey(7, 1, 0))


def with_entropy(rows: Points) -> tuple[Any, ...]:
    """With the entropy of the posteriors."""
    return *full(rows), True


def lowest_density(rows: Points) -> tuple[Any, ...]:
    """The four rows of smallest density."""
    return *diagonal(rows), 4


def component_rows(rows: Points) -> tuple[Any, ...]:
    """The four rows of largest posterior of the first and of the second component."""
    return *full(rows), (0, 1), 4


def conditional_means(rows: Points) -> tuple[Any, ...]:
    """Conditional means with covariances."""
    return *full(rows), None, True


def conditional_draws(rows: Points) -> tuple[Any, ...]:
    """Draws keyed by row."""
    return *diagonal(rows), 5, False
