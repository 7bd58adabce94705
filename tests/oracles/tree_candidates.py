"""Candidate splits of a node, column by column, in the order in which ties are broken.

A value is a number, or the code of a category (its index among the column's labels); None is
missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tests.oracles.tree_impurity import class_weights, fractions, lower_median, mean, weight

MAX_EXHAUSTIVE = 10


@dataclass(frozen=True)
class Column:
    """Values of one kind: "float", "int", "ordinal" or "nominal"; labels of the last two."""

    kind: str
    values: list
    labels: tuple = ()


@dataclass(frozen=True)
class Candidate:
    """A test of one column, and the branches of the node's rows.

    ``groups`` are the categories of each branch (none for a branch of missing values only), or
    None if values up to ``threshold`` go to branch 0 and all others to branch 1.
    ``missing_branch`` is the branch of missing values, also if the node has none.
    """

    column: int
    branches: list
    missing_branch: int
    threshold: float | None = None
    groups: list | None = None
    method: str = "threshold"

    def branch_of(self, value):
        """Return the branch of a value; a category that no branch lists is missing."""
        if value is None:
            return self.missing_branch
        if self.groups is None:
            return 0 if value <= self.threshold else 1
        return next(
            (j for j, group in enumerate(self.groups) if value in group), self.missing_branch
        )


@dataclass(frozen=True)
class Rules:
    """Options of single splits."""

    criterion: str = "gini"
    splits: str = "binary"
    missing: str = "learned"


# Missing values


def heaviest(target, branches):
    """Return the first branch of maximum weight."""
    weights = [weight(target, branch) for branch in branches]
    return weights.index(max(weights))


def merge_missing(branches, missing_rows, index):
    """Return the branches with the missing rows added to one of them."""
    return [
        sorted(branch + missing_rows) if j == index else branch for j, branch in enumerate(branches)
    ]


def assign_missing(target, known, missing_rows, missing):
    """Return pairs of all branches and the branch of missing values, one per allowed choice."""
    if not missing_rows:
        return [(known, heaviest(target, known))]
    if missing == "branch":
        return [([*known, missing_rows], len(known))]
    indices = [heaviest(target, known)] if missing == "majority" else range(len(known))
    return [(merge_missing(known, missing_rows, index), index) for index in indices]


def split_missing(column, rows):
    """Return the rows with a value, and the rows without."""
    known = [i for i in rows if column.values[i] is not None]
    return known, [i for i in rows if column.values[i] is None]


# Thresholds


def midpoint(kind, a, b):
    """Return a threshold t with a <= t < b, whatever the rounding."""
    if kind == "ordinal":
        return a
    if kind == "int":
        whole, odd = divmod(a + b, 2)
        # Where float64 would round, the integer separates the same integers.
        return whole + 0.5 if odd and -(2**52) <= whole < 2**52 else whole
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def threshold_candidates(index, column, target, rows, rules):
    known, missing_rows = split_missing(column, rows)
    values = sorted({column.values[i] for i in known})
    found = []
    for a, b in pairwise(values):
        threshold = midpoint(column.kind, a, b)
        sides = [
            [i for i in known if column.values[i] <= a],
            [i for i in known if column.values[i] > a],
        ]
        for branches, missing_branch in assign_missing(target, sides, missing_rows, rules.missing):
            found.append(Candidate(index, branches, missing_branch, threshold=threshold))
    if known and missing_rows and rules.missing != "majority":
        # Every known value goes left, also later values above all of these.
        found.append(Candidate(index, [known, missing_rows], 1, threshold=math.inf))
    return found


# Categories


def rows_by_category(column, rows):
    """Return the rows of each category that occurs, in the order of the categories."""
    codes = sorted({column.values[i] for i in rows})
    return {code: [i for i in rows if column.values[i] == code] for code in codes}


def multiway_candidates(index, column, target, rows, rules):
    known, missing_rows = split_missing(column, rows)
    categories = rows_by_category(column, known)
    groups = [[code] for code in categories]
    if len(categories) == 1 and missing_rows and rules.missing != "majority":
        return [Candidate(index, [known, missing_rows], 1, groups=groups, method="multiway")]
    if len(categories) < 2:
        return []
    return [
        Candidate(index, branches, missing_branch, groups=groups, method="multiway")
        for branches, missing_branch in assign_missing(
            target, list(categories.values()), missing_rows, rules.missing
        )
    ]


def grouping_candidates(index, column, target, rows, rules):
    """Two groups of categories; under "learned" missing values are one more, the last."""
    known, missing_rows = split_missing(column, rows)
    items = rows_by_category(column, known)
    if missing_rows and rules.missing == "learned":
        items[None], missing_rows = missing_rows, []
    method, lefts = groupings(items, target, rules.criterion)
    found = []
    for left in lefts:
        sides = [left, [item for item in items if item not in left]]
        parts = [sorted(i for item in side for i in items[item]) for side in sides]
        groups = [sorted(item for item in side if item is not None) for side in sides]
        for branches, heavy in assign_missing(target, parts, missing_rows, rules.missing):
            missing_branch = heavy if None not in items else int(None not in left)
            found.append(Candidate(index, branches, missing_branch, groups=groups, method=method))
    if known and missing_rows and rules.missing == "branch":
        groups = [list(items), []]
        found.append(Candidate(index, [known, missing_rows], 1, groups=groups, method="known"))
    return found


def groupings(items, target, criterion):
    """Return the name of the method, and the items of the left branch of each grouping."""
    two = target.n_classes == 2
    if criterion == "absolute_error":
        return "median", prefixes(items, lambda rows: lower_median(target, rows))
    if criterion == "squared_error":
        return "ordered", prefixes(items, lambda rows: mean(target, rows))
    if two and criterion != "gain_ratio":
        return "ordered", prefixes(items, lambda rows: second_fraction(target, rows))
    if len(items) <= MAX_EXHAUSTIVE:
        return "exhaustive", all_groupings(items)
    if two:
        return "principal", prefixes(items, lambda rows: second_fraction(target, rows))
    axis = first_axis(items, target)
    return "principal", prefixes(items, lambda rows: projection(axis, target, rows))


def all_groupings(items):
    """Return every partition of items into two groups, the last item always right.

    The left groups are counted as binary numbers 1, 2, 3, ...: item i is in it if bit i is set.
    """
    names = list(items)
    return [
        [name for bit, name in enumerate(names) if number >> bit & 1]
        for number in range(1, 2 ** len(names) // 2)
    ]


def prefixes(items, key):
    """Sort items by a number of their rows; the first, the first two, ... go left."""
    order = sorted(items, key=lambda item: key(items[item]))  # stable: equal ones stay in order
    return [order[:size] for size in range(1, len(order))]


def second_fraction(target, rows):
    return fractions(class_weights(target, rows))[1]


def first_axis(items, target):
    """Return the direction of maximum variance of the items' class fractions.

    The first principal component, items weighted by their rows (Coppersmith, Hong and Hosking,
    1999). Its sign is arbitrary: the other one swaps left and right.
    """
    return np.linalg.eigh(scatter(items, target))[1][:, -1]


def scatter(items, target):
    """Return the weighted scatter matrix of the items' class fractions."""
    weights = np.array([float(weight(target, rows)) for rows in items.values()])
    points = np.array([class_fractions(target, rows) for rows in items.values()])
    points = points - weights @ points / weights.sum()
    return (points.T * weights) @ points


def class_fractions(target, rows):
    return [float(p) for p in fractions(class_weights(target, rows))]


def projection(axis, target, rows):
    return float(axis @ class_fractions(target, rows))


# All columns


def column_candidates(index, column, target, rows, rules):
    if column.kind != "nominal":
        return threshold_candidates(index, column, target, rows, rules)
    if rules.splits == "multiway":
        return multiway_candidates(index, column, target, rows, rules)
    return grouping_candidates(index, column, target, rows, rules)


def candidates(columns, target, rows, rules):
    return [
        candidate
        for index, column in enumerate(columns)
        for candidate in column_candidates(index, column, target, rows, rules)
    ]
