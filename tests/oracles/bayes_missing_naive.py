"""Naive Bayesian network classifiers with missing values, by enumerating every completion of a row.

The code r of a column with r categories is a missing value. p(c, observed values) is the sum of
p(c, x) over all rows x that agree with the observed values; expected counts weigh those rows by
their probability given the class and the observed values.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_dependence_naive import (
    conditional_mutual_information,
    maximum_spanning_tree,
)
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    Tables,
    counts,
    log_joint,
    log_sum_exp,
    probabilities,
    sum_rows,
    to_weights,
)
from tests.oracles.bayes_tm_naive import TMRun, flatten, tm


def missing_mask(rows: Rows) -> Array:
    return np.array(rows.categories) == rows.X


def completions(x: Array, categories: tuple[int, ...], structure: Structure) -> Array:
    """Every row that fills the missing features of the model; other columns stay as they are."""
    gone = [j for j in structure if x[j] == categories[j]]
    filled = []
    for values in product(*(range(categories[j]) for j in gone)):
        row = x.copy()
        row[gone] = values
        filled.append(row)
    return np.array(filled)


# Likelihood


def observed_log_joint(
    weights: Tables, structure: Structure, X: Array, categories: tuple[int, ...]
) -> Array:
    """log p(c, observed values) of every row (n, K)."""
    joints = [log_joint(weights, structure, completions(x, categories, structure)) for x in X]
    return np.array([log_sum_exp(A, axis=0) for A in joints])


def observed_posteriors(
    weights: Tables, structure: Structure, X: Array, categories: tuple[int, ...]
) -> Array:
    """p(c | observed values) of every row (n, K)."""
    A = observed_log_joint(weights, structure, X, categories)
    return np.exp(A - log_sum_exp(A, keepdims=True))


def observed_cll(rows: Rows, weights: Tables, structure: Structure) -> float:
    """Weighted sum of log p(y | observed values)."""
    A = observed_log_joint(weights, structure, rows.X, rows.categories)
    L = A - log_sum_exp(A, keepdims=True)
    return float((rows.w[:, None] * np.where(rows.Y > 0, rows.Y * L, 0.0)).sum())


def observed_joint_log_likelihood(rows: Rows, weights: Tables, structure: Structure) -> float:
    """Weighted sum of log p(y, observed values): what EM maximizes without smoothing."""
    A = observed_log_joint(weights, structure, rows.X, rows.categories)
    return float((rows.w[:, None] * np.where(rows.Y > 0, rows.Y * A, 0.0)).sum())


# Expected statistics


def expected_statistics(rows: Rows, R: Array, weights: Tables, structure: Structure) -> Tables:
    """Sum of R_nc E[T(c, .) | c, observed values of row n], for any R (n, K)."""
    X, parts, w = [], [], []
    for x, r, weight in zip(rows.X, R, rows.w, strict=True):
        filled = completions(x, rows.categories, structure)
        A = log_joint(weights, structure, filled)
        X.append(filled)
        parts.append(r * np.exp(A - log_sum_exp(A, axis=0, keepdims=True)))
        w.append(np.full(len(filled), weight))
    many = replace(rows, X=np.concatenate(X), Y=np.concatenate(parts), w=np.concatenate(w))
    return sum_rows(many, many.Y, structure)


def observed_residuals(rows: Rows, weights: Tables, structure: Structure) -> Tables:
    """G: the gradient of the conditional log-likelihood of the observed values."""
    P = observed_posteriors(weights, structure, rows.X, rows.categories)
    R = rows.Y - rows.Y.sum(axis=1, keepdims=True) * P
    return expected_statistics(rows, R, weights, structure)


# Generative fits


def available_counts(rows: Rows, structure: Structure) -> Tables:
    """Counts of each family over the rows in which all of its features are observed."""
    seen = ~missing_mask(rows)
    tables = {}
    for j, parents in structure.items():
        complete = seen[:, [*parents, j]].all(axis=1)
        part = Rows(rows.X[complete], rows.Y[complete], rows.w[complete], rows.categories)
        tables[j] = counts(part, {j: parents}).features[j]
    return Tables(rows.w @ rows.Y, tables)


def fit_available(rows: Rows, structure: Structure, alpha: float = 1.0) -> Tables:
    """Conditional distributions from available cases: exact for naive Bayes, a start for trees."""
    return probabilities(available_counts(rows, structure), alpha)


def log_prior(theta: Tables, alpha: float) -> float:
    """alpha * sum of the log probabilities: what adding alpha to every count maximizes as well."""
    return alpha * float(flatten(to_weights(theta)).sum()) if alpha else 0.0


def fit_em(
    rows: Rows,
    structure: Structure,
    alpha: float = 1.0,
    tol: float = 1e-8,
    max_iter: int = 1000,
    start: Tables | None = None,
) -> tuple[Tables, list[float]]:
    """EM for the joint likelihood with observed classes; return the network and the objectives.

    The objective is the joint log-likelihood of the observed values plus log_prior, and never
    decreases. EM starts from the available cases.
    """
    theta = fit_available(rows, structure, alpha) if start is None else start

    def objective(theta: Tables) -> float:
        weights = to_weights(theta)
        return observed_joint_log_likelihood(rows, weights, structure) + log_prior(theta, alpha)

    history = [objective(theta)]
    for _ in range(max_iter):
        N = expected_statistics(rows, rows.Y, to_weights(theta), structure)
        theta = probabilities(N, alpha)
        history.append(objective(theta))
        if history[-1] - history[-2] < tol:
            break
    return theta, history


def tm_missing(
    rows: Rows,
    structure: Structure,
    alpha: float = 1.0,
    tau: float = 0.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> TMRun:
    """TM on the observed values, from EM's network: monotone, to a stationary point."""
    theta, _ = fit_em(rows, structure, alpha)
    return tm(
        rows,
        structure,
        tau=tau,
        tol=tol,
        max_iter=max_iter,
        start=theta,
        likelihood=observed_cll,
        gradient=observed_residuals,
    )


# Structure


def pairwise_complete(rows: Rows, i: int, j: int) -> Rows:
    """Rows in which both features are observed."""
    both = ~missing_mask(rows)[:, [i, j]].any(axis=1)
    return Rows(rows.X[both], rows.Y[both], rows.w[both], rows.categories)


def tan_structure_missing(rows: Rows) -> Structure:
    """Tree from the conditional mutual information of pairwise-complete rows."""
    seen, positive = ~missing_mask(rows), rows.w > 0
    features = [
        j for j in range(rows.X.shape[1]) if len(np.unique(rows.X[seen[:, j] & positive, j])) > 1
    ]
    matrix = np.zeros((len(features), len(features)))
    for a, i in enumerate(features):
        for b in range(a):
            part = pairwise_complete(rows, features[b], i)
            matrix[a, b] = matrix[b, a] = (
                conditional_mutual_information(part, features[b], i) if part.total > 0 else 0.0
            )
    structure: Structure = {features[0]: ()} if features else {}
    for a, b in maximum_spanning_tree(matrix):
        structure[features[b]] = (features[a],)
    return structure
