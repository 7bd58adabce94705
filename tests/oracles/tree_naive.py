"""A naive decision tree: lists of rows, all candidates, one option at a time.

Nothing of Ceiba is used here. `grow` makes a whole tree; `decide` handles one node, and serves to
check another program's tree node by node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tests.oracles.tree_candidates import Candidate, Rules, candidates
from tests.oracles.tree_impurity import (
    class_weights,
    gain,
    impurity,
    is_pure,
    lower_median,
    mean,
    score,
    weight,
)

# Scores closer than this fraction of the node's impurity are equal: logarithms are rounded.
NEAR = 1e-12


@dataclass(frozen=True)
class Options(Rules):
    """Stopping criteria and growth order."""

    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int | None = None
    growth: str = "auto"


@dataclass(frozen=True)
class Problem:
    """Columns, a target and options; ``rows`` are those of positive weight."""

    columns: list
    target: object
    options: Options = field(default_factory=Options)

    @cached_property
    def rows(self):
        return [i for i, w in enumerate(self.target.weights) if w > 0]

    @cached_property
    def weight(self):
        return weight(self.target, self.rows)

    @property
    def order(self):
        if self.options.growth != "auto":
            return self.options.growth
        return "best_first" if self.options.max_leaf_nodes else "depth_first"


@dataclass
class Node:
    """A node: its rows, and either its split and children or the reason why it is a leaf."""

    rows: list
    depth: int
    reason: str
    best: list
    split: Candidate | None = None
    children: list = field(default_factory=list)


# One node


def min_rows(wanted, n, floor):
    """Return a number of rows, or a fraction of them rounded up."""
    return wanted if isinstance(wanted, int) else max(floor, math.ceil(wanted * n))


def is_allowed(problem, candidate):
    options, target = problem.options, problem.target
    rows = min_rows(options.min_samples_leaf, len(problem.rows), 1)
    heavy = Fraction(options.min_weight_fraction_leaf) * problem.weight
    return all(
        len(branch) >= rows and weight(target, branch) >= heavy for branch in candidate.branches
    )


def best_of(problem, rows, found):
    """Return the candidates of the best score, in order: the first is chosen, the rest tie."""
    target, criterion = problem.target, problem.options.criterion
    scores = [score(criterion, target, candidate.branches) for candidate in found]
    minimum = max(scores) - NEAR * impurity(criterion, target, rows)
    return [candidate for candidate, own in zip(found, scores, strict=True) if own >= minimum]


def gain_reason(problem, rows, candidate):
    """Return "split" if the gain, weighted by the node's fraction of the rows, is large enough."""
    minimum = problem.options.min_impurity_decrease
    found = gain(problem.options.criterion, problem.target, candidate.branches)
    fraction = Fraction(weight(problem.target, rows)) / problem.weight
    # Zero accepts all, also a zero gain that rounding makes negative.
    return "split" if minimum == 0 or fraction * found >= minimum else "min_impurity_decrease"


def early_reason(problem, rows, depth):
    """Return the reason why no split is searched, or None."""
    options, target = problem.options, problem.target
    if is_pure(target, rows):
        return "pure"
    if impurity(options.criterion, target, rows) <= options.min_impurity_split:
        return "impurity"
    if depth == options.max_depth:
        return "max_depth"
    if len(rows) < min_rows(options.min_samples_split, len(problem.rows), 2):
        return "min_samples_split"
    return None


def decide(problem, rows, depth):
    """Return a reason to stop ("split" if there is none), and the best candidates in order."""
    reason = early_reason(problem, rows, depth)
    if reason:
        return reason, []
    found = candidates(problem.columns, problem.target, rows, problem.options)
    if not found:
        return "no_split", []
    found = [candidate for candidate in found if is_allowed(problem, candidate)]
    if not found:
        return "min_samples_leaf", []
    best = best_of(problem, rows, found)
    return gain_reason(problem, rows, best[0]), best


# Growing


def new_node(problem, rows, depth):
    reason, best = decide(problem, rows, depth)
    return Node(rows, depth, reason, best)


def weighted_gain(problem, node):
    """Return the impurity decrease of the whole tree by a split."""
    criterion, target = problem.options.criterion, problem.target
    return weight(target, node.rows) * gain(criterion, target, node.best[0].branches)


def next_index(problem, nodes, pending):
    """Return the index of the pending node (in the order of discovery) that is grown next."""
    if problem.order == "breadth_first":
        return 0
    if problem.order == "depth_first":
        # The first branch of the last node split.
        newest = max(pending, key=lambda i: (nodes[i].depth, -i))
        return pending.index(newest)
    merits = [weighted_gain(problem, nodes[i]) for i in pending]
    near = max(merits) - NEAR * problem.weight * root_impurity(problem)
    return next(index for index, own in enumerate(merits) if own >= near)


def root_impurity(problem):
    return impurity(problem.options.criterion, problem.target, problem.rows)


def grow(problem):
    """Return the nodes of the tree, by number."""
    nodes = [new_node(problem, problem.rows, 0)]
    pending, leaves = [0], 1
    maximum = problem.options.max_leaf_nodes or math.inf
    while pending := [i for i in pending if nodes[i].reason == "split"]:
        node = nodes[pending.pop(next_index(problem, nodes, pending))]
        chosen = node.best[0]
        if leaves + len(chosen.branches) - 1 > maximum:  # it does not fit: nothing more is split
            for other in (node, *(nodes[i] for i in pending)):
                other.reason = "max_leaf_nodes"
            break
        leaves += len(chosen.branches) - 1
        node.split = chosen
        node.children = list(range(len(nodes), len(nodes) + len(chosen.branches)))
        nodes += [new_node(problem, branch, node.depth + 1) for branch in chosen.branches]
        pending += node.children
    return nodes


# Using a tree


def path(nodes, row):
    """Return the nodes on the path of a row (a list of values), from the root to its leaf."""
    found = [0]
    while split := nodes[found[-1]].split:
        found.append(nodes[found[-1]].children[split.branch_of(row[split.column])])
    return found


def node_value(problem, rows):
    """Return the class weights, mean or (lower) median of a node."""
    if problem.target.n_classes:
        return class_weights(problem.target, rows)
    if problem.options.criterion == "squared_error":
        return [mean(problem.target, rows)]
    return [lower_median(problem.target, rows)]


def probabilities(counts, way, prior, m):
    """Return the class probabilities of a leaf: plain, or smoothed by one row or by a prior."""
    total, k = sum(counts), len(counts)
    if way == "laplace":
        return [Fraction(c + 1) / (total + k) for c in counts]
    if way == "m_estimate":
        m = Fraction(m)
        return [(c + m * p) / (total + m) for c, p in zip(counts, prior, strict=True)]
    return [Fraction(c) / total for c in counts]


def importances(problem, nodes):
    """Return each column's fraction of the total gain; zeros if nothing was gained."""
    sums = [0] * len(problem.columns)
    for node in nodes:
        if node.split:
            own = gain(problem.options.criterion, problem.target, node.split.branches)
            sums[node.split.column] += weight(problem.target, node.rows) * own
    total = sum(sums)
    if total <= NEAR * problem.weight * root_impurity(problem):
        return [0] * len(sums)
    return [own / total for own in sums]
