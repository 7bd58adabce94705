"""Naive discriminative training of naive Bayes with categories, normal and Poisson columns.

Everything is in the columns' own units, one row, class and column at a time. A missing value drops
out of p(c, x), since its distribution sums to 1; in the sums of a class it counts as its
expectation. A TM step adds residual sums to the expected sums of the current model.

References
----------
Edwards, D. and Lauritzen, S. L. (2001). The TM algorithm for maximising a conditional likelihood
function. Biometrika 88.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import lgamma, log, pi

import numpy as np

from ceiba._typing import Array


@dataclass
class DensityTable:
    """Codes (-1: missing), normal values and counts (NaN: missing), classes and weights."""

    codes: Array
    normal: Array
    counts: Array
    y: Array
    w: Array
    categories: tuple[int, ...]
    n_classes: int


@dataclass
class DensityModel:
    """p(c); p(category | c) of each column, (r, K); mean, variance and rate, (columns, K)."""

    prior: Array
    tables: list[Array]
    mean: Array
    variance: Array
    rate: Array


@dataclass
class Sums:
    """Weight of each class, and its sums of indicators, values, squares and counts."""

    classes: Array
    tables: list[Array]
    values: Array
    squares: Array
    counts: Array

    def plus(self, step: float, other: Sums) -> Sums:
        parts = []
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            if field.name == "tables":
                parts.append([a + step * b for a, b in zip(one, two, strict=True)])
            else:
                parts.append(one + step * two)
        return Sums(*parts)


def model_of(sums: Sums) -> DensityModel:
    """M step: frequencies, means, variances and rates."""
    n = sums.classes
    mean = sums.values / n
    return DensityModel(
        n / n.sum(), [t / n for t in sums.tables], mean, sums.squares / n - mean**2, sums.counts / n
    )


def sums_of(model: DensityModel, total: float) -> Sums:
    """Expected sums of ``total`` rows."""
    n = total * model.prior
    squares = model.variance + model.mean**2
    return Sums(n, [n * t for t in model.tables], n * model.mean, n * squares, n * model.rate)


def class_sums(table: DensityTable, omega: Array, model: DensityModel) -> Sums:
    """Sum the rows with weights omega (n, K); missing values count as their expectation."""
    k = table.n_classes
    found = Sums(
        np.zeros(k),
        [np.zeros((r, k)) for r in table.categories],
        *(np.zeros((table.normal.shape[1], k)) for _ in range(2)),
        np.zeros((table.counts.shape[1], k)),
    )
    for i in range(len(table.y)):
        for c in range(k):
            o = omega[i, c]
            found.classes[c] += o
            for j, code in enumerate(table.codes[i]):
                if code < 0:
                    found.tables[j][:, c] += o * model.tables[j][:, c]
                else:
                    found.tables[j][code, c] += o
            for j, x in enumerate(table.normal[i]):
                mean, variance = model.mean[j, c], model.variance[j, c]
                found.values[j, c] += o * (mean if np.isnan(x) else x)
                found.squares[j, c] += o * (variance + mean**2 if np.isnan(x) else x**2)
            for j, x in enumerate(table.counts[i]):
                found.counts[j, c] += o * (model.rate[j, c] if np.isnan(x) else x)
    return found


def fit_generative(table: DensityTable) -> DensityModel:
    """Maximum likelihood, of the known values of each column."""
    k = table.n_classes
    tables = [np.zeros((r, k)) for r in table.categories]
    mean, variance = np.zeros((2, table.normal.shape[1], k))
    rate = np.zeros((table.counts.shape[1], k))
    for c in range(k):
        own = table.y == c
        for j, t in enumerate(tables):
            for code in range(len(t)):
                t[code, c] = table.w[own & (table.codes[:, j] == code)].sum()
        for j in range(len(mean)):
            known = own & ~np.isnan(table.normal[:, j])
            x, w = table.normal[known, j], table.w[known]
            mean[j, c] = (w * x).sum() / w.sum()
            variance[j, c] = (w * (x - mean[j, c]) ** 2).sum() / w.sum()
        for j in range(len(rate)):
            known = own & ~np.isnan(table.counts[:, j])
            rate[j, c] = (table.w[known] * table.counts[known, j]).sum() / table.w[known].sum()
    prior = np.array([table.w[table.y == c].sum() for c in range(k)])
    return DensityModel(
        prior / prior.sum(), [t / t.sum(axis=0) for t in tables], mean, variance, rate
    )


def log_joint(table: DensityTable, model: DensityModel) -> Array:
    """log p(c, known values) of every row (n, K)."""
    found = np.zeros((len(table.y), table.n_classes))
    for i in range(len(table.y)):
        for c in range(table.n_classes):
            score = log(model.prior[c])
            for j, code in enumerate(table.codes[i]):
                score += log(model.tables[j][code, c]) if code >= 0 else 0.0
            for j, x in enumerate(table.normal[i]):
                if not np.isnan(x):
                    v = model.variance[j, c]
                    score -= 0.5 * log(2 * pi * v) + (x - model.mean[j, c]) ** 2 / (2 * v)
            for j, x in enumerate(table.counts[i]):
                if not np.isnan(x):
                    score += x * log(model.rate[j, c]) - model.rate[j, c] - lgamma(x + 1)
            found[i, c] = score
    return found


def posteriors(table: DensityTable, model: DensityModel) -> Array:
    A = log_joint(table, model)
    P = np.exp(A - A.max(axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def conditional_log_likelihood(table: DensityTable, model: DensityModel) -> float:
    P = posteriors(table, model)
    return float(table.w @ np.log(P[np.arange(len(P)), table.y]))


def joint_log_likelihood(sums: Sums, model: DensityModel) -> float:
    """Log-likelihood of expected sums, without terms that no parameter is in."""
    found = float(sums.classes @ np.log(model.prior))
    for counts, theta in zip(sums.tables, model.tables, strict=True):
        found += float((counts * np.log(theta)).sum())
    squares = sums.squares - 2 * model.mean * sums.values + model.mean**2 * sums.classes
    found -= float((0.5 * np.log(model.variance) * sums.classes).sum())
    found -= float((0.5 * squares / model.variance).sum())
    return found + float((sums.counts * np.log(model.rate) - model.rate * sums.classes).sum())


def objective(table: DensityTable, model: DensityModel, tau: float, start: Sums) -> float:
    return conditional_log_likelihood(table, model) + tau * joint_log_likelihood(start, model)


def max_step(U: Sums, G: Sums) -> float:
    """Largest step for which all counts, variances and rates are positive."""
    polynomials = [np.array([g, u]) for u, g in zip(U.classes, G.classes, strict=True)]
    for u, g in zip([*U.tables, U.counts], [*G.tables, G.counts], strict=True):
        polynomials += [np.array(pair) for pair in zip(g.ravel(), u.ravel(), strict=True)]
    for j, c in np.ndindex(U.values.shape):
        squares, weight = [G.squares[j, c], U.squares[j, c]], [G.classes[c], U.classes[c]]
        values = [G.values[j, c], U.values[j, c]]
        polynomials.append(np.polysub(np.polymul(squares, weight), np.polymul(values, values)))
    roots = np.concatenate([np.roots(p) for p in polynomials])
    real = roots[np.abs(roots.imag) == 0].real
    return float(real[real > 0].min(initial=np.inf))


@dataclass
class DensityRun:
    """Model, and per iteration the objective, lambda and lambda_max."""

    model: DensityModel
    objective: list[float]
    steps: list[float]
    max_steps: list[float]


def tm(table: DensityTable, tau: float, tol: float, max_iter: int) -> DensityRun:
    """TM from the model of maximum likelihood, with the line search of the library.

    The slope of the objective along the step is a difference, not a formula.
    """
    model = fit_generative(table)
    total = float(table.w.sum())
    U0 = U = sums_of(model, total)
    run = DensityRun(model, [objective(table, model, tau, U0)], [], [])
    t = 1.0
    for _ in range(max_iter):
        omega = -posteriors(table, run.model)
        omega[np.arange(len(omega)), table.y] += 1.0
        G = class_sums(table, table.w[:, None] * omega, run.model)
        G = G.plus(tau, U0).plus(-tau, U)
        longest = max_step(U, G)
        small = 1e-5 * min(longest, 1.0)
        ends = [objective(table, model_of(U.plus(s, G)), tau, U0) for s in (small, -small)]
        slope = (ends[0] - ends[1]) / (2 * small)
        t, now, at_once = min(t, 0.99 * longest), run.objective[-1], True
        while objective(table, model_of(U.plus(t, G)), tau, U0) < now + 1e-4 * t * slope:
            t, at_once = t / 2, False
        U = U.plus(t, G)
        run.model = model_of(U)
        run.objective.append(objective(table, run.model, tau, U0))
        run.steps.append(t)
        run.max_steps.append(longest)
        if run.objective[-1] - now < tol:
            break
        t = 2 * t if at_once else t
    return run


# Free parameters, for derivatives by differences


def moved(model: DensityModel, rng: np.random.Generator, step: float) -> DensityModel:
    """Move along a direction of logits, means, log variances and log rates."""

    def softmax(p: Array) -> Array:
        q = p * np.exp(step * rng.normal(size=p.shape))
        return np.asarray(q / q.sum(axis=0))

    return DensityModel(
        softmax(model.prior),
        [softmax(t) for t in model.tables],
        model.mean + step * np.sqrt(model.variance) * rng.normal(size=model.mean.shape),
        model.variance * np.exp(step * rng.normal(size=model.mean.shape)),
        model.rate * np.exp(step * rng.normal(size=model.rate.shape)),
    )
