"""The race that draws k-means++ centres: keyed by row, merged by a minimum."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine import Engine
from ceiba.stats.rows import Space


def plus_plus(rows: Any, engine: Engine, space: Space, k: int, seed: int, run: int) -> Array:
    """Greedy k-means++: of a few candidates drawn by D², the one that leaves the least potential.

    One reduction a centre: it finds the potential of every candidate and, for each, which rows
    would be drawn after it.

    References
    ----------
    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    """
    d = len(space.offset)
    trials = 2 + int(log(k))
    chosen = np.empty((0, d))
    candidates = random_rows(rows, engine, space, 1, seed, run)
    while len(chosen) < k:
        if len(chosen) == k - 1 and len(candidates) == 1:
            return np.vstack([chosen, candidates])
        draw = Draw(seed, run, len(chosen) + 1)
        race = engine.reduce(rows, Race.of, space, chosen, candidates, trials, draw)
        best = int(np.argmin(race.potential))
        chosen = np.vstack([chosen, candidates[best : best + 1]])
        candidates = race.runners(best)
        if not len(candidates):
            # Every row lies on a centre already: the rest can only repeat some.
            return np.vstack([chosen, random_rows(rows, engine, space, k, seed, run)])[:k]
    return chosen


def random_rows(rows: Any, engine: Engine, space: Space, k: int, seed: int, run: int) -> Array:
    """``k`` different rows, drawn by weight."""
    nothing = np.empty((0, len(space.offset)))
    race = engine.reduce(rows, Race.of, space, nothing, nothing, k, Draw(seed, run, 0))
    return race.runners(0)


@dataclass(frozen=True, slots=True)
class Draw:
    """The key of one random draw a row: (seed, run, step). Never a partition or a thread."""

    seed: int
    run: int
    step: int

    @property
    def stream(self) -> int:
        """Run and step in one number."""
        return self.run << 32 | self.step


@dataclass(frozen=True, slots=True)
class Race:
    """For each candidate: the potential if it were chosen, and who would run first after it.

    A row is drawn with probability proportional to weight × squared distance to the centres by
    letting every row finish after an exponential time of that rate; the first rows at the finish
    are the next candidates. ``points`` are their coordinates, with the mean where a value is
    missing.

    References
    ----------
    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    Efraimidis & Spirakis (2006), "Weighted random sampling with a reservoir", IPL 97.
    """

    potential: Array  # (candidates,)
    keys: Array  # (candidates, places): finish times, +inf where nobody ran
    rows: Array  # (candidates, places): global rows, -1 where nobody ran
    points: Array  # (candidates, places, d)

    @classmethod
    def of(
        cls, batch: Any, space: Space, chosen: Array, candidates: Array, places: int, draw: Draw
    ) -> Race:
        """Let the rows of a batch run.

        Without chosen centres and candidates rows run by their weight alone.
        """
        X = batch.rows.X
        nearest, settled = _nearest(batch, chosen)
        lists = max(len(candidates), 1)
        potential, keys = np.empty(lists), np.empty((lists, places))
        rows = np.empty((lists, places), np.int64)
        _native.race(
            X,
            batch.rows.weight,
            space.offset,
            space.gaps,
            chosen,
            candidates,
            nearest,
            settled,
            draw.seed,
            draw.stream,
            batch.first_row,
            potential,
            keys,
            rows,
            batch.threads,
        )
        points = (
            X[np.where(rows < 0, 0, rows - batch.first_row)].astype(np.float64)
            if len(X)
            else (np.zeros((*rows.shape, X.shape[1])))
        )
        return cls(potential, keys, rows, np.where(np.isnan(points), space.offset, points))

    def merge(self, other: Race) -> Race:
        """The first at the finish of both parts."""
        keys = np.concatenate([self.keys, other.keys], axis=1)
        rows = np.concatenate([self.rows, other.rows], axis=1)
        points = np.concatenate([self.points, other.points], axis=1)
        first = np.lexsort((rows, keys), axis=1)[:, : self.keys.shape[1]]
        return Race(
            self.potential + other.potential,
            np.take_along_axis(keys, first, 1),
            np.take_along_axis(rows, first, 1),
            np.take_along_axis(points, first[:, :, None], 1),
        )

    def runners(self, candidate: int) -> Array:
        """Coordinates of those who finished first after ``candidate``; fewer where fewer ran."""
        ran: Array = self.points[candidate][np.isfinite(self.keys[candidate])]
        return ran


def _nearest(batch: Any, chosen: Array) -> tuple[Array | None, int]:
    """Squared distances to the centres chosen before, where the engine keeps them."""
    if not batch.keeps:
        return None, 0
    known, nearest = batch.scratch.get("race", (None, None))
    if nearest is None:
        nearest = np.empty(len(batch.rows.X), batch.rows.X.dtype)
    settled = 0 if known is None or len(known) > len(chosen) else len(known)
    if settled and not np.array_equal(known, chosen[:settled]):
        settled = 0
    batch.scratch["race"] = (chosen, nearest)
    return nearest, settled
