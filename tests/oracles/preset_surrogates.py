"""Surrogate splits for missing values (Breiman et al. 1984, section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.preset_candidates import Test
from tests.oracles.preset_intervals import halves
from tests.oracles.tree_candidates import midpoint
from tests.oracles.tree_impurity import weight

# Minimum number of rows on a side, as in rpart.
MIN_ROWS = 2


@dataclass(frozen=True)
class Surrogate:
    """A test of another column that sends ``right`` weight to the branch of the primary one.

    With ``flipped`` values up to the threshold go to branch 1.
    """

    test: Test
    flipped: bool
    right: Fraction
    agree: Fraction
    adj: Fraction

    @property
    def column(self):
        return self.test.column

    def branch_of(self, value):
        branch = self.test.branch_of(value)
        return branch if branch is None or not self.flipped else 1 - branch


def sides_of(candidate):
    """Return the branch of each row with a known primary value."""
    return {i: j for j, branch in enumerate(candidate.known) for i in branch}


def agreement(target, rows, sides, branch_of):
    """Return the weight of the rows that two tests send to the same branch."""
    return weight(target, [i for i in rows if branch_of(i) == sides[i]])


def thresholds_above(column, rows, all_rows):
    """Return a threshold above each value but the last, halfway to the next in the node.

    So no row of the node lies between a threshold and the values that define it, as in rpart.
    """
    values = sorted({column.values[i] for i in rows})
    every = {column.values[i] for i in all_rows} - {None}
    return [midpoint(column.kind, v, min(w for w in every if w > v)) for v in values[:-1]]


def best_threshold(index, column, target, rows, sides, all_rows):
    """Return the threshold of maximum agreement: (right, flipped, test), or None."""
    best = None
    for threshold in thresholds_above(column, rows, all_rows):
        sides_of_threshold = halves(column, rows, threshold)
        if min(map(len, sides_of_threshold)) < MIN_ROWS:
            continue
        low = set(sides_of_threshold[0])
        for flipped in (False, True):
            right = agreement(target, rows, sides, lambda i, low=low, t=flipped: (i in low) == t)
            if best is None or right > best[0]:
                best = right, flipped, Test(index, 2, 0, thresholds=(threshold,))
    return best


def best_groups(index, column, target, rows, sides, _everyone):
    """Send each category where the larger part of its weight goes; ties with the majority."""
    groups = ([], [])
    maximum = heavier_side(target, rows, sides, 0)
    for code in sorted({column.values[i] for i in rows}):
        own = [i for i in rows if column.values[i] == code]
        groups[heavier_side(target, own, sides, maximum)].append(code)
    test = Test(index, 2, 0, groups=tuple(tuple(g) for g in groups), method="categories")
    right = agreement(target, rows, sides, lambda i: test.branch_of(column.values[i]))
    return (right, False, test) if rows else None


def heavier_side(target, rows, sides, otherwise):
    """Return the heavier branch of some rows, or the given one if equal."""
    weights = [weight(target, [i for i in rows if sides[i] == j]) for j in (0, 1)]
    return otherwise if weights[0] == weights[1] else int(weights[1] > weights[0])


def surrogates(problem, node, candidate):
    """Return the surrogates of a split, the best first."""
    target, sides = problem.given(node), sides_of(candidate)
    known = weight(target, sides)
    majority = max(weight(target, branch) for branch in candidate.known)
    found = []
    for index, column in enumerate(problem.columns):
        if index == candidate.column:
            continue
        rows = [i for i in sides if column.values[i] is not None]
        make = best_groups if column.kind == "nominal" else best_threshold
        best = make(index, column, target, rows, sides, node.rows)
        if best is None or best[0] <= majority:
            continue
        right, flipped, test = best
        agree = Fraction(right) / known
        adj = Fraction(right - majority) / (known - majority)
        found.append(Surrogate(test, flipped, Fraction(right), agree, adj))
    found.sort(key=lambda s: -s.right)  # stable: ties go to the first column
    return found[: problem.options.max_surrogates]


def branch_without(split, row):
    """Return the branch of a row (a list of values) without the primary value."""
    for surrogate in split.surrogates:
        branch = surrogate.branch_of(row[surrogate.column])
        if branch is not None:
            return branch
    return split.test.missing_branch
