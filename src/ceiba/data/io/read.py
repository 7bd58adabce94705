"""`read` a file as a table; `scan` files that need not fit into memory."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, cast, overload

from ceiba._typing import Array
from ceiba.data.arrays import is_dask
from ceiba.data.io import csv, parquet
from ceiba.data.io.arff import read_arff
from ceiba.data.io.csv_dialect import MISSING, Dialect, Header, file_dialect
from ceiba.data.io.dask_frame import DaskScan
from ceiba.data.io.elvira import read_dbc
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import (
    MAX_BYTES,
    FileStamp,
    check_local,
    read_bytes,
    require_arrow,
    split_suffix,
    to_utf8,
)
from ceiba.data.io.selection import ColumnRoles, Selection, check_name, known_values
from ceiba.data.io.types import check_identifier
from ceiba.data.schema import Schema
from ceiba.data.source import Partition
from ceiba.data.table import Table, concatenate

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_CSV = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
_PARQUET = (".parquet", ".pq")
# Files that declare their columns: suffix -> name of the format, and its parser.
_DECLARED = {".arff": ("ARFF", read_arff), ".dbc": ("Elvira", read_dbc)}
_LOCAL_ONLY = "download it, or open it with pandas, Polars or Dask and pass the frame to fit"


@overload
def read(
    path: Paths,
    *,
    target: None = None,
    columns: Sequence[str] | None = ...,
    kinds: Mapping[str, str | Sequence[Any]] | None = ...,
    delimiter: str = ...,
    header: Header = ...,
    missing: Sequence[str] = ...,
    quote: str | None = ...,
    encoding: str = ...,
    max_bytes: int | None = ...,
) -> Table: ...
@overload
def read(
    path: Paths,
    *,
    target: str,
    columns: Sequence[str] | None = ...,
    kinds: Mapping[str, str | Sequence[Any]] | None = ...,
    delimiter: str = ...,
    header: Header = ...,
    missing: Sequence[str] = ...,
    quote: str | None = ...,
    encoding: str = ...,
    max_bytes: int | None = ...,
) -> tuple[Table, Array]: ...
def read(
    path: Paths,
    *,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str | Sequence[Any]] | None = None,
    delimiter: str = "infer",
    header: Header = "infer",
    missing: Sequence[str] = MISSING,
    quote: str | None = '"',
    encoding: str = "utf-8",
    max_bytes: int | None = MAX_BYTES,
) -> Table | tuple[Table, Array]:
    """Read CSV, Parquet, ARFF or Elvira files, compressed or not, into a table.

    CSV and Parquet require pyarrow: ``pip install "ceiba[files]"``.

    Parameters
    ----------
    path : path, pattern, or list of them
        ``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.data`` and ``.dat`` are CSV, ``.arff`` is ARFF,
        ``.parquet`` and ``.pq`` are Parquet, ``.dbc`` is a case file of Elvira. All but Parquet
        may be compressed: ``.gz``, ``.bz2``, ``.xz``, ``.zip`` (with one file in it), ``.zst``
        (from Python 3.14 on). Several files, ``"part-*.csv"`` for example, are read in sorted
        order, one after the other; they must be uncompressed CSV in UTF-8, or Parquet, with the
        same columns.
    target : str, optional
        The column of the target: then the result is ``X, y``.
    columns : list of str, optional
        The columns to read, in this order, with or without the target. All by default.
    kinds : mapping, optional
        Kinds that differ from the inferred ones: ``{"zip": "nominal"}``, ``"numeric"``,
        ``"ordinal"``, or the categories of an ordinal column in order,
        ``{"size": ["S", "M", "L"]}``.
    delimiter : str
        CSV only. One character, ``" "`` for any run of blanks. By default it is inferred among
        comma, tab, semicolon, bar and blanks.
    header : bool or "infer"
        CSV only. Whether the first record contains the column names. By default it does if it has
        no number and no missing value and, where all columns are text, shares no text with the
        column below it.
    missing : sequence of str
        CSV only. The texts that stand for a missing value, quoted or not: by default the empty
        text, ``?``, ``NA``, ``N/A``, ``n/a``, ``<NA>``, ``NaN``, ``nan``, ``null`` and ``NULL``.
    quote : str or None
        CSV only. The character around fields with delimiters, newlines or (doubled) quotes.
    encoding : str
        CSV, ARFF and Elvira. UTF-8 by default.
    max_bytes : int or None
        Compressed files. The largest size after decompression, 4 GiB by default; None for no
        limit.

    Returns
    -------
    Table, or (Table, ndarray) with ``target``
        The target is an array of numbers, times or labels, without missing values.

    Raises
    ------
    ReadError
        If the file is invalid; the message names file, line and column.
    ImportError
        If the format requires pyarrow and it is not installed.

    Notes
    -----
    A CSV column of numbers is numeric: whole numbers are exact (int64, or uint64) where 64 bits
    suffice, others are float64. Any other column is nominal. Blanks around an unquoted field are
    ignored. The categories of a nominal column whose texts are all plain whole numbers are these
    numbers. A nominal ARFF attribute and a finite-states node of Elvira keep their declared
    categories in their order; an unquoted whole number in a case of Elvira is the index of a
    state, from 0 on, as it is in Elvira. An index that pandas stored in a Parquet file is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ceiba
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("outlook,humidity\\nsunny,85\\nrainy,?\\n")
    >>> ceiba.read(path)
    Table of 2 rows × 2 columns
      outlook   nominal  ('rainy', 'sunny')  sunny, rainy
      humidity  numeric  int64               85, ?
    >>> X, y = ceiba.read(path, target="outlook")
    >>> X.schema.names, y
    (['humidity'], array(['sunny', 'rainy'], dtype='<U5'))
    """
    options = Dialect(delimiter, header, missing, quote)
    if max_bytes is not None and (not isinstance(max_bytes, Integral) or max_bytes < 1):
        raise ValueError(f"max_bytes must be a positive int or None, got {max_bytes!r}.")
    if target is not None and columns is not None and not isinstance(columns, str):
        columns = [*columns, *([target] if target not in columns else [])]
    if isinstance(path, str | os.PathLike) and not _is_pattern(os.fspath(path)):
        check_local(path, _LOCAL_ONLY)
        path = Path(path)
        table = _read_file(path, columns, kinds, options, encoding, max_bytes)
    else:
        table = _read_files(path, columns, kinds, options, encoding)
    if target is None:
        return table
    check_name(target, table.schema.names, Path(str(path)))
    if len(table.schema) == 1:
        raise ReadError(f"{path}: no column is left beside the target {target!r}.")
    return table.drop(target), known_values(table[[target]], str(path))


def _read_files(
    paths: Paths,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
    options: Dialect,
    encoding: str,
) -> Table:
    """Read several files with one schema, the categories of which are merged."""
    if encoding != "utf-8":
        raise ValueError(
            f"encoding must be 'utf-8' for several files, got {encoding!r}: read them one by one."
        )
    source = scan(
        paths,
        columns=columns,
        kinds=kinds,
        delimiter=options.delimiter,
        header=options.header,
        missing=options.missing,
        quote=options.quote,
    )
    tables = [partition.load().table for partition in source.partitions]
    return concatenate(tables, source.schema)


def _read_file(
    path: Path,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
    options: Dialect,
    encoding: str,
    max_bytes: int | None,
) -> Table:
    suffix, compression = split_suffix(path)
    if suffix in _PARQUET:
        _check_unused(path, "Parquet", options, encoding)
        if compression:
            raise ReadError.at(path, "Parquet is compressed inside: decompress the file first.")
        require_arrow("ceiba.read of Parquet files")
        return parquet.read_parquet(path, columns, kinds)
    if suffix or compression != ".zip":  # the member of an archive has a suffix of its own
        _check_suffix(path, suffix, *_DECLARED)
    raw, suffix = read_bytes(path, max_bytes)
    _check_suffix(path, suffix, *_DECLARED)
    if suffix in _DECLARED:
        format_name, parse = _DECLARED[suffix]
        _check_unused(path, format_name, options)
        return parse(to_utf8(raw, encoding, path), path, columns, kinds)
    require_arrow("ceiba.read of CSV files")
    return csv.read_csv(to_utf8(raw, encoding, path), path, options, columns, kinds)


def _check_suffix(path: Path, suffix: str, *others: str) -> None:
    if suffix not in (*_CSV, *others):
        known = ", ".join(dict.fromkeys([*_CSV, *_PARQUET, *others]))
        raise ReadError.at(path, f"the suffix must be one of {known}, got {suffix!r}.")


def _check_unused(path: Path, format_name: str, options: Dialect, encoding: str = "utf-8") -> None:
    """Raise ReadError for options that have no effect with the format."""
    defaults = Dialect()
    for name in ("delimiter", "header", "missing", "quote"):
        if getattr(options, name) != getattr(defaults, name):
            raise ReadError.at(path, f"{name!r} has no effect with {format_name} files, only CSV.")
    if encoding != "utf-8":
        raise ReadError.at(path, f"'encoding' has no effect with {format_name} files.")


class ScannedSource:
    """Rows of files, as partitions that are read on demand; made by `scan`.

    ``dialect`` is None for Parquet files; ``target`` and ``weight`` are names of columns or None.
    """

    def __init__(
        self,
        files: Sequence[FileStamp],
        selection: Selection,
        partition_bytes: int,
        dialect: Dialect | None,
    ) -> None:
        self.files = tuple(files)
        self.selection = selection
        self.partition_bytes = partition_bytes
        self.dialect = dialect
        self.target, self.weight = selection.target, selection.weight

    @cached_property
    def _scanned(self) -> tuple[ColumnRoles, Sequence[Partition], int]:
        files, selection, size = self.files, self.selection, self.partition_bytes
        found: tuple[ColumnRoles, Sequence[Partition], int]
        if self.dialect is None:
            found = parquet.scan_parquet(files, selection, size)
        else:
            found = csv.scan_csv(files, self.dialect, selection, size)
        roles, partitions, n_rows = found
        if not n_rows:
            raise ReadError.at(files[0].path, "the files have no rows.")
        path = files[0].path
        declared = parquet.declared_columns(path) if self.dialect is None else set()
        declared |= selection.kinds.keys()
        columns = tuple(
            column if column.name in declared else check_identifier(column, n_rows, path)
            for column in roles.schema
        )
        schema = replace(roles.schema, columns=columns)
        return replace(roles, schema=schema), partitions, n_rows

    @property
    def schema(self) -> Schema:
        """Schema of the attributes, with the categories of all files.

        The first access reads the files once: of Parquet only columns of text, of CSV all selected
        columns.
        """
        return self._scanned[0].schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """The partitions, in row order."""
        return tuple(self._scanned[1])

    @property
    def n_rows(self) -> int:
        """Number of rows of all files."""
        if self.dialect is None and "_scanned" not in self.__dict__:
            return parquet.count_rows(self.files)
        return self._scanned[2]

    def __repr__(self) -> str:
        first, last = self.files[0].path.name, self.files[-1].path.name
        parts = [first if len(self.files) == 1 else f"{len(self.files)} files, {first} to {last}"]
        if "_scanned" in self.__dict__:
            parts.append(f"{self.n_rows:,} rows in {len(self.partitions):,} partitions")
        parts.append(f"{len(self.selection.attributes)} attributes")
        for role in ("target", "weight"):
            name = getattr(self, role)
            if name is not None:
                parts.append(f"{role}={name!r}")
        return f"ScannedSource({', '.join(parts)})"


def scan(
    paths: Paths | Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str | Sequence[Any]] | None = None,
    partition_bytes: int | None = None,
    delimiter: str = "infer",
    header: Header = "infer",
    missing: Sequence[str] = MISSING,
    quote: str | None = '"',
) -> ScannedSource:
    """Make a source of partitions from Parquet or CSV files that need not fit into memory.

    Only the beginning of the first file is read at once. Requires pyarrow:
    ``pip install "ceiba[files]"``.

    Parameters
    ----------
    paths : path, pattern, list of them, or Dask DataFrame
        ``"part-*.parquet"`` for example; files of a pattern are taken in sorted order. All files
        must have one format and the same columns. A Dask DataFrame is fitted on its cluster, and
        ``target``, ``weight``, ``columns`` and ``kinds`` are those of its columns.
    target, weight : str, optional
        The columns of the target and of the row weights.
    columns : list of str, optional
        The attributes, in this order; target and weight may be among them. By default all columns
        of the first file but target and weight.
    kinds : mapping, optional
        Kinds that differ from the inferred ones, as in `read`.
    partition_bytes : int, optional
        For CSV the bytes of text in a partition (32 MB). For Parquet a partition is a row group;
        one that takes more bytes than this in memory (128 MB) is read in slices, each of which
        decodes the row group from its beginning: small row groups are faster.
    delimiter, header, missing, quote
        CSV only, as in `read`.

    Returns
    -------
    ScannedSource or DaskScan
        For files with ``schema``, ``partitions``, ``n_rows``, ``target`` and ``weight``; for a
        Dask DataFrame with ``target`` and ``weight``.

    Notes
    -----
    A partition of CSV contains whole records; newlines in quotes are respected. Compressed CSV is
    not supported, since a compressed file can only be read from its beginning; ARFF and files of
    Elvira are read by `read` only. A column of text
    with more than 100,000 categories raises: it is an identifier. Loading a partition of a file
    that has changed after the scan raises, too.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ceiba
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.csv")
    >>> _ = path.write_text("outlook,humidity,play\\nsunny,85,no\\nrainy,?,yes\\n")
    >>> source = ceiba.scan(path, target="play")
    >>> source.schema.names, source.n_rows
    (['outlook', 'humidity'], 2)
    >>> source.partitions[0].load().target
    array(['no', 'yes'], dtype='<U3')
    """
    options = Dialect(delimiter, header, missing, quote)
    if is_dask(paths):
        if options != Dialect() or partition_bytes is not None:
            raise ValueError(
                "delimiter, header, missing, quote and partition_bytes must have their defaults "
                "for a Dask DataFrame: use the options of dask.dataframe.read_csv, or repartition."
            )
        frame = DaskScan.of(paths, target, weight, columns, kinds)
        return cast(ScannedSource, frame)
    require_arrow("ceiba.scan")
    found = _find_files(paths)
    first = found[0]
    files = [FileStamp.of(path) for path in found]
    dialect: Dialect | None = None
    if split_suffix(first)[0] in _PARQUET:
        _check_unused(first, "Parquet", options)
        names = list(parquet.parquet_columns(parquet.open_parquet(first), first))
        default = parquet.PARTITION_BYTES
    else:
        dialect = file_dialect(first, options)
        names, default = list(dialect.names), csv.PARTITION_BYTES
    size = default if partition_bytes is None else partition_bytes
    if not isinstance(size, Integral) or size < 1:
        raise ValueError(f"partition_bytes must be a positive int, got {size}.")
    selection = Selection.of(names, first, columns, target, weight, kinds)
    return ScannedSource(files, selection, size, dialect)


def _find_files(paths: Paths) -> list[Path]:
    """Return the files of all paths and patterns, of one format, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _matches(os.fspath(path))]
    if not found:
        raise ValueError("paths must contain at least one file, got an empty list.")
    if len({_is_parquet(path) for path in found}) > 1:
        raise ValueError("paths must have one format: scan CSV and Parquet files separately.")
    repeated = [path for index, path in enumerate(found) if path in found[:index]]
    if repeated:
        raise ValueError(f"paths must not contain a file twice, got {repeated[0]} again.")
    return found


def _matches(path: str) -> list[Path]:
    check_local(path, _LOCAL_ONLY)
    if _is_pattern(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(f"No file matches {path!r}.")
        return [Path(name) for name in found]
    if os.path.isdir(path):
        pattern = os.path.join(path, "*.parquet")
        raise IsADirectoryError(f"{path} is a folder: name its files, {pattern!r} for example.")
    return [Path(path)]


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.exists(path)


def _is_parquet(path: Path) -> bool:
    suffix, compression = split_suffix(path)
    if compression:
        raise ReadError.at(
            path,
            f"a {compression} file can only be read from its beginning. Decompress it, or convert "
            "it to Parquet, which is compressed inside.",
        )
    _check_suffix(path, suffix, *_PARQUET)
    return suffix in _PARQUET
