"""Reduced-error pruning node by node: each candidate tree predicts all rows anew.

Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies 27.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.pruning_nodes import labels, leaf_fractions, make_leaves, postorder


@dataclass(frozen=True)
class HeldOut:
    """Rows not used in growing; ``costs`` is None for regression."""

    rows: list
    targets: list
    weights: list
    columns: list
    costs: list | None
    fractional: bool = False


def loss(root, predictions, data):
    """Return the total loss of a tree; ``predictions`` are those of its nodes as leaves."""
    total = Fraction(0)
    for row, y, w in zip(data.rows, data.targets, data.weights, strict=True):
        for leaf, part in leaf_fractions(root, row, data.columns, data.fractional):
            total += Fraction(w) * part * loss_of(predictions[leaf["node"]], y, data.costs)
    return total


def loss_of(predictions, y, costs):
    return (Fraction(predictions) - Fraction(y)) ** 2 if costs is None else costs[y][predictions]


def leaf_predictions(root, costs):
    """Return the prediction of each node as a leaf."""
    if costs is not None:
        return labels(root, costs)
    return {node["node"]: node["value"] for node in postorder(root)}


def reduced_error(root, data):
    """Return the pruned tree, and (node, loss before, loss after) for each pruned node."""
    predictions = leaf_predictions(root, data.costs)
    node = make_leaves(root, set())
    before, pruned = loss(node, predictions, data), []
    for index in [n["node"] for n in postorder(root) if n["children"]]:
        candidate = make_leaves(node, {index})
        after = loss(candidate, predictions, data)
        if after <= before:
            pruned.append((index, before, after))
            node, before = candidate, after
    return node, pruned
