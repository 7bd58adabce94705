"""EM for Gaussian mixtures on any engine: expect, maximise, until the likelihood rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ceiba.base import Steps
from ceiba.engine import Engine
from ceiba.mixture.account import Event
from ceiba.mixture.maximise import Rules, maximise
from ceiba.mixture.repair import Repair
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.mixture_sums import MixtureSums
from ceiba.stats.points import Array


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
    """

    rows: tuple[Any, ...]
    engine: Engine
    weight: float
    units: float
    tol: float

    def rests(self, objective: float, before: float | None) -> bool:
        """Whether the objective has changed too little to go on."""
        if before is None:
            return False
        size = max(abs(objective + self.units), self.weight)
        return abs(objective - before) < self.tol * size


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
    events: tuple[Event, ...] = field(default=())


def expect(setting: Setting, model: Gaussians, groups: Sequence[int]) -> MixtureSums:
    """The E step: every group's rows under its own components."""
    reduce = setting.engine.reduce
    if len(groups) == 1:
        (rows,) = setting.rows
        sums = reduce(rows, MixtureSums.of, model)
        # About a pivot far away second moments are mostly rounding: once more, about the means.
        return reduce(rows, MixtureSums.of, model, sums.means) if sums.lossy else sums
    edges = np.cumsum((0, *groups))
    parts = [
        expect(replace(setting, rows=(rows,)), model.take(slice(a, b)), (b - a,))
        for rows, a, b in zip(setting.rows, edges, edges[1:], strict=False)
    ]
    return MixtureSums.stacked(parts)


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
    model, before, converged, done = start, None, False, steps.count
    held = np.zeros(len(start.means), bool)
    events: list[Event] = []
    for step in steps:
        sums = expect(setting, model, rules.groups)
        objective = sums.log_likelihood + rules.log_prior(model)
        _record(step.record, model, sums.log_likelihood, objective)
        converged = setting.rests(objective, before)
        if converged:
            break
        moments, before = sums.centred(), objective
        if repair.dead(moments.weights, rules).any():
            moments, rules, told = repair.mend(
                setting.rows, setting.engine, model, moments, rules, step.number
            )
            events += told
            before = None
        model, held = maximise(moments, rules)
        done += 1
        step.offer(partial(fitted, model))
    if not converged:
        # The parameters are newer than what is known of them.
        sums = expect(setting, model, rules.groups)
        objective = sums.log_likelihood + rules.log_prior(model)
        converged = setting.rests(objective, before)
        _record(steps.end, model, sums.log_likelihood, objective)
    return Run(model, rules, sums.log_likelihood, objective, done, converged, held, tuple(events))


def _record(
    record: Callable[..., None], model: Gaussians, log_likelihood: float, objective: float
) -> None:
    record(
        weights=model.weights,
        means=model.means,
        covariances=model.covariances,
        log_likelihood=log_likelihood,
        objective=objective,
    )
