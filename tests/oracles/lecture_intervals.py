"""Several exclusive intervals of a numeric column, found cut by cut.

Decisions may hang on a tie that only exact arithmetic sees, so the answer is a list of all results
that rounding could lead to, the one of exact arithmetic with ties to the lowest cut first.
"""

from __future__ import annotations

import math

from tests.oracles.lecture_sums import total_impurity
from tests.oracles.lecture_thresholds import all_cuts
from tests.oracles.tree_impurity import class_weights, entropy, weight

NEAR = 1e-12
MOST_RESULTS = 64


def halves(column, rows, cut):
    return (
        [i for i in rows if column.values[i] <= cut],
        [i for i in rows if column.values[i] > cut],
    )


def best_cuts(column, rows, measure, is_large):
    """All cuts whose two sides are large enough and for which the measure is (about) least."""
    found = []
    for cut in all_cuts(column, rows):
        sides = halves(column, rows, cut)
        if is_large(sides[0]) and is_large(sides[1]):
            found.append((sum(measure(side) for side in sides), cut))
    if not found:
        return []
    least = min(own for own, _ in found) + NEAR * (measure(rows) or 1)
    return [cut for own, cut in found if own <= least]


# Fayyad and Irani (1993): the description length decides


def entropy_of(target, rows):
    return entropy(class_weights(target, rows))


def n_present(target, rows):
    return len({target.values[i] for i in rows})


def mdl_margin(target, rows, sides):
    """By how much the gain of a cut exceeds what its description costs."""
    total = float(weight(target, rows))
    if total <= 1:
        return -math.inf  # one row or less has nothing to be described
    parts = [(float(weight(target, side)), entropy_of(target, side)) for side in sides]
    own = entropy_of(target, rows)
    gain = own - sum(w * e for w, e in parts) / total
    k = n_present(target, rows)
    of_sides = sum(n_present(target, side) * e for side, (_, e) in zip(sides, parts, strict=True))
    delta = math.log2(3**k - 2) - (k * own - of_sides)
    return gain - (math.log2(total - 1) + delta) / total


def mdl_intervals(column, target, rows, is_large):
    """Lists of cuts: each set of rows is cut at least entropy, and its parts again, if it pays."""
    found = []
    measure = lambda side: float(weight(target, side)) * entropy_of(target, side)  # noqa: E731
    for cut in best_cuts(column, rows, measure, is_large):
        sides = halves(column, rows, cut)
        margin = mdl_margin(target, rows, sides)
        if margin <= NEAR:
            found.append([])
        if margin >= -NEAR:
            left, right = (mdl_intervals(column, target, side, is_large) for side in sides)
            found += [[*low, cut, *high] for low in left for high in right]
    return different(found or [[]])[:MOST_RESULTS]


# A given number: best first


def given_intervals(column, criterion, target, rows, number, is_large):
    """Lists of cuts: the cut that lowers the sum of impurities most, until there are enough."""
    return different(more_cuts(column, criterion, target, rows, [], number, is_large))


def more_cuts(column, criterion, target, rows, cuts, number, is_large):
    if len(cuts) == number - 1:
        return [cuts]
    found = []
    for cut in next_cuts(column, criterion, target, rows, cuts, is_large)[:MOST_RESULTS]:
        longer = sorted([*cuts, cut])
        found += more_cuts(column, criterion, target, rows, longer, number, is_large)
        if len(found) > MOST_RESULTS:
            break
    return found or [cuts]


def next_cuts(column, criterion, target, rows, cuts, is_large):
    """The cuts that lower the sum (about) most, ascending."""
    found = []
    for part in intervals(column, rows, cuts):
        before = total_impurity(criterion, target, part)
        for cut in all_cuts(column, part):
            sides = halves(column, part, cut)
            if is_large(sides[0]) and is_large(sides[1]):
                after = sum(total_impurity(criterion, target, side) for side in sides)
                found.append((float(before - after), cut))
    if not found:
        return []
    slack = NEAR * float(total_impurity(criterion, target, rows))
    most = max(own for own, _ in found) - slack
    return [cut for own, cut in found if own >= most]


def intervals(column, rows, cuts):
    """The rows of each interval."""
    found = [[] for _ in range(len(cuts) + 1)]
    for i in rows:
        found[sum(column.values[i] > cut for cut in cuts)].append(i)
    return found


def different(lists):
    return list({tuple(cuts): cuts for cuts in lists}.values())
