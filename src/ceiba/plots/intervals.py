"""Draw the intervals of discretized columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes import Discretizer
from ceiba.data.schema import Column, Kind
from ceiba.data.table import Table
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted, model_error
from ceiba.plots.planes.section import class_codes

_DAY = 86_400e9  # nanoseconds
_N_BARS = 40
_MAX_PANELS = 12
_MAX_COLUMNS = 3


@documented
def intervals(
    model: Discretizer,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    figure: Any = None,
) -> Any:
    """Draw histograms of numeric columns with the thresholds that divide them.

    Missing and infinite values are not drawn.

    Parameters
    ----------
    model : fitted Discretizer
    {rows}
    y : array of shape (n_rows,), optional
        Classes of the rows, for stacked bars; only of a model fitted with classes.
    columns : sequence of str or int, optional
        Numeric columns to draw, by name or index. By default the first twelve.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import Discretizer, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = Discretizer().fit(iris.table, iris.y)
    >>> picture = plots.intervals(model, iris.table, iris.y, columns=["petal width (cm)"])
    >>> picture.axes[0].get_xlabel()
    'petal width (cm)'
    """
    if not isinstance(model, Discretizer) or not is_fitted(model):
        raise model_error("model", "a fitted Discretizer, followed by the rows X", model)
    table = Table.of(X, model.schema_, warn=False)
    labels, classes = _labels(model, y, len(table))
    shown = _column_indices(model, columns)
    axes = style.panel_grid(figure, len(shown), _MAX_COLUMNS, (3.8, 2.7))
    for ax, j in zip(axes, shown, strict=True):
        _draw_column(ax, model, table, j, labels, len(classes))
    if len(classes) > 1:
        handles = [_handle(k, name) for k, name in enumerate(classes[: style.MAX_LEGEND])]
        if figure is None:
            position = {"loc": "outside upper left", "ncols": len(handles)}
            axes[0].figure.legend(handles=handles, **position, **style.LEGEND)
        else:
            style.add_legend(axes[0], "", beside=False, handles=handles)
    return axes[0].figure


def _labels(model: Discretizer, y: Any, n_rows: int) -> tuple[Array, list[str]]:
    """Return class indices of the rows and names of the classes; one class without y."""
    if y is None:
        return np.zeros(n_rows, np.int32), [""]
    if not hasattr(model, "classes_"):
        raise ValueError(f"y requires a model fitted with classes, got method={model.method!r}.")
    names = [style.shorten(name) for name in model.classes_.tolist()]
    return class_codes(model, y, n_rows), names


def _column_indices(model: Discretizer, columns: Sequence[str | int] | None) -> list[int]:
    schema = model.schema_
    found: list[Any]
    numeric = [j for j, column in enumerate(schema) if column.kind is Kind.NUMERIC]
    if columns is None:
        found = numeric[:_MAX_PANELS]
    else:
        found = [schema.names.index(c) if c in schema.names else c for c in columns]
    if not found or not set(found) <= set(numeric):
        raise ValueError(
            f"columns must be names or indices of numeric columns, got {columns!r}; these are "
            f"{[schema[j].name for j in numeric]!r}."
        )
    return found


def _draw_column(
    ax: Any, model: Discretizer, table: Table, j: int, labels: Array, n_classes: int
) -> None:
    column, missing = model.schema_[j], table.missing_mask(j)
    values = _positions(table.column(j), column)
    drawn = np.isfinite(values) if missing is None else np.isfinite(values) & ~missing
    parts = [values[drawn & (labels == k)] for k in range(n_classes)]
    colors = [style.color_of(k) for k in range(n_classes)] if n_classes > 1 else [style.MUTED]
    ax.hist(parts, bins=_N_BARS, stacked=True, color=colors, linewidth=0)
    thresholds = model.thresholds_[column.name]
    raw = thresholds.view(np.int64) if column.temporal else thresholds
    for threshold in _positions(raw, column):
        ax.axvline(threshold, color=style.INK, linewidth=1.2, linestyle=(0, (4, 2)))
    if column.dtype.startswith("datetime"):
        ax.xaxis_date()
    unit = " (days)" if column.dtype.startswith("timedelta") else ""
    style.style_axes(ax, x=style.shorten(column.name) + unit, y="rows", grid="y")
    style.set_note(ax, style.count_text(len(thresholds) + 1, "interval"))


def _positions(values: Array, column: Column) -> Array:
    """Return values on the axis: numbers, or days."""
    positions = values.astype(np.float64)
    return positions / _DAY if column.temporal else positions


def _handle(k: int, name: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=style.color_of(k), label=name)
