"""Surrogate splits (Breiman et al. 1984, section 5.3): what to ask where the value is missing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.lecture_candidates import Test
from tests.oracles.lecture_intervals import halves
from tests.oracles.tree_candidates import midpoint
from tests.oracles.tree_impurity import weight

# One row on a side tells nothing about others (rpart asks for as many).
LEAST_ROWS = 2


@dataclass(frozen=True)
class Surrogate:
    """A test of another column that sends ``right`` weight where the primary one does.

    ``turned`` says that values up to the cut go to branch 1.
    """

    test: Test
    turned: bool
    right: Fraction
    agree: Fraction
    adj: Fraction

    @property
    def column(self):
        return self.test.column

    def branch_of(self, value):
        branch = self.test.branch_of(value)
        return branch if branch is None or not self.turned else 1 - branch


def sides_of(candidate):
    """The branch of each row that the primary test knows."""
    return {i: j for j, branch in enumerate(candidate.known) for i in branch}


def agreement(target, rows, sides, branch_of):
    """The weight of the rows that two tests send the same way."""
    return weight(target, [i for i in rows if branch_of(i) == sides[i]])


def cuts_below(column, rows, everyone):
    """A cut above each value of the rows but the last, halfway to the next that anyone has.

    So no row of the node lies between a cut and the values that it was found by, as in rpart.
    """
    values = sorted({column.values[i] for i in rows})
    every = {column.values[i] for i in everyone} - {None}
    return [midpoint(column.kind, v, min(w for w in every if w > v)) for v in values[:-1]]


def best_cut(place, column, target, rows, sides, everyone):
    """The cut, either way round, that agrees most: (right, turned, test), or None."""
    best = None
    for cut in cuts_below(column, rows, everyone):
        sides_of_cut = halves(column, rows, cut)
        if min(map(len, sides_of_cut)) < LEAST_ROWS:
            continue
        low = set(sides_of_cut[0])
        for turned in (False, True):
            right = agreement(target, rows, sides, lambda i, low=low, t=turned: (i in low) == t)
            if best is None or right > best[0]:
                best = right, turned, Test(place, 2, 0, cuts=(cut,))
    return best


def best_groups(place, column, target, rows, sides, _everyone):
    """Each level goes where most of its weight goes; one that is halved goes with most rows."""
    groups = ([], [])
    most = heavier_side(target, rows, sides, 0)
    for code in sorted({column.values[i] for i in rows}):
        own = [i for i in rows if column.values[i] == code]
        groups[heavier_side(target, own, sides, most)].append(code)
    test = Test(place, 2, 0, groups=tuple(tuple(g) for g in groups), method="levels")
    right = agreement(target, rows, sides, lambda i: test.branch_of(column.values[i]))
    return (right, False, test) if rows else None


def heavier_side(target, rows, sides, otherwise):
    """The branch that most weight of some rows goes to, or the given one of two equal ones."""
    weights = [weight(target, [i for i in rows if sides[i] == j]) for j in (0, 1)]
    return otherwise if weights[0] == weights[1] else int(weights[1] > weights[0])


def surrogates(problem, node, candidate):
    """The surrogates of a split, the best first."""
    target, sides = problem.given(node), sides_of(candidate)
    known = weight(target, sides)
    majority = max(weight(target, branch) for branch in candidate.known)
    found = []
    for place, column in enumerate(problem.columns):
        if place == candidate.column:
            continue
        rows = [i for i in sides if column.values[i] is not None]
        make = best_groups if column.kind == "nominal" else best_cut
        best = make(place, column, target, rows, sides, node.rows)
        if best is None or best[0] <= majority:
            continue
        right, turned, test = best
        agree = Fraction(right) / known
        adj = Fraction(right - majority) / (known - majority)
        found.append(Surrogate(test, turned, Fraction(right), agree, adj))
    found.sort(key=lambda s: -s.right)  # stable: of equals the first column
    return found[: problem.options.max_surrogates]


def branch_without(split, row):
    """The branch of a row (a list of values) that lacks the primary value."""
    for surrogate in split.surrogates:
        branch = surrogate.branch_of(row[surrogate.column])
        if branch is not None:
            return branch
    return split.test.gap
