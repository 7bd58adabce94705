"""What rows cost under every tree of a complexity path, without predicting once a level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ceiba.stats.points import Array
from ceiba.tree.complexity import ComplexityPath
from ceiba.tree.node_losses import NodeLoss


def summed_losses(path: ComplexityPath, leaf: Array, weight: Array, loss: NodeLoss) -> Array:
    """Weighted sums of the rows' losses and of their squares, level by level.

    A row stays in a leaf until the level at which a node above takes its place: all rows climb from
    heir to heir together.

    Parameters
    ----------
    path : ComplexityPath
    leaf : ndarray of int of shape (n,)
        The leaf of every row in the grown tree.
    weight : ndarray of shape (n,)
    loss : NodeLoss

    Returns
    -------
    ndarray of shape (2, n_levels)
    """
    n = path.n_levels + 1
    change = np.zeros((2, n))
    for rows, nodes in _stays(path, leaf):
        each = loss.at(rows, nodes)
        begin, end = path.level_of_cut[nodes], path.until[nodes]
        for sums, power in zip(change, (each, each * each), strict=True):
            part = weight[rows] * power
            sums += np.bincount(begin, part, n) - np.bincount(end, part, n)
    levels: Array = np.cumsum(change, axis=1)[:, :-1]
    return levels


def _stays(path: ComplexityPath, leaf: Array) -> Iterator[tuple[Array, Array]]:
    """Rows and the nodes that they stay in, from their leaves to the root."""
    rows, nodes = np.arange(len(leaf)), np.asarray(leaf)
    while len(rows):
        yield rows, nodes
        up = path.heir[nodes]
        climbs = up >= 0
        rows, nodes = rows[climbs], up[climbs]
