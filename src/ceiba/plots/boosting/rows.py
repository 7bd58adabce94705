"""Rows of boosting on paper: as large as they weigh, ringed where they are missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.planes.scatter import point_size
from ceiba.plots.style import INK, MARKERS, MUTED, colour_of

_RING, _RIM = 1.6, 0.6  # lines about rows that are missed, and about the others
_FULL = 5.0  # diameter from which on they are so wide
_LEGEND_CLASSES = 7
_KEY = "#BDBDBD"
_KEYS = {1: "mean weight", 10: "10 times as heavy"}
# Markers of one box cover other shares of it: factors that make them equally large.
_BOXES = {"o": 1.0, "s": 0.785, "^": 1.571, "D": 0.785, "v": 1.571, "P": 1.414, "X": 1.571}
# Area of rows, square points: of mean weight, of next to no weight, and at most: of few rows the
# greater one, for many would hide each other.
_MEAN = (8.0, 34.0)
_SMALLEST = 3.0
_LARGEST = (300.0, 900.0)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRows:
    """Rows to be drawn with one weight after another.

    Attributes
    ----------
    points : array of shape (n_rows, 2)
    drawn : array of int
        Numbers of the rows to draw.
    codes : array of int, optional
        Class of each row; None where nobody said, and rows are grey.
    classes : sequence
    unit, largest : float
        Area of a row of mean weight, and of one that is as heavy as can be shown, square points.
    """

    points: Array
    drawn: Array
    codes: Array | None
    classes: Sequence[Any]
    unit: float
    largest: float

    @classmethod
    def of(
        cls,
        points: Array,
        drawn: Array,
        codes: Array | None,
        classes: Sequence[Any],
        heaviest: float,
    ) -> WeightedRows:
        """The rows, with an area of the mean weight by which the heaviest has room.

        ``heaviest`` is the greatest weight to be drawn, in parts of the mean.
        """
        largest = float(np.clip(100_000 / len(drawn), *_LARGEST))
        unit = float(np.clip(min(point_size(len(drawn)), largest / heaviest), *_MEAN))
        return cls(points, drawn, codes, classes, unit, largest)

    def areas(self, weights: Array) -> Array:
        """Area of each row by its weight in parts of the mean."""
        areas: Array = np.clip(self.unit * weights, _SMALLEST, self.largest)
        return areas

    def draw(self, ax: Any, weights: Array, wrong: Array) -> None:
        """Draw them by weight, the smaller on top, with rings about those that are ``wrong``."""
        areas = self.areas(weights)
        order = self.drawn[np.argsort(-areas[self.drawn], kind="stable")]
        # The rims of small rows are thin, or nothing would be left of their colour.
        rims = np.where(wrong, _RING, _RIM) * np.minimum(np.sqrt(areas) / _FULL, 1.0)
        shapes = [self._shape(code) for code in self._codes(order)]
        points = ax.scatter(
            *self.points[order].T, s=areas[order] * [_BOXES[shape] for shape in shapes],
            c=[self._colour(code) for code in self._codes(order)],
            edgecolors=np.where(wrong[order], INK, "white"), linewidths=rims[order], zorder=2,
            gid="rows",
        )  # fmt: skip
        # One collection of all shapes: a call for each would put a whole class on top.
        points.set_paths([_outline(shape) for shape in shapes])

    def legend_handles(self) -> list[Any]:
        """Sizes, the ring about missed rows, and the classes, for a legend."""
        keys = [
            _dot(words, markersize=np.sqrt(times * self.unit), markeredgewidth=0, color=_KEY)
            for times, words in _KEYS.items()
        ]
        ring = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": _RING}
        missed = _dot("missed in the round", **ring)
        if self.codes is None or len(self.classes) > _LEGEND_CLASSES:
            return [*keys, missed]
        named = [c if isinstance(c, str) else f"class {c}" for c in self.classes]
        classes = [
            _dot(words, color=self._colour(code), marker=self._shape(code))
            for code, words in enumerate(named)
        ]
        return [*keys, missed, *classes]

    def _codes(self, rows: Array) -> Array:
        return np.full(len(rows), -1) if self.codes is None else self.codes[rows]

    def _colour(self, code: int) -> str:
        return MUTED if self.codes is None else colour_of(code)

    def _shape(self, code: int) -> str:
        """A marker for each class where there are more than two colours: grey paper has few."""
        several = self.codes is not None and len(self.classes) > 2
        return MARKERS[code % len(MARKERS)] if several else "o"


def _dot(words: str, **look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=words, **{"marker": "o", "markersize": 6.5, **look})


def _outline(shape: str) -> Any:
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(shape)
    return style.get_path().transformed(style.get_transform())
