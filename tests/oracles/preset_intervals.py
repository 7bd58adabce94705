"""Intervals of a numeric column, found threshold by threshold.

Ties of exact arithmetic may be broken by rounding, so a list of all results that rounding could
give is returned; the first is that of exact arithmetic with ties to the lowest threshold.
"""

from __future__ import annotations

import math

from tests.oracles.preset_sums import total_impurity
from tests.oracles.preset_thresholds import all_thresholds
from tests.oracles.tree_impurity import class_weights, entropy, weight

NEAR = 1e-12
MAX_RESULTS = 64


def halves(column, rows, threshold):
    return (
        [i for i in rows if column.values[i] <= threshold],
        [i for i in rows if column.values[i] > threshold],
    )


def best_thresholds(column, rows, measure, is_large):
    """Return the thresholds of (nearly) minimum measure whose two sides are large enough."""
    found = []
    for threshold in all_thresholds(column, rows):
        sides = halves(column, rows, threshold)
        if is_large(sides[0]) and is_large(sides[1]):
            found.append((sum(measure(side) for side in sides), threshold))
    if not found:
        return []
    minimum = min(own for own, _ in found) + NEAR * (measure(rows) or 1)
    return [threshold for own, threshold in found if own <= minimum]


# Fayyad and Irani (1993): by description length


def entropy_of(target, rows):
    return entropy(class_weights(target, rows))


def n_present(target, rows):
    return len({target.values[i] for i in rows})


def mdl_margin(target, rows, sides):
    """Return the gain of a threshold less the cost of its description."""
    total = float(weight(target, rows))
    if total <= 1:
        return -math.inf  # at most one row: nothing to describe
    parts = [(float(weight(target, side)), entropy_of(target, side)) for side in sides]
    own = entropy_of(target, rows)
    gain = own - sum(w * e for w, e in parts) / total
    k = n_present(target, rows)
    of_sides = sum(n_present(target, side) * e for side, (_, e) in zip(sides, parts, strict=True))
    delta = math.log2(3**k - 2) - (k * own - of_sides)
    return gain - (math.log2(total - 1) + delta) / total


def mdl_intervals(column, target, rows, is_large):
    """Return lists of thresholds: split at minimum entropy recursively while it pays."""
    found = []
    measure = lambda side: float(weight(target, side)) * entropy_of(target, side)  # noqa: E731
    for threshold in best_thresholds(column, rows, measure, is_large):
        sides = halves(column, rows, threshold)
        margin = mdl_margin(target, rows, sides)
        if margin <= NEAR:
            found.append([])
        if margin >= -NEAR:
            left, right = (mdl_intervals(column, target, side, is_large) for side in sides)
            found += [[*low, threshold, *high] for low in left for high in right]
    return different(found or [[]])[:MAX_RESULTS]


# A given number: best first


def given_intervals(column, criterion, target, rows, number, is_large):
    """Return lists of thresholds: add the one of maximum impurity decrease until enough."""
    return different(more_thresholds(column, criterion, target, rows, [], number, is_large))


def more_thresholds(column, criterion, target, rows, thresholds, number, is_large):
    if len(thresholds) == number - 1:
        return [thresholds]
    found = []
    for threshold in next_thresholds(column, criterion, target, rows, thresholds, is_large)[
        :MAX_RESULTS
    ]:
        longer = sorted([*thresholds, threshold])
        found += more_thresholds(column, criterion, target, rows, longer, number, is_large)
        if len(found) > MAX_RESULTS:
            break
    return found or [thresholds]


def next_thresholds(column, criterion, target, rows, thresholds, is_large):
    """Return the thresholds of (nearly) maximum decrease, ascending."""
    found = []
    for part in intervals(column, rows, thresholds):
        before = total_impurity(criterion, target, part)
        for threshold in all_thresholds(column, part):
            sides = halves(column, part, threshold)
            if is_large(sides[0]) and is_large(sides[1]):
                after = sum(total_impurity(criterion, target, side) for side in sides)
                found.append((float(before - after), threshold))
    if not found:
        return []
    slack = NEAR * float(total_impurity(criterion, target, rows))
    maximum = max(own for own, _ in found) - slack
    return [threshold for own, threshold in found if own >= maximum]


def intervals(column, rows, thresholds):
    """Return the rows of each interval."""
    found = [[] for _ in range(len(thresholds) + 1)]
    for i in rows:
        found[sum(column.values[i] > threshold for threshold in thresholds)].append(i)
    return found


def different(lists):
    return list({tuple(thresholds): thresholds for thresholds in lists}.values())
