"""Reduced error pruning: cut while rows that the tree was not grown from are not hurt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.edit import Cuts
from ceiba.tree.model.traversal import new_leaves, subtree_sums
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.held_out import held_errors
from ceiba.tree.prune.risk import is_of_classes

# Sums of weights in another order differ by less than this share of the root's: no harm.
_ALIKE = 1e-12


def reduced_error_cuts(tree: Tree, held: Any) -> Cuts:
    """Where reduced error pruning cuts a tree.

    From the leaves up, one node after the other becomes a leaf if the validation error of the tree
    does not rise by it: misclassified weight, with a cost matrix what that costs; of numbers the
    squared error. A node that no validation row comes to becomes a leaf.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    held : array of shape (n_nodes, n_classes) or (n_nodes, 3)
        Class weights of the validation rows in each node, as `held_classes` gives
        them; of numbers the sums of w, w y and w y².

    Returns
    -------
    Cuts
        Its frames have the validation error of the whole tree, ``error_before`` and
        ``error_after``, as a share of the validation rows' weight.

    References
    ----------
    Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies 27.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier().fit(iris.table, iris.y).tree_
    >>> len(reduced_error_cuts(tree, tree.value))  # the training rows would keep it all
    0
    """
    held = np.asarray(held, dtype=np.float64)
    errors = held_errors(tree, held)
    total = held[0].sum() if is_of_classes(tree) else held[0, 0]
    return error_cuts(tree, errors, float(total))


def error_cuts(tree: Tree, errors: Array, total: float) -> Cuts:
    """The same, from what every node costs as a leaf, for validation rows of ``total`` weight."""
    if not total > 0:
        raise ValueError("reduced error pruning needs validation rows of positive weight")
    slack = _ALIKE * float(errors.max())
    now, frames = float(subtree_sums(tree, errors)[0]), []
    for leaf in new_leaves(tree, errors, slack):
        before, now = now, max(now + leaf.after - leaf.before, 0.0)
        frames.append(
            {
                "node": leaf.node,
                "error_before": before / total,
                "error_after": now / total,
                "n_leaves": leaf.n_leaves,
            }
        )
    return Cuts.of(tree, frames)
