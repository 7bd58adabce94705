"""Validation loss at every step of a cost-complexity path, in one pass.

Collapsing the tree and predicting once per step costs O(n_steps * n_rows), and the paths of large
trees have thousands of steps. Here a row is charged to each leaf that it is ever in: its own leaf,
then the ancestor that replaces it, and so on up to the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import CostComplexityPath

# Array entries held at a time by `fractional_step_losses`.
_MAX_ENTRIES = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class MisclassificationLoss:
    """Cost of the class that a node predicts: ``costs`` is (n_classes, n_nodes), by true class."""

    label: Array
    costs: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Return the cost of each row in the node beside it."""
        return np.asarray(self.costs[self.label[rows], nodes])

    def factors(self) -> tuple[Array, Array]:
        """Return the one-hot classes of the rows and the costs of the nodes."""
        return np.eye(len(self.costs))[self.label], self.costs.T


@dataclass(frozen=True, slots=True, eq=False)
class SquaredLoss:
    """Squared error of the number, ``value``, that a node predicts."""

    y: Array
    value: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Return the squared error of each row in the node beside it."""
        return np.asarray((self.y[rows] - self.value[nodes]) ** 2)

    def factors(self) -> tuple[Array, Array]:
        """Return the terms of the square, relative to the root's value to keep digits."""
        y, value = self.y - self.value[0], self.value - self.value[0]
        row_factors = np.stack([y * y, -2 * y, np.ones(len(y))], axis=1)
        return row_factors, np.stack([np.ones(len(value)), value, value * value], axis=1)


# Both return the loss of each row in the node beside it (``at``), and factors (n_rows, m) and
# (n_nodes, m) whose dot products are the losses (``factors``).
NodeLoss = MisclassificationLoss | SquaredLoss


def step_losses(path: CostComplexityPath, leaf: Array, weight: Array, loss: NodeLoss) -> Array:
    """Sum the weighted losses, and their squares, of all rows at every pruning step.

    ``leaf`` is the leaf of every row in the grown tree; the sums have the shape (2, n_steps).
    """
    n = path.n_steps + 1
    change = np.zeros((2, n))
    for rows, nodes in _leaves_over_path(path, leaf):
        losses = loss.at(rows, nodes)
        first, end = path.collapsed_at[nodes], path.removed_at[nodes]
        for sums, power in zip(change, (losses, losses * losses), strict=True):
            weighted = weight[rows] * power
            sums += np.bincount(first, weighted, n) - np.bincount(end, weighted, n)
    return np.asarray(np.cumsum(change, axis=1)[:, :-1])


def _leaves_over_path(path: CostComplexityPath, leaf: Array) -> Iterator[tuple[Array, Array]]:
    """Yield rows with the nodes that they are in, from their leaves to the root."""
    rows, nodes = np.arange(len(leaf)), np.asarray(leaf)
    while len(rows):
        yield rows, nodes
        next_nodes = path.replaced_by[nodes]
        replaced = next_nodes >= 0
        rows, nodes = rows[replaced], next_nodes[replaced]


def fractional_step_losses(
    tree: Tree, path: CostComplexityPath, table: Table, weight: Array, loss: NodeLoss
) -> Array:
    """Sum the same losses where rows with missing values reach leaves in fractions.

    The loss of a row is the mean of its losses in the leaves, weighted by its fractions.
    """
    row_factors, node_factors = loss.factors()
    n, m = row_factors.shape
    nodes = np.flatnonzero(tree.is_leaf)
    leaf_index = np.cumsum(tree.is_leaf, dtype=np.int32) - 1
    steps_at_once = max(1, _MAX_ENTRIES // (m * max(n, len(nodes))))
    sums = np.empty((2, path.n_steps))
    for first in range(0, path.n_steps, steps_at_once):
        steps = range(first, min(first + steps_at_once, path.n_steps))
        leaf_factors = np.empty((len(nodes), len(steps), m))
        for k, step in enumerate(steps):
            nodes = _leaves_at_step(path, nodes, step)
            leaf_factors[:, k] = node_factors[nodes]
        flat = leaf_factors.reshape(len(leaf_factors), -1)
        means = _mean_over_leaves(tree, table, flat, leaf_index)
        losses = np.einsum("ikm,im->ik", means.reshape(n, len(steps), m), row_factors)
        sums[:, steps] = weight @ losses, weight @ losses**2
    return sums


def _leaves_at_step(path: CostComplexityPath, nodes: Array, step: int) -> Array:
    """Replace nodes that are gone at a step by the leaves that stand for them."""
    while (gone := path.removed_at[nodes] <= step).any():
        nodes = np.where(gone, path.replaced_by[nodes], nodes)
    return nodes


def _mean_over_leaves(tree: Tree, table: Table, leaf_values: Array, leaf_index: Array) -> Array:
    """Average the values of the leaves that each row reaches, by its fractions."""
    out = np.empty((len(table), leaf_values.shape[1]))
    _native.tree_mean_over_leaves(
        tree.native, tree.native_fractions, native_table(table, tree.columns), leaf_values,
        leaf_index, out, 1,
    )  # fmt: skip
    return out
