"""Splits and surrogate splits of single nodes, in the names and values of the columns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._native import NodeTest, SearchMethod
from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.tree.model.node_dtype import NodeView

if TYPE_CHECKING:
    from ceiba.data.schema import Column, Schema
    from ceiba.tree.model.tree import Tree

METHODS = tuple(method.name.lower() for method in SearchMethod)
# Number type of a threshold, by the test of its node.
THRESHOLD_DTYPES: dict[int, Any] = {
    NodeTest.REAL: np.float64, NodeTest.INT: np.int64, NodeTest.UNSIGNED: np.uint64,
    NodeTest.ORDINAL: np.int64,
}  # fmt: skip
# Threshold of a split that separates known values from missing ones: integers have no infinity.
INFINITE_THRESHOLD: dict[int, int] = {
    NodeTest.INT: 2**63 - 1, NodeTest.UNSIGNED: 2**64 - 1, NodeTest.ORDINAL: 2**31 - 1,
}  # fmt: skip
# From here on all float64 numbers are whole.
MAX_HALF = 2**52
# Test of a threshold, by the type of its column (`ceiba.tree.grow.encoding`).
_THRESHOLD_TESTS = (
    NodeTest.REAL, NodeTest.REAL, NodeTest.INT, NodeTest.UNSIGNED, NodeTest.ORDINAL,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Split:
    """The test of one node.

    Parameters
    ----------
    kind : {"threshold", "intervals", "categories", "multiway"}
        "threshold": values up to it go to branch 0. "intervals": values up to the first of
        ``thresholds`` go to branch 0, others up to the second to branch 1, and so on.
        "categories": two groups of categories. "multiway": a branch for each category.
    column : int
    name : str
        Name of the column.
    threshold : float, int, label or None
        The threshold of a numeric column; of an ordinal column the last category of branch 0.
    branches : tuple of tuples of labels
        Categories of each branch of a nominal split. Categories without training rows in this
        node are in the branch of missing values, or in none if missing values have no branch.
    missing_branch : int
        Branch of rows without a value; if these have no branch of their own (``Tree.missing``),
        the heaviest.
    n_branches : int
    method : str
        Search that found the split.
    thresholds : tuple
        Thresholds of intervals, ascending.
    """

    kind: str
    column: int
    name: str
    threshold: Any
    branches: tuple[tuple[Any, ...], ...]
    missing_branch: int
    n_branches: int
    method: str
    thresholds: tuple[Any, ...] = ()

    __repr__ = fields_repr


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A split of another column that imitates the split of a node.

    Parameters
    ----------
    column : int
    name : str
        Name of the column.
    threshold : float, int, label or None
        For numeric and ordinal columns: values up to it go to branch 0, or to branch 1 if
        ``flipped``.
    flipped : bool
    branches : tuple of two tuples of labels
        Categories of each branch of a nominal column; others have no branch.
    agreement : float
        Fraction of the weight with a known value that goes to the same branch as by the node's
        own split.
    adjusted : float
        Fraction of the weight sent to the wrong branch by the majority rule alone that this
        split sends to the right one.
    """

    column: int
    name: str
    threshold: Any
    flipped: bool
    branches: tuple[tuple[Any, ...], ...]
    agreement: float
    adjusted: float


def decode_split(tree: Tree, node: int) -> Split:
    """Return the split of an inner node."""
    test, index = int(tree.test[node]), int(tree.column[node])
    if test == NodeTest.LEAF:
        raise ValueError(f"node must be an inner node, got {node}, which is a leaf.")
    packed = NodeView(tree.nodes[node : node + 1])
    word = int(packed.word[0])
    column, method = tree.schema[index], METHODS[tree.method[node]]
    missing_branch, n_branches = int(packed.missing_branch[0]), int(tree.n_branches[node])
    if test == NodeTest.INTERVALS:
        missing_branch, n = divmod(int(tree.words[word]), 2**32)
        end = word + 1 + n
        kind = _THRESHOLD_TESTS[tree.columns.types[index]]
        halves = _bits(tree.words[end:], n) if packed.has_half[0] else np.zeros(n, bool)
        thresholds = tuple(
            _threshold(tree.words[word + 1 + i : word + 2 + i], column, kind, halves[i])
            for i in range(n)
        )
        return Split(
            "intervals", index, column.name, None, (), missing_branch, n_branches, "intervals",
            thresholds,
        )  # fmt: skip
    if test in THRESHOLD_DTYPES:
        threshold = _threshold(packed.word, column, test, packed.has_half[0])
        return Split(
            "threshold", index, column.name, threshold, (), missing_branch, n_branches, method
        )
    n = len(column.categories)
    if test == NodeTest.TABLE:
        table = tree.tables[word : word + n + 1]
        missing_branch, branch_of = int(table[0]), table[1:]
    else:
        words = [word] if test == NodeTest.MASK else tree.words[word:]
        branch_of = np.where(_bits(words, n), 0, 1)
    if tree.missing != "branch":
        # A category that the node has no rows of is treated as missing there.
        branch_of = np.where(_has_rows(tree, word, test, n), branch_of, -1)
    groups = _categories_of_branches(column, branch_of, n_branches)
    name = "multiway" if method == "multiway" else "categories"
    return Split(name, index, column.name, None, groups, missing_branch, n_branches, method)


def _threshold(word: Array, column: Column, test: int, half: bool) -> Any:
    """Decode a threshold: a number, or the last category of branch 0.

    ``half``: one half is added to an integer, unless it is a time or float64 would round the sum;
    no value of the column lies between the two.
    """
    if test == NodeTest.ORDINAL:
        code = int(word[0])
        return column.categories[code] if code < len(column.categories) else np.inf
    value = word.view(THRESHOLD_DTYPES[test])[0].item()
    if half and not column.temporal and -MAX_HALF <= value < MAX_HALF:
        return value + 0.5
    return np.inf if value == INFINITE_THRESHOLD.get(test) else value


def _bits(words: Any, n: int) -> Array:
    """Return the first ``n`` bits of some words."""
    used = [int(word) for word in words[: (n + 63) // 64]]
    return np.array([used[bit // 64] >> bit % 64 & 1 for bit in range(n)], dtype=bool)


def _has_rows(tree: Tree, first: int, test: int, n: int) -> Array:
    """Return which categories had training rows in the node."""
    if test == NodeTest.TABLE:
        return np.asarray(tree.tables[first + 1 + n : first + 1 + 2 * n] > 0)
    return _bits(tree.words[first + (n + 63) // 64 :], n)


def decode_surrogates(tree: Tree, node: int) -> list[Surrogate]:
    """Return the surrogate splits of a node, in descending order of agreement."""
    if len(tree.first_surrogate) == 0:
        return []
    first, last = tree.first_surrogate[node : node + 2].tolist()
    return [_surrogate(tree, index) for index in range(first, last)]


def _surrogate(tree: Tree, index: int) -> Surrogate:
    packed = NodeView(tree.surrogates[index : index + 1])
    j, test, word = (int(field[0]) for field in (packed.column, packed.kind, packed.word))
    column, threshold = tree.schema[j], None
    branches: tuple[tuple[Any, ...], ...] = ()
    if test == NodeTest.TABLE:
        branch_of = tree.tables[word + 1 : word + 1 + len(column.categories)]
        branches = _categories_of_branches(column, branch_of, 2)
    else:
        threshold = _threshold(packed.word, column, test, packed.has_half[0])
    return Surrogate(
        j, column.name, threshold, bool(packed.child[0]), branches,
        float(tree.agreement[index]), float(tree.adjusted_agreement[index]),
    )  # fmt: skip


def _categories_of_branches(
    column: Column, branch_of: Array, n_branches: int
) -> tuple[tuple[Any, ...], ...]:
    labels = np.array([*column.categories, None], dtype=object)[:-1]
    return tuple(tuple(labels[branch_of == branch].tolist()) for branch in range(n_branches))


def split_thresholds(split: Split) -> tuple[Any, ...]:
    """Return the thresholds of a numeric or ordinal split, ascending."""
    return split.thresholds if split.kind == "intervals" else (split.threshold,)


def branch_of(split: Split, value: Any, schema: Schema) -> int:
    """Return the branch that a number, or the code of a category, takes."""
    categories = schema[split.column].categories
    if split.branches:
        found = _group_of(split.branches, categories[value])
        return split.missing_branch if found is None else found
    return bisect_left([_code(t, categories) for t in split_thresholds(split)], value)


def surrogate_branch_of(surrogate: Surrogate, value: Any, schema: Schema) -> int | None:
    """Return the branch that a surrogate assigns; None for an unseen category."""
    categories = schema[surrogate.column].categories
    if surrogate.branches:
        return _group_of(surrogate.branches, categories[value])
    return int((value > _code(surrogate.threshold, categories)) != surrogate.flipped)


def _group_of(branches: Sequence[Sequence[Any]], category: Any) -> int | None:
    return next((b for b, group in enumerate(branches) if category in group), None)


def _code(threshold: Any, categories: Sequence[Any]) -> Any:
    """Return a threshold in the units of values: of ordinal columns the code.

    A threshold of infinity, which separates observed from missing values, is no category.
    """
    return categories.index(threshold) if threshold in categories else threshold
