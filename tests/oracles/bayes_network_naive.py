"""Naive way back from log-linear weights to a network, and to given margins of the features.

Any weights of a forest give the same p(c | x) as some network. Normalizing from the leaves to the
roots finds one; iterative proportional fitting finds the one with given margins of the features.
"""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_naive import (
    Structure,
    Tables,
    all_rows,
    log_joint,
    log_sum_exp,
    mean_values,
)


def _normalize(weights: Tables, structure: Structure) -> tuple[Tables, float]:
    """Network with the same p(c | x), and the log of the sum of exp over all classes and rows."""
    left = {j: table.copy() for j, table in weights.features.items()}
    classes, theta = weights.classes.copy(), {}
    for j in reversed(list(structure)):  # children come after their parents
        z = log_sum_exp(left[j], axis=-2)
        theta[j] = np.exp(left[j] - z[..., None, :])
        if structure[j]:
            (parent,) = structure[j]
            left[parent] += z  # broadcast over the parent's own parent
        else:
            classes += z
    log_z = float(log_sum_exp(classes))
    tables = Tables(np.exp(classes - log_z), {j: theta[j] for j in structure})
    return tables, log_z


def to_network(weights: Tables, structure: Structure) -> Tables:
    """Conditional distributions with the posteriors of the weights."""
    return _normalize(weights, structure)[0]


def log_normalizer(weights: Tables, structure: Structure) -> float:
    """log Z: what to subtract to make exp(weights) a joint distribution."""
    return _normalize(weights, structure)[1]


def log_normalizer_by_enumeration(
    weights: Tables, structure: Structure, categories: tuple[int, ...]
) -> float:
    A = log_joint(weights, structure, all_rows(list(structure), categories))
    return float(log_sum_exp(A.ravel()))


def feature_margins(U: Tables) -> dict[int, Array]:
    """v(s): mean values summed over the classes."""
    return {j: table.sum(axis=-1) for j, table in U.features.items()}


def fit_margins(
    weights: Tables,
    structure: Structure,
    margins: dict[int, Array],
    total: float,
    n_iter: int = 500,
    tol: float = 1e-12,
) -> Tables:
    """Iterative proportional fitting: mean values with the posteriors of weights and the margins.

    For each family log v(s) - log m(s) is added to the weights of all classes, which leaves
    p(c | x) alone. Cells with v(s) = 0 are left out.
    """
    tables = {j: table.copy() for j, table in weights.features.items()}
    fitted = Tables(weights.classes, tables)
    for _ in range(n_iter):
        worst = 0.0
        for j in structure:
            U = mean_values(to_network(fitted, structure), structure, total)
            m, v = U.features[j].sum(axis=-1), margins[j]
            ratio = np.zeros_like(m)
            np.log(np.divide(v, m, where=v > 0, out=np.ones_like(m)), out=ratio)
            tables[j] += ratio[..., None]
            worst = max(worst, float(np.abs(ratio).max()))
        if worst < tol:
            break
    return mean_values(to_network(fitted, structure), structure, total)
