"""Draw one round of a boosted classifier over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.plots.boosting.cells import Cells
from ceiba.plots.boosting.rows import WeightedRows
from ceiba.plots.planes.section import Section, class_codes, pale_colors
from ceiba.plots.playback.painter import frame_iteration, frame_names
from ceiba.plots.style import INK, TICK_SIZE

FRAME = frozenset({"weights", "error", "alpha", "wrong"})

_DASHES = (0, (4, 3))
_LEGEND_ENTRY = 1.6  # inches
_ESTIMATOR_WIDTH, _ENSEMBLE_WIDTH, _RIM_WIDTH = 1.1, 1.5, 3.0  # of the boundaries


@dataclass(frozen=True, slots=True, eq=False)
class BoostingView:
    """Everything that the pictures of the rounds of a boosted classifier share.

    Attributes
    ----------
    model : fitted classifier
    frames : sequence of frames
        One per round: ``weights`` of the rows before it, ``error``, ``alpha`` and ``wrong``.
    rounds : list of int
        Numbers of these rounds, from 1.
    section : Section
        The two columns shown.
    rows : WeightedRows
    cells : Cells
    ensemble_codes : list of arrays
        Class index that the ensemble predicts in each cell after each round.
    ensemble_errors : list of float, optional
        Error of the ensemble on the rows after each round; None without classes.
    """

    model: Any
    frames: Sequence[Any]
    rounds: list[int]
    section: Section
    rows: WeightedRows
    cells: Cells
    ensemble_codes: list[Array]
    ensemble_errors: list[float] | None

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
        """Prepare the frames of a fit to these rows."""
        section = _section(model, X, columns)
        n_rows = len(section.points)
        _check_frames(frames, n_rows)
        codes = None if y is None else class_codes(model, y, n_rows)
        drawn = section.sample(max_points, random_state)
        max_weight = max(float(relative_weights(frame)[drawn].max()) for frame in frames)
        rows = WeightedRows.of(section.points, drawn, codes, list(model.classes_), max_weight)
        rounds = round_numbers(frames)
        cells = Cells.of(model.estimators_, section, resolution)
        ensemble_codes = _staged_codes(model, section.rows(cells.points), rounds)
        errors = None
        if codes is not None:
            predicted = _staged_codes(model, X if section.plain else section.table, rounds)
            errors = [float(np.mean(stage != codes)) for stage in predicted]
        return cls(model, frames, rounds, section, rows, cells, ensemble_codes, errors)

    @property
    def errors(self) -> list[float]:
        """Weighted error of each round's estimator."""
        return [float(frame["error"]) for frame in self.frames]

    @property
    def estimator_weights(self) -> list[float]:
        """Weight of each round's estimator."""
        return [float(frame["alpha"]) for frame in self.frames]

    def draw(self, ax: Any, index: int) -> None:
        """Draw one round: the ensemble after it, its estimator, and the rows."""
        frame, ensemble = self.frames[index], self.ensemble_codes[index]
        colors = pale_colors(np.eye(len(self.model.classes_)))[ensemble]
        ax.pcolormesh(
            *self.cells.edges, colors.reshape(*self.cells.shape, 3), zorder=0.5, rasterized=True
        )
        estimator = self._estimator_codes(index)
        if estimator is not None:
            look = {"linewidth": _ESTIMATOR_WIDTH, "linestyle": _DASHES, "gid": "estimator"}
            self._draw_borders(ax, estimator, **look)
        self._draw_borders(ax, ensemble, linewidth=_ENSEMBLE_WIDTH, gid="ensemble")
        self.rows.draw(ax, relative_weights(frame), np.asarray(frame["wrong"], dtype=bool))
        ax.set_xlim(self.section.low[0], self.section.high[0])
        ax.set_ylim(self.section.low[1], self.section.high[1])

    def add_legend(self, figure: Any) -> None:
        """Add the legend of areas, lines, rings and colors below the figure."""
        handles = [*_line_handles(), *self.rows.legend_handles()]
        n_fitting = int(figure.bbox.width / figure.dpi / _LEGEND_ENTRY)
        figure.legend(
            handles=handles, loc="outside lower center",
            ncols=min(-(-len(handles) // 2), n_fitting),
            fontsize=TICK_SIZE, labelcolor=INK, frameon=False, columnspacing=1.8,
        )  # fmt: skip

    def _estimator_codes(self, index: int) -> Array | None:
        """Return the class that the round's estimator predicts per cell; None if not kept."""
        number = self.rounds[index]
        if number > len(self.model.estimators_):
            return None
        rows = self.section.rows(self.cells.points)
        predicted = np.asarray(self.model.estimators_[number - 1].predict(rows))
        return class_indices(predicted, np.asarray(self.model.classes_))

    def _draw_borders(self, ax: Any, codes: Array, **look: Any) -> None:
        from matplotlib.collections import LineCollection

        # Above the rows, or many rows would hide the line; a white rim separates the two.
        rim = {"color": "white", "linewidth": _RIM_WIDTH, "alpha": 0.5, "zorder": 2.5}
        for line in (rim, {"color": INK, "zorder": 2.6, **look}):
            ax.add_collection(LineCollection(self.cells.borders(codes), **line), autolim=False)


def check_boosted(model: Any) -> None:
    """Raise ValueError unless the model is a fitted classifier boosted round by round."""
    if model is None:
        raise ValueError("A trace of boosting requires its ensemble: play the fitted model.")
    if not all(hasattr(model, name) for name in ("estimators_", "staged_predict", "classes_")):
        raise ValueError(
            f"model must be an AdaBoostClassifier fitted with trace=True, got "
            f"{type(model).__name__}."
        )


def round_numbers(frames: Sequence[Any]) -> list[int]:
    """Return the numbers of the frames' rounds, from 1."""
    return [frame_iteration(frame, index + 1) for index, frame in enumerate(frames)]


def relative_weights(frame: Any) -> Array:
    """Return the weights of the rows before a round, relative to their mean."""
    weights = np.asarray(frame["weights"], dtype=float)
    relative: Array = weights / weights.mean()
    return relative


def _check_frames(frames: Sequence[Any], n_rows: int) -> None:
    """Raise ValueError for frames without row weights, or of other rows."""
    for frame in frames:
        absent = sorted(FRAME - frame_names(frame))
        if absent:
            raise ValueError(
                f"The trace does not contain {' and '.join(absent)}, which were too large to keep: "
                "fit fewer rows with trace=True."
            )
        if len(frame["weights"]) != n_rows:
            raise ValueError(
                f"X must have the {len(frame['weights']):,} rows that the model was fitted to, got "
                f"{n_rows:,}."
            )


def _staged_codes(model: Any, rows: Any, rounds: Sequence[int]) -> list[Array]:
    """Return the class indices predicted by the ensemble after each of ``rounds``.

    After a round whose estimator was not kept this is the whole ensemble.
    """
    classes = np.asarray(model.classes_)
    small = np.min_scalar_type(len(classes))
    last = len(model.estimators_)
    needed = {min(number, last) for number in rounds}
    found = {
        stage: class_indices(np.asarray(predicted), classes).astype(small)
        for stage, predicted in enumerate(model.staged_predict(rows), start=1)
        if stage in needed
    }
    return [found[min(number, last)] for number in rounds]


def _section(model: Any, X: Any, columns: Sequence[str | int] | None) -> Section:
    """Take the section; columns must be given if there are more than two."""
    schema = Table.of(X, getattr(model, "schema_", None)).schema
    section = Section.of(model, X, columns)
    if columns is None and len(schema) > 2:
        raise ValueError(
            f"columns must be given for a table of {len(schema)} columns, for example "
            f"columns={section.names!r}; the others are fixed at their median or most frequent "
            "category."
        )
    return section


def _line_handles() -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=INK, linewidth=_ESTIMATOR_WIDTH, linestyle=_DASHES,
               label="estimator of the round"),
        Line2D([], [], color=INK, linewidth=_ENSEMBLE_WIDTH, label="ensemble so far"),
    ]  # fmt: skip
