"""From rows of any width to two coordinates on paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows as floats, as distances see them, with the names of their columns."""

    values: Array
    names: list[str]

    @classmethod
    def of(cls, X: Any, model: Any = None) -> EncodedRows:
        """``X`` under the schema that ``model`` was fitted with, or under its own."""
        table = Table.of(X, getattr(model, "schema_", None))
        table.check_finite()
        encoding = Encoding.of(table.schema)
        return cls(np.asarray(encoding.apply(table), np.float64), encoding.names)


@dataclass(frozen=True, slots=True)
class Plane:
    """Where rows are drawn: on their own axes, or on the first two principal components.

    Attributes
    ----------
    middle : array of shape (d,)
        Mean of the observed values; a gap is drawn as if it were that.
    axes : array of shape (d, 2) or (d, 1)
    x, y : str
        What to write at the axes.
    """

    middle: Array
    axes: Array
    x: str
    y: str

    @classmethod
    def of(cls, rows: EncodedRows) -> Plane:
        """The plane for these rows; beyond two columns by principal components."""
        observed = ~np.isnan(rows.values)
        filled = np.where(observed, rows.values, 0.0)
        middle = filled.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
        if len(rows.names) == 1:
            return cls(middle, np.eye(1), rows.names[0], "")
        if len(rows.names) == 2:
            return cls(middle, np.eye(2), *rows.names)
        axes, shares = _principal(np.where(observed, rows.values - middle, 0.0))
        x, y = (f"principal axis {i} ({shares[i - 1]:.0%} of variance)" for i in (1, 2))
        return cls(middle, axes, x, y)

    def place(self, rows: Array) -> Array:
        """Coordinates of rows, (n, 2); rows of one column are spread along y, evenly."""
        gaps = np.isnan(rows)
        flat: Array = np.where(gaps, self.middle, rows) @ self.axes
        if flat.shape[1] == 2:
            return flat
        return np.column_stack([flat, _spread(len(flat))])

    def place_centres(self, centres: Array) -> Array:
        """Coordinates of centres, which in one dimension stand in the middle."""
        placed = self.place(centres)
        if self.axes.shape[1] == 1:
            placed[:, 1] = 0.5
        return placed

    def dress(self, ax: Any) -> None:
        """Write at the axes what they are; one column has no second axis."""
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y)
        if not self.y:
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)


def _principal(centred: Array) -> tuple[Array, Array]:
    """First two principal axes (d, 2) and all shares of variance, largest first."""
    scale = np.abs(centred).max() or 1.0
    scatter = (centred / scale).T @ (centred / scale)
    variance, axes = np.linalg.eigh(scatter)
    variance, axes = np.maximum(variance[::-1], 0.0), axes[:, ::-1][:, :2]
    # An eigenvector's sign is arbitrary: the heaviest column points to the positive side.
    heaviest = np.argmax(np.abs(axes), axis=0)
    axes = axes * np.sign(axes[heaviest, [0, 1]])
    return axes, variance / (variance.sum() or 1.0)


def _spread(n: int) -> Array:
    """Numbers between 0 and 1 that fill the line evenly from any start (golden ratio)."""
    spread: Array = (np.arange(n) * 0.6180339887498949) % 1.0
    return spread


def draw_sample(n_rows: int, most: int, random_state: Any = 0) -> Array:
    """Numbers of the rows to draw, in order: all of them, or ``most`` at random."""
    if most < 1:
        raise ValueError(f"max_points={most}: give the number of rows to draw, 1 or more")
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, most, replace=False))


def limits(points: Sequence[Array], margin: float = 0.06) -> tuple[Array, Array]:
    """Lower and upper corner of a box about all points, with a margin."""
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    size = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return low - margin * size, high + margin * size
