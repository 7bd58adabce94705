"""A forest in a file: as it is where trees are large, and packed where they are small.

Beside its nodes a forest keeps some numbers of each tree and of each of its columns. A tree of
full depth on many rows has thousands of nodes, and they do not count; they then stand in the file
as in memory, to be mapped. Where they would take more than a byte a node,

    sizes    nodes of each tree, in the smallest type that holds them
    lots     runs of trees that were grown together: seed and number of the first, trees, rows,
             mark and unit; the trees' own seeds follow from these
    dropped  how many trees of its lot each tree has lost since the one before it, if any has
    worth    importances of those columns that each tree tests, tree by tree

stand for ``first``, ``keys``, ``weight_unit``, ``origins`` and ``importances``, and arrays without
entries are left out.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.ensemble.common.sampling import tree_seeds

if TYPE_CHECKING:
    from ceiba.ensemble.forest.model import Forest

_ARRAYS: dict[str, tuple[Any, int]] = {
    "nodes": (np.uint64, 2), "first": (np.int64, 1), "words": (np.uint64, 1),
    "tables": (np.int32, 1), "leaves": (np.uint8, 1), "keys": (np.uint64, 2),
    "importances": (np.float64, 2), "weight_unit": (np.float64, 1),
}  # fmt: skip
_MOST_CLASSES = 65_535


def check_record(record: dict[str, Any], names: set[str]) -> None:
    """Names, types and lengths; what the nodes say is checked natively."""
    if set(record) != names or not isinstance(record["schema"], Schema):
        raise ValueError("these are not the arrays of a forest")
    for name, (dtype, ndim) in _ARRAYS.items():
        array = record[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
            raise ValueError(f"{name} must be an array of {np.dtype(dtype)} in {ndim} dimensions")
        if not array.flags.c_contiguous:
            record[name] = np.ascontiguousarray(array)
    trees = len(record["first"]) - 1
    if trees < 1:
        raise ValueError("a forest has at least one tree")
    if record["keys"].shape != (trees, 3):
        raise ValueError("keys must be three of each tree")
    _check_origins(record["origins"], record["keys"])
    record["steps"] = _checked_steps(record["steps"])
    if record["importances"].shape != (trees, len(record["schema"])):
        raise ValueError("importances must be told of every tree and column")
    for name in ("n_classes", "grown"):
        if type(record[name]) is not int or record[name] < 0:
            raise ValueError(f"{name} must be a count")
    unit = record["weight_unit"]
    if len(unit) != trees or not ((unit >= 1e-300) & (unit <= 1e300)).all():
        raise ValueError("weight_unit must be a positive number of each tree")
    if not (np.isfinite(record["importances"]) & (record["importances"] >= 0)).all():
        raise ValueError("importances must be numbers of 0 or more")
    if record["n_classes"] > _MOST_CLASSES:
        raise ValueError("there are too many classes")


def _checked_steps(steps: Any) -> Array | None:
    """Their shape and numbers are checked with the leaves."""
    if steps is None:
        return None
    if not isinstance(steps, np.ndarray) or steps.dtype != np.int64 or steps.ndim != 2:
        raise ValueError("steps must be an array of int64 in 2 dimensions")
    return np.ascontiguousarray(steps)


def _check_origins(origins: Any, keys: Array) -> None:
    """Seeds of trees must be those that their origins tell."""
    if origins is None:
        return
    if not isinstance(origins, np.ndarray) or origins.dtype != np.uint64:
        raise ValueError("origins must be an array of uint64")
    if origins.shape != (len(keys), 2) or (tree_seeds(origins) != keys[:, 0]).any():
        raise ValueError("origins must tell the seed of each tree")


LEAF, WORDS, TABLE = 0, 6, 7
_NOWHERE = np.iinfo(np.int64).max


class Places(NamedTuple):
    """Nodes that point into an array beside them, where to, and how many entries are theirs."""

    nodes: Array
    begin: Array
    length: Array


def chosen(forest: Forest, kept: Array) -> Forest:
    """The forest of those trees that are True in ``kept``, in their order."""
    sizes = np.diff(forest.first)
    nodes = forest.nodes[np.repeat(kept, sizes)]
    sizes = sizes[kept]
    beside = {"leaves": forest.leaves[np.repeat(kept, np.diff(forest.native.first_leaf))]}
    for name, places in pointing(forest, nodes).items():
        tree = np.repeat(np.arange(len(sizes)), sizes)[places.nodes]
        taken, shift = spans(places, tree, len(sizes))
        beside[name] = getattr(forest, name)[taken]
        # Unsigned numbers wrap around, so that places may move back.
        nodes[places.nodes, 0] += shift[tree].astype(np.uint64)
    return replace(
        forest, nodes=nodes, first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        keys=forest.keys[kept], importances=forest.importances[kept],
        weight_unit=forest.weight_unit[kept],
        steps=None if forest.steps is None else forest.steps[kept],
        origins=None if forest.origins is None else forest.origins[kept], **beside,
    )  # fmt: skip


def shifted(forest: Forest, **by: int) -> Array:
    """Nodes whose places in the arrays named are moved on."""
    if not any(by.values()):
        return forest.nodes
    nodes = forest.nodes.copy()
    for name, places in pointing(forest, nodes).items():
        nodes[places.nodes, 0] += np.uint64(by[name])
    return nodes


def pointing(forest: Forest, nodes: Array) -> dict[str, Places]:
    """Who points into ``words`` and ``tables``."""
    last = nodes.view(np.uint32)[:, 3]
    test = last >> 24 & 0xF
    levels = np.array(forest.columns.levels, np.int64)
    words, tables = np.flatnonzero(test == WORDS), np.flatnonzero(test == TABLE)

    def of_levels(own: Array) -> Array:
        return np.asarray(levels[last[own] & 0xFFFFFF])

    return {
        "words": Places(words, nodes[words, 0].astype(np.int64), (of_levels(words) + 63) // 64),
        "tables": Places(tables, nodes[tables, 0].astype(np.int64), of_levels(tables) + 1),
    }


def spans(places: Places, tree: Array, n_trees: int) -> tuple[Array, Array]:
    """The entries that each tree has, from its first to the end of its last; and how they move.

    Tree by tree, one span behind the other.
    """
    begin = np.full(n_trees, _NOWHERE)
    np.minimum.at(begin, tree, places.begin)
    end = np.zeros(n_trees, np.int64)
    np.maximum.at(end, tree, places.begin + places.length)
    length = np.maximum(end - begin, 0)
    shift = np.where(length > 0, np.cumsum(length) - length - begin, 0)
    taken = np.arange(length.sum()) - np.repeat(shift, length)
    return taken, shift


_BESIDE = ("words", "tables", "leaves")
_OF_TREES = ("first", "keys", "importances", "weight_unit", "origins")
# Nodes that are looked at together.
_TOGETHER = 4096
_MOST = 2**64


def packed(forest: Forest) -> dict[str, Any]:
    """The forest's record; `unpacked` gives its fields back in every bit."""
    every = {entry.name: getattr(forest, entry.name) for entry in fields(forest)}
    plain = {name: value for name, value in every.items() if value is not None}
    if forest.origins is None:
        return plain
    of_trees = sum(np.asarray(plain[name]).nbytes for name in _OF_TREES)
    if of_trees <= forest.n_nodes or not _sound(plain):
        return plain
    lots, dropped = _lots(forest)
    where = columns_tested(forest.nodes, forest.first, len(forest.schema))
    # A lot takes about as much text as the numbers of two trees take bytes.
    if 2 * len(lots) > forest.n_trees or forest.importances[~where].any():
        return plain
    sizes, worth = np.diff(forest.first), forest.importances[where]
    empty = {name for name in _BESIDE if not len(plain[name])}
    record = {name: plain[name] for name in plain if name not in (*_OF_TREES, *empty)}
    record |= {"sizes": _small(sizes), "lots": lots, "worth": worth}
    return record | ({"dropped": _small(dropped)} if dropped.any() else {})


def unpacked(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a forest, from a record in either form; ValueError where it is neither."""
    rest: dict[str, Any] = {"steps": None, **record}
    if "sizes" not in rest:
        # Older files do not know where trees come from.
        return {"origins": None, **rest}
    try:
        sizes, lots, worth = (rest.pop(name) for name in ("sizes", "lots", "worth"))
        dropped = rest.pop("dropped", None)
        nodes, schema = rest["nodes"], rest["schema"]
    except KeyError as error:
        raise ValueError("these are not the arrays of a forest") from error
    if not isinstance(schema, Schema) or rest.keys() & set(_OF_TREES):
        raise ValueError("these are not the arrays of a forest")
    _check_counts(sizes, nodes)
    rest["first"] = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])
    rest |= _grown(lots, dropped, len(sizes))
    rest["importances"] = _spread(worth, columns_tested(nodes, rest["first"], len(schema)))
    empty = {
        "words": np.empty(0, np.uint64),
        "tables": np.empty(0, np.int32),
        "leaves": np.empty(0, np.uint8),
    }
    return empty | rest


def columns_tested(nodes: Array, first: Array, n_columns: int) -> Array:
    """Whether each tree (row) has a node that tests each column."""
    found = np.zeros((len(first) - 1, n_columns), bool)
    for begin in range(0, len(nodes), _TOGETHER):
        # Few at a time: the nodes of a mapped file stay where they are.
        test = nodes[begin : begin + _TOGETHER].view(np.uint32)[:, 3]
        inner = np.flatnonzero((test >> 24 & 0xF) != LEAF)
        column = test[inner] & 0xFFFFFF
        if len(column) and column.max() >= n_columns:
            raise ValueError("a node tests a column that is not there")
        found[np.searchsorted(first, inner + begin, "right") - 1, column] = True
    return found


def _sound(plain: dict[str, Any]) -> bool:
    """Whether there is something to pack; what is damaged is told as it is, to be refused."""
    try:
        every = {"origins": None, "steps": None, **plain}
        check_record(every, set(every))
        _check_counts(np.diff(plain["first"]).astype(np.uint64), plain["nodes"])
    except ValueError:
        return False
    return True


def _lots(forest: Forest) -> tuple[list[list[Any]], Array]:
    """Runs of trees that were grown together, and how many are missing before each tree."""
    assert forest.origins is not None
    number = forest.origins[:, 1]
    shared = np.column_stack([forest.origins[:, 0], forest.keys[:, 1:]])
    unit = forest.weight_unit
    new = np.ones(forest.n_trees, bool)
    new[1:] = (shared[1:] != shared[:-1]).any(axis=1) | (unit[1:] != unit[:-1])
    new[1:] |= number[1:] <= number[:-1]
    dropped = np.zeros(forest.n_trees, np.uint64)
    dropped[1:] = number[1:] - number[:-1] - np.uint64(1)
    dropped[new] = 0
    begin = np.flatnonzero(new)
    trees = np.diff([*begin, forest.n_trees])
    lots = [
        [int(shared[i, 0]), int(number[i]), int(count), *shared[i, 1:].tolist(), float(unit[i])]
        for i, count in zip(begin, trees, strict=True)
    ]
    return lots, dropped


def _grown(lots: Any, dropped: Any, n_trees: int) -> dict[str, Any]:
    """Origins, keys and units of all trees."""
    _check_lots(lots, n_trees)
    if dropped is None:
        dropped = np.zeros(n_trees, np.uint64)
    _check_unsigned("dropped", dropped)
    if len(dropped) != n_trees:
        raise ValueError("dropped must be told of each tree")
    trees = [lot[2] for lot in lots]
    seed, number, rows, mark = (
        np.repeat(np.array([lot[k] for lot in lots], np.uint64), trees) for k in (0, 1, 3, 4)
    )
    begin = np.cumsum(trees) - trees
    steps = np.cumsum(dropped.astype(np.uint64) + np.uint64(1))
    origins = np.column_stack([seed, number + steps - np.repeat(steps[begin], trees)])
    return {
        "origins": origins,
        "keys": np.column_stack([tree_seeds(origins), rows, mark]),
        "weight_unit": np.repeat(np.array([lot[5] for lot in lots]), trees),
    }


def _spread(worth: Any, where: Array) -> Array:
    if not isinstance(worth, np.ndarray) or worth.dtype != np.float64 or worth.ndim != 1:
        raise ValueError("worth must be an array of float64 in 1 dimension")
    if len(worth) != np.count_nonzero(where):
        raise ValueError("worth must be told of every column that a tree tests")
    importances = np.zeros(where.shape)
    importances[where] = worth
    return importances


def _small(counts: Array) -> Array:
    """Counts in the smallest type that holds them."""
    return np.asarray(counts.astype(np.min_scalar_type(int(counts.max()))))


def _check_counts(sizes: Any, nodes: Any) -> None:
    _check_unsigned("sizes", sizes)
    if not isinstance(nodes, np.ndarray) or nodes.dtype != np.uint64 or nodes.ndim != 2:
        raise ValueError("nodes must be an array of uint64 in 2 dimensions")
    if nodes.shape[1] != 2 or not nodes.flags.c_contiguous:
        raise ValueError("nodes must be two words each")
    # Added up as Python's whole numbers, which do not wrap around.
    if not len(sizes) or sizes.min() == 0 or sum(sizes.tolist()) != len(nodes):
        raise ValueError("the trees of a forest must take up all its nodes")


def _check_lots(lots: Any, n_trees: int) -> None:
    sound = isinstance(lots, list) and all(
        isinstance(lot, list)
        and len(lot) == 6
        and all(type(part) is int and 0 <= part < _MOST for part in lot[:5])
        and lot[2] > 0
        and type(lot[5]) is float
        for lot in lots
    )
    if not sound or sum(lot[2] for lot in lots) != n_trees:
        raise ValueError("lots must be numbers of all trees, grown together")


def _check_unsigned(name: str, counts: Any) -> None:
    if not isinstance(counts, np.ndarray) or counts.dtype.kind != "u" or counts.ndim != 1:
        raise ValueError(f"{name} must be counts")
