"""The map from tables of a schema to matrices of category codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.bayes.discretize.intervals import Number, edges_below, interval_labels, threshold_array
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table

_TYPES = {
    "float64": ColumnType.FLOAT64, "float32": ColumnType.FLOAT32,
    "int64": ColumnType.INT64, "uint64": ColumnType.UINT64,
}  # fmt: skip
_MAX_CODES = 65_535
# Rows written at a time: the block of codes then stays in the cache.
_ROWS = 8192


@dataclass(frozen=True, eq=False)
class CategoryEncoding(Record):
    """Map from tables of a schema to matrices of category codes, one column per feature.

    A feature is a column with its categories: those of the schema, or the intervals of a numeric
    column. A value at or above a threshold lies right of it, and the code of a value is the index
    of its interval. A missing value, like a category that the schema lacks, has the code r of a
    feature with r categories. Values are compared in their own type, so that integers above 2^53,
    times and float32 are encoded exactly.

    Parameters
    ----------
    schema : Schema
        All columns of the tables.
    columns : ndarray of int64 of shape (n_features,)
        Index of the column of each feature, ascending.
    offsets : ndarray of int64 of shape (n_features + 1,)
        Index of the first threshold of each feature, and their number.
    words : ndarray of uint64 of shape (n_thresholds,)
        Thresholds of all features: bits of float64, or of the integers of the column's type.
    integer : ndarray of bool of shape (n_features,)
        Whether the thresholds of a feature are integers.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.bayes import CategoryEncoding
    >>> from ceiba.data import Table
    >>> table = Table.of([{"size": 1.5, "color": "red"}, {"size": None, "color": "blue"}])
    >>> encoding = CategoryEncoding.of(table.schema, {0: [1.0, 2.0]})
    >>> encoding.n_categories.tolist(), encoding.category_labels(0)
    ([3, 2], ['< 1', '[1, 2)', '>= 2'])
    >>> encoding.encode(table)
    array([[1, 1],
           [3, 0]], dtype=uint8)
    """

    schema: Schema
    columns: Annotated[Array, ArrayOf("int64", "n_features")]
    offsets: Annotated[Array, ArrayOf("int64", "n_offsets")]
    words: Annotated[Array, ArrayOf("uint64", "n_thresholds")]
    integer: Annotated[Array, ArrayOf("bool", "n_features")]

    @classmethod
    def of(
        cls,
        schema: Schema,
        thresholds: Mapping[int, Sequence[Number]],
        columns: Iterable[int] | None = None,
    ) -> Self:
        """Make an encoding from the thresholds of numeric columns.

        Parameters
        ----------
        schema : Schema
        thresholds : mapping from column index to sequence of int or float
            Ascending; a numeric column without an entry has none.
        columns : iterable of int, optional
            Columns to encode; by default all with two or more categories.
        """
        arrays = {
            j: threshold_array(thresholds.get(j, ()), column) for j, column in enumerate(schema)
        }
        if columns is None:
            columns = (
                j
                for j, column in enumerate(schema)
                if (len(arrays[j]) if column.kind is Kind.NUMERIC else len(column.categories) - 1)
                > 0
            )
        used = np.fromiter(columns, np.int64)
        own = [arrays[j] for j in used.tolist()]
        offsets = np.cumsum([0, *map(len, own)], dtype=np.int64)
        words = np.concatenate([np.empty(0, np.uint64), *(array.view(np.uint64) for array in own)])
        integer = np.array([array.dtype.kind != "f" for array in own], bool)
        encoding = cls(schema, used, offsets, words, integer)
        encoding.check()
        return encoding

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        p, offsets = len(self.columns), self.offsets
        columns = self.columns.tolist()
        if (
            any(j not in range(len(self.schema)) for j in columns)
            or sorted(set(columns)) != columns
        ):
            raise ValueError(
                f"columns must be ascending indices below {len(self.schema)}, got {columns}."
            )
        if len(offsets) != p + 1 or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError("offsets must be ascending from 0, with one entry more than features.")
        if offsets[-1] != len(self.words):
            raise ValueError(
                f"offsets must end with the number of thresholds, {len(self.words)}, got "
                f"{offsets[-1]}."
            )
        for j in range(p):
            self._check_thresholds(j)
        if p and self.n_categories.max() >= _MAX_CODES:
            name = self.names[int(self.n_categories.argmax())]
            raise ValueError(
                f"A column must have at most {_MAX_CODES - 1:,} categories, got "
                f"{self.n_categories.max():,} in column {name!r}: merge rare ones, or drop it."
            )

    def _check_thresholds(self, j: int) -> None:
        column = self.schema[int(self.columns[j])]
        raw = self._raw_thresholds(j)
        allowed = column.kind is Kind.NUMERIC or (not len(raw) and not self.integer[j])
        typed = not (self.integer[j] and column.dtype.startswith("float"))
        ascending = bool((raw[1:] > raw[:-1]).all()) and (
            raw.dtype.kind != "f" or not len(raw) or raw[0] > -np.inf
        )
        if not (allowed and typed and ascending and not np.isnan(raw).any()):
            raise ValueError(
                f"The thresholds of column {column.name!r} must be ascending numbers of its type, "
                "and there must be none of a nominal or ordinal column."
            )

    @property
    def n_features(self) -> int:
        """Number of features, the columns of the codes."""
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [self.schema[j].name for j in self.columns.tolist()]

    @cached_property
    def n_categories(self) -> Array:
        """Number of categories r of each feature (int64); r is also the code of missing values."""
        sizes = (np.diff(self.offsets) + 1).tolist()
        own = (self.schema[j] for j in self.columns.tolist())
        counts = [
            size if column.kind is Kind.NUMERIC else len(column.categories)
            for size, column in zip(sizes, own, strict=True)
        ]
        return np.array(counts, np.int64)

    @property
    def constant_columns(self) -> list[str]:
        """Names of the columns that are left out, since they have one category or none."""
        used = set(self.columns.tolist())
        return [column.name for j, column in enumerate(self.schema) if j not in used]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the codes: uint8 where no feature has more than 254 categories, else uint16."""
        largest = self.n_categories.max(initial=0)
        return np.dtype(np.uint8 if largest < 0xFF else np.uint16)

    def thresholds(self, j: int) -> Array:
        """Return the thresholds of feature ``j``: float64, integers or times."""
        column, raw = self.schema[int(self.columns[j])], self._raw_thresholds(j)
        return raw.view(column.dtype) if column.temporal else raw

    def _raw_thresholds(self, j: int) -> Array:
        words = self.words[self.offsets[j] : self.offsets[j + 1]]
        if not self.integer[j]:
            return words.view(np.float64)
        unsigned = self.schema[int(self.columns[j])].dtype == "uint64"
        return words if unsigned else words.view(np.int64)

    def without_constant(self) -> CategoryEncoding:
        """Return the encoding of the columns with two or more categories."""
        return CategoryEncoding.of(self.schema, self._by_column())

    def with_constant(self) -> CategoryEncoding:
        """Return the encoding of all columns of the schema."""
        return CategoryEncoding.of(self.schema, self._by_column(), range(len(self.schema)))

    def _by_column(self) -> dict[int, list[Number]]:
        return {k: self._raw_thresholds(j).tolist() for j, k in enumerate(self.columns.tolist())}

    def category_labels(self, j: int) -> list[Any]:
        """Return the categories of feature ``j``, or labels of its intervals."""
        column = self.schema[int(self.columns[j])]
        if column.kind is not Kind.NUMERIC:
            return list(column.categories)
        return interval_labels(self._raw_thresholds(j), column.dtype)

    def encode(self, table: Table, threads: int = 1) -> Array:
        """Return the category codes of a table of this schema.

        Returns
        -------
        ndarray of uint8 or uint16 and shape (n_rows, n_features), C-contiguous
        """
        if table.schema is not self.schema:
            self._check_schema(table.schema)
        codes = np.empty((len(table), self.n_features), self.dtype)
        columns = self._column_codes(table, threads)
        missing = self.n_categories.astype(np.uint32)
        for start in range(0, len(table), _ROWS):
            block = codes[start : start + _ROWS]
            for j, column in enumerate(columns):
                part = column[start : start + _ROWS]
                # Unsigned, the -1 of a missing category is the largest number.
                signed = part.dtype == np.int32
                block[:, j] = np.minimum(part.view(np.uint32), missing[j]) if signed else part
        return codes

    def _check_schema(self, schema: Schema) -> None:
        self.schema.check_width(len(schema))
        for j in self.columns.tolist():
            column, expected = schema[j], self.schema[j]
            if column.kind is not expected.kind or column.categories != expected.categories:
                raise ValueError(
                    f"Column {column.name!r} has another schema: make the table with "
                    "ceiba.data.Table.of(X, schema)."
                )

    def _column_codes(self, table: Table, threads: int) -> list[Array]:
        """Return the codes of each feature: int32 with -1 for missing categories, or intervals."""
        used = self.columns.tolist()
        columns = [table.column(j) for j in used]
        numeric = [j for j, k in enumerate(used) if self.schema[k].kind is Kind.NUMERIC]
        if not numeric or not len(table):
            return columns
        masks = [
            table.missing_mask(used[j]) if columns[j].dtype.kind != "f" else None for j in numeric
        ]
        edges = [self._edges(j, columns[j].dtype) for j in numeric]
        sizes = [len(words) for words, _ in edges]
        types = _native.ColumnTypes(
            [_TYPES[columns[j].dtype.name] for j in numeric], [0] * len(sizes)
        )
        intervals: Any = _native.tree_bin(
            _native.TreeTable([columns[j] for j in numeric], masks, types),
            np.array(sizes, np.uint32) + np.uint32(1),
            np.concatenate([words for words, _ in edges]),
            np.cumsum([0, *sizes], dtype=np.int64),
            threads,
        )
        for j, own, (_, n_below) in zip(numeric, intervals, edges, strict=True):
            columns[j] = own if not n_below else own.astype(np.uint32) + np.uint32(n_below)
        return columns

    def _edges(self, j: int, dtype: np.dtype[Any]) -> tuple[Array, int]:
        """Return the thresholds of a feature as edges of values of a dtype, computed once."""
        key = j, dtype.name
        if key not in self._edge_cache:
            self._edge_cache[key] = edges_below(self._raw_thresholds(j), dtype)
        return self._edge_cache[key]

    @cached_property
    def _edge_cache(self) -> dict[tuple[int, str], tuple[Array, int]]:
        return {}
