"""EM for Gaussian mixtures on any engine: expect, maximise, until the likelihood rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Steps
from ceiba.engine import Engine
from ceiba.mixture.densities import Fit, Gaussians
from ceiba.mixture.events import Event
from ceiba.mixture.m_step import Rules, maximise
from ceiba.mixture.repair import Repair
from ceiba.mixture.statistics import ComponentMoments, MixtureSums

# Sums of many rows differ by less from one step to the next where nothing changes.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same from step to step.

    Parameters
    ----------
    rows : tuple
        The rows of each group (see `Rules.groups`).
    engine : Engine
    weight : float
        Weight of all rows.
    units : float
        What the log-likelihood would be more if every column had unit variance.
    tol : float
        A run ends when the objective changes by less than this share of itself, in these units
        and taken as at least one a row.
    mean : ndarray of shape (d,)
        Of the data.
    least : ndarray of shape (d,)
        Variances that count as none: those of the floor.
    """

    rows: tuple[Any, ...]
    engine: Engine
    weight: float
    units: float
    tol: float
    mean: Array
    least: Array

    def falls(self, objective: float, before: float) -> bool:
        """Whether the objective has fallen, by more than its rounding."""
        return before - objective > _ROUNDING * self._size(objective)

    def _size(self, objective: float) -> float:
        return max(abs(objective + self.units), self.weight)

    def rests(self, objective: float, before: float) -> bool:
        """Whether the objective has changed too little to go on."""
        return abs(objective - before) < self.tol * self._size(objective)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of EM ends with."""

    model: Gaussians
    rules: Rules
    log_likelihood: float
    objective: float
    n_iter: int
    converged: bool
    held: Array
    moments: ComponentMoments
    events: tuple[Event, ...] = ()


def expect(setting: Setting, model: Gaussians, groups: Sequence[int]) -> MixtureSums:
    """The E step: every group's rows under its own components."""
    reduce = setting.engine.reduce
    if len(groups) == 1:
        (rows,) = setting.rows
        sums = reduce(rows, MixtureSums.of, model)
        if sums.lossy(setting.least):
            # About a pivot far away moments are mostly rounding: once more, about the data's mean
            # and, where even that is too far, about what is found there.
            sums = reduce(rows, MixtureSums.of, model, np.broadcast_to(setting.mean, model.shape))
            if sums.lossy(setting.least):
                sums = reduce(rows, MixtureSums.of, model, sums.means)
        return sums
    parts = [
        expect(replace(setting, rows=(rows,)), part, (len(part.weights),))
        for rows, part in zip(setting.rows, _parts(model, groups), strict=True)
    ]
    return MixtureSums.stacked(parts)


def _parts(model: Gaussians, groups: Sequence[int]) -> list[Gaussians]:
    """The components of each group."""
    return [model.take(slice(a, b)) for a, b in pairwise(np.cumsum((0, *groups)))]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands: parameters, whom the floor holds, what the E step finds, its worth."""

    model: Gaussians
    held: Array
    sums: MixtureSums
    objective: float

    @classmethod
    def of(cls, setting: Setting, model: Gaussians, rules: Rules, held: Array) -> Place:
        """The E step under these parameters; a row that is too far away is refused."""
        sums = expect(setting, model, rules.groups)
        if not np.isfinite(sums.log_likelihood):
            for rows, part in zip(setting.rows, _parts(model, rules.groups), strict=True):
                setting.engine.reduce(rows, Fit.of, part)  # says which
        return cls(model, held, sums, sums.log_likelihood + rules.log_prior(model))

    def told(self) -> dict[str, Any]:
        """What a trace keeps of it."""
        return {
            "weights": self.model.weights,
            "means": self.model.means,
            "covariances": self.model.covariances,
            "log_likelihood": self.sums.log_likelihood,
            "objective": self.objective,
        }


def em(
    setting: Setting,
    start: Gaussians,
    rules: Rules,
    steps: Steps,
    repair: Repair,
    fitted: Callable[[Gaussians], dict[str, Any]],
) -> Run:
    """Raise the (penalised) likelihood until it rests; it falls only where a repair is reported.

    References
    ----------
    Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
    JRSS B 39.
    """
    at = Place.of(setting, start, rules, np.zeros(len(start.means), bool))
    events: list[Event] = []
    done, converged = steps.count, False
    for step in steps:
        step.record(**at.told())
        moments = at.sums.centred()
        told: list[Event] = []
        if repair.dead(moments.weights, rules).any():
            moments, rules, told = repair.mend(
                setting.rows, setting.engine, at.model, moments, rules, step.number
            )
        model, held = maximise(moments, rules)
        del moments  # of many columns it is large
        step.offer(partial(fitted, model))
        before, after = at.objective, Place.of(setting, model, rules, held)
        # A repair may cost, reg_covar always does, and a start need not obey the floor.
        climbs = not told and not rules.reg_covar and step.number > 1
        if climbs and setting.falls(after.objective, before):
            # Forms that share a part are not at their maximum once the floor holds a component:
            # the step before was the last that climbed, and its frame the last.
            converged = True
            break
        at, done = after, step.number
        events += told
        converged = not told and setting.rests(after.objective, before)
        if converged:
            break
    if done == steps.count:
        steps.end(**at.told())
    return Run(
        at.model,
        rules,
        at.sums.log_likelihood,
        at.objective,
        done,
        converged,
        at.held,
        at.sums.centred(),
        tuple(events),
    )
