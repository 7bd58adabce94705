"""Limited-memory BFGS for the conditional likelihood (solver="lbfgs").

With the metric of the TM step as its initial inverse Hessian, the first step is the tangent of the
TM step; no iterate can have invalid counts.

References
----------
Nocedal (1980), "Updating quasi-Newton matrices with limited storage", Mathematics of Computation
35.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ceiba.bayes.discriminative.metrics import Metric
from ceiba.bayes.discriminative.objective import (
    MAX_GRADIENT,
    ConditionalLikelihood,
    ObjectiveValue,
    SolverStep,
)
from ceiba.bayes.network import ClassTable

_MEMORY = 10


@dataclass(frozen=True, eq=False)
class _Pair:
    """Change of the weights and of the negative gradient in one iteration."""

    step: ClassTable
    change: ClassTable

    @property
    def curvature(self) -> float:
        return self.step.dot(self.change)

    @property
    def is_convex(self) -> bool:
        lengths = np.sqrt(self.step.dot(self.step) * self.change.dot(self.change))
        return bool(self.curvature > 1e-12 * lengths)


def lbfgs_steps(
    objective: ConditionalLikelihood, value: ObjectiveValue, metric: Metric, tol: float
) -> Generator[SolverStep, None, bool]:
    """Iterate L-BFGS from a value of the objective; return whether it has converged.

    That is when an iteration gains less than ``tol``, relative to the objective, or no component
    of the gradient exceeds 1e-6. It has not where no step ascends though more gain is promised.
    """
    pairs: deque[_Pair] = deque(maxlen=_MEMORY)
    gain = np.inf
    while gain >= tol * max(objective.unit, abs(value.objective)):
        if _largest(value.gradient) < MAX_GRADIENT * objective.unit:
            return True
        direction = _direction(value.gradient, pairs, metric)
        found = objective.ascend(value, direction)
        if found is None and pairs:
            # A poor model of the curvature: begin again with the metric alone.
            pairs.clear()
            direction = metric(value.gradient)
            found = objective.ascend(value, direction)
        if found is None:
            return objective.is_flat(value, direction, tol)
        new, step = found
        pair = _Pair(new.weights.plus(-1.0, value.weights), value.gradient.plus(-1.0, new.gradient))
        if pair.is_convex:
            pairs.append(pair)
        gain = new.objective - value.objective
        value = new
        yield SolverStep(value, step)
    return True


def _largest(gradient: ClassTable) -> float:
    return float(
        max(np.abs(gradient.table).max(initial=0.0), np.abs(gradient.bias).max(initial=0.0))
    )


def _direction(gradient: ClassTable, pairs: deque[_Pair], metric: Metric) -> ClassTable:
    """Return the inverse Hessian times the gradient (two-loop recursion)."""
    direction = gradient
    alphas = []
    for pair in reversed(pairs):
        alpha = pair.step.dot(direction) / pair.curvature
        alphas.append(alpha)
        direction = direction.plus(-alpha, pair.change)
    direction = metric(direction)
    if pairs:
        last = pairs[-1]
        direction = direction.times(last.curvature / last.change.dot(metric(last.change)))
    for pair, alpha in zip(pairs, reversed(alphas), strict=True):
        beta = pair.change.dot(direction) / pair.curvature
        direction = direction.plus(alpha - beta, pair.step)
    return direction
