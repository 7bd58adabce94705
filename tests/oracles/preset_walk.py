"""Compare a fitted tree of a preset with the naive one, node by node.

As in `tree_walk` the walk follows the fitted tree: at each of its nodes the naive tree decides
about just these rows. Where rounding decides, either way is accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.oracles.preset_candidates import Candidate, NodeData, Test, branch_options
from tests.oracles.preset_choice import SplitChooser, is_short
from tests.oracles.preset_intervals import intervals
from tests.oracles.preset_naive import Node, branch_nodes, new_split
from tests.oracles.preset_sums import impurity, node_value
from tests.oracles.tree_candidates import split_missing
from tests.oracles.tree_impurity import fingerprint, weight

EXACT, ROUNDED = 1e-12, 1e-9
# Methods whose thresholds are computed, not midpoints.
COMPUTED = ("mean", "median", "equal_width", "random")


@dataclass(frozen=True)
class Walk:
    """A naive problem, a fitted tree, and its nodes found so far."""

    problem: object
    tree: object
    nodes: list

    def near(self, node):
        """Return the tolerance: deviance is a small difference of logarithms."""
        is_rounded = self.problem.options.criterion == "poisson" or not self.is_exact(node)
        return ROUNDED if is_rounded else EXACT

    def is_exact(self, node):
        """Return whether all weights in the node are short binary fractions with exact sums."""
        node_target = self.problem.node_target(node)
        return all(is_short(node_target.weights[i]) for i in node.rows)

    @property
    def scale(self):
        root = Node(self.problem.rows)
        target = self.problem.node_target(root)
        return float(impurity(self.problem.options.criterion, target, root.rows)) or 1.0


# The test of a fitted node


def fitted_test(tree, i, columns):
    words = tree.split(i)
    column = columns[words.column]
    code = {label: code for code, label in enumerate(column.labels)}
    if words.kind in ("threshold", "intervals"):
        several = words.thresholds if words.kind == "intervals" else (words.threshold,)
        thresholds = tuple(
            threshold if isinstance(threshold, int | float) else code[threshold]
            for threshold in several
        )
        return Test(
            words.column,
            words.n_branches,
            words.missing_branch,
            thresholds=thresholds,
            method=words.method,
        )
    groups = tuple(tuple(sorted(code[label] for label in b)) for b in words.branches)
    return Test(
        words.column, words.n_branches, words.missing_branch, groups=groups, method=words.method
    )


def same_split(candidate, test, column):
    """Return whether a fitted test sends known rows to the branches of a candidate."""
    if candidate.column != test.column or candidate.test.n_branches != test.n_branches:
        return False
    return all(
        test.branch_of(column.values[i]) == j
        for j, branch in enumerate(candidate.known)
        for i in branch
    )


def same_missing(candidate, test, missing_rows):
    """Return whether a fitted test sends missing values to the branch of a candidate."""
    inside = {i for branch in candidate.branches for i in branch}
    return (
        not missing_rows
        or missing_rows[0] not in inside
        or missing_rows[0] in candidate.branches[test.missing_branch]
    )


# One node


def check_numbers(walk, i):
    node, tree = walk.nodes[i], walk.tree
    problem, near = walk.problem, walk.near(node)
    assert tree.n_rows[i] == len(node.rows)
    assert tree.depth[i] == node.depth
    given = problem.given(node)
    assert tree.weight[i] == pytest.approx(float(weight(given, node.rows)), rel=near)
    check_value(walk, i)
    if node.rows:
        own = float(impurity(problem.options.criterion, problem.node_target(node), node.rows))
        assert tree.impurity[i] == pytest.approx(own, abs=near * walk.scale)


def check_value(walk, i):
    node, problem, tree = walk.nodes[i], walk.problem, walk.tree
    if not node.rows:
        above = tree.node_values[node.parent] if problem.target.n_classes is None else 0.0
        assert np.all(tree.node_values[i] == above)
        return
    expected = node_value(problem.options.criterion, problem.given(node), node.rows)
    largest = max(abs(float(y)) for y in problem.target.values) + float(problem.weight)
    found = np.atleast_1d(tree.node_values[i]).tolist()
    assert found == pytest.approx([float(v) for v in expected], abs=ROUNDED * largest)


def check_leaf(walk, i):
    """Check that the naive tree gives the reason under some rounding."""
    node, found = walk.nodes[i], set()
    assert walk.tree.gain[i] == 0
    for lean in (0, 1, -1):
        chooser = SplitChooser(walk.problem, node, lean, walk.near(node))
        decision = chooser.decision()
        found |= {chooser.gain_reason(s) for s in decision.best} or {decision.reason}
        if walk.tree.reasons[i] in found:
            return
    raise AssertionError(f"node {i} ends by {walk.tree.reasons[i]}, not by one of {found}")


def chosen(walk, i, test):
    """Return the naive candidate that equals the split of the fitted node."""
    node, column = walk.nodes[i], walk.problem.columns[test.column]
    missing_rows = split_missing(column, node.rows)[1]
    tried = []
    for lean in (0, 1, -1):
        chooser = SplitChooser(walk.problem, node, lean, walk.near(node))
        best = chooser.decision().best
        same = [s for s in best if same_split(s.candidate, test, column)]
        same = [s for s in same if same_missing(s.candidate, test, missing_rows)]
        if same and chooser.gain_reason(same[0]) == "split":
            check_first(walk, node, best, same[0])
            return same[0]
        tried.append((chooser.decision().reason, [s.candidate.test for s in best]))
    raise AssertionError(f"node {i} is split by {test}; the naive tree has {tried[0]}")


def check_first(walk, node, best, found):
    """Check that no earlier candidate has the same sums as the chosen one."""
    if not walk.is_exact(node):
        return
    marks = [mark(walk, node, s.candidate) for s in best]
    own = best.index(found)
    assert own == marks.index(marks[own]), f"{best[marks.index(marks[own])]} comes first"


def mark(walk, node, candidate):
    criterion = walk.problem.options.criterion
    # Deviance depends on every single target, like distances from a median.
    criterion = "absolute_error" if criterion == "poisson" else criterion
    return fingerprint(criterion, walk.problem.node_target(node), candidate.branches)


def drawn(walk, i, test):
    """Return the candidate of a drawn threshold: any between two values."""
    node, column = walk.nodes[i], walk.problem.columns[test.column]
    known, missing_rows = split_missing(column, node.rows)
    values = [column.values[i] for i in known]
    assert min(values) <= test.thresholds[0] < max(values)
    parts = intervals(column, known, test.thresholds)
    node_target = NodeData(walk.problem.node_target(node), walk.problem.given(node), node.rows)
    branches, missing_branch = branch_options(
        node_target, parts, missing_rows, walk.problem.options.missing
    )[0]
    found = Candidate(replace(test, missing_branch=missing_branch), parts, branches)
    return SplitChooser(walk.problem, node).scored(found)


def check_test(walk, i, test, candidate):
    """Check thresholds, categories and the branch of missing values."""
    wanted, node = candidate.test, walk.nodes[i]
    if wanted.groups is None:
        check_thresholds(walk, wanted, test)
    else:
        check_groups(walk, wanted, test)
    sides = [float(weight(walk.problem.given(node), b)) for b in candidate.known]
    heavy = [s for s in sides if s >= max(sides) * (1 - ROUNDED)]
    if walk.is_exact(node) or len(heavy) == 1:
        assert test.missing_branch == wanted.missing_branch


def check_thresholds(walk, wanted, test):
    if walk.problem.options.thresholds in COMPUTED and wanted.thresholds[0] < math.inf:
        assert test.thresholds == pytest.approx(wanted.thresholds, rel=EXACT, abs=EXACT)
    else:
        assert test.thresholds == wanted.thresholds


def check_groups(walk, wanted, test):
    """Check groups; categories without rows may be in the branch of missing values or in none."""
    for code in range(len(walk.problem.columns[wanted.column].labels)):
        branch = wanted.branch_of(code)
        found = test.branch_of(code)
        assert found == branch or (branch is None and found in (None, test.missing_branch))


def check_gain(walk, i, found):
    """Check the gain of the split after the correction."""
    near = walk.near(walk.nodes[i]) * walk.scale
    assert walk.tree.gain[i] == pytest.approx(found.gain, abs=near)


def check_surrogates(walk, i, wanted):
    """Check surrogates: order, tests and agreement."""
    columns = walk.problem.columns
    found = walk.tree.surrogates_of(i)
    assert [s.column for s in found] == [s.column for s in wanted]
    for own, naive in zip(found, wanted, strict=True):
        labels = columns[own.column].labels
        if naive.test.groups is None:
            threshold = naive.test.thresholds[0]
            assert own.threshold == (labels[threshold] if labels else threshold)
            assert own.flipped == naive.flipped
        else:
            groups = [[labels[code] for code in group] for group in naive.test.groups]
            assert [list(branch) for branch in own.branches] == groups
        assert own.agreement == pytest.approx(float(naive.agree), rel=ROUNDED)
        assert own.adjusted == pytest.approx(float(naive.adj), rel=ROUNDED)


def check_split(walk, i):
    problem, node, tree = walk.problem, walk.nodes[i], walk.tree
    assert tree.reasons[i] == "split"
    test = fitted_test(tree, i, problem.columns)
    is_drawn = problem.options.thresholds == "random" and test.groups is None
    found = (drawn if is_drawn else chosen)(walk, i, test)
    check_test(walk, i, test, found.candidate)
    check_gain(walk, i, found)
    # Rows follow the fitted threshold and missing branch where rounding left these open.
    own = replace(
        found.candidate.test, thresholds=test.thresholds, missing_branch=test.missing_branch
    )
    node.split = new_split(problem, node, replace(found.candidate, test=own))
    if problem.options.missing == "surrogate":
        check_surrogates(walk, i, node.split.surrogates)
    node.children = [int(child) for child in tree.children(i)]
    below = branch_nodes(problem, node, node.split)
    for child, found in zip(node.children, below, strict=True):
        found.parent = i
        walk.nodes[child] = found


# The whole tree


def check_order(nodes):
    """Check the depth-first numbers: branches are numbered, then grown in turn."""
    number, pending = 1, [0]
    while pending:
        children = nodes[pending.pop()].children
        assert children == list(range(number, number + len(children)))
        number += len(children)
        pending += reversed(children)
    assert number == len(nodes)


def assert_preset_tree(model, problem):
    """Check every node of a fitted model's tree; return the naive nodes."""
    tree = model.tree_
    walk = Walk(problem, tree, [Node(problem.rows)] + [None] * (tree.n_nodes - 1))
    for i in range(tree.n_nodes):
        assert walk.nodes[i] is not None, f"node {i} has no parent with a smaller number"
        check_numbers(walk, i)
        (check_leaf if tree.is_leaf[i] else check_split)(walk, i)
    check_order(walk.nodes)
    return walk.nodes
