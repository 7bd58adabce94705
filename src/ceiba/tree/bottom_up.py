"""From the leaves up, a node becomes a leaf where that is no worse than what stands below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ceiba.stats.points import Array
from ceiba.tree.structure import Tree


@dataclass(frozen=True, slots=True)
class NewLeaf:
    """A node that became a leaf.

    Parameters
    ----------
    node : int
    before, after : float
        What the subtree cost, as cut so far, and what the leaf costs.
    n_leaves : int
        Leaves of the whole tree after it.
    """

    node: int
    before: float
    after: float
    n_leaves: int


def new_leaves(tree: Tree, cost: Array, slack: float) -> Iterator[NewLeaf]:
    """Nodes that become leaves, the deepest first, each after all that stand below it.

    Parameters
    ----------
    tree : Tree
    cost : ndarray of shape (n_nodes,)
        Of every node as a leaf; costs of leaves add up.
    slack : float
        How much more than its subtree a leaf may cost.
    """
    best, n_below = cost.tolist(), [1] * tree.n_nodes
    first, branches = tree.child.tolist(), tree.n_branches.tolist()
    n_leaves = tree.n_leaves
    # Branches have greater numbers than their node.
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        children = range(first[node], first[node] + branches[node])
        together = sum([best[child] for child in children])
        width = sum([n_below[child] for child in children])
        if best[node] > together + slack:
            best[node], n_below[node] = together, width
            continue
        n_leaves -= width - 1
        yield NewLeaf(node, together, best[node], n_leaves)
