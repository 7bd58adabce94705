"""What the columns of a table are: their names, kinds, level labels and number types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

_NUMBERS = ("float64", "float32", "int64", "uint64")
TEMPORAL = ("datetime64[ns]", "timedelta64[ns]")


class Kind(StrEnum):
    """What the values of a column mean."""

    NUMERIC = "numeric"
    NOMINAL = "nominal"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind and, unless it is numeric, its levels in order.

    Parameters
    ----------
    name : str
    kind : Kind
    levels : tuple of str, int, float or bool
        The labels that a nominal or ordinal value can take. The code of a value is its place
        here. Ordinal levels stand in their order, nominal ones in sorted order.
    dtype : str
        How a numeric column is stored: ``"float64"``, ``"float32"``, ``"int64"`` or ``"uint64"``;
        ``"datetime64[ns]"`` (nanoseconds since 1970 UTC) and ``"timedelta64[ns]"`` (durations in
        nanoseconds), both held as int64 ticks; ``"codes"`` for the other kinds.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()
    dtype: str = "float64"

    @property
    def temporal(self) -> bool:
        """Whether the numbers are instants or durations, in nanoseconds."""
        return self.dtype in TEMPORAL


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, in order.

    ``named`` is False where the data had no column names (an array) and ``x0, x1, ...`` stand in.
    """

    columns: tuple[Column, ...]
    named: bool = True

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, place: int) -> Column:
        return self.columns[place]

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
        """Schema of ``width`` numeric columns; unnamed unless ``names`` are given."""
        if names is None:
            return _unnamed(width, dtype)
        return cls(tuple(Column(name, Kind.NUMERIC, dtype=dtype) for name in names))

    def check_width(self, width: int, who: str = "this model") -> None:
        """Refuse data with another number of columns."""
        if width != len(self):
            raise ValueError(
                f"X has {width} features, but {who} is expecting {len(self)} features as input."
            )

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse data whose columns are renamed, missing or in another order."""
        known, given = self.names, list(names)
        if given == known:
            return
        unseen = sorted(set(given) - set(known))
        gone = sorted(set(known) - set(given))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + _bullets(unseen)
        if gone:
            message += "Feature names seen at fit time, yet now missing:\n" + _bullets(gone)
        if not unseen and not gone:
            message += "Feature names must be in the same order as they were in fit.\n"
            place = next(j for j, name in enumerate(known) if given[j] != name)
            message += f"Column {place} was {known[place]!r} and is {given[place]!r} now.\n"
        raise ValueError(message)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file."""
        return {
            "named": self.named,
            "columns": [
                {"name": c.name, "kind": str(c.kind), "levels": list(c.levels), "dtype": c.dtype}
                for c in self.columns
            ],
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Schema:
        """The schema that `to_json` wrote, checked: a file may have been damaged or made up."""
        try:
            columns = tuple(_column_of(part) for part in record["columns"])
            named = bool(record["named"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"This is no schema: {error!r}.") from error
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("This is no schema: two columns have one name.")
        return cls(columns, named)


def _column_of(record: dict[str, Any]) -> Column:
    kind, levels = Kind(record["kind"]), tuple(record["levels"])
    column = Column(record["name"], kind, levels, record["dtype"])
    numeric = kind is Kind.NUMERIC
    text = {isinstance(level, str) for level in levels}
    sound = (
        isinstance(column.name, str)
        and column.dtype in ((*_NUMBERS, *TEMPORAL) if numeric else ("codes",))
        and not (numeric and levels)
        and all(isinstance(level, str | int | float) for level in levels)
        and len(text) <= 1
        and len(set(levels)) == len(levels)
    )
    if not sound:
        raise ValueError(f"This is no column of a schema: {record!r}.")
    return column


def _bullets(names: Sequence[str], most: int = 5) -> str:
    lines = [f"- {name}" for name in names[:most]]
    return "\n".join(lines + (["- ..."] if len(names) > most else [])) + "\n"


def stand_in_names(width: int) -> list[str]:
    """The names ``x0, x1, ...`` of columns that have none."""
    return [f"x{j}" for j in range(width)]


@lru_cache(maxsize=128)
def _unnamed(width: int, dtype: str) -> Schema:
    # Arrays of one width share one schema, so that making a table of an array costs nothing.
    columns = tuple(Column(name, Kind.NUMERIC, dtype=dtype) for name in stand_in_names(width))
    return Schema(columns, named=False)
