"""The one structure of random forests: the nodes of all trees one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.ensemble.forest.storage import check_record, chosen, packed, shifted, unpacked
from ceiba.tree.grow.encoding import REAL, SINGLE, ColumnTypes, column_arrays
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of a forest as plain arrays, sixteen bytes a node.

    Parameters
    ----------
    nodes : ndarray of uint64 of shape (n_nodes, 2)
        Nodes of all trees, as in `ceiba.tree.model.tree.Tree`; branches are numbered within their
        tree. A leaf of classes holds its class weights, or the first 64 bits of them.
    first : ndarray of int64 of shape (n_trees + 1,)
        Where the nodes of each tree begin, and the end.
    words, tables : ndarray
        Levels of nominal splits that do not fit into a node.
    leaves : ndarray of uint8
        Bits of class weights that do not fit into a leaf, of one leaf after the other.
    keys : ndarray of uint64 of shape (n_trees, 3)
        Of each tree its seed, the rows of its table, and a mark of table, target and draws.
    importances : ndarray of shape (n_trees, n_columns)
        Decrease of impurity by the splits of each column.
    schema : Schema
        The columns.
    n_classes : int
        0 for numbers.
    grown : int
        Trees that were grown so far, dropped ones included: the number of the next.
    weight_unit : ndarray of shape (n_trees,)
        The weight that one stands for in the leaves of classes of each tree.
    steps : ndarray of int64 of shape (n_trees, n_classes) or None
        Leaves of several classes count the weight of each in these steps; None for ones.
    origins : ndarray of uint64 of shape (n_trees, 2) or None
        Of each tree the seed of the forest that it was grown in, and its number there, which tell
        its own seed; None where an older file did not keep them.

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> forest = RandomForestClassifier(10).fit(iris.table, iris.y).forest_
    >>> forest.n_trees, forest.bytes_a_node < 20
    (10, True)
    """

    nodes: Array
    first: Array
    words: Array
    tables: Array
    leaves: Array
    keys: Array
    importances: Array
    schema: Schema
    n_classes: int
    grown: int
    weight_unit: Array
    steps: Array | None = None
    origins: Array | None = None

    def __post_init__(self) -> None:
        for entry in fields(self):
            array = getattr(self, entry.name)
            if isinstance(array, np.ndarray):
                # The kernels walk these without looking twice: nobody may change them.
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy or what comes out of a pickle is checked as a file is, and as unchangeable.
        return Forest.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Forest({self.n_trees} trees, {self.n_nodes} nodes)"

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.first) - 1

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return len(self.nodes)

    @property
    def bytes_a_node(self) -> float:
        """Bytes of what prediction needs, for each node."""
        arrays = (self.nodes, self.first, self.words, self.tables, self.leaves, self.steps)
        return sum(array.nbytes for array in arrays if array is not None) / self.n_nodes

    @cached_property
    def columns(self) -> ColumnTypes:
        """Types and levels of the columns."""
        return ColumnTypes.of(self.schema)

    @cached_property
    def native(self) -> Any:
        """The native view; ValueError where the arrays contradict themselves."""
        return _native.ForestArrays(
            self.nodes, self.first, self.words, self.tables, self.leaves,
            self.n_classes, self.steps, self.columns.types, self.columns.levels,
        )  # fmt: skip

    @property
    def _all_real(self) -> bool:
        return set(self.columns.types) <= {REAL, SINGLE}

    def rows(self, table: Table) -> Any:
        """A table under the forest's schema, as the kernels take it."""
        block = table.matrix
        if block is not None and self._all_real and block.dtype in (np.float64, np.float32):
            return _native.ForestRows(np.ascontiguousarray(block))
        arrays, gaps = column_arrays(table, self.columns)
        types = [
            (SINGLE if array.dtype == np.float32 else REAL) if kind in (REAL, SINGLE) else kind
            for kind, array in zip(self.columns.types, arrays, strict=True)
        ]
        return _native.ForestRows(arrays, gaps, types, self.columns.levels)

    def apply(self, table: Table, threads: int = 1) -> Array:
        """The leaf of every (row, tree), numbered within the tree."""
        leaf = np.empty((len(table), self.n_trees), np.int32)
        _native.forest_apply(self.native, self.rows(table), leaf, threads)
        return leaf

    def told(self, table: Table, threads: int = 1, added: float = 0.0) -> Array:
        """The mean of what the trees say of every row: class shares, or a number.

        ``added`` is added to every class's weight in every leaf.
        """
        out = np.empty((len(table), max(1, self.n_classes)))
        units = added / self.weight_unit
        _native.forest_tell(self.native, self.rows(table), units, out, threads)
        return out if self.n_classes else out[:, 0]

    def tree(self, number: int) -> Tree:
        """One tree, as the viewers of trees take it; see `ceiba.ensemble.forest.tree_view`."""
        from ceiba.ensemble.forest.tree_view import tree_of

        return tree_of(self, number)

    def without(self, trees: Sequence[int]) -> Forest:
        """The forest without some of its trees."""
        asked = np.asarray(list(trees))
        if asked.size and (asked.dtype.kind not in "iu" or asked.ndim != 1):
            raise ValueError(f"trees are dropped by their numbers, 0 to {self.n_trees - 1}")
        outside = asked[(asked < -self.n_trees) | (asked >= self.n_trees)]
        if len(outside):
            raise ValueError(f"there is no tree {outside[0]}: they are 0 to {self.n_trees - 1}")
        kept = np.ones(self.n_trees, bool)
        kept[asked.astype(np.int64)] = False
        if not kept.any():
            raise ValueError("a forest needs a tree: leave at least one")
        return chosen(self, kept)

    def joined(self, *others: Forest) -> Forest:
        """The trees of all forests, one forest after the other."""
        every = (self, *others)
        beside = {
            name: np.cumsum([0, *(len(getattr(f, name)) for f in every)])
            for name in ("words", "tables")
        }
        ends = np.cumsum([0, *(f.n_nodes for f in every)])
        nodes = [
            shifted(f, **{name: int(start[i]) for name, start in beside.items()})
            for i, f in enumerate(every)
        ]
        told = [f.origins for f in every if f.origins is not None]
        first = [f.first[:-1] + ends[i] for i, f in enumerate(every)]
        return Forest(
            nodes=np.concatenate(nodes),
            first=np.concatenate([*first, ends[-1:]]).astype(np.int64),
            **{name: np.concatenate([getattr(f, name) for f in every]) for name in beside},
            leaves=np.concatenate([f.leaves for f in every]),
            keys=np.concatenate([f.keys for f in every]),
            importances=np.concatenate([f.importances for f in every]),
            schema=self.schema,
            n_classes=self.n_classes,
            grown=max(f.grown for f in every),
            weight_unit=np.concatenate([f.weight_unit for f in every]),
            steps=_joined_steps(every),
            origins=np.concatenate(told) if len(told) == len(every) else None,
        )

    def mean_importances(self) -> Array:
        """Mean over the trees of each column's share in the decrease of impurity.

        Trees without a split do not count.
        """
        totals = self.importances.sum(axis=1)
        shares = self.importances[totals > 0] / totals[totals > 0, None]
        if not len(shares):
            return np.zeros(len(self.schema))
        mean = shares.mean(axis=0)
        return np.asarray(mean / mean.sum())

    def decided(self, told: Array) -> Array:
        """Place of the class of the largest share of each row; of equal ones the first."""
        places: Array = told.argmax(axis=1)
        return places

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays.

        Where trees are small, what is kept of each of them is packed: see
        `ceiba.ensemble.forest.storage`.
        """
        return packed(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Forest:
        """The forest that `to_json` wrote; ValueError where it contradicts itself."""
        record = unpacked(record)
        check_record(record, {entry.name for entry in fields(cls)})
        forest = cls(**record)
        _ = forest.native  # checks the nodes
        return forest


def _joined_steps(forests: Sequence[Forest]) -> Array | None:
    if all(forest.steps is None for forest in forests):
        return None
    ones = [np.ones((forest.n_trees, forest.n_classes), np.int64) for forest in forests]
    return np.concatenate(
        [
            one if forest.steps is None else forest.steps
            for forest, one in zip(forests, ones, strict=True)
        ]
    )
