"""Tables: columns of numbers and categories with missing values, made from any container."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import array_columns, check_shape
from ceiba.data.categories import list_labels
from ceiba.data.column import (
    ColumnValues,
    KindRequest,
    UnseenCategories,
    convert_column,
    infer_column,
    number_dtype,
    number_values,
)
from ceiba.data.conversion import column_values, to_array, to_pandas, to_polars
from ceiba.data.display import MAX_ROWS, shorten, table_html, table_text
from ceiba.data.frames import open_container, read_columns
from ceiba.data.identifiers import mark_identifier, warn_categories
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.warn import warn_user


class UnseenCategoryWarning(UserWarning):
    """Rows have categories that a schema lacks, and which are missing values for a model."""


def check_kinds_without_schema(kinds: Mapping[str, Any] | None, schema: Schema | None) -> None:
    """Raise ValueError for kinds beside a schema."""
    if kinds and schema is not None:
        raise ValueError("kinds and schema must not be given together: a schema has all kinds.")


class Table:
    """Rows and columns with a schema: numbers, nominal and ordinal categories, missing values.

    Make a table by `Table.of` (any container) or `Table.from_columns` (arrays of numbers and
    codes). Tables are immutable, and share memory with the container where possible. ``block`` is
    the 2-D array of any numeric dtype that a table was made from, or None.

    Examples
    --------
    >>> from ceiba.data import Table
    >>> table = Table.of([{"color": "red", "size": 1.5}, {"color": None, "size": 2.0}])
    >>> table
    Table of 2 rows × 2 columns
      color  nominal  ('red',)  red, ?
      size   numeric  float64   1.5, 2.0
    >>> table.column(0), table.missing_mask(0)
    (array([ 0, -1], dtype=int32), array([False,  True]))
    """

    __slots__ = ("_columns", "_missing", "block", "n_rows", "schema")

    schema: Schema
    n_rows: int

    def __init__(
        self,
        schema: Schema,
        n_rows: int,
        block: Array | None = None,
        columns: tuple[Array, ...] = (),
        missing: Mapping[int, Array] | None = None,
    ) -> None:
        self.schema = schema
        self.n_rows = n_rows
        # Either one 2-D block of numbers without missing masks, or a tuple of columns.
        self.block = block
        self._columns = columns
        self._missing = missing or {}

    @classmethod
    def of(
        cls,
        X: Any,
        schema: Schema | None = None,
        *,
        kinds: Mapping[str, str | Sequence[Any]] | None = None,
        expected_by: str = "this model",
        warn: bool = True,
    ) -> Table:
        """Make a table of any container, with an inferred or a given schema.

        Parameters
        ----------
        X : array, frame, list or Table
            A 2-D NumPy array, a pandas, polars or pyarrow frame, a list of dictionaries or of
            rows. Float arrays are taken as they are, without a copy. A sparse matrix or array of
            SciPy is made dense, if that takes no more than scikit-learn's ``working_memory``,
            1 GiB by default.
        schema : Schema, optional
            Convert to this schema: columns by name (by position if either side has no names),
            categories by label. An unknown category becomes missing, with an
            `UnseenCategoryWarning`. Numbers keep their own dtype if the conversion would not be
            exact.
        kinds : mapping, optional
            Kinds that differ from the inferred ones: ``{"zip": "nominal"}``, or the categories of
            an ordinal column in order, ``{"size": ["S", "M", "L"]}``. Only without ``schema``.
        expected_by : str
            Name of the model that expects the schema, for error messages.
        warn : bool
            Whether to warn of identifiers, few rows per category and unknown categories.

        Notes
        -----
        Numbers, dates and durations are numeric; text, bools and categoricals are nominal, ordered
        categoricals ordinal. The categories of a categorical are all declared ones, used or not (a
        polars Categorical declares none: those found), in their order; those of text are sorted,
        by value where all of them are numbers. Text is a label even if it is a number,
        unless ``kinds`` or ``schema`` makes the column numeric. An array of bools is numeric, 0 and
        1. None, NaN, NaT and null are missing values.

        A column of text with a different category in each of more than 20 rows is taken for an
        identifier: the table keeps it, but learners leave it out, with an `IdentifierWarning`,
        unless its kind is given by ``kinds``, ``schema`` or a categorical. More than 10 categories
        with fewer than 5 rows each, on average, give a `ManyCategoriesWarning`.

        Examples
        --------
        >>> import numpy as np
        >>> Table.of(np.eye(2)).schema.names
        ['x0', 'x1']
        """
        check_kinds_without_schema(kinds, schema)
        if isinstance(X, Table):
            if not kinds and (schema is None or schema == X.schema):
                return X
            if schema is not None and X.block is not None:
                if X.schema.named and schema.named:
                    schema.check_names(X.schema.names)
                return cls._of_block(X.block, schema, expected_by, warn)
            columns, named = [X._values(j) for j in range(len(X.schema))], X.schema.named
            if schema is None:
                return cls._infer(columns, named, kinds or {}, warn, known=X.schema)
        else:
            X = X if type(X) is np.ndarray else open_container(X)
            if type(X) is np.ndarray and X.dtype.kind in "fiub" and not kinds:
                return cls._of_block(X, schema, expected_by, warn)
            ordered = schema.names if schema is not None and schema.named else ()
            columns, named = read_columns(X, ordered)
        if schema is None:
            return cls._infer(columns, named, kinds or {}, warn)
        return cls._with_schema(columns, named, schema, expected_by, warn)

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Array],
        schema: Schema,
        missing: Mapping[int, Array] | None = None,
    ) -> Table:
        """Make a table of arrays of numbers and category codes.

        Parameters
        ----------
        columns : sequence of 1-D arrays
            Numbers of the dtype of the schema; integer codes of nominal and ordinal columns, -1
            for a missing value. Missing floats are NaN, missing times NaT.
        schema : Schema
        missing : mapping from column index to mask, optional
            Missing values of integer and time columns.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba.data import Column, Kind, Schema
        >>> schema = Schema((Column("color", Kind.NOMINAL, ("blue", "red"), "codes"),))
        >>> Table.from_columns([np.array([1, -1, 0])], schema).column(0)
        array([ 1, -1,  0], dtype=int32)
        """
        if len(columns) != len(schema) or not columns:
            raise ValueError(
                f"columns must have as many arrays as the schema has columns ({len(schema)}), got "
                f"{len(columns)}."
            )
        masks = missing or {}
        if unused := [j for j in masks if j not in range(len(schema))]:
            raise ValueError(
                f"missing must have column indices from 0 to {len(schema) - 1}, got {unused[0]!r}."
            )
        checked = [
            _check_column(np.asarray(array), column, masks.get(j))
            for j, (array, column) in enumerate(zip(columns, schema, strict=True))
        ]
        lengths = [len(values.array) for values in checked]
        if min(lengths) != max(lengths):
            raise ValueError(f"columns must have one length, got {min(lengths)} to {max(lengths)}.")
        return cls._build(list(zip(schema, checked, strict=True)), schema.named)

    @classmethod
    def _of_block(
        cls, X: Array, schema: Schema | None, expected_by: str, warn: bool = True
    ) -> Table:
        check_shape(X)
        own = block_schema(X.shape[1], number_dtype(X.dtype), schema, expected_by)
        if own is not None:
            return cls(own, len(X), X.astype(own[0].dtype, copy=False))
        assert schema is not None
        block = X.astype(number_dtype(X.dtype), copy=False)
        return cls._with_schema(array_columns(block), False, schema, expected_by, warn)

    @classmethod
    def _with_schema(
        cls,
        columns: list[ColumnValues],
        named: bool,
        schema: Schema,
        expected_by: str,
        warn: bool,
    ) -> Table:
        if named and schema.named:
            schema.check_names([values.name for values in columns])
        schema.check_width(len(columns), expected_by)
        unseen: list[UnseenCategories] = []
        pairs = [
            convert_column(values, column, unseen)
            for values, column in zip(columns, schema, strict=True)
        ]
        if unseen and warn:
            warn_unseen(unseen)
        return cls._build(pairs, schema.named)

    @classmethod
    def _infer(
        cls,
        columns: list[ColumnValues],
        named: bool,
        kinds: Mapping[str, KindRequest],
        warn: bool,
        known: Schema | None = None,
    ) -> Table:
        """Infer the columns, but those of a table, whose schema is ``known``, only by kinds."""
        names = [values.name for values in columns]
        unknown = [name for name in kinds if name not in names]
        if unknown:
            raise ValueError(
                f"kinds must have names of columns, got {unknown[0]!r}; the columns are {names!r}."
            )
        pairs = []
        for j, values in enumerate(columns):
            if known is not None and values.name not in kinds:
                pairs.append((known[j], values))
                continue
            column, converted = infer_column(values, kinds.get(values.name))
            if values.name not in kinds and column.kind is Kind.NOMINAL and not values.declared:
                n_values = int(np.count_nonzero(converted.array >= 0))
                column = mark_identifier(column, n_values)
                if warn:
                    declared = f"ceiba.data.Table.of(X, kinds={{{column.name!r}: 'nominal'}})"
                    remedy = f"Leave it out, or declare it: {declared}."
                    warn_categories(column, n_values, remedy)
            pairs.append((column, converted))
        return cls._build(pairs, named)

    @classmethod
    def _build(cls, pairs: Sequence[tuple[Column, ColumnValues]], named: bool) -> Table:
        schema = Schema(tuple(column for column, _ in pairs), named)
        arrays = tuple(values.array for _, values in pairs)
        missing = {
            j: values.missing for j, (_, values) in enumerate(pairs) if values.missing is not None
        }
        return cls(schema, len(arrays[0]), None, arrays, missing)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.n_rows, len(self.schema)

    def __getitem__(self, key: Any) -> Any:
        """Select one column, some columns or some rows.

        Parameters
        ----------
        key : str, list of str, or rows
            A name gives the values of the column as an array: numbers, times or labels, None for
            a missing integer or label. A list of names gives a table. An index, a mask or a slice
            gives a table of these rows, as the splitters of scikit-learn use.

        Examples
        --------
        >>> table = Table.of([{"color": "red", "size": 1.5}, {"color": "blue", "size": 2.0}])
        >>> table["color"]
        array(['red', 'blue'], dtype='<U4')
        >>> table[["size"]].schema.names, len(table[:1])
        (['size'], 1)
        """
        if isinstance(key, str):
            return column_values(self, self._index(key))
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._select([self._index(name) for name in key])
        if isinstance(key, tuple):  # scikit-learn uses table[rows, ...]
            key, *rest = key
            if rest not in ([Ellipsis], [slice(None)]):
                raise TypeError(
                    "A table is indexed by rows or by names of columns: use table.column(j) for a "
                    "column by position."
                )
        return self.take([key] if isinstance(key, int | np.integer) else key)

    def drop(self, columns: str | Sequence[str]) -> Table:
        """Return the table without some columns, by name.

        Examples
        --------
        >>> Table.of([{"color": "red", "size": 1.5}]).drop("color").schema.names
        ['size']
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        dropped = {self._index(name) for name in names}
        kept = [j for j in range(len(self.schema)) if j not in dropped]
        if not kept:
            raise ValueError("columns must leave at least one column, got all of them.")
        return self._select(kept)

    def _index(self, name: str) -> int:
        """Return the position of a column; raise KeyError with a similar name."""
        names = self.schema.names
        if name in names:
            return names.index(name)
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the columns are {list_labels(names)}."
        raise KeyError(f"The table has no column {name!r}: {hint}")

    def _select(self, indices: list[int]) -> Table:
        """Return a table of some different columns, by position."""
        if len(set(indices)) < len(indices):
            raise ValueError("A table must have different columns, got one twice.")
        schema = replace(self.schema, columns=tuple(self.schema[j] for j in indices))
        if self.block is not None:
            return Table(schema, self.n_rows, self.block[:, indices])
        arrays = tuple(self._columns[j] for j in indices)
        missing = {i: self._missing[j] for i, j in enumerate(indices) if j in self._missing}
        return Table(schema, self.n_rows, None, arrays, missing)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return a 2-D array: numbers where all columns are numeric, else labels as objects."""
        array = to_array(self)
        return np.array(array, dtype=dtype, copy=True if copy else None)

    @property
    def matrix(self) -> Array | None:
        """The 2-D float array that the table was made from, without a copy; else None."""
        return self.block if self.block is not None and self.block.dtype.kind == "f" else None

    def column(self, j: int) -> Array:
        """Return column ``j``: numbers of its dtype (times as int64), or int32 codes.

        A missing value is NaN in a float column, -1 in codes, and 0 with `missing_mask` elsewhere.
        """
        return self._columns[j] if self.block is None else self.block[:, j]

    def missing_mask(self, j: int) -> Array | None:
        """Return the mask of the missing values of column ``j``, or None if there are none."""
        array = self.column(j)
        mask: Array | None
        if array.dtype.kind == "f":
            mask = np.isnan(array)
        elif self.schema[j].kind is not Kind.NUMERIC:
            mask = array < 0
        else:
            mask = self._missing.get(j)
        return mask if mask is not None and mask.any() else None

    def take(self, rows: Any) -> Table:
        """Select rows by indices, a mask or a slice."""
        if self.block is not None:
            part = self.block[rows]
            return Table(self.schema, len(part), part)
        columns = tuple(column[rows] for column in self._columns)
        missing = {j: mask[rows] for j, mask in self._missing.items()}
        return Table(self.schema, len(columns[0]), None, columns, missing)

    def head(self, n: int = 5) -> Table:
        """Return the first ``n`` rows."""
        return self.take(slice(n))

    def to_pandas(self) -> Any:
        """Convert to a pandas DataFrame; requires pandas.

        Nominal columns become categoricals, ordinal ones ordered categoricals, integers with
        missing values nullable integers.

        Examples
        --------
        >>> Table.of([{"color": "red", "size": 1.5}]).to_pandas()
          color  size
        0   red   1.5
        """
        return to_pandas(self)

    def to_polars(self) -> Any:
        """Convert to a polars DataFrame; requires polars.

        Nominal and ordinal columns of text become enums, other categories their own values.

        Examples
        --------
        >>> Table.of([{"color": "red", "size": 1.5}]).to_polars().rows()
        [('red', 1.5)]
        """
        return to_polars(self)

    def check_finite(self) -> None:
        """Raise ValueError for infinity, with its row and column. NaN is a missing value."""
        if self.block is not None and _is_finite(self.block):
            return
        for j, column in enumerate(self.schema):
            array = self.column(j)
            if not _is_finite(array) and (bad := np.isinf(array)).any():
                raise ValueError(
                    f"X contains infinity: row {int(np.argmax(bad))}, column {column.name!r}. "
                    "Correct it, or use NaN for a missing value."
                )

    def _values(self, j: int) -> ColumnValues:
        column = self.schema[j]
        return ColumnValues(
            column.name,
            self.column(j),
            column.dtype,
            self._missing.get(j),
            column.categories,
            declared=column.kind is Kind.ORDINAL,
            ordered=column.kind is Kind.ORDINAL,
        )

    def __repr__(self) -> str:
        return table_text(self)

    def _repr_html_(self) -> str:
        return table_html(self)


def block_schema(d: int, dtype: str, schema: Schema | None, expected_by: str) -> Schema | None:
    """Return the schema of a 2-D block of numbers; None if its columns must be converted singly.

    Parameters
    ----------
    d, dtype : int, str
        Number of columns, and their dtype in tables.
    schema : Schema or None
        The schema that a model expects, if there is one.
    """
    if schema is None:
        return Schema.numeric(d, dtype)
    schema.check_width(d, expected_by)
    dtypes = {column.dtype for column in schema}
    if dtypes in ({dtype}, {"float64"}):
        return schema
    if dtypes == {"float32"} and dtype == "float64":
        # Not converted, which would round.
        return Schema.numeric(d, dtype, schema.names if schema.named else None)
    return None


def concatenate(tables: Sequence[Table], schema: Schema) -> Table:
    """Return the rows of tables with the same columns, one after the other."""
    if len(tables) == 1:
        return Table.of(tables[0], schema, warn=False)
    if all(table.block is not None for table in tables):
        block = np.concatenate([table.block for table in tables if table.block is not None])
        return Table(schema, len(block), block)
    columns, masks = [], {}
    for j in range(len(schema)):
        columns.append(np.concatenate([table.column(j) for table in tables]))
        missing = [table._missing.get(j) for table in tables]
        if any(mask is not None for mask in missing):
            parts = zip(missing, tables, strict=True)
            masks[j] = np.concatenate(
                [np.zeros(len(t), bool) if mask is None else mask for mask, t in parts]
            )
    return Table(schema, len(columns[0]), None, tuple(columns), masks)


def _is_finite(array: Array) -> bool:
    # The sum is finite only if all terms are, and needs no memory; an overflow is checked again.
    if array.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum()))


def warn_unseen(unseen: Sequence[UnseenCategories]) -> None:
    """Warn once of the unknown categories of all columns."""
    shown = [_describe_unseen(found) for found in unseen[:MAX_ROWS]]
    if len(unseen) > MAX_ROWS:
        shown.append(f"and {len(unseen) - MAX_ROWS} more columns")
    warn_user(
        f"Categories that were not seen in fit are missing values: {'; '.join(shown)}.",
        UnseenCategoryWarning,
    )


def _describe_unseen(found: UnseenCategories) -> str:
    rows = ""
    if found.n_rows is not None:
        rows = f"{found.n_rows:,} row{'s' * (found.n_rows != 1)}, "
    return f"column {found.column!r} ({rows}{shorten(list_labels(found.labels, 3))})"


def _check_column(array: Array, column: Column, missing: Array | None) -> ColumnValues:
    """Check an array against its column of the schema."""
    if array.ndim != 1:
        raise ValueError(f"Column {column.name!r} must have one dimension, got {array.ndim}.")
    if missing is not None and missing.shape != array.shape:
        raise ValueError(
            f"The missing mask of column {column.name!r} must have {len(array)} rows, got "
            f"{len(missing)}."
        )
    if column.kind is not Kind.NUMERIC:
        return _check_codes(array, column, missing)
    if array.dtype.kind in "mM":
        values = number_values(column.name, array, missing)
    elif column.temporal and array.dtype == np.int64:
        values = replace(number_values(column.name, array, missing), dtype=column.dtype)
    elif not column.temporal and np.can_cast(array.dtype, column.dtype):
        values = number_values(column.name, array.astype(column.dtype, copy=False), missing)
    else:
        values = None
    if values is None or values.dtype != column.dtype:
        raise ValueError(
            f"Column {column.name!r} must have dtype {column.dtype}, got {array.dtype}."
        )
    return values


def _check_codes(array: Array, column: Column, missing: Array | None) -> ColumnValues:
    if array.dtype.kind not in "iu":
        raise ValueError(f"Column {column.name!r} must have integer codes, got {array.dtype}.")
    if len(array) and not (array.min() >= -1 and array.max() < len(column.categories)):
        raise ValueError(
            f"Column {column.name!r} must have codes in [-1, {len(column.categories) - 1}], got "
            f"{array.min()} to {array.max()}."
        )
    codes = array.astype(np.int32, copy=False)
    codes = codes if missing is None else np.where(missing, np.int32(-1), codes)
    return ColumnValues(column.name, codes, labels=column.categories)
