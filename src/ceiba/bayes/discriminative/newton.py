"""Newton's method for the conditional likelihood of small models (solver="newton").

The exact Hessian, that of a multinomial logistic regression on the indicators of the table rows, is
computed in each iteration; a small multiple of the identity makes it regular along shifts of the
weights that do not change p(c | x).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import softmax

from ceiba._typing import Array
from ceiba.bayes.discriminative.objective import (
    MAX_GRADIENT,
    ConditionalLikelihood,
    ObjectiveValue,
    SolverStep,
)
from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.network import ClassTable
from ceiba.engine.contract import AdditiveStatistic, Batch
from ceiba.mixture.linalg import LARGE_MATRIX, run_interruptibly

# Relative to the largest curvature: what makes the matrix invertible along weights that do not
# change p(c | x).
_DAMPING = 1e-9
# Rows whose indicators are held at a time: with 4,000 weights their products take 0.1 s, during
# which Ctrl-C waits.
_ROWS = 512
MAX_WEIGHTS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Hessian(AdditiveStatistic):
    """Negative Hessian of the conditional log-likelihood in bias and known weights.

    The parameters are in the order of `TableModel.flatten`.
    """

    matrix: Array

    @classmethod
    def of(cls, batch: Batch[Any], model: TableModel, weights: ClassTable) -> Hessian:
        """Sum the curvature of the rows of a batch."""
        k, width = len(weights.bias), 1 + int(model.is_known.sum())
        matrix = np.zeros((k, width, k, width))
        for start in range(0, len(batch.rows), _ROWS):
            rows = batch.rows.take(slice(start, start + _ROWS))
            design = model.design(rows)
            p = softmax(model.log_scores(rows, weights, batch.threads), axis=1)
            weight = np.ones(len(p)) if rows.weight is None else rows.weight
            for c in range(k):
                for other in range(c + 1):
                    of_pair = weight * p[:, c] * (float(c == other) - p[:, other])
                    block = design.T @ (of_pair[:, None] * design)
                    matrix[c, :, other] += block
                    if other < c:
                        matrix[other, :, c] += block.T
        return cls(matrix.reshape(k * width, k * width))


def newton_steps(
    objective: ConditionalLikelihood, value: ObjectiveValue, tol: float
) -> Generator[SolverStep, None, bool]:
    """Iterate Newton's method with an Armijo line search; return whether it has converged.

    The end is that of L-BFGS.
    """
    model, gain = objective.model, np.inf
    while gain >= tol * max(objective.unit, abs(value.objective)):
        gradient = model.flatten(value.gradient)
        if np.abs(gradient).max() < MAX_GRADIENT * objective.unit:
            return True
        matrix = objective.reduce(Hessian.of, model, value.weights).matrix
        matrix = matrix + _penalty_curvature(objective, value.weights)
        damping = _DAMPING * max(float(np.diagonal(matrix).max()), 1e-300)
        matrix[np.diag_indices_from(matrix)] += damping
        flat = _solve(matrix, gradient)
        direction = model.unflatten(flat, len(value.weights.bias))
        found = objective.ascend(value, direction)
        if found is None:
            return objective.is_flat(value, direction, tol)
        new, step = found
        gain = new.objective - value.objective
        value = new
        yield SolverStep(value, step)
    return True


def _solve(matrix: Array, gradient: Array) -> Array:
    def solve() -> Array:
        return np.asarray(linalg.solve(matrix, gradient, assume_a="pos"))

    return run_interruptibly(solve) if len(matrix) >= LARGE_MATRIX else solve()


def _penalty_curvature(objective: ConditionalLikelihood, weights: ClassTable) -> Array:
    """Return the curvature of the ridge, and of the joint likelihood as the model bounds it."""
    model = objective.model
    ridge = ClassTable(np.full_like(weights.table, objective.ridge), np.zeros_like(weights.bias))
    found = np.diag(model.flatten(ridge))
    if objective.tau > 0.0:
        found += objective.tau * model.joint_curvature(weights, objective.total)
    return found
