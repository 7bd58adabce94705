"""Fitted classification and regression trees under MATLAB's names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.inputs import categorical_indices, rows_to_predict
from ceiba.compat.matlab.losses import Training, TreeLosses
from ceiba.compat.matlab.name_value import check_nargout
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.tree.model.subtrees import collapse, kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import CostComplexityPath, Risk, cost_complexity_path


@dataclass(frozen=True, eq=False)
class FittedTree(TreeLosses):
    """A tree under MATLAB's names: nodes are numbered from 1, layer by layer.

    Parameters
    ----------
    tree : Tree
        Ceiba's own; its nodes are numbered from 0. ``tree.to_text()`` shows more of it.
    ResponseName : str
    Prune : bool
        Whether the pruning sequence is shown.
    risk : {"error", "impurity"}
        Risk that pruning uses.
    surrogates : bool
        Whether rows with a missing value follow surrogate splits; otherwise they stay at the node.
    training : Training or None
        The training rows, and how the tree was grown from them; None for the trees of a bag.
    """

    tree: Tree
    ResponseName: str
    Prune: bool
    risk: Risk
    surrogates: bool
    training: Training | None

    def __repr__(self) -> str:
        shown = {
            "ResponseName": repr(self.ResponseName),
            "CategoricalPredictors": self.CategoricalPredictors.tolist(),
            **({"ClassNames": self.ClassNames.tolist()} if hasattr(self, "ClassNames") else {}),
            "NumObservations": self.NumObservations,
            "NumNodes": self.NumNodes,
        }
        lines = [f"{name:>24}: {value}" for name, value in shown.items()]
        return "\n".join([type(self).__name__, *lines])

    @property
    def NumNodes(self) -> int:
        """Number of nodes."""
        return self.tree.n_nodes

    @property
    def NumObservations(self) -> int:
        """Number of training rows."""
        return int(self.tree.n_rows[0])

    @cached_property
    def Children(self) -> Array:
        """Numbers of the two branches of each node; 0 for a leaf."""
        first = np.where(self.IsBranchNode, self.tree.child + 1, 0)
        return np.stack([first, np.where(first > 0, first + 1, 0)], axis=1)

    @property
    def Parent(self) -> Array:
        """Number of the parent of each node; 0 for the root."""
        return self.tree.parent + 1

    @property
    def IsBranchNode(self) -> Array:
        """Which nodes are split."""
        return ~self.tree.is_leaf

    @property
    def CutPredictorIndex(self) -> Array:
        """Number, from 1, of the column that each node tests; 0 for a leaf."""
        return self.tree.column + 1

    @property
    def CutPredictor(self) -> list[str]:
        """Name of the column that each node tests; "" for a leaf."""
        return [self.PredictorNames[j] if j >= 0 else "" for j in self.tree.column.tolist()]

    @property
    def CutType(self) -> list[str]:
        """ "continuous" or "categorical"; "" for a leaf."""
        return ["" if j < 0 else self._cut_type(j) for j in self.tree.column.tolist()]

    def _cut_type(self, column: int) -> str:
        numeric = self.tree.schema[column].kind is Kind.NUMERIC
        return "continuous" if numeric else "categorical"

    @property
    def CutPoint(self) -> Array:
        """Threshold: values below it go to the first branch; NaN for leaves and categories."""
        continuous = np.array([kind == "continuous" for kind in self.CutType])
        return np.where(continuous, self.tree.threshold, np.nan)

    @cached_property
    def CutCategories(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Categories of the two branches of each node; empty for leaves and numbers."""
        return [
            self._branch_categories(node) if kind == "categorical" else ((), ())
            for node, kind in enumerate(self.CutType)
        ]

    def _branch_categories(self, node: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        split = self.tree.split(node)
        if split.branches:
            return split.branches[0], split.branches[1]
        # An ordinal column has a threshold between two of its categories.
        categories = self.tree.schema[split.column].categories
        end = categories.index(split.threshold) + 1
        return categories[:end], categories[end:]

    @property
    def NodeSize(self) -> Array:
        """Training rows of each node."""
        return self.tree.n_rows

    @property
    def NodeProbability(self) -> Array:
        """Fraction of the weight in each node."""
        return np.asarray(self.tree.weight / self.tree.weight[0])

    @property
    def NodeRisk(self) -> Array:
        """Impurity of each node times its fraction of the weight."""
        return np.asarray(self.tree.impurity * self.NodeProbability)

    @cached_property
    def path(self) -> CostComplexityPath:
        """Ceiba's own form of the pruning sequence."""
        return cost_complexity_path(self.tree, self.risk)

    @property
    def PruneList(self) -> Array:
        """Step (MATLAB's level) at which each node becomes a leaf or is removed; 0 for leaves.

        Empty with ``Prune='off'``, as is `PruneAlpha`.
        """
        if not self.Prune:
            return np.empty(0, np.int64)
        step = self.path.collapsed_at
        return np.where(step > 0, np.minimum(step, self.path.removed_at), 0).astype(np.int64)

    @property
    def PruneAlpha(self) -> Array:
        """Effective alpha of each step of the pruning sequence, from step 0 on."""
        return self.path.alphas if self.Prune else np.empty(0)

    @property
    def PredictorNames(self) -> list[str]:
        """Names of the columns."""
        return self.tree.schema.names

    @property
    def CategoricalPredictors(self) -> Array:
        """Numbers, from 1, of categorical columns."""
        return categorical_indices(self.tree.schema)

    @property
    def X(self) -> Table:
        """Predictors of the training rows."""
        return self._training_rows.columns

    @property
    def Y(self) -> Array:
        """Response of the training rows."""
        return self._training_rows.response.labels

    @property
    def W(self) -> Array:
        """Weights of the training rows, of sum 1."""
        weights = self._training_rows.response.row_weights
        return np.asarray(weights / weights.sum())

    def predict(self, X: Any, *, nargout: int = 1) -> Any:
        """Predict rows; see `ceiba.compat.matlab.predict` for the outputs."""
        outputs = self._outputs(X)
        check_nargout(nargout, len(outputs))
        return outputs[0] if nargout == 1 else outputs[:nargout]

    def _outputs(self, X: Any) -> tuple[Array, ...]:
        """Return all outputs of ``predict``."""
        raise NotImplementedError

    def collapse(self, nodes: Array) -> Self:
        """Return the tree with some nodes, numbered from 0, as leaves."""
        return replace(self, tree=collapse(self.tree, nodes))

    def apply(self, X: Any) -> Array:
        """Return the node, numbered from 0, at which each row ends.

        Without surrogates a row stays at the first node that tests a value it does not have.
        """
        table = rows_to_predict(X, self.tree.schema)
        leaf = self.tree.apply(table)
        return leaf if self.surrogates else _stop_at_missing(self.tree, table, leaf)


def _stop_at_missing(tree: Tree, table: Table, leaf: Array) -> Array:
    """Return the first node on each path that tests a missing value of the row."""
    missing = np.zeros((len(tree.schema), len(table)), bool)
    for j in set(tree.column[~tree.is_leaf].tolist()):
        mask = table.missing_mask(j)
        if mask is not None:
            missing[j] = mask
    stop, node = leaf.copy(), leaf
    rows = np.arange(len(table))
    while len(rows):  # all rows go up one node at a time
        has_parent = tree.parent[node] >= 0
        rows, node = rows[has_parent], tree.parent[node[has_parent]]
        stops = missing[tree.column[node], rows]
        stop[rows[stops]] = node[stops]
    return stop


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationTree(FittedTree):
    """A classification tree, as `fitctree` returns it; see there for an example.

    Besides those of `ceiba.compat.matlab.fitted_tree.FittedTree`:

    Parameters
    ----------
    ClassNames : ndarray
        The classes, in the order of the columns below.
    ClassCount : ndarray of shape (n, k)
        Training rows of each class in each node.
    Prior : ndarray of shape (k,)
    Cost : ndarray of shape (k, k)
        Cost of predicting class j where i is true.
    """

    ClassNames: Array
    ClassCount: Array
    Prior: Array
    Cost: Array

    @cached_property
    def ClassProbability(self) -> Array:
        """Probabilities of the classes in each node, under the prior."""
        value = self.tree.node_values
        return np.asarray(value / value.sum(axis=1, keepdims=True))

    @cached_property
    def class_index(self) -> Array:
        """Index, from 0, of the class of each node."""
        unit_costs = 1.0 - np.eye(len(self.ClassNames))
        if np.array_equal(self.Cost, unit_costs):  # sums of the other classes would be rounded
            return np.asarray(self.tree.node_values.argmax(axis=1))
        return np.asarray((self.tree.node_values @ self.Cost).argmin(axis=1))

    @property
    def NodeClass(self) -> Array:
        """The class of minimum expected cost in each node; ties go to the first."""
        return np.asarray(self.ClassNames[self.class_index])

    @property
    def NodeError(self) -> Array:
        """Probability that the class of a node is wrong."""
        others = self.ClassProbability.copy()
        others[np.arange(self.NumNodes), self.class_index] = 0
        return np.asarray(others.sum(axis=1))

    def _outputs(self, X: Any) -> tuple[Array, ...]:
        node = self.apply(X)
        class_index = self.class_index[node]
        labels, scores = self.ClassNames[class_index], self.ClassProbability[node]
        return labels, scores, node + 1, class_index + 1

    def collapse(self, nodes: Array) -> Self:
        """Return the tree with some nodes, numbered from 0, as leaves."""
        smaller = collapse(self.tree, nodes)
        probabilities = smaller.leaves / smaller.leaves.sum(axis=1, keepdims=True)
        counts = self.ClassCount[kept_nodes(self.tree, nodes)]
        return replace(self, tree=smaller.with_leaves(probabilities), ClassCount=counts)


@dataclass(frozen=True, eq=False, repr=False)
class RegressionTree(FittedTree):
    """A regression tree, as `fitrtree` returns it; see there for an example."""

    def _outputs(self, X: Any) -> tuple[Array, ...]:
        node = self.apply(X)
        return self.NodeMean[node], node + 1

    @property
    def NodeMean(self) -> Array:
        """Prediction of each node: the mean of its training rows."""
        return np.asarray(self.tree.node_values[:, 0])

    @property
    def NodeError(self) -> Array:
        """Mean squared error of the training rows of each node."""
        return self.tree.impurity
