"""Metrics of k-means, computed from centers and labels."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.kmeans.data import Array, Problem
from benchmarks.kmeans.peers import Fit
from benchmarks.workload import Metrics

BLOCK = 65_536


def inertia(problem: Problem, centers: Array, labels: Array) -> float:
    """Compute the sum of squared distances to the centers of the labels, in float64."""
    total, centers = 0.0, centers.astype(np.float64)
    for first in range(0, len(problem.X), BLOCK):
        part = slice(first, first + BLOCK)
        difference = problem.X[part] - centers[labels[part]]
        total += float(np.vdot(difference, difference))
    return total


def score_fit(fit: Fit, problem: Problem) -> Metrics:
    """Compute the inertia, and return the reported inertia and the iterations."""
    return {
        "inertia": inertia(problem, fit.centers, fit.labels),
        "reported": float(fit.inertia),
        "iterations": float(fit.n_iterations),
    }


def score_fits(fits: list[Fit], problem: Problem) -> Metrics:
    """Average the metrics over the calls of a run."""
    metrics = [score_fit(fit, problem) for fit in fits]
    return {name: float(np.mean([each[name] for each in metrics])) for name in metrics[0]}


def score_seeding(fit: Fit, problem: Problem) -> Metrics:
    """Compute the inertia after one iteration, which is added here for centers alone."""
    nearest = import_module("sklearn.metrics").pairwise_distances_argmin
    centers, labels = fit.centers, fit.labels
    if not len(labels):
        labels = nearest(problem.X, centers)
        sums = [np.bincount(labels, column, len(centers)) for column in problem.X.T]
        counts = np.bincount(labels, minlength=len(centers))
        centers = np.stack(sums, axis=1) / counts[:, None]
        labels = nearest(problem.X, centers.astype(problem.X.dtype))
    return {"inertia": inertia(problem, centers, labels)}
