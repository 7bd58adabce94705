"""Draw rows with an area proportional to their weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import INK, MARKERS, MUTED, color_of, point_size

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
class WeightedRows:
    """Rows to be drawn with varying weights.

    Attributes
    ----------
    points : array of shape (n_rows, 2)
    drawn : array of int
        Indices of the rows to draw.
    codes : array of int, optional
        Class index of each row; None if unknown, in which case the rows are gray.
    classes : sequence
    mean_area, max_area : float
        Area of a row of mean weight, and maximum area, in square points.
    """

    points: Array
    drawn: Array
    codes: Array | None
    classes: Sequence[Any]
    mean_area: float
    max_area: float

    @classmethod
    def of(
        cls,
        points: Array,
        drawn: Array,
        codes: Array | None,
        classes: Sequence[Any],
        max_weight: float,
    ) -> WeightedRows:
        """Choose the areas by ``max_weight``, the maximum weight relative to the mean."""
        max_area = float(np.clip(100_000 / len(drawn), *_MAX_AREA))
        area = min(point_size(len(drawn)), max_area / max_weight)
        return cls(points, drawn, codes, classes, float(np.clip(area, *_MEAN_AREA)), max_area)

    def areas(self, weights: Array) -> Array:
        """Return the area of each row by its weight relative to the mean."""
        areas: Array = np.clip(self.mean_area * weights, _MIN_AREA, self.max_area)
        return areas

    def draw(self, ax: Any, weights: Array, wrong: Array) -> None:
        """Draw the rows, small ones on top, with rings around those that are ``wrong``."""
        areas = self.areas(weights)
        order = self.drawn[np.argsort(-areas[self.drawn], kind="stable")]
        # The edges of small rows are thin, or nothing would be left of their color.
        scale = np.minimum(np.sqrt(areas) / _FULL_WIDTH_DIAMETER, 1.0)
        widths = np.where(wrong, _RING_WIDTH, _EDGE_WIDTH) * scale
        codes = np.full(len(order), -1) if self.codes is None else self.codes[order]
        markers = [self._marker(code) for code in codes]
        points = ax.scatter(
            *self.points[order].T, s=areas[order] * [_AREA_FACTORS[marker] for marker in markers],
            c=[self._color(code) for code in codes],
            edgecolors=np.where(wrong[order], INK, "white"), linewidths=widths[order], zorder=2,
            gid="rows",
        )  # fmt: skip
        # One collection for all markers: one per class would put a whole class on top.
        points.set_paths([_outline(marker) for marker in markers])

    def legend_handles(self) -> list[Any]:
        """Return handles for the areas, the ring of misclassified rows, and the classes."""
        keys = [
            _dot(label, markersize=np.sqrt(times * self.mean_area), markeredgewidth=0,
                 color=_KEY_COLOR)
            for times, label in _KEYS.items()
        ]  # fmt: skip
        ring = {"markerfacecolor": "none", "markeredgecolor": INK, "markeredgewidth": _RING_WIDTH}
        wrong = _dot("misclassified in the round", **ring)
        if self.codes is None or len(self.classes) > _MAX_LEGEND:
            return [*keys, wrong]
        names = [c if isinstance(c, str) else f"class {c}" for c in self.classes]
        classes = [
            _dot(name, color=self._color(code), marker=self._marker(code))
            for code, name in enumerate(names)
        ]
        return [*keys, wrong, *classes]

    def _color(self, code: int) -> str:
        return MUTED if self.codes is None else color_of(code)

    def _marker(self, code: int) -> str:
        """Return a marker per class if there are more than two, for print without colors."""
        several = self.codes is not None and len(self.classes) > 2
        return MARKERS[code % len(MARKERS)] if several else "o"


def _dot(label: str, **look: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", label=label, **{"marker": "o", "markersize": 6.5, **look})


def _outline(marker: str) -> Any:
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())
