"""Which columns of some files are attributes, which the target and which the weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.io.errors import ReadError
from ceiba.data.io.wishes import Wish, check_columns, check_kinds, check_name
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class Selection:
    """The names of the columns that are wanted, for what, and of what kinds.

    ``every`` says that the attributes are all columns of the first file but target and weight.
    """

    attributes: tuple[str, ...]
    target: str | None
    weight: str | None
    wishes: Mapping[str, Wish]
    every: bool

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
        """The selection from a file with these columns, refused where it names others."""
        apart = [name for name in (target, weight) if name is not None]
        for name in apart:
            check_name(name, names, path)
            if columns is not None and name in columns:
                raise ValueError(f"{name!r} is named in columns and as target or weight: choose.")
        if target is not None and target == weight:
            raise ValueError(f"{target!r} is named both as target and as weight.")
        attributes = tuple(n for n in check_columns(columns, names, path) if n not in apart)
        if not attributes:
            raise ReadError.at(path, "no column is left for the attributes.")
        wishes = check_kinds(kinds, names, path)
        return cls(attributes, target, weight, wishes, every=columns is None)

    @property
    def names(self) -> tuple[str, ...]:
        """All wanted columns."""
        apart = (name for name in (self.target, self.weight) if name is not None)
        return (*self.attributes, *apart)

    def check_file(self, names: Sequence[str], path: Path, first: Path) -> None:
        """Refuse a file that lacks a wanted column or, if all are wanted, has another one."""
        for name in self.names:
            if name not in names:
                problem = f"the file has no such column, but {first} has."
                raise ReadError.at(path, problem, column=name)
        extra = [name for name in names if name not in self.names]
        if self.every and extra:
            problem = f"{first} has no such column. Name the columns to read in `columns`."
            raise ReadError.at(path, problem, column=extra[0])

    def layout(self, columns: Mapping[str, Column], named: bool) -> Layout:
        """The layout of these columns."""
        weight = None if self.weight is None else columns[self.weight]
        if weight is not None and weight.kind is not Kind.NUMERIC:
            raise ReadError(f"the weight {weight.name!r} is {weight.kind}, but must be numeric.")
        return Layout(
            Schema(tuple(columns[name] for name in self.attributes), named),
            None if self.target is None else columns[self.target],
            weight,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of attributes, target and weight."""

    schema: Schema
    target: Column | None
    weight: Column | None

    @property
    def columns(self) -> list[Column]:
        """All columns."""
        apart = [column for column in (self.target, self.weight) if column is not None]
        return [*self.schema, *apart]

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [column.name for column in self.columns]

    def chunk(self, table_of: Callable[[Schema], Table], place: str) -> Chunk:
        """The rows of a partition, whose columns ``table_of`` gives for any schema of them."""
        target = weight = None
        if self.target is not None:
            target = raw_values(table_of(Schema((self.target,))), place)
        if self.weight is not None:
            weight = raw_values(table_of(Schema((self.weight,))), place).astype(np.float64)
        return Chunk(table_of(self.schema), target, weight)


def raw_values(table: Table, place: str) -> Array:
    """The only column of a table as numbers, times or labels, refused if it has a gap."""
    column, array, gaps = table.schema[0], table.column(0), table.gaps(0)
    if gaps is not None:
        raise ReadError(
            f"{place}: column {column.name!r} is missing in row {int(np.argmax(gaps)) + 1} of it. "
            "A target and a weight must be there in every row: leave out the rows without."
        )
    if column.kind is Kind.NUMERIC:
        return array.view(column.dtype) if column.temporal else np.ascontiguousarray(array)
    labels = np.array(column.levels, dtype=None if column.levels else str)
    taken: Array = labels[array]
    return taken
