"""Tables of comma-separated text with declared kinds, parsed without optional packages."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.column import ColumnValues
from ceiba.data.io.errors import ReadError, error_position
from ceiba.data.io.files import BOM, check_utf8
from ceiba.data.io.types import InferredType, TextColumn, build_table
from ceiba.data.schema import Column, Kind
from ceiba.datasets.dataset import LoadedTable, Task


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """Declared kinds of the columns of a text table.

    Rows in which the target is missing are left out. ``ordinal`` has the categories, lowest first;
    ``others`` is the kind of all other columns, "none" if there must be none. The column
    ``row_names`` is not an attribute.
    """

    target: str
    task: Task = Task.CLASSIFICATION
    nominal: Sequence[str] = ()
    numeric: Sequence[str] = ()
    ordinal: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    others: str = "numeric"
    row_names: str | None = None

    def column(self, name: str, texts: Sequence[str]) -> Column | None:
        """Return the column ``name`` with these distinct texts; None if it is unexpected."""
        if name in self.ordinal:
            return Column(name, Kind.ORDINAL, tuple(self.ordinal[name]), "codes")
        kind = self.others
        if name == self.target:
            kind = Kind.NUMERIC if self.task is Task.REGRESSION else Kind.NOMINAL
        elif name in self.nominal or name == self.row_names:
            kind = Kind.NOMINAL
        elif name in self.numeric:
            kind = Kind.NUMERIC
        # Whole numbers are float64 too, so that a numeric table is one float64 array.
        return None if kind == "none" else InferredType(text=True).column(name, str(kind), texts)


def read_text_table(raw: bytes, kinds: ColumnKinds, path: Path) -> LoadedTable:
    """Parse text whose first line is the header; ``path`` is its name in error messages.

    Only an empty field is a missing value: ``?`` or ``NA`` is not expected in such a text.
    """
    names, rows, lines = _split(raw, path)
    _check_names(names, kinds, path)
    target = names.index(kinds.target)
    kept = [index for index, row in enumerate(rows) if row[target]]
    columns: dict[str, tuple[Column, ColumnValues]] = {}
    for j, name in enumerate(names):
        texts = TextColumn.of([rows[index][j] or None for index in kept])
        column = kinds.column(name, texts.texts)
        assert column is not None
        with error_position(path, name, lambda row: lines[kept[row]]):
            columns[name] = column, texts.values(column)
    y = _labels(*columns.pop(kinds.target))
    row_names = () if kinds.row_names is None else _labels(*columns.pop(kinds.row_names))
    return LoadedTable(build_table(list(columns.values())), y, tuple(map(str, row_names)))


def _split(raw: bytes, path: Path) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the header, the rows and the line of each row."""
    check_utf8(raw, path)
    text = raw.removeprefix(BOM).decode("utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, lines = [], []
    try:
        for fields in reader:
            if fields:
                rows.append([text.strip() for text in fields])
                lines.append(reader.line_num - sum(text.count("\n") for text in fields))
    except csv.Error as error:
        raise ReadError.at(path, f"{error}.", line=reader.line_num) from None
    if len(rows) < 2:
        raise ReadError.at(path, "the file must have a header and at least one row.")
    header = rows[0]
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(header):
            problem = f"the record has {len(row)} fields, but the header has {len(header)}."
            raise ReadError.at(path, problem, line=line)
    return header, rows[1:], lines[1:]


def _check_names(names: Sequence[str], kinds: ColumnKinds, path: Path) -> None:
    header = f"the header has {', '.join(names)}"
    for name in (*kinds.nominal, *kinds.numeric, *kinds.ordinal, kinds.target, kinds.row_names):
        if name is not None and name not in names:
            raise ReadError.at(path, f"column {name!r} is absent; {header}.")
    for name in names:
        if kinds.column(name, ()) is None:
            raise ReadError.at(path, f"column {name!r} is unexpected; {header}.")


def _labels(column: Column, values: ColumnValues) -> Array:
    if column.kind is Kind.NUMERIC:
        return values.array
    labels: Array = np.array(column.categories)[values.array]
    return labels
