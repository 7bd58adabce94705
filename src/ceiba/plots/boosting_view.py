"""A boosted classifier round by round: its rows by weight, its boundary over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.table import Table
from ceiba.data.target import class_places
from ceiba.plots.boosting_rows import WeightedRows
from ceiba.plots.boosting_stages import (
    check_frames,
    relative_weights,
    round_numbers,
    staged_codes,
)
from ceiba.plots.cells import Cells
from ceiba.plots.plane import Array
from ceiba.plots.regions import Section, class_codes, pale_colours
from ceiba.plots.style import INK, TICK_SIZE

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
