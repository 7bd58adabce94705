"""Rows drawn from a mixture."""

from __future__ import annotations

import numpy as np

from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array


def draw_rows(model: Gaussians, n: int, seed: int) -> tuple[Array, Array]:
    """``n`` rows, component after component, and the component of each."""
    if n < 1:
        raise ValueError(f"n_samples={n}: give the number of rows to draw, 1 or more")
    random = np.random.default_rng(seed)
    counts = random.multinomial(n, model.weights / model.weights.sum())
    d = model.means.shape[1]
    parts = [
        mean + noise(model, c, random.standard_normal((count, d)))
        for c, (mean, count) in enumerate(zip(model.means, counts, strict=True))
    ]
    return np.concatenate(parts), np.repeat(np.arange(len(counts)), counts)


def noise(model: Gaussians, component: int, normal: Array) -> Array:
    """Standard normal rows as rows of a component's covariance about zero."""
    covariance = model.covariances[component]
    if not model.full:
        scaled: Array = normal * np.sqrt(covariance)
        return scaled
    turned: Array = normal @ np.linalg.cholesky(covariance).T
    return turned
