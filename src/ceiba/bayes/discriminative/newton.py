"""Newton's method for the conditional likelihood of small models (solver="newton")."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.discriminative.objective import ConditionalLikelihood, SolverStep, Value
from ceiba.bayes.families import Families
from ceiba.bayes.network import Weights, mean_values
from ceiba.bayes.statistics import CodedRows
from ceiba.engine.contract import AdditiveStatistic, Batch

_MAX_GRADIENT = 1e-6
# Relative to the largest curvature: what makes the matrix invertible along weights that do not
# change p(c | x).
_DAMPING = 1e-9
# Rows whose indicators are held at a time.
_ROWS = 4096
MAX_WEIGHTS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class Hessian(AdditiveStatistic):
    """Negative Hessian of the conditional log-likelihood in bias and known weights.

    The parameters are ordered by class, and within a class: the bias, then the table rows.
    """

    matrix: Array

    @classmethod
    def of(cls, batch: Batch[CodedRows], families: Families, weights: Weights) -> Hessian:
        """Sum the curvature of the rows of a batch."""
        rows, k = batch.rows, len(weights.bias)
        width = 1 + int(families.is_known.sum())
        matrix = np.zeros((k, width, k, width))
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            indicators = _indicators(rows.codes[part], families)
            p = _posteriors(rows.codes[part], families, weights, batch.threads)
            weight = np.ones(len(p)) if rows.weight is None else rows.weight[part]
            for c in range(k):
                for other in range(c + 1):
                    of_pair = weight * p[:, c] * (float(c == other) - p[:, other])
                    block = indicators.T @ (of_pair[:, None] * indicators)
                    matrix[c, :, other] += block
                    if other < c:
                        matrix[other, :, c] += block.T
        return cls(matrix.reshape(k * width, k * width))


def _indicators(codes: Array, families: Families) -> Array:
    """Return 1 for the bias and the known table rows of each row of data, else 0."""
    position = np.cumsum(families.is_known)
    out = np.zeros((len(codes), 1 + int(families.is_known.sum())))
    out[:, 0] = 1.0
    each = np.arange(len(codes))
    for rows in families.table_rows(codes):
        known = families.is_known[rows]
        out[each[known], position[rows[known]]] = 1.0
    return out


def _posteriors(codes: Array, families: Families, weights: Weights, threads: int) -> Array:
    joint = np.empty((len(codes), len(weights.bias)))
    _native.bayes_log_joint(codes, weights.native(families), joint, threads)
    joint -= joint.max(axis=1, keepdims=True)
    p = np.exp(joint)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def newton_steps(
    objective: ConditionalLikelihood, value: Value, tol: float
) -> Generator[SolverStep, None, bool]:
    """Iterate Newton's method with an Armijo line search; return whether it has converged.

    Of the curvature of a generative penalty only the diagonal is used. The end is that of L-BFGS.
    """
    families, gain = objective.families, np.inf
    while gain >= tol * max(objective.unit, abs(value.objective)):
        gradient = _flatten(families, value.gradient)
        if np.abs(gradient).max() < _MAX_GRADIENT * objective.unit:
            return True
        matrix = objective.reduce(Hessian.of, families, value.weights).matrix
        matrix = matrix + _penalty_curvature(objective, value.weights)
        damping = _DAMPING * max(float(np.diagonal(matrix).max()), 1e-300)
        matrix[np.diag_indices_from(matrix)] += damping
        flat = linalg.solve(matrix, gradient, assume_a="pos")
        direction = _unflatten(families, flat, len(value.weights.bias))
        found = objective.ascend(value, direction)
        if found is None:
            return objective.is_flat(value, direction, tol)
        new, step = found
        gain = new.objective - value.objective
        value = new
        yield SolverStep(value, step)
    return True


def _flatten(families: Families, weights: Weights) -> Array:
    return np.concatenate([weights.bias[None], weights.table[families.is_known]]).T.ravel()


def _unflatten(families: Families, flat: Array, n_classes: int) -> Weights:
    parts = flat.reshape(n_classes, -1).T
    table = np.zeros((families.n_rows, n_classes))
    table[families.is_known] = parts[1:]
    return Weights(table, parts[0].copy())


def _penalty_curvature(objective: ConditionalLikelihood, weights: Weights) -> Array:
    """Return the curvature of the ridge, and of the joint likelihood of each table row alone."""
    families, k = objective.families, len(weights.bias)
    diagonal = Weights(np.full((families.n_rows, k), objective.ridge), np.zeros(k))
    if objective.tau > 0.0:
        means = mean_values(families, objective.start, objective.total)
        diagonal = diagonal.plus(objective.tau, means)
    return np.diag(_flatten(families, diagonal))
