"""What a forest learns from the rows that its trees did not see, one definition at a time.

Nothing of Ceiba is used here. Functions take the problem of a forest and its naive trees
(`forest_naive.Member`); a row is *out of bag* of a tree if it counts (its weight is positive) and
was not drawn. Means over rows are plain: sample weights decide what is drawn and no more.

Permutation importance (Breiman 2001). For tree t, column j and repeat r the k out-of-bag rows of t
in ascending order, o_0, ..., o_(k-1), are shuffled from the end (`forest_draws.permutation`): row
o_i is asked with the value, or the gap, that row o_perm[i] has in column j. The loss of a row is 0
or 1 by the likeliest class of its leaf (the first of equals), or the squared error of the tree's
own number. d_i is the mean, over the trees of which row i is out of bag and over the repeats, of
the loss with the column permuted less the loss. The importance is the mean of d_i over the rows
that were ever out of bag, its error their standard deviation (n - 1) over the root of their number,
and the half-width of its null band the error times the root of two, because rows learn from each
other, times the normal quantile at 1 - (1 - level) / 2p.

Corrected decrease of impurity (Li, Wang, Basu, Kumbier & Yu 2019, "A debiased MDI feature
importance measure for random forests"). For tree t and column j, the mean over the out-of-bag rows
of t of the sum, over the splits on j on the row's way, of (value of the branch - value of the node)
times y less the mean y of the other out-of-bag rows in the node (nothing where it is the only one):
values are means of the tree's own rows; of classes their shares, and y is the indicator of the
row's class. (Li et al. take y itself: where out-of-bag rows go to a branch in other shares than the
tree's own, as with levels that it has not seen, y's own mean would add to the sum.) The mean over
the trees that have out-of-bag rows, not scaled to any sum.

Quantiles (Meinshausen 2006, "Quantile regression forests", JMLR 7). All rows that count are sent
down each tree. The weight of row i for a query is the mean over the trees of its share of the
weight in the query's leaf. The quantile q is the least target up to which the weight is q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist, mean, stdev

from tests.oracles.forest_draws import permutation
from tests.oracles.forest_naive import mean_told
from tests.oracles.tree_impurity import class_weights, weight
from tests.oracles.tree_impurity import mean as target_mean
from tests.oracles.tree_naive import path

# Weights that reach a quantile but for rounding reach it.
REACHED = Fraction(1, 10**9)


def out_of_bag(problem, member):
    """Rows that a tree did not see."""
    return [i for i in problem.rows if member.problem.target.weights[i] == 0]


def others(problem, members, i):
    """The trees that did not see a row."""
    return [member for member in members if i in out_of_bag(problem, member)]


# Predictions


def decision_function(problem, members):
    """What the trees that did not see a row say of it on average; None where all saw it."""
    n = len(problem.target.values)
    return [mean_told(others(problem, members, i), problem.row(i)) for i in range(n)]


def first_of_largest(shares):
    return max(range(len(shares)), key=lambda k: shares[k])


def loss(problem, told, i):
    """0 or 1 by the likeliest class, or the squared error, of what is said of row i."""
    y = problem.target.values[i]
    if problem.target.n_classes is None:
        return (told[0] - Fraction(y)) ** 2
    return int(first_of_largest(told) != y)


def score(problem, members):
    """Accuracy, or the coefficient of determination, over rows that were ever out of bag."""
    told = decision_function(problem, members)
    rows = [i for i, said in enumerate(told) if said is not None]
    losses = [loss(problem, told[i], i) for i in rows]
    if problem.target.n_classes:
        return 1 - Fraction(sum(losses), len(rows))
    values = [Fraction(problem.target.values[i]) for i in rows]
    return 1 - sum(losses) / sum((y - mean(values)) ** 2 for y in values)


# The curve


@dataclass(frozen=True)
class CurvePoint:
    """Out-of-bag error of the first trees: how many, over which rows, with which losses."""

    trees: int
    rows: list
    losses: list

    @property
    def error(self):
        return mean(self.losses)


def curve(problem, members):
    """The out-of-bag error of the first tree, of the first two, ..."""
    found = []
    for t in range(1, len(members) + 1):
        told = decision_function(problem, members[:t])
        rows = [i for i, said in enumerate(told) if said is not None]
        found.append(CurvePoint(t, rows, [loss(problem, told[i], i) for i in rows]))
    return found


def wilson(wrong, n, level):
    """Interval of a share (Wilson 1927, JASA 22)."""
    z, p = NormalDist().inv_cdf(0.5 + level / 2), wrong / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - reach, centre + reach


def normal_band(losses, level):
    """Interval of a mean; at least two losses."""
    reach = NormalDist().inv_cdf(0.5 + level / 2) * standard_error(losses)
    return float(mean(losses)) - reach, float(mean(losses)) + reach


def standard_error(numbers):
    return stdev(float(x) for x in numbers) / math.sqrt(len(numbers))


# Permutation importance


def permuted_row(problem, i, column, giver):
    """Row i with the value of another in one column."""
    row = problem.row(i)
    row[column] = problem.columns[column].values[giver]
    return row


def added_losses(problem, member, column, repeat):
    """By how much the loss of each out-of-bag row grows if a column is permuted: {row: number}."""
    rows = out_of_bag(problem, member)
    order = permutation(member.seed, column, repeat, len(rows))
    found = {}
    for i, place in zip(rows, order, strict=True):
        asked = permuted_row(problem, i, column, rows[place])
        after = loss(problem, member.told(member.leaf(asked)), i)
        found[i] = after - loss(problem, member.told(member.leaf(problem.row(i))), i)
    return found


def row_differences(problem, members, column, repeats):
    """d_i of every row that was ever out of bag, by row."""
    lists = {}
    for member in members:
        for repeat in range(repeats):
            for i, added in added_losses(problem, member, column, repeat).items():
                lists.setdefault(i, []).append(added)
    return [Fraction(sum(lists[i])) / len(lists[i]) for i in sorted(lists)]


@dataclass(frozen=True)
class Importance:
    """The importance of one column, its standard error and the half-width of its null band."""

    value: float
    error: float
    band: float


def permutation_importance(problem, members, repeats=1, level=0.95):
    """Of each column; at least two rows must have been out of bag."""
    p = len(problem.columns)
    z = 2**0.5 * NormalDist().inv_cdf(1 - (1 - level) / (2 * p))
    found = []
    for column in range(p):
        differences = row_differences(problem, members, column, repeats)
        error = standard_error(differences)
        found.append(Importance(float(mean(differences)), error, z * error))
    return found


# Corrected decrease of impurity


def node_mean(member, rows):
    """Class shares, or the mean as a list of one, of rows in a tree."""
    target = member.problem.target
    if target.n_classes is None:
        return [target_mean(target, rows)]
    total = Fraction(weight(target, rows))
    return [own / total for own in class_weights(target, rows)]


def outcome(problem, i):
    """The indicator of a row's class, or its number as a list of one."""
    y = problem.target.values[i]
    if problem.target.n_classes is None:
        return [y]
    return [int(k == y) for k in range(problem.target.n_classes)]


def steps(member, row):
    """(column, node, branch) of every split on a row's way."""
    way = path(member.nodes, row)
    return [(member.nodes[node].split.column, node, branch) for node, branch in pairwise(way)]


def visitors(problem, member, rows):
    """Of every node the rows that pass through it."""
    found = {}
    for i in rows:
        for node in path(member.nodes, problem.row(i)):
            found.setdefault(node, []).append(i)
    return found


def excess(problem, i, there):
    """What a row's outcome has above the mean of the others there; nothing without others."""
    rest = [outcome(problem, j) for j in there if j != i]
    if not rest:
        return [0] * len(outcome(problem, i))
    means = [sum(Fraction(y) for y in column) / len(rest) for column in zip(*rest, strict=True)]
    return [y - m for y, m in zip(outcome(problem, i), means, strict=True)]


def decreases(problem, member, i, outcome_at):
    """What each column's splits add, on the way of row i; its outcome may depend on the node."""
    sums = [Fraction(0)] * len(problem.columns)
    for column, node, branch in steps(member, problem.row(i)):
        before = node_mean(member, member.nodes[node].rows)
        after = node_mean(member, member.nodes[branch].rows)
        moved = zip(before, after, outcome_at(i, node), strict=True)
        sums[column] += sum((b - a) * y for a, b, y in moved)
    return sums


def corrected_importances(problem, members):
    """Of each column; zeros if every tree saw all rows."""
    found = []
    for member in members:
        rows = out_of_bag(problem, member)
        if rows:
            there = visitors(problem, member, rows)

            def above(i, node, there=there):
                return excess(problem, i, there[node])

            sums = zip(*(decreases(problem, member, i, above) for i in rows), strict=True)
            found.append([sum(column) / len(rows) for column in sums])
    if not found:
        return [Fraction(0)] * len(problem.columns)
    return [sum(column) / len(found) for column in zip(*found, strict=True)]


# Quantiles


def row_weights(problem, members, row):
    """The weight of every training row for a query: {row: share}."""
    given, shares = problem.target.weights, dict.fromkeys(problem.rows, Fraction(0))
    for member in members:
        leaf = member.leaf(row)
        inside = [i for i in problem.rows if member.leaf(problem.row(i)) == leaf]
        total = sum(given[i] for i in inside)
        for i in inside:
            shares[i] += Fraction(given[i]) / total / len(members)
    return shares


def quantile(problem, shares, q):
    """The least target up to which the weight is q."""
    reached = Fraction(0)
    for i in sorted(shares, key=lambda i: problem.target.values[i]):
        reached += shares[i]
        if reached >= Fraction(q) - REACHED and shares[i]:
            return problem.target.values[i]
    raise ValueError("No rows have no quantile.")
