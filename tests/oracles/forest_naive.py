"""A naive random forest: draw rows, and columns at every node, then split.

Nothing of Ceiba is used here. A tree of the forest is a naive tree (`tree_naive`) whose rows are
weighted by their number of draws and whose nodes search drawn columns only; the draws are those of
`forest_draws`, keyed by the tree and by the path to the node, never by the order of growth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from tests.oracles import tree_candidates
from tests.oracles.forest_bag import member_target
from tests.oracles.forest_draws import (
    ROOT,
    branch_path,
    columns_of_node,
    columns_of_tree,
    drawn_thresholds,
    tree_seed,
)
from tests.oracles.preset_sums import gain, impurity, node_value
from tests.oracles.preset_thresholds import as_threshold, median_of, separating
from tests.oracles.tree_candidates import Candidate, assign_missing, split_missing
from tests.oracles.tree_impurity import is_pure, weight
from tests.oracles.tree_naive import (
    Node,
    Options,
    Problem,
    is_allowed,
    min_rows,
    path,
    probabilities,
)

# Gains closer than this fraction of the node's impurity are equal: logarithms are rounded, and
# deviances are small differences of them.
NEAR, NEAR_DEVIANCE = 1e-12, 1e-9


@dataclass(frozen=True)
class ForestOptions(Options):
    """Options of the trees and of their draws.

    ``max_features`` and ``tree_features`` are numbers of columns, None for all.
    ``class_weight`` is a list with a factor for each class, "balanced" or "balanced_subsample".
    """

    n_estimators: int = 3
    seed: int = 0
    thresholds: str = "midpoint"
    n_thresholds: int = 1
    max_features: int | None = None
    max_features_per: str = "node"
    tree_features: int | None = None
    bootstrap: bool = True
    max_samples: int | float | None = None
    class_weight: object = None
    leaf_probability: str = "plain"


@dataclass(frozen=True)
class ForestProblem(Problem):
    """Columns, a target with the sample weights, and options of a whole forest."""

    options: ForestOptions = field(default_factory=ForestOptions)

    def row(self, i):
        return [column.values[i] for column in self.columns]


@dataclass
class DrawnNode(Node):
    """A node with its path, the key of its draws."""

    path: int = ROOT


@dataclass(frozen=True)
class Member:
    """One tree: its problem, its seed, its usable columns and its nodes.

    The weights of ``problem`` are those of the rows in this tree: 0 is out of bag. Classes are
    those of the whole table, even if the sample of the tree has fewer.
    """

    problem: Problem
    seed: int
    usable: list
    nodes: list = field(default_factory=list)

    @property
    def options(self):
        return self.problem.options

    @cached_property
    def near(self):
        return NEAR_DEVIANCE if self.options.criterion == "poisson" else NEAR

    def leaf(self, row):
        """Return the number of a row's leaf."""
        return path(self.nodes, row)[-1]

    def value(self, node):
        """Return the class weights of a node, or [mean] or [middle of the medians]."""
        rows, target = self.nodes[node].rows, self.problem.target
        if self.options.criterion == "absolute_error":
            return [median_of(sorted((target.values[i], target.weights[i]) for i in rows))]
        return node_value(self.options.criterion, target, rows)

    def predict(self, leaf):
        """Return the class probabilities of a leaf, or its number as a list of one."""
        value = self.value(leaf)
        if self.problem.target.n_classes is None:
            return [Fraction(v) for v in value]
        return probabilities(value, self.options.leaf_probability, None, None)


# Columns of a tree and of a node


def usable_columns(problem, seed):
    options, p = problem.options, len(problem.columns)
    if options.max_features_per == "node":
        return list(range(p))
    wanted = options.max_features if options.max_features_per == "tree" else options.tree_features
    return columns_of_tree(seed, p, wanted)


def columns_in_turn(member, at):
    """Return the columns that a node searches, and those it searches if these cannot be split.

    Of equal splits the first is made: that of the column drawn first, so that no column is
    favored. Without draws it is that of the lower column.
    """
    options = member.options
    m = options.max_features
    if options.max_features_per == "tree" or m is None:
        return member.usable, []
    order = columns_of_node(member.seed, at, member.usable)
    return order[:m], order[m:]


# Splits of a node


def drawn_candidates(member, j, rows, at):
    """Return the splits of a numeric column at drawn thresholds."""
    target, options = member.problem.target, member.options
    column = member.problem.columns[j]
    known, missing = split_missing(column, rows)
    found = []
    for threshold in separating_thresholds(member, j, known, at):
        sides = [
            [i for i in known if column.values[i] <= threshold],
            [i for i in known if column.values[i] > threshold],
        ]
        for branches, missing_branch in assign_missing(target, sides, missing, options.missing):
            found.append(Candidate(j, branches, missing_branch, threshold=threshold))
    if known and missing and options.missing != "majority":
        found.append(Candidate(j, [known, missing], 1, threshold=math.inf))
    return found


def separating_thresholds(member, j, known, at):
    """Return the drawn thresholds that separate the rows, each partition once."""
    column = member.problem.columns[j]
    values = [float(column.values[i]) for i in known]
    if not values:
        return []
    ends = min(values), max(values)
    drawn = drawn_thresholds(member.seed, at, j, member.options.n_thresholds, *ends)
    return [as_threshold(column, known, value) for value in separating(column, known, drawn)]


def column_candidates(member, j, rows, at):
    """Return the allowed splits of one column."""
    problem, options = member.problem, member.options
    column = problem.columns[j]
    if options.thresholds == "random" and column.kind != "nominal":
        found = drawn_candidates(member, j, rows, at)
    else:
        if options.criterion == "poisson":  # categories of counts are ordered by mean, too
            options = replace(options, criterion="squared_error")
        make = tree_candidates.column_candidates
        found = make(j, column, problem.target, rows, options)
    return [c for c in found if is_allowed(problem, c) and has_counts(problem, c)]


def has_counts(problem, candidate):
    """Return whether every branch has a positive mean, as Poisson deviance needs."""
    values = problem.target.values
    is_poisson = problem.options.criterion == "poisson"
    return not is_poisson or all(any(values[i] for i in b) for b in candidate.branches)


def candidates(member, rows, at):
    """Return the candidate splits of a node."""
    together, later = columns_in_turn(member, at)
    found = [c for j in together for c in column_candidates(member, j, rows, at)]
    for j in later:
        if found:
            break
        found = column_candidates(member, j, rows, at)
    return found


def gain_of(member, candidate):
    rows = [i for branch in candidate.branches for i in branch]
    return gain(member.options.criterion, member.problem.target, rows, candidate.branches)


def best_of(member, rows, found):
    """Return the candidates of maximum gain in their order: the first is chosen."""
    gains = [gain_of(member, candidate) for candidate in found]
    own = impurity(member.options.criterion, member.problem.target, rows)
    threshold = max(gains) - member.near * own
    return [candidate for candidate, g in zip(found, gains, strict=True) if g >= threshold]


def is_finished(member, rows, depth):
    """Return whether no split is searched."""
    options, problem = member.options, member.problem
    few = len(rows) < min_rows(options.min_samples_split, len(problem.rows), 2)
    return is_pure(problem.target, rows) or depth == options.max_depth or few


def is_worth(member, rows, candidate):
    """Return whether the gain, weighted by the node's fraction of rows, is large enough."""
    minimum, problem = member.options.min_impurity_decrease, member.problem
    fraction = Fraction(weight(problem.target, rows)) / problem.weight
    return minimum == 0 or fraction * gain_of(member, candidate) >= minimum


def best_splits(member, rows, depth, at):
    """Return the best splits of a node, the chosen first; none for a leaf."""
    if is_finished(member, rows, depth):
        return []
    found = candidates(member, rows, at)
    if not found:
        return []
    best = best_of(member, rows, found)
    return best if is_worth(member, rows, best[0]) else []


# Growing


def new_node(member, rows, depth=0, at=ROOT):
    best = best_splits(member, rows, depth, at)
    return DrawnNode(rows, depth, "split" if best else "leaf", best, path=at)


def merit(member, node):
    """Return how much a split decreases the impurity of the whole tree."""
    return weight(member.problem.target, node.rows) * gain_of(member, node.best[0])


def next_open(member, nodes, open_nodes):
    """Return which open node is split next: the newest, or the best."""
    if not member.options.max_leaf_nodes:
        newest = max(open_nodes, key=lambda i: (nodes[i].depth, -i))
        return open_nodes.index(newest)
    merits = [merit(member, nodes[i]) for i in open_nodes]
    root = impurity(member.options.criterion, member.problem.target, member.problem.rows)
    threshold = max(merits) - member.near * member.problem.weight * root
    return next(index for index, own in enumerate(merits) if own >= threshold)


def branch_nodes(member, node, split):
    return [
        new_node(member, rows, node.depth + 1, branch_path(node.path, b))
        for b, rows in enumerate(split.branches)
    ]


def grow(member):
    """Return the nodes of a tree, by number."""
    nodes = [new_node(member, member.problem.rows)]
    open_nodes, leaves = [0], 1
    max_leaves = member.options.max_leaf_nodes or math.inf
    while open_nodes := [i for i in open_nodes if nodes[i].reason == "split"]:
        node = nodes[open_nodes.pop(next_open(member, nodes, open_nodes))]
        leaves += len(node.best[0].branches) - 1
        if leaves > max_leaves:  # no more splits
            for late in (node, *(nodes[i] for i in open_nodes)):
                late.reason = "max_leaf_nodes"
            break
        node.split = node.best[0]
        node.children = list(range(len(nodes), len(nodes) + len(node.split.branches)))
        nodes += branch_nodes(member, node, node.split)
        open_nodes += node.children
    return nodes


# The forest


def with_row_counts(problem):
    """Return the options with fractions of rows replaced by numbers of rows."""
    options, n = problem.options, len(problem.rows)
    return replace(
        options,
        min_samples_split=min_rows(options.min_samples_split, n, 2),
        min_samples_leaf=min_rows(options.min_samples_leaf, n, 1),
    )


def sampled_tree(problem, t):
    """Return tree number t before it grows, with its rows and columns drawn."""
    seed = tree_seed(problem.options.seed, t)
    own = Problem(problem.columns, member_target(problem, seed), with_row_counts(problem))
    return Member(own, seed, usable_columns(problem, seed))


def grow_forest(problem):
    """Grow all trees."""
    members = [sampled_tree(problem, t) for t in range(problem.options.n_estimators)]
    return [replace(member, nodes=grow(member)) for member in members]


def mean_prediction(members, row):
    """Return the mean prediction of trees: class probabilities or [number]; None without trees."""
    predicted = [member.predict(member.leaf(row)) for member in members]
    if not predicted:
        return None
    return [sum(column) / len(predicted) for column in zip(*predicted, strict=True)]


def importances(problem, members):
    """Return the mean over the trees of each column's normalized decrease of impurity.

    The result sums to 1. A tree without splits (or without gain) adds nothing.
    """
    fractions = [column_fractions(member) for member in members]
    sums = [sum(column) for column in zip(*fractions, strict=True)]
    total = sum(sums)
    return [own / total if total else 0 for own in sums]


def column_fractions(member):
    sums = [0] * len(member.problem.columns)
    for node in member.nodes:
        if node.split:
            own = weight(member.problem.target, node.rows) * gain_of(member, node.split)
            sums[node.split.column] += own
    total = sum(sums)
    root = impurity(member.options.criterion, member.problem.target, member.problem.rows)
    is_none = total <= member.near * member.problem.weight * root
    return [0 if is_none else own / total for own in sums]
