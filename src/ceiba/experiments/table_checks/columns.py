"""Checks of single columns: kinds, missing values, identifiers, constants, infinity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ceiba._typing import Array
from ceiba.data.identifiers import MAX_DISTINCT_ROWS, has_few_rows
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.experiments.table_checks.result import (
    ColumnSummary,
    Finding,
    columns_text,
    count_text,
    quoted,
)

_MAX_MISSING = 0.5  # share of missing values, before a column is called mostly missing
# Numbers of rows may be spread: identifiers of a part of the rows of a larger table.
_MAX_SPREAD = 2


def summarize_columns(table: Table) -> list[ColumnSummary]:
    """Return kind, missing values and number of different values of every column."""
    found = []
    for j, column in enumerate(table.schema):
        missing = table.missing_mask(j)
        n_missing = 0 if missing is None else int(missing.sum())
        n_distinct = len(np.unique(known_values(table, j)))
        found.append(
            ColumnSummary(
                column.name, str(column.kind), column.dtype, n_missing, n_distinct,
                column.is_identifier,
            )
        )  # fmt: skip
    return found


def known_values(table: Table, j: int) -> Array:
    """Return the numbers or codes of a column that are not missing."""
    missing = table.missing_mask(j)
    return table.column(j) if missing is None else table.column(j)[~missing]


def numeric_column(table: Table, j: int) -> Array:
    """Return a numeric column as float64, missing values as NaN."""
    values, missing = table.column(j).astype(np.float64), table.missing_mask(j)
    if missing is not None:
        values[missing] = np.nan
    return values


def check_columns(table: Table, columns: Sequence[ColumnSummary]) -> Iterator[Finding]:
    """Yield the findings about single columns."""
    n = len(table)
    yield from _check_missing(columns, n)
    constant = [
        column.name
        for column in columns
        if column.n_distinct == 0 or (column.n_distinct == 1 and not column.n_missing)
    ]
    if constant:
        text = f"{columns_text(constant)} one value in all rows, or none: leave out."
        yield Finding("constant", "note", tuple(constant), text)
    if texts := [column.name for column in columns if column.is_identifier]:
        yield Finding(
            "identifier", "note", tuple(texts),
            f"{columns_text(texts)} a different text in every row, like an identifier: learners "
            "leave it out.",
        )  # fmt: skip
    numbers = [
        column.name for j, column in enumerate(columns) if _is_row_number(table, j, column, n)
    ]
    if numbers:
        yield Finding(
            "identifier", "warning", tuple(numbers),
            f"{columns_text(numbers)} a different whole number in every row, like row numbers or "
            "identifiers: leave out, since a learner can memorize them and new rows have others.",
        )  # fmt: skip
    few = [
        column.name
        for j, column in enumerate(columns)
        if not column.is_identifier and has_few_rows(table.schema[j], n - column.n_missing)
    ]
    if few:
        yield Finding(
            "many_categories", "note", tuple(few),
            f"{columns_text(few)} few rows per category: merge categories, or leave out.",
        )  # fmt: skip
    yield from _check_infinity(table)
    if times := [column.name for column in table.schema if column.temporal]:
        yield Finding(
            "time", "note", tuple(times),
            f"{columns_text(times)} times: if new rows are later than these, test the learners in "
            "order of time (protocol='time 5').",
        )  # fmt: skip


def _check_missing(columns: Sequence[ColumnSummary], n_rows: int) -> Iterator[Finding]:
    missing = sorted(
        (column for column in columns if 0 < column.n_missing < n_rows),
        key=lambda column: -column.n_missing,
    )
    if missing:
        largest = missing[0]
        yield Finding(
            "missing", "note", tuple(column.name for column in missing),
            f"{count_text(len(missing), 'column')} of {len(columns):,} "
            f"{'has' if len(missing) == 1 else 'have'} missing values, {quoted(largest.name)} "
            f"{'the largest share' if len(missing) > 1 else ''} "
            f"({largest.n_missing / n_rows:.1%}).".replace("  ", " "),
        )  # fmt: skip
    mostly = [column.name for column in missing if column.n_missing > _MAX_MISSING * n_rows]
    if mostly:
        yield Finding(
            "mostly_missing", "warning", tuple(mostly),
            f"{columns_text(mostly)} more missing than known values: find out why, and whether new "
            "rows will have them.",
        )  # fmt: skip


def _is_row_number(table: Table, j: int, column: ColumnSummary, n_rows: int) -> bool:
    """Return whether whole numbers differ in all rows, and are dense or sorted."""
    if column.kind != Kind.NUMERIC or table.schema[j].temporal or n_rows <= MAX_DISTINCT_ROWS:
        return False
    if column.n_distinct < n_rows or is_infinite(table, j):
        return False
    values = table.column(j)
    if values.dtype.kind == "f" and not (values % 1 == 0).all():
        return False
    steps = np.diff(values.astype(np.float64))
    is_sorted = bool((steps > 0).all() or (steps < 0).all())
    spread = float(values.max()) - float(values.min())
    return is_sorted or spread < _MAX_SPREAD * n_rows


def is_infinite(table: Table, j: int) -> bool:
    """Return whether a column has infinite values."""
    values = table.column(j)
    return values.dtype.kind == "f" and bool(np.isinf(values).any())


def _check_infinity(table: Table) -> Iterator[Finding]:
    infinite = [column.name for j, column in enumerate(table.schema) if is_infinite(table, j)]
    if infinite:
        yield Finding(
            "infinite", "warning", tuple(infinite),
            f"{columns_text(infinite)} infinite values, which learners refuse: correct them, or "
            "use NaN for missing values.",
        )  # fmt: skip
