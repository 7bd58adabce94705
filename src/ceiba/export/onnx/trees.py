"""Trees of ONNX: the operator TreeEnsemble finds the leaf of each row in each tree.

Its leaves hold one number each. Here that number is a row of a table of predictions, with a target
for each tree; the rows of the table are then gathered and summed by ordinary operators, so that a
tree with many classes is stored once and predictions are computed in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.export.checks import check_float64_threshold, check_missing_branch
from ceiba.export.onnx.graph import ML, Graph
from ceiba.export.trees import ThresholdNodes, prediction_table
from ceiba.tree.explain.conditions import RuleCondition, branch_condition
from ceiba.tree.model.tree import Tree

# Modes of nodes, in the numbers of the operator.
_LEQ, _EQ, _MEMBER = 0, 4, 6


@dataclass(frozen=True, slots=True)
class _NodeRef:
    """Index of a node among all nodes, or of a leaf among all leaves."""

    index: int
    is_leaf: bool


@dataclass(slots=True)
class _Node:
    """A test of one column with two branches, which are nodes or leaves."""

    column: int
    mode: int
    threshold: float
    members: tuple[float, ...]
    missing_is_true: bool
    true: _NodeRef
    false: _NodeRef


@dataclass(slots=True)
class TreeEnsembleBuilder:
    """Collect the nodes of trees, and build the operator that finds the leaf of each row."""

    nodes: list[_Node] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    leaf_rows: list[int] = field(default_factory=list)
    leaf_trees: list[int] = field(default_factory=list)

    def add_tree(self, tree: Tree, row_of_leaf: Array, columns: Sequence[int]) -> None:
        """Add a tree whose leaves have rows ``row_of_leaf[node]`` in the table of predictions.

        ``columns`` are the indices of the tree's columns among those of the model.
        """
        check_missing_branch(tree, "ONNX")
        tree_index = len(self.roots)
        if tree.is_leaf[0]:  # the operator needs a node: both branches of this one are the leaf
            leaf = self._add_leaf(int(row_of_leaf[0]), tree_index)
            root = _Node(columns[0], _LEQ, 0.0, (), False, leaf, leaf)
            self.roots.append(self._add_node(root).index)
            return
        # Branches have larger numbers than their node, so that they are added before it.
        refs: dict[int, _NodeRef] = {}
        threshold_nodes = ThresholdNodes.of(tree)
        tests = zip(
            tree.is_leaf.tolist(), threshold_nodes.selected.tolist(), row_of_leaf.tolist(),
            threshold_nodes.column.tolist(), threshold_nodes.threshold.tolist(),
            threshold_nodes.missing_first.tolist(), tree.child.tolist(), strict=True,
        )  # fmt: skip
        for node, test in reversed(list(enumerate(tests))):
            is_leaf, has_threshold, row, column, threshold, missing_first, child = test
            if is_leaf:
                refs[node] = self._add_leaf(row, tree_index)
            elif has_threshold:
                branches = refs[child], refs[child + 1]
                test = _Node(columns[column], _LEQ, threshold, (), missing_first, *branches)
                refs[node] = self._add_node(test)
            else:
                refs[node] = self._add_split(tree, node, columns, refs)
        self.roots.append(refs[0].index)

    def _add_node(self, node: _Node) -> _NodeRef:
        self.nodes.append(node)
        return _NodeRef(len(self.nodes) - 1, is_leaf=False)

    def _add_leaf(self, row: int, tree_index: int) -> _NodeRef:
        self.leaf_rows.append(row)
        self.leaf_trees.append(tree_index)
        return _NodeRef(len(self.leaf_rows) - 1, is_leaf=True)

    def _add_split(
        self, tree: Tree, node: int, columns: Sequence[int], refs: dict[int, _NodeRef]
    ) -> _NodeRef:
        """Add a split with any number of branches as a chain of tests, the last one first."""
        split = tree.split(node)
        column = tree.schema[split.column]
        branches = []
        for branch, child in enumerate(tree.children(node)):
            condition = branch_condition(split, branch, column, branch == split.missing_branch)
            if condition.is_satisfiable:
                branches.append((condition, refs[child]))
        # A branch for nothing but missing values has no test: it is what remains.
        branches.sort(key=lambda pair: not pair[0].known)
        ref = branches[-1][1]
        for condition, target in reversed(branches[:-1]):
            ref = self._add_node(_test(condition, columns[split.column], target, ref))
        return ref

    def add_to(self, graph: Graph, X: str) -> str:
        """Add the operator; return the row of each leaf, of shape (n_rows, n_trees)."""
        nodes, members = self.nodes, []
        for node in nodes:
            if node.mode == _MEMBER:
                members += [*node.members, np.nan]  # NaN ends a set
        sets = {"membership_values": graph.tensor(members, np.float64)} if members else {}
        rows = graph.add(
            "TreeEnsemble", X, domain=ML,
            tree_roots=self.roots, n_targets=len(self.roots), aggregate_function=1,
            nodes_featureids=[node.column for node in nodes],
            nodes_modes=graph.tensor([node.mode for node in nodes], np.uint8),
            nodes_splits=graph.tensor([node.threshold for node in nodes], np.float64),
            nodes_missing_value_tracks_true=[int(node.missing_is_true) for node in nodes],
            nodes_truenodeids=[node.true.index for node in nodes],
            nodes_trueleafs=[int(node.true.is_leaf) for node in nodes],
            nodes_falsenodeids=[node.false.index for node in nodes],
            nodes_falseleafs=[int(node.false.is_leaf) for node in nodes],
            leaf_targetids=self.leaf_trees,
            leaf_weights=graph.tensor(self.leaf_rows, np.float64), **sets,
        )  # fmt: skip
        return graph.cast(rows, np.int64)


def _test(condition: RuleCondition, column: int, true: _NodeRef, false: _NodeRef) -> _Node:
    """Return the test of a condition, given that those of the branches before it failed."""
    if condition.categories is not None:
        codes = tuple(float(condition.encode(category)) for category in condition.categories)
        mode = _EQ if len(codes) == 1 else _MEMBER
        return _Node(column, mode, codes[0], codes, condition.missing, true, false)
    high = np.inf if condition.high is None else condition.encode(condition.high)
    check_float64_threshold(condition.column, high, "ONNX compares values in float64")
    return _Node(column, _LEQ, float(high), (), condition.missing, true, false)


def member_leaves(
    members: Sequence[tuple[Tree, Any]], values: Sequence[Array]
) -> tuple[TreeEnsembleBuilder, Array]:
    """Return the operator of some trees, and the table of their leaves' predictions.

    ``members`` are trees with the indices of their columns, ``values[i]`` the predictions of the
    leaves of tree i, by node.
    """
    builder, tables, first = TreeEnsembleBuilder(), [], 0
    for (tree, columns), predictions in zip(members, values, strict=True):
        distinct, row_of_leaf = prediction_table(tree, predictions)
        builder.add_tree(tree, row_of_leaf + first, columns)
        tables.append(distinct)
        first += len(distinct)
    return builder, np.concatenate(tables)
