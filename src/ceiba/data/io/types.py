"""Columns of text: type inference, and conversion to numbers or categories."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import Label, list_labels, parse_number, sort_labels
from ceiba.data.column import ColumnValues, number_values, unknown_order, whole_dtype
from ceiba.data.identifiers import mark_identifier, warn_categories
from ceiba.data.io.errors import InvalidValueError
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

#: A requested kind: its name, or the categories of an ordinal column in order.
KindRequest = str | tuple[Label, ...]

# Python also parses 1_000 and digits of other scripts, which do not count as numbers in a file.
_NOT_NUMERIC = re.compile(r"[^0-9+\-.eE \tinfatyINFATY]")
_CANONICAL_INT = re.compile(r"0|-?[1-9][0-9]{0,17}")
# Rows written at a time: the block of the matrix then stays in the cache (3 times as fast).
_BLOCK_ROWS = 4096


@dataclass(frozen=True, slots=True)
class InferredType:
    """Type of the texts of a column so far: nothing < whole numbers < real numbers < text.

    ``low`` and ``high`` are the range of whole numbers that fit into 64 bits, None for any other
    type; ``real`` means other numbers, ``text`` that some text is not a number.
    """

    low: int | None = None
    high: int | None = None
    real: bool = False
    text: bool = False

    @classmethod
    def of(cls, texts: Sequence[str]) -> InferredType:
        """Infer the type of texts, none of which stands for a missing value."""
        if not texts:
            return cls()
        parsed = parse_numbers(texts)
        if parsed is None:
            return cls(text=True)
        if parsed.dtype.kind == "f":
            return cls(real=True)
        return cls(int(parsed.min()), int(parsed.max()))

    def merge(self, other: InferredType) -> InferredType:
        """Return the type of both columns together."""
        if self.text or other.text:
            return InferredType(text=True)
        if self.real or other.real:
            return InferredType(real=True)
        low = min((t.low for t in (self, other) if t.low is not None), default=None)
        high = max((t.high for t in (self, other) if t.high is not None), default=None)
        if low is not None and high is not None and whole_dtype(low, high) == "float64":
            return InferredType(real=True)
        return InferredType(low, high)

    @property
    def dtype(self) -> str:
        """The dtype of a numeric column; whole numbers are exact where 64 bits suffice."""
        if self.low is None or self.high is None:
            return "float64"
        return whole_dtype(self.low, self.high)

    def column(self, name: str, request: KindRequest | None, texts: Collection[str]) -> Column:
        """Return the column of this type, or of the requested kind; ``texts`` are distinct."""
        if isinstance(request, tuple):
            return Column(name, Kind.ORDINAL, request, "codes")
        if request == "numeric" or (request is None and not self.text):
            return Column(name, Kind.NUMERIC, dtype=self.dtype)
        categories = text_categories(texts)
        if request == "ordinal" and categories and isinstance(categories[0], str):
            raise ValueError(f"column {name!r} {unknown_order(name)}")
        kind = Kind.ORDINAL if request == "ordinal" else Kind.NOMINAL
        return Column(name, kind, categories, "codes")


@dataclass(frozen=True, slots=True, eq=False)
class TextColumn:
    """A column of text: its distinct texts, and a code per row (-1 for a missing value)."""

    texts: Sequence[str]
    codes: Array

    @classmethod
    def of(cls, values: Sequence[str | None]) -> TextColumn:
        """Encode the texts of all rows, None for a missing value."""
        index: dict[str | None, int] = dict.fromkeys(values, 0)
        index.pop(None, None)
        texts = [text for text in index if text is not None]
        index = {text: code for code, text in enumerate(texts)}
        index[None] = -1
        codes = np.fromiter(map(index.__getitem__, values), np.int32, len(values))
        return cls(texts, codes)

    def values(self, column: Column) -> ColumnValues:
        """Convert the texts to the numbers or category codes of ``column``."""
        if column.kind is Kind.NUMERIC:
            missing = self.codes < 0
            values = self.parse(column.dtype)
            return number_values(column.name, values, missing if missing.any() else None)
        found = category_codes(self.texts, column.categories)
        if (found < 0).any():
            listed = list_labels(column.categories)
            self._raise_first(found < 0, f"is not a category of the column ({listed}).")
        return ColumnValues(column.name, np.append(found, -1)[self.codes], labels=column.categories)

    def parse(self, dtype: str | None = None) -> Array:
        """Parse the texts; raise InvalidValueError at the first one that is not a number."""
        parsed = parse_numbers(self.texts)
        if parsed is None:
            self._raise_first(
                np.array([parse_numbers([text]) is None for text in self.texts]),
                "is not a number, but the column is declared numeric. Correct the value, or mark "
                "it as missing.",
            )
        assert parsed is not None
        by_text = np.append(parsed.astype(dtype or parsed.dtype), np.zeros(1, dtype))
        by_row: Array = by_text[self.codes]
        return by_row

    def _raise_first(self, invalid: Array, problem: str) -> None:
        row = int(np.argmax(np.append(invalid, False)[self.codes]))
        raise InvalidValueError(row, f"{self.texts[self.codes[row]]!r} {problem}")


def category_codes(texts: Sequence[str], categories: Sequence[Label]) -> Array:
    """Index of each text among the categories, by value where they are numbers; else -1."""
    index: dict[Any, int] = {category: code for code, category in enumerate(categories)}
    if categories and not isinstance(categories[0], str):
        found = (parse_number(text) for text in texts)
        return np.array([-1 if n is None else index.get(n, -1) for n in found], np.int32)
    return np.array([index.get(text, -1) for text in texts], np.int32)


def text_categories(texts: Iterable[str]) -> tuple[Label, ...]:
    """Sort distinct texts as categories."""
    return sort_labels(as_labels(set(texts)))


def as_labels(texts: Collection[str]) -> tuple[Label, ...]:
    """Return the texts, as ints where every text is the canonical spelling of an int."""
    if all(map(_CANONICAL_INT.fullmatch, texts)):
        return tuple(map(int, texts))
    return tuple(texts)


def parse_numbers(texts: Sequence[str]) -> Array | None:
    """Parse texts as int64, uint64 or float64; None if one of them is not a number."""
    # A few texts first: they usually suffice for a column of text.
    if _NOT_NUMERIC.search("".join(texts[:50])) or _NOT_NUMERIC.search("".join(texts)):
        return None
    try:
        whole = list(map(int, texts))
    except ValueError:
        return _parse_reals(texts)
    dtype = whole_dtype(min(whole, default=0), max(whole, default=0))
    return _parse_reals(texts) if dtype == "float64" else np.array(whole, dtype)


def _parse_reals(texts: Sequence[str]) -> Array | None:
    try:
        real = np.array(list(map(float, texts)), np.float64)
    except ValueError:
        return None
    return None if np.isnan(real).any() else real


def build_table(pairs: Sequence[tuple[Column, ColumnValues]], named: bool = True) -> Table:
    """Make a table of converted columns, as one matrix where all of them are floats."""
    schema = Schema(tuple(column for column, _ in pairs), named)
    arrays = [values.array for _, values in pairs]
    if is_float_matrix(schema) and len(arrays[0]):
        return Table.of(column_stack(arrays, schema[0].dtype), schema)
    missing = {j: v.missing for j, (_, v) in enumerate(pairs) if v.missing is not None}
    return Table.from_columns(arrays, schema, missing)


def is_float_matrix(schema: Schema) -> bool:
    """Whether all columns are floats of one type."""
    return {column.dtype for column in schema} in ({"float64"}, {"float32"})


def column_stack(arrays: Sequence[Array], dtype: str) -> Array:
    """Copy columns of numbers into a C-ordered matrix of floats."""
    matrix = np.empty((len(arrays[0]), len(arrays)), dtype)
    for start in range(0, len(matrix), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        for j, array in enumerate(arrays):
            matrix[rows, j] = array[rows]
    return matrix


def check_identifier(column: Column, n_values: int, path: Path) -> Column:
    """Return a column of inferred kind, marked if it is an identifier, and warn of it."""
    column = mark_identifier(column, n_values)
    declared = f"kinds={{{column.name!r}: 'nominal'}}"
    remedy = f"Leave it out with `columns`, or declare it: {declared}."
    warn_categories(column, n_values, remedy, str(path))
    return column
