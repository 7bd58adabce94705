"""Lloyd's algorithm on any engine: assign, average, until the centres rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Steps
from ceiba.cluster.statistics import CentreSums, Farthest
from ceiba.engine import Engine
from ceiba.stats import Space


@dataclass(frozen=True, slots=True)
class Centres:
    """What a run of Lloyd's algorithm ends with."""

    centres: Array
    weights: Array  # of the last step, (k, 1) or (k, d) with gaps
    n_iter: int
    converged: bool
    repairs: int


def lloyd(
    rows: Any,
    engine: Engine,
    space: Space,
    centres: Array,
    steps: Steps,
    tol: float,
    fitted: Callable[[Array], dict[str, Any]],
) -> Centres:
    """Move the centres to the means of their points until they move no more than ``tol``.

    ``tol`` bounds the sum of the squared movements of one step; ``fitted`` makes the attributes of
    a model of some centres, should a callback want that of a step.

    References
    ----------
    Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    """
    previous, converged, repairs = None, False, 0
    traced = steps.trace is not None
    for step in steps:
        # Where the engine keeps no row state, the centres before tell a trace which rows moved.
        before = previous if traced else None
        sums = engine.reduce(rows, CentreSums.of, space, centres, before, traced)
        _record(step.record, centres, sums, traced)
        if not sums.counts.all():
            sums, repaired = repair(sums, rows, engine, space, centres)
            repairs += repaired
        previous, centres = centres, sums.solve(space, centres)
        step.offer(partial(fitted, centres))
        shift = centres - previous
        converged = bool(np.vdot(shift, shift) <= tol)
        if converged:
            break
    if traced and shift.any():
        last = engine.reduce(rows, CentreSums.of, space, centres, previous, True)
        _record(steps.end, centres, last, traced)
    return Centres(centres, sums.weights, steps.count, converged, repairs)


def _record(record: Callable[..., None], centres: Array, sums: CentreSums, traced: bool) -> None:
    if not traced:
        record(moved=sums.moved)
        return
    record(centres=centres, counts=sums.counts, inertia=sums.inertia, moved=sums.moved)


def repair(
    sums: CentreSums, rows: Any, engine: Engine, space: Space, centres: Array
) -> tuple[CentreSums, int]:
    """Give each empty cluster the point that is farthest from its own centre.

    Returns the sums as they then are and how many clusters were repaired; where no point lies off
    its centre, none is.
    """
    empty = np.flatnonzero(sums.counts == 0)
    if not len(empty):
        return sums, 0
    far = engine.reduce(rows, Farthest.of, space, centres, len(empty) + len(centres))
    repaired = replace(
        sums, sums=sums.sums.copy(), weights=sums.weights.copy(), counts=sums.counts.copy()
    )
    waiting = list(empty[::-1])
    for place in range(len(far.rows)):
        # The only point of a cluster stays: moving it would empty another one.
        if waiting and far.squared[place] > 0 and repaired.counts[far.labels[place]] > 1:
            _move(repaired, far, place, waiting.pop(), space)
    return repaired, len(empty) - len(waiting)


def _move(sums: CentreSums, far: Farthest, place: int, cluster: int, space: Space) -> None:
    """Move a far point from its cluster into an empty one."""
    point, own = far.points[place], far.labels[place]
    observed = ~np.isnan(point)
    weight = far.weights[place] * (observed if sums.weights.shape[1] > 1 else np.ones(1))
    share = far.weights[place] * np.where(observed, point - space.offset, 0.0)
    sums.sums[cluster], sums.weights[cluster], sums.counts[cluster] = share, weight, 1
    left = sums.weights[own] - weight
    # What rounding leaves of a column that only this point had is nothing.
    kept = left > 1e-12 * sums.weights[own]
    sums.weights[own] = np.where(kept, left, 0.0)
    sums.sums[own] = np.where(kept, sums.sums[own] - share, 0.0)
    sums.counts[own] -= 1
