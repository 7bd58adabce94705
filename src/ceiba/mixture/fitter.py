"""Fit a mixture from several initializations, or update it batch by batch (online EM)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ceiba.base import Iterations, Trace
from ceiba.mixture.config import EMConfig, group_slices
from ceiba.mixture.data import MixtureData
from ceiba.mixture.densities import ComponentRows, Gaussians, number_input_rows
from ceiba.mixture.em import (
    Convergence,
    EMResult,
    e_step,
    em,
    lost_components,
    m_step,
    reseed_or_drop,
)
from ceiba.mixture.events import MAX_EVENT_ROWS, FitEvent, FitEvents
from ceiba.mixture.init import initial_model
from ceiba.mixture.statistics import ComponentMoments


@dataclass(frozen=True, slots=True)
class FitResult:
    """Best run of a fit, its trace and events, and the objective of each initialization.

    ``stopped``: whether a callback ended the fit.
    """

    best: EMResult
    trace: Trace | None
    events: FitEvents
    objectives: tuple[float, ...]
    stopped: bool = False


def fit_mixture(
    data: MixtureData,
    config: EMConfig,
    sizes: tuple[int, ...],
    estimator: Any = None,
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {},
    *,
    single: bool = True,
) -> FitResult:
    """Fit ``sizes`` components per group of rows.

    ``single``: whether this is the only mixture that the estimator fits, so that the number of
    runs is known to progress reports.

    References
    ----------
    Biernacki, Celeux & Govaert (2003), "Choosing starting values for the EM algorithm for getting
    the highest likelihood in multivariate Gaussian mixture models", Computational Statistics &
    Data Analysis 41.
    """
    with explain_singular_covariance(config):
        config = config.with_sizes(sizes)
        convergence = Convergence.of(data, config)
        run_em = partial(em, data, convergence=convergence, fitted=fitted)
        n_runs = _n_runs(config)
        max_iter, short_iter = config.max_iter, config.short_iter
        short = n_runs > 1 and short_iter is not None and short_iter < max_iter
        n_reported = n_runs + short if single else None
        runs: list[tuple[EMResult, Iterations]] = []
        for run in range(n_runs):
            model = initial_model(data, config, run)
            iterations = Iterations(
                estimator,
                (short_iter if short else None) or max_iter,
                trace=config.trace,
                name="EM",
                runs=n_reported,
            )
            runs.append((run_em(config, model, iterations), iterations))
            if iterations.stopped:  # a callback that stops one run stops them all
                break
        best, iterations = _first_best(runs, convergence)
        stopped = runs[-1][1].stopped
        if short and not best.converged and not stopped:
            if iterations.trace is not None:
                iterations.trace.remove_last()  # the continued run records this frame again
            iterations = Iterations(estimator, max_iter, name="EM", after=iterations)
            remaining = replace(config, sizes=best.sizes)
            best = run_em(remaining, best.model, iterations, events=best.events)
        events = collect_events(data, best)
        objectives = tuple(result.objective for result, _ in runs)
        return FitResult(best, iterations.trace, events, objectives, stopped or iterations.stopped)


def _n_runs(config: EMConfig) -> int:
    """Return the number of initializations; 1 where all of them would be equal."""
    given = config.has_all_parameters or config.responsibilities is not None
    return 1 if given or max(config.sizes) == 1 else config.n_init


def _first_best(
    runs: list[tuple[EMResult, Iterations]], convergence: Convergence
) -> tuple[EMResult, Iterations]:
    """Return the first run that is best up to rounding: several often end at the same model."""
    highest = max(result.objective for result, _ in runs)
    return next(run for run in runs if not convergence.has_decreased(run[0].objective, highest))


@contextmanager
def explain_singular_covariance(config: EMConfig) -> Iterator[None]:
    """Turn the error of a singular covariance into one that names the remedy."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise ValueError(
            f"A covariance is singular to rounding: covariance_floor={config.covariance_floor:g} "
            "is too low for these data. Raise it, or set reg_covar."
        ) from None


def collect_events(data: MixtureData, result: EMResult) -> FitEvents:
    """Add the components at the floor, with their main rows, to the events of a run."""
    events = list(result.events)
    for index, group in enumerate(group_slices(result.sizes)):
        floored = tuple(int(component) for component in np.flatnonzero(result.floored[group]))
        if not floored:
            continue
        rows = number_input_rows(data.groups[index], data.engine)
        model = result.model.take(group)
        found = data.engine.reduce(rows, ComponentRows.of, model, floored, MAX_EVENT_ROWS)
        for component, top in zip(floored, found.components, strict=True):
            own = tuple(int(row) for row in top.rows[top.values > 0.5])
            weight = float(result.moments.weights[group.start + component])
            events.append(FitEvent("floored", result.n_iter, component, weight, own, index))
    return FitEvents(tuple(events))


@dataclass(frozen=True, slots=True)
class OnlineState:
    """State after the previous batches; before the first, only the number of components."""

    k: int
    model: Gaussians | None = None
    moments: ComponentMoments | None = None
    n_iter: int = 0
    events: tuple[FitEvent, ...] = ()


def fit_batch(
    data: MixtureData, config: EMConfig, state: OnlineState, decay: float
) -> tuple[ComponentMoments, FitResult]:
    """Mix the batch's expected moments into those of the previous batches, and maximize.

    The log-likelihood of the result is that of the batch before the update.

    References
    ----------
    Cappé & Moulines (2009), "On-line expectation-maximization algorithm for latent data models",
    JRSS B 71.
    """
    with explain_singular_covariance(config):
        config = config.with_sizes((state.k,))
        model = initial_model(data, config, 0) if state.model is None else state.model
        sums = e_step(data, config, model)
        objective = sums.log_likelihood + config.log_prior(model)
        moments = _mix(state.moments, sums.centered(), decay)
        total = float(moments.weights.sum())
        iteration = state.n_iter + 1
        events: list[FitEvent] = []
        if lost_components(moments.weights, data, config).any():
            moments, config, events = reseed_or_drop(data, config, model, moments, iteration)
            moments = moments.scale(total / float(moments.weights.sum()))
        found, floored = m_step(moments, config)
        result = EMResult(
            found,
            config.sizes,
            sums.log_likelihood,
            objective,
            iteration,
            False,
            floored,
            moments,
            tuple(events),
        )
        return moments, FitResult(result, None, collect_events(data, result), (objective,))


def _mix(
    previous: ComponentMoments | None, batch: ComponentMoments, decay: float
) -> ComponentMoments:
    """Merge moments so that the batch has a fraction γ of the total weight.

    γ is its fraction of all weight so far, to the power ``decay``.
    """
    if previous is None:
        return batch
    seen, new = float(previous.weights.sum()), float(batch.weights.sum())
    total = seen + new
    gamma = (new / total) ** decay
    return previous.scale((1.0 - gamma) * total / seen).merge(batch.scale(gamma * total / new))


def moments_of(model: Gaussians, weight: float) -> ComponentMoments:
    """Return moments of rows of a total weight whose maximum likelihood is the model."""
    weights = model.weights * weight
    axes = [1] * (model.covariances.ndim - 1)
    return ComponentMoments(weights, model.means, model.covariances * weights.reshape(-1, *axes))
