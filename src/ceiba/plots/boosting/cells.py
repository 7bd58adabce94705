"""Divide a plane into the cells in which trees predict the same, or into a grid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.planes.section import Section
from ceiba.tree.model.split import split_thresholds
from ceiba.tree.model.tree import Tree

# With more cells along an axis, cells are smaller than the pixels of a picture.
_MAX_EDGES = 250

Corner = tuple[int, int]  # crossing of two edges, as indices along each axis


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Rectangles that cover the visible region of two columns, and a point in each."""

    edges: tuple[Array, Array]  # bounds of the cells along each axis, ascending
    points: Array  # of shape (n_cells, 2); the first coordinate varies fastest

    @classmethod
    def of(cls, models: Iterable[Any], section: Section, resolution: int) -> Cells:
        """Return the exact cells between the thresholds of trees, or else a grid.

        A grid of ``resolution`` cells along each axis is used for other models, and for trees with
        so many thresholds that it is as good.
        """
        if resolution < 2:
            raise ValueError(f"resolution must be at least 2, got {resolution}.")
        trees = [getattr(model, "tree_", None) for model in models]
        if all(isinstance(tree, Tree) for tree in trees):
            edges = [_threshold_edges(trees, section, axis) for axis in (0, 1)]
            if max(map(len, edges)) <= _MAX_EDGES:
                # The upper edge belongs to the cell: rows go left if value <= threshold.
                return cls((edges[0], edges[1]), _product(edges[0][1:], edges[1][1:]))
        x, y = (
            np.linspace(low, high, resolution + 1)
            for low, high in zip(section.low, section.high, strict=True)
        )
        return cls((x, y), _product((x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of cells along the second and the first axis, as for images."""
        return len(self.edges[1]) - 1, len(self.edges[0]) - 1

    def borders(self, codes: Array) -> list[Array]:
        """Return the lines between cells of different code, each of shape (n_corners, 2)."""
        table = codes.reshape(self.shape)
        vertical = _runs(table[:, 1:] != table[:, :-1])
        horizontal = _runs((table[1:] != table[:-1]).T)
        pieces = [((at + 1, begin), (at + 1, end)) for at, begin, end in vertical]
        pieces += [((begin, at + 1), (end, at + 1)) for at, begin, end in horizontal]
        x, y = self.edges
        corners = [np.transpose(line) for line in _join(pieces)]
        return [np.column_stack([x[across], y[up]]) for across, up in corners]


def _runs(mask: Array) -> list[list[int]]:
    """Return column, begin and end of each unbroken run of True down the columns."""
    edge = np.zeros((1, mask.shape[1]), dtype=np.int8)
    change = np.diff(mask.astype(np.int8), axis=0, prepend=edge, append=edge).T
    (column, begin), (_, end) = np.nonzero(change == 1), np.nonzero(change == -1)
    runs: list[list[int]] = np.column_stack([column, begin, end]).tolist()
    return runs


def _join(pieces: Iterable[tuple[Corner, Corner]]) -> list[list[Corner]]:
    """Join pieces end to end, so that dashes continue around corners."""
    neighbors: dict[Corner, list[Corner]] = {}
    for one, other in pieces:
        neighbors.setdefault(one, []).append(other)
        neighbors.setdefault(other, []).append(one)
    # Open lines are traced from one of their ends; the rest are loops.
    starts = sorted(neighbors, key=lambda corner: len(neighbors[corner]) % 2 == 0)
    lines = []
    for start in starts:
        while neighbors[start]:
            line = [start]
            while neighbors[line[-1]]:
                here, there = line[-1], neighbors[line[-1]].pop()
                neighbors[there].remove(here)
                line.append(there)
            lines.append(line)
    return lines


def _threshold_edges(trees: list[Any], section: Section, axis: int) -> Array:
    """Return the visible thresholds of a column, and the ends of the range."""
    low, high, column = section.low[axis], section.high[axis], section.shown[axis]
    thresholds = {
        threshold
        for tree in trees
        for node in np.flatnonzero(~tree.is_leaf & (tree.column == column))
        for threshold in split_thresholds(tree.split(int(node)))
    }
    return np.unique([low, *(t for t in thresholds if low < t < high), high])


def _product(x: Array, y: Array) -> Array:
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
