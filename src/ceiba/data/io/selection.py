"""Requested columns of files: their names, kinds and roles."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import MAX_CATEGORIES, list_labels, plain_labels
from ceiba.data.column import check_kind
from ceiba.data.conversion import column_values
from ceiba.data.io.errors import ReadError
from ceiba.data.io.types import KindRequest
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table


def check_kinds(
    kinds: Mapping[str, str | Sequence[Any]] | None, names: Sequence[str], path: Path
) -> dict[str, KindRequest]:
    """Validate the requested kinds of a file's columns."""
    requests: dict[str, KindRequest] = {}
    for name, request in (kinds or {}).items():
        check_name(name, names, path)
        if isinstance(request, str):
            check_kind(name, request)
        requests[name] = request if isinstance(request, str) else plain_labels(request, name)
    return requests


def check_columns(
    columns: Sequence[str] | None, names: Sequence[str], path: Path
) -> tuple[str, ...]:
    """Validate the requested columns; all of them for None."""
    if columns is None:
        return tuple(names)
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got a str: use columns=[{columns!r}].")
    chosen = tuple(columns)
    if not chosen:
        raise ValueError("columns must name at least one column, got an empty list.")
    for name in chosen:
        check_name(name, names, path)
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"columns must not name a column twice, got {list(chosen)!r}.")
    return chosen


def check_name(name: str, names: Sequence[str], path: Path) -> None:
    """Raise ReadError if the file has no such column, and suggest a similar name."""
    if name in names:
        return
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {list_labels(names)}."
    raise ReadError.at(path, f"the file has no column {name!r}: {hint}")


def add_categories(
    known: dict[str, set[Any]], column: str, labels: Iterable[Any], path: Path
) -> None:
    """Add labels to the known categories of a column; raise ReadError for too many."""
    categories = known.setdefault(column, set())
    categories.update(labels)
    if len(categories) > MAX_CATEGORIES:
        raise ReadError.at(
            path,
            f"the column has more than {MAX_CATEGORIES:,} different categories, like an "
            "identifier. Leave it out by naming the other columns in `columns`, or declare it in "
            "`kinds`.",
            column=column,
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """Columns to scan: attributes, target, weight, and requested kinds.

    ``all_columns`` means that the attributes are all columns but target and weight.
    """

    attributes: tuple[str, ...]
    target: str | None
    weight: str | None
    kinds: Mapping[str, KindRequest]
    all_columns: bool

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        path: Path,
        columns: Sequence[str] | None,
        target: str | None,
        weight: str | None,
        kinds: Mapping[str, str | Sequence[Any]] | None,
    ) -> Selection:
        """Validate a selection from a file with columns ``names``."""
        others = [name for name in (target, weight) if name is not None]
        for name in others:
            check_name(name, names, path)
        if target is not None and target == weight:
            raise ValueError(f"target and weight must be different columns, got {target!r} twice.")
        attributes = tuple(n for n in check_columns(columns, names, path) if n not in others)
        if not attributes:
            raise ReadError.at(path, "no column is left for the attributes.")
        return cls(attributes, target, weight, check_kinds(kinds, names, path), columns is None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all selected columns."""
        others = (name for name in (self.target, self.weight) if name is not None)
        return (*self.attributes, *others)

    def check_file(self, names: Sequence[str], path: Path, first: Path) -> None:
        """Raise ReadError if a file lacks a selected column or has an unexpected one."""
        for name in self.names:
            if name not in names:
                problem = f"the file has no such column, but {first} has."
                raise ReadError.at(path, problem, column=name)
        extra = [name for name in names if name not in self.names]
        if self.all_columns and extra:
            problem = f"{first} has no such column. Name the columns to read in `columns`."
            raise ReadError.at(path, problem, column=extra[0])

    def roles(self, columns: Mapping[str, Column], named: bool) -> ColumnRoles:
        """Return the inferred columns by role."""
        weight = None if self.weight is None else columns[self.weight]
        if weight is not None and weight.kind is not Kind.NUMERIC:
            raise ReadError(
                f"weight must be a numeric column, got {weight.name!r} ({weight.kind})."
            )
        return ColumnRoles(
            Schema(tuple(columns[name] for name in self.attributes), named),
            None if self.target is None else columns[self.target],
            weight,
        )


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Columns of the attributes, the target and the weight."""

    schema: Schema
    target: Column | None = None
    weight: Column | None = None

    @property
    def columns(self) -> list[Column]:
        """All columns."""
        others = [column for column in (self.target, self.weight) if column is not None]
        return [*self.schema, *others]

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return [column.name for column in self.columns]

    def chunk(self, make_table: Callable[[Schema], Table], partition: str) -> Chunk:
        """Build the chunk of a partition; ``make_table`` returns its columns of any schema."""
        target = weight = None
        if self.target is not None:
            target = known_values(make_table(Schema((self.target,))), partition)
        if self.weight is not None:
            weight = known_values(make_table(Schema((self.weight,))), partition)
            weight = weight.astype(np.float64)
        return Chunk(make_table(self.schema), target, weight)


def known_values(table: Table, where: str) -> Array:
    """Return the only column of a table as numbers, times or labels, without missing values."""
    missing = table.missing_mask(0)
    if missing is not None:
        raise ReadError(
            f"{where}: column {table.schema[0].name!r} is missing in row "
            f"{int(np.argmax(missing)) + 1}. Target and weight must not be missing: remove such "
            "rows."
        )
    return column_values(table, 0)
