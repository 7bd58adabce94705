"""Naive discretization of a numeric column by the minimum description length principle.

References
----------
Fayyad, U. M. and Irani, K. B. (1993). Multi-interval discretization of continuous-valued attributes
for classification learning. IJCAI 1993.
"""

from __future__ import annotations

import itertools
from math import log2

import numpy as np

from ceiba._typing import Array


def class_entropy(y: Array) -> float:
    """Entropy of the classes in bits."""
    _, sizes = np.unique(y, return_counts=True)
    p = sizes / sizes.sum()
    return float(-(p * np.log2(p)).sum())


def best_threshold(x: Array, y: Array) -> float | None:
    """Midpoint of two neighboring values with the smallest entropy of the classes; first of ties.

    Differences below 1e-12 are rounding, not an improvement.
    """
    values = np.unique(x)
    best, found = np.inf, None
    for low, high in itertools.pairwise(values):
        threshold = (low + high) / 2
        left, right = y[x < threshold], y[x >= threshold]
        after = (len(left) * class_entropy(left) + len(right) * class_entropy(right)) / len(y)
        if after < best - 1e-12:
            best, found = after, float(threshold)
    return found


def accepts(y: Array, left: Array, right: Array) -> bool:
    """Compare the information gain with the description length of the threshold."""
    n = len(y)
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    h, h1, h2 = (class_entropy(part) for part in (y, left, right))
    gain = h - (len(left) * h1 + len(right) * h2) / n
    cost = log2(n - 1) + log2(3**k - 2) - (k * h - k1 * h1 - k2 * h2)
    return gain > cost / n


def mdl_thresholds(x: Array, y: Array) -> list[float]:
    """Accepted thresholds in increasing order; a value equal to one belongs to its right."""
    threshold = best_threshold(x, y)
    if threshold is None:
        return []
    right = x >= threshold
    if not accepts(y, y[~right], y[right]):
        return []
    below = mdl_thresholds(x[~right], y[~right])
    return [*below, threshold, *mdl_thresholds(x[right], y[right])]


def bin_codes(x: Array, thresholds: list[float]) -> Array:
    """Number of thresholds at or below each value."""
    return (x[:, None] >= np.array(thresholds, dtype=float)[None, :]).sum(axis=1)
