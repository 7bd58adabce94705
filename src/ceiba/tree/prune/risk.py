"""Resubstitution risk R(t) of every node as a leaf (Breiman et al. 1984)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree

Risk = Literal["impurity", "error"]


def node_risks(tree: Tree, risk: Risk = "impurity") -> Array:
    """Compute the resubstitution risk R(t) of every node.

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "error"}
        "impurity": the node's impurity times its fraction of the weight, as in scikit-learn.
        "error": the fraction of the weight that the node misclassifies (with a cost matrix the cost
        of these errors), as in rpart. Regression trees always use the impurity.

    Returns
    -------
    ndarray of shape (n_nodes,)

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", section 3.2.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y).tree_
    >>> node_risks(tree, "error").round(3).tolist()
    [0.667, 0.0, 0.333, 0.033, 0.007]
    """
    if risk not in ("impurity", "error"):
        raise ValueError(f"risk must be 'impurity' or 'error', got {risk!r}.")
    total = float(tree.weight[0])
    if risk == "impurity" or not is_classification(tree):
        # With a cost matrix the impurities are those of altered class weights.
        costs = cost_matrix_of(tree)
        weight = tree.weight if costs is None else tree.value @ costs.sum(axis=1)
        return np.asarray(tree.impurity * (weight / weight[0]))
    return resubstitution_errors(tree, cost_matrix_of(tree)) / total


def resubstitution_errors(tree: Tree, costs: Array | None) -> Array:
    """Compute the training weight (or cost) that each node misclassifies."""
    if costs is not None:
        return np.asarray((tree.value @ costs).min(axis=1))
    # Summing the classes other than the majority gives an exact zero for pure nodes.
    rest: Array = tree.value.copy()
    rest[np.arange(tree.n_nodes), rest.argmax(axis=1)] = 0
    return np.asarray(rest.sum(axis=1))


def node_class_indices(tree: Tree) -> Array:
    """Return the class index that every node predicts as a leaf."""
    return tree.decide(prediction_values(tree))


def prediction_values(tree: Tree) -> Array:
    """Return class weights or mean of each node; empty leaves as their parents."""
    empty = np.flatnonzero((tree.weight == 0) & (tree.parent >= 0))
    if not len(empty):
        return tree.value
    value: Array = tree.value.copy()
    value[empty] = value[tree.parent[empty]]
    return value


def is_classification(tree: Tree) -> bool:
    """Whether the tree predicts classes rather than numbers."""
    return bool(tree.leaves.shape[1])


def cost_matrix_of(tree: Tree) -> Array | None:
    """Return the cost matrix the tree was grown with, or None."""
    return tree.costs if len(tree.costs) else None


def normalized_costs(tree: Tree) -> Array | None:
    """Return the cost matrix scaled to a mean error cost of 1."""
    costs = cost_matrix_of(tree)
    n = tree.leaves.shape[1]
    return None if costs is None or n < 2 else costs * (n * (n - 1) / costs.sum())
