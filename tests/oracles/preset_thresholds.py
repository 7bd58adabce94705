"""Threshold candidates of a numeric or ordinal column: all midpoints, a grid, mean or median.

Values up to a threshold go left. Categories of an ordinal column count as 0, 1, ...
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tests.oracles.tree_candidates import midpoint
from tests.oracles.tree_impurity import weight


def all_thresholds(column, rows):
    """Return one threshold between each two neighboring values of the rows."""
    values = sorted({column.values[i] for i in rows})
    return [midpoint(column.kind, a, b) for a, b in pairwise(values)]


def value_thresholds(column, rows, all_rows):
    """Return the same thresholds, lowered to the largest value of the table not above them."""
    values = {column.values[i] for i in all_rows} - {None}
    return [max(v for v in values if v <= threshold) for threshold in all_thresholds(column, rows)]


# Methods that compute thresholds from values and weights


def weights_of_values(column, target, rows):
    """Return pairs of a value and the weight of its rows, ascending."""
    values = sorted({column.values[i] for i in rows})
    return [(v, weight(target, [i for i in rows if column.values[i] == v])) for v in values]


def mean_of(pairs):
    return sum(Fraction(v) * w for v, w in pairs) / sum(w for _, w in pairs)


def median_of(pairs):
    """Return the value that halves the weight, or the middle of two."""
    below, half = 0, Fraction(sum(w for _, w in pairs)) / 2
    for index, (value, own) in enumerate(pairs):
        below += own
        if below == half:
            return (Fraction(value) + Fraction(pairs[index + 1][0])) / 2
        if below > half:
            return Fraction(value)
    raise ValueError("the median needs at least one row")


def single_threshold(pairs, t):
    """Return the threshold t, or the largest value below if none lies above it."""
    values = [v for v, _ in pairs]
    return [t] if values[-1] > t or len(values) == 1 else [values[-2]]


def quantile_thresholds(kind, pairs, n):
    """Return thresholds at 1, 2, ... of n + 1 equal parts of the weight."""
    total = Fraction(sum(w for _, w in pairs))
    found = []
    for part in range(1, n + 1):
        below = 0
        for (value, own), (following, _) in pairwise(pairs):
            below += own
            if below >= total * part / (n + 1):
                found.append(midpoint(kind, value, following))
                break
    return found


def equal_width_thresholds(pairs, n):
    low, high = Fraction(pairs[0][0]), Fraction(pairs[-1][0])
    return [low + (high - low) * part / (n + 1) for part in range(1, n + 1)]


def method_thresholds(rule, column, target, rows, n):
    """Return the thresholds of a method for the known values of some rows."""
    pairs = weights_of_values(column, target, rows)
    if not pairs:
        return []
    if rule == "mean":
        return single_threshold(pairs, mean_of(pairs))
    if rule == "median":
        return single_threshold(pairs, median_of(pairs))
    if rule == "quantile":
        return quantile_thresholds(column.kind, pairs, n)
    return equal_width_thresholds(pairs, n)


# Candidates of a node


def separating(column, rows, thresholds):
    """Return the thresholds that separate the rows, the first of equivalent ones."""
    values = sorted({column.values[i] for i in rows})
    found = {}
    for threshold in thresholds:
        left = sum(v <= threshold for v in values)
        if 0 < left < len(values):
            found.setdefault(left, threshold)
    return [found[left] for left in sorted(found)]


def as_threshold(column, rows, threshold):
    """Return a threshold as a float, a multiple of one half, or the last category left of it."""
    if column.kind == "ordinal":
        return max(column.values[i] for i in rows if column.values[i] <= threshold)
    if column.kind == "float":
        return float(threshold)
    whole, half = divmod(math.floor(2 * threshold), 2)
    return whole + half / 2 if -(2**52) <= whole < 2**52 else whole


def thresholds_of(column, target, rows, options, root):
    """Return the thresholds that a node with the known ``rows`` tries, ascending.

    ``target`` has the weights in the node; ``root`` is the pair of target and known rows there.
    """
    rule, at_root = options.thresholds, options.threshold_scope == "root"
    if rule == "midpoint":
        return separating(column, rows, all_thresholds(column, root[1] if at_root else rows))
    if rule == "value":
        return value_thresholds(column, rows, root[1])
    source = root if at_root else (target, rows)
    thresholds = separating(
        column, rows, method_thresholds(rule, column, *source, options.n_thresholds)
    )
    return [as_threshold(column, rows, threshold) for threshold in thresholds]
