"""Online EM: batch after batch, with a memory of expected moments."""

from __future__ import annotations

from ceiba.mixture.account import Event
from ceiba.mixture.em import Run, expect
from ceiba.mixture.learn import Learnt, Lesson, Plan
from ceiba.mixture.maximise import maximise
from ceiba.mixture.surveyed import Surveyed
from ceiba.stats.component_moments import ComponentMoments
from ceiba.stats.gaussians import Gaussians


def learn_batch(
    data: Surveyed,
    plan: Plan,
    k: int,
    model: Gaussians | None,
    memory: ComponentMoments | None,
    decay: float,
) -> tuple[ComponentMoments, Learnt]:
    """One step: the batch's expected moments are mixed into those remembered, then maximised.

    With γ the batch's share of all weight so far, to the power ``decay``, the moments of a unit of
    weight become (1 - γ) × remembered + γ × the batch's. The memory's own weight is that of all
    rows so far.

    References
    ----------
    Cappé & Moulines (2009), "On-line expectation-maximization algorithm for latent data models",
    JRSS B 71.
    """
    lesson = Lesson(data, plan, (k,))
    rules = lesson.rules()
    if model is None:
        model = lesson.start(0, rules)
    setting = lesson.setting()
    sums = expect(setting, model, rules.groups)
    batch = sums.centred()
    seen = 0.0 if memory is None else float(memory.weights.sum())
    total = seen + data.weight
    mixed = batch
    if memory is not None:
        gamma = (data.weight / total) ** decay
        old = memory.scaled((1.0 - gamma) * total / seen)
        mixed = old.merge(batch.scaled(gamma * total / data.weight))
    repair = lesson.repair()
    events: list[Event] = []
    if repair.dead(mixed.weights, rules).any():
        mixed, rules, events = repair.mend(data.groups, data.engine, model, mixed, rules, step=1)
    found, held = maximise(mixed, rules)
    last = expect(setting, found, rules.groups)
    objective = last.log_likelihood + rules.log_prior(found)
    run = Run(found, rules, last.log_likelihood, objective, 1, False, held, mixed, tuple(events))
    return mixed, Learnt(run, None, lesson.account(run), (objective,))


def memory_of(model: Gaussians, weight: float) -> ComponentMoments:
    """Moments that a fitted model could have come from, of rows of that weight."""
    weights = model.weights * weight
    axes = [1] * (model.covariances.ndim - 1)
    return ComponentMoments(weights, model.means, model.covariances * weights.reshape(-1, *axes))
