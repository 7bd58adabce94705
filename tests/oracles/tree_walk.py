"""Compare a fitted tree with the naive one, node by node.

The walk follows the fitted tree: at each of its nodes the naive tree decides about just these
rows, so that one tie broken differently affects no other node. A split must be the first of the
best candidates, unless these tie only in exact arithmetic: rounding may then separate them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from tests.oracles.tree_candidates import Candidate, Column
from tests.oracles.tree_impurity import fingerprint, gain, impurity, weight
from tests.oracles.tree_naive import (
    Node,
    decide,
    gain_reason,
    importances,
    node_value,
    root_impurity,
    weighted_gain,
)

# Tolerance of numbers whose sums are exact in floating point.
EXACT = 1e-12


@dataclass(frozen=True)
class Walk:
    """A naive problem, a fitted tree, and a tolerance (fraction of the root impurity).

    With ``drawn`` each node searched one column only.
    """

    problem: object
    tree: object
    near: float = EXACT
    drawn: bool = False

    @cached_property
    def slack(self):
        return self.near * float(root_impurity(self.problem))

    def problem_of(self, node):
        """Return the problem of a node: if columns were drawn, only its own."""
        if not self.drawn or node.split is None:
            return self.problem
        blank = Column("float", [0.0] * len(self.problem.target.values))
        columns = [blank] * len(self.problem.columns)
        columns[node.split.column] = self.problem.columns[node.split.column]
        return replace(self.problem, columns=columns)


def split_of(tree, i, columns):
    """Return the test of an inner node as a candidate without rows."""
    words = tree.split(i)
    column = columns[words.column]
    code = {label: code for code, label in enumerate(column.labels)}
    if words.kind == "threshold":
        threshold = code.get(words.threshold, words.threshold)  # a category, a number or infinity
        return Candidate(words.column, [], words.missing_branch, threshold=threshold)
    groups = [sorted(code[label] for label in branch) for branch in words.branches]
    return Candidate(words.column, [], words.missing_branch, groups=groups, method=words.method)


def fitted_nodes(problem, tree):
    """Return the nodes of a fitted tree, with the rows that are routed to them."""
    nodes = [None] * tree.n_nodes
    nodes[0] = Node(problem.rows, 0, tree.reasons[0], [])
    for i, node in enumerate(nodes):
        assert node is not None, f"node {i} has no parent with a smaller number"
        if tree.is_leaf[i]:
            continue
        split = split_of(tree, i, problem.columns)
        node.children = [int(child) for child in tree.children(i)]
        values = problem.columns[split.column].values
        for j in range(len(node.children)):
            split.branches.append([r for r in node.rows if split.branch_of(values[r]) == j])
        node.split = split
        for child, rows in zip(node.children, split.branches, strict=True):
            nodes[child] = Node(rows, node.depth + 1, tree.reasons[child], [])
    return nodes


# One node


def check_numbers(walk, nodes, i):
    """Check rows, weight, impurity, value and gain of a node."""
    problem, tree, node = walk.problem, walk.tree, nodes[i]
    criterion, target = problem.options.criterion, problem.target
    assert tree.n_rows[i] == len(node.rows) > 0
    assert tree.depth[i] == node.depth
    assert tree.weight[i] == pytest.approx(float(weight(target, node.rows)), rel=walk.near)
    own = float(impurity(criterion, target, node.rows))
    assert tree.impurity[i] == pytest.approx(own, abs=walk.slack)
    check_value(walk, node, np.atleast_1d(tree.node_values[i]))
    if node.split is None:
        assert tree.gain[i] == 0
    else:
        found = float(gain(criterion, target, node.split.branches))
        assert tree.gain[i] == pytest.approx(found, abs=walk.slack)
        assert tree.gain[i] >= 0


def check_value(walk, node, value):
    problem = walk.problem
    if problem.options.criterion == "absolute_error":
        check_median(problem.target, node.rows, value[0])
        return
    expected = [float(v) for v in node_value(problem, node.rows)]
    largest = max(abs(float(y)) for y in problem.target.values) + float(problem.weight)
    assert value.tolist() == pytest.approx(expected, abs=walk.near * largest)


def check_median(target, rows, value):
    """Check that a value is a median: at most half of the weight lies on either side."""
    half = weight(target, rows) / 2
    assert weight(target, [i for i in rows if target.values[i] < value]) <= half
    assert weight(target, [i for i in rows if target.values[i] > value]) <= half


def check_choice(walk, nodes, i):
    """Check that the naive tree allows the node's split or reason."""
    node = nodes[i]
    reason, best = decide(walk.problem_of(node), node.rows, node.depth)
    # Candidates of equal ratio may differ in gain, and only some gains may be large enough.
    reasons = {gain_reason(walk.problem, node.rows, c) for c in best} or {reason}
    node.best = best
    if node.split is None:
        # `check_order` checks the limit on leaves.
        assert ("split" if node.reason == "max_leaf_nodes" else node.reason) in reasons
        return
    assert node.reason == "split"
    assert "split" in reasons
    chosen = matching(node.split, best)
    check_first(walk, best, chosen)
    check_test(walk, i, node.split, chosen)
    check_ties(walk, i, best, chosen)


def matching(split, best):
    """Return the candidate with the branches of the fitted node."""
    same = [c for c in best if (c.column, c.branches) == (split.column, split.branches)]
    assert same, f"{split} is not among the best: {best}"
    return same[0]


def prints(walk, found):
    options, target = walk.problem.options, walk.problem.target
    return [fingerprint(options.criterion, target, c.branches) for c in found]


def check_first(walk, best, chosen):
    """Check that no earlier candidate has the same sums as the chosen one."""
    marks = prints(walk, best)
    assert best.index(chosen) == marks.index(marks[best.index(chosen)])


def check_test(walk, i, split, chosen):
    tree = walk.tree
    assert tree.column[i] == chosen.column
    if split.missing_branch != chosen.missing_branch and is_even(walk, chosen):
        chosen = replace(chosen, missing_branch=split.missing_branch)
    assert split.missing_branch == chosen.missing_branch
    assert tree.missing_child(i) == tree.children(i)[chosen.missing_branch]
    assert tree.split(i).n_branches == len(chosen.branches) == len(tree.children(i))
    if chosen.groups is None:
        assert split.threshold == chosen.threshold
        if not walk.problem.columns[chosen.column].labels:
            assert tree.threshold[i] == float(chosen.threshold)
    else:
        assert math.isnan(tree.threshold[i])
        # Categories without rows may be listed in the branch of missing values, or nowhere.
        codes = range(len(walk.problem.columns[chosen.column].labels))
        assert [split.branch_of(c) for c in codes] == [chosen.branch_of(c) for c in codes]
    if chosen.method != "known":  # nothing was grouped, so any method is right
        assert split.method == chosen.method


def is_even(walk, chosen):
    """Return whether rounded weights leave open which branch is heavier."""
    if walk.near <= EXACT or len(chosen.branches) != 2:
        return False
    one, other = (float(weight(walk.problem.target, branch)) for branch in chosen.branches)
    return one == pytest.approx(other, rel=walk.near)


def check_ties(walk, i, best, chosen):
    """Check that ties are the candidates of equal sums, and at most all of the best.

    The branches of missing values of one multiway split may count as one candidate.
    """
    marks = prints(walk, best)
    own = marks[best.index(chosen)]
    alike = [c for c, mark in zip(best, marks, strict=True) if mark == own]
    sure = [c for c in alike if c.method != "multiway" or c.column != chosen.column]
    assert len(sure) - (chosen in sure) <= walk.tree.ties[i] <= len(best) - 1


# The whole tree


def next_node(walk, nodes, pending, number):
    """Return the node to be split next, when the next free number is ``number``."""
    order, problem = walk.problem.order, walk.problem
    if order == "breadth_first":
        return pending[0]
    if order == "depth_first":
        return max(pending, key=lambda i: (nodes[i].depth, -i))
    merits = {i: weighted_gain(problem, nodes[i]) for i in pending}
    minimum = max(merits.values()) - walk.slack * float(problem.weight)
    equal = [i for i in pending if merits[i] >= minimum]
    marks = prints(walk, [nodes[i].best[0] for i in equal])
    taken = [i for i in equal if nodes[i].children[:1] == [number]] or equal[:1]
    return equal[marks.index(marks[equal.index(taken[0])])]


def is_certain(walk, node):
    """Return whether all best candidates have equally many branches and equal gains."""
    criterion, target = walk.problem.options.criterion, walk.problem.target
    gains = [float(gain(criterion, target, c.branches)) for c in node.best]
    even = not gains or max(gains) - min(gains) <= walk.slack
    return even and len({len(c.branches) for c in node.best}) <= 1


def check_order(walk, nodes):
    """Check that nodes are numbered in growth order up to the limit on leaves."""
    if not all(is_certain(walk, node) for node in nodes):
        return
    maximum = walk.problem.options.max_leaf_nodes or math.inf
    pending, leaves, number = [0], 1, 1
    while pending := [i for i in pending if nodes[i].reason in ("split", "max_leaf_nodes")]:
        i = next_node(walk, nodes, pending, number)
        pending.remove(i)
        node, b = nodes[i], len(nodes[i].best[0].branches)
        if leaves + b - 1 > maximum:  # nothing more is split
            assert all(nodes[late].reason == "max_leaf_nodes" for late in (i, *pending))
            break
        assert node.reason == "split"
        assert node.children == list(range(number, number + b))
        pending += node.children
        leaves, number = leaves + b - 1, number + b
    assert number == len(nodes)


def check_importances(walk, nodes, found):
    expected = [float(fraction) for fraction in importances(walk.problem, nodes)]
    if any(expected):
        assert found.tolist() == pytest.approx(expected, abs=max(walk.near, 1e-9))
    else:
        # All gains are zero, but rounded zeros may still be normalized.
        assert np.isfinite(found).all()
        assert found.sum() == pytest.approx(0) or found.sum() == pytest.approx(1)


def assert_tree(model, problem, *, near=EXACT, choices=True, drawn=False):
    """Check every node of a fitted model's tree; return its nodes with their rows.

    Without ``choices`` the numbers of each node are checked, but not the choice of its split (bins
    offer fewer thresholds). With ``drawn`` a split must be the best of its own column only, for
    each node drew one column.
    """
    walk = Walk(problem, model.tree_, near, drawn)
    nodes = fitted_nodes(problem, model.tree_)
    for i in range(len(nodes)):
        check_numbers(walk, nodes, i)
        if choices:
            check_choice(walk, nodes, i)
    if choices:
        check_order(walk, nodes)
    check_importances(walk, nodes, model.feature_importances_)
    assert model.tree_.n_leaves == model.get_n_leaves() == sum(not n.children for n in nodes)
    assert model.tree_.max_depth == model.get_depth() == max(n.depth for n in nodes)
    return nodes
