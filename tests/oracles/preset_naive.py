"""Naive trees of all presets: Hunt, ID3, C4.5, CART and their options.

Nothing of Ceiba is used here. Beyond `tree_naive`: rows may be fractional (C4.5), missing values
may follow surrogate splits, branches may be empty, and columns may be tested once only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from tests.oracles.preset_choice import SplitChooser
from tests.oracles.preset_options import PresetOptions
from tests.oracles.preset_sums import cheapest, cost_weighted, node_value
from tests.oracles.preset_surrogates import branch_without, surrogates
from tests.oracles.tree_impurity import weight


@dataclass(frozen=True)
class PresetProblem:
    """Columns, a target and options.

    ``grown`` is the target by which splits are chosen: with costs its weights are changed.
    """

    columns: list
    target: object
    options: PresetOptions = field(default_factory=PresetOptions)

    @cached_property
    def rows(self):
        return [i for i, w in enumerate(self.target.weights) if w > 0]

    @cached_property
    def grown(self):
        return cost_weighted(self.target, self.options.costs)

    @cached_property
    def weight(self):
        return weight(self.target, self.rows)

    def known_at_root(self, index):
        return [i for i in self.rows if self.columns[index].values[i] is not None]

    def node_target(self, node):
        """Return the target with the weights of the rows in a node, for choosing its split."""
        return in_part(self.grown, node)

    def given(self, node):
        """Return the same without costs, for the weight and value of a node."""
        return in_part(self.target, node)

    def row(self, i):
        return [column.values[i] for column in self.columns]


@dataclass(frozen=True)
class Split:
    """The test of a node, and its surrogates."""

    test: object
    surrogates: tuple = ()


@dataclass
class Node:
    """A node: its rows, the fraction of each (default 1), and its split or reason."""

    rows: list
    depth: int = 0
    fractions: dict = field(default_factory=dict)
    used: frozenset = frozenset()
    reason: str = ""
    split: Split | None = None
    children: list = field(default_factory=list)
    parent: int = -1


def in_part(target, node):
    if not node.fractions:
        return target
    weights = [w * node.fractions.get(i, 1) for i, w in enumerate(target.weights)]
    return replace(target, weights=weights)


# Growing


def new_split(problem, node, candidate):
    if problem.options.missing != "surrogate":
        return Split(candidate.test)
    return Split(candidate.test, tuple(surrogates(problem, node, candidate)))


def branch_nodes(problem, node, split):
    """Return the branches with their rows: known ones by the test, missing by the policy."""
    test = split.test
    found = [
        Node([], node.depth + 1, used=node.used | {test.column}) for _ in range(test.n_branches)
    ]
    missing_rows = []
    for i in node.rows:
        branch = test.branch_of(problem.columns[test.column].values[i])
        if branch is None and problem.options.missing == "fractional":
            missing_rows.append(i)
        elif branch is None:
            put(node, found[branch_without(split, problem.row(i))], i)
        else:
            put(node, found[branch], i)
    distribute(problem.given(node), node, found, missing_rows)
    return found


def put(node, branch, i, fraction=1):
    branch.rows.append(i)
    if i in node.fractions or fraction != 1:
        branch.fractions[i] = node.fractions.get(i, 1) * fraction


def distribute(target, node, branches, missing_rows):
    """Send rows with a missing value down every branch, by the branches' known weight."""
    weights = [weight(target, branch.rows) for branch in branches]
    for branch, own in zip(branches, weights, strict=True):
        for i in missing_rows if own else []:
            put(node, branch, i, Fraction(own) / sum(weights))
        branch.rows.sort()


def grow(problem):
    """Return the nodes by number; the branches of a node are numbered, then grown in turn."""
    nodes = [Node(problem.rows)]
    grow_below(problem, nodes, 0)
    return nodes


def grow_below(problem, nodes, index):
    node = nodes[index]
    decision = SplitChooser(problem, node).decision()
    node.reason = decision.reason
    if decision.reason != "split":
        return
    node.split = new_split(problem, node, decision.best[0].candidate)
    node.children = [len(nodes) + j for j in range(node.split.test.n_branches)]
    nodes += branch_nodes(problem, node, node.split)
    for child in node.children:
        nodes[child].parent = index
    for child in node.children:
        grow_below(problem, nodes, child)


# Using a tree


def ends(problem, nodes, row, index=0, fraction=Fraction(1)):
    """Return the leaves of a row (a list of values): {leaf: fraction of the row}."""
    node = nodes[index]
    if node.split is None:
        return {index: fraction}
    test = node.split.test
    branch = test.branch_of(row[test.column])
    if branch is not None:
        return ends(problem, nodes, row, node.children[branch], fraction)
    if problem.options.missing != "fractional":
        branch = branch_without(node.split, row)
        return ends(problem, nodes, row, node.children[branch], fraction)
    found = {}
    weights = [weight_of(problem, nodes[child]) for child in node.children]
    for child, own in zip(node.children, weights, strict=True):
        if own:
            found |= ends(problem, nodes, row, child, fraction * own / sum(weights))
    return found


def weight_of(problem, node):
    return Fraction(weight(problem.given(node), node.rows))


def leaf_of(nodes, problem, row):
    """Return the one leaf of a row: fractional missing values follow the heaviest branch."""
    index = 0
    while (split := nodes[index].split) is not None:
        branch = split.test.branch_of(row[split.test.column])
        if branch is None:
            branch = branch_without(split, row)
        index = nodes[index].children[branch]
    return index


def value_of(problem, nodes, index):
    """Return the class weights, or the number, of a node; an empty one has its parent's."""
    node = nodes[index]
    if not node.rows:
        return value_of(problem, nodes, node.parent)
    return node_value(problem.options.criterion, problem.given(node), node.rows)


def leaf_probabilities(problem, nodes, index):
    """Return the class probabilities of a leaf, or its number as a list of one."""
    found = value_of(problem, nodes, index)
    if problem.target.n_classes is None:
        return [Fraction(v) for v in found]
    return [Fraction(v) / sum(found) for v in found]


def predicted(problem, nodes, row):
    """Return the prediction of a row: the weighted sum over its leaves."""
    found = [
        [fraction * p for p in leaf_probabilities(problem, nodes, leaf)]
        for leaf, fraction in ends(problem, nodes, row).items()
    ]
    return [sum(column) for column in zip(*found, strict=True)]


def predicted_class(problem, nodes, row):
    return cheapest(predicted(problem, nodes, row), problem.options.costs)
