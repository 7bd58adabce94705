"""`scan`: files that need not fit into memory, as a source of partitions."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ceiba.data.io import csv, parquet
from ceiba.data.io.csv_dialect import MISSING, Dialect, Header, file_dialect
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import FileStamp, require_arrow, split_suffix
from ceiba.data.io.read import CSV_SUFFIXES, PARQUET_SUFFIXES, check_unused
from ceiba.data.io.selection import ColumnRoles, Selection
from ceiba.data.io.types import warn_identifier
from ceiba.data.schema import Schema
from ceiba.data.source import Partition

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


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
        roles, _, n_rows = found
        if not n_rows:
            raise ReadError.at(files[0].path, "the files have no rows.")
        for column in roles.schema:
            if column.name not in selection.kinds:
                warn_identifier(column, n_rows, files[0].path)
        return found

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
    paths: Paths,
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
    paths : path, pattern, or list of them
        ``"part-*.parquet"`` for example; files of a pattern are taken in sorted order. All files
        must have one format and the same columns.
    target, weight : str, optional
        The columns of the target and of the row weights.
    columns : list of str, optional
        The attributes, in this order. By default all columns of the first file but target and
        weight.
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
    ScannedSource
        With ``schema``, ``partitions``, ``n_rows``, ``target`` and ``weight``.

    Notes
    -----
    A partition of CSV contains whole records; newlines in quotes are respected. Compressed CSV is
    not supported, since a compressed file can only be read from its beginning. A column of text
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
    require_arrow("ceiba.scan")
    found = _find_files(paths)
    options = Dialect(delimiter, header, missing, quote)
    first = found[0]
    files = [FileStamp.of(path) for path in found]
    dialect: Dialect | None = None
    if split_suffix(first)[0] in PARQUET_SUFFIXES:
        check_unused(first, "Parquet", options)
        names = list(parquet.parquet_columns(parquet.open_parquet(first), first))
        default = parquet.PARTITION_BYTES
    else:
        dialect = file_dialect(first, options)
        names, default = list(dialect.names), csv.PARTITION_BYTES
    size = default if partition_bytes is None else partition_bytes
    if size < 1:
        raise ValueError(f"partition_bytes must be a positive int, got {size}.")
    selection = Selection.of(names, first, columns, target, weight, kinds)
    return ScannedSource(files, selection, size, dialect)


def _find_files(paths: Paths) -> list[Path]:
    """Return the files of all paths and patterns, of one format, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _matches(os.fspath(path))]
    if not found:
        raise ValueError("paths must contain at least one file, got an empty list.")
    if len({_format_of(path) for path in found}) > 1:
        raise ValueError("paths must have one format: scan CSV and Parquet files separately.")
    repeated = [path for index, path in enumerate(found) if path in found[:index]]
    if repeated:
        raise ValueError(f"paths must not contain a file twice, got {repeated[0]} again.")
    return found


def _matches(path: str) -> list[Path]:
    if glob.has_magic(path) and not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(f"No file matches {path!r}.")
        return [Path(name) for name in found]
    if os.path.isdir(path):
        pattern = os.path.join(path, "*.parquet")
        raise IsADirectoryError(f"{path} is a folder: name its files, {pattern!r} for example.")
    return [Path(path)]


def _format_of(path: Path) -> str:
    suffix, compression = split_suffix(path)
    if compression:
        raise ReadError.at(
            path,
            f"a {compression} file can only be read from its beginning. Decompress it, or convert "
            "it to Parquet, which is compressed inside.",
        )
    if suffix in PARQUET_SUFFIXES:
        return "Parquet"
    if suffix in CSV_SUFFIXES:
        return "CSV"
    known = ", ".join([*PARQUET_SUFFIXES, *CSV_SUFFIXES])
    raise ReadError.at(
        path, f"a file to scan must have one of the suffixes {known}, got {suffix!r}."
    )
