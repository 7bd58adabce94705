"""The TM algorithm: maximize the conditional likelihood by steps in expected counts (solver="tm").

From the network of the counts, with the expected counts U of its tables, an iteration makes::

    T step    U <- U + lambda * G,    G(c, row) = N(c, row) - sum of p(c | x)
    M step    the network whose expected counts are U: normalize each group

where N are the counts of the data, and the sum is over the data x of the table row: G are the
residuals of the class posteriors. In the plain algorithm lambda is 1, which can diverge; here a
line search finds it.

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

from ceiba.bayes.discriminative.objective import (
    ARMIJO,
    ConditionalLikelihood,
    ObjectiveValue,
    SolverStep,
)
from ceiba.bayes.network import ClassTable

# Fraction of the largest valid lambda.
_INSIDE = 0.99
_HALVINGS = 8
_MIN_STEP = 1e-12


def tm_steps(
    objective: ConditionalLikelihood, value: ObjectiveValue, tol: float
) -> Generator[SolverStep, None, bool]:
    """Iterate the TM algorithm from a network; return whether it has converged.

    That is when an iteration gains less than ``tol``. It has not where no step ascends though more
    gain is promised.

    A step's details are ``max_step`` (the largest valid lambda) and ``curvature`` (that of the
    objective along the step, relative to the joint model's: above 2, lambda = 1 diverges).
    """
    model = objective.model
    U = model.mean_values(value.weights, objective.total)
    step, at_once, gain = 1.0, False, np.inf
    while gain >= tol:
        G = model.freeze_vanishing(value.residuals, U)
        slope = G.dot(model.natural_gradient(U, G))
        if not slope > 0:
            return True
        # Lambda: twice the last one if that was accepted at once, and inside the valid steps.
        max_step = model.max_step(U, G)
        step = min(2 * step if at_once else step, _INSIDE * max_step)
        found = _search(objective, value, U, G, step, slope)
        if found is None:
            return slope * min(1.0, step) <= tol
        new, accepted = found
        at_once, step = accepted == step, accepted
        gain = new.objective - value.objective
        value, U = new, U.plus(step, G)
        curvature = 2 * (1 - gain / (step * slope)) / step
        yield SolverStep(value, step, {"max_step": max_step, "curvature": curvature})
    return True


def _search(
    objective: ConditionalLikelihood,
    value: ObjectiveValue,
    U: ClassTable,
    G: ClassTable,
    step: float,
    slope: float,
) -> tuple[ObjectiveValue, float] | None:
    """Return the value at the first lambda of sufficient ascent, each half of the last.

    The first step is evaluated with its gradient, since it is usually taken; after it, several
    steps are evaluated in one pass.
    """

    def network(t: float) -> ClassTable:
        moved = U.plus(t, G)  # T step with lambda = t
        return objective.model.from_means(moved)  # M step

    new = objective.value(network(step))
    if new.objective >= value.objective + ARMIJO * step * slope:
        return new, step
    while step > _MIN_STEP:
        steps = step * 0.5 ** np.arange(1.0, _HALVINGS + 1)
        found = objective.objectives([network(float(t)) for t in steps])
        enough = np.flatnonzero(found >= value.objective + ARMIJO * steps * slope)
        if len(enough):
            step = float(steps[enough[0]])
            return objective.value(network(step)), step
        step = float(steps[-1])
    return None
