"""A random forest as a student would grow it: draw rows, and columns at every node, then split.

Nothing of Ceiba is used here. A tree of the forest is a naive tree (`tree_naive`) whose rows weigh
as often as they were drawn and whose nodes look at drawn columns only; the draws are those of
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
    drawn_cuts,
    tree_seed,
)
from tests.oracles.lecture_sums import gain, impurity, node_value
from tests.oracles.lecture_thresholds import median_of, separating, shown
from tests.oracles.tree_candidates import Candidate, parted, with_gaps
from tests.oracles.tree_impurity import is_pure, weight
from tests.oracles.tree_naive import (
    Node,
    Options,
    Problem,
    is_allowed,
    least_rows,
    path,
    probabilities,
)

# Scores nearer than this share of the node's impurity are equal: logarithms are rounded, and
# deviances are small differences of them.
NEAR, NEAR_DEVIANCE = 1e-12, 1e-9


@dataclass(frozen=True)
class ForestOptions(Options):
    """How the trees grow, and what is drawn for each.

    ``max_features`` and ``tree_features`` are numbers of columns, None for all.
    ``class_weight`` is a list with a factor for each class, "balanced" or "balanced_subsample".
    """

    n_estimators: int = 3
    seed: int = 0
    thresholds: str = "midpoint"
    n_thresholds: int = 1
    max_features: int | None = None
    features_per: str = "node"
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
    """A node that knows its path, the key of its draws."""

    path: int = ROOT


@dataclass(frozen=True)
class Member:
    """One tree: the problem that it solves, its seed, the columns that it may use, its nodes.

    The weights of ``problem`` are those of the rows in this tree: 0 is out of bag. Classes are
    those of the whole table, also where the tree saw fewer.
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
        """The number of a row's leaf."""
        return path(self.nodes, row)[-1]

    def value(self, place):
        """Class weights of a node's rows in this tree, or [mean] or [middle of the medians]."""
        rows, target = self.nodes[place].rows, self.problem.target
        if self.options.criterion == "absolute_error":
            return [median_of(sorted((target.values[i], target.weights[i]) for i in rows))]
        return node_value(self.options.criterion, target, rows)

    def told(self, place):
        """Class probabilities of a leaf, or its number as a list of one."""
        value = self.value(place)
        if self.problem.target.n_classes is None:
            return [Fraction(v) for v in value]
        return probabilities(value, self.options.leaf_probability, None, None)


# Columns of a tree and of a node


def usable_columns(problem, seed):
    options, p = problem.options, len(problem.columns)
    if options.features_per == "node":
        return list(range(p))
    wanted = options.max_features if options.features_per == "tree" else options.tree_features
    return columns_of_tree(seed, p, wanted)


def columns_in_turn(member, at):
    """The columns that a node looks at, and those that it turns to if these cannot be split.

    Of equal splits the first is made: that of the column drawn first, so that no column is
    favoured. Where nothing is drawn it is that of the lower column.
    """
    options = member.options
    m = options.max_features
    if options.features_per == "tree" or m is None:
        return member.usable, []
    order = columns_of_node(member.seed, at, member.usable)
    return order[:m], order[m:]


# The fate of a node


def drawn_candidates(member, place, rows, at):
    """Splits of a numeric column at drawn thresholds."""
    target, options = member.problem.target, member.options
    column = member.problem.columns[place]
    known, gaps = parted(column, rows)
    found = []
    for cut in cuts_between(member, place, known, at):
        sides = [
            [i for i in known if column.values[i] <= cut],
            [i for i in known if column.values[i] > cut],
        ]
        for branches, gap in with_gaps(target, sides, gaps, options.missing):
            found.append(Candidate(place, branches, gap, threshold=cut))
    if known and gaps and options.missing != "majority":
        found.append(Candidate(place, [known, gaps], 1, threshold=math.inf))
    return found


def cuts_between(member, place, known, at):
    """Of the drawn thresholds those that part the rows, each parting once."""
    column = member.problem.columns[place]
    values = [float(column.values[i]) for i in known]
    if not values:
        return []
    ends = min(values), max(values)
    cuts = drawn_cuts(member.seed, at, place, member.options.n_thresholds, *ends)
    return [shown(column, known, cut) for cut in separating(column, known, cuts)]


def column_candidates(member, place, rows, at):
    """The splits that a node may make on one column."""
    problem, rules = member.problem, member.options
    column = problem.columns[place]
    if rules.thresholds == "random" and column.kind != "nominal":
        found = drawn_candidates(member, place, rows, at)
    else:
        if rules.criterion == "poisson":  # levels of counts are ordered by their means, too
            rules = replace(rules, criterion="squared_error")
        make = tree_candidates.column_candidates
        found = make(place, column, problem.target, rows, rules)
    return [c for c in found if is_allowed(problem, c) and has_counts(problem, c)]


def has_counts(problem, candidate):
    """Of counts, no branch may have a mean of 0: it leaves no room for any count."""
    values = problem.target.values
    is_poisson = problem.options.criterion == "poisson"
    return not is_poisson or all(any(values[i] for i in b) for b in candidate.branches)


def candidates(member, rows, at):
    """The splits that a node may choose from."""
    together, later = columns_in_turn(member, at)
    found = [c for place in together for c in column_candidates(member, place, rows, at)]
    for place in later:
        if found:
            break
        found = column_candidates(member, place, rows, at)
    return found


def gain_of(member, candidate):
    rows = [i for branch in candidate.branches for i in branch]
    return gain(member.options.criterion, member.problem.target, rows, candidate.branches)


def best_of(member, rows, found):
    """The candidates that gain most, in their order: the first is chosen, the rest tie."""
    gains = [gain_of(member, candidate) for candidate in found]
    own = impurity(member.options.criterion, member.problem.target, rows)
    least = max(gains) - member.near * own
    return [candidate for candidate, g in zip(found, gains, strict=True) if g >= least]


def is_finished(member, rows, depth):
    """Whether no split is even looked for."""
    options, problem = member.options, member.problem
    few = len(rows) < least_rows(options.min_samples_split, len(problem.rows), 2)
    return is_pure(problem.target, rows) or depth == options.max_depth or few


def is_worth(member, rows, candidate):
    """Whether the gain, weighed by the share of the rows that it is for, is large enough."""
    least, problem = member.options.min_impurity_decrease, member.problem
    share = Fraction(weight(problem.target, rows)) / problem.weight
    return least == 0 or share * gain_of(member, candidate) >= least


def best_splits(member, rows, depth, at):
    """The best splits of a node, the chosen first; none for a leaf."""
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
    """How much a split lowers the impurity of the whole tree."""
    return weight(member.problem.target, node.rows) * gain_of(member, node.best[0])


def next_place(member, nodes, waiting):
    """Which of the waiting nodes is grown: the first branch of the last split, or the best."""
    if not member.options.max_leaf_nodes:
        newest = max(waiting, key=lambda i: (nodes[i].depth, -i))
        return waiting.index(newest)
    merits = [merit(member, nodes[i]) for i in waiting]
    root = impurity(member.options.criterion, member.problem.target, member.problem.rows)
    least = max(merits) - member.near * member.problem.weight * root
    return next(place for place, own in enumerate(merits) if own >= least)


def branch_nodes(member, node, split):
    return [
        new_node(member, rows, node.depth + 1, branch_path(node.path, b))
        for b, rows in enumerate(split.branches)
    ]


def grow(member):
    """The nodes of a tree, by number."""
    nodes = [new_node(member, member.problem.rows)]
    waiting, leaves = [0], 1
    most = member.options.max_leaf_nodes or math.inf
    while waiting := [i for i in waiting if nodes[i].reason == "split"]:
        node = nodes[waiting.pop(next_place(member, nodes, waiting))]
        leaves += len(node.best[0].branches) - 1
        if leaves > most:  # no room for it: nothing more is split
            for late in (node, *(nodes[i] for i in waiting)):
                late.reason = "max_leaf_nodes"
            break
        node.split = node.best[0]
        node.children = list(range(len(nodes), len(nodes) + len(node.split.branches)))
        nodes += branch_nodes(member, node, node.split)
        waiting += node.children
    return nodes


# The forest


def counted(problem):
    """The options, with numbers of rows for shares of all rows of the table that count."""
    options, n = problem.options, len(problem.rows)
    return replace(
        options,
        min_samples_split=least_rows(options.min_samples_split, n, 2),
        min_samples_leaf=least_rows(options.min_samples_leaf, n, 1),
    )


def seedling(problem, t):
    """Tree number t before it grows: its rows and columns are drawn."""
    seed = tree_seed(problem.options.seed, t)
    own = Problem(problem.columns, member_target(problem, seed), counted(problem))
    return Member(own, seed, usable_columns(problem, seed))


def grow_forest(problem):
    """All trees."""
    members = [seedling(problem, t) for t in range(problem.options.n_estimators)]
    return [replace(member, nodes=grow(member)) for member in members]


def mean_told(members, row):
    """What trees say of a row on average: class probabilities, or [number]; None of no trees."""
    told = [member.told(member.leaf(row)) for member in members]
    if not told:
        return None
    return [sum(column) / len(told) for column in zip(*told, strict=True)]


def importances(problem, members):
    """Mean over the trees of each column's share of the decrease in impurity, made to sum to 1.

    A tree without a split (or without gain) adds nothing.
    """
    shares = [column_shares(member) for member in members]
    sums = [sum(column) for column in zip(*shares, strict=True)]
    total = sum(sums)
    return [own / total if total else 0 for own in sums]


def column_shares(member):
    sums = [0] * len(member.problem.columns)
    for node in member.nodes:
        if node.split:
            own = weight(member.problem.target, node.rows) * gain_of(member, node.split)
            sums[node.split.column] += own
    total = sum(sums)
    root = impurity(member.options.criterion, member.problem.target, member.problem.rows)
    is_none = total <= member.near * member.problem.weight * root
    return [0 if is_none else own / total for own in sums]
