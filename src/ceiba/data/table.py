"""A table: columns of numbers and levels, with gaps, made from any container people hold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import array_columns, check_dimensions, number_block
from ceiba.data.categories import plain
from ceiba.data.column import Values, Wish, fit_to, learn, numbers
from ceiba.data.frames import check_size, open_container, read_columns
from ceiba.data.schema import Column, Kind, Schema

_COLUMNS, _ROWS, _WIDTH = 12, 5, 40


def describe(table: Table) -> str:
    """Size of the table, then a line a column: name, kind, type or levels, first values."""
    n, d = table.n_rows, len(table.schema)
    head = f"Table of {n} row{'s' * (n != 1)} × {d} column{'s' * (d != 1)}"
    cells = [_cells(table, j) for j in range(min(d, _COLUMNS))]
    widths = [max((len(row[i]) for row in cells), default=0) for i in range(3)]
    lines = [
        "  " + "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[3]])
        for row in cells
    ]
    more = [f"  ... {d - _COLUMNS} more"] if d > _COLUMNS else []
    return "\n".join([head, *lines, *more])


def _cells(table: Table, j: int) -> list[str]:
    column = table.schema[j]
    what = column.dtype if column.kind is Kind.NUMERIC else _short(str(column.levels))
    first = table.column(j)[:_ROWS]
    gaps = table.gaps(j)
    texts = [
        "?" if gaps is not None and gaps[i] else _text(first[i], column) for i in range(len(first))
    ]
    end = ", ..." if table.n_rows > _ROWS else ""
    return [_short(column.name), str(column.kind), what, ", ".join(texts) + end]


def _text(value: Any, column: Column) -> str:
    if column.kind is not Kind.NUMERIC:
        return _short(str(column.levels[value]))
    if column.temporal:
        return str(plain(np.array(value).view(column.dtype)[()]))
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


# Fewer rows than this may well have a different label each and still be no identifiers.
_IDENTIFIER_ROWS = 20


class IdentifierWarning(UserWarning):
    """A nominal column has a different label in every row, as an identifier has."""


class Table:
    """Rows and columns with a schema: numbers, nominal and ordinal levels, gaps.

    Tables are made by `Table.of` (any container) or `Table.from_columns` (ready columns) and are
    not changed afterwards. They share memory with what they were made from where they can.

    Examples
    --------
    >>> from ceiba.data import Table
    >>> table = Table.of([{"colour": "red", "size": 1.5}, {"colour": None, "size": 2.0}])
    >>> table
    Table of 2 rows × 2 columns
      colour  nominal  ('red',)  red, ?
      size    numeric  float64   1.5, 2.0
    >>> table.column(0), table.gaps(0)
    (array([ 0, -1], dtype=int32), array([False,  True]))
    """

    __slots__ = ("_block", "_columns", "_gaps", "n_rows", "schema")

    schema: Schema
    n_rows: int

    def __init__(
        self,
        schema: Schema,
        n_rows: int,
        block: Array | None = None,
        columns: tuple[Array, ...] = (),
        gaps: Mapping[int, Array] | None = None,
    ) -> None:
        self.schema = schema
        self.n_rows = n_rows
        # Either one 2-D block of numbers without gap masks, or a tuple of columns.
        self._block = block
        self._columns = columns
        self._gaps = gaps or {}

    @classmethod
    def of(
        cls,
        X: Any,
        schema: Schema | None = None,
        *,
        kinds: Mapping[str, str | Sequence[Any]] | None = None,
        who: str = "this model",
    ) -> Table:
        """Make a table of any container, learning its schema or following a given one.

        Parameters
        ----------
        X : array, frame, list or Table
            A 2-D NumPy array, a pandas, polars or pyarrow frame, a list of dictionaries or of
            rows. Float arrays are taken as they are, without a copy.
        schema : Schema, optional
            Follow this schema: columns by name (by place where either side has no names), levels
            by label. A level that it does not know is a gap. Numbers keep their own type where the
            schema's would lose something.
        kinds : mapping, optional
            Kinds that differ from what the container says: ``{"zip": "nominal"}``, or the levels
            of an ordinal column in order, ``{"size": ["S", "M", "L"]}``. Only without ``schema``.
        who : str
            Who expects the schema, for error messages.

        Returns
        -------
        Table

        Notes
        -----
        Numbers, dates and durations are numeric; text, truth values and categories are nominal,
        ordered categories ordinal. The levels of a categorical are its declared categories, used
        or not (a polars Categorical declares none: those found). Text is a label even where it
        spells a number, until ``kinds`` or ``schema`` says that the column is numeric. An array
        of truth values is numeric, 0 and 1. None, NaN, NaT and null are gaps.

        Examples
        --------
        >>> import numpy as np
        >>> Table.of(np.eye(2)).schema.names
        ['x0', 'x1']
        """
        if kinds and schema is not None:
            raise ValueError("Give either kinds, to learn a schema, or a schema to follow.")
        if isinstance(X, Table):
            return X._again(schema, kinds or {}, who)
        if type(X) is not np.ndarray:
            X = open_container(X)
        if type(X) is np.ndarray and X.dtype.kind in "fiub" and not kinds:
            return cls._of_block(X, schema, who)
        ordered = schema.names if schema is not None and schema.named else ()
        columns, named = read_columns(X, ordered)
        if schema is None:
            return cls._learn(columns, named, kinds or {})
        return cls._follow(columns, named, schema, who)

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Array],
        schema: Schema,
        gaps: Mapping[int, Array] | None = None,
    ) -> Table:
        """Make a table of ready columns.

        Parameters
        ----------
        columns : sequence of 1-D arrays
            Numbers in the type that the schema says; whole-number codes, -1 for a gap, where it
            says nominal or ordinal. Floats say NaN and datetime64 says NaT for a gap.
        schema : Schema
        gaps : mapping from column number to mask, optional
            Gaps of integer and time columns.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba.data import Column, Kind, Schema
        >>> schema = Schema((Column("colour", Kind.NOMINAL, ("blue", "red"), "codes"),))
        >>> Table.from_columns([np.array([1, -1, 0])], schema).column(0)
        array([ 1, -1,  0], dtype=int32)
        """
        if len(columns) != len(schema) or not columns:
            raise ValueError(f"Got {len(columns)} columns for a schema of {len(schema)}.")
        masks = gaps or {}
        ready = [
            _ready(np.asarray(array), column, masks.get(j))
            for j, (array, column) in enumerate(zip(columns, schema, strict=True))
        ]
        heights = [len(values.array) for values in ready]
        if min(heights) != max(heights):
            raise ValueError(f"Columns differ in length: from {min(heights)} to {max(heights)}.")
        return cls._gather(list(zip(schema, ready, strict=True)), schema.named)

    @classmethod
    def _of_block(cls, X: Array, schema: Schema | None, who: str) -> Table:
        check_dimensions(X)
        n, d = X.shape
        check_size(n, d)
        block, dtype = number_block(X)
        if schema is None:
            return cls(Schema.numeric(d, dtype), n, block)
        schema.check_width(d, who)
        wanted = {column.dtype for column in schema}
        if wanted == {"float64"} and dtype != "float64":
            block, dtype = block.astype(np.float64), "float64"
        if wanted == {dtype}:
            return cls(schema, n, block)
        if wanted == {"float32"} and dtype == "float64":
            # Rounding would lose something: the block stays as it is.
            names = schema.names if schema.named else None
            return cls(Schema.numeric(d, dtype, names), n, block)
        return cls._follow(array_columns(block), False, schema, who)

    @classmethod
    def _follow(cls, columns: list[Values], named: bool, schema: Schema, who: str) -> Table:
        if named and schema.named:
            schema.check_names([values.name for values in columns])
        schema.check_width(len(columns), who)
        pairs = [fit_to(values, column) for values, column in zip(columns, schema, strict=True)]
        return cls._gather(pairs, schema.named)

    def _again(self, schema: Schema | None, kinds: Mapping[str, Wish], who: str) -> Table:
        if not kinds and (schema is None or schema == self.schema):
            return self
        if schema is not None and self._block is not None:
            if self.schema.named and schema.named:
                schema.check_names(self.schema.names)
            return self._of_block(self._block, schema, who)
        columns = [self._values(j) for j in range(len(self.schema))]
        if schema is None:
            return self._learn(columns, self.schema.named, kinds)
        return self._follow(columns, self.schema.named, schema, who)

    @classmethod
    def _learn(cls, columns: list[Values], named: bool, kinds: Mapping[str, Wish]) -> Table:
        names = [values.name for values in columns]
        unknown = [name for name in kinds if name not in names]
        if unknown:
            raise ValueError(f"No column is called {unknown[0]!r}; the columns are {names!r}.")
        pairs = [learn(values, kinds.get(values.name)) for values in columns]
        for column, values in pairs:
            if column.name not in kinds:
                _warn_identifier(column, values)
        return cls._gather(pairs, named)

    @classmethod
    def _gather(cls, pairs: Sequence[tuple[Column, Values]], named: bool) -> Table:
        schema = Schema(tuple(column for column, _ in pairs), named)
        arrays = tuple(values.array for _, values in pairs)
        gaps = {j: values.gaps for j, (_, values) in enumerate(pairs) if values.gaps is not None}
        return cls(schema, len(arrays[0]), None, arrays, gaps)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.schema)

    def __getitem__(self, rows: Any) -> Table:
        """Rows by number, mask or slice, so that scikit-learn's splitters can cut a table."""
        if isinstance(rows, tuple):  # scikit-learn asks for table[rows, ...]
            rows, *rest = rows
            if rest not in ([Ellipsis], [slice(None)]):
                raise TypeError("A table is cut by rows; its columns are read by table.column(j).")
        return self.take([rows] if isinstance(rows, int | np.integer) else rows)

    @property
    def matrix(self) -> Array | None:
        """The 2-D float array that the table was made from, the same memory; None for others."""
        block = self._block
        return block if block is not None and block.dtype.kind == "f" else None

    @property
    def block(self) -> Array | None:
        """The 2-D array of any number type that the table was made from; None for others."""
        return self._block

    def column(self, j: int) -> Array:
        """Column ``j``: numbers in the type its schema says (times as int64), or int32 codes.

        A gap is NaN in a float column, -1 in codes, and 0 under the mask of `gaps` elsewhere.
        """
        return self._columns[j] if self._block is None else self._block[:, j]

    def gaps(self, j: int) -> Array | None:
        """Mask of the missing places of column ``j``, or None where there are none."""
        array = self.column(j)
        mask: Array | None
        if array.dtype.kind == "f":
            mask = np.isnan(array)
        elif self.schema[j].kind is not Kind.NUMERIC:
            mask = array < 0
        else:
            mask = self._gaps.get(j)
        return mask if mask is not None and mask.any() else None

    def take(self, rows: Any) -> Table:
        """The table of some rows: numbers of rows, a mask or a slice."""
        if self._block is not None:
            part = self._block[rows]
            return Table(self.schema, len(part), part)
        columns = tuple(column[rows] for column in self._columns)
        gaps = {j: mask[rows] for j, mask in self._gaps.items()}
        return Table(self.schema, len(columns[0]), None, columns, gaps)

    def head(self, n: int = 5) -> Table:
        """The first ``n`` rows."""
        return self.take(slice(n))

    def check_finite(self) -> None:
        """Refuse infinity, naming its row and column. NaN is a gap and allowed."""
        if self._block is not None and _surely_finite(self._block):
            return
        for j, column in enumerate(self.schema):
            array = self.column(j)
            if not _surely_finite(array) and (bad := np.isinf(array)).any():
                raise ValueError(
                    f"X contains infinity: row {int(np.argmax(bad))}, column {column.name!r}. "
                    "Correct it, or give NaN where the value is missing."
                )

    def _values(self, j: int) -> Values:
        column = self.schema[j]
        return Values(
            column.name,
            self.column(j),
            column.dtype,
            self._gaps.get(j),
            column.levels,
            declared=column.kind is Kind.ORDINAL,
            ordered=column.kind is Kind.ORDINAL,
        )

    def __repr__(self) -> str:
        pass

        return describe(self)


def _surely_finite(array: Array) -> bool:
    # A sum is finite only where all its parts are, and needs no memory.
    if array.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum()))


def _warn_identifier(column: Column, values: Values) -> None:
    if column.kind is not Kind.NOMINAL or not isinstance(next(iter(column.levels), None), str):
        return
    codes = values.array[values.array >= 0]
    if _IDENTIFIER_ROWS < len(codes) <= len(column.levels) and np.bincount(codes).max() == 1:
        warnings.warn(
            f"Column {column.name!r} has a different label in every row, as an identifier has: "
            f"nothing can be learnt from it. Leave it out, or declare what it is, "
            f"Table.of(X, kinds={{{column.name!r}: 'nominal'}}).",
            IdentifierWarning,
            stacklevel=4,
        )


def _ready(array: Array, column: Column, gaps: Array | None) -> Values:
    """Check one ready column against its schema."""
    if array.ndim != 1:
        raise ValueError(f"Column {column.name!r} has {array.ndim} dimensions, not one.")
    if gaps is not None and gaps.shape != array.shape:
        raise ValueError(f"Column {column.name!r} has {len(array)} rows, its gaps {len(gaps)}.")
    if column.kind is not Kind.NUMERIC:
        return _ready_codes(array, column, gaps)
    if array.dtype.kind in "mM":
        values = numbers(column.name, array, gaps)
    elif column.temporal and array.dtype == np.int64:
        values = replace(numbers(column.name, array, gaps), dtype=column.dtype)
    elif not column.temporal and np.can_cast(array.dtype, column.dtype):
        values = numbers(column.name, array.astype(column.dtype, copy=False), gaps)
    else:
        values = None
    if values is None or values.dtype != column.dtype:
        raise ValueError(f"Column {column.name!r} is {column.dtype}, but its array {array.dtype}.")
    return values


def _ready_codes(array: Array, column: Column, gaps: Array | None) -> Values:
    if array.dtype.kind not in "iu":
        raise ValueError(f"Column {column.name!r} needs whole-number codes, not {array.dtype}.")
    if len(array) and not (array.min() >= -1 and array.max() < len(column.levels)):
        raise ValueError(
            f"Column {column.name!r} has {len(column.levels)} levels, but codes from "
            f"{array.min()} to {array.max()}: they must lie in -1 (a gap) to "
            f"{len(column.levels) - 1}."
        )
    codes = array.astype(np.int32, copy=False)
    codes = codes if gaps is None else np.where(gaps, np.int32(-1), codes)
    return Values(column.name, codes, labels=column.levels)
