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
from ceiba.export.errors import NotExpressibleError
from ceiba.export.onnx.graph import ML, Graph
from ceiba.export.trees import ThresholdNodes, check_float64_threshold, prediction_table
from ceiba.tree.explain.conditions import RuleCondition, branch_condition
from ceiba.tree.model.tree import Tree

# Modes of nodes, in the numbers of the operator.
_LEQ, _EQ, _MEMBER = 0, 4, 6


@dataclass(slots=True)
class _Node:
    """A test of one column with two branches, which are the entries of nodes or of leaves."""

    column: int
    mode: int
    threshold: float
    members: tuple[float, ...]
    missing_is_true: bool
    true: tuple[int, bool] = (0, False)
    false: tuple[int, bool] = (0, False)


@dataclass(slots=True)
class LeafRouter:
    """Collect the nodes of trees, and add the operator that finds the leaf of each row."""

    nodes: list[_Node] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    leaf_rows: list[int] = field(default_factory=list)
    leaf_trees: list[int] = field(default_factory=list)

    def add_tree(self, tree: Tree, row_of_leaf: Array, columns: Sequence[int]) -> None:
        """Add a tree whose leaves have rows ``row_of_leaf[node]`` in the table of predictions.

        ``columns`` are the indices of the tree's columns among those of the model.
        """
        _check_tree(tree)
        number = len(self.roots)
        if tree.is_leaf[0]:  # the operator needs a node: both branches of this one are the leaf
            root = _Node(columns[0], _LEQ, 0.0, (), False)
            root.true = root.false = self._add_leaf(int(row_of_leaf[0]), number)
            self.roots.append(len(self.nodes))
            self.nodes.append(root)
            return
        # Branches have larger numbers than their node, so that they are added before it.
        entries: dict[int, tuple[int, bool]] = {}
        simple = ThresholdNodes.of(tree)
        tests = zip(
            tree.is_leaf.tolist(), simple.selected.tolist(), row_of_leaf.tolist(),
            simple.column.tolist(), simple.threshold.tolist(), simple.missing_first.tolist(),
            tree.child.tolist(), strict=True,
        )  # fmt: skip
        for node, test in reversed(list(enumerate(tests))):
            is_leaf, is_simple, row, column, threshold, missing_first, child = test
            if is_leaf:
                entries[node] = self._add_leaf(row, number)
            elif is_simple:
                own = _Node(columns[column], _LEQ, threshold, (), missing_first)
                own.true, own.false = entries[child], entries[child + 1]
                self.nodes.append(own)
                entries[node] = len(self.nodes) - 1, False
            else:
                entries[node] = self._add_split(tree, node, columns, entries)
        self.roots.append(entries[0][0])

    def _add_leaf(self, row: int, tree: int) -> tuple[int, bool]:
        self.leaf_rows.append(row)
        self.leaf_trees.append(tree)
        return len(self.leaf_rows) - 1, True

    def _add_split(
        self, tree: Tree, node: int, columns: Sequence[int], entries: dict[int, tuple[int, bool]]
    ) -> tuple[int, bool]:
        """Add a split with any number of branches as a chain of tests, the last one first."""
        split = tree.split(node)
        column = tree.schema[split.column]
        branches = []
        for branch, child in enumerate(tree.children(node)):
            condition = branch_condition(split, branch, column, branch == split.missing_branch)
            if condition.is_satisfiable:
                branches.append((condition, entries[child]))
        # A branch for nothing but missing values has no test: it is what remains.
        branches.sort(key=lambda pair: not pair[0].known)
        entry = branches[-1][1]
        for condition, target in reversed(branches[:-1]):
            test = _test(condition, columns[split.column])
            test.true, test.false = target, entry
            self.nodes.append(test)
            entry = len(self.nodes) - 1, False
        return entry

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
            nodes_truenodeids=[node.true[0] for node in nodes],
            nodes_trueleafs=[int(node.true[1]) for node in nodes],
            nodes_falsenodeids=[node.false[0] for node in nodes],
            nodes_falseleafs=[int(node.false[1]) for node in nodes],
            leaf_targetids=self.leaf_trees,
            leaf_weights=graph.tensor(self.leaf_rows, np.float64), **sets,
        )  # fmt: skip
        return graph.cast(rows, np.int64)


def _test(condition: RuleCondition, column: int) -> _Node:
    """Return the test of a condition, given that those of the branches before it failed."""
    if condition.categories is not None:
        codes = tuple(float(condition.encode(category)) for category in condition.categories)
        mode = _EQ if len(codes) == 1 else _MEMBER
        return _Node(column, mode, codes[0], codes, condition.missing)
    high = np.inf if condition.high is None else condition.encode(condition.high)
    check_float64_threshold(condition.column, high, "ONNX compares values in float64")
    return _Node(column, _LEQ, float(high), (), condition.missing)


def _check_tree(tree: Tree) -> None:
    if tree.missing != "branch":
        raise NotExpressibleError(
            f"ONNX has one branch for missing values in each node, and no missing={tree.missing!r}:"
            " fit with missing='learned', or export to code."
        )


def member_leaves(
    members: Sequence[tuple[Tree, Any]], values: Sequence[Array]
) -> tuple[LeafRouter, Array]:
    """Return the router of some trees, and the table of their leaves' predictions.

    ``members`` are trees with the indices of their columns, ``values[i]`` the predictions of the
    leaves of tree i, by node.
    """
    router, tables, first = LeafRouter(), [], 0
    for (tree, columns), own in zip(members, values, strict=True):
        distinct, row_of_leaf = prediction_table(tree, own)
        router.add_tree(tree, row_of_leaf + first, columns)
        tables.append(distinct)
        first += len(distinct)
    return router, np.concatenate(tables)
