"""Naive TM: gradient, natural gradient, line search, penalties, and two outside optimizers.

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
from scipy.optimize import minimize

from ceiba._typing import Array
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    Tables,
    conditional_log_likelihood,
    counts,
    family_index,
    fit_generative,
    mean_values,
    posteriors,
    probabilities,
    sum_rows,
    to_weights,
)
from tests.oracles.bayes_network_naive import log_normalizer, to_network

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


def freeze_dying_cells(U: Tables, G: Tables, share: float = 1e-9) -> Tables:
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
) -> TMRun:
    """Maximize CLL + tau * (joint log-likelihood of the smoothed counts) by TM.

    search=False is the plain algorithm with lambda = 1; it ends when a table becomes negative.
    """
    U0 = start_values(rows, structure, alpha)

    def objective(U: Tables) -> float:
        weights = to_weights(probabilities(U, 0.0))
        joint = inner(U0, weights) if tau else 0.0
        return conditional_log_likelihood(rows, weights, structure) + tau * joint

    run = TMRun(U0, to_weights(probabilities(U0, 0.0)), [objective(U0)])
    t = 1.0
    for _ in range(max_iter):
        G = residuals(rows, run.weights, structure)
        G = combine(step_from(G, U0, tau), run.U, lambda g, u: g - tau * u)
        G = freeze_dying_cells(run.U, G)
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


# The same objective for other optimizers


def objective_and_gradient(
    rows: Rows,
    weights: Tables,
    structure: Structure,
    ridge: float = 0.0,
    tau: float = 0.0,
    U0: Tables | None = None,
    center: Tables | None = None,
) -> tuple[float, Tables]:
    """CLL - ridge / 2 * sum of (weights - center)^2 + tau * JLL; the class terms are free of ridge.

    JLL(W) = <U0, W> - N log Z(W) is the log-likelihood of the statistics U0 under the joint model.
    """
    value = conditional_log_likelihood(rows, weights, structure)
    G = residuals(rows, weights, structure)
    if ridge:
        off = {j: w - (center.features[j] if center else 0) for j, w in weights.features.items()}
        value -= ridge / 2 * sum(float((w**2).sum()) for w in off.values())
        G = Tables(G.classes, {j: g - ridge * off[j] for j, g in G.features.items()})
    if tau and U0 is not None:
        U = mean_values(to_network(weights, structure), structure, rows.total)
        value += tau * (inner(U0, weights) - rows.total * log_normalizer(weights, structure))
        G = combine(step_from(G, U0, tau), U, lambda g, u: g - tau * u)
    return value, G


def fit_lbfgs(
    rows: Rows,
    structure: Structure,
    ridge: float = 0.0,
    tau: float = 0.0,
    alpha: float = 1.0,
    start: Tables | None = None,
) -> tuple[float, Tables]:
    """Maximize the objective with SciPy's L-BFGS; return it with the weights."""
    theta = fit_generative(rows, structure, alpha)
    U0 = mean_values(theta, structure, rows.total) if tau else None
    first = to_weights(theta) if start is None else start

    def loss(vector: Array) -> tuple[float, Array]:
        weights = unflatten(vector, first)
        value, G = objective_and_gradient(rows, weights, structure, ridge, tau, U0)
        return -value, -flatten(G)

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(loss, flatten(first), jac=True, method="L-BFGS-B", options=options)
    return -float(found.fun), unflatten(found.x, first)


def one_hot(rows: Rows, structure: Structure) -> Array:
    """Design matrix: a column of ones, then the one-hot cells of every family."""
    blocks = [np.ones((len(rows.X), 1))]
    for j, parents in structure.items():
        shape = tuple(rows.categories[k] for k in (*parents, j))
        cell = np.ravel_multi_index(family_index(rows.X, structure, j), shape)
        blocks.append(np.eye(int(np.prod(shape)))[cell])
    return np.hstack(blocks)


def fit_newton(
    rows: Rows,
    structure: Structure,
    ridge: float = 0.0,
    alpha: float = 1.0,
    tol: float = 1e-9,
    max_iter: int = 100,
) -> tuple[float, Tables]:
    """Maximize CLL - ridge / 2 * |weights|^2 by damped Newton steps with the dense Hessian.

    Weights that run to infinity gain about 1 per iteration, so that CLL comes within exp(-100) of
    its supremum. A multiple 1e-10 of the identity makes the singular Hessian definite.
    """
    weights = to_weights(fit_generative(rows, structure, alpha))
    Z, k = one_hot(rows, structure), rows.n_classes
    free = flatten(Tables(np.zeros(k), {j: np.ones_like(w) for j, w in weights.features.items()}))
    value, G = objective_and_gradient(rows, weights, structure, ridge)
    for _ in range(max_iter):
        P = posteriors(weights, structure, rows.X)
        H = np.diag(ridge * free + 1e-10)
        for a in range(k):
            for b in range(k):
                v = rows.w * P[:, a] * ((a == b) - P[:, b])
                H[a::k, b::k] += Z.T @ (v[:, None] * Z)
        g = flatten(G)
        step = np.linalg.solve(H, g)
        t = 1.0
        while t > 1e-10:
            trial = unflatten(flatten(weights) + t * step, weights)
            better, trial_G = objective_and_gradient(rows, trial, structure, ridge)
            if better >= value + 1e-4 * t * float(g @ step):
                break
            t /= 2
        else:
            break
        gain, value, weights, G = better - value, better, trial, trial_G
        if gain < tol * max(1.0, abs(value)):
            break
    return value, weights


# What the fit does not attain


def supremum(rows: Rows, structure: Structure) -> float:
    """Largest CLL, approached where it is not attained."""
    return fit_newton(rows, structure)[0]


def unbounded_cells(rows: Rows, structure: Structure) -> dict[int, Array]:
    """Cells that occur, but never with this class: their weight has no finite optimum."""
    N = counts(rows, structure)
    return {j: (t == 0) & (t.sum(axis=-1, keepdims=True) > 0) for j, t in N.features.items()}


def separable(rows: Rows, weights: Tables, structure: Structure) -> bool:
    """All rows are predicted correctly and CLL is above -0.001 per row."""
    P = posteriors(weights, structure, rows.X)
    correct = P.argmax(axis=1) == rows.Y.argmax(axis=1)
    cll = conditional_log_likelihood(rows, weights, structure)
    return bool(correct[rows.w > 0].all() and cll > -0.001 * rows.total)
