"""A section through the columns of a table, and the leaves of a tree in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target, class_indices
from ceiba.plots.projection import bounding_box, sample_rows
from ceiba.plots.style import mixed_colors, shorten, style_axes
from ceiba.tree.model.split import Split, branch_of, split_thresholds
from ceiba.tree.model.tree import Tree

_MAX_NAMED = 3  # fixed columns that the title lists one by one
_MAX_NAME = 60  # characters of a name along an axis
_DAY = 86_400e9  # nanoseconds
_PALE = 0.38  # weight of a class color in its region; the rest is white


@dataclass(frozen=True, slots=True, eq=False)
class LeafBoxes:
    """The exact boxes of a tree's leaves along some numeric columns.

    A row is in a box if low < value <= high in each shown column.
    """

    leaves: Array  # node of each leaf
    low: Array  # of shape (n_boxes, n_shown)
    high: Array

    @classmethod
    def of(
        cls, tree: Tree, low: Array, high: Array, shown: Sequence[int], fixed: Sequence[Any] = ()
    ) -> LeafBoxes:
        """Find the boxes between two corners, in the order of the tree's branches.

        ``fixed`` holds a number or category code per column; shown columns are ignored.
        """
        found = []
        stack = [(0, low, high)]
        while stack:
            node, low, high = stack.pop()
            if tree.is_leaf[node]:
                found.append((node, low, high))
                continue
            split, children = tree.split(node), tree.children(node)
            if split.column in shown:
                parts = _divide(split, low, high, shown.index(split.column))
            else:
                parts = [(branch_of(split, fixed[split.column], tree.schema), low, high)]
            stack += [(children[branch], begin, end) for branch, begin, end in reversed(parts)]
        leaves, lows, highs = (np.array(part) for part in zip(*found, strict=True))
        return cls(leaves, lows, highs)

    @property
    def outlines(self) -> Array:
        """Corners of the rectangles along two columns, of shape (n_boxes, 4, 2)."""
        (x0, y0), (x1, y1) = self.low.T, self.high.T
        corners = (x0, y0), (x1, y0), (x1, y1), (x0, y1)
        return np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)


def _divide(split: Split, low: Array, high: Array, axis: int) -> list[tuple[int, Array, Array]]:
    """Divide a box at the thresholds of a split; return each branch with its part."""
    parts = []
    for branch, (above, upto) in enumerate(pairwise((-np.inf, *split_thresholds(split), np.inf))):
        begin, end = low.copy(), high.copy()
        begin[axis], end[axis] = max(low[axis], above), min(high[axis], upto)
        if begin[axis] < end[axis]:
            parts.append((branch, begin, end))
    return parts


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A section through a table: some numeric columns shown, the others fixed."""

    table: Table  # under the model's schema
    shown: tuple[int, ...]  # columns along the axes
    fixed: list[Any]  # value or category code of each other column; None if it is shown
    points: Array  # of shape (n_rows, n_shown); NaN if missing
    low: Array  # corners of the visible region
    high: Array
    plain: bool  # the model takes arrays or frames, as in scikit-learn, instead of tables

    @classmethod
    def of(
        cls, model: Any, X: Any, columns: Sequence[str | int] | None = None, width: int = 2
    ) -> Section:
        """Take the section along the given columns, or the most important ones."""
        schema = getattr(model, "schema_", None)
        table = Table.of(X, schema)
        table.check_finite()
        shown = shown_columns(model, table.schema, columns, width)
        fixed = [None if j in shown else _typical(table, j) for j in range(len(table.schema))]
        points = np.column_stack([_as_floats(table, j) for j in shown])
        complete = points[~np.isnan(points).any(axis=1)]
        if not len(complete):
            raise ValueError("X must have a row without missing values in the shown columns.")
        low, high = bounding_box([complete])
        return cls(table, shown, fixed, points, low, high, schema is None)

    @property
    def names(self) -> list[str]:
        """Names of the shown columns."""
        return [self.table.schema[j].name for j in self.shown]

    @property
    def fixed_text(self) -> str:
        """Values of the fixed columns in words; empty if there are none."""
        others = [j for j, value in enumerate(self.fixed) if value is not None]
        if len(others) > _MAX_NAMED:
            return f"{len(others)} other columns fixed at the median or most frequent category"
        return "fixed: " + ", ".join(self._fixed_value(j) for j in others) if others else ""

    def rows(self, points: Array) -> Any:
        """Return rows with these values (n, n_shown) in the shown columns, for the model."""
        columns = [
            np.ascontiguousarray(points[:, self.shown.index(j)])
            if value is None
            else np.full(len(points), value)
            for j, value in enumerate(self.fixed)
        ]
        if self.plain and not self.table.schema.named and self.table.schema.all_numeric:
            return np.column_stack(columns).astype(float)
        schema = Schema(
            tuple(
                replace(column, dtype="float64") if j in self.shown else column
                for j, column in enumerate(self.table.schema)
            ),
            self.table.schema.named,
        )
        table = Table.from_columns(columns, schema)
        return table.to_pandas() if self.plain else table

    def boxes(self, tree: Tree) -> LeafBoxes:
        """Return the boxes of a tree's leaves in this section."""
        return LeafBoxes.of(tree, self.low, self.high, self.shown, self.fixed)

    def sample(self, max_points: int, random_state: Any = 0) -> Array:
        """Return the indices of rows to draw, without missing values in the shown columns."""
        complete = np.flatnonzero(~np.isnan(self.points).any(axis=1))
        return complete[sample_rows(len(complete), max_points, random_state)]

    def label_axes(self, ax: Any, title: str, max_name: int = _MAX_NAME) -> None:
        """Set limits, axis labels and the title with the values of fixed columns."""
        title += f"\n{self.fixed_text}" if self.fixed_text else ""
        x, y = (shorten(name, max_name) for name in self.names)
        style_axes(ax, title=title, x=x, y=y)
        ax.set_xlim(self.low[0], self.high[0])
        ax.set_ylim(self.low[1], self.high[1])

    def _fixed_value(self, j: int) -> str:
        column, value = self.table.schema[j], self.fixed[j]
        if column.kind is not Kind.NUMERIC:
            return f"{column.name} = {column.categories[value]}"
        if column.dtype.startswith("datetime"):
            return f"{column.name} = {np.datetime_as_string(value.view('M8[ns]'), unit='auto')}"
        if column.temporal:
            return f"{column.name} = {value / _DAY:.4g} days"
        return f"{column.name} = {value:.4g}"


def shown_columns(
    model: Any, schema: Schema, columns: Sequence[str | int] | None, width: int
) -> tuple[int, ...]:
    """Return the indices of the numeric columns to show: the given or most important ones."""
    numeric = [j for j, c in enumerate(schema) if c.kind is Kind.NUMERIC and not c.temporal]
    if columns is None:
        if len(numeric) < width:
            one = ": draw a regression tree of one column with plots.step_functions"
            remedy = one if len(schema) == 1 and not hasattr(model, "classes_") else ""
            raise ValueError(
                f"X must have at least {width} numeric columns, got {len(numeric)}{remedy}."
            )
        importances = getattr(model, "feature_importances_", np.zeros(len(schema)))
        return tuple(sorted(sorted(numeric, key=lambda j: -importances[j])[:width]))
    if isinstance(columns, str) or len(columns) != width:
        raise ValueError(f"columns must be {width} names or indices, got {columns!r}.")
    found = tuple(_column_index(schema, column) for column in columns)
    if len(set(found)) < width:
        raise ValueError(f"columns must be {width} different columns, got {columns!r}.")
    for j in found:
        if j not in numeric:
            kind = "temporal" if schema[j].temporal else schema[j].kind
            names = ", ".join(repr(schema[k].name) for k in numeric[:5])
            raise ValueError(
                f"columns must be numeric, but {schema[j].name!r} is {kind}: choose among {names}."
            )
    return found


def _column_index(schema: Schema, column: str | int) -> int:
    if isinstance(column, str):
        if column not in schema.names:
            near = get_close_matches(column, schema.names, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"columns must be among {', '.join(map(repr, schema.names[:8]))}"
                f"{', ...' * (len(schema) > 8)}, got {column!r}.{meant}"
            )
        return schema.names.index(column)
    if not 0 <= column < len(schema):
        raise ValueError(f"columns must be indices from 0 to {len(schema) - 1}, got {column}.")
    return int(column)


def _as_floats(table: Table, j: int) -> Array:
    """Return a numeric column as floats, with NaN for missing values."""
    values, missing = table.column(j).astype(np.float64), table.missing_mask(j)
    return values if missing is None else np.where(missing, np.nan, values)


def _typical(table: Table, j: int) -> Any:
    """Return the lower median of a column, or the code of its most frequent category."""
    missing = table.missing_mask(j)
    observed = table.column(j) if missing is None else table.column(j)[~missing]
    if not len(observed):
        raise ValueError(
            f"column {table.schema[j].name!r} has no observed value to be fixed at: pass rows with "
            "at least one."
        )
    if table.schema[j].kind is Kind.NOMINAL:
        return np.bincount(observed).argmax()
    return np.sort(observed)[(len(observed) - 1) // 2]


def pale_colors(probabilities: Array) -> Array:
    """Return pale RGB colors (n, 3) mixed by class probabilities (n, n_classes)."""
    return 1 - _PALE * (1 - mixed_colors(probabilities, range(probabilities.shape[1])))


def class_codes(model: Any, y: Any, n_rows: int) -> Array:
    """Return the class index of each row; ValueError for a class that the model lacks."""
    target = Target.of(y, n_rows)
    assert target.classes is not None
    codes: Array = class_indices(target.classes, np.asarray(model.classes_))[target.values]
    return codes
