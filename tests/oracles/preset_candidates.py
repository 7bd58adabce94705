"""Candidate splits of a node of a preset's tree, column by column; ties go to the first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from tests.oracles.preset_intervals import given_intervals, intervals, mdl_intervals
from tests.oracles.preset_thresholds import thresholds_of
from tests.oracles.tree_candidates import (
    assign_missing,
    groupings,
    heaviest,
    rows_by_category,
    split_missing,
)
from tests.oracles.tree_impurity import weight

# Policies under which missing values do not count in the choice of a split.
SILENT = ("fractional", "surrogate")


@dataclass(frozen=True)
class Test:
    """The test of a split: the number of ``thresholds`` below a value, or its group.

    ``missing_branch`` is the branch of a missing value, unless the policy is another one.
    """

    column: int
    n_branches: int
    missing_branch: int
    thresholds: tuple = ()
    groups: tuple | None = None
    method: str = "threshold"

    def branch_of(self, value):
        """Return the branch of a value; None if missing, or a category that no branch lists."""
        if value is None:
            return None
        if self.groups is None:
            return sum(value > threshold for threshold in self.thresholds)
        return next((j for j, group in enumerate(self.groups) if value in group), None)


@dataclass(frozen=True)
class Candidate:
    """A test, the known rows of its branches, and the rows by which it is scored.

    ``other`` are the results that rounding could give for the same search of intervals.
    """

    test: Test
    known: list
    branches: list
    other: tuple = ()

    @property
    def column(self):
        return self.test.column

    @property
    def is_threshold(self):
        """Whether it is a threshold between numbers (not known against missing values)."""
        return self.test.method == "threshold" and self.test.thresholds != (math.inf,)


@dataclass(frozen=True)
class NodeData:
    """Rows of a node, with the weights that choose its split and the weights without costs.

    The heavier branch is determined without costs.
    """

    target: object
    given: object
    rows: list


def branch_options(node_target, known, missing_rows, missing):
    """Return pairs of the rows of the scored branches and the branch of missing values."""
    if missing in SILENT or not missing_rows:
        return [(known, heaviest(node_target.given, known))]
    found = assign_missing(node_target.given, known, missing_rows, missing)
    if missing != "learned":
        return found
    # An empty branch is not filled with missing values only.
    return [pair for pair in found if known[pair[1]]]


def known_or_missing(index, known, missing_rows, missing, **words):
    """Return the split of known against missing values, if the policy allows it."""
    if not known or not missing_rows or missing not in ("learned", "branch"):
        return []
    return [Candidate(Test(index, 2, 1, **words), [known, []], [known, missing_rows])]


# Numbers


def threshold_candidates(index, column, node_target, options, root):
    known, missing_rows = split_missing(column, node_target.rows)
    found = []
    for threshold in thresholds_of(column, node_target.target, known, options, root):
        sides = intervals(column, known, [threshold])
        for branches, missing_branch in branch_options(
            node_target, sides, missing_rows, options.missing
        ):
            test = Test(index, len(branches), missing_branch, thresholds=(threshold,))
            found.append(Candidate(test, sides, branches))
    return found + known_or_missing(
        index, known, missing_rows, options.missing, thresholds=(math.inf,)
    )


def interval_candidates(index, column, node_target, options, is_large):
    target = node_target.target
    known, missing_rows = split_missing(column, node_target.rows)
    if options.n_intervals is None:
        results = mdl_intervals(column, target, known, is_large)
    else:
        results = given_intervals(
            column, options.criterion, target, known, options.n_intervals, is_large
        )
    lists = [
        interval_candidate(
            index, column, node_target, known, missing_rows, thresholds, options.missing
        )
        for thresholds in results
    ]
    # All results of one search are one candidate: rounding decides between them.
    return [Candidate(c.test, c.known, c.branches, tuple(lists)) for c in lists[0]]


def interval_candidate(index, column, node_target, known, missing_rows, thresholds, missing):
    if not thresholds:
        return []
    parts = intervals(column, known, thresholds)
    return [
        Candidate(
            Test(
                index,
                len(branches),
                missing_branch,
                thresholds=tuple(thresholds),
                method="intervals",
            ),
            parts,
            branches,
        )
        for branches, missing_branch in branch_options(node_target, parts, missing_rows, missing)
    ]


# Categories


def category_branches(column, known, options):
    """Return a branch for each category of the rows, or for each category of the column."""
    categories = rows_by_category(column, known)
    if len(categories) and options.empty_branches:
        return {code: categories.get(code, []) for code in range(len(column.labels))}
    return categories


def multiway_candidates(index, column, node_target, options):
    known, missing_rows = split_missing(column, node_target.rows)
    categories = category_branches(column, known, options)
    groups = tuple((code,) for code in categories)
    parts = list(categories.values())
    n_filled = sum(bool(part) for part in parts)
    if n_filled == 1 and missing_rows and options.missing in ("learned", "branch"):
        test = Test(index, len(parts) + 1, len(parts), groups=groups, method="multiway")
        return [Candidate(test, parts, [*parts, missing_rows])]
    if n_filled < 2:
        return []
    return [
        Candidate(
            Test(index, len(branches), missing_branch, groups=groups, method="multiway"),
            parts,
            branches,
        )
        for branches, missing_branch in branch_options(
            node_target, parts, missing_rows, options.missing
        )
    ]


def grouping_candidates(index, column, node_target, options):
    """Two groups of categories; under "learned" missing values are one more, the last."""
    known, missing_rows = split_missing(column, node_target.rows)
    items = rows_by_category(column, known)
    if missing_rows and options.missing == "learned":
        items[None], missing_rows = missing_rows, []
    # Poisson deviance is minimized by groups in the order of the means, like squared error.
    criterion = "squared_error" if options.criterion == "poisson" else options.criterion
    method, lefts = groupings(items, node_target.target, criterion)
    found = []
    for left in lefts:
        sides = [left, [item for item in items if item not in left]]
        parts = [sorted(i for item in side for i in items[item]) for side in sides]
        groups = tuple(tuple(sorted(i for i in side if i is not None)) for side in sides)
        for branches, heavy in branch_options(node_target, parts, missing_rows, options.missing):
            missing_branch = heavy if None not in items else int(None not in left)
            test = Test(index, len(branches), missing_branch, groups=groups, method=method)
            found.append(Candidate(test, [split_missing(column, p)[0] for p in parts], branches))
    if options.missing == "branch":
        groups = (tuple(items), ())
        found += known_or_missing(
            index, known, missing_rows, "branch", groups=groups, method="known"
        )
    return found


# All columns


def may_be_tested(column, index, used, feature_reuse):
    """Return whether a node may test a column, given those tested above it."""
    if index not in used or feature_reuse == "all":
        return True
    return feature_reuse == "numeric" and column.kind != "nominal"


def column_candidates(index, column, node_target, options, root, is_large):
    if column.kind == "nominal":
        make = grouping_candidates if options.splits == "binary" else multiway_candidates
        return make(index, column, node_target, options)
    if options.splits == "intervals":
        return interval_candidates(index, column, node_target, options, is_large)
    return threshold_candidates(index, column, node_target, options, root)


def candidates(problem, node, is_large):
    """Return the candidates of each column that may be tested: {column: list}."""
    node_target = NodeData(problem.node_target(node), problem.given(node), node.rows)
    found = {}
    for index, column in enumerate(problem.columns):
        if may_be_tested(column, index, node.used, problem.options.feature_reuse):
            root = problem.grown, problem.known_at_root(index)
            make = partial(column_candidates, index, column, node_target, problem.options)
            found[index] = make(root, is_large)
    return found


def known_weight(target, candidate):
    return sum(weight(target, branch) for branch in candidate.known)
