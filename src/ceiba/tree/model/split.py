"""What one node tests, in the column's own names and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ceiba.data.schema import Column
    from ceiba.tree.model.tree import Tree

METHODS = (
    "none", "threshold", "ordered", "exhaustive", "principal", "median", "multiway", "intervals",
)  # fmt: skip
_MASK, _WORDS, _TABLE, _INTERVALS = 5, 6, 7, 8
_NUMBERS: dict[int, Any] = {1: np.float64, 2: np.int64, 3: np.uint64}
# The test of a threshold, by the type of its column.
NUMBER_TESTS = {0: 1, 1: 1, 2: 2, 3: 3, 4: 4}
# The threshold that all known values lie below: whole numbers have no infinity.
LARGEST = {2: 2**63 - 1, 3: 2**64 - 1, 4: 2**31 - 1}


@dataclass(frozen=True, slots=True)
class Split:
    """The test of one node.

    Parameters
    ----------
    kind : str
        "threshold" (values up to it go to branch 0), "intervals" (values up to the first of
        ``thresholds`` go to branch 0, others up to the second to branch 1, ...), "levels" (two
        groups) or "multiway".
    column : int
    name : str
        The column's name.
    threshold : float, int, label or None
        Of numbers the threshold; of an ordinal column the last level of branch 0.
    branches : tuple of tuples of labels
        Levels of each branch, of nominal columns; those that training rows did not have in this
        node stand in the branch of gaps, or in none where gaps have no branch.
    gaps : int
        Branch of rows without a value; where gaps have none (``Tree.missing``) the heaviest.
    n_branches : int
    method : str
        How it was found.
    thresholds : tuple
        Of intervals, ascending.
    """

    kind: str
    column: int
    name: str
    threshold: Any
    branches: tuple[tuple[Any, ...], ...]
    gaps: int
    n_branches: int
    method: str
    thresholds: tuple[Any, ...] = ()


def split_of(tree: Tree, node: int) -> Split:
    """The test of a node that is no leaf."""
    if tree.is_leaf[node]:
        raise ValueError(f"node {node} is a leaf and tests nothing")
    place = int(tree.column[node])
    column, test = tree.schema[place], int(tree.test[node])
    method = METHODS[tree.method[node]]
    gaps = int(tree._halves[node, 3] >> 28)
    if test == _INTERVALS:
        return _intervals(tree, node, column, place)
    if test < _MASK:
        threshold = threshold_of(tree.nodes[node : node + 1, 0], column, test)
        branches = 3 if gaps == 2 else 2
        return Split("threshold", place, column.name, threshold, (), gaps, branches, method)
    if test == _TABLE:
        first = int(tree.nodes[node, 0])
        of_level = tree.tables[first : first + len(column.levels) + 1]
        gaps, of_level = int(of_level[0]), of_level[1:]
    else:
        of_level = _sides(tree, node, test, len(column.levels))
    if tree.missing != "branch":
        # A level that the node did not have is a gap there, and no branch's.
        of_level = np.where(_present(tree, node, test, len(column.levels)), of_level, -1)
    n = int(tree.n_branches[node])
    labels = np.array([*column.levels, None], dtype=object)[:-1]
    groups = tuple(tuple(labels[of_level == branch].tolist()) for branch in range(n))
    kind = "multiway" if method == "multiway" else "levels"
    return Split(kind, place, column.name, None, groups, gaps, n, method)


def _intervals(tree: Tree, node: int, column: Column, place: int) -> Split:
    first = int(tree.nodes[node, 0])
    gaps, n = divmod(int(tree.words[first]), 2**32)
    words = tree.words[first + 1 : first + 1 + n]
    test = NUMBER_TESTS[tree.columns.types[place]]
    thresholds = tuple(threshold_of(words[i : i + 1], column, test) for i in range(n))
    branches = int(tree.n_branches[node])
    return Split("intervals", place, column.name, None, (), gaps, branches, "intervals", thresholds)


def threshold_of(word: np.ndarray[Any, Any], column: Column, test: int) -> Any:
    """A threshold from its word: a number, or the last level on its left."""
    if test in _NUMBERS:
        value = word.view(_NUMBERS[test])[0].item()
        return np.inf if value == LARGEST.get(test) else value
    code = int(word[0])
    return column.levels[code] if code < len(column.levels) else np.inf


def _sides(tree: Tree, node: int, test: int, levels: int) -> np.ndarray[Any, Any]:
    """Branch of every level in a split into two groups."""
    word = int(tree.nodes[node, 0])
    words = [word] if test == _MASK else tree.words[word : word + (levels + 63) // 64].tolist()
    left = [words[level // 64] >> level % 64 & 1 for level in range(levels)]
    return np.array([0 if bit else 1 for bit in left], dtype=np.int32)


def _present(tree: Tree, node: int, test: int, levels: int) -> np.ndarray[Any, Any]:
    """Which levels the node had, in trees whose gaps do not have one branch."""
    first = int(tree.nodes[node, 0])
    if test == _TABLE:
        return np.asarray(tree.tables[first + 1 + levels : first + 1 + 2 * levels] > 0)
    width = (levels + 63) // 64
    words = tree.words[first + width : first + 2 * width].tolist()
    return np.array([words[level // 64] >> level % 64 & 1 for level in range(levels)], dtype=bool)
