"""Where a numeric or ordinal column may be cut: between any two values, or where a rule says.

A cut is a number t: values up to t lie left of it. Levels of an ordinal column count as 0, 1, ...
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tests.oracles.tree_candidates import midpoint
from tests.oracles.tree_impurity import weight


def all_cuts(column, rows):
    """One cut between each two neighbouring values of the rows."""
    values = sorted({column.values[i] for i in rows})
    return [midpoint(column.kind, a, b) for a, b in pairwise(values)]


def value_cuts(column, rows, everywhere):
    """The same cuts, drawn back to the largest value of the whole table that is not above."""
    values = {column.values[i] for i in everywhere} - {None}
    return [max(v for v in values if v <= cut) for cut in all_cuts(column, rows)]


# Rules: some numbers t, computed from the values of some rows and their weights


def weights_of_values(column, target, rows):
    """Pairs of a value and the weight of all rows that have it, ascending."""
    values = sorted({column.values[i] for i in rows})
    return [(v, weight(target, [i for i in rows if column.values[i] == v])) for v in values]


def mean_of(pairs):
    return sum(Fraction(v) * w for v, w in pairs) / sum(w for _, w in pairs)


def median_of(pairs):
    """The value where the weight is halved; the middle of two if that is just between them."""
    below, half = 0, Fraction(sum(w for _, w in pairs)) / 2
    for place, (value, own) in enumerate(pairs):
        below += own
        if below == half:
            return (Fraction(value) + Fraction(pairs[place + 1][0])) / 2
        if below > half:
            return Fraction(value)
    raise ValueError("No rows have no median.")


def one_cut(pairs, t):
    """The cut at t; where no value lies above it, at the largest value below it."""
    values = [v for v, _ in pairs]
    return [t] if values[-1] > t or len(values) == 1 else [values[-2]]


def quantile_cuts(kind, pairs, n):
    """Cuts after the values at which 1, 2, ... of n + 1 equal parts of the weight are reached."""
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


def equal_width_cuts(pairs, n):
    low, high = Fraction(pairs[0][0]), Fraction(pairs[-1][0])
    return [low + (high - low) * part / (n + 1) for part in range(1, n + 1)]


def rule_cuts(rule, column, target, rows, n):
    """The numbers that a rule makes of the known values of some rows."""
    pairs = weights_of_values(column, target, rows)
    if not pairs:
        return []
    if rule == "mean":
        return one_cut(pairs, mean_of(pairs))
    if rule == "median":
        return one_cut(pairs, median_of(pairs))
    if rule == "quantile":
        return quantile_cuts(column.kind, pairs, n)
    return equal_width_cuts(pairs, n)


# What a node tries


def separating(column, rows, cuts):
    """Of the cuts those that part the rows: the first of all that part them alike."""
    values = sorted({column.values[i] for i in rows})
    found = {}
    for cut in cuts:
        left = sum(v <= cut for v in values)
        if 0 < left < len(values):
            found.setdefault(left, cut)
    return [found[left] for left in sorted(found)]


def shown(column, rows, cut):
    """The cut as a threshold: a float, a whole number, or the last level left of it."""
    if column.kind == "ordinal":
        return max(column.values[i] for i in rows if column.values[i] <= cut)
    return float(cut) if column.kind == "float" else math.floor(cut)


def cuts_of(column, target, rows, options, root):
    """The thresholds that a node with the known ``rows`` tries, ascending.

    ``target`` has the weights in the node; ``root`` is the pair of target and known rows there.
    """
    rule, at_root = options.thresholds, options.at == "root"
    if rule == "midpoint":
        return separating(column, rows, all_cuts(column, root[1] if at_root else rows))
    if rule == "value":
        return value_cuts(column, rows, root[1])
    told_by = root if at_root else (target, rows)
    cuts = separating(column, rows, rule_cuts(rule, column, *told_by, options.n_thresholds))
    return [shown(column, rows, cut) for cut in cuts]
