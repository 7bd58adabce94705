"""The splits that a node could make, column by column, in the order in which ties are broken.

A value is a number, or the code of a level (its place among the column's labels); None is a gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tests.oracles.tree_impurity import class_weights, lower_median, mean, shares, weight

MOST_EXHAUSTIVE = 10


@dataclass(frozen=True)
class Column:
    """Values of one kind: "float", "int", "ordinal" or "nominal"; labels of the last two."""

    kind: str
    values: list
    labels: tuple = ()


@dataclass(frozen=True)
class Candidate:
    """A test on one column and what it makes of the node's rows.

    ``groups`` are the levels of each branch (a branch for gaps alone has none), or None where
    values up to ``threshold`` go to branch 0 and all others to branch 1. ``gap`` is the branch of a
    gap, also of later ones where the node has none.
    """

    column: int
    branches: list
    gap: int
    threshold: float | None = None
    groups: list | None = None
    method: str = "threshold"

    def branch_of(self, value):
        """The branch of one value; a level that no branch lists is a gap."""
        if value is None:
            return self.gap
        if self.groups is None:
            return 0 if value <= self.threshold else 1
        return next((j for j, group in enumerate(self.groups) if value in group), self.gap)


@dataclass(frozen=True)
class Rules:
    """How splits are made."""

    criterion: str = "gini"
    splits: str = "binary"
    missing: str = "learned"


# Gaps


def heaviest(target, branches):
    """The first of the branches with most weight."""
    weights = [weight(target, branch) for branch in branches]
    return weights.index(max(weights))


def joined(branches, gaps, place):
    """The branches, the gaps among the rows of one of them."""
    return [sorted(branch + gaps) if j == place else branch for j, branch in enumerate(branches)]


def with_gaps(target, known, gaps, missing):
    """Where the gaps can go: pairs of all branches and the one that takes gaps."""
    if not gaps:
        return [(known, heaviest(target, known))]
    if missing == "branch":
        return [([*known, gaps], len(known))]
    places = [heaviest(target, known)] if missing == "majority" else range(len(known))
    return [(joined(known, gaps, place), place) for place in places]


def parted(column, rows):
    """Rows that have a value, and rows that have none."""
    known = [i for i in rows if column.values[i] is not None]
    return known, [i for i in rows if column.values[i] is None]


# Thresholds


def midpoint(kind, a, b):
    """A threshold with a <= t < b, whatever the rounding."""
    if kind == "ordinal":
        return a
    if kind == "int":
        return (a + b) // 2
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def threshold_candidates(place, column, target, rows, rules):
    known, gaps = parted(column, rows)
    values = sorted({column.values[i] for i in known})
    found = []
    for a, b in pairwise(values):
        cut = midpoint(column.kind, a, b)
        sides = [
            [i for i in known if column.values[i] <= a],
            [i for i in known if column.values[i] > a],
        ]
        for branches, gap in with_gaps(target, sides, gaps, rules.missing):
            found.append(Candidate(place, branches, gap, threshold=cut))
    if known and gaps and rules.missing != "majority":
        # Whatever is known goes left, also later values above all of these.
        found.append(Candidate(place, [known, gaps], 1, threshold=math.inf))
    return found


# Levels


def levels_of(column, rows):
    """The rows of each level that occurs, in level order."""
    codes = sorted({column.values[i] for i in rows})
    return {code: [i for i in rows if column.values[i] == code] for code in codes}


def multiway_candidates(place, column, target, rows, rules):
    known, gaps = parted(column, rows)
    levels = levels_of(column, known)
    groups = [[code] for code in levels]
    if len(levels) == 1 and gaps and rules.missing != "majority":
        return [Candidate(place, [known, gaps], 1, groups=groups, method="multiway")]
    if len(levels) < 2:
        return []
    return [
        Candidate(place, branches, gap, groups=groups, method="multiway")
        for branches, gap in with_gaps(target, list(levels.values()), gaps, rules.missing)
    ]


def grouping_candidates(place, column, target, rows, rules):
    """Two groups of levels; under "learned" the gaps are one more level, the last."""
    known, gaps = parted(column, rows)
    items = levels_of(column, known)
    if gaps and rules.missing == "learned":
        items[None], gaps = gaps, []
    method, lefts = groupings(items, target, rules.criterion)
    found = []
    for left in lefts:
        sides = [left, [item for item in items if item not in left]]
        parts = [sorted(i for item in side for i in items[item]) for side in sides]
        groups = [sorted(item for item in side if item is not None) for side in sides]
        for branches, heavy in with_gaps(target, parts, gaps, rules.missing):
            gap = heavy if None not in items else int(None not in left)
            found.append(Candidate(place, branches, gap, groups=groups, method=method))
    if known and gaps and rules.missing == "branch":
        groups = [list(items), []]
        found.append(Candidate(place, [known, gaps], 1, groups=groups, method="known"))
    return found


def groupings(items, target, criterion):
    """The name of the way to group, and the items of the left branch of each grouping."""
    two = target.n_classes == 2
    if criterion == "absolute_error":
        return "median", prefixes(items, lambda rows: lower_median(target, rows))
    if criterion == "squared_error":
        return "ordered", prefixes(items, lambda rows: mean(target, rows))
    if two and criterion != "gain_ratio":
        return "ordered", prefixes(items, lambda rows: second_share(target, rows))
    if len(items) <= MOST_EXHAUSTIVE:
        return "exhaustive", all_groupings(items)
    if two:
        return "principal", prefixes(items, lambda rows: second_share(target, rows))
    axis = first_axis(items, target)
    return "principal", prefixes(items, lambda rows: along(axis, target, rows))


def all_groupings(items):
    """Brute force: every way to put items into two groups, the last item always right.

    The left groups are counted as binary numbers 1, 2, 3, ...: item i is there if bit i is set.
    """
    names = list(items)
    return [
        [name for bit, name in enumerate(names) if number >> bit & 1]
        for number in range(1, 2 ** len(names) // 2)
    ]


def prefixes(items, key):
    """Items in the order of a number of their rows; the first, the first two, ... go left."""
    order = sorted(items, key=lambda item: key(items[item]))  # stable: equal ones stay in order
    return [order[:size] for size in range(1, len(order))]


def second_share(target, rows):
    return shares(class_weights(target, rows))[1]


def first_axis(items, target):
    """Direction in which the class shares of the items differ most.

    The first principal component, items weighted by their rows (Coppersmith, Hong and Hosking,
    1999). Its sign means nothing: turned round, left and right change their places.
    """
    return np.linalg.eigh(spread(items, target))[1][:, -1]


def spread(items, target):
    """Scatter of the items' class shares about their mean, weighted."""
    weights = np.array([float(weight(target, rows)) for rows in items.values()])
    points = np.array([class_shares(target, rows) for rows in items.values()])
    points = points - weights @ points / weights.sum()
    return (points.T * weights) @ points


def class_shares(target, rows):
    return [float(p) for p in shares(class_weights(target, rows))]


def along(axis, target, rows):
    return float(axis @ class_shares(target, rows))


# All columns


def column_candidates(place, column, target, rows, rules):
    if column.kind != "nominal":
        return threshold_candidates(place, column, target, rows, rules)
    if rules.splits == "multiway":
        return multiway_candidates(place, column, target, rows, rules)
    return grouping_candidates(place, column, target, rows, rules)


def candidates(columns, target, rows, rules):
    return [
        candidate
        for place, column in enumerate(columns)
        for candidate in column_candidates(place, column, target, rows, rules)
    ]
