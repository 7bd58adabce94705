"""What classification and regression trees of MATLAB show alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.leaves import pruned
from ceiba.compat.matlab.predictors import categorical, rows_for
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import ComplexityPath, complexity_path
from ceiba.tree.prune.risk import Risk


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A tree under MATLAB's names: nodes are numbered from 1, layer by layer.

    Parameters
    ----------
    tree : Tree
        Ceiba's own; its nodes are numbered from 0. ``tree.to_text()`` shows more of it.
    ResponseName : str
    Prune : bool
        Whether the pruning sequence is shown.
    risk : {"error", "impurity"}
        What pruning counts.
    surrogates : bool
        Whether rows with a gap follow surrogate splits; otherwise they stay at the node.

    Attributes
    ----------
    NumNodes, NumObservations : int
    Children : ndarray of shape (n, 2)
        Numbers of the two branches; 0 for a leaf.
    Parent : ndarray of shape (n,)
        0 for the root.
    IsBranchNode : ndarray of bool
    CutPredictor, CutPredictorIndex : list of str and ndarray
        Name and number, from 1, of the column that is tested; "" and 0 for a leaf.
    CutType : list of str
        "continuous", "categorical" or "".
    CutPoint : ndarray
        The first branch has values below it; NaN for leaves and levels.
    CutCategories : list of pairs of tuples
        Levels of the first and of the second branch; empty for leaves and numbers.
    NodeSize, NodeProbability : ndarray
        Training rows, and their share of the weight.
    PruneList : ndarray of int
        Level of the sequence that makes the node a leaf; 0 for leaves. Empty with ``Prune='off'``.
    PruneAlpha : ndarray
        The alpha that each level begins with, from level 0 on.
    PredictorNames, ResponseName : list of str and str
    CategoricalPredictors : ndarray of int
        Numbers, from 1, of columns of levels.
    """

    tree: Tree
    ResponseName: str
    Prune: bool
    risk: Risk
    surrogates: bool

    def __repr__(self) -> str:
        shown = {
            "ResponseName": repr(self.ResponseName),
            "CategoricalPredictors": self.CategoricalPredictors.tolist(),
            **self._more_shown(),
            "NumObservations": self.NumObservations,
            "NumNodes": self.NumNodes,
        }
        lines = [f"{name:>24}: {value}" for name, value in shown.items()]
        return "\n".join([type(self).__name__, *lines])

    def _more_shown(self) -> dict[str, Any]:
        return {}

    @property
    def NumNodes(self) -> int:
        """Number of nodes."""
        return self.tree.n_nodes

    @property
    def NumObservations(self) -> int:
        """Training rows."""
        return int(self.tree.n_rows[0])

    @cached_property
    def Children(self) -> Array:
        """Numbers of the two branches of each node; 0 for a leaf."""
        first = np.where(self.IsBranchNode, self.tree.child + 1, 0)
        return np.stack([first, np.where(first > 0, first + 1, 0)], axis=1)

    @property
    def Parent(self) -> Array:
        """The node above each node; 0 for the root."""
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
        return ["" if j < 0 else self._type_of(j) for j in self.tree.column.tolist()]

    def _type_of(self, column: int) -> str:
        numeric = self.tree.schema[column].kind is Kind.NUMERIC
        return "continuous" if numeric else "categorical"

    @property
    def CutPoint(self) -> Array:
        """The number below which values go to the first branch; NaN for leaves and levels."""
        continuous = np.array([kind == "continuous" for kind in self.CutType])
        return np.where(continuous, self.tree.threshold, np.nan)

    @cached_property
    def CutCategories(self) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Levels of the two branches of each node; empty for leaves and numbers."""
        return [
            self._levels(node) if kind == "categorical" else ((), ())
            for node, kind in enumerate(self.CutType)
        ]

    def _levels(self, node: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        split = self.tree.split(node)
        if split.branches:
            return split.branches[0], split.branches[1]
        levels = self.tree.schema[split.column].levels  # ordered: a cut between two of them
        last = levels.index(split.threshold) + 1
        return levels[:last], levels[last:]

    @property
    def NodeSize(self) -> Array:
        """Training rows of each node."""
        return self.tree.n_rows

    @property
    def NodeProbability(self) -> Array:
        """Share of the weight that each node holds."""
        return np.asarray(self.tree.weight / self.tree.weight[0])

    @property
    def NodeRisk(self) -> Array:
        """Impurity of each node times its share of the weight."""
        return np.asarray(self.tree.impurity * self.NodeProbability)

    @cached_property
    def path(self) -> ComplexityPath:
        """Ceiba's own form of the pruning sequence."""
        return complexity_path(self.tree, self.risk)

    @property
    def PruneList(self) -> Array:
        """Level that makes each node a leaf, by itself or with one above it; 0 for leaves."""
        if not self.Prune:
            return np.empty(0, np.int64)
        own = self.path.level_of_cut
        return np.where(own > 0, np.minimum(own, self.path.until), 0).astype(np.int64)

    @property
    def PruneAlpha(self) -> Array:
        """The alpha at which each level of the sequence begins."""
        return self.path.alphas if self.Prune else np.empty(0)

    @property
    def PredictorNames(self) -> list[str]:
        """Names of the columns."""
        return self.tree.schema.names

    @property
    def CategoricalPredictors(self) -> Array:
        """Numbers, from 1, of columns of levels."""
        return categorical(self.tree.schema)

    def cut_at(self, nodes: Array) -> Self:
        """The tree with some nodes, numbered from 0, as leaves."""
        smaller, kept = pruned(self.tree, nodes)
        return replace(self, tree=smaller, **self._of_nodes(kept))

    def _of_nodes(self, kept: Array) -> dict[str, Any]:
        """What else has an entry for each node, for those that are kept."""
        return {}

    def nodes_of(self, X: Any) -> Array:
        """The node, numbered from 0, at which each row ends.

        Without surrogates a row whose value is missing where it is asked for stays at that node.
        """
        table = rows_for(X, self.tree.schema)
        at = self.tree.apply(table)
        return at if self.surrogates else _stopped(self.tree, table, at)


def _stopped(tree: Tree, table: Table, leaf: Array) -> Array:
    """The first node on the way to each row's leaf that tests a value which the row lacks."""
    lacking = np.zeros((len(tree.schema), len(table)), bool)
    for j in set(tree.column[~tree.is_leaf].tolist()):
        gaps = table.gaps(j)
        if gaps is not None:
            lacking[j] = gaps
    stop, at = leaf.copy(), leaf
    rows = np.arange(len(table))
    while len(rows):  # all rows climb together
        rows, at = rows[tree.parent[at] >= 0], tree.parent[at[tree.parent[at] >= 0]]
        here = lacking[tree.column[at], rows]
        stop[rows[here]] = at[here]
    return stop
