"""Where k-means starts: greedy k-means++, random rows."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from ceiba.engine import Engine
from ceiba.stats import Draw, Race, Space
from ceiba.stats.points import Array


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
