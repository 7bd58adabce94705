"""Cells that a plane falls into where trees decide, or an even grid, and lines between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.plots.plane import Array
from ceiba.plots.regions import Section
from ceiba.plots.steps import thresholds_of
from ceiba.tree.structure import Tree

# More cells along an axis than this are smaller than what a picture shows.
_MOST_EDGES = 250

Corner = tuple[int, int]  # where edges cross, counted along each axis


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rectangles that fill what is seen of two columns, and a place in each.

    Attributes
    ----------
    edges : pair of arrays
        Where the cells begin and end along each axis, ascending.
    places : array of shape (n_cells, 2)
        A place in each cell, those of the first axis next to each other.
    """

    edges: tuple[Array, Array]
    places: Array

    @classmethod
    def of(cls, models: Iterable[Any], section: Section, resolution: int) -> Cells:
        """Cells between the thresholds of trees, which are exact; of other models, a grid.

        A grid of ``resolution`` cells along each axis is also made of trees with so many
        thresholds that it is as good.
        """
        if resolution < 2:
            raise ValueError(f"resolution={resolution}: give the places along each axis, 2 or more")
        trees = [getattr(model, "tree_", None) for model in models]
        if all(isinstance(tree, Tree) for tree in trees):
            edges = [_between(trees, section, axis) for axis in (0, 1)]
            if max(map(len, edges)) <= _MOST_EDGES:
                # The upper end of a cell belongs to it: rows go left where value <= threshold.
                return cls((edges[0], edges[1]), _crossed(edges[0][1:], edges[1][1:]))
        x, y = (
            np.linspace(low, high, resolution + 1)
            for low, high in zip(section.low, section.high, strict=True)
        )
        return cls((x, y), _crossed((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2))

    @property
    def shape(self) -> tuple[int, int]:
        """Cells along the second axis and the first one, as images have them."""
        return len(self.edges[1]) - 1, len(self.edges[0]) - 1

    def borders(self, codes: Array) -> list[Array]:
        """Lines between cells of other codes, each as its corners in turn, (n_corners, 2)."""
        table = codes.reshape(self.shape)
        upright = _runs(table[:, 1:] != table[:, :-1])
        level = _runs((table[1:] != table[:-1]).T)
        pieces = [((at + 1, begin), (at + 1, end)) for at, begin, end in upright]
        pieces += [((begin, at + 1), (end, at + 1)) for at, begin, end in level]
        x, y = self.edges
        corners = [np.transpose(line) for line in _joined(pieces)]
        return [np.column_stack([x[across], y[up]]) for across, up in corners]


def _runs(mask: Array) -> list[list[int]]:
    """Column, begin and end of each unbroken run of truth down the columns."""
    edge = np.zeros((1, mask.shape[1]), dtype=np.int8)
    change = np.diff(mask.astype(np.int8), axis=0, prepend=edge, append=edge).T
    (column, begin), (_, end) = np.nonzero(change == 1), np.nonzero(change == -1)
    runs: list[list[int]] = np.column_stack([column, begin, end]).tolist()
    return runs


def _joined(pieces: Iterable[tuple[Corner, Corner]]) -> list[list[Corner]]:
    """Pieces end to end, so that dashes run on around corners."""
    beside: dict[Corner, list[Corner]] = {}
    for one, other in pieces:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    # Lines that end somewhere are begun there; what is left then are loops.
    starts = sorted(beside, key=lambda corner: len(beside[corner]) % 2 == 0)
    lines = []
    for start in starts:
        while beside[start]:
            line = [start]
            while beside[line[-1]]:
                here, there = line[-1], beside[line[-1]].pop()
                beside[there].remove(here)
                line.append(there)
            lines.append(line)
    return lines


def _between(trees: list[Any], section: Section, axis: int) -> Array:
    """The thresholds of a shown column that are seen, and the ends of what is seen."""
    low, high, column = section.low[axis], section.high[axis], section.shown[axis]
    cuts = np.concatenate([thresholds_of(tree, column) for tree in trees])
    return np.unique([low, *cuts[(cuts > low) & (cuts < high)], high])


def _crossed(x: Array, y: Array) -> Array:
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
