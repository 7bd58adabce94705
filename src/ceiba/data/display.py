"""Tables as text and as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.data.categories import plain
from ceiba.data.schema import Column, Kind

if TYPE_CHECKING:
    from ceiba.data.table import Table

# Limits of the representation: columns, rows and characters per text.
MAX_COLUMNS, MAX_ROWS, _MAX_WIDTH = 12, 5, 40


def table_text(table: Table) -> str:
    """Return one line per column: name, kind, dtype or categories, and first values."""
    d = len(table.schema)
    cells = [_column_cells(table, j) for j in range(min(d, MAX_COLUMNS))]
    widths = [max(map(len, texts)) for texts in zip(*cells, strict=True)][:3]
    lines = ["  " + "  ".join(map(str.ljust, row, [*widths, 0])) for row in cells]
    more = [f"  ... {d - MAX_COLUMNS} more"] if d > MAX_COLUMNS else []
    return "\n".join([_title(table), *lines, *more])


def table_html(table: Table) -> str:
    """Return the first rows as an HTML table, with the kind of each column in its head."""
    shown = range(min(len(table.schema), MAX_COLUMNS))
    more = ["..."] if len(table.schema) > MAX_COLUMNS else []
    columns = [table.schema[j] for j in shown]
    names = [escape(shorten(column.name)) for column in columns] + more
    kinds = [f"<i>{column.kind}</i>" for column in columns] + more
    values = zip(*(_texts(table.head(MAX_ROWS), j) for j in shown), strict=True)
    rows = [[escape(text) for text in row] + more for row in values]
    if table.n_rows > MAX_ROWS:
        rows.append(["..."] * len(names))
    body = "".join(_html_row(row, "td") for row in rows)
    return (
        f"<table><caption>{escape(_title(table))}</caption><thead>{_html_row(names, 'th')}"
        f"{_html_row(kinds, 'td')}</thead><tbody>{body}</tbody></table>"
    )


def _html_row(cells: list[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def shorten(text: str) -> str:
    """Return a text of at most 40 characters."""
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 3] + "..."


def _title(table: Table) -> str:
    n, d = table.shape
    return f"Table of {n} row{'s' * (n != 1)} × {d} column{'s' * (d != 1)}"


def _column_cells(table: Table, j: int) -> list[str]:
    column = table.schema[j]
    # A category takes at least three characters of the tuple's text: more would not be shown.
    categories = column.categories[:_MAX_WIDTH]
    values = column.dtype if column.kind is Kind.NUMERIC else shorten(str(categories))
    end = ", ..." if table.n_rows > MAX_ROWS else ""
    texts = ", ".join(_texts(table.head(MAX_ROWS), j))
    return [shorten(column.name), str(column.kind), values, texts + end]


def _texts(table: Table, j: int) -> list[str]:
    """Return the values of a column as text, ``?`` for a missing value."""
    column, missing = table.schema[j], table.missing_mask(j)
    texts = [_text(value, column) for value in table.column(j)]
    if missing is None:
        return texts
    return ["?" if absent else text for text, absent in zip(texts, missing, strict=True)]


def _text(value: Any, column: Column) -> str:
    if column.kind is not Kind.NUMERIC:
        return shorten(str(column.categories[value])) if column.categories else ""
    if column.temporal:
        return str(plain(np.array(value).view(column.dtype)[()]))
    return str(value) if column.dtype.endswith("int64") else str(float(f"{value:.6g}"))
