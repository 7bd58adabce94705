"""Naive out-of-bag results of a forest, one definition at a time.

Nothing of Ceiba is used here. Functions take the problem of a forest and its naive trees
(`forest_naive.Member`); a row is *out of bag* for a tree if its weight is positive and it was not
drawn. Means over rows are plain: sample weights affect the draws only.

Permutation importance (Breiman 2001). For tree t, column j and repeat r the k out-of-bag rows of t
in ascending order, o_0, ..., o_(k-1), are shuffled from the end (`forest_draws.permutation`): row
o_i is predicted with the value, or missing value, of row o_perm[i] in column j. The loss of a row
is 0 or 1 by the most probable class of its leaf (ties go to the first), or the squared error of the
tree's own number. d_i is the mean, over the trees for which row i is out of bag and over the
repeats, of the loss with the column permuted minus the loss. The importance is the mean of d_i over
the rows that have one, its error their standard deviation (n - 1) over the root of their number,
and the half-width of its null band the error times the root of two, because rows are not
independent, times the normal quantile at 1 - (1 - confidence level) / 2p.

Corrected decrease of impurity (Li, Wang, Basu, Kumbier & Yu 2019, "A debiased MDI feature
importance measure for random forests"). For tree t and column j, the mean over the out-of-bag rows
of t of the sum, over the splits on j on the row's path, of (value of the branch - value of the
node) times y minus the mean y of the other out-of-bag rows in the node (0 if there is none): values
are means of the tree's own rows; for classes their fractions, and y is the indicator of the row's
class.
(Li et al. use y itself: if out-of-bag rows go to a branch in other proportions than the tree's own,
as with unseen categories, the mean of y would add to the sum.) The mean over the trees that have
out-of-bag rows, not normalized.

Quantiles (Meinshausen 2006, "Quantile regression forests", JMLR 7). All rows of positive weight are
routed through each tree. The weight of row i for a query is the mean over the trees of its fraction
of the weight in the query's leaf. The quantile q is the smallest target up to which the weight is
q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist, mean, stdev

from tests.oracles.forest_draws import permutation
from tests.oracles.forest_naive import mean_prediction
from tests.oracles.tree_impurity import class_weights, weight
from tests.oracles.tree_impurity import mean as target_mean
from tests.oracles.tree_naive import path

# Weights that reach a quantile up to rounding reach it.
REACHED = Fraction(1, 10**9)


def out_of_bag(problem, member):
    """Return the out-of-bag rows of a tree."""
    return [i for i in problem.rows if member.problem.target.weights[i] == 0]


def others(problem, members, i):
    """Return the trees for which a row is out of bag."""
    return [member for member in members if i in out_of_bag(problem, member)]


# Predictions


def decision_function(problem, members):
    """Return the mean out-of-bag prediction of each row; None if there is none."""
    n = len(problem.target.values)
    return [mean_prediction(others(problem, members, i), problem.row(i)) for i in range(n)]


def first_of_largest(probabilities):
    return max(range(len(probabilities)), key=lambda k: probabilities[k])


def loss(problem, predicted, i):
    """Return 0 or 1 by the most probable class, or the squared error, of row i."""
    y = problem.target.values[i]
    if problem.target.n_classes is None:
        return (predicted[0] - Fraction(y)) ** 2
    return int(first_of_largest(predicted) != y)


def score(problem, members):
    """Return the accuracy, or R², on the rows that are ever out of bag."""
    predicted = decision_function(problem, members)
    rows = [i for i, values in enumerate(predicted) if values is not None]
    losses = [loss(problem, predicted[i], i) for i in rows]
    if problem.target.n_classes:
        return 1 - Fraction(sum(losses), len(rows))
    values = [Fraction(problem.target.values[i]) for i in rows]
    return 1 - sum(losses) / sum((y - mean(values)) ** 2 for y in values)


# The curve


@dataclass(frozen=True)
class CurvePoint:
    """Out-of-bag error of the first trees: their number, the rows and their losses."""

    trees: int
    rows: list
    losses: list

    @property
    def error(self):
        return mean(self.losses)


def curve(problem, members):
    """Return the out-of-bag error of the first tree, of the first two, and so on."""
    found = []
    for t in range(1, len(members) + 1):
        predicted = decision_function(problem, members[:t])
        rows = [i for i, values in enumerate(predicted) if values is not None]
        found.append(CurvePoint(t, rows, [loss(problem, predicted[i], i) for i in rows]))
    return found


def wilson(wrong, n, confidence_level):
    """Return the interval of a proportion (Wilson 1927, JASA 22)."""
    z, p = NormalDist().inv_cdf(0.5 + confidence_level / 2), wrong / n
    center = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return center - reach, center + reach


def normal_band(losses, confidence_level):
    """Return the interval of a mean of at least two losses."""
    reach = NormalDist().inv_cdf(0.5 + confidence_level / 2) * standard_error(losses)
    return float(mean(losses)) - reach, float(mean(losses)) + reach


def standard_error(numbers):
    return stdev(float(x) for x in numbers) / math.sqrt(len(numbers))


# Permutation importance


def permuted_row(problem, i, column, other):
    """Return row i with the value of another row in one column."""
    row = problem.row(i)
    row[column] = problem.columns[column].values[other]
    return row


def added_losses(problem, member, column, repeat):
    """Return the increase of the loss of each out-of-bag row: {row: number}."""
    rows = out_of_bag(problem, member)
    order = permutation(member.seed, column, repeat, len(rows))
    found = {}
    for i, index in zip(rows, order, strict=True):
        permuted = permuted_row(problem, i, column, rows[index])
        after = loss(problem, member.predict(member.leaf(permuted)), i)
        found[i] = after - loss(problem, member.predict(member.leaf(problem.row(i))), i)
    return found


def row_differences(problem, members, column, repeats):
    """Return d_i of every row that is ever out of bag."""
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


def permutation_importance(problem, members, repeats=1, confidence_level=0.95):
    """Return the importance of each column; at least two rows must be out of bag."""
    p = len(problem.columns)
    z = 2**0.5 * NormalDist().inv_cdf(1 - (1 - confidence_level) / (2 * p))
    found = []
    for column in range(p):
        differences = row_differences(problem, members, column, repeats)
        error = standard_error(differences)
        found.append(Importance(float(mean(differences)), error, z * error))
    return found


# Corrected decrease of impurity


def node_mean(member, rows):
    """Return the class fractions, or [mean], of rows in a tree."""
    target = member.problem.target
    if target.n_classes is None:
        return [target_mean(target, rows)]
    total = Fraction(weight(target, rows))
    return [own / total for own in class_weights(target, rows)]


def outcome(problem, i):
    """Return the indicator of a row's class, or [number]."""
    y = problem.target.values[i]
    if problem.target.n_classes is None:
        return [y]
    return [int(k == y) for k in range(problem.target.n_classes)]


def steps(member, row):
    """Return (column, node, branch) of every split on a row's path."""
    nodes = path(member.nodes, row)
    return [(member.nodes[node].split.column, node, branch) for node, branch in pairwise(nodes)]


def visitors(problem, member, rows):
    """Return the rows that pass through each node."""
    found = {}
    for i in rows:
        for node in path(member.nodes, problem.row(i)):
            found.setdefault(node, []).append(i)
    return found


def excess(problem, i, there):
    """Return a row's outcome minus the mean of the other rows; 0 without others."""
    rest = [outcome(problem, j) for j in there if j != i]
    if not rest:
        return [0] * len(outcome(problem, i))
    means = [sum(Fraction(y) for y in column) / len(rest) for column in zip(*rest, strict=True)]
    return [y - m for y, m in zip(outcome(problem, i), means, strict=True)]


def decreases(problem, member, i, outcome_at):
    """Return the sum over each column's splits on the path of row i."""
    sums = [Fraction(0)] * len(problem.columns)
    for column, node, branch in steps(member, problem.row(i)):
        before = node_mean(member, member.nodes[node].rows)
        after = node_mean(member, member.nodes[branch].rows)
        terms = zip(before, after, outcome_at(i, node), strict=True)
        sums[column] += sum((b - a) * y for a, b, y in terms)
    return sums


def corrected_importances(problem, members):
    """Return the importance of each column; zeros without out-of-bag rows."""
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
    """Return the weight of every training row for a query: {row: weight}."""
    given, weights = problem.target.weights, dict.fromkeys(problem.rows, Fraction(0))
    for member in members:
        leaf = member.leaf(row)
        inside = [i for i in problem.rows if member.leaf(problem.row(i)) == leaf]
        total = sum(given[i] for i in inside)
        for i in inside:
            weights[i] += Fraction(given[i]) / total / len(members)
    return weights


def quantile(problem, weights, q):
    """Return the smallest target up to which the weight is q."""
    reached = Fraction(0)
    for i in sorted(weights, key=lambda i: problem.target.values[i]):
        reached += weights[i]
        if reached >= Fraction(q) - REACHED and weights[i]:
            return problem.target.values[i]
    raise ValueError("weights must not be empty.")
