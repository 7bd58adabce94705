"""Parquet files: whole, or in partitions of row groups."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.categories import plain_labels, sort_labels
from ceiba.data.column import number_dtype, unknown_order
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import FileStamp
from ceiba.data.io.selection import (
    ColumnRoles,
    Selection,
    add_categories,
    check_columns,
    check_kinds,
)
from ceiba.data.io.types import KindRequest, column_stack, is_float_matrix
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table

#: Default size, decoded, above which a row group is read in slices.
PARTITION_BYTES = 128 << 20

_BATCH_ROWS = 1 << 16
_NUMBERS = {"int64", "uint64", "float32", "float64"}
# pandas stores an index other than 0, 1, 2 ... as a column of this name.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(
    path: Path,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """Read a Parquet file as a table."""
    file = open_parquet(path)
    known = parquet_columns(file, path)
    names = check_columns(columns, list(known), path)
    requests = check_kinds(kinds, list(known), path)
    schema = Schema(tuple(_check_type(known[name], name, path) for name in names))
    with _error_context(str(path)):
        # Arrow returns the columns in the order of the file.
        rows = file.read(columns=list(names)).select(list(names))
        if is_float_matrix(schema) and not requests:
            return _float_table(rows, schema)
        return Table.of(rows, kinds={name: requests[name] for name in names if name in requests})


def open_parquet(path: Path, dictionaries: Sequence[str] = ()) -> Any:
    """Open a file; text columns among ``dictionaries`` are read dictionary-encoded."""
    from pyarrow import parquet

    with _error_context(f"{path}: not a readable Parquet file"):
        return parquet.ParquetFile(path, read_dictionary=list(dictionaries) or None)


@contextmanager
def _error_context(context: str) -> Iterator[None]:
    """Convert errors of pyarrow to ReadError that starts with ``context``."""
    import pyarrow as pa

    try:
        yield
    except (ReadError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise ReadError(f"{context}: {error}") from error


def parquet_columns(file: Any, path: Path) -> dict[str, Column | str]:
    """Return the columns, without categories; the type's name where it is not supported.

    An index that pandas stored beside the columns is left out.
    """
    found: dict[str, Column | str] = {}
    for arrow_field in file.schema_arrow:
        name = arrow_field.name
        if name in found:
            raise ReadError.at(path, f"two columns have the name {name!r}: rename one of them.")
        if not _PANDAS_INDEX.fullmatch(name):
            found[name] = _column_of(arrow_field) or str(arrow_field.type)
    return found


def declared_columns(path: Path) -> set[str]:
    """Return the names of the columns that the file declares as categories."""
    from pyarrow import types

    fields = open_parquet(path).schema_arrow
    return {field.name for field in fields if types.is_dictionary(field.type)}


def _column_of(arrow_field: Any) -> Column | None:
    from pyarrow import types

    name, kind = arrow_field.name, arrow_field.type
    if types.is_dictionary(kind):
        return Column(name, Kind.ORDINAL if kind.ordered else Kind.NOMINAL, dtype="codes")
    if types.is_boolean(kind):
        return Column(name, Kind.NOMINAL, (False, True), "codes")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(name, Kind.NOMINAL, dtype="codes")
    dtype = _number_dtype(kind)
    return None if dtype is None else Column(name, Kind.NUMERIC, dtype=dtype)


def _number_dtype(kind: Any) -> str | None:
    from pyarrow import types

    if types.is_floating(kind) or types.is_integer(kind):
        return number_dtype(np.dtype(kind.to_pandas_dtype()))
    if types.is_decimal(kind) or types.is_null(kind):
        return "float64"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "datetime64[ns]"
    return "timedelta64[ns]" if types.is_duration(kind) else None


def _check_type(column: Column | str, name: str, path: Path) -> Column:
    if isinstance(column, Column):
        return column
    raise ReadError.at(
        path,
        f"type {column} is not supported. Write the column as numbers or text, or name the other "
        "columns in `columns`.",
        column=name,
    )


def _float_table(rows: Any, schema: Schema) -> Table:
    import pyarrow as pa

    dtype = schema[0].dtype
    arrays = []
    for name in schema.names:
        array = rows.column(name)
        if not pa.types.is_floating(array.type):
            array = array.cast(pa.type_for_alias(dtype), safe=False)
        arrays.append(array.to_numpy())
    return Table.of(column_stack(arrays, dtype), schema)


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """A row group of a Parquet file, or ``n_rows`` rows of one from ``first`` on."""

    file: FileStamp
    roles: ColumnRoles
    group: int
    first: int
    n_rows: int
    is_whole: bool

    @property
    def name(self) -> str:
        """File, row group and rows."""
        group = f"{self.file.path.name}, row group {self.group}"
        if self.is_whole:
            return group
        return f"{group}, rows {self.first + 1}–{self.first + self.n_rows}"

    def load(self) -> Chunk:
        """Read the rows."""
        self.file.check()
        with _error_context(f"{self.file.path}, row group {self.group}"):
            rows = self._read()
            return self.roles.chunk(lambda schema: _table(rows, schema), self.name)

    def _read(self) -> Any:
        import pyarrow as pa

        names = self.roles.names
        with open_parquet(self.file.path) as file:
            if self.is_whole:
                return file.read_row_group(self.group, columns=names)
            batches = file.iter_batches(_BATCH_ROWS, row_groups=[self.group], columns=names)
            return pa.Table.from_batches(list(_slice(batches, self.first, self.n_rows)))


def _slice(batches: Iterable[Any], first: int, n_rows: int) -> Iterator[Any]:
    for batch in batches:
        if first < len(batch):
            part = batch.slice(first, n_rows)
            n_rows -= len(part)
            yield part
        first = max(0, first - len(batch))
        if not n_rows:
            return


def _table(rows: Any, schema: Schema) -> Table:
    from pyarrow import types

    kinds = [rows.field(name).type for name in schema.names]
    if is_float_matrix(schema) and all(types.is_floating(k) or types.is_integer(k) for k in kinds):
        return _float_table(rows, schema)
    return Table.of(rows.select(schema.names), schema)


def scan_parquet(
    files: Sequence[FileStamp], selection: Selection, size: int
) -> tuple[ColumnRoles, list[ParquetPartition], int]:
    """Infer the columns of all files; also return the partitions and row count."""
    columns = _merge_types(files, selection)
    kinds, first = selection.kinds, files[0].path
    names = [name for name in columns if _needs_rows(columns[name], kinds.get(name), first)]
    if names:
        columns |= _read_categories(files, selection, columns, names)
    for name, column in columns.items():
        if kinds.get(name) == "numeric" and column.kind is not Kind.NUMERIC:
            columns[name] = Column(name, Kind.NUMERIC, dtype="float64")
    roles = selection.roles(columns, named=True)
    partitions = [part for file in files for part in _partitions(file, roles, size)]
    return roles, partitions, sum(part.n_rows for part in partitions)


def count_rows(files: Sequence[FileStamp]) -> int:
    """Count the rows by the metadata of the files."""
    return sum(int(open_parquet(file.path).metadata.num_rows) for file in files)


def _partitions(file: FileStamp, roles: ColumnRoles, size: int) -> Iterator[ParquetPartition]:
    metadata = open_parquet(file.path).metadata
    for group in range(metadata.num_row_groups):
        with _error_context(f"{file.path}, row group {group}"):
            row_group = metadata.row_group(group)
            n_rows, n_bytes = int(row_group.num_rows), _decoded_bytes(row_group, len(roles.names))
        step = max(1, -(-n_rows // max(1, -(-n_bytes // size))))
        for first in range(0, n_rows, step):
            count = min(step, n_rows - first)
            yield ParquetPartition(file, roles, group, first, count, is_whole=count == n_rows)


def _decoded_bytes(row_group: Any, n_columns: int) -> int:
    """Estimate the memory of some columns: at least eight bytes per value."""
    stored = int(row_group.total_byte_size * n_columns / row_group.num_columns)
    return max(stored, 8 * int(row_group.num_rows) * n_columns)


def _merge_types(files: Sequence[FileStamp], selection: Selection) -> dict[str, Column]:
    """Merge the columns of the metadata of all files, without categories."""
    first = files[0].path
    merged: dict[str, Column] = {}
    for file in files:
        known = parquet_columns(open_parquet(file.path), file.path)
        selection.check_file(list(known), file.path, first)
        for name in selection.names:
            column = _check_type(known[name], name, file.path)
            before = merged.setdefault(name, column)
            if {before.dtype, column.dtype} <= _NUMBERS:
                dtype = np.promote_types(before.dtype, column.dtype).name
                merged[name] = replace(before, dtype=dtype)
            elif before != column:
                raise ReadError.at(
                    file.path,
                    f"the column is {column.kind} ({column.dtype}), but {before.kind} "
                    f"({before.dtype}) in {first}. Write both files with one type.",
                    column=name,
                )
    return merged


def _needs_rows(column: Column, request: KindRequest | None, path: Path) -> bool:
    """Whether the categories of a column must be read from the rows."""
    is_text = column.kind is Kind.NOMINAL and not column.categories
    if request == "ordinal" and is_text:
        problem = f"the column {unknown_order(column.name)}"
        raise ReadError.at(path, problem, column=column.name)
    if request is None:
        return is_text or (column.kind is Kind.ORDINAL and not column.categories)
    return request != "numeric"


def _read_categories(
    files: Sequence[FileStamp],
    selection: Selection,
    columns: Mapping[str, Column],
    names: Sequence[str],
) -> dict[str, Column]:
    """Collect the categories of some columns by a pass over all files."""
    import pyarrow as pa

    labels: dict[str, set[Any]] = {}
    found: dict[str, Column] = {}
    # Unordered categories that the files declare: their order, None if it differs.
    declared: dict[str, Any] = dict.fromkeys(declared_columns(files[0].path), ())
    for path, name, array in _arrays(files, names):
        request = selection.kinds.get(name)
        with _error_context(str(path)):
            column = _batch_column(array, columns[name], request)
        # The order of ordinal categories may be declared, by the request or by the file.
        is_declared = isinstance(request, tuple) or pa.types.is_dictionary(array.type)
        if column.kind is Kind.ORDINAL and is_declared:
            if found.setdefault(name, column) != column:
                raise ReadError.at(
                    path,
                    "the ordered categories differ between row groups, and orders do not merge. "
                    f"Give all of them in order: kinds={{{name!r}: [...]}}.",
                    column=name,
                )
            continue
        add_categories(labels, name, column.categories, path)
        if declared.get(name) is not None:
            same = declared[name] in ((), column.categories)
            declared[name] = column.categories if same else None
        found[name] = column
    for name in found.keys() & labels.keys():
        categories = declared.get(name) or sort_labels(labels[name])
        found[name] = replace(found[name], categories=categories)
    return found


def _arrays(files: Sequence[FileStamp], names: Sequence[str]) -> Iterator[tuple[Path, str, Any]]:
    """Iterate over the columns of all batches; columns of text are dictionaries."""
    for file in files:
        reader = open_parquet(file.path, dictionaries=names)
        with _error_context(str(file.path)):
            for batch in reader.iter_batches(_BATCH_ROWS, columns=list(names)):
                for name in names:
                    yield file.path, name, batch.column(name)
        file.check()


def _batch_column(array: Any, column: Column, request: KindRequest | None) -> Column:
    """Return the column of one batch with its categories."""
    import pyarrow as pa

    if request is None and column.kind is Kind.NOMINAL:  # the common case, twice as fast
        values = array.dictionary if pa.types.is_dictionary(array.type) else array.unique()
        labels = [label for label in values.to_pylist() if label is not None]
        return replace(column, categories=plain_labels(labels, column.name))
    distinct = pa.table({column.name: array.unique()})
    if request == "ordinal" and column.kind is Kind.NUMERIC:
        # The order of numbers and times is that of their labels, which are sorted at the end.
        nominal = Table.of(distinct, kinds={column.name: "nominal"}).schema[0]
        return replace(nominal, kind=Kind.ORDINAL)
    return Table.of(distinct, kinds={column.name: request or str(column.kind)}).schema[0]
