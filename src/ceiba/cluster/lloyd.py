"""k-means on any engine: initial centers by k-means++ or random rows, and Lloyd's algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import log
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import Iterations
from ceiba.cluster.statistics import CenterSums, TopRows, farthest_points, native_points
from ceiba.engine import Batch, Engine
from ceiba.stats.points import Points, PointSpace
from ceiba.stats.scaling import PointScaling, distance_from_units


def kmeans_plusplus(
    rows: Any, engine: Engine, space: PointSpace, k: int, seed: int, run: int
) -> Array:
    """Choose centers by greedy k-means++.

    Of a few candidates drawn by D², the one that leaves the smallest potential becomes a center.
    One reduction per center computes the potential of every candidate and, for each of them, the
    rows that would be drawn next.

    References
    ----------
    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    """
    d = len(space.offset)
    n_trials = 2 + int(log(k))
    centers = np.empty((0, d))
    candidates = random_rows(rows, engine, space, 1, seed, run)
    while len(centers) < k:
        if len(centers) == k - 1 and len(candidates) == 1:
            return np.vstack([centers, candidates])
        key = DrawKey(seed, run, len(centers) + 1)
        draw = engine.reduce(rows, CandidateDraw.of, space, centers, candidates, n_trials, key)
        best = int(np.argmin(draw.potential))
        centers = np.vstack([centers, candidates[best : best + 1]])
        candidates = draw.next_candidates(best)
        if not len(candidates):
            # Every row lies on a center: the remaining centers can only repeat rows.
            return np.vstack([centers, random_rows(rows, engine, space, k, seed, run)])[:k]
    return centers


def random_rows(rows: Any, engine: Engine, space: PointSpace, k: int, seed: int, run: int) -> Array:
    """Draw ``k`` different rows, with probabilities proportional to their weights."""
    none = np.empty((0, len(space.offset)))
    draw = engine.reduce(rows, CandidateDraw.of, space, none, none, k, DrawKey(seed, run, 0))
    return draw.next_candidates(0)


@dataclass(frozen=True, slots=True)
class DrawKey:
    """Key of one random draw per row: never a partition or a thread."""

    seed: int
    run: int
    step: int

    @property
    def stream(self) -> int:
        """Run and step as one number."""
        return self.run << 32 | self.step

    def native(self, first_row: int) -> _native.DrawKey:
        """Return the key of the draws of a batch."""
        return _native.DrawKey(self.seed, self.stream, first_row)


@dataclass(frozen=True, slots=True)
class CandidateDraw:
    """Potential of each candidate center, and the rows drawn next if it were chosen.

    A row is drawn with probability proportional to weight × squared distance to the centers: every
    row gets an exponential random number of that rate as its key, and the rows with the smallest
    keys are the next candidates.

    References
    ----------
    Efraimidis & Spirakis (2006), "Weighted random sampling with a reservoir", IPL 97.
    """

    potential: Array  # shape (n_candidates,)
    # Shape (n_candidates, n_drawn): ascending; infinity where fewer rows could be drawn.
    keys: Array
    # Shape (n_candidates, n_drawn): global row numbers; -1 where fewer rows could be drawn.
    rows: Array
    # Coordinates, (n_candidates, n_drawn, d), with the mean in place of missing values.
    points: Array

    @classmethod
    def of(
        cls,
        batch: Batch[Points],
        space: PointSpace,
        centers: Array,
        candidates: Array,
        n_drawn: int,
        key: DrawKey,
    ) -> CandidateDraw:
        """Draw from the rows of a batch; without centers and candidates by weight alone."""
        X = batch.rows.X
        nearest, n_cached = _distance_cache(batch, centers)
        lists = max(len(candidates), 1)
        potential, keys = np.empty(lists), np.empty((lists, n_drawn))
        rows = np.empty((lists, n_drawn), np.int64)
        _native.next_candidates(
            native_points(batch, space),
            centers,
            candidates,
            key.native(batch.first_row),
            nearest,
            n_cached,
            _native.CandidateDraws(potential, keys, rows),
            batch.threads,
        )
        if len(X):
            points = X[np.where(rows < 0, 0, rows - batch.first_row)].astype(np.float64)
        else:
            points = np.zeros((*rows.shape, X.shape[1]))
        return cls(potential, keys, rows, np.where(np.isnan(points), space.offset, points))

    def merge(self, other: CandidateDraw) -> CandidateDraw:
        """Add the potentials and keep the smallest keys of both parts."""
        keys = np.concatenate([self.keys, other.keys], axis=1)
        rows = np.concatenate([self.rows, other.rows], axis=1)
        points = np.concatenate([self.points, other.points], axis=1)
        first = np.lexsort((rows, keys), axis=1)[:, : self.keys.shape[1]]
        return CandidateDraw(
            self.potential + other.potential,
            np.take_along_axis(keys, first, 1),
            np.take_along_axis(rows, first, 1),
            np.take_along_axis(points, first[:, :, None], 1),
        )

    def next_candidates(self, candidate: int) -> Array:
        """Return the coordinates of the rows drawn after ``candidate``."""
        return np.asarray(self.points[candidate][np.isfinite(self.keys[candidate])])


def _distance_cache(batch: Batch[Points], centers: Array) -> tuple[Array | None, int]:
    """Return squared distances to the nearest center, and how many centers they cover."""
    if not batch.keeps_scratch:
        return None, 0
    known, nearest = batch.scratch.get("kmeans++", (None, None))
    if nearest is None:
        nearest = np.empty(len(batch.rows.X), batch.rows.X.dtype)
    n_cached = 0 if known is None or len(known) > len(centers) else len(known)
    if n_cached and not np.array_equal(known, centers[:n_cached]):
        n_cached = 0
    batch.scratch["kmeans++"] = (centers, nearest)
    return nearest, n_cached


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
    space: PointSpace,
    centers: Array,
    iterations: Iterations,
    tol: float,
    fitted: Callable[[Array], dict[str, Any]],
    scaling: PointScaling | None = None,
) -> LloydResult:
    """Move the centers to the means of their points until they move no more than ``tol``.

    ``tol`` bounds the sum of the squared movements of one iteration; ``fitted`` makes the fitted
    attributes from centers, for callbacks that need the model of an iteration; a trace records the
    centers in the columns' own units, which are not those of a ``scaling``.

    References
    ----------
    Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    """
    previous, converged, n_relocations = None, False, 0
    traced = iterations.trace is not None
    for iteration in iterations:
        # An engine without row state needs the previous centers to count the moved rows.
        before = previous if traced else None
        assigned = engine.reduce(rows, CenterSums.of, space, centers, before, traced)
        sums, n_relocated = relocate_empty_clusters(assigned, rows, engine, space, centers)
        n_relocations += n_relocated
        previous, centers = centers, sums.solve(space, centers)
        iteration.record(**_frame(assigned, previous, traced, scaling))
        iteration.report_attributes(partial(fitted, centers))
        shift = centers - previous
        converged = bool(np.vdot(shift, shift) <= tol)
        if converged:
            break
    if traced and shift.any():
        last = engine.reduce(rows, CenterSums.of, space, centers, previous, True)
        iterations.end(**_frame(last, centers, traced, scaling))
    return LloydResult(centers, sums.weights, iterations.count, converged, n_relocations)


def _frame(
    sums: CenterSums, centers: Array, traced: bool, scaling: PointScaling | None
) -> dict[str, Any]:
    """Return the values to record: without a trace, only the number of moved rows."""
    if not traced:
        return {"moved": sums.moved}
    return {
        "centers": centers if scaling is None else scaling.from_units(centers),
        "counts": sums.counts,
        "inertia": float(distance_from_units(sums.inertia, scaling, 2)),
        "moved": sums.moved,
    }


def relocate_empty_clusters(
    sums: CenterSums, rows: Any, engine: Engine, space: PointSpace, centers: Array
) -> tuple[CenterSums, int]:
    """Move the points farthest from their centers into the empty clusters.

    Also return how many received a point: none where every point lies on its center.
    """
    if sums.counts.all():
        return sums, 0
    empty = np.flatnonzero(sums.counts == 0)
    far = engine.reduce(rows, farthest_points, space, centers, len(empty) + len(centers))
    relocated = replace(
        sums, sums=sums.sums.copy(), weights=sums.weights.copy(), counts=sums.counts.copy()
    )
    remaining = list(empty[::-1])
    for index in range(len(far.rows)):
        # The only point of a cluster stays: moving it would empty another one.
        if remaining and far.values[index] > 0 and relocated.counts[far.labels[index]] > 1:
            _move_point(relocated, far, index, remaining.pop(), space)
    return relocated, len(empty) - len(remaining)


def _move_point(
    sums: CenterSums, far: TopRows, index: int, cluster: int, space: PointSpace
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
