"""The one structure of all tree learners: arrays for prediction, and arrays that describe nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType, NodeTest
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.tree.config import MissingRouting
from ceiba.tree.grow.encoding import ColumnTypes, native_table
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.sklearn_names import LEAF_THRESHOLD, SklearnTreeNames
from ceiba.tree.model.split import (
    INFINITE_THRESHOLD,
    MAX_HALF,
    METHODS,
    THRESHOLD_DTYPES,
    Split,
    Surrogate,
    decode_split,
    decode_surrogates,
)
from ceiba.tree.model.validate import REASONS, check_tree

# Fields whose name in model files differs.
_STORED_NAMES = {"node_values": "value"}


@dataclass(frozen=True, eq=False)
class Tree(SklearnTreeNames, Record):
    """A decision tree as plain arrays.

    Prediction needs ``nodes`` (16 bytes each), ``words``, ``tables`` and ``leaves``; leaves with
    equal class weights share a row of ``leaves``. The other arrays describe the nodes and have
    one entry per node. The branches of a node have consecutive numbers, greater than its own.

    Parameters
    ----------
    nodes : ndarray of uint64 of shape (n_nodes, 2)
        Packed nodes; see `ceiba.tree.model.node_dtype`.
    words, tables : ndarray
        Categories of nominal splits, and thresholds of intervals, that do not fit into a node.
    leaves : ndarray of shape (n_distinct_leaves, n_classes)
        Class probabilities that leaves predict. Empty for regression.
    schema : Schema
        The columns.
    n_rows, weight : ndarray
        Number of training rows of each node, and their weight.
    impurity, gain : ndarray
        Impurity of each node, and its decrease by the split (0 in leaves).
    node_values : ndarray of shape (n_nodes, n_classes) or (n_nodes, 1)
        Class weights, or mean or median, of each node; "value" in model files.
    reason, method : ndarray of uint8
        Why a node is a leaf, and which search found its split: see ``reasons`` and ``methods``.
    ties : ndarray of int32
        Number of other candidates with exactly the score of the split.
    depth : ndarray of int32
    runner_up_column, runner_up_gain : ndarray
        The best split of any other column; -1 if there is none.
    missing : {"branch", "fractional", "surrogate"}
        Where rows go that have no value in the tested column: to the node's branch for missing
        values; down every branch with the branch's fraction of the node's weight; or where the
        first surrogate split with a known value sends them, else to the branch for missing
        values.
    costs : ndarray of shape (n_classes, n_classes) or (0, 0)
        Cost of predicting a class (column) for a row of another (row); empty if all errors cost
        the same.
    surrogates, first_surrogate, agreement, adjusted_agreement : ndarray
        Surrogate splits, the index of the first one of each node, and their agreement with the
        node's own split: see ``surrogates_of``.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y).tree_
    >>> tree.n_nodes, tree.n_leaves, tree.reasons[1]
    (5, 3, 'pure')
    """

    nodes: Annotated[Array, ArrayOf("uint64", "n_nodes", 2)]
    words: Annotated[Array, ArrayOf("uint64", "n_words")]
    tables: Annotated[Array, ArrayOf("int32", "n_entries")]
    leaves: Annotated[Array, ArrayOf("float64", "n_distinct_leaves", "n_classes")]
    schema: Schema
    n_rows: Annotated[Array, ArrayOf("int64", "n_nodes")]
    weight: Annotated[Array, ArrayOf("float64", "n_nodes")]
    impurity: Annotated[Array, ArrayOf("float64", "n_nodes")]
    gain: Annotated[Array, ArrayOf("float64", "n_nodes")]
    node_values: Annotated[Array, ArrayOf("float64", "n_nodes", "n_values")]
    reason: Annotated[Array, ArrayOf("uint8", "n_nodes")]
    method: Annotated[Array, ArrayOf("uint8", "n_nodes")]
    ties: Annotated[Array, ArrayOf("int32", "n_nodes")]
    depth: Annotated[Array, ArrayOf("int32", "n_nodes")]
    runner_up_column: Annotated[Array, ArrayOf("int32", "n_nodes")]
    runner_up_gain: Annotated[Array, ArrayOf("float64", "n_nodes")]
    missing: MissingRouting = "branch"
    costs: Annotated[Array, ArrayOf("float64", "n_costs", "n_costs")] = field(
        default_factory=lambda: np.empty((0, 0))
    )
    surrogates: Annotated[Array, ArrayOf("uint64", "n_surrogates", 2)] = field(
        default_factory=lambda: np.empty((0, 2), np.uint64)
    )
    first_surrogate: Annotated[Array, ArrayOf("int64", "n_first")] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )
    agreement: Annotated[Array, ArrayOf("float64", "n_surrogates")] = field(
        default_factory=lambda: np.empty(0)
    )
    adjusted_agreement: Annotated[Array, ArrayOf("float64", "n_surrogates")] = field(
        default_factory=lambda: np.empty(0)
    )
    columns: ColumnTypes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", ColumnTypes.of(self.schema))
        for entry in fields(self):
            array = getattr(self, entry.name)
            if isinstance(array, np.ndarray):
                if not array.flags.c_contiguous:
                    array = np.ascontiguousarray(array)
                    object.__setattr__(self, entry.name, array)
                # The kernels read these without bounds checks: they must not change.
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy or an unpickled tree is checked like one from a file, and is read-only too.
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Tree({self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.max_depth})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def is_classification(self) -> bool:
        """Whether the tree predicts classes rather than numbers."""
        return bool(self.leaves.shape[1])

    @property
    def has_class_weights(self) -> bool:
        """Whether the values of the nodes are class weights rather than means."""
        return self.is_classification

    @property
    def max_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        return int(self.depth.max())

    @cached_property
    def child(self) -> Array:
        """First branch of each node; of a leaf with classes its row in ``leaves``."""
        return NodeView(self.nodes).child

    @cached_property
    def test(self) -> Array:
        """`NodeTest` of each node: 0 in a leaf."""
        return NodeView(self.nodes).kind

    @cached_property
    def is_leaf(self) -> Array:
        """Mask of the leaves."""
        return np.asarray(self.test == NodeTest.LEAF)

    @cached_property
    def column(self) -> Array:
        """Tested column of each node; -1 in leaves."""
        return np.where(self.is_leaf, -1, NodeView(self.nodes).column.astype(np.int32))

    @cached_property
    def threshold(self) -> Array:
        """Threshold of each node as a float (category code if ordinal); NaN if it has none.

        Of an integer column a multiple of one half, rounded only if larger than 2**52.
        Infinity where a split separates known values from missing ones; -2 in leaves, as in
        scikit-learn.
        """
        word = np.ascontiguousarray(NodeView(self.nodes).word)
        threshold = np.full(self.n_nodes, np.nan)
        for test, dtype in THRESHOLD_DTYPES.items():
            here = self.test == test
            threshold[here] = word[here].view(dtype)
            if test in INFINITE_THRESHOLD:
                threshold[here & (word == INFINITE_THRESHOLD[test])] = np.inf
        temporal = np.array([column.temporal for column in self.schema])
        half = NodeView(self.nodes).has_half & ~temporal[self.column]
        threshold[half & (threshold >= -MAX_HALF) & (threshold < MAX_HALF)] += 0.5
        threshold[self.is_leaf] = LEAF_THRESHOLD
        return threshold

    @property
    def reasons(self) -> list[str]:
        """Reason why each node is a leaf; "split" for inner nodes."""
        return [REASONS[code] for code in self.reason]

    @property
    def methods(self) -> list[str]:
        """Search that found each split; "none" for leaves."""
        return [METHODS[code] for code in self.method]

    @cached_property
    def inner_nodes(self) -> Array:
        """Numbers of the inner nodes, in the order of their branches' numbers."""
        inner = np.flatnonzero(~self.is_leaf)
        return inner[np.argsort(self.child[inner], kind="stable")]

    @cached_property
    def n_branches(self) -> Array:
        """Number of branches of each node; 0 for a leaf."""
        first = self.child[self.inner_nodes]
        n_branches = np.zeros(self.n_nodes, np.int32)
        n_branches[self.inner_nodes] = np.append(first[1:], self.n_nodes) - first
        return n_branches

    @cached_property
    def parent(self) -> Array:
        """Parent of each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        parent[1:] = np.repeat(self.inner_nodes, self.n_branches[self.inner_nodes])
        return parent

    @cached_property
    def branch_fraction(self) -> Array:
        """Weight of each node as a fraction of the weight of all branches of its parent."""
        total = np.zeros(self.n_nodes)
        np.add.at(total, self.parent[1:], self.weight[1:])
        fraction = np.ones(self.n_nodes)
        fraction[1:] = self.weight[1:] / total[self.parent[1:]]
        return fraction

    def children(self, node: int) -> list[int]:
        """Return the numbers of a node's branches."""
        first = int(self.child[node])
        return list(range(first, first + int(self.n_branches[node])))

    def missing_child(self, node: int) -> int:
        """Return the branch of a row without a value in the tested column; -1 for a leaf."""
        if self.is_leaf[node]:
            return -1
        return int(self.child[node]) + self.split(node).missing_branch

    def split(self, node: int) -> Split:
        """Return the split of an inner node, in the names and values of its column."""
        return decode_split(self, node)

    def surrogates_of(self, node: int) -> list[Surrogate]:
        """Return the surrogate splits of a node, in descending order of agreement."""
        return decode_surrogates(self, node)

    def walk(self) -> Iterator[int]:
        """Yield the numbers of the nodes in depth-first order, parents before branches."""
        pending = [0]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(self.children(node))

    def apply(self, table: Any, threads: int = 1) -> Array:
        """Return the leaf of every row of a table, array or frame, as int32.

        With ``missing="fractional"`` a missing value follows the heaviest branch.
        """
        table = self._to_table(table)
        leaf = np.empty(len(table), np.int32)
        block = table.matrix
        if block is not None and self._all_real and not len(self.surrogates):
            _native.tree_apply(self.native, np.ascontiguousarray(block), leaf, threads)
        else:
            _native.tree_apply(self.native, native_table(table, self.columns), leaf, threads)
        return leaf

    def _to_table(self, X: Any) -> Table:
        """Return rows under the tree's schema; a table is expected to have it."""
        return X if isinstance(X, Table) else Table.of(X, self.schema, expected_by="this tree")

    @cached_property
    def _all_real(self) -> bool:
        """Whether every test is a threshold of floats, which has a faster kernel."""
        floats = {ColumnType.FLOAT64, ColumnType.FLOAT32}
        return set(self.columns.types) <= floats and int(self.test.max()) <= NodeTest.REAL

    @cached_property
    def native(self) -> _native.TreeArrays:
        """The native view of the arrays for prediction."""
        arrays = (self.nodes, self.words, self.tables, self.columns.native)
        if not len(self.surrogates):
            return _native.TreeArrays(*arrays)
        return _native.TreeArrays(*arrays, self.surrogates, self.first_surrogate)

    @cached_property
    def native_fractions(self) -> _native.BranchFractions:
        """The native view of ``branch_fraction``."""
        return _native.BranchFractions(self.branch_fraction, self.n_branches)

    def predict(self, table: Any, threads: int = 1) -> Array:
        """Return the class probabilities, or the predicted number, of every row."""
        table = self._to_table(table)
        if self.missing != "fractional":
            return self.leaf_values(self.apply(table, threads))
        values, row = self.leaves, self.child
        if not self.is_classification:
            values = np.ascontiguousarray(self.nodes[:, :1]).view(np.float64)
            row = np.arange(self.n_nodes, dtype=np.int32)
        out = np.empty((len(table), values.shape[1]))
        _native.tree_mean_over_leaves(
            self.native, self.native_fractions, native_table(table, self.columns), values,
            np.ascontiguousarray(row), out, threads,
        )  # fmt: skip
        return out if self.is_classification else out[:, 0]

    def predict_class(self, table: Any, threads: int = 1) -> Array:
        """Return the index of the predicted class of every row."""
        if self.missing == "fractional":
            return self.decide(self.predict(table, threads))
        # A row has one leaf, whose class is cached: no probabilities are written out.
        return np.asarray(self.leaf_class[self.child[self.apply(table, threads)]])

    def leaf_values(self, leaf: Array) -> Array:
        """Return the predictions of leaves: rows of class probabilities, or numbers."""
        if self.is_classification:
            return np.asarray(self.leaves[self.child[leaf]])
        return np.asarray(NodeView(self.nodes).value[leaf])

    @property
    def prediction_values(self) -> Array:
        """Class weights or mean of each node; those of its parent for an empty leaf."""
        empty = np.flatnonzero((self.weight == 0) & (self.parent >= 0))
        if not len(empty):
            return self.node_values
        value: Array = self.node_values.copy()
        value[empty] = value[self.parent[empty]]
        return value

    @property
    def node_classes(self) -> Array:
        """Index of the class that every node predicts as a leaf."""
        return self.decide(self.prediction_values)

    @cached_property
    def leaf_class(self) -> Array:
        """Index of the predicted class of each row of ``leaves``; see `decide`."""
        return self.decide(self.leaves)

    def decide(self, probabilities: Array) -> Array:
        """Return the most probable class per row, or the one of minimum expected cost.

        Ties go to the first class; rounding may decide between equal expected costs.
        """
        if len(self.costs):
            return np.asarray((probabilities @ self.costs).argmin(axis=1))
        return np.asarray(probabilities.argmax(axis=1))

    def with_leaves(self, leaves: Array) -> Tree:
        """Return the tree with other predictions in the rows of ``leaves``.

        Equal rows are merged.
        """
        # Rows are compared as bytes, in the order of the leaves: nothing is sorted.
        index: dict[bytes, int] = {}
        row = [index.setdefault(leaf.tobytes(), len(index)) for leaf in leaves]
        if len(index) == len(leaves):
            return replace(self, leaves=leaves)
        nodes = self.nodes.copy()
        child = NodeView(nodes).child
        child[self.is_leaf] = np.array(row, np.int32)[child[self.is_leaf]]
        distinct = np.frombuffer(b"".join(index), leaves.dtype).reshape(-1, leaves.shape[1])
        return replace(self, nodes=nodes, leaves=distinct)

    def importances(self) -> Array:
        """Return each column's fraction of the weighted impurity decrease.

        All are zero in a tree without a split.
        """
        inner = ~self.is_leaf
        decrease = (self.weight * self.gain)[inner]
        # bincount returns integers if there is no split; the sum is of floats.
        total = np.zeros(len(self.schema))
        total += np.bincount(self.column[inner], decrease, minlength=len(self.schema))
        return total / total.sum() if total.sum() > 0 else total

    def to_text(self, **options: Any) -> str:
        """Return the tree as indented lines; see `ceiba.tree.explain.text.tree_text`."""
        from ceiba.tree.explain.text import tree_text

        return tree_text(self, **options)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return the tree as nested dictionaries; see `ceiba.tree.explain.dictionary.tree_dict`."""
        from ceiba.tree.explain.dictionary import tree_dict

        return tree_dict(self, **options)

    def to_json(self) -> dict[str, Any]:
        """Return the fields for a model file, under the names of its format."""
        values = super().to_json()
        return {_STORED_NAMES.get(name, name): value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the tree that `to_json` wrote; raise ValueError if it is damaged."""
        if isinstance(values, dict):
            fields_of = {stored: name for name, stored in _STORED_NAMES.items()}
            values = {fields_of.get(name, name): value for name, value in values.items()}
        return super().from_json(values)

    def check(self) -> None:
        """Raise ValueError for arrays that contradict each other."""
        check_tree(self)
