"""What is done with a component that has lost its rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.engine import Engine
from ceiba.mixture.account import Event
from ceiba.mixture.maximise import Rules
from ceiba.stats.component_moments import ComponentMoments
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array
from ceiba.stats.posteriors import Extremes

# A component with less than a hundredth of an average row describes nothing.
_LEAST_ROWS = 0.01


@dataclass(slots=True)
class Repair:
    """Starts components that have lost their rows again, or drops them.

    Parameters
    ----------
    reseed : bool
        Start again at the row that the mixture describes worst; otherwise drop.
    row_weight : float
        Mean weight of a row.
    mean : ndarray of shape (d,)
        Of the data: stands for the gaps of that row.
    left : int
        Re-seedings left in this run; after them components are dropped.
    """

    reseed: bool
    row_weight: float
    mean: Array
    left: int

    def dead(self, weights: Array, rules: Rules) -> Array:
        """Which components have lost their rows; the heaviest of a group never has."""
        dead: Array = weights < _LEAST_ROWS * self.row_weight
        if dead.any():
            for a, b in pairwise(np.cumsum((0, *rules.groups))):
                dead[a + int(np.argmax(weights[a:b]))] = False
        return dead

    def mend(
        self,
        rows: tuple[Any, ...],
        engine: Engine,
        model: Gaussians,
        moments: ComponentMoments,
        rules: Rules,
        step: int,
    ) -> tuple[ComponentMoments, Rules, list[Event]]:
        """Moments without the dead: started again, as rows of the data's variance, or dropped."""
        dead = self.dead(moments.weights, rules)
        weights, means = moments.weights.copy(), moments.means.copy()
        scatters = moments.scatters.copy()
        events = []
        for place, (a, b) in enumerate(pairwise(np.cumsum((0, *rules.groups)))):
            mine = a + np.flatnonzero(dead[a:b])[: self.left if self.reseed else 0]
            if not len(mine):
                continue
            self.left -= len(mine)
            part = model.take(slice(a, b))
            worst = engine.reduce(rows[place], Extremes.least_likely, part, len(mine))
            for component, row, point in zip(mine, worst.rows, worst.points, strict=False):
                events.append(_event("reseeded", step, component, moments, (int(row),)))
                weights[component] = moments.weights[a:b].sum() / (b - a)
                means[component] = np.where(np.isnan(point), self.mean, point)
                variances = weights[component] * rules.floor.variances
                scatters[component] = variances if scatters.ndim == 2 else np.diag(variances)
                dead[component] = False
        events += [_event("dropped", step, c, moments) for c in np.flatnonzero(dead)]
        mended = ComponentMoments(weights, means, scatters)
        return mended.take(~dead), rules.without(dead), events


def _event(
    kind: str, step: int, component: Any, moments: ComponentMoments, rows: tuple[int, ...] = ()
) -> Event:
    return Event(kind, step, int(component), float(moments.weights[component]), rows)
