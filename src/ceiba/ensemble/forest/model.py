"""The trees of a forest as plain arrays, with the nodes of all trees in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Between, Record
from ceiba.base.record import check_values
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.ensemble.common.sampling import tree_seeds
from ceiba.ensemble.forest.storage import from_stored, select_trees, to_stored
from ceiba.tree.grow.encoding import ColumnTypes, native_table
from ceiba.tree.model.node_dtype import join_trees
from ceiba.tree.model.tree import Tree

if TYPE_CHECKING:
    from ceiba.tree.explain.shap import TreeSum


@dataclass(frozen=True, eq=False)
class Forest(Record):
    """The trees of a forest as plain arrays, sixteen bytes per node.

    Parameters
    ----------
    nodes : ndarray of uint64 of shape (n_nodes, 2)
        Nodes of all trees, as in `ceiba.tree.model.tree.Tree`; branches are numbered within their
        tree. A leaf of a classifier holds its class weights, or their first 64 bits.
    tree_offsets : ndarray of int64 of shape (n_trees + 1,)
        Index of the first node of each tree, and the number of nodes.
    words, tables : ndarray
        Categories of nominal splits that do not fit into a node.
    leaves : ndarray of uint8
        Bits of class weights that do not fit into a leaf, leaf by leaf.
    origins : ndarray of uint64 of shape (n_trees, 2)
        Seed of the forest that each tree was grown in, and its number there.
    training_keys : ndarray of uint64 of shape (n_trees, 2)
        Number of training rows of each tree, and a fingerprint of table, targets and sampler.
    importances : ndarray of shape (n_trees, n_columns)
        Decrease of impurity by the splits of each column.
    schema : Schema
    n_classes : int
        0 for regression.
    n_grown : int
        Trees grown so far, dropped ones included: the number of the next tree.
    weight_unit : ndarray of shape (n_trees,)
        Weight of one unit in the leaves of each tree of a classifier.
    class_units : ndarray of int64 of shape (n_trees, n_classes) or None
        Units in which leaves of several classes count the weight of each; None for 1.

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> forest = RandomForestClassifier(10).fit(iris.table, iris.y).forest_
    >>> forest.n_trees, forest.bytes_per_node < 20
    (10, True)
    """

    nodes: Annotated[Array, ArrayOf("uint64", "n_nodes", 2)]
    tree_offsets: Annotated[Array, ArrayOf("int64", "n_offsets")]
    words: Annotated[Array, ArrayOf("uint64", "n_words")]
    tables: Annotated[Array, ArrayOf("int32", "n_entries")]
    leaves: Annotated[Array, ArrayOf("uint8", "n_bytes")]
    origins: Annotated[Array, ArrayOf("uint64", "n_trees", 2)]
    training_keys: Annotated[Array, ArrayOf("uint64", "n_trees", 2)]
    importances: Annotated[Array, ArrayOf("float64", "n_trees", "n_columns")]
    schema: Schema
    n_classes: Annotated[int, Between(0, 65_535)]
    n_grown: Annotated[int, AtLeast(0)]
    weight_unit: Annotated[Array, ArrayOf("float64", "n_trees")]
    class_units: Annotated[Array | None, ArrayOf("int64", "n_trees", "n_classes")] = None

    def __post_init__(self) -> None:
        for entry in fields(self):
            array = getattr(self, entry.name)
            if isinstance(array, np.ndarray):
                # The kernels do not check these arrays again, so nothing may change them.
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles are checked like files, and are read-only.
        return type(self).from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"Forest({self.n_trees} trees, {self.n_nodes} nodes)"

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offsets) - 1

    @property
    def n_outputs(self) -> int:
        """Number of outputs: the columns of y."""
        return 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.nodes)

    @property
    def bytes_per_node(self) -> float:
        """Bytes that prediction needs, per node."""
        arrays = (
            self.nodes, self.tree_offsets, self.words, self.tables, self.leaves, self.class_units
        )  # fmt: skip
        return sum(array.nbytes for array in arrays if array is not None) / self.n_nodes

    @cached_property
    def tree_seeds(self) -> Array:
        """Seed of each tree."""
        return tree_seeds(self.origins)

    @cached_property
    def columns(self) -> ColumnTypes:
        """Types and numbers of categories of the columns."""
        return ColumnTypes.of(self.schema)

    @cached_property
    def native(self) -> _native.ForestArrays:
        """The native counterpart; its constructor raises ValueError for invalid arrays."""
        return _native.ForestArrays(
            self.nodes, self.tree_offsets, self.words, self.tables, self.leaves,
            self.n_classes, self.class_units, self.columns.native,
        )  # fmt: skip

    @cached_property
    def tree_sums(self) -> dict[float, TreeSum]:
        """The sum of trees that was explained last, by ``leaf_smoothing``; see `forest_sum`.

        It is not a field: copies, pickles, files and forests made from this one have none.
        """
        return {}

    def native_rows(self, table: Table) -> _native.ForestRows:
        """Return a table with the forest's schema in the form for the kernels."""
        return forest_rows(table, self.columns)

    def apply(self, table: Table, threads: int = 1) -> Array:
        """Return the leaf of each row in each tree, numbered within the tree."""
        leaf = np.empty((len(table), self.n_trees), np.int32)
        _native.forest_apply(self.native, self.native_rows(table), leaf, threads)
        return leaf

    def predict(self, table: Table, threads: int = 1, leaf_smoothing: float = 0.0) -> Array:
        """Return the mean of the trees' predictions: class probabilities, or a number.

        ``leaf_smoothing`` is added to the weight of each class in each leaf.
        """
        out = np.empty((len(table), max(1, self.n_classes)))
        smoothing = leaf_smoothing / self.weight_unit
        _native.forest_predict(self.native, self.native_rows(table), smoothing, out, threads)
        return out if self.n_classes else out[:, 0]

    def predict_class(self, table: Table, threads: int = 1, leaf_smoothing: float = 0.0) -> Array:
        """Return the index of each row's most probable class; ties go to the first."""
        return np.asarray(self.predict(table, threads, leaf_smoothing).argmax(axis=1))

    def tree(self, number: int) -> Tree:
        """Return one tree; see `ceiba.ensemble.forest.tree_view`."""
        from ceiba.ensemble.forest.tree_view import tree_of

        return tree_of(self, number)

    def drop_trees(self, trees: Iterable[int]) -> Self:
        """Return the forest without some of its trees."""
        dropped = np.asarray(list(trees))
        if dropped.size and (dropped.dtype.kind not in "iu" or dropped.ndim != 1):
            raise ValueError(
                f"trees must be a sequence of integers in [0, {self.n_trees - 1}], got an array of "
                f"{dropped.dtype} and shape {dropped.shape}."
            )
        outside = dropped[(dropped < -self.n_trees) | (dropped >= self.n_trees)]
        if len(outside):
            raise ValueError(f"trees must be in [0, {self.n_trees - 1}], got {outside[0]}.")
        is_kept = np.ones(self.n_trees, bool)
        is_kept[dropped.astype(np.int64)] = False
        if not is_kept.any():
            raise ValueError(f"trees must not contain all {self.n_trees} trees of the forest.")
        return self.select_trees(is_kept)

    def select_trees(self, is_kept: Array) -> Self:
        """Return the forest of the trees that are True in a mask."""
        return select_trees(self, is_kept)

    def merge_forests(self, *others: Forest) -> Forest:
        """Return the trees of all forests, one forest after the other."""
        forests = (self, *others)
        joined = join_trees(
            [f.nodes for f in forests], [f.tree_offsets for f in forests],
            [f.words for f in forests], [f.tables for f in forests],
        )  # fmt: skip
        names = ("leaves", "origins", "training_keys", "importances", "weight_unit")
        return Forest(
            **joined,
            **{name: np.concatenate([getattr(f, name) for f in forests]) for name in names},
            schema=self.schema,
            n_classes=self.n_classes,
            n_grown=max(f.n_grown for f in forests),
            class_units=_merged_units(forests),
        )

    def mean_importances(self) -> Array:
        """Return the mean of the trees' normalized importances.

        Trees without splits are left out. The importances sum to 1 unless no tree has a split.
        """
        totals = self.importances.sum(axis=1)
        normalized = self.importances[totals > 0] / totals[totals > 0, None]
        if not len(normalized):
            return np.zeros(len(self.schema))
        mean = normalized.mean(axis=0)
        return np.asarray(mean / mean.sum())

    def to_json(self) -> dict[str, Any]:
        """Return the values for a model file: see `ceiba.ensemble.forest.storage`."""
        return to_stored(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the forest that `to_json` wrote; raise ValueError if it is damaged."""
        return super().from_json(from_stored(values))

    def check(self) -> None:
        """Raise ValueError if the arrays contradict each other."""
        if self.n_trees < 1 or len(self.origins) != self.n_trees:
            raise ValueError(
                f"tree_offsets must have length {len(self.origins) + 1}, at least 2, got "
                f"{len(self.tree_offsets)}."
            )
        if self.importances.shape[1] != len(self.schema):
            raise ValueError(
                f"importances must have shape {(self.n_trees, len(self.schema))}, got "
                f"{self.importances.shape}."
            )
        valid = np.isfinite(self.importances) & (self.importances >= 0)
        check_values("importances", self.importances, valid, "finite and not negative")
        valid = (self.weight_unit >= 1e-300) & (self.weight_unit <= 1e300)
        check_values("weight_unit", self.weight_unit, valid, "positive and finite")
        _ = self.native  # checks the nodes


def forest_rows(table: Table, columns: ColumnTypes) -> _native.ForestRows:
    """Return a dense table in the form for the kernels of forests, in the types of a model."""
    block = table.matrix
    is_real = set(columns.types) <= {ColumnType.FLOAT64, ColumnType.FLOAT32}
    if block is not None and is_real and block.dtype in (np.float64, np.float32):
        return _native.ForestRows(np.ascontiguousarray(block))
    return _native.ForestRows(native_table(table, columns))


def _merged_units(forests: Sequence[Forest]) -> Array | None:
    if all(forest.class_units is None for forest in forests):
        return None
    units = [
        np.ones((f.n_trees, f.n_classes), np.int64) if f.class_units is None else f.class_units
        for f in forests
    ]
    return np.concatenate(units)
