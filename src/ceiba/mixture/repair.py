"""What is done with a component that has lost its rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import Engine
from ceiba.mixture.densities import Extremes, Gaussians, numbered_as_given
from ceiba.mixture.events import Event
from ceiba.mixture.m_step import Rules
from ceiba.mixture.statistics import ComponentMoments

# A component with less than a hundredth of an average row describes nothing.
_LEAST_ROWS = 0.01


@dataclass(slots=True)
class Repair:
    """Starts components that have lost their rows again, or drops them.

    Parameters
    ----------
    reseed : bool
        Start again at the row that the mixture describes worst; otherwise drop.
    row_weights : tuple of float
        Mean weight of a row, in each group.
    mean : ndarray of shape (d,)
        Of the data: stands for the gaps of that row.
    left : int
        Re-seedings left in this run; after them components are dropped.
    """

    reseed: bool
    row_weights: tuple[float, ...]
    mean: Array
    left: int

    def dead(self, weights: Array, rules: Rules) -> Array:
        """Which components have lost their rows; the heaviest of a group never has."""
        dead: Array = weights < _LEAST_ROWS * np.repeat(self.row_weights, rules.groups)
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
            if len(mine):
                self.left -= len(mine)
                known = numbered_as_given(rows[place], engine)
                part = model.take(slice(a, b))
                worst = engine.reduce(known, Extremes.least_likely, part, len(mine))
                living = moments.weights[a:b].sum() - moments.weights[mine].sum()
                # So that in the end each of them has one part in b - a of the weight.
                weights[mine] = living / (b - a - len(mine))
                for component, row, point in zip(mine, worst.rows, worst.points, strict=False):
                    means[component] = np.where(np.isnan(point), self.mean, point)
                    variances = weights[component] * rules.floor.variances
                    scatters[component] = variances if scatters.ndim == 2 else np.diag(variances)
                    dead[component] = False
                    lost = float(moments.weights[component])
                    event = Event("reseeded", step, int(component - a), lost, (int(row),), place)
                    events.append(event)
            for component in a + np.flatnonzero(dead[a:b]):
                lost = float(moments.weights[component])
                events.append(Event("dropped", step, int(component - a), lost, (), place))
        mended = ComponentMoments(weights, means, scatters)
        return mended.take(~dead), rules.without(dead), events
