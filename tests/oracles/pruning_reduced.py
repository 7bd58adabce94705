"""Reduced error pruning, a node at a time: all rows are predicted anew by the tree with the cut.

Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies 27.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tests.oracles.pruning_nodes import cut, labels, pieces, upwards


@dataclass(frozen=True)
class Held:
    """Rows that growing did not see. ``costs`` is None where numbers are predicted."""

    rows: list
    targets: list
    weights: list
    columns: list
    costs: list | None
    shared: bool = False


def loss(root, said, data):
    """What the predictions of a tree cost; ``said`` is what each node says as a leaf."""
    total = Fraction(0)
    for row, y, w in zip(data.rows, data.targets, data.weights, strict=True):
        for leaf, part in pieces(root, row, data.columns, data.shared):
            total += Fraction(w) * part * loss_of(said[leaf["node"]], y, data.costs)
    return total


def loss_of(said, y, costs):
    return (Fraction(said) - Fraction(y)) ** 2 if costs is None else costs[y][said]


def says(root, costs):
    """What each node predicts as a leaf."""
    if costs is not None:
        return labels(root, costs)
    return {node["node"]: node["value"] for node in upwards(root)}


def reduced_error(root, data):
    """The tree after reduced error pruning, and the losses before and after each cut made."""
    said = says(root, data.costs)
    node = cut(root, set())
    now, made = loss(node, said, data), []
    for number in [n["node"] for n in upwards(root) if n["children"]]:
        tried = cut(node, {number})
        then = loss(tried, said, data)
        if then <= now:
            made.append((number, now, then))
            node, now = tried, then
    return node, made
