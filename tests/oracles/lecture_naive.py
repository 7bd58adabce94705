"""The trees of a lecture as a student would grow them: Hunt, ID3, C4.5, CART and their options.

Nothing of Ceiba is used here. Beyond `tree_naive`: rows may come in parts (C4.5's fractional rows),
gaps may follow surrogate splits, branches may be empty, and columns may be used up.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from tests.oracles.lecture_choice import Judge
from tests.oracles.lecture_options import LectureOptions
from tests.oracles.lecture_sums import altered, cheapest, node_value
from tests.oracles.lecture_surrogates import branch_without, surrogates
from tests.oracles.tree_impurity import weight


@dataclass(frozen=True)
class LectureProblem:
    """Columns, a target and options.

    ``grown`` is the target that splits are chosen for: with costs its weights are altered.
    """

    columns: list
    target: object
    options: LectureOptions = field(default_factory=LectureOptions)

    @cached_property
    def rows(self):
        return [i for i, w in enumerate(self.target.weights) if w > 0]

    @cached_property
    def grown(self):
        return altered(self.target, self.options.costs)

    @cached_property
    def weight(self):
        return weight(self.target, self.rows)

    def known_at_root(self, place):
        return [i for i in self.rows if self.columns[place].values[i] is not None]

    def there(self, node):
        """The target with the weights that rows have in a node, for choosing its split."""
        return in_part(self.grown, node)

    def given(self, node):
        """The same for what a node shows: its weight and value."""
        return in_part(self.target, node)

    def row(self, i):
        return [column.values[i] for column in self.columns]


@dataclass(frozen=True)
class Split:
    """The test of a node, and the surrogates for rows that it cannot be asked of."""

    test: object
    surrogates: tuple = ()


@dataclass
class Node:
    """A node: its rows, the share of each (1 unless given), and what became of it."""

    rows: list
    depth: int = 0
    shares: dict = field(default_factory=dict)
    used: frozenset = frozenset()
    reason: str = ""
    split: Split | None = None
    children: list = field(default_factory=list)
    parent: int = -1


def in_part(target, node):
    if not node.shares:
        return target
    weights = [w * node.shares.get(i, 1) for i, w in enumerate(target.weights)]
    return replace(target, weights=weights)


# Growing


def new_split(problem, node, candidate):
    if problem.options.missing != "surrogate":
        return Split(candidate.test)
    return Split(candidate.test, tuple(surrogates(problem, node, candidate)))


def branch_nodes(problem, node, split):
    """The nodes below, with their rows: known ones as the test says, gaps as the rule says."""
    test = split.test
    found = [
        Node([], node.depth + 1, used=node.used | {test.column}) for _ in range(test.n_branches)
    ]
    gaps = []
    for i in node.rows:
        branch = test.branch_of(problem.columns[test.column].values[i])
        if branch is None and problem.options.missing == "fractional":
            gaps.append(i)
        elif branch is None:
            put(node, found[branch_without(split, problem.row(i))], i)
        else:
            put(node, found[branch], i)
    share_out(problem.given(node), node, found, gaps)
    return found


def put(node, branch, i, share=1):
    branch.rows.append(i)
    if i in node.shares or share != 1:
        branch.shares[i] = node.shares.get(i, 1) * share


def share_out(target, node, branches, gaps):
    """Rows with a gap go down every branch, in parts as large as the branch among the known."""
    weights = [weight(target, branch.rows) for branch in branches]
    for branch, own in zip(branches, weights, strict=True):
        for i in gaps if own else []:
            put(node, branch, i, Fraction(own) / sum(weights))
        branch.rows.sort()


def grow(problem):
    """The nodes of the tree by number; all branches of a node are numbered, then grown in turn."""
    nodes = [Node(problem.rows)]
    grow_below(problem, nodes, 0)
    return nodes


def grow_below(problem, nodes, place):
    node = nodes[place]
    verdict = Judge(problem, node).verdict()
    node.reason = verdict.reason
    if verdict.reason != "split":
        return
    node.split = new_split(problem, node, verdict.best[0].candidate)
    node.children = [len(nodes) + j for j in range(node.split.test.n_branches)]
    nodes += branch_nodes(problem, node, node.split)
    for child in node.children:
        nodes[child].parent = place
    for child in node.children:
        grow_below(problem, nodes, child)


# Using a tree


def ends(problem, nodes, row, place=0, share=Fraction(1)):
    """The leaves that a row (a list of values) comes to: {leaf: share of the row}."""
    node = nodes[place]
    if node.split is None:
        return {place: share}
    test = node.split.test
    branch = test.branch_of(row[test.column])
    if branch is not None:
        return ends(problem, nodes, row, node.children[branch], share)
    if problem.options.missing != "fractional":
        branch = branch_without(node.split, row)
        return ends(problem, nodes, row, node.children[branch], share)
    found = {}
    weights = [weight_of(problem, nodes[child]) for child in node.children]
    for child, own in zip(node.children, weights, strict=True):
        if own:
            found |= ends(problem, nodes, row, child, share * own / sum(weights))
    return found


def weight_of(problem, node):
    return Fraction(weight(problem.given(node), node.rows))


def leaf_of(nodes, problem, row):
    """The one leaf of a row: gaps that would go down every branch follow the heaviest."""
    place = 0
    while (split := nodes[place].split) is not None:
        branch = split.test.branch_of(row[split.test.column])
        if branch is None:
            branch = branch_without(split, row)
        place = nodes[place].children[branch]
    return place


def value_of(problem, nodes, place):
    """Class weights, or the number, of a node as a leaf; an empty one is as the node above."""
    node = nodes[place]
    if not node.rows:
        return value_of(problem, nodes, node.parent)
    return node_value(problem.options.criterion, problem.given(node), node.rows)


def leaf_shares(problem, nodes, place):
    """Class probabilities of a leaf, or its number as a list of one."""
    found = value_of(problem, nodes, place)
    if problem.target.n_classes is None:
        return [Fraction(v) for v in found]
    return [Fraction(v) / sum(found) for v in found]


def predicted(problem, nodes, row):
    """Class probabilities, or the number, of a row: the weighted sum over its leaves."""
    found = [
        [share * p for p in leaf_shares(problem, nodes, leaf)]
        for leaf, share in ends(problem, nodes, row).items()
    ]
    return [sum(column) for column in zip(*found, strict=True)]


def predicted_class(problem, nodes, row):
    return cheapest(predicted(problem, nodes, row), problem.options.costs)
