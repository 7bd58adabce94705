"""Thresholds of one numeric column, as functions of the class weights of its values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize.config import Method
from ceiba.bayes.discretize.intervals import Number, between
from ceiba.bayes.discretize.mdl import mdl_splits
from ceiba.bayes.discretize.statistics import ValueGroups
from ceiba.cluster import KMeans

# Integers up to here are float64 exactly.
_MAX_EXACT = 2**53


def find_thresholds(
    groups: ValueGroups, method: Method, n_bins: int, unit: float, name: str
) -> list[Number]:
    """Return the ascending thresholds of a column.

    Parameters
    ----------
    groups : ValueGroups
        Class weights of the values; for equal width their range is enough.
    method : str
        Any but ``"given"``.
    n_bins : int
        Number of intervals; there are fewer where values are equal.
    unit : float
        Weight of one fixed-point unit.
    name : str
        Name of the column, for messages.
    """
    if len(groups.low) == 0:
        return []
    if method == "mdl":
        return _before(groups, mdl_splits(groups.counts, unit))
    if method == "equal_frequency":
        return equal_frequency(groups, groups.counts.sum(axis=1) * unit, n_bins)
    _check_finite(groups, method, name)
    if method == "equal_width":
        return _equal_width(groups, n_bins)
    return _kmeans(groups, groups.counts.sum(axis=1) * unit, n_bins)


def equal_frequency(groups: ValueGroups, weight: Array, n_bins: int) -> list[Number]:
    """Return the weighted quantiles k / n_bins as thresholds."""
    cumulative = np.cumsum(weight)
    wanted = np.arange(1, n_bins) * (cumulative[-1] / n_bins)
    # Rounded sums of equal weights count as equal.
    reached = np.searchsorted(cumulative, wanted * (1 - 1e-12)) + 1
    return _before(groups, np.unique(reached[reached < len(weight)]).tolist())


def _before(groups: ValueGroups, splits: Iterable[int]) -> list[Number]:
    """Return the midpoint before each of some groups."""
    return [between(groups.high[i - 1], groups.low[i]) for i in splits]


def _equal_width(groups: ValueGroups, n_bins: int) -> list[Number]:
    low, high = groups.low[0].item(), groups.high[-1].item()
    if low == high:
        return []
    if isinstance(low, int) and max(abs(low), abs(high)) > _MAX_EXACT:
        width = high - low
        return _distinct(low - (-i * width // n_bins) for i in range(1, n_bins))
    low, high = float(low), float(high)
    width = high - low
    if math.isfinite(width):
        grid = (low + i * (width / n_bins) for i in range(1, n_bins))
    else:
        grid = (low * (1 - i / n_bins) + high * (i / n_bins) for i in range(1, n_bins))
    return _distinct(t for t in grid if low < t <= high)


def _kmeans(groups: ValueGroups, weight: Array, n_bins: int) -> list[Number]:
    """Return the midpoints between the centers of one-dimensional k-means.

    It starts from the middles of intervals of equal width, as scikit-learn's KBinsDiscretizer.
    """
    low, high = groups.low, groups.high
    exact = low.dtype.kind == "f" or max(abs(low[0].item()), abs(high[-1].item())) <= _MAX_EXACT
    if not exact:  # distances from the smallest integer, which are exact modulo 2^64
        origin = low[0].astype(np.uint64)
        low, high = low.astype(np.uint64) - origin, high.astype(np.uint64) - origin
    points = low.astype(np.float64) / 2 + high.astype(np.float64) / 2
    k = min(n_bins, len(points))
    if k < 2:
        return []
    steps = (np.arange(k) + 0.5) / k
    init = points[0] * (1 - steps) + points[-1] * steps
    # Relative weights: their sums neither overflow nor underflow.
    model = KMeans(k, init=init[:, None], n_jobs=1)
    with warnings.catch_warnings():
        # Values that are far apart leave clusters empty, of which no interval results.
        warnings.simplefilter("ignore")
        model.fit(points[:, None], sample_weight=weight / weight.max())
    centers = np.unique(model.cluster_centers_[:, 0])
    middles = centers[:-1] / 2 + centers[1:] / 2
    by_split = dict(zip(np.searchsorted(points, middles).tolist(), middles.tolist(), strict=True))
    # A threshold must separate two values; distances are no thresholds.
    return [
        t if exact and high[i - 1].item() < t <= low[i].item() else _before(groups, [i])[0]
        for i, t in by_split.items()
        if 0 < i < len(points)
    ]


def _distinct(numbers: Iterable[Number]) -> list[Number]:
    return sorted(set(numbers))


def _check_finite(groups: ValueGroups, method: Method, name: str) -> None:
    if groups.low.dtype.kind == "f" and not np.isfinite([groups.low[0], groups.high[-1]]).all():
        raise ValueError(
            f"X contains infinity in column {name!r}, which method={method!r} does not accept: "
            "correct it, or use method='equal_frequency'."
        )
