"""Compare the trees of a fitted forest with the naive ones, node by node.

As in `tree_walk` the comparison follows the fitted trees: at each node the naive version computes,
for the rows of this node and the columns that it draws, which splits are allowed. A tie that is
broken differently then affects no other node. A split must be the first of the best candidates,
unless these tie only in exact arithmetic: rounding may then distinguish them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.oracles import preset_walk
from tests.oracles.forest_draws import branch_path
from tests.oracles.forest_naive import DrawnNode, best_splits, sampled_tree
from tests.oracles.tree_impurity import fingerprint, weight
from tests.oracles.tree_walk import EXACT, Walk, check_order, matching, split_of

ROUNDED = 1e-9


@dataclass(frozen=True)
class MemberWalk:
    """A naive tree before it grows, the fitted one, and the nodes compared so far.

    ``near`` is the tolerance of numbers and ``thresholds`` that of thresholds: None if they only
    have to separate the rows as the naive ones do.
    """

    member: object
    tree: object
    nodes: list
    near: float
    thresholds: float | None

    @property
    def options(self):
        return self.member.options

    @property
    def target(self):
        return self.member.problem.target


# Leaves


def check_leaf(walk, i):
    """Check that no split is allowed, or that the number of leaves is limited."""
    node = walk.nodes[i]
    node.best = best_splits(walk.member, node.rows, node.depth, node.path)
    if node.best:
        assert walk.options.max_leaf_nodes, f"node {i} is a leaf, not {node.best[0]}"
    node.reason = "max_leaf_nodes" if node.best else "leaf"
    check_value(walk, i)


def check_value(walk, i):
    """Check the class weights (or fractions, if only these are defined) or the number."""
    found = np.atleast_1d(walk.tree.node_values[i]).astype(float)
    expected = np.array([float(v) for v in value_of(walk, i)])
    if walk.options.class_weight in ("balanced", "balanced_subsample"):
        found, expected = found / found.sum(), expected / expected.sum()
    assert found.tolist() == pytest.approx(expected.tolist(), rel=walk.near, abs=walk.near)


def value_of(walk, i):
    return replace(walk.member, nodes=walk.nodes).value(i)


# Splits


def check_split(walk, i):
    member, node = walk.member, walk.nodes[i]
    node.best = best_splits(member, node.rows, node.depth, node.path)
    assert node.best, f"node {i} is split, and should be a leaf"
    node.reason = "split"
    node.split = fitted_split(walk, i)
    chosen = matching(node.split, node.best)
    check_first(walk, node.best, chosen)
    check_test(walk, i, chosen)
    node.children = [int(child) for child in walk.tree.children(i)]
    for b, (child, rows) in enumerate(zip(node.children, chosen.branches, strict=True)):
        below = branch_path(node.path, b)
        walk.nodes[child] = DrawnNode(rows, node.depth + 1, "", [], path=below)


def fitted_split(walk, i):
    """Return the split of a fitted node, with the node's rows in its branches."""
    split = split_of(walk.tree, i, walk.member.problem.columns)
    values = walk.member.problem.columns[split.column].values
    sent = {row: split.branch_of(values[row]) for row in walk.nodes[i].rows}
    for b in range(walk.tree.split(i).n_branches):
        split.branches.append([row for row, branch in sent.items() if branch == b])
    return split


def fingerprints(walk, found):
    """Return the sums that distinguish candidates; deviance needs every target."""
    criterion = walk.options.criterion
    criterion = "absolute_error" if criterion == "poisson" else criterion
    return [fingerprint(criterion, walk.target, c.branches) for c in found]


def check_first(walk, best, chosen):
    """Check that no earlier candidate has the same sums as the chosen one."""
    own = fingerprints(walk, best)
    first = own.index(own[best.index(chosen)])
    assert best[first] is chosen, f"{best[first]} comes before {chosen}"


def check_test(walk, i, chosen):
    """Check column, threshold or categories, and the branch of missing values."""
    tree, split = walk.tree, walk.nodes[i].split
    column = walk.member.problem.columns[chosen.column]
    assert tree.column[i] == chosen.column
    assert split.missing_branch == chosen.missing_branch or is_even(walk, chosen)
    assert tree.missing_child(i) == tree.children(i)[split.missing_branch]
    if chosen.groups is not None:
        # Categories without rows in the node follow the missing values.
        wanted = (
            chosen
            if split.missing_branch == chosen.missing_branch
            else replace(chosen, missing_branch=split.missing_branch)
        )
        codes = range(len(column.labels))
        assert [split.branch_of(c) for c in codes] == [wanted.branch_of(c) for c in codes]
    elif walk.thresholds is not None:
        assert split.threshold == pytest.approx(chosen.threshold, rel=walk.thresholds, abs=0)


def is_even(walk, chosen):
    """Return whether rounding decides which of two branches is heavier."""
    if walk.near <= EXACT or len(chosen.branches) != 2:
        return False
    one, other = (float(weight(walk.target, branch)) for branch in chosen.branches)
    return one == pytest.approx(other, rel=walk.near)


# Trees


def nearness(options):
    """Return the tolerance: balanced class weights and deviances are rounded."""
    is_rounded = isinstance(options.class_weight, str) or options.criterion == "poisson"
    return ROUNDED if is_rounded else EXACT


def assert_member(tree, member, *, binned=False):
    """Check every node of a fitted tree; return the naive tree with its nodes."""
    options = member.options
    # The last bit of drawn thresholds may differ; those of bins are different.
    thresholds = None if binned else EXACT if options.thresholds == "random" else 0
    nodes = [DrawnNode(member.problem.rows, 0, "", [])] + [None] * (tree.n_nodes - 1)
    walk = MemberWalk(member, tree, nodes, nearness(options), thresholds)
    for i in range(tree.n_nodes):
        assert nodes[i] is not None, f"node {i} has no parent before it"
        (check_leaf if tree.is_leaf[i] else check_split)(walk, i)
    check_numbers(walk)
    return replace(member, nodes=nodes)


def check_numbers(walk):
    """Check that nodes are numbered in the order of growth."""
    if walk.options.criterion == "poisson":
        preset_walk.check_order(walk.nodes)
    else:
        check_order(Walk(walk.member.problem, walk.tree, walk.near), walk.nodes)


def assert_forest(model, problem, *, binned=False):
    """Check every tree of a fitted forest; return the naive trees with the nodes of the fitted."""
    members = [sampled_tree(problem, t) for t in range(problem.options.n_estimators)]
    found = [int(seed) for seed in model.forest_.tree_seeds]
    assert found == [member.seed for member in members]
    return [assert_member(model.tree(t), member, binned=binned) for t, member in enumerate(members)]
