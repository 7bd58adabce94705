"""Parquet files: what their columns are, and how they become tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ceiba.data.io.arrow import require_arrow
from ceiba.data.io.errors import ReadError
from ceiba.data.io.gather import side_by_side
from ceiba.data.io.wishes import check_columns, check_kinds
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

# pandas stores an index that is not 0, 1, 2 ... as a column of this name.
_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(
    path: Path,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """The table of a Parquet file."""
    file = open_parquet(path)
    columns_by_name = parquet_columns(file, path)
    wanted = check_columns(columns, list(columns_by_name), path)
    wishes = check_kinds(kinds, list(columns_by_name), path)
    schema = Schema(tuple(check_flat(columns_by_name[name], name, path) for name in wanted))
    with naming(str(path)):
        # Arrow gives the columns in the file's order.
        rows = file.read(columns=list(wanted)).select(list(wanted))
        if is_float_block(schema) and not wishes:
            return float_table(rows, schema)
        return Table.of(rows, kinds={name: wishes[name] for name in wanted if name in wishes})


def open_parquet(path: Path, dictionaries: Sequence[str] = ()) -> Any:
    """The open file; text columns among ``dictionaries`` come as codes and different texts."""
    require_arrow("Parquet")
    from pyarrow import parquet

    with naming(f"{path}: it is no readable Parquet file"):
        return parquet.ParquetFile(path, read_dictionary=list(dictionaries) or None)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Make what goes wrong inside a `ReadError` that names the place."""
    import pyarrow as pa

    try:
        yield
    except (ReadError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise ReadError(f"{place}: {error}") from error


def parquet_columns(file: Any, path: Path) -> dict[str, Column | str]:
    """The columns by name, without levels; the name of its type for one that no table can hold.

    An index that pandas stored beside the columns is left out.
    """
    found: dict[str, Column | str] = {}
    for field in file.schema_arrow:
        if field.name in found:
            raise ReadError.at(path, f"two columns are called {field.name!r}: rename one of them.")
        if not _INDEX.fullmatch(field.name):
            found[field.name] = _column_of(field) or str(field.type)
    return found


def check_flat(column: Column | str, name: str, path: Path) -> Column:
    """Refuse a column of a type that no table can hold."""
    if isinstance(column, Column):
        return column
    raise ReadError.at(
        path,
        f"it holds {column} values, which a table cannot. Write it as numbers or text, or name the "
        "other columns in `columns`.",
        column=name,
    )


def _column_of(field: Any) -> Column | None:
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        order = Kind.ORDINAL if kind.ordered else Kind.NOMINAL
        return Column(field.name, order, dtype="codes")
    if types.is_boolean(kind):
        return Column(field.name, Kind.NOMINAL, (False, True), "codes")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column(field.name, Kind.NOMINAL, dtype="codes")
    dtype = _number_type(kind)
    return None if dtype is None else Column(field.name, Kind.NUMERIC, dtype=dtype)


def _number_type(kind: Any) -> str | None:
    from pyarrow import types

    if types.is_floating(kind):
        return "float64" if types.is_float64(kind) else "float32"
    if types.is_integer(kind):
        return "uint64" if types.is_uint64(kind) else "int64"
    if types.is_decimal(kind) or types.is_null(kind):
        return "float64"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "datetime64[ns]"
    return "timedelta64[ns]" if types.is_duration(kind) else None


def is_float_block(schema: Schema) -> bool:
    """Whether all columns are floats of one type."""
    return {column.dtype for column in schema} in ({"float64"}, {"float32"})


def float_table(rows: Any, schema: Schema) -> Table:
    """The table of Arrow columns of numbers as one matrix of the schema's float type."""
    import pyarrow as pa

    dtype = schema[0].dtype
    columns = (rows.column(name) for name in schema.names)
    arrays = [
        (
            c if pa.types.is_floating(c.type) else c.cast(pa.type_for_alias(dtype), safe=False)
        ).to_numpy()
        for c in columns
    ]
    return Table.of(side_by_side(arrays, dtype), schema)
