"""A table in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.data.labels import plain
from ceiba.data.schema import Column, Kind

if TYPE_CHECKING:
    from ceiba.data.table import Table

_COLUMNS, _ROWS, _WIDTH = 12, 5, 40


def describe(table: Table) -> str:
    """Size of the table, then a line a column: name, kind, type or levels, first values."""
    n, d = table.n_rows, len(table.schema)
    head = f"Table of {n} row{'s' * (n != 1)} × {d} column{'s' * (d != 1)}"
    cells = [_cells(table, j) for j in range(min(d, _COLUMNS))]
    widths = [max((len(row[i]) for row in cells), default=0) for i in range(3)]
    lines = [
        "  " + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]])
        for row in cells
    ]
    more = [f"  ... {d - _COLUMNS} more"] if d > _COLUMNS else []
    return "\n".join([head, *lines, *more])


def _cells(table: Table, j: int) -> list[str]:
    column = table.schema[j]
    what = column.dtype if column.kind is Kind.NUMERIC else _short(str(column.levels))
    first = table.column(j)[:_ROWS]
    gaps = table.gaps(j)
    texts = [
        "?" if gaps is not None and gaps[i] else _text(first[i], column) for i in range(len(first))
    ]
    end = ", ..." if table.n_rows > _ROWS else ""
    return [_short(column.name), str(column.kind), what, ", ".join(texts) + end]


def _text(value: Any, column: Column) -> str:
    if column.kind is not Kind.NUMERIC:
        return _short(str(column.levels[value]))
    if column.temporal:
        return str(plain(np.array(value).view(column.dtype)[()]))
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
