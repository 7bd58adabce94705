"""Naive EM for Gaussian mixtures: row by row, one formula at a time.

Rows are a float64 array in which NaN is missing; weights are one number per row, or None for ones.
Nothing of Ceiba is used here.

References
----------
Dempster, A. P., Laird, N. M. and Rubin, D. B. (1977). Maximum likelihood from incomplete data via
the EM algorithm. Journal of the Royal Statistical Society B 39.
Ghahramani, Z. and Jordan, M. I. (1994). Supervised learning from incomplete data via an EM
approach. Advances in Neural Information Processing Systems 6.
Fraley, C. and Raftery, A. E. (2007). Bayesian regularization for normal mixture estimation and
model-based clustering. Journal of Classification 24.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array
from tests.oracles.mixture_forms import DIAGONAL, SPHERICAL, covariance_parameters, solve_raised
from tests.oracles.mixture_rows import (
    Completed,
    Parameters,
    complete_all,
    log_densities,
    log_joint,
    log_sum_exp,
    responsibilities,
)


@dataclass(frozen=True)
class Prior:
    """Normal-inverse-Wishart on every component: mean, shrinkage, degrees of freedom, scale."""

    mean: Array
    shrinkage: float
    degrees: float
    scale: Array


@dataclass(frozen=True)
class Config:
    """Covariance form, prior, reg_covar and floor."""

    form: str
    q: int = 1
    reg_covar: float = 0.0
    floor: float = 1e-6
    prior: Prior | None = None


@dataclass(frozen=True)
class Statistics:
    """Expected sizes (K,), means (K, d) and scatters about them (K, d, d)."""

    sizes: Array
    means: Array
    scatters: Array


# The data


def ones(X: Array, w: Array | None) -> Array:
    return np.ones(len(X)) if w is None else np.asarray(w, dtype=float)


def column_means(X: Array, w: Array | None) -> Array:
    """Weighted mean of the observed values of each column."""
    there = ~np.isnan(X)
    return np.array(
        [
            np.average(column[ok], weights=ones(X, w)[ok])
            for column, ok in zip(X.T, there.T, strict=True)
        ]
    )


def column_variances(X: Array, w: Array | None) -> Array:
    """Weighted variance of the observed values; a constant column gets the mean of the others."""
    s2 = column_means((X - column_means(X, w)) ** 2, w)
    return np.where(s2 > 0, s2, s2[s2 > 0].mean()) if (s2 > 0).any() else s2


def default_prior(X: Array, w: Array | None, form: str, k: int) -> Prior:
    """The default prior of Fraley & Raftery (2007); missing values count as column moments."""
    d = X.shape[1]
    mean, s2 = column_means(X, w), column_variances(X, w)
    if form in SPHERICAL:
        scale = s2.mean() * np.eye(d)
    elif form in DIAGONAL:
        scale = np.diag(s2)
    else:
        apart = Parameters(np.ones(1), mean[None], np.diag(s2)[None])
        scale = e_step(X, w, apart)[1].scatters[0] / ones(X, w).sum()
    return Prior(mean, 0.01, d + 2, scale / k ** (2 / d))


# E step


def summarize(rows: list[list[Completed]], responsibilities: Array) -> Statistics:
    """Statistics of completed rows, weighted by responsibilities (n, K)."""
    filled = np.array([[part.filled for part in row] for row in rows])
    unsure = np.array([[part.covariance for part in row] for row in rows])
    sizes = responsibilities.sum(axis=0)
    means = np.einsum("nk,nki->ki", responsibilities, filled) / sizes[:, None]
    away = filled - means
    scatters = np.einsum("nk,nki,nkj->kij", responsibilities, away, away)
    return Statistics(sizes, means, scatters + np.einsum("nk,nkij->kij", responsibilities, unsure))


def e_step(X: Array, w: Array | None, parameters: Parameters) -> tuple[float, Statistics]:
    """Log-likelihood and expected statistics of the rows under the parameters."""
    rows, v = complete_all(X, parameters), ones(X, w)
    joint = np.array([log_joint(row, parameters.weights) for row in rows])
    densities = np.array([log_sum_exp(each) for each in joint])
    responsibilities = v[:, None] * np.exp(joint - densities[:, None])
    return float(v @ densities), summarize(rows, responsibilities)


def log_likelihood(X: Array, w: Array | None, parameters: Parameters) -> float:
    return float(ones(X, w) @ log_densities(X, parameters))


def log_prior(parameters: Parameters, prior: Prior | None) -> float:
    """Log density of the prior, up to a constant."""
    if prior is None:
        return 0.0
    d, total = len(prior.mean), 0.0
    for mean, covariance in zip(parameters.means, parameters.covariances, strict=True):
        away = mean - prior.mean
        total -= (prior.degrees + d + 2) / 2 * np.linalg.slogdet(covariance)[1]
        total -= np.trace(np.linalg.solve(covariance, prior.scale)) / 2
        total -= prior.shrinkage / 2 * (away @ np.linalg.solve(covariance, away))
    return float(total)


def objective(X: Array, w: Array | None, parameters: Parameters, config: Config) -> float:
    """The objective of EM: log-likelihood plus log prior."""
    return log_likelihood(X, w, parameters) + log_prior(parameters, config.prior)


# M step


def m_step(statistics: Statistics, config: Config, s2: Array) -> Parameters:
    """Maximum likelihood (or a posteriori) parameters for expected statistics."""
    N, m, W = statistics.sizes, statistics.means, statistics.scatters
    weights, means = N / N.sum(), m
    if config.prior is not None:
        N, means, W = with_prior(statistics, config.prior)
    covariances = solve_raised(config.form, N, W, config.q, config.reg_covar, config.floor, s2)
    return Parameters(weights, means, covariances)


def with_prior(statistics: Statistics, prior: Prior) -> tuple[Array, Array, Array]:
    """Sizes, means and scatters whose maximum likelihood is the posterior mode."""
    N, m, kappa = statistics.sizes, statistics.means, prior.shrinkage
    d = m.shape[1]
    away = m - prior.mean
    pull = np.array(
        [np.outer(a, a) * kappa * n / (kappa + n) for n, a in zip(N, away, strict=True)]
    )
    means = np.array(
        [(n * mean + kappa * prior.mean) / (n + kappa) for n, mean in zip(N, m, strict=True)]
    )
    return N + prior.degrees + d + 2, means, statistics.scatters + prior.scale + pull


def iterate(
    X: Array, w: Array | None, parameters: Parameters, config: Config
) -> tuple[float, Parameters]:
    """Log-likelihood of the parameters, and the parameters after one iteration of EM."""
    value, statistics = e_step(X, w, parameters)
    return value, m_step(statistics, config, column_variances(X, w))


def run(
    X: Array, w: Array | None, parameters: Parameters, config: Config, n: int
) -> list[Parameters]:
    """The initial parameters and those after each of n iterations."""
    found = [parameters]
    for _ in range(n):
        found.append(iterate(X, w, found[-1], config)[1])
    return found


def fit_until_converged(
    X: Array, w: Array | None, parameters: Parameters, config: Config, tol: float, max_iter: int
) -> tuple[Parameters, int, bool]:
    """Iterate until the objective converges; return parameters, iterations and convergence.

    The change is measured against the objective as if every column had variance 1, so that the
    units of the columns do not matter, but at least against the rows' weight.
    """
    v = ones(X, w)
    units = float((v[:, None] * ~np.isnan(X)).sum(axis=0) @ np.log(column_variances(X, w))) / 2
    before = None
    for done in range(max_iter):
        value, better = iterate(X, w, parameters, config)
        now = value + log_prior(parameters, config.prior)
        if before is not None and abs(now - before) < tol * max(abs(now + units), v.sum()):
            return parameters, done, True
        parameters, before = better, now
    return parameters, max_iter, False


# Criteria, of which smaller values are better


def n_parameters(form: str, k: int, d: int, q: int = 1) -> int:
    return covariance_parameters(form, k, d, q) + k * d + k - 1


def shape(parameters: Parameters) -> tuple[int, int]:
    """Components and columns."""
    k, d = parameters.means.shape
    return k, d


def aic(X: Array, w: Array | None, parameters: Parameters, config: Config) -> float:
    p = n_parameters(config.form, *shape(parameters), config.q)
    return -2 * log_likelihood(X, w, parameters) + 2 * p


def bic(X: Array, w: Array | None, parameters: Parameters, config: Config) -> float:
    p = n_parameters(config.form, *shape(parameters), config.q)
    return -2 * log_likelihood(X, w, parameters) + p * float(np.log(ones(X, w).sum()))


def icl(X: Array, w: Array | None, parameters: Parameters, config: Config) -> float:
    """BIC with the posteriors' entropy added twice (Biernacki, Celeux & Govaert 2000)."""
    entropy = 0.0
    for weight, row in zip(ones(X, w), responsibilities(X, parameters), strict=True):
        entropy -= weight * sum(r * np.log(r) for r in row if r > 0)
    return bic(X, w, parameters, config) + 2 * entropy
