"""Sums over the rows of a node: gain where gaps do not count, split information, Poisson, costs.

As in `tree_impurity`, a branch is a list of rows. Their weights are those that they have *in the
node*: a target whose weights are already multiplied by the share of each row that came here.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from tests.oracles import tree_impurity
from tests.oracles.tree_impurity import class_weights, entropy, mean, together, weight


def poisson(target, rows):
    """Half the mean deviance from the mean; what is 0 adds nothing."""
    centre = float(mean(target, rows))
    terms = [
        float(target.weights[i] * target.values[i]) * math.log(float(target.values[i]) / centre)
        for i in rows
        if target.values[i] > 0
    ]
    return math.fsum(terms) / float(weight(target, rows))


def impurity(criterion, target, rows):
    if criterion == "poisson":
        return poisson(target, rows)
    return tree_impurity.impurity(criterion, target, rows)


def total_impurity(criterion, target, rows):
    """Impurity times weight: what the parts of a partition add up to. Nothing for no rows."""
    return weight(target, rows) * impurity(criterion, target, rows) if rows else 0


def gain(criterion, target, rows, branches):
    """By how much the branches lower the impurity of the rows that they hold, per weight of all.

    Where every row has a branch this is the gain as ever. Rows without one add nothing, so that
    it is the gain among the known rows times their share of the weight.
    """
    before = total_impurity(criterion, target, together(branches))
    after = sum(total_impurity(criterion, target, branch) for branch in branches)
    return (before - after) / weight(target, rows)


def split_info(target, rows, branches):
    """Entropy of the shares of the node's weight; rows without a branch are one more branch."""
    weights = [weight(target, branch) for branch in branches]
    return entropy([*weights, weight(target, rows) - sum(weights)])


# Costs


def altered(target, costs):
    """The target whose classes weigh as much as it costs to be wrong about them.

    Each class by the sum of its row of costs; the sum of all weights stays (Breiman et al. 1984,
    section 4.4).
    """
    if costs is None:
        return target
    each = [sum(Fraction(c) for c in row) for row in costs]
    weights = [w * each[k] for w, k in zip(target.weights, target.values, strict=True)]
    scale = Fraction(sum(target.weights)) / sum(weights)
    return replace(target, weights=[w * scale for w in weights])


def cheapest(shares, costs):
    """The class that costs least if it is predicted; without costs the likeliest. Ties: first."""
    classes = range(len(shares))
    if costs is None:
        return max(classes, key=lambda j: shares[j])
    return min(classes, key=lambda j: sum(shares[i] * Fraction(costs[i][j]) for i in classes))


def node_value(criterion, target, rows):
    """Class weights, mean or (lower) median of a node."""
    if target.n_classes:
        return class_weights(target, rows)
    if criterion == "absolute_error":
        return [tree_impurity.lower_median(target, rows)]
    return [mean(target, rows)]
