"""Store a forest in a model file, and select trees of forests.

The nodes are stored as they are in memory, so that they can be memory-mapped. The values per tree
are stored compactly, because they matter in forests of small trees:

    trees        number of nodes, index into ``fits`` and number within its fit of each tree, in the
                 smallest unsigned type
    fits         seed, number of rows and fingerprint of the data of each fit that grew trees, and
                 the bits of its weight unit
    columns      bits of the columns with a positive importance, tree by tree
    importances  these importances

The seeds of the trees follow from ``fits`` and their numbers.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import ArrayOf
from ceiba.base.value_types import format_value
from ceiba.data.schema import Schema
from ceiba.tree.model.node_dtype import NodeView

if TYPE_CHECKING:
    from ceiba.ensemble.forest.model import Forest

_Forest = TypeVar("_Forest", bound="Forest")
_PER_TREE = ("tree_offsets", "origins", "training_keys", "weight_unit", "importances")
_STORED = {
    "trees": ArrayOf("u", "n_trees", 3), "fits": ArrayOf("uint64", "n_fits", 4),
    "columns": ArrayOf("uint8", "n_trees", "n_bytes"),
    "importances": ArrayOf("float64", "n_importances"),
}  # fmt: skip
# Arrays that nodes refer to; a file does not contain those that are empty.
_NODE_ARRAYS = {"words": np.uint64, "tables": np.int32, "leaves": np.uint8}


def to_stored(forest: Forest) -> dict[str, Any]:
    """Return the values of a forest for a model file."""
    names = [entry.name for entry in fields(forest) if entry.name not in _PER_TREE]
    values = {name: getattr(forest, name) for name in names}
    stored = {name: value for name, value in values.items() if not _is_empty(name, value)}
    shared = np.column_stack(
        [forest.origins[:, 0], forest.training_keys, forest.weight_unit.view(np.uint64)]
    )
    fits, fit = np.unique(shared, axis=0, return_inverse=True)
    trees = np.column_stack(
        [np.diff(forest.tree_offsets), fit.reshape(-1), forest.origins[:, 1].astype(np.int64)]
    )
    positive = forest.importances != 0
    return {
        **stored,
        "trees": trees.astype(np.min_scalar_type(int(trees.max()))),
        "fits": fits,
        "columns": np.packbits(positive, axis=1),
        "importances": forest.importances[positive],
    }


def from_stored(stored: Any) -> dict[str, Any]:
    """Return the fields of a forest; raise ValueError if stored values are damaged."""
    required = {*_STORED, "schema"}
    derived = set(_PER_TREE) - set(_STORED)
    if not isinstance(stored, dict) or not required <= stored.keys() or derived & stored.keys():
        raise ValueError(
            f"Forest must have the fields {', '.join(sorted(required))}, got "
            f"{', '.join(map(str, stored)) if isinstance(stored, dict) else format_value(stored)}."
        )
    if not isinstance(stored["schema"], Schema):
        raise ValueError(f"schema must be a Schema, got {type(stored['schema']).__name__}.")
    values: dict[str, Any] = {name: np.empty(0, dtype) for name, dtype in _NODE_ARRAYS.items()}
    values["class_units"] = None
    for name, value in stored.items():
        if name not in _STORED:
            # The kernels need arrays in C order; those of a mapped file are not copied.
            values[name] = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value
    sizes: dict[str, int] = {}
    for name, declared in _STORED.items():
        declared.check(name, stored[name], sizes)
    trees, fits = stored["trees"], stored["fits"]
    if not len(trees) or trees[:, 1].max() >= len(fits):
        found = format_value(trees[:, 1].tolist())
        raise ValueError(f"trees must be indices into fits, below {len(fits)}, got {found}.")
    # Summed as Python integers, which cannot overflow.
    if sum(trees[:, 0].tolist()) >= 2**62:
        found = format_value(trees[:, 0].tolist())
        raise ValueError(f"trees must be numbers of nodes below 2**62 in all, got {found}.")
    seed, n_rows, fingerprint, unit = fits[trees[:, 1].astype(np.int64)].T
    n_nodes = trees[:, 0].astype(np.int64)
    return {
        **values,
        "tree_offsets": np.concatenate([[0], np.cumsum(n_nodes)]),
        "origins": np.column_stack([seed, trees[:, 2].astype(np.uint64)]),
        "training_keys": np.column_stack([n_rows, fingerprint]),
        "weight_unit": np.ascontiguousarray(unit).view(np.float64),
        "importances": _unpack_importances(stored, len(values["schema"])),
    }


def _is_empty(name: str, value: Any) -> bool:
    return (name == "class_units" and value is None) or (name in _NODE_ARRAYS and not len(value))


def _unpack_importances(stored: dict[str, Any], n_columns: int) -> Array:
    columns, values = stored["columns"], stored["importances"]
    if columns.shape[1] != (n_columns + 7) // 8:
        raise ValueError(
            f"columns must have a bit for each of the {n_columns} columns, got {columns.shape[1]} "
            "bytes."
        )
    positive = np.unpackbits(columns, axis=1, count=n_columns).astype(bool)
    if np.count_nonzero(positive) != len(values):
        raise ValueError(
            f"importances must have {np.count_nonzero(positive)} values, one for each bit of "
            f"columns, got {len(values)}."
        )
    importances = np.zeros(positive.shape)
    importances[positive] = values
    return importances


class _References(NamedTuple):
    """Nodes that refer to entries of an array: index, first entry and length."""

    nodes: Array
    first: Array
    length: Array


def select_trees(forest: _Forest, kept: Array) -> _Forest:
    """Return the forest of the trees that are True in ``kept``."""
    n_nodes = np.diff(forest.tree_offsets)
    nodes = forest.nodes[np.repeat(kept, n_nodes)]
    n_nodes = n_nodes[kept]
    arrays = {"leaves": forest.leaves[np.repeat(kept, np.diff(forest.native.first_leaf))]}
    for name, references in _references(forest, nodes).items():
        tree = np.repeat(np.arange(len(n_nodes)), n_nodes)[references.nodes]
        taken, shift = _entries_of_trees(references, tree, len(n_nodes))
        arrays[name] = getattr(forest, name)[taken]
        # Unsigned integers wrap around, so that a shift may be negative.
        nodes[references.nodes, 0] += shift[tree].astype(np.uint64)
    return replace(
        forest, nodes=nodes,
        tree_offsets=np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64),
        origins=forest.origins[kept], training_keys=forest.training_keys[kept],
        importances=forest.importances[kept], weight_unit=forest.weight_unit[kept],
        class_units=None if forest.class_units is None else forest.class_units[kept], **arrays,
    )  # fmt: skip


def _references(forest: Forest, nodes: Array) -> dict[str, _References]:
    """Find the nodes that refer to ``words`` and ``tables``."""
    view, found = NodeView(nodes), {}
    n_categories = np.array(forest.columns.n_categories, np.int64)
    for name, test in (("words", NodeTest.WORDS), ("tables", NodeTest.TABLE)):
        own = np.flatnonzero(view.kind == test)
        n = n_categories[view.column[own]]
        length = (n + 63) // 64 if name == "words" else n + 1
        found[name] = _References(own, nodes[own, 0].astype(np.int64), length)
    return found


def _entries_of_trees(references: _References, tree: Array, n_trees: int) -> tuple[Array, Array]:
    """Return the indices of the entries that trees refer to, and each tree's shift."""
    first = np.full(n_trees, np.iinfo(np.int64).max)
    np.minimum.at(first, tree, references.first)
    end = np.zeros(n_trees, np.int64)
    np.maximum.at(end, tree, references.first + references.length)
    length = np.maximum(end - first, 0)
    shift = np.where(length > 0, np.cumsum(length) - length - first, 0)
    taken = np.arange(length.sum()) - np.repeat(shift, length)
    return taken, shift
