"""EM for Gaussian mixtures on any engine: E step, M step, until the objective converges.

References
----------
Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
JRSS B 39.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import Iterations
from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.densities import LikelihoodSums, lowest_densities, number_input_rows
from ceiba.mixture.events import FitEvent
from ceiba.mixture.statistics import ComponentMoments, ExpectedMoments, Gaussians

# Sums over many rows differ by less than this between equal iterations.
_ROUNDING = 1e-9
# A component with less than a hundredth of an average row describes nothing.
_MIN_ROWS = 0.01


def e_step(data: MixtureData, config: EMConfig, model: Gaussians) -> ExpectedMoments:
    """Compute the expected moments of every group's rows under its own components."""
    parts = [
        _expected_moments(data, config, rows, part)
        for rows, part in zip(data.groups, _split(model, config), strict=True)
    ]
    return ExpectedMoments.stack(parts)


def _expected_moments(
    data: MixtureData, config: EMConfig, rows: Any, model: Gaussians
) -> ExpectedMoments:
    reduce, negligible = data.engine.reduce, config.covariance_floor * data.variances
    sums = reduce(rows, ExpectedMoments.of, model)
    if sums.loses_digits(negligible):
        # About a distant pivot moments are mostly rounding: repeat about the data's mean and,
        # where even that is too far, about the means found there.
        sums = reduce(rows, ExpectedMoments.of, model, np.broadcast_to(data.mean, model.shape))
        if sums.loses_digits(negligible):
            sums = reduce(rows, ExpectedMoments.of, model, sums.means)
    return sums


def _split(model: Gaussians, config: EMConfig) -> list[Gaussians]:
    """Return the components of each group."""
    if len(config.sizes) == 1:
        return [model]
    return [model.take(group) for group in config.groups]


def m_step(moments: ComponentMoments, config: EMConfig) -> tuple[Gaussians, Array]:
    """Maximize the (penalized) likelihood; also return which components are at the floor."""
    weights = _normalize(moments.weights, config)
    if config.resolved_prior is not None:
        moments = config.resolved_prior.add_to(moments)
    scatters, raised = _regular_scatters(moments, config)
    with np.errstate(divide="ignore", invalid="ignore"):  # Gaussians.of raises for the result
        covariances = config.form.solve(moments.weights, scatters)
    if config.reg_covar:
        units = 1.0 if config.reg_units is None else config.reg_units
        covariances = _regularize(covariances, config.reg_covar * units)
    covariances, floored = config.floor.apply(covariances)
    return Gaussians.of(weights, moments.means, covariances), floored | raised


def _normalize(weights: Array, config: EMConfig) -> Array:
    """Divide weights by the sum of their group."""
    # One group, the usual case, has a path of its own: it saves 3 % of a fit of 150 rows.
    if len(config.sizes) == 1:
        return np.asarray(weights / weights.sum())
    groups = [weights[group] for group in config.groups]
    return np.concatenate([group / group.sum() for group in groups])


def _regular_scatters(moments: ComponentMoments, config: EMConfig) -> tuple[Array, Array]:
    """Raise scatters to the rank that the form needs; also return which components changed."""
    scatters, floor = moments.scatters, config.floor
    weights = moments.weights.reshape(-1, *[1] * (scatters.ndim - 1))
    unchanged = np.zeros(len(scatters), bool)
    if config.form.regular == "own":
        own, raised = floor.apply(scatters / weights)
        return own * weights, raised
    if config.form.regular == "pooled":
        pooled = scatters.sum(axis=0, keepdims=True) / weights.sum()
        regular, raised = floor.apply(pooled)
        return scatters + weights * (regular - pooled), unchanged | raised
    return scatters, unchanged


def _regularize(covariances: Array, reg_covar: float | Array) -> Array:
    """Add ``reg_covar`` to every variance."""
    if covariances.ndim == 2:
        return covariances + reg_covar
    return covariances + reg_covar * np.eye(covariances.shape[-1])


def _lost_components(weights: Array, data: MixtureData, config: EMConfig) -> Array | None:
    """Return which components lost their rows; None where all of them have rows."""
    row_weights: float | Array = data.row_weights[0]
    if len(config.sizes) > 1:
        row_weights = np.repeat(data.row_weights, config.sizes)
    lost: Array = weights < _MIN_ROWS * row_weights
    if not lost.any():
        return None
    for group in config.groups:  # the heaviest component of a group is never lost
        lost[group.start + int(np.argmax(weights[group]))] = False
    return lost if lost.any() else None


def reseed_or_drop(
    data: MixtureData,
    config: EMConfig,
    model: Gaussians,
    moments: ComponentMoments,
    iteration: int,
    events: Iterable[FitEvent] = (),
) -> tuple[ComponentMoments, EMConfig, list[FitEvent]]:
    """Replace the moments of components that lost their rows, or drop these components.

    A component is reseeded at the row of smallest density, with the variances of the data, as long
    as fewer than ``max_reseeds`` were reseeded in the run; ``events`` are those of the run so far.
    """
    lost = _lost_components(moments.weights, data, config)
    if lost is None:
        return moments, config, []
    left = config.max_reseeds - sum(event.kind == "reseeded" for event in events)
    moments, old_weights = deepcopy(moments), moments.weights
    repairs = []
    for index, group in enumerate(config.groups):
        reseeded = group.start + np.flatnonzero(lost[group])[:left]
        rows = _reseed(data, config, model, moments, index, reseeded) if len(reseeded) else []
        left -= len(reseeded)
        lost[reseeded[: len(rows)]] = False
        dropped = group.start + np.flatnonzero(lost[group])
        found = [*((row,) for row in rows), *(() for _ in dropped)]
        for component, own in zip([*reseeded[: len(rows)], *dropped], found, strict=True):
            weight, number = float(old_weights[component]), int(component - group.start)
            kind: Literal["reseeded", "dropped"] = "reseeded" if own else "dropped"
            repairs.append(FitEvent(kind, iteration, number, weight, own, index))
    return moments.take(~lost), config.without(lost), repairs


def _reseed(
    data: MixtureData,
    config: EMConfig,
    model: Gaussians,
    moments: ComponentMoments,
    index: int,
    reseeded: Array,
) -> list[int]:
    """Move components of a group, in place, to its rows of smallest density; return the rows."""
    group = config.groups[index]
    rows = number_input_rows(data.groups[index], data.engine)
    lowest = data.engine.reduce(rows, lowest_densities, model.take(group), len(reseeded))
    weights = moments.weights
    remaining = weights[group].sum() - weights[reseeded].sum()
    # Each of them then has 1 / k of the weight of its group.
    weights[reseeded] = remaining / (group.stop - group.start - len(reseeded))
    for component, point in zip(reseeded, lowest.points, strict=False):
        moments.means[component] = np.where(np.isnan(point), data.mean, point)
        variances = weights[component] * config.floor.variances
        diagonal = moments.scatters.ndim == 2
        moments.scatters[component] = variances if diagonal else np.diag(variances)
    return [int(row) for row in lowest.rows]


@dataclass(frozen=True, slots=True)
class Convergence:
    """Convergence test on the relative change of the objective.

    The objective is taken in units in which every column has unit variance, and as at least one
    per row.
    """

    tol: float  # relative change below which a run has converged
    weight: float  # weight of all rows
    log_scale: float  # amount by which unit variance of every column would raise the log-likelihood

    def has_converged(self, objective: float, previous: float) -> bool:
        """Whether the objective changed by less than ``tol``."""
        return abs(objective - previous) < self.tol * self._size(objective)

    def has_decreased(self, objective: float, previous: float) -> bool:
        """Whether the objective decreased by more than rounding."""
        return previous - objective > _ROUNDING * self._size(objective)

    def _size(self, objective: float) -> float:
        return max(abs(objective + self.log_scale), self.weight)


@dataclass(frozen=True, slots=True)
class EMState:
    """Parameters, which components are at the floor, the E step under them and the objective."""

    model: Gaussians
    floored: Array
    sums: ExpectedMoments
    objective: float
    frame: dict[str, Any]  # the values that a trace records

    @classmethod
    def of(cls, data: MixtureData, config: EMConfig, model: Gaussians, floored: Array) -> EMState:
        """Compute the E step; raise where the density of a row underflows."""
        sums = e_step(data, config, model)
        if not np.isfinite(sums.log_likelihood):
            for rows, part in zip(data.groups, _split(model, config), strict=True):
                data.engine.reduce(rows, LikelihoodSums.of, part)  # raises, and names the row
        objective = sums.log_likelihood + config.log_prior(model)
        frame = {
            "weights": model.weights,
            "means": model.means,
            "covariances": model.covariances,
            "log_likelihood": sums.log_likelihood,
            "objective": objective,
        }
        if data.scaling is not None:
            frame = _in_own_units(frame, data)
        return cls(model, floored, sums, objective, frame)


def _in_own_units(frame: dict[str, Any], data: MixtureData) -> dict[str, Any]:
    """Convert a frame to the columns' own units."""
    scaling, log_factor = data.scaling, data.log_factor
    assert scaling is not None
    return {
        "weights": frame["weights"],
        "means": scaling.from_units(frame["means"]),
        "covariances": scaling.covariances_from_units(frame["covariances"]),
        "log_likelihood": frame["log_likelihood"] + log_factor,
        "objective": frame["objective"] + log_factor,
    }


@dataclass(frozen=True, slots=True)
class EMResult:
    """Result of a run of EM; ``sizes`` are the components per group that remain."""

    model: Gaussians
    sizes: tuple[int, ...]
    log_likelihood: float
    objective: float
    n_iter: int
    converged: bool
    floored: Array
    moments: ComponentMoments
    events: tuple[FitEvent, ...] = ()
    objectives: tuple[float, ...] = ()  # after each iteration


def em(
    data: MixtureData,
    config: EMConfig,
    model: Gaussians,
    iterations: Iterations,
    convergence: Convergence,
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {},
    events: Iterable[FitEvent] = (),
    objectives: Iterable[float] = (),
) -> EMResult:
    """Increase the (penalized) likelihood until it converges, starting from ``model``.

    It decreases only where an event is reported. ``fitted`` makes the fitted attributes of a model,
    for callbacks; ``events`` and ``objectives`` are those of the run that this one continues.
    """
    state = EMState.of(data, config, model, np.zeros(len(model.means), bool))
    events, objectives = list(events), list(objectives)
    n_iter, converged = iterations.count, False
    for iteration in iterations:
        iteration.record(**state.frame)
        moments, config, repairs = reseed_or_drop(
            data, config, state.model, state.sums.centered(), iteration.number, events
        )
        model, floored = m_step(moments, config)
        del moments  # large, for many columns
        previous, new = state.objective, EMState.of(data, config, model, floored)
        # A repair may lower the objective, reg_covar always does, and initial parameters need not
        # obey the floor.
        must_increase = not repairs and not config.reg_covar and iteration.number > 1
        decreased = must_increase and convergence.has_decreased(new.objective, previous)
        # Forms that share a part are not at their maximum once a component is at the floor: the
        # previous iteration was the last to increase the objective, and its frame the last.
        converged = decreased or (
            not repairs and convergence.has_converged(new.objective, previous)
        )
        iteration.report_attributes(partial(fitted, model))
        if not decreased:
            state, n_iter = new, iteration.number
            events += repairs
            objectives.append(new.objective)
        if converged:
            break
    if n_iter == iterations.count:
        iterations.end(**state.frame)
    return EMResult(
        state.model,
        config.sizes,
        state.sums.log_likelihood,
        state.objective,
        n_iter,
        converged,
        state.floored,
        state.sums.centered(),
        tuple(events),
        tuple(objectives),
    )
