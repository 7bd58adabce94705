"""Sums over the rows of a node: gain without missing values, split information, Poisson, costs.

As in `tree_impurity`, a branch is a list of rows. Weights are those *in the node*: a target whose
weights are already multiplied by the fraction of each row in the node.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tests.oracles import tree_impurity
from tests.oracles.tree_impurity import class_weights, entropy, mean, together, weight


def poisson(target, rows):
    """Return half the mean deviance from the mean; zero targets add nothing."""
    center = float(mean(target, rows))
    terms = [
        float(target.weights[i] * target.values[i]) * math.log(float(target.values[i]) / center)
        for i in rows
        if target.values[i] > 0
    ]
    return math.fsum(terms) / float(weight(target, rows))


def impurity(criterion, target, rows):
    if criterion == "poisson":
        return poisson(target, rows)
    return tree_impurity.impurity(criterion, target, rows)


def total_impurity(criterion, target, rows):
    """Return impurity times weight, which is additive over a partition; 0 without rows."""
    return weight(target, rows) * impurity(criterion, target, rows) if rows else 0


def gain(criterion, target, rows, branches):
    """Return the impurity decrease of the rows in the branches, per weight of all rows.

    If every row has a branch this is the ordinary gain. Rows without one add nothing, so it is
    the gain among the known rows times their fraction of the weight.
    """
    before = total_impurity(criterion, target, together(branches))
    after = sum(total_impurity(criterion, target, branch) for branch in branches)
    return (before - after) / weight(target, rows)


def split_info(target, rows, branches):
    """Return the entropy of the branches' weights; rows without a branch are one more."""
    weights = [weight(target, branch) for branch in branches]
    return entropy([*weights, weight(target, rows) - sum(weights)])


# Costs


def cost_weighted(target, costs):
    """Return the target with classes weighted by the costs of their errors.

    Each class by the sum of its row of costs; the total weight stays (Breiman et al. 1984, section
    4.4).
    """
    if costs is None:
        return target
    each = [sum(Fraction(c) for c in row) for row in costs]
    weights = [w * each[k] for w, k in zip(target.weights, target.values, strict=True)]
    scale = Fraction(sum(target.weights)) / sum(weights)
    return replace(target, weights=[w * scale for w in weights])


def cheapest(fractions, costs):
    """Return the class of minimum expected cost, or the most probable one; ties to the first."""
    classes = range(len(fractions))
    if costs is None:
        return max(classes, key=lambda j: fractions[j])
    return min(classes, key=lambda j: sum(fractions[i] * Fraction(costs[i][j]) for i in classes))


def node_value(criterion, target, rows):
    """Return the class weights, mean or (lower) median of a node."""
    if target.n_classes:
        return class_weights(target, rows)
    if criterion == "absolute_error":
        return [tree_impurity.lower_median(target, rows)]
    return [mean(target, rows)]
