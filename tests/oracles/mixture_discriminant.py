"""Naive discriminant analysis: quadratic with own covariances, linear with a shared one.

Covariances are the likeliest ones (divided by the number of rows, not by one less).
"""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from tests.oracles.mixture_naive import ones
from tests.oracles.mixture_rows import complete, log_sum_exp


def class_moments(X: Array, y: Array, w: Array | None) -> tuple[Array, Array, Array]:
    """Weight, mean and scatter of each class, in the order of the sorted labels."""
    v = ones(X, w)
    sizes, means, scatters = [], [], []
    for label in np.unique(y):
        rows, own = X[y == label], v[y == label]
        mean = np.average(rows, axis=0, weights=own)
        sizes.append(own.sum())
        means.append(mean)
        scatters.append((rows - mean).T @ np.diag(own) @ (rows - mean))
    return np.array(sizes), np.array(means), np.array(scatters)


def log_posteriors(X: Array, priors: Array, means: Array, covariances: Array) -> Array:
    """Log of each class's posterior, (n, C), by Bayes' rule."""
    found = []
    for x in X:
        densities = [
            complete(x, mean, covariance).log_density
            for mean, covariance in zip(means, covariances, strict=True)
        ]
        joint = np.log(priors) + np.array(densities)
        found.append(joint - log_sum_exp(joint))
    return np.array(found)


def quadratic(X: Array, y: Array, w: Array | None, new: Array) -> Array:
    """Log posteriors of new rows where every class has its own covariance."""
    sizes, means, scatters = class_moments(X, y, w)
    return log_posteriors(new, sizes / sizes.sum(), means, scatters / sizes[:, None, None])


def linear(X: Array, y: Array, w: Array | None, new: Array) -> Array:
    """Log posteriors of new rows where all classes share one covariance."""
    sizes, means, scatters = class_moments(X, y, w)
    pooled = scatters.sum(axis=0) / sizes.sum()
    return log_posteriors(new, sizes / sizes.sum(), means, np.array([pooled] * len(sizes)))
