"""Naive optimizers of the conditional log-likelihood beside TM: L-BFGS and Newton.

The objective is softmax regression on the one-hot cells of the families, concave in the log-linear
weights, with a ridge or with the joint log-likelihood as penalty.
"""

from __future__ import annotations

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
    to_weights,
)
from tests.oracles.bayes_network_naive import log_normalizer, to_network
from tests.oracles.bayes_tm_naive import (
    combine,
    flatten,
    inner,
    natural_direction,
    residuals,
    step_from,
    unflatten,
)


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


def curvature(rows: Rows, weights: Tables, structure: Structure) -> Array:
    """H = sum over rows of Cov(cells | x): minus the Hessian of CLL, in the order of flatten."""
    P, Z, k = posteriors(weights, structure, rows.X), one_hot(rows, structure), rows.n_classes
    H = np.zeros((Z.shape[1] * k, Z.shape[1] * k))
    for a in range(k):
        for b in range(k):
            v = rows.w * P[:, a] * ((a == b) - P[:, b])
            H[a::k, b::k] = Z.T @ (v[:, None] * Z)
    return H


def step_eigenvalues(rows: Rows, U: Tables, structure: Structure) -> Array:
    """Eigenvalues of J(U) H, largest first: near the optimum TM contracts by 1 - lambda rho.

    With lambda = 1 it diverges if the largest exceeds 2.
    """
    H = curvature(rows, to_weights(probabilities(U, 0.0)), structure)
    JH = np.array([flatten(natural_direction(U, unflatten(column, U))) for column in H.T]).T
    return np.sort(np.linalg.eigvals(JH).real)[::-1]


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
    ones = {j: np.ones_like(table) for j, table in weights.features.items()}
    free = flatten(Tables(np.zeros(rows.n_classes), ones))
    value, G = objective_and_gradient(rows, weights, structure, ridge)
    for _ in range(max_iter):
        H = curvature(rows, weights, structure) + np.diag(ridge * free + 1e-10)
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
