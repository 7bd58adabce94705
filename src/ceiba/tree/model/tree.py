"""The one structure of all tree learners: prediction arrays, and side arrays for readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import REAL, SINGLE, ColumnTypes, column_arrays
from ceiba.tree.model.split import LARGEST, METHODS, Split, split_of
from ceiba.tree.model.surrogate import Surrogate, surrogates_of
from ceiba.tree.model.validate import REASONS, check_record, check_tree

_LEAF, _REAL = 0, 1


@dataclass(frozen=True, eq=False)
class Tree:
    """A grown tree as plain arrays.

    Prediction needs ``nodes`` (16 bytes each), ``words``, ``tables`` and ``leaves``; leaves with
    equal class weights share a row of ``leaves``. The other arrays are for readers and pruners and
    have one entry a node. Branches of a node have neighbouring numbers, greater than its own.

    Parameters
    ----------
    nodes : ndarray of uint64 of shape (n_nodes, 2)
        The first word is the cut: a threshold, a set of levels, or where these stand; in a leaf of
        numbers its value. The second holds the first branch (a leaf's row in ``leaves``) and the
        test.
    words, tables : ndarray
        Levels of nominal splits that do not fit into a node.
    leaves : ndarray of shape (n_different_leaves, n_classes)
        What leaves predict: class probabilities. Empty for numbers.
    schema : Schema
        The columns.
    n_rows, weight : ndarray
        Training rows of each node, and their weight.
    impurity, gain : ndarray
        Impurity of each node, and by how much its split lowers it (0 in leaves).
    value : ndarray of shape (n_nodes, n_classes) or (n_nodes, 1)
        Class weights, or mean or median, of each node.
    reason, method : ndarray of uint8
        Why a node is a leaf and how its split was found: see ``reasons`` and ``methods``.
    ties : ndarray of int32
        Other candidates with exactly the score of the split.
    depth : ndarray of int32
    runner_up_column, runner_up_gain : ndarray
        The best split of any other column; -1 where there was none.
    missing : "branch", "shared" or "surrogate"
        What rows with a gap in a node's column do: take its branch for gaps, go down every branch
        with the branch's share of the node's weight, or go where the first surrogate sends them
        that they have a value for, and by the branch for gaps if there is none.
    costs : ndarray of shape (n_classes, n_classes) or (0, 0)
        What it costs to take a class (row) for another (column); empty where all mistakes are
        alike.
    surrogates, first_surrogate, agreement, adjusted_agreement : ndarray
        Surrogate splits, where those of each node begin, and how well they agree with the node's
        own: see ``surrogates_of``.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y).tree_
    >>> tree.n_nodes, tree.n_leaves, tree.reasons[1]
    (5, 3, 'pure')
    """

    nodes: Array
    words: Array
    tables: Array
    leaves: Array
    schema: Schema
    n_rows: Array
    weight: Array
    impurity: Array
    gain: Array
    value: Array
    reason: Array
    method: Array
    ties: Array
    depth: Array
    runner_up_column: Array
    runner_up_gain: Array
    missing: str = "branch"
    costs: Array = field(default_factory=lambda: np.empty((0, 0)))
    surrogates: Array = field(default_factory=lambda: np.empty((0, 2), np.uint64))
    first_surrogate: Array = field(default_factory=lambda: np.empty(0, np.int64))
    agreement: Array = field(default_factory=lambda: np.empty(0))
    adjusted_agreement: Array = field(default_factory=lambda: np.empty(0))
    columns: ColumnTypes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", ColumnTypes.of(self.schema))
        for entry in fields(self):
            array = getattr(self, entry.name)
            if isinstance(array, np.ndarray):
                # The kernels walk these without looking twice: nobody may change them.
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy or what comes out of a pickle is checked as a file is, and as unchangeable.
        return Tree.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Tree({self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.max_depth})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @cached_property
    def _halves(self) -> Array:
        halves: Array = self.nodes.view(np.uint32)
        return halves

    @cached_property
    def child(self) -> Array:
        """First branch of each node; of a leaf of classes its row in ``leaves``."""
        child: Array = self._halves[:, 2].view(np.int32)
        return child

    @cached_property
    def test(self) -> Array:
        """Kind of each node's test: 0 in a leaf."""
        return self._halves[:, 3] >> 24 & 0xF

    @cached_property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        leaf: Array = self.test == _LEAF
        return leaf

    def with_leaves(self, leaves: Array) -> Tree:
        """The same tree with other predictions in the rows of ``leaves``; equal rows become one."""
        # By bytes, in the order of the leaves: no sorting.
        places: dict[bytes, int] = {}
        row = [places.setdefault(leaf.tobytes(), len(places)) for leaf in leaves]
        if len(places) == len(leaves):
            return replace(self, leaves=leaves)
        nodes = self.nodes.copy()
        child = nodes.view(np.int32)[:, 2]
        child[self.is_leaf] = np.array(row, np.int32)[child[self.is_leaf]]
        different = np.frombuffer(b"".join(places), leaves.dtype).reshape(-1, leaves.shape[1])
        return replace(self, nodes=nodes, leaves=different)

    @cached_property
    def likeliest(self) -> Array:
        """The class to predict for each row of ``leaves``: see `decided`."""
        return self.decided(self.leaves)

    def decided(self, probabilities: Array) -> Array:
        """The likeliest class, or that of least expected cost, of each row; of two the first."""
        found: Array
        if len(self.costs):
            found = (probabilities @ self.costs).argmin(axis=1)
        else:
            found = probabilities.argmax(axis=1)
        return found

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Splits on the longest way from the root to a leaf."""
        return int(self.depth.max())

    @cached_property
    def column(self) -> Array:
        """Column that each node tests; -1 in leaves."""
        return np.where(self.is_leaf, -1, (self._halves[:, 3] & 0xFFFFFF).astype(np.int32))

    @cached_property
    def threshold(self) -> Array:
        """Threshold of each test of numbers (levels: code), as a float; NaN elsewhere.

        Infinity where a split parts known values from gaps.
        """
        cut = np.ascontiguousarray(self.nodes[:, 0])
        found = np.full(self.n_nodes, np.nan)
        for test, dtype in ((_REAL, np.float64), (2, np.int64), (3, np.uint64), (4, np.int64)):
            places = self.test == test
            found[places] = cut[places].view(dtype)
            if test > _REAL:
                found[places & (cut == LARGEST[test])] = np.inf
        return found

    @property
    def reasons(self) -> list[str]:
        """Why each node is a leaf, in a word; "split" for those that are none."""
        return [REASONS[code] for code in self.reason]

    @property
    def methods(self) -> list[str]:
        """How each split was found, in a word; "none" for leaves."""
        return [METHODS[code] for code in self.method]

    @cached_property
    def _inner(self) -> Array:
        """Nodes that are split, in the order of their branches' numbers."""
        inner = np.flatnonzero(~self.is_leaf)
        return inner[np.argsort(self.child[inner], kind="stable")]

    @cached_property
    def n_branches(self) -> Array:
        """Branches of each node, 0 of a leaf."""
        first = self.child[self._inner]
        found = np.zeros(self.n_nodes, np.int32)
        found[self._inner] = np.append(first[1:], self.n_nodes) - first
        return found

    def children(self, node: int) -> list[int]:
        """Numbers of a node's branches."""
        first = int(self.child[node])
        return list(range(first, first + int(self.n_branches[node])))

    def gap_child(self, node: int) -> int:
        """The branch that a row without a value in the node's column takes; -1 for a leaf."""
        return -1 if self.is_leaf[node] else int(self.child[node]) + self.split(node).gaps

    def split(self, node: int) -> Split:
        """What a node tests, in the column's own names and values."""
        return split_of(self, node)

    @cached_property
    def parent(self) -> Array:
        """The node above each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        parent[1:] = np.repeat(self._inner, self.n_branches[self._inner])
        return parent

    @cached_property
    def share(self) -> Array:
        """Share of each node's weight in that of its siblings and itself: the way of gaps."""
        above = np.zeros(self.n_nodes)
        np.add.at(above, self.parent[1:], self.weight[1:])
        share = np.ones(self.n_nodes)
        share[1:] = self.weight[1:] / above[self.parent[1:]]
        return share

    def surrogates_of(self, node: int) -> list[Surrogate]:
        """The surrogate splits of a node, those that agree best first."""
        return surrogates_of(self, node)

    def walk(self) -> Iterator[int]:
        """Numbers of the nodes, each before its branches, first branches first."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(self.children(node))

    def apply(self, table: Table, threads: int = 1) -> Array:
        """Number of the leaf of every row of a table under the tree's schema.

        Where gaps go down every branch this is the leaf by the heavier branches.
        """
        leaf = np.empty(len(table), np.int32)
        block = table.matrix
        packed = (self.nodes, self.words, self.tables)
        by_surrogates = len(self.surrogates) > 0
        if block is not None and self._all_real and not by_surrogates:
            X = np.ascontiguousarray(block)
            _native.tree_route_matrix(*packed, X, len(self.schema), leaf, threads)
            return leaf
        columns = self._native_columns(table)
        if by_surrogates:
            ways = (self.surrogates, self.first_surrogate)
            _native.tree_route_surrogates(*packed, *ways, *columns, leaf, threads)
        else:
            _native.tree_route_columns(*packed, *columns, leaf, threads)
        return leaf

    @cached_property
    def _all_real(self) -> bool:
        """Whether every test is a threshold of floats: these have a fast way."""
        return set(self.columns.types) <= {REAL, SINGLE} and int(self.test.max()) <= _REAL

    def _native_columns(self, table: Table) -> tuple[Any, Any, Any, Any]:
        """Arrays, masks of gaps, types and levels of all columns, as the kernels take them."""
        arrays, gaps = column_arrays(table, self.columns)
        return arrays, gaps, self._types_of(arrays), self.columns.levels

    def told(self, table: Table, threads: int = 1) -> Array:
        """What the tree says of every row: class probabilities, or a number."""
        if self.missing != "shared":
            return self.values_of(self.apply(table, threads))
        said, row = self.leaves, self.child
        if not self.leaves.shape[1]:
            said = np.ascontiguousarray(self.nodes[:, :1]).view(np.float64)
            row = np.arange(self.n_nodes, dtype=np.int32)
        out = np.empty((len(table), said.shape[1]))
        _native.tree_mean_ways(
            self.nodes, self.words, self.tables, self.share, self.n_branches,
            *self._native_columns(table), said, np.ascontiguousarray(row), out, threads,
        )  # fmt: skip
        return out if self.leaves.shape[1] else out[:, 0]

    def _types_of(self, arrays: list[Array]) -> list[int]:
        # A column of float32 may come as float64 later: both are compared as float64.
        return [
            (SINGLE if array.dtype == np.float32 else REAL) if kind in (REAL, SINGLE) else kind
            for kind, array in zip(self.columns.types, arrays, strict=True)
        ]

    def values_of(self, leaf: Array) -> Array:
        """What leaves predict: rows of class probabilities, or numbers."""
        found: Array
        if self.leaves.shape[1]:
            found = self.leaves[self.child[leaf]]
        else:
            found = self.nodes[leaf, 0].view(np.float64)
        return found

    def importances(self) -> Array:
        """Share of each column in the weighted decrease of impurity; zeros without a split."""
        inner = ~self.is_leaf
        decrease = (self.weight * self.gain)[inner]
        # Without any split bincount would count whole numbers.
        total = np.zeros(len(self.schema))
        total += np.bincount(self.column[inner], decrease, minlength=len(self.schema))
        return total / total.sum() if total.sum() > 0 else total

    def to_text(self, **options: Any) -> str:
        """The tree as indented lines; see `ceiba.tree.explain.text.tree_text`."""
        from ceiba.tree.explain.text import tree_text

        return tree_text(self, **options)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """The tree as nested dictionaries; see `ceiba.tree.explain.dictionary.tree_dict`."""
        from ceiba.tree.explain.dictionary import tree_dict

        return tree_dict(self, **options)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.init}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Tree:
        """The tree that `to_json` wrote; ValueError where it contradicts itself."""
        names = {entry.name for entry in fields(cls) if entry.init}
        check_record(record, names)
        tree = cls(**record)
        check_tree(tree)
        return tree
