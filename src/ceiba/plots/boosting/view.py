"""Cells that a plane falls into where trees decide, or an even grid, and lines between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_places
from ceiba.plots.boosting.rows import WeightedRows
from ceiba.plots.boosting.stages import check_frames, relative_weights, round_numbers, staged_codes
from ceiba.plots.planes.regions import Section, class_codes, pale_colours
from ceiba.plots.style import INK, TICK_SIZE
from ceiba.plots.trees.steps import thresholds_of
from ceiba.tree.model.tree import Tree

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


_DASHES = (0, (4, 3))
_ENTRY = 1.6  # inches of the legend
_THIN, _THICK, _RIM = 1.1, 1.5, 3.0  # lines of a round's learner, the committee, and their rim


@dataclass(frozen=True, slots=True, eq=False)
class BoostingView:
    """What every round of a boosted classifier is drawn from.

    Attributes
    ----------
    model : fitted classifier
    frames : sequence of frames
        One a round: ``weights`` of the rows before it, ``error``, ``alpha`` and ``wrong``.
    steps : list of int
        Numbers of these rounds, from 1.
    section : Section
        The two columns that are shown.
    rows : WeightedRows
    cells : Cells
    stages : list of arrays
        After each round, the class that the committee predicts in each cell.
    committee : list of float, optional
        After each round, the share of rows that the committee gets wrong; None without classes.
    """

    model: Any
    frames: Sequence[Any]
    steps: list[int]
    section: Section
    rows: WeightedRows
    cells: Cells
    stages: list[Array]
    committee: list[float] | None

    @classmethod
    def of(
        cls,
        model: Any,
        frames: Sequence[Any],
        X: Any,
        y: Any = None,
        columns: Sequence[str | int] | None = None,
        *,
        resolution: int = 200,
        max_points: int = 600,
        random_state: Any = 0,
    ) -> BoostingView:
        """The frames of a fit to these rows, ready to be drawn."""
        section = _section(model, X, columns)
        n_rows = len(section.points)
        check_frames(frames, n_rows)
        codes = None if y is None else class_codes(model, y, n_rows)
        drawn = section.sample(max_points, random_state)
        heaviest = max(float(relative_weights(frame)[drawn].max()) for frame in frames)
        rows = WeightedRows.of(section.points, drawn, codes, list(model.classes_), heaviest)
        steps = round_numbers(frames)
        cells = Cells.of(model.estimators_, section, resolution)
        stages = staged_codes(model, section.rows(cells.places), steps)
        committee = None
        if codes is not None:
            said = staged_codes(model, X if section.plain else section.table, steps)
            committee = [float(np.mean(stage != codes)) for stage in said]
        return cls(model, frames, steps, section, rows, cells, stages, committee)

    @property
    def errors(self) -> list[float]:
        """Weighted error of each round's learner."""
        return [float(frame["error"]) for frame in self.frames]

    @property
    def alphas(self) -> list[float]:
        """Say of each round's learner."""
        return [float(frame["alpha"]) for frame in self.frames]

    def member_codes(self, place: int) -> Array | None:
        """The class that the round's own learner predicts in each cell; None without a learner."""
        step = self.steps[place]
        if step > len(self.model.estimators_):
            return None
        rows = self.section.rows(self.cells.places)
        said = np.asarray(self.model.estimators_[step - 1].predict(rows))
        return class_places(said, np.asarray(self.model.classes_))

    def draw(self, ax: Any, place: int) -> None:
        """Draw one round: the committee after it, its own learner, and the rows by weight."""
        frame, committee, learner = self.frames[place], self.stages[place], self.member_codes(place)
        colours = pale_colours(np.eye(len(self.model.classes_)))[committee]
        ax.pcolormesh(
            *self.cells.edges, colours.reshape(*self.cells.shape, 3), zorder=0.5, rasterized=True
        )
        if learner is not None:
            self._draw_borders(ax, learner, linewidth=_THIN, linestyle=_DASHES, gid="learner")
        self._draw_borders(ax, committee, linewidth=_THICK, gid="committee")
        self.rows.draw(ax, relative_weights(frame), np.asarray(frame["wrong"], dtype=bool))
        ax.set_xlim(self.section.low[0], self.section.high[0])
        ax.set_ylim(self.section.low[1], self.section.high[1])

    def legend(self, figure: Any) -> None:
        """Say beneath the figure what sizes, lines, rings and colours are."""
        handles = [*_lines(), *self.rows.legend_handles()]
        room = int(figure.bbox.width / figure.dpi / _ENTRY)
        figure.legend(
            handles=handles, loc="outside lower center", ncols=min(-(-len(handles) // 2), room),
            fontsize=TICK_SIZE, labelcolor=INK, frameon=False, columnspacing=1.8,
        )  # fmt: skip

    def _draw_borders(self, ax: Any, codes: Array, **look: Any) -> None:
        from matplotlib.collections import LineCollection

        # On top of the rows, or many of them would hide it; a white rim parts the two.
        rim = {"color": "white", "linewidth": _RIM, "alpha": 0.5, "zorder": 2.5}
        for line in (rim, {"color": INK, "zorder": 2.6, **look}):
            ax.add_collection(LineCollection(self.cells.borders(codes), **line), autolim=False)


def _section(model: Any, X: Any, columns: Sequence[str | int] | None) -> Section:
    """The shown columns; of more than two nobody but the user chooses, and two are proposed."""
    schema = Table.of(X, getattr(model, "schema_", None)).schema
    section = Section.of(model, X, columns)
    if columns is None and len(schema) > 2:
        raise ValueError(
            f"the table has {len(schema)} columns and the picture shows 2: choose them, like "
            f"columns={section.names!r}; the others are held at their median or commonest level"
        )
    return section


def _lines() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=INK, linewidth=_THIN, linestyle=_DASHES, label="the round's learner"),
        Line2D([], [], color=INK, linewidth=_THICK, label="committee so far"),
    ]
