"""Online EM (Cappé & Moulines 2009): update a mixture batch by batch."""

from __future__ import annotations

from dataclasses import dataclass

from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.em import EMResult, e_step, m_step, reseed_or_drop
from ceiba.mixture.events import FitEvent
from ceiba.mixture.fitter import (
    FitResult,
    collect_events,
    explain_singular_covariance,
    initial_model,
)
from ceiba.mixture.statistics import ComponentMoments, Gaussians


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
    """
    with explain_singular_covariance(data, config):
        config = config.with_sizes((state.k,))
        model = initial_model(data, config, 0) if state.model is None else state.model
        sums = e_step(data, config, model)
        objective = sums.log_likelihood + config.log_prior(model)
        moments = _mix(state.moments, sums.centered(), decay)
        total = float(moments.weights.sum())
        iteration = state.n_iter + 1
        moments, config, events = reseed_or_drop(data, config, model, moments, iteration)
        if events:
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
