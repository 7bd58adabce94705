"""Where EM starts: responsibilities from centres, from draws or as given, and one M step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.base import Steps
from ceiba.cluster.lloyd import lloyd
from ceiba.cluster.starts import plus_plus, random_rows
from ceiba.engine import Engine
from ceiba.mixture.surveyed import Surveyed
from ceiba.stats import Draw
from ceiba.stats.component_moments import ComponentMoments
from ceiba.stats.mixture_sums import MixtureSums
from ceiba.stats.points import Array
from ceiba.stats.responsibility import Drawn, NearestCentre, Responsibility, Shares

# A start need not be the best clustering: this many steps of k-means, to this tolerance.
_STEPS, _TOL = 100, 1e-4
# Share of a column's variance that counts as none.
_NONE = 1e-6


@dataclass(frozen=True, slots=True)
class Start:
    """How runs begin.

    Parameters
    ----------
    init : str
        ``"kmeans"``, ``"k-means++"``, ``"random_from_data"`` or ``"random"``.
    seed : int
    shares : ndarray of shape (n_rows, k), optional
        Responsibilities that are used instead.
    """

    init: str
    seed: int
    shares: Array | None = None

    def moments(
        self, data: Surveyed, sizes: tuple[int, ...], full: bool, run: int
    ) -> ComponentMoments:
        """Moments of the components that run number ``run`` starts with, group by group."""
        sums = []
        for place, (rows, k) in enumerate(zip(data.groups, sizes, strict=True)):
            draw_run = run * len(sizes) + place
            given = self._given(rows, data, k, draw_run)
            sums.append(_first_sums(rows, data, k, full, given))
            rows.forget()  # bounds and distances of k-means
        return MixtureSums.stacked(sums).centred()

    def _given(self, rows: Any, data: Surveyed, k: int, run: int) -> Responsibility | None:
        if self.shares is not None:
            return Shares(self.shares)
        if k == 1:  # every row is its own, whatever its density
            return None
        if self.init == "random":
            return Drawn(Draw(self.seed, run, 0))
        centres = _centres(self.init, rows, data, k, self.seed, run)
        return NearestCentre(data.space, centres)


def _centres(init: str, rows: Any, data: Surveyed, k: int, seed: int, run: int) -> Array:
    engine, space = data.engine, data.space
    if init == "random_from_data":
        return random_rows(rows, engine, space, k, seed, run)
    centres = plus_plus(rows, engine, space, k, seed, run)
    if init == "k-means++":
        return centres
    tol = _TOL * float(np.mean(data.variances))
    steps = Steps(None, _STEPS, name="k-means")
    return lloyd(rows, engine, space, centres, steps, tol, lambda centres: {}).centres


def _first_sums(
    rows: Any, data: Surveyed, k: int, full: bool, given: Responsibility | None
) -> MixtureSums:
    """Missing values count as their column's mean and variance."""
    common = data.common(k, full)
    reduce = data.engine.reduce
    sums = reduce(rows, MixtureSums.of, common, None, given)
    if not sums.lossy(_NONE * data.variances):
        return sums
    return reduce(rows, MixtureSums.of, common, sums.means, given)


def given_shares(values: Any, n_rows: int, k: int, engine: Engine) -> Array:
    """Responsibilities that a user gives, checked and brought to a sum of one a row."""
    if engine.name != "local":
        raise ValueError(
            "responsibilities_init needs the rows in memory: give weights_init, means_init and "
            "precisions_init instead"
        )
    shares = np.array(values, dtype=np.float64, order="C")
    if shares.shape != (n_rows, k):
        raise ValueError(
            f"responsibilities_init has shape {shares.shape}; it needs a row for each of the "
            f"{n_rows} rows and a column for each of the {k} components"
        )
    totals = shares.sum(axis=1, keepdims=True)
    if not np.isfinite(shares).all() or (shares < 0).any() or not (totals > 0).all():
        raise ValueError(
            "responsibilities_init must be finite numbers of at least 0, with a positive one in "
            "every row"
        )
    scaled: Array = shares / totals
    return scaled
