"""Lloyd's algorithm on any engine: assign, average, until the centers stop moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Iterations
from ceiba.cluster.statistics import CenterSums, FarthestPoints
from ceiba.engine import Engine
from ceiba.stats import Space


@dataclass(frozen=True, slots=True)
class LloydResult:
    """Result of one run of Lloyd's algorithm.

    ``weights`` are those of the last iteration, (k, 1), or (k, d) with missing values.
    """

    centers: Array
    weights: Array
    n_iter: int
    converged: bool
    n_relocations: int


def lloyd(
    rows: Any,
    engine: Engine,
    space: Space,
    centers: Array,
    iterations: Iterations,
    tol: float,
    fitted: Callable[[Array], dict[str, Any]],
) -> LloydResult:
    """Move the centers to the means of their points until they move no more than ``tol``.

    ``tol`` bounds the sum of the squared movements of one iteration; ``fitted`` makes the fitted
    attributes from centers, for callbacks that need the model of an iteration.

    References
    ----------
    Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    """
    previous, converged, n_relocations = None, False, 0
    traced = iterations.trace is not None
    for iteration in iterations:
        # An engine without row state needs the previous centers to count the moved rows.
        before = previous if traced else None
        sums = engine.reduce(rows, CenterSums.of, space, centers, before, traced)
        _record(iteration.record, centers, sums, traced)
        if not sums.counts.all():
            sums, n_relocated = relocate_empty_clusters(sums, rows, engine, space, centers)
            n_relocations += n_relocated
        previous, centers = centers, sums.solve(space, centers)
        iteration.report_attributes(partial(fitted, centers))
        shift = centers - previous
        converged = bool(np.vdot(shift, shift) <= tol)
        if converged:
            break
    if traced and shift.any():
        last = engine.reduce(rows, CenterSums.of, space, centers, previous, True)
        _record(iterations.end, centers, last, traced)
    return LloydResult(centers, sums.weights, iterations.count, converged, n_relocations)


def _record(record: Callable[..., None], centers: Array, sums: CenterSums, traced: bool) -> None:
    if not traced:
        record(moved=sums.moved)
        return
    record(centers=centers, counts=sums.counts, inertia=sums.inertia, moved=sums.moved)


def relocate_empty_clusters(
    sums: CenterSums, rows: Any, engine: Engine, space: Space, centers: Array
) -> tuple[CenterSums, int]:
    """Move the points farthest from their centers into the empty clusters.

    Also return how many received a point: none where every point lies on its center.
    """
    empty = np.flatnonzero(sums.counts == 0)
    if not len(empty):
        return sums, 0
    far = engine.reduce(rows, FarthestPoints.of, space, centers, len(empty) + len(centers))
    relocated = replace(
        sums, sums=sums.sums.copy(), weights=sums.weights.copy(), counts=sums.counts.copy()
    )
    remaining = list(empty[::-1])
    for index in range(len(far.rows)):
        # The only point of a cluster stays: moving it would empty another one.
        if remaining and far.squared[index] > 0 and relocated.counts[far.labels[index]] > 1:
            _move_point(relocated, far, index, remaining.pop(), space)
    return relocated, len(empty) - len(remaining)


def _move_point(
    sums: CenterSums, far: FarthestPoints, index: int, cluster: int, space: Space
) -> None:
    """Move a far point from its cluster into an empty one."""
    point, own = far.points[index], far.labels[index]
    observed = ~np.isnan(point)
    weight = far.weights[index] * (observed if sums.weights.shape[1] > 1 else np.ones(1))
    weighted = far.weights[index] * np.where(observed, point - space.offset, 0.0)
    sums.sums[cluster], sums.weights[cluster], sums.counts[cluster] = weighted, weight, 1
    left = sums.weights[own] - weight
    # A column that only this point had keeps nothing but rounding error: set it to zero.
    kept = left > 1e-12 * sums.weights[own]
    sums.weights[own] = np.where(kept, left, 0.0)
    sums.sums[own] = np.where(kept, sums.sums[own] - weighted, 0.0)
    sums.counts[own] -= 1
