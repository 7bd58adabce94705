"""A table written as comma-separated text, read with declared kinds: no column is guessed."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.io.csv_file import read_csv
from ceiba.data.io.dialect import Style
from ceiba.data.io.errors import ReadError
from ceiba.data.io.text_file import BOM
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.datasets.entry import Rows, Task

# Only an empty field is a gap: "?" or "NA" in such a text is a mistake and must not pass.
_STYLE = Style(delimiter=",", header=True, missing=("",))


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a text table are.

    Parameters
    ----------
    target : str
        The column to predict. Rows in which it is missing are left out.
    task : Task
        Decides whether the target is read as labels or as numbers.
    nominal, numeric : tuple of str
        Columns of that kind.
    ordinal : mapping of str to tuple
        Ordinal columns with their levels, lowest first.
    rest : Kind or None
        Kind of the columns that are named nowhere else, numeric or nominal; None if there must
        be no such column.
    row_names : str, optional
        A column that names the rows and is no attribute.
    """

    target: str
    task: Task = Task.CLASSIFICATION
    nominal: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    rest: Kind | None = Kind.NUMERIC
    row_names: str | None = None

    def named(self) -> list[str]:
        """Every column that is spoken of."""
        apart = [self.target] if self.row_names is None else [self.target, self.row_names]
        return [*self.nominal, *self.numeric, *self.ordinal, *apart]

    def kind(self, name: str) -> str | Sequence[Any] | None:
        """Kind of the column ``name`` (levels if it is ordinal); None if it must not be there."""
        if name in self.ordinal:
            return self.ordinal[name]
        if name == self.target:
            return Kind.NUMERIC if self.task is Task.REGRESSION else Kind.NOMINAL
        if name in self.nominal or name == self.row_names:
            return Kind.NOMINAL
        return Kind.NUMERIC if name in self.numeric else self.rest


def read_rows(raw: bytes, columns: Columns, where: Path) -> Rows:
    """Read text whose first line is the header; ``where`` is what an error message calls it."""
    table = read_csv(raw, where, _STYLE, "utf-8", None, _kinds(raw, columns, where))
    places = {name: place for place, name in enumerate(table.schema.names)}
    without = table.gaps(places[columns.target])
    table = table if without is None else table.take(~without)
    target = _cells(table, places.pop(columns.target))
    names = () if columns.row_names is None else _cells(table, places.pop(columns.row_names))
    return Rows(_attributes(table, places.values()), target, tuple(map(str, names)))


def _kinds(raw: bytes, columns: Columns, where: Path) -> dict[str, str | Sequence[Any]]:
    first = raw.split(b"\n", 1)[0].removeprefix(BOM).decode("utf-8", "replace")
    header = next(csv.reader([first.rstrip("\r")]), [])
    found = {name: columns.kind(name) for name in header}
    kinds = {name: kind for name, kind in found.items() if kind is not None}
    absent = [name for name in columns.named() if name not in header]
    strange = [name for name in header if name not in kinds]
    if absent or strange:
        problem = "is missing" if absent else "does not belong there"
        raise ReadError.at(
            where,
            f"the column {(absent or strange)[0]!r} {problem}; the header has {', '.join(header)}.",
        )
    return kinds


def _cells(table: Table, place: int) -> Array:
    column = table.schema[place]
    if column.kind is Kind.NUMERIC:
        return table.column(place).astype(np.float64)
    labels: Array = np.array(column.levels)[table.column(place)]
    return labels


def _attributes(table: Table, places: Iterable[int]) -> Table:
    columns, arrays = [], []
    for place in places:
        column, array = table.schema[place], table.column(place)
        if column.kind is Kind.NUMERIC:
            # Whole numbers as floats too, so that a numeric table is one float64 array.
            column, array = Column(column.name, Kind.NUMERIC), array.astype(np.float64)
            gaps = table.gaps(place)
            if gaps is not None:
                array[gaps] = np.nan
        elif column.kind is Kind.NOMINAL:
            column, array = _used_levels(column, array)
        columns.append(column)
        arrays.append(array)
    schema = Schema(tuple(columns))
    if schema.all_numeric:
        return Table.of(np.column_stack(arrays), schema)
    return Table.from_columns(arrays, schema)


def _used_levels(column: Column, codes: Array) -> tuple[Column, Array]:
    # A level may have stood only in rows that were left out.
    used = np.unique(codes[codes >= 0])
    if len(used) == len(column.levels):
        return column, codes
    levels = tuple(column.levels[code] for code in used)
    again = np.where(codes < 0, -1, np.searchsorted(used, codes))
    return Column(column.name, column.kind, levels, column.dtype), again
