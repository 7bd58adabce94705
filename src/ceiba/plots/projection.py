"""Project rows of any width on two coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table
from ceiba.plots.style import INK, MUTED


def encode_rows(X: Any, model: Any = None) -> tuple[Array, list[str]]:
    """Return rows as floats, encoded as for distances, and the names of their columns.

    They are read under the schema of a fitted model, or under their own.
    """
    table = Table.of(X, getattr(model, "schema_", None))
    table.check_finite()
    encoding = Encoding.of(table.schema)
    return np.asarray(encoding.apply(table), np.float64), encoding.names


@dataclass(frozen=True, slots=True)
class Projection:
    """The plane of a picture: two columns, or two principal components."""

    mean: Array  # of the observed values; replaces missing values
    axes: Array  # of shape (d, 2) or (d, 1)
    x: str  # axis labels
    y: str

    @classmethod
    def of(cls, rows: Array, names: Sequence[str]) -> Projection:
        """Choose the projection: principal components for more than two columns."""
        observed = ~np.isnan(rows)
        filled = np.where(observed, rows, 0.0)
        mean = filled.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
        if len(names) <= 2:
            return cls(mean, np.eye(len(names)), *[*names, ""][:2])
        axes, ratios = _principal_axes(np.where(observed, rows - mean, 0.0))
        x, y = (f"principal component {i} ({ratios[i - 1]:.0%} of variance)" for i in (1, 2))
        return cls(mean, axes, x, y)

    def project(self, rows: Array) -> Array:
        """Return coordinates (n, 2); rows of one column are spread evenly along y."""
        flat: Array = np.where(np.isnan(rows), self.mean, rows) @ self.axes
        if flat.shape[1] == 2:
            return flat
        return np.column_stack([flat, _golden_sequence(len(flat))])

    def project_centers(self, centers: Array) -> Array:
        """Return coordinates of centers; those of one column are at half height."""
        projected = self.project(centers)
        if self.axes.shape[1] == 1:
            projected[:, 1] = 0.5
        return projected

    def label_axes(self, ax: Any) -> None:
        """Set the axis labels; a single column has no second axis."""
        ax.set_xlabel(self.x)
        ax.set_ylabel(self.y or "rows, spread evenly", color=INK if self.y else MUTED)
        if not self.y:
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)


def _principal_axes(centered: Array) -> tuple[Array, Array]:
    """Return the first two principal axes (d, 2) and all ratios of explained variance."""
    scale = np.abs(centered).max() or 1.0
    scatter = (centered / scale).T @ (centered / scale)
    variance, axes = np.linalg.eigh(scatter)
    variance, axes = np.maximum(variance[::-1], 0.0), axes[:, ::-1][:, :2]
    # The sign of an eigenvector is arbitrary: make the largest coefficient positive.
    largest = np.argmax(np.abs(axes), axis=0)
    axes = axes * np.sign(axes[largest, [0, 1]])
    return axes, variance / (variance.sum() or 1.0)


def _golden_sequence(n: int) -> Array:
    """Return numbers in [0, 1) of which every prefix is spread evenly (golden ratio)."""
    sequence: Array = (np.arange(n) * 0.6180339887498949) % 1.0
    return sequence


def sample_rows(n_rows: int, max_points: int, random_state: Any = 0) -> Array:
    """Return the indices of the rows to draw, ascending: all, or a random sample."""
    if max_points < 1:
        raise ValueError(f"max_points must be at least 1, got {max_points}.")
    if n_rows <= max_points:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(random_state).choice(n_rows, max_points, replace=False))


def bounding_box(points: Sequence[Array], margin: float = 0.06) -> tuple[Array, Array]:
    """Return the lower and upper corner of a box around all points, with a margin."""
    stacked = np.concatenate(points)
    low, high = stacked.min(axis=0), stacked.max(axis=0)
    size = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return low - margin * size, high + margin * size
