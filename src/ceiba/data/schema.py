"""Schema of a table: names, kinds, categories and dtypes of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ceiba._repr import fields_repr

_NUMBERS = ("float64", "float32", "int64", "uint64")
TEMPORAL = ("datetime64[ns]", "timedelta64[ns]")


class Kind(StrEnum):
    """Kind of the values of a column."""

    NUMERIC = "numeric"
    NOMINAL = "nominal"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class Column:
    """Name, kind, categories and dtype of a column.

    Parameters
    ----------
    name : str
    kind : Kind
    categories : tuple of str, int, float or bool
        The labels of a nominal or ordinal column. The code of a value is the index of its label.
        Ordinal categories are in their own order, nominal ones in the order that the container
        declares, else sorted: by value where all of them are numbers, even if spelled as text.
    dtype : str
        Dtype of a numeric column: ``"float64"``, ``"float32"``, ``"int64"`` or ``"uint64"``;
        ``"datetime64[ns]"`` (nanoseconds since 1970 UTC) and ``"timedelta64[ns]"`` (durations in
        nanoseconds), both stored as int64; ``"codes"`` for the other kinds.
    is_identifier : bool
        Whether a column of text, of inferred kind, has a different category in every row: learners
        leave it out.
    """

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()
    dtype: str = "float64"
    is_identifier: bool = field(default=False, repr=False)

    __repr__ = fields_repr

    @property
    def temporal(self) -> bool:
        """Whether the values are times or durations, in nanoseconds."""
        return self.dtype in TEMPORAL


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order.

    ``named`` is False for data without column names (an array), whose names are ``x0, x1, ...``.
    """

    columns: tuple[Column, ...]
    named: bool = True

    __repr__ = fields_repr

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, index: int) -> Column:
        return self.columns[index]

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [column.name for column in self.columns]

    @property
    def all_numeric(self) -> bool:
        """Whether every column is numeric."""
        return all(column.kind is Kind.NUMERIC for column in self.columns)

    @classmethod
    def numeric(
        cls, width: int, dtype: str = "float64", names: Sequence[str] | None = None
    ) -> Schema:
        """Make a schema of ``width`` numeric columns; unnamed unless ``names`` are given."""
        if names is None:
            return _unnamed(width, dtype)
        if len(names) != width:
            raise ValueError(f"names must have {width} entries, got {len(names)}.")
        return cls(tuple(Column(name, Kind.NUMERIC, dtype=dtype) for name in names))

    def without_identifiers(self) -> Schema:
        """Return the schema of a fit: identifiers have no categories, so all values are missing."""
        if not any(column.is_identifier for column in self):
            return self
        columns = (
            replace(column, categories=(), is_identifier=False) if column.is_identifier else column
            for column in self
        )
        return replace(self, columns=tuple(columns))

    def check_width(self, width: int, expected_by: str = "this model") -> None:
        """Raise ValueError for data with another number of columns."""
        if width != len(self):
            raise ValueError(
                f"X has {width} features, but {expected_by} is expecting {len(self)} features as "
                "input."
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Raise ValueError for columns that are renamed, absent or in another order."""
        known, given = self.names, list(names)
        if given == known:
            return
        unseen = sorted(set(given) - set(known))
        absent = sorted(set(known) - set(given))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + _bullets(unseen)
        if absent:
            message += "Feature names seen at fit time, yet now missing:\n" + _bullets(absent)
        if not unseen and not absent:
            message += "Feature names must be in the same order as they were in fit.\n"
            j = next(j for j, name in enumerate(known) if given[j] != name)
            message += f"Column {j} was {known[j]!r} and is {given[j]!r} now.\n"
        raise ValueError(message)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dictionary for a model file."""
        columns = [
            {
                "name": c.name,
                "kind": str(c.kind),
                "categories": list(c.categories),
                "dtype": c.dtype,
            }
            for c in self.columns
        ]
        return {"named": self.named, "columns": columns}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Schema:
        """Restore and validate the schema of a dictionary, which may come from a damaged file."""
        try:
            columns = tuple(map(_column_from_json, record["columns"]))
            named = bool(record["named"])
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"The record is not a valid schema with 'named' and 'columns': {error!r}."
            ) from error
        schema = cls(columns, named)
        if len(set(schema.names)) < len(schema):
            raise ValueError(
                "The record is not a valid schema: columns must have different names, got "
                f"{schema.names!r}."
            )
        return schema


def _column_from_json(record: dict[str, Any]) -> Column:
    name, kind, dtype = record["name"], record["kind"], record["dtype"]
    categories = tuple(record["categories"])
    numeric = kind == Kind.NUMERIC
    is_valid = (
        isinstance(name, str)
        and kind in tuple(Kind)
        and dtype in ((*_NUMBERS, *TEMPORAL) if numeric else ("codes",))
        and not (numeric and categories)
        and all(isinstance(category, str | int | float) for category in categories)
        and len({isinstance(category, str) for category in categories}) <= 1
        and len(set(categories)) == len(categories)
    )
    if not is_valid:
        raise ValueError(
            "A column of a schema must have a name, a kind, a dtype of that kind, and different "
            f"categories of one type unless it is numeric, got {record!r}."
        )
    return Column(name, Kind(kind), categories, dtype)


def _bullets(names: Sequence[str], limit: int = 5) -> str:
    lines = [f"- {name}" for name in names[:limit]]
    return "\n".join(lines + (["- ..."] if len(names) > limit else [])) + "\n"


def default_names(width: int) -> list[str]:
    """Return the names ``x0, x1, ...`` of unnamed columns."""
    return [f"x{j}" for j in range(width)]


@lru_cache(maxsize=128)
def _unnamed(width: int, dtype: str) -> Schema:
    # Cached, so that making a table of an array costs nothing.
    columns = tuple(Column(name, Kind.NUMERIC, dtype=dtype) for name in default_names(width))
    return Schema(columns, named=False)
