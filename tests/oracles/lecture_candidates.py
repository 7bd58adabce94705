"""The splits that a node of a lecture's tree could make, column by column, ties to the first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from tests.oracles.lecture_intervals import given_intervals, intervals, mdl_intervals
from tests.oracles.lecture_thresholds import cuts_of
from tests.oracles.tree_candidates import groupings, heaviest, levels_of, parted, with_gaps
from tests.oracles.tree_impurity import weight

# Rules under which gaps have no say in the choice of a split.
SILENT = ("fractional", "surrogate")


@dataclass(frozen=True)
class Test:
    """What a split asks of a value: how many ``cuts`` lie below it, or which group it is in.

    ``gap`` is the branch of a gap that no other rule sends on.
    """

    column: int
    n_branches: int
    gap: int
    cuts: tuple = ()
    groups: tuple | None = None
    method: str = "threshold"

    def branch_of(self, value):
        """The branch of a value; None for a gap, and for a level that no branch lists."""
        if value is None:
            return None
        if self.groups is None:
            return sum(value > cut for cut in self.cuts)
        return next((j for j, group in enumerate(self.groups) if value in group), None)


@dataclass(frozen=True)
class Candidate:
    """A test, the known rows of its branches, and the rows by which it is judged.

    ``other`` are results that rounding could make of the same search for intervals.
    """

    test: Test
    known: list
    branches: list
    other: tuple = ()

    @property
    def column(self):
        return self.test.column

    @property
    def is_cut(self):
        """Whether it is one cut between numbers (not just known values against gaps)."""
        return self.test.method == "threshold" and self.test.cuts != (math.inf,)


@dataclass(frozen=True)
class There:
    """The rows of a node, with the weights that choose its split and those that it shows.

    Costs make these differ: a branch is heavier if it shows more weight.
    """

    target: object
    given: object
    rows: list


def placed(there, known, gaps, missing):
    """Pairs: the rows of the branches that count, and the branch of gaps."""
    if missing in SILENT or not gaps:
        return [(known, heaviest(there.given, known))]
    found = with_gaps(there.given, known, gaps, missing)
    if missing != "learned":
        return found
    # Gaps alone are no reason to fill a branch that no row needs.
    return [pair for pair in found if known[pair[1]]]


def known_or_gap(place, known, gaps, missing, **words):
    """Known values against gaps, where that is offered."""
    if not known or not gaps or missing not in ("learned", "branch"):
        return []
    return [Candidate(Test(place, 2, 1, **words), [known, []], [known, gaps])]


# Numbers


def cut_candidates(place, column, there, options, root):
    known, gaps = parted(column, there.rows)
    found = []
    for cut in cuts_of(column, there.target, known, options, root):
        sides = intervals(column, known, [cut])
        for branches, gap in placed(there, sides, gaps, options.missing):
            test = Test(place, len(branches), gap, cuts=(cut,))
            found.append(Candidate(test, sides, branches))
    return found + known_or_gap(place, known, gaps, options.missing, cuts=(math.inf,))


def interval_candidates(place, column, there, options, is_large):
    target = there.target
    known, gaps = parted(column, there.rows)
    if options.n_intervals is None:
        results = mdl_intervals(column, target, known, is_large)
    else:
        results = given_intervals(
            column, options.criterion, target, known, options.n_intervals, is_large
        )
    lists = [
        interval_candidate(place, column, there, known, gaps, cuts, options.missing)
        for cuts in results
    ]
    # All results of one search are one candidate, which rounding decides.
    return [Candidate(c.test, c.known, c.branches, tuple(lists)) for c in lists[0]]


def interval_candidate(place, column, there, known, gaps, cuts, missing):
    if not cuts:
        return []
    parts = intervals(column, known, cuts)
    return [
        Candidate(
            Test(place, len(branches), gap, cuts=tuple(cuts), method="intervals"), parts, branches
        )
        for branches, gap in placed(there, parts, gaps, missing)
    ]


# Levels


def level_branches(column, known, options):
    """A branch for each level that the rows have, or for each level that there is."""
    levels = levels_of(column, known)
    if len(levels) and options.empty_branches:
        return {code: levels.get(code, []) for code in range(len(column.labels))}
    return levels


def multiway_candidates(place, column, there, options):
    known, gaps = parted(column, there.rows)
    levels = level_branches(column, known, options)
    groups = tuple((code,) for code in levels)
    parts = list(levels.values())
    n_filled = sum(bool(part) for part in parts)
    if n_filled == 1 and gaps and options.missing in ("learned", "branch"):
        test = Test(place, len(parts) + 1, len(parts), groups=groups, method="multiway")
        return [Candidate(test, parts, [*parts, gaps])]
    if n_filled < 2:
        return []
    return [
        Candidate(
            Test(place, len(branches), gap, groups=groups, method="multiway"), parts, branches
        )
        for branches, gap in placed(there, parts, gaps, options.missing)
    ]


def grouping_candidates(place, column, there, options):
    """Two groups of levels; under "learned" the gaps are one more level, the last."""
    known, gaps = parted(column, there.rows)
    items = levels_of(column, known)
    if gaps and options.missing == "learned":
        items[None], gaps = gaps, []
    # A count follows its mean as a number does: the best groups part levels ordered by it.
    criterion = "squared_error" if options.criterion == "poisson" else options.criterion
    method, lefts = groupings(items, there.target, criterion)
    found = []
    for left in lefts:
        sides = [left, [item for item in items if item not in left]]
        parts = [sorted(i for item in side for i in items[item]) for side in sides]
        groups = tuple(tuple(sorted(i for i in side if i is not None)) for side in sides)
        for branches, heavy in placed(there, parts, gaps, options.missing):
            gap = heavy if None not in items else int(None not in left)
            test = Test(place, len(branches), gap, groups=groups, method=method)
            found.append(Candidate(test, [parted(column, p)[0] for p in parts], branches))
    if options.missing == "branch":
        groups = (tuple(items), ())
        found += known_or_gap(place, known, gaps, "branch", groups=groups, method="known")
    return found


# All columns


def may_be_tested(column, place, used, reuse):
    """Whether a node looks at a column, given those that are tested above it."""
    if place not in used or reuse == "all":
        return True
    return reuse == "numeric" and column.kind != "nominal"


def column_candidates(place, column, there, options, root, is_large):
    if column.kind == "nominal":
        make = grouping_candidates if options.splits == "binary" else multiway_candidates
        return make(place, column, there, options)
    if options.splits == "intervals":
        return interval_candidates(place, column, there, options, is_large)
    return cut_candidates(place, column, there, options, root)


def candidates(problem, node, is_large):
    """The candidates of each column that may be tested: {column: list}."""
    there = There(problem.there(node), problem.given(node), node.rows)
    found = {}
    for place, column in enumerate(problem.columns):
        if may_be_tested(column, place, node.used, problem.options.reuse):
            root = problem.grown, problem.known_at_root(place)
            make = partial(column_candidates, place, column, there, problem.options)
            found[place] = make(root, is_large)
    return found


def known_weight(target, candidate):
    return sum(weight(target, branch) for branch in candidate.known)
