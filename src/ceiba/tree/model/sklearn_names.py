"""scikit-learn's names for the arrays and methods of a `Tree`, and paths from the root to leaves.

Two things differ from scikit-learn, because trees here have nominal columns and may have more than
two branches: the threshold of a nominal split is NaN, and a tree with a node of
three or more branches has no ``children_left`` and ``children_right``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ceiba._typing import Array

# scikit-learn's marks of a leaf.
_NO_CHILD, _NO_FEATURE, LEAF_THRESHOLD = -1, -2, -2.0


def path_matrix(leaves: Array, parent: Array, depth: Array) -> csr_matrix:
    """Return the nodes on the path of each row to its leaf.

    Parameters
    ----------
    leaves : ndarray of shape (n_rows,)
        The leaf of each row.
    parent, depth : ndarray of shape (n_nodes,)
        Parent of each node, -1 for the root, and its depth.

    Returns
    -------
    csr_matrix of shape (n_rows, n_nodes)
        1 for each node on the path of the row.
    """
    ends = np.cumsum(depth[leaves] + 1)
    indices = np.empty(int(ends[-1]) if len(ends) else 0, np.int32)
    node, index = leaves, ends - 1
    while len(node):  # one step up for all rows at once, from their leaves to the root
        indices[index] = node
        below_root = parent[node] >= 0
        node, index = parent[node[below_root]], index[below_root] - 1
    pointers = np.concatenate([[0], ends])
    ones = np.ones(len(indices), np.int64)
    return csr_matrix((ones, indices, pointers), shape=(len(leaves), len(parent)))


class SklearnTreeNames:
    """Attributes and methods that `sklearn.tree._tree.Tree` has too."""

    @property
    def _tree(self) -> Any:
        """The tree that this class is mixed into."""
        return self

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return int(self._tree.n_nodes)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self._tree.schema)

    @property
    def n_outputs(self) -> int:
        """Number of outputs, the columns of y: 1."""
        return 1

    @property
    def n_classes(self) -> Array:
        """Number of classes of the target, as an array of one int; 1 for regression."""
        return np.array([self.max_n_classes])

    @property
    def max_n_classes(self) -> int:
        """Number of classes; 1 for regression."""
        return max(1, int(self._tree.leaves.shape[1]))

    @property
    def n_node_samples(self) -> Array:
        """Number of training rows of each node."""
        return np.asarray(self._tree.n_rows)

    @property
    def weighted_n_node_samples(self) -> Array:
        """Weight of the training rows of each node."""
        return np.asarray(self._tree.weight)

    @cached_property
    def value(self) -> Array:
        """Class fractions, or mean or median, of each node: (n_nodes, 1, n_classes or 1).

        ``node_values`` has the class weights.
        """
        values = self._tree.prediction_values
        if self._tree.is_classification:
            values = values / values.sum(axis=1, keepdims=True)
        return np.asarray(values[:, None, :])

    @cached_property
    def feature(self) -> Array:
        """Tested column of each node; -2 in leaves."""
        return np.where(self._tree.is_leaf, _NO_FEATURE, self._tree.column).astype(np.int64)

    @cached_property
    def children_left(self) -> Array:
        """First branch of each node (values up to the threshold); -1 in leaves."""
        tree = self._tree
        wide = tree.n_branches > 2
        if wide.any():
            node = int(np.argmax(wide))
            raise AttributeError(
                "children_left and children_right exist for trees of two branches per node only, "
                f"got {tree.n_branches[node]} branches in node {node}: use children(node), or "
                "splits='binary' with missing='learned' in fit."
            )
        return np.where(tree.is_leaf, _NO_CHILD, tree.child).astype(np.int64)

    @property
    def children_right(self) -> Array:
        """Second branch of each node (values above the threshold); -1 in leaves."""
        left = self.children_left
        return np.where(left == _NO_CHILD, _NO_CHILD, left + 1)

    @cached_property
    def missing_go_to_left(self) -> Array:
        """Whether rows without a value in the tested column follow ``children_left``, as uint8."""
        tree, left = self._tree, self.children_left
        to_left = [tree.missing_child(node) == left[node] >= 0 for node in range(tree.n_nodes)]
        return np.array(to_left, np.uint8)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes on the path of each row, as a sparse matrix of 0 and 1."""
        tree = self._tree
        return path_matrix(tree.apply(X), tree.parent, tree.depth)

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Return the decrease of impurity by each column, by default as fractions of the sum."""
        tree = self._tree
        if normalize:
            return np.asarray(tree.importances())
        decrease = np.where(tree.is_leaf, 0.0, tree.weight * tree.gain / tree.weight[0])
        columns = np.where(tree.is_leaf, 0, tree.column)
        return np.bincount(columns, decrease, minlength=self.n_features)
