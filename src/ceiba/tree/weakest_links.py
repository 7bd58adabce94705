"""Breiman's weakest links: from which price of a leaf on each node of a tree is better a leaf."""

from __future__ import annotations

import numpy as np

from ceiba import _native
from ceiba.stats.points import Array
from ceiba.tree.ancestry import least_above, subtree_sums
from ceiba.tree.structure import Tree

# Links whose strengths differ by less than this share of the root's risk are equally weak.
_ALIKE = 1e-12


def weakest_links(tree: Tree, risks: Array) -> tuple[Array, Array]:
    """Alphas of the levels, and the level that makes each node a leaf.

    Parameters
    ----------
    tree : Tree
    risks : ndarray of shape (n_nodes,)
        Of every node as a leaf.

    Returns
    -------
    alphas : ndarray of shape (n_levels,)
        Ascending, the first is 0: the grown tree.
    level_of_cut : ndarray of int32 of shape (n_nodes,)
        0 for leaves, n_levels for nodes that go with one above them before.
    """
    near = _ALIKE * float(risks[0])
    strength, weakest = _strengths(tree, risks, near)
    starts: list[float] = []
    for alpha in np.sort(strength[weakest]).tolist():
        if not starts or alpha > starts[-1] + near:
            starts.append(alpha)
    never = len(starts) + 1
    place = np.searchsorted(starts, strength, side="right")
    alike = strength <= np.append(-np.inf, starts)[place] + near
    own = np.where(alike & ~tree.is_leaf, place, never)
    own[own > least_above(tree.parent, own, never)] = never
    own[tree.is_leaf] = 0
    return np.array([0.0, *starts]), own.astype(np.int32)


def _strengths(tree: Tree, risks: Array, near: float) -> tuple[Array, Array]:
    """From which alpha on each node is better a leaf; and which do not go with one above."""
    useless = _useless(tree, risks, near)
    strength, kept = _native.tree_weakest_links(
        np.ascontiguousarray(risks), np.ascontiguousarray(tree.child), tree.n_branches,
        ~tree.is_leaf & ~useless, near,
    )  # fmt: skip
    weakest = useless.copy()
    weakest[kept] = True
    return np.where(useless, 0.0, strength), weakest


def _useless(tree: Tree, risks: Array, near: float) -> Array:
    """Inner nodes whose splits, all together, do not lower the risk."""
    below = subtree_sums(tree, risks)
    leaves = subtree_sums(tree, np.ones(tree.n_nodes))
    useless: Array = ~tree.is_leaf & (risks - below <= near * (leaves - 1))
    return useless
