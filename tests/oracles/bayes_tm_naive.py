"""Naive TM: gradient, natural gradient, line search, and the penalty that stays inside TM.

The conditional log-likelihood (CLL) of a forest network is softmax regression on the one-hot cells
of its families. G = counts - expected counts is its gradient in the log-linear weights, and TM adds
a multiple of G to the mean values U of the current network.

References
----------
Edwards, D. and Lauritzen, S. L. (2001). The TM algorithm for maximising a conditional likelihood
function. Biometrika 88.
Santafé, G., Lozano, J. A. and Larrañaga, P. (2005). Discriminative learning of Bayesian network
classifiers via the TM algorithm. ECSQARU 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    Tables,
    conditional_log_likelihood,
    fit_generative,
    mean_values,
    posteriors,
    probabilities,
    sum_rows,
    to_weights,
)

# Tables as vectors


def combine(first: Tables, second: Tables, function: Callable[[Array, Array], Array]) -> Tables:
    return Tables(
        function(first.classes, second.classes),
        {j: function(table, second.features[j]) for j, table in first.features.items()},
    )


def step_from(U: Tables, G: Tables, t: float) -> Tables:
    """U + t G."""
    return combine(U, G, lambda u, g: u + t * g)


def flatten(tables: Tables) -> Array:
    """Concatenate the classes and the tables of the features, in the order of the structure."""
    return np.concatenate([tables.classes, *(t.ravel() for t in tables.features.values())])


def unflatten(vector: Array, like: Tables) -> Tables:
    sizes = [like.classes.size, *(table.size for table in like.features.values())]
    parts = np.split(vector, np.cumsum(sizes)[:-1])
    shapes = zip(like.features.items(), parts[1:], strict=True)
    return Tables(parts[0], {j: part.reshape(table.shape) for (j, table), part in shapes})


def inner(first: Tables, second: Tables) -> float:
    return float(flatten(first) @ flatten(second))


# Gradient and natural gradient


def residuals(rows: Rows, weights: Tables, structure: Structure) -> Tables:
    """G = N - E[U | x]: the gradient of CLL in the weights."""
    P = posteriors(weights, structure, rows.X)
    return sum_rows(rows, rows.Y.sum(axis=1, keepdims=True) * -P + rows.Y, structure)


def natural_direction(U: Tables, G: Tables) -> Tables:
    """J(U) G: by how much the log-parameters move when the mean values U move by G."""
    found = {
        j: G.features[j] / u - G.features[j].sum(axis=-2, keepdims=True) / u.sum(-2, keepdims=True)
        for j, u in U.features.items()
    }
    return Tables(G.classes / U.classes, found)


def max_step(U: Tables, G: Tables) -> float:
    """Largest lambda for which no entry of U + lambda G is negative."""
    u, g = flatten(U), flatten(G)
    falling = g < 0
    return float((u[falling] / -g[falling]).min()) if falling.any() else np.inf


def freeze_vanishing_cells(U: Tables, G: Tables, share: float = 1e-9) -> Tables:
    """Set G to zero where it is negative and U is already at most share * sum_c U / K."""

    def frozen(u: Array, g: Array) -> Array:
        small = u <= share * u.sum(axis=-1, keepdims=True) / u.shape[-1]
        return np.where(small & (g < 0), 0.0, g)

    return combine(U, G, frozen)


# The TM algorithm


@dataclass
class TMRun:
    """Mean values, log probabilities, and per iteration objective, lambda and lambda_max."""

    U: Tables
    weights: Tables
    objective: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    max_steps: list[float] = field(default_factory=list)


Likelihood = Callable[[Rows, Tables, Structure], float]
Gradient = Callable[[Rows, Tables, Structure], Tables]


def start_values(rows: Rows, structure: Structure, alpha: float) -> Tables:
    """Mean values of the Laplace-smoothed network: consistent across tables, unlike N + alpha."""
    return mean_values(fit_generative(rows, structure, alpha), structure, rows.total)


def tm(
    rows: Rows,
    structure: Structure,
    alpha: float = 1.0,
    tau: float = 0.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    search: bool = True,
    start: Tables | None = None,
    likelihood: Likelihood = conditional_log_likelihood,
    gradient: Gradient = residuals,
) -> TMRun:
    """Maximize CLL + tau * (joint log-likelihood of the start's mean values) by TM.

    It starts from a network, by default the Laplace-smoothed one. search=False is the plain
    algorithm with lambda = 1; it ends when a table would become negative. Another likelihood with
    its gradient in the weights is maximized in the same way.
    """
    theta = fit_generative(rows, structure, alpha) if start is None else start
    U0 = mean_values(theta, structure, rows.total)

    def objective(U: Tables) -> float:
        weights = to_weights(probabilities(U, 0.0))
        joint = inner(U0, weights) if tau else 0.0
        return likelihood(rows, weights, structure) + tau * joint

    run = TMRun(U0, to_weights(probabilities(U0, 0.0)), [objective(U0)])
    t = 1.0
    for _ in range(max_iter):
        G = gradient(rows, run.weights, structure)
        G = combine(step_from(G, U0, tau), run.U, lambda g, u: g - tau * u)
        G = freeze_vanishing_cells(run.U, G)
        slope, longest = inner(G, natural_direction(run.U, G)), max_step(run.U, G)
        if not search and longest < 1.0:
            break
        t = min(t, 0.99 * longest) if search else 1.0
        now, at_once = run.objective[-1], True
        while search and objective(step_from(run.U, G, t)) < now + 1e-4 * t * slope:
            t, at_once = t / 2, False
            if t < 1e-12:
                return run
        run.U = step_from(run.U, G, t)
        run.weights = to_weights(probabilities(run.U, 0.0))
        run.objective.append(objective(run.U))
        run.steps.append(t)
        run.max_steps.append(longest)
        if run.objective[-1] - now < tol:
            break
        t = 2 * t if at_once else t
    return run
