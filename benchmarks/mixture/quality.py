"""Metrics of mixtures: the likelihood of their parameters, not what a library reports."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.mixture.data import Array, CovarianceType, Problem
from benchmarks.mixture.peers import Fit
from benchmarks.workload import Metrics

BLOCK = 65_536


def score_fit(fit: Fit, problem: Problem) -> Metrics:
    """Compute the mean log-likelihood of the final parameters, and return the iterations."""
    return {
        "log_likelihood": mean_log_likelihood(fit, problem),
        "iterations": float(fit.n_iterations),
    }


def score_fits(fits: list[Fit], problem: Problem) -> Metrics:
    """Average the metrics over the calls of a run."""
    metrics = [score_fit(fit, problem) for fit in fits]
    return {name: float(np.mean([each[name] for each in metrics])) for name in metrics[0]}


def score_predictions(predictions: Array, data: object) -> Metrics:
    """Compute two sums of log densities or posteriors that hardly agree by chance.

    The first weights the components by their index, so that exchanged columns are detected.
    """
    columns = predictions.reshape(len(predictions), -1)
    weighted = columns @ np.arange(1, columns.shape[1] + 1)
    return {"mean": float(weighted.mean()), "mean_square": float((columns**2).sum(axis=1).mean())}


def mean_log_likelihood(fit: Fit, problem: Problem) -> float:
    """Compute the log-likelihood per row of the observed values, in float64."""
    weights, means, covariances = (np.asarray(each, np.float64) for each in fit[:3])
    covariances = to_matrices(covariances, problem.covariance_type, *means.shape)
    total = 0.0
    for rows, columns in split_by_pattern(problem.X):
        matrices = covariances[:, columns][:, :, columns]
        total += log_densities(rows, weights, means[:, columns], matrices).sum()
    return float(total / len(problem.X))


def to_matrices(
    covariances: Array, covariance_type: CovarianceType, n_components: int, n_columns: int
) -> Array:
    """Return one full covariance matrix per component."""
    if covariance_type == "spherical":
        return covariances[:, None, None] * np.eye(n_columns)
    if covariance_type == "diag":
        return covariances[:, :, None] * np.eye(n_columns)
    return np.broadcast_to(covariances, (n_components, n_columns, n_columns))


def split_by_pattern(X: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the rows with the same observed columns, restricted to them, and these columns."""
    for first in range(0, len(X), BLOCK):
        block = X[first : first + BLOCK].astype(np.float64, copy=False)
        patterns, pattern_of_row = np.unique(~np.isnan(block), axis=0, return_inverse=True)
        for index, observed in enumerate(patterns):
            columns = np.flatnonzero(observed)
            yield block[pattern_of_row.ravel() == index][:, columns], columns


def log_densities(X: Array, weights: Array, means: Array, covariances: Array) -> Array:
    """Compute the log density of the mixture at every row."""
    joint = np.empty((len(weights), len(X)))
    for k, (weight, mean, covariance) in enumerate(zip(weights, means, covariances, strict=True)):
        factor = np.linalg.cholesky(covariance)
        whitened = np.linalg.solve(factor, (X - mean).T)
        log_scale = np.log(np.diag(factor)).sum() + 0.5 * len(mean) * np.log(2 * np.pi)
        joint[k] = np.log(weight) - log_scale - 0.5 * np.einsum("ij,ij->j", whitened, whitened)
    return np.asarray(np.logaddexp.reduce(joint, axis=0))
