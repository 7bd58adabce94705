"""The TM algorithm: maximize the conditional likelihood by steps in expected counts (solver="tm").

An iteration adds the residuals G of the class posteriors to the expected counts U of the tables
(T step), and normalizes them to a network (M step)::

    U <- U + lambda * G,    G(c, row) = N(c, row) - sum of p(c | x) over the data x of the table row

It is a natural-gradient step on the conditional likelihood in the metric of the joint model, along
a straight line in expected counts. lambda is at most that for which no count is negative.

References
----------
Edwards & Lauritzen (2001), "The TM algorithm for maximising a conditional likelihood function",
Biometrika 88. Santafe, Lozano & Larranaga (2005), "Discriminative learning of Bayesian network
classifiers via the TM algorithm", ECSQARU.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ceiba.bayes.discriminative.objective import ConditionalLikelihood, SolverStep, Value
from ceiba.bayes.network import ClassTable

_ARMIJO = 1e-4
# Fraction of the largest valid lambda.
_INSIDE = 0.99
_HALVINGS = 8
_MIN_STEP = 1e-12


def tm_steps(
    objective: ConditionalLikelihood, value: Value, tol: float
) -> Generator[SolverStep, None, bool]:
    """Iterate the TM algorithm from a network; return whether it has converged.

    That is when an iteration gains less than ``tol``. It has not where no step ascends though more
    gain is promised.

    A step's details are ``max_step`` (the largest valid lambda) and ``curvature`` (that of the
    objective along the step, relative to the joint model's: above 2, lambda = 1 diverges).
    """
    model = objective.model
    means = model.mean_values(value.weights, objective.total)
    step, at_once, gain = 1.0, False, np.inf
    while gain >= tol:
        residuals = model.without_dying(value.residuals, means)
        slope = residuals.dot(model.natural_gradient(means, residuals))
        if not slope > 0:
            return True
        max_step = model.max_step(means, residuals)
        step = min(2 * step if at_once else step, _INSIDE * max_step)
        found = _search(objective, value, means, residuals, step, slope)
        if found is None:
            return slope * min(1.0, step) <= tol
        new, accepted = found
        at_once, step = accepted == step, accepted
        gain = new.objective - value.objective
        value, means = new, means.plus(step, residuals)
        curvature = 2 * (1 - gain / (step * slope)) / step
        yield SolverStep(value, step, {"max_step": max_step, "curvature": curvature})
    return True


def _search(
    objective: ConditionalLikelihood,
    value: Value,
    means: ClassTable,
    residuals: ClassTable,
    step: float,
    slope: float,
) -> tuple[Value, float] | None:
    """Return the value at the first of the steps, each half of the last, of sufficient ascent.

    The first step is evaluated with its gradient, since it is usually taken; after it, several
    steps are evaluated in one pass.
    """

    def network(t: float) -> ClassTable:
        return objective.model.from_means(means.plus(t, residuals))

    new = objective.value(network(step))
    if new.objective >= value.objective + _ARMIJO * step * slope:
        return new, step
    while step > _MIN_STEP:
        steps = step * 0.5 ** np.arange(1.0, _HALVINGS + 1)
        found = objective.objectives([network(float(t)) for t in steps])
        enough = np.flatnonzero(found >= value.objective + _ARMIJO * steps * slope)
        if len(enough):
            step = float(steps[enough[0]])
            return objective.value(network(step)), step
        step = float(steps[-1])
    return None
