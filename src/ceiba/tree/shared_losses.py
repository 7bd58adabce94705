"""What rows that gaps share among leaves cost under every tree of a complexity path."""

from __future__ import annotations

import numpy as np

from ceiba import _native
from ceiba.data.table import Table
from ceiba.stats.points import Array
from ceiba.tree.complexity import ComplexityPath
from ceiba.tree.node_losses import NodeLoss
from ceiba.tree.structure import Tree

# Numbers that are held at a time.
_ENTRIES = 2_000_000


def summed_shared_losses(
    tree: Tree, path: ComplexityPath, table: Table, weight: Array, loss: NodeLoss
) -> Array:
    """Weighted sums of the rows' losses and of their squares, level by level.

    A row costs in each leaf as much as a whole one, times the share of it that comes to the leaf.

    Parameters
    ----------
    tree : Tree
        One that shares gaps among all branches.
    path : ComplexityPath
    table : Table
    weight : ndarray of shape (n,)
    loss : NodeLoss

    Returns
    -------
    ndarray of shape (2, n_levels)
    """
    of_rows, of_nodes = loss.factors()
    n, m = of_rows.shape
    stands = np.flatnonzero(tree.is_leaf)
    place = np.cumsum(tree.is_leaf, dtype=np.int32) - 1
    most = max(1, _ENTRIES // (m * max(n, len(stands))))
    sums = np.empty((2, path.n_levels))
    for first in range(0, path.n_levels, most):
        levels = range(first, min(first + most, path.n_levels))
        said = np.empty((len(stands), len(levels), m))
        for k, level in enumerate(levels):
            stands = _climbed(path, stands, level)
            said[:, k] = of_nodes[stands]
        means = _mean_of_ways(tree, table, said.reshape(len(said), -1), place)
        losses = np.einsum("ikm,im->ik", means.reshape(n, len(levels), m), of_rows)
        sums[:, levels] = weight @ losses, weight @ losses**2
    return sums


def _climbed(path: ComplexityPath, nodes: Array, level: int) -> Array:
    """The leaves of a level's tree that took the places of some nodes."""
    while (gone := path.until[nodes] <= level).any():
        nodes = np.where(gone, path.heir[nodes], nodes)
    return nodes


def _mean_of_ways(tree: Tree, table: Table, said: Array, place: Array) -> Array:
    out = np.empty((len(table), said.shape[1]))
    _native.tree_mean_ways(
        tree.nodes, tree.words, tree.tables, tree.share, tree.n_branches,
        *tree._native_columns(table), said, place, out, 1,
    )  # fmt: skip
    return out
