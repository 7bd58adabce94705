"""Draw one round of an AdaBoost classifier over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_indices
from ceiba.plots.boosting.cells import Cells
from ceiba.plots.models import model_error
from ceiba.plots.planes.section import Section, class_codes, pale_colors
from ceiba.plots.playback import frame_iteration, frame_names
from ceiba.plots.style import INK, LEGEND, MARKERS, MUTED, TICK_SIZE, color_of, point_size

# Values of a frame: weights of the rows before the round, and error, weight and misclassified rows
# of its estimator.
REQUIRED_VALUES = frozenset({"weights", "error", "alpha", "wrong"})

_ESTIMATOR_LINE: dict[str, Any] = {"linewidth": 1.1, "linestyle": (0, (4, 3))}
_ENSEMBLE_LINE: dict[str, Any] = {"linewidth": 1.5}
_RIM_WIDTH = 3.0  # of both boundaries
_LEGEND_ENTRY = 1.6  # inches

_RING_WIDTH, _EDGE_WIDTH = 1.6, 0.6  # lines around misclassified rows, and around the others
_FULL_WIDTH_DIAMETER = 5.0  # the lines of smaller rows are thinner
_MAX_LEGEND = 7  # classes
_KEY_COLOR = "#BDBDBD"
_KEYS = {1: "mean weight", 10: "10 × mean weight"}
# Markers in one bounding box differ in area: factors that make them equal.
_AREA_FACTORS = {"o": 1.0, "s": 0.785, "^": 1.571, "D": 0.785, "v": 1.571, "P": 1.414, "X": 1.571}
# Areas in square points: range of the area for the mean weight, minimum, and range of the maximum,
# which is larger for few rows, since many would hide each other.
_MEAN_AREA = (8.0, 34.0)
_MIN_AREA = 3.0
_MAX_AREA = (300.0, 900.0)


@dataclass(frozen=True, slots=True, eq=False)
class AdaBoostView:
    """Everything that the pictures of the rounds of an AdaBoost classifier share."""

    model: Any
    frames: Sequence[Any]  # one per round, with the values of REQUIRED_VALUES
    rounds: list[int]  # their numbers, from 1
    section: Section
    drawn: Array  # indices of the rows to draw
    codes: Array | None  # class index of each row; gray if None
    mean_area: float  # of a row of mean weight, in square points
    max_area: float
    cells: Cells
    ensemble_codes: list[Array]  # class index that the ensemble predicts per round and cell
    ensemble_errors: list[float] | None  # on the rows, per round; None without classes

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
    ) -> AdaBoostView:
        """Prepare the frames of a fit to these rows."""
        section = Section.of(model, X, columns)
        n_columns, n_rows = len(section.table.schema), len(section.points)
        if columns is None and n_columns > 2:
            raise ValueError(
                f"columns must be given for a table of {n_columns} columns, for example "
                f"columns={section.names!r}; the others are fixed at their median or most frequent "
                "category."
            )
        _check_frames(frames, n_rows)
        codes = None if y is None else class_codes(model, y, n_rows)
        drawn = section.sample(max_points, random_state)
        max_area = float(np.clip(100_000 / len(drawn), *_MAX_AREA))
        max_weight = max(float(relative_weights(frame)[drawn].max()) for frame in frames)
        mean_area = float(np.clip(min(point_size(len(drawn)), max_area / max_weight), *_MEAN_AREA))
        rounds = round_numbers(frames)
        cells = Cells.of(model.estimators_, section, resolution)
        ensemble_codes = _staged_codes(model, section.rows(cells.points), rounds)
        errors = None
        if codes is not None:
            predicted = _staged_codes(model, X if section.plain else section.table, rounds)
            errors = [float(np.mean(stage != codes)) for stage in predicted]
        return cls(
            model, frames, rounds, section, drawn, codes, mean_area, max_area, cells,
            ensemble_codes, errors,
        )  # fmt: skip

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
            self._draw_borders(ax, estimator, **_ESTIMATOR_LINE, gid="estimator")
        self._draw_borders(ax, ensemble, **_ENSEMBLE_LINE, gid="ensemble")
        self._draw_rows(ax, relative_weights(frame), np.asarray(frame["wrong"], dtype=bool))
        ax.set_xlim(self.section.low[0], self.section.high[0])
        ax.set_ylim(self.section.low[1], self.section.high[1])

    def add_legend(self, figure: Any) -> None:
        """Add the legend of lines, areas, rings and classes below the figure."""
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], **_ESTIMATOR_LINE, color=INK, label="estimator of the round"),
            Line2D([], [], **_ENSEMBLE_LINE, color=INK, label="ensemble so far"),
        ]
        for times, label in _KEYS.items():
            size = np.sqrt(times * self.mean_area)
            handles.append(_dot(label, markersize=size, markeredgewidth=0, color=_KEY_COLOR))
        ring = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": _RING_WIDTH}
        handles.append(_dot("misclassified in the round", **ring))
        if self.codes is not None and len(self.model.classes_) <= _MAX_LEGEND:
            for code, label in enumerate(list(self.model.classes_)):
                name = label if isinstance(label, str) else f"class {label}"
                handles.append(_dot(name, color=color_of(code), marker=self._marker(code)))
        n_fitting = int(figure.bbox.width / figure.dpi / _LEGEND_ENTRY)
        n_columns = min(-(-len(handles) // 2), n_fitting)
        look = {**LEGEND, "fontsize": TICK_SIZE, "columnspacing": 1.8}
        figure.legend(handles=handles, loc="outside lower center", ncols=n_columns, **look)

    def _draw_rows(self, ax: Any, weights: Array, wrong: Array) -> None:
        """Draw the rows, small ones on top, with rings around those that are ``wrong``."""
        areas = np.clip(self.mean_area * weights, _MIN_AREA, self.max_area)
        order = self.drawn[np.argsort(-areas[self.drawn], kind="stable")]
        # The edges of small rows are thin, or nothing would be left of their color.
        scale = np.minimum(np.sqrt(areas) / _FULL_WIDTH_DIAMETER, 1.0)
        widths = np.where(wrong, _RING_WIDTH, _EDGE_WIDTH) * scale
        codes = np.zeros(len(order), int) if self.codes is None else self.codes[order]
        markers = [self._marker(code) for code in codes]
        points = ax.scatter(
            *self.section.points[order].T,
            s=areas[order] * [_AREA_FACTORS[marker] for marker in markers],
            c=[MUTED if self.codes is None else color_of(code) for code in codes],
            edgecolors=np.where(wrong[order], INK, "white"), linewidths=widths[order], zorder=2,
            gid="rows",
        )  # fmt: skip
        # One collection for all markers: one per class would put a whole class on top.
        points.set_paths([_outline(marker) for marker in markers])

    def _marker(self, code: int) -> str:
        """Return a marker per class if there are more than two, for print without colors."""
        several = self.codes is not None and len(self.model.classes_) > 2
        return MARKERS[code % len(MARKERS)] if several else "o"

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


def _dot(label: str, **look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=label, **{"marker": "o", "markersize": 6.5, **look})


def _outline(marker: str) -> Any:
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())


def check_boosted(model: Any) -> None:
    """Raise an error unless the model is a fitted classifier boosted round by round."""
    if not all(hasattr(model, name) for name in ("estimators_", "staged_predict", "classes_")):
        raise model_error("model", "an AdaBoostClassifier fitted with trace=True", model)


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
        absent = sorted(REQUIRED_VALUES - frame_names(frame))
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
