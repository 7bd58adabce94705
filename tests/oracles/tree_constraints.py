"""Check a tree under monotonic and interaction constraints, node by node, against all candidates.

Nothing of Ceiba is used here but the fitted tree. At every node the naive candidates that keep the
constraints are scored; the split must be among the best of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tests.oracles.tree_candidates import candidates
from tests.oracles.tree_impurity import Target, class_weights, mean, score
from tests.oracles.tree_naive import best_of, early_reason, is_allowed

# Values this close to a bound, or to each other, may be on either side of it.
NEAR = 1e-12


@dataclass(frozen=True)
class Constraints:
    """A sign per column, and sets of columns that may be tested together (None: all)."""

    signs: list
    sets: list | None = None

    def columns(self, tested):
        """Return the columns that a node may test below columns tested above."""
        if self.sets is None:
            return set(range(len(self.signs)))
        return set().union(*(group for group in self.sets if tested <= set(group)))


@dataclass(frozen=True)
class NodeLimits:
    """A node of the fitted tree with what constrains it."""

    node: int
    lower: float = -math.inf
    upper: float = math.inf
    tested: frozenset = frozenset()


def value(target, rows):
    """Return the mean, or the fraction of the second class."""
    if target.n_classes is None:
        return float(mean(target, rows))
    weights = class_weights(target, rows)
    return float(weights[1] / sum(weights)) if len(weights) > 1 else 0.0


def keeps_order(problem, constraints, limits, candidate, slack):
    """Return whether the first two branches are in order and in the bounds, up to ``slack``."""
    sign = constraints.signs[candidate.column]
    if sign == 0:
        return True
    left, right = (value(problem.target, branch) for branch in candidate.branches[:2])
    low, high = min(left, right), max(left, right)
    ordered = sign * (right - left) >= -slack
    return ordered and low >= limits.lower - slack and high <= limits.upper + slack


def branches_of(problem, constraints, limits, candidate, children):
    """Return the branches of a split, with their bounds and the columns tested above."""
    tested = limits.tested | {candidate.column}
    found = [replace(limits, node=int(child), tested=tested) for child in children]
    sign = constraints.signs[candidate.column]
    if sign:
        left, right = (value(problem.target, branch) for branch in candidate.branches[:2])
        middle = (left + right) / 2
        below, above = (0, 1) if sign > 0 else (1, 0)
        found[below] = replace(found[below], upper=middle)
        found[above] = replace(found[above], lower=middle)
    return found


def assert_prediction(tree, problem, limits, rows):
    """Assert that a node predicts the value of its rows, moved to its bounds."""
    expected = min(max(value(problem.target, rows), limits.lower), limits.upper)
    own = tree.node_values[limits.node]
    if problem.target.n_classes:
        own = own[1:].sum() / own.sum()
    np.testing.assert_allclose(float(np.squeeze(own)), expected, rtol=1e-9, atol=1e-9)


def assert_constrained_tree(model, table, options, constraints):
    """Assert that each split is a best allowed one, and that leaves have none; return the reasons.

    The tree must have no limits but those that `is_allowed` and `early_reason` know.
    """
    problem, tree = table.problem(options), model.tree_
    paths = model.decision_path(table.frame).toarray().astype(bool)
    reasons, pending = set(), [NodeLimits(0)]
    while pending:
        limits = pending.pop()
        rows = [i for i in problem.rows if paths[i, limits.node]]
        assert_prediction(tree, problem, limits, rows)
        found = [
            candidate
            for candidate in candidates(problem.columns, problem.target, rows, options)
            if is_allowed(problem, candidate)
            and candidate.column in constraints.columns(limits.tested)
        ]
        loose, strict = (
            [c for c in found if keeps_order(problem, constraints, limits, c, slack)]
            for slack in (NEAR, -NEAR)
        )
        if tree.is_leaf[limits.node]:
            reason = tree.reasons[limits.node]
            reasons.add(reason)
            early = early_reason(problem, rows, tree.depth[limits.node])
            assert reason == early if early else not strict, (limits, reason)
            if not early and found:
                assert reason == "monotonic_cst"
            continue
        children = list(tree.children(limits.node))
        branches = [[i for i in rows if paths[i, child]] for child in children]
        chosen = next((c for c in loose if c.branches == branches), None)
        assert chosen is not None, f"node {limits.node} has a split that is not allowed"
        if strict:
            best = best_of(problem, rows, strict)[0]
            own, needed = (
                score(options.criterion, problem.target, c.branches) for c in (chosen, best)
            )
            assert float(own) >= float(needed) - 1e-9 * max(1.0, abs(float(needed)))
        pending += branches_of(problem, constraints, limits, chosen, children)
    return reasons


def two_classes(target):
    """Return a target with its classes merged into at most two that both occur."""
    if target.n_classes is None:
        return target
    labels = [label % 2 for label in target.values]
    heavy = {label for label, w in zip(labels, target.weights, strict=True) if w > 0}
    if len(heavy) < 2:
        return Target([0] * len(labels), target.weights, 1)
    return Target(labels, target.weights, 2)
