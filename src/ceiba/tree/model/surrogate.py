"""Splits that stand in for a node's own where a row has no value for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.tree.model.split import threshold_of

if TYPE_CHECKING:
    from ceiba.tree.model.tree import Tree

_TABLE = 7


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A split of another column that sends rows much as a node's own split does.

    Parameters
    ----------
    column : int
    name : str
        The column's name.
    threshold : float, int, label or None
        Of numbers and ordinal columns: values up to it go to branch 0, or to branch 1 where it is
        ``flipped``.
    flipped : bool
    branches : tuple of two tuples of labels
        Levels of each branch, of nominal columns; others say nothing.
    agreement : float
        Share of the weight with a known value that it sends as the node's own split does.
    adjusted : float
        Share of what the heavier branch alone would send wrong that it sends right.
    """

    column: int
    name: str
    threshold: Any
    flipped: bool
    branches: tuple[tuple[Any, ...], ...]
    agreement: float
    adjusted: float


def surrogates_of(tree: Tree, node: int) -> list[Surrogate]:
    """The surrogates of a node, those that agree best first."""
    if len(tree.first_surrogate) == 0:
        return []
    first, last = tree.first_surrogate[node : node + 2].tolist()
    return [_surrogate(tree, place) for place in range(first, last)]


def _surrogate(tree: Tree, place: int) -> Surrogate:
    halves = tree.surrogates[place : place + 1].view(np.uint32)[0]
    column, test = int(halves[3] & 0xFFFFFF), int(halves[3] >> 24 & 0xF)
    own = tree.schema[column]
    threshold: Any = None
    branches: tuple[tuple[Any, ...], ...] = ()
    if test == _TABLE:
        first = int(tree.surrogates[place, 0]) + 1
        of_level = tree.tables[first : first + len(own.levels)]
        branches = tuple(
            tuple(label for label, b in zip(own.levels, of_level, strict=True) if b == branch)
            for branch in (0, 1)
        )
    else:
        threshold = threshold_of(tree.surrogates[place : place + 1, 0], own, test)
    return Surrogate(
        column, own.name, threshold, bool(halves[2]), branches,
        float(tree.agreement[place]), float(tree.adjusted_agreement[place]),
    )  # fmt: skip
