"""The risk of each node of a tree, were it a leaf."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree

Risk = Literal["impurity", "error"]


def leaf_risks(tree: Tree, risk: Risk = "impurity") -> Array:
    """Risk of every node as a leaf, as a share of the root's weight.

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "error"}
        The node's impurity times its weight, as in scikit-learn; or the weight that it would
        classify wrongly (with a cost matrix: what that costs), as in rpart. Trees of numbers know
        impurity alone.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y).tree_
    >>> leaf_risks(tree, "error").round(3).tolist()
    [0.667, 0.0, 0.333, 0.033, 0.007]
    """
    if risk not in ("impurity", "error"):
        raise ValueError(f"risk must be 'impurity' or 'error', not {risk!r}")
    total = float(tree.weight[0])
    if risk == "impurity" or not is_of_classes(tree):
        # Where costs weighed the classes, the impurities are those of altered weights.
        costs = costs_of(tree)
        weight = tree.weight if costs is None else tree.value @ costs.sum(axis=1)
        return np.asarray(tree.impurity * (weight / weight[0]))
    return leaf_errors(tree, costs_of(tree)) / total


def leaf_errors(tree: Tree, costs: Array | None) -> Array:
    """Weight that every node of a tree of classes misclassifies as a leaf; with costs their sum."""
    if costs is not None:
        return np.asarray((tree.value @ costs).min(axis=1))
    # Others than the majority are added up: no rounding where there are none.
    rest: Array = tree.value.copy()
    rest[np.arange(tree.n_nodes), rest.argmax(axis=1)] = 0
    return np.asarray(rest.sum(axis=1))


def leaf_labels(tree: Tree) -> Array:
    """Place of the class that every node predicts as a leaf; an empty one as the node above."""
    return tree.decided(filled_values(tree))


def filled_values(tree: Tree) -> Array:
    """Class weights of every node, or its number; an empty leaf has those of the node above."""
    empty = np.flatnonzero((tree.weight == 0) & (tree.parent >= 0))
    if not len(empty):
        return tree.value
    value: Array = tree.value.copy()
    value[empty] = value[tree.parent[empty]]
    return value


def is_of_classes(tree: Tree) -> bool:
    """Whether the leaves of a tree predict classes, not numbers."""
    return bool(tree.leaves.shape[1])


def costs_of(tree: Tree) -> Array | None:
    """The cost matrix of a tree, or None."""
    return tree.costs if len(tree.costs) else None


def unit_costs(tree: Tree) -> Array | None:
    """The cost matrix in units of an average mistake: what counts mistakes can then count costs."""
    costs = costs_of(tree)
    n = tree.leaves.shape[1]
    return None if costs is None or n < 2 else costs * (n * (n - 1) / costs.sum())
