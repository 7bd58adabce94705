"""Naive latent class models: EM with an unobserved class, for naive Bayes and for a tree.

p(x) = sum over c of pi_c times the conditional distributions of the features. Responsibilities are
the posteriors of the classes, (n, K); the M step counts rows with them. A tree is chosen anew in
every M step from the conditional mutual information under the responsibilities.

References
----------
Lazarsfeld, P. F. and Henry, N. W. (1968). Latent structure analysis. Houghton Mifflin.
Meila, M. and Jordan, M. I. (2000). Learning with mixtures of trees. Journal of Machine Learning
Research 1.
Gomes, R., Krause, A. and Perona, P. (2010). Discriminative clustering by regularized information
maximization. Advances in Neural Information Processing Systems 23.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_dependence_naive import tan_structure
from tests.oracles.bayes_missing_naive import log_prior
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    Tables,
    fit_generative,
    informative_features,
    log_joint,
    log_sum_exp,
    n_joint_parameters,
    naive_structure,
    posteriors,
    sum_rows,
    to_weights,
)


@dataclass
class LatentRun:
    """Network, its structure, responsibilities, and log-likelihood (with prior) per iteration."""

    theta: Tables
    structure: Structure
    responsibilities: Array
    log_likelihood: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)


def log_likelihood(rows: Rows, theta: Tables, structure: Structure) -> float:
    """Weighted sum of log p(x); the classes of the rows are not used."""
    return float(rows.w @ log_sum_exp(log_joint(to_weights(theta), structure, rows.X)))


def latent_structure(rows: Rows, tree: bool) -> Structure:
    if tree:
        return tan_structure(rows)
    return naive_structure(informative_features(rows.X[rows.w > 0]))


def fit_latent(
    rows: Rows,
    tree: bool = False,
    alpha: float = 0.0,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> LatentRun:
    """EM from the responsibilities rows.Y, which starts with an M step.

    Without smoothing the log-likelihood never decreases; with a fixed structure (tree=False) the
    objective, the log-likelihood plus alpha times the sum of the log probabilities, never does.
    """
    structure = latent_structure(rows, tree)
    run = LatentRun(fit_generative(rows, structure, alpha), structure, rows.Y)
    for _ in range(max_iter):
        run.log_likelihood.append(log_likelihood(rows, run.theta, run.structure))
        run.objective.append(run.log_likelihood[-1] + log_prior(run.theta, alpha))
        run.responsibilities = posteriors(to_weights(run.theta), run.structure, rows.X)
        if len(run.objective) > 1 and run.objective[-1] - run.objective[-2] < tol:
            break
        soft = replace(rows, Y=run.responsibilities)
        run.structure = latent_structure(soft, tree)
        run.theta = fit_generative(soft, run.structure, alpha)
    return run


def bic(rows: Rows, run: LatentRun) -> float:
    """-2 log-likelihood + d log N, as scikit-learn's mixtures have it: smaller is better."""
    d = n_joint_parameters(run.structure, rows.categories, rows.n_classes)
    return -2 * run.log_likelihood[-1] + d * log(rows.total)


def random_responsibilities(n: int, k: int, seed: int) -> Array:
    return np.random.default_rng(seed).dirichlet(np.ones(k), size=n)


# Refinement by mutual information


def class_information(rows: Rows, weights: Tables, structure: Structure) -> float:
    """N I(C; X): how far the posteriors of the rows are from their mean."""
    P = posteriors(weights, structure, rows.X)
    mean = rows.w @ P / rows.total
    return float((rows.w[:, None] * P * (np.log(np.maximum(P, 1e-290)) - np.log(mean))).sum())


def information_residuals(rows: Rows, weights: Tables, structure: Structure) -> Tables:
    """Gradient of N I(C; X) in the weights: the residual Y - P of TM is replaced."""
    P = posteriors(weights, structure, rows.X)
    mean = rows.w @ P / rows.total
    ratio = np.log(np.maximum(P, 1e-290)) - np.log(mean)
    return sum_rows(rows, P * (ratio - (P * ratio).sum(axis=1, keepdims=True)), structure)
