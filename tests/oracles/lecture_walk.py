"""A fitted tree of the lecture beside the naive one, node by node.

As in `tree_walk` the walk follows the fitted tree: at each of its nodes the naive rules say what
may happen to just these rows. What rounding decides may go either way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.oracles.lecture_candidates import Candidate, Test, There, placed
from tests.oracles.lecture_choice import Judge, is_short
from tests.oracles.lecture_intervals import intervals
from tests.oracles.lecture_naive import Node, branch_nodes, new_split
from tests.oracles.lecture_sums import impurity, node_value
from tests.oracles.tree_candidates import parted
from tests.oracles.tree_impurity import fingerprint, weight

EXACT, ROUNDED = 1e-12, 1e-9
# Rules whose thresholds are computed, not chosen between two values.
COMPUTED = ("mean", "median", "equal_width", "random")


@dataclass(frozen=True)
class Walk:
    """A naive problem, a fitted tree, and its nodes as far as they are known."""

    problem: object
    tree: object
    nodes: list

    def near(self, node):
        """How near numbers are: deviance is a small difference of logarithms."""
        is_rounded = self.problem.options.criterion == "poisson" or not self.is_exact(node)
        return ROUNDED if is_rounded else EXACT

    def is_exact(self, node):
        """Whether all weights in the node are short binary fractions, so that sums are exact."""
        there = self.problem.there(node)
        return all(is_short(there.weights[i]) for i in node.rows)

    @property
    def scale(self):
        root = Node(self.problem.rows)
        target = self.problem.there(root)
        return float(impurity(self.problem.options.criterion, target, root.rows)) or 1.0


# The test of a fitted node


def fitted_test(tree, i, columns):
    words = tree.split(i)
    column = columns[words.column]
    code = {label: code for code, label in enumerate(column.labels)}
    if words.kind in ("threshold", "intervals"):
        several = words.thresholds if words.kind == "intervals" else (words.threshold,)
        cuts = tuple(cut if isinstance(cut, int | float) else code[cut] for cut in several)
        return Test(words.column, words.n_branches, words.gaps, cuts=cuts, method=words.method)
    groups = tuple(tuple(sorted(code[label] for label in b)) for b in words.branches)
    return Test(words.column, words.n_branches, words.gaps, groups=groups, method=words.method)


def same_split(candidate, test, column):
    """Whether a fitted test sends known rows to the branches of a candidate."""
    if candidate.column != test.column or candidate.test.n_branches != test.n_branches:
        return False
    return all(
        test.branch_of(column.values[i]) == j
        for j, branch in enumerate(candidate.known)
        for i in branch
    )


def same_gaps(candidate, test, gaps):
    """Whether a fitted test sends the gaps where a candidate has them, if it has them at all."""
    inside = {i for branch in candidate.branches for i in branch}
    return not gaps or gaps[0] not in inside or gaps[0] in candidate.branches[test.gap]


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
        own = float(impurity(problem.options.criterion, problem.there(node), node.rows))
        assert tree.impurity[i] == pytest.approx(own, abs=near * walk.scale)


def check_value(walk, i):
    node, problem, tree = walk.nodes[i], walk.problem, walk.tree
    if not node.rows:
        above = tree.value[node.parent] if problem.target.n_classes is None else 0.0
        assert np.all(tree.value[i] == above)
        return
    expected = node_value(problem.options.criterion, problem.given(node), node.rows)
    largest = max(abs(float(y)) for y in problem.target.values) + float(problem.weight)
    found = np.atleast_1d(tree.value[i]).tolist()
    assert found == pytest.approx([float(v) for v in expected], abs=ROUNDED * largest)


def check_leaf(walk, i):
    """The reason is one that the naive rules give, whichever way rounding leans."""
    node, found = walk.nodes[i], set()
    assert walk.tree.gain[i] == 0
    for lean in (0, 1, -1):
        judge = Judge(walk.problem, node, lean, walk.near(node))
        verdict = judge.verdict()
        found |= {judge.worth(s) for s in verdict.best} or {verdict.reason}
        if walk.tree.reasons[i] in found:
            return
    raise AssertionError(f"node {i} ends by {walk.tree.reasons[i]}, not by one of {found}")


def chosen(walk, i, test):
    """The naive candidate that the fitted node has taken, and the judge who allows it."""
    node, column = walk.nodes[i], walk.problem.columns[test.column]
    gaps = parted(column, node.rows)[1]
    tried = []
    for lean in (0, 1, -1):
        judge = Judge(walk.problem, node, lean, walk.near(node))
        best = judge.verdict().best
        same = [s for s in best if same_split(s.candidate, test, column)]
        same = [s for s in same if same_gaps(s.candidate, test, gaps)]
        if same and judge.worth(same[0]) == "split":
            check_first(walk, node, best, same[0])
            return same[0]
        tried.append((judge.verdict().reason, [s.candidate.test for s in best]))
    raise AssertionError(f"node {i} is split by {test}; the naive tree says {tried[0]}")


def check_first(walk, node, best, found):
    """No earlier candidate has the very sums of the chosen one."""
    if not walk.is_exact(node):
        return
    marks = [mark(walk, node, s.candidate) for s in best]
    own = best.index(found)
    assert own == marks.index(marks[own]), f"{best[marks.index(marks[own])]} comes first"


def mark(walk, node, candidate):
    criterion = walk.problem.options.criterion
    # Deviance needs each target by itself, as distances from a median do.
    criterion = "absolute_error" if criterion == "poisson" else criterion
    return fingerprint(criterion, walk.problem.there(node), candidate.branches)


def drawn(walk, i, test):
    """The candidate of a drawn threshold: any that lies among the values."""
    node, column = walk.nodes[i], walk.problem.columns[test.column]
    known, gaps = parted(column, node.rows)
    values = [column.values[i] for i in known]
    assert min(values) <= test.cuts[0] < max(values)
    parts = intervals(column, known, test.cuts)
    there = There(walk.problem.there(node), walk.problem.given(node), node.rows)
    branches, gap = placed(there, parts, gaps, walk.problem.options.missing)[0]
    found = Candidate(replace(test, gap=gap), parts, branches)
    return Judge(walk.problem, node).scored(found)


def check_test(walk, i, test, candidate):
    """Thresholds, levels and the branch of gaps are those of the candidate."""
    wanted, node = candidate.test, walk.nodes[i]
    if wanted.groups is None:
        check_cuts(walk, wanted, test)
    else:
        check_groups(walk, wanted, test)
    sides = [float(weight(walk.problem.given(node), b)) for b in candidate.known]
    heavy = [s for s in sides if s >= max(sides) * (1 - ROUNDED)]
    if walk.is_exact(node) or len(heavy) == 1:
        assert test.gap == wanted.gap


def check_cuts(walk, wanted, test):
    if walk.problem.options.thresholds in COMPUTED and wanted.cuts[0] < math.inf:
        assert test.cuts == pytest.approx(wanted.cuts, rel=EXACT, abs=EXACT)
    else:
        assert test.cuts == wanted.cuts


def check_groups(walk, wanted, test):
    """Levels that no branch of the candidate lists may be listed beside gaps, or nowhere."""
    for code in range(len(walk.problem.columns[wanted.column].labels)):
        branch = wanted.branch_of(code)
        found = test.branch_of(code)
        assert found == branch or (branch is None and found in (None, test.gap))


def check_gain(walk, i, found):
    """What the split gains, after it has paid for the choice of its cut."""
    near = walk.near(walk.nodes[i]) * walk.scale
    assert walk.tree.gain[i] == pytest.approx(found.gain, abs=near)


def check_surrogates(walk, i, wanted):
    """The same surrogates in the same order, with the same tests and shares."""
    columns = walk.problem.columns
    found = walk.tree.surrogates_of(i)
    assert [s.column for s in found] == [s.column for s in wanted]
    for own, naive in zip(found, wanted, strict=True):
        labels = columns[own.column].labels
        if naive.test.groups is None:
            cut = naive.test.cuts[0]
            assert own.threshold == (labels[cut] if labels else cut)
            assert own.flipped == naive.turned
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
    # Rows follow the fitted threshold and its branch of gaps where rounding left these open.
    own = replace(found.candidate.test, cuts=test.cuts, gap=test.gap)
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
    """Depth first: all branches of a node get the next numbers, then each is grown in turn."""
    number, waiting = 1, [0]
    while waiting:
        children = nodes[waiting.pop()].children
        assert children == list(range(number, number + len(children)))
        number += len(children)
        waiting += reversed(children)
    assert number == len(nodes)


def assert_lecture_tree(model, problem):
    """Check every node of a fitted model's tree; return the naive nodes in its place."""
    tree = model.tree_
    walk = Walk(problem, tree, [Node(problem.rows)] + [None] * (tree.n_nodes - 1))
    for i in range(tree.n_nodes):
        assert walk.nodes[i] is not None, f"node {i} hangs nowhere, or before its parent"
        check_numbers(walk, i)
        (check_leaf if tree.is_leaf[i] else check_split)(walk, i)
    check_order(walk.nodes)
    return walk.nodes
