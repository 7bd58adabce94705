"""Online EM: batch after batch, with a memory of expected moments."""

from __future__ import annotations

from dataclasses import dataclass

from ceiba.mixture.densities import Gaussians
from ceiba.mixture.em import Run, expect
from ceiba.mixture.events import Event
from ceiba.mixture.fitter import Learnt, Lesson, Plan
from ceiba.mixture.m_step import maximise
from ceiba.mixture.statistics import ComponentMoments
from ceiba.mixture.summary import Surveyed


@dataclass(frozen=True, slots=True)
class Known:
    """What the batches before have left: nothing but the number of components, at first."""

    k: int
    model: Gaussians | None = None
    memory: ComponentMoments | None = None
    steps: int = 0
    events: tuple[Event, ...] = ()


def learn_batch(
    data: Surveyed, plan: Plan, known: Known, decay: float
) -> tuple[ComponentMoments, Learnt]:
    """One step: the batch's expected moments are mixed into those remembered, then maximised.

    The log-likelihood is that of the batch before the step.

    References
    ----------
    Cappé & Moulines (2009), "On-line expectation-maximization algorithm for latent data models",
    JRSS B 71.
    """
    lesson = Lesson(data, plan, (known.k,))
    rules = lesson.rules()
    model = lesson.start(0, rules) if known.model is None else known.model
    sums = expect(lesson.setting(), model, rules.groups)
    objective = sums.log_likelihood + rules.log_prior(model)
    mixed = _mixed(known.memory, sums.centred(), decay)
    total = float(mixed.weights.sum())
    repair, step = lesson.repair(), known.steps + 1
    events: list[Event] = []
    if repair.dead(mixed.weights, rules).any():
        mixed, rules, events = repair.mend(data.groups, data.engine, model, mixed, rules, step)
        mixed = mixed.scaled(total / float(mixed.weights.sum()))
    found, held = maximise(mixed, rules)
    run = Run(found, rules, sums.log_likelihood, objective, step, False, held, mixed, tuple(events))
    return mixed, Learnt(run, None, lesson.account(run), (objective,))


def _mixed(
    memory: ComponentMoments | None, batch: ComponentMoments, decay: float
) -> ComponentMoments:
    """Moments of all rows so far, of which a batch is a share of γ.

    γ is its share of all weight so far, to the power ``decay``.
    """
    if memory is None:
        return batch
    seen, new = float(memory.weights.sum()), float(batch.weights.sum())
    total = seen + new
    gamma = (new / total) ** decay
    old = memory.scaled((1.0 - gamma) * total / seen)
    return old.merge(batch.scaled(gamma * total / new))


def memory_of(model: Gaussians, weight: float) -> ComponentMoments:
    """Moments that a fitted model could have come from, of rows of that weight."""
    weights = model.weights * weight
    axes = [1] * (model.covariances.ndim - 1)
    return ComponentMoments(weights, model.means, model.covariances * weights.reshape(-1, *axes))
