"""One row under one Gaussian: log density, and conditional moments of missing values.

A missing value is NaN. Everything here follows from two facts: a Gaussian's marginal keeps the
observed part of mean and covariance, and the missing part given the observed one is Gaussian again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array


@dataclass(frozen=True)
class Parameters:
    """A mixture: weights (K,), means (K, d), covariances always (K, d, d)."""

    weights: Array
    means: Array
    covariances: Array

    @property
    def size(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class Completed:
    """A row under one component: log density, the filled row, and conditional covariance."""

    log_density: float
    filled: Array
    covariance: Array


def complete(x: Array, mean: Array, covariance: Array) -> Completed:
    """Condition a Gaussian on the observed columns."""
    there = ~np.isnan(x)
    if not there.any():
        return Completed(0.0, mean.copy(), covariance.copy())
    gone = ~there
    observed = covariance[there][:, there]
    deviation = x[there] - mean[there]
    solved = np.linalg.solve(observed, deviation)
    _, log_determinant = np.linalg.slogdet(2 * np.pi * observed)
    filled, left = x.copy(), np.zeros_like(covariance)
    if gone.any():
        across = covariance[gone][:, there]
        filled[gone] = mean[gone] + across @ solved
        unsure = covariance[gone][:, gone] - across @ np.linalg.solve(observed, across.T)
        left[np.ix_(gone, gone)] = unsure
    return Completed(-0.5 * (log_determinant + deviation @ solved), filled, left)


def complete_all(X: Array, parameters: Parameters) -> list[list[Completed]]:
    """Every row under every component."""
    pairs = list(zip(parameters.means, parameters.covariances, strict=True))
    return [[complete(x, mean, covariance) for mean, covariance in pairs] for x in X]


def log_sum_exp(values: Array) -> float:
    largest = values.max()
    return float(largest + np.log(np.exp(values - largest).sum()))


def log_joint(row: list[Completed], weights: Array) -> Array:
    """Log of weight times density, by component."""
    joint: Array = np.log(weights) + np.array([part.log_density for part in row])
    return joint


def log_densities(X: Array, parameters: Parameters) -> Array:
    """Log density of each row under the mixture."""
    rows = complete_all(X, parameters)
    return np.array([log_sum_exp(log_joint(row, parameters.weights)) for row in rows])


def row_responsibilities(row: list[Completed], weights: Array) -> Array:
    """Posterior of the components given the observed values."""
    joint = log_joint(row, weights)
    return np.exp(joint - log_sum_exp(joint))


def responsibilities(X: Array, parameters: Parameters) -> Array:
    """Posterior of the components for each row, (n, K)."""
    rows = complete_all(X, parameters)
    return np.array([row_responsibilities(row, parameters.weights) for row in rows])


def impute(X: Array, parameters: Parameters) -> tuple[Array, Array]:
    """Conditional mean of each row, and covariance (zero where observed).

    The missing part of a mixture is a mixture: its covariance has a part within components and a
    part between them.
    """
    means, covariances = [], []
    for row in complete_all(X, parameters):
        share = row_responsibilities(row, parameters.weights)
        mean = sum(r * part.filled for r, part in zip(share, row, strict=True))
        within = sum(r * part.covariance for r, part in zip(share, row, strict=True))
        between = sum(
            r * np.outer(part.filled - mean, part.filled - mean)
            for r, part in zip(share, row, strict=True)
        )
        means.append(mean)
        covariances.append(within + between)
    filled = np.where(np.isnan(X), np.array(means), X)
    missing = np.isnan(X)
    return filled, np.array(covariances) * (missing[:, :, None] & missing[:, None, :])
