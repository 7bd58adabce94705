"""One judge for every mixture: the likelihood of its parameters, whatever it says of itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.mixture_data import Array, Form, Start
from benchmarks.mixture_peers import Fit
from benchmarks.workload import Numbers

BLOCK = 65_536


def of_fit(fit: Fit, start: Start) -> Numbers:
    """How well the final parameters describe the rows, and the steps that led there."""
    return {
        "log_likelihood": mean_log_likelihood(fit, start),
        "iterations": float(fit.iterations),
    }


def of_fits(fits: list[Fit], start: Start) -> Numbers:
    """Means over the calls of a run."""
    told = [of_fit(fit, start) for fit in fits]
    return {name: float(np.mean([each[name] for each in told])) for name in told[0]}


def of_answers(answers: Array, asked: object) -> Numbers:
    """Two sums that hardly agree by chance, of log densities or of posteriors.

    The first weighs the components by their place: exchanged columns do not go unseen.
    """
    columns = answers.reshape(len(answers), -1)
    by_place = columns @ np.arange(1, columns.shape[1] + 1)
    return {"mean": float(by_place.mean()), "mean_square": float((columns**2).sum(axis=1).mean())}


def mean_log_likelihood(fit: Fit, start: Start) -> float:
    """Of the values that are there, a row, by float64: one judge for everyone."""
    weights, means, covariances = (np.asarray(each, np.float64) for each in fit[:3])
    covariances = as_matrices(covariances, start.form, *means.shape)
    total = 0.0
    for rows, columns in by_pattern(start.X):
        matrices = covariances[:, columns][:, :, columns]
        total += log_densities(rows, weights, means[:, columns], matrices).sum()
    return float(total / len(start.X))


def as_matrices(covariances: Array, form: Form, k: int, columns: int) -> Array:
    """Whole covariance matrices, one a component, of any form."""
    if form == "spherical":
        return covariances[:, None, None] * np.eye(columns)
    if form == "diag":
        return covariances[:, :, None] * np.eye(columns)
    return np.broadcast_to(covariances, (k, columns, columns))


def by_pattern(X: Array) -> Iterator[tuple[Array, Array]]:
    """Rows with the same columns present, without their gaps, and those columns."""
    for first in range(0, len(X), BLOCK):
        block = X[first : first + BLOCK].astype(np.float64, copy=False)
        patterns, which = np.unique(~np.isnan(block), axis=0, return_inverse=True)
        for place, present in enumerate(patterns):
            columns = np.flatnonzero(present)
            yield block[which.ravel() == place][:, columns], columns


def log_densities(X: Array, weights: Array, means: Array, covariances: Array) -> Array:
    """Logarithm of the mixture's density at every row."""
    joint = np.empty((len(weights), len(X)))
    for k, (weight, mean, covariance) in enumerate(zip(weights, means, covariances, strict=True)):
        factor = np.linalg.cholesky(covariance)
        whitened = np.linalg.solve(factor, (X - mean).T)
        log_scale = np.log(np.diag(factor)).sum() + 0.5 * len(mean) * np.log(2 * np.pi)
        joint[k] = np.log(weight) - log_scale - 0.5 * np.einsum("ij,ij->j", whitened, whitened)
    return np.asarray(np.logaddexp.reduce(joint, axis=0))
