"""`scan`: files that need not fit memory, as a source of partitions."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ceiba.data.io import csv_scan, parquet_scan
from ceiba.data.io.arrow import require_arrow
from ceiba.data.io.compressed import split_suffix
from ceiba.data.io.dialect import MISSING, Dialect, Header, Style
from ceiba.data.io.errors import ReadError
from ceiba.data.io.file_stamp import FileStamp
from ceiba.data.io.gather import point_out_identifier
from ceiba.data.io.layout import Layout, Selection
from ceiba.data.io.parquet import open_parquet, parquet_columns
from ceiba.data.io.read import CSV_SUFFIXES, PARQUET_SUFFIXES, refuse_idle
from ceiba.data.schema import Schema
from ceiba.data.source import Partition

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class ScannedSource:
    """Rows of files, as partitions that are read when asked for; made by `scan`.

    Parameters
    ----------
    files : sequence of FileStamp
    selection : Selection
    partition_bytes : int
    dialect : Dialect or None
        How CSV files are written; None for Parquet.
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

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return self.selection.target

    @property
    def weight(self) -> str | None:
        """Name of the weight column."""
        return self.selection.weight

    @cached_property
    def _survey(self) -> tuple[Layout, Sequence[Partition], int]:
        layout, partitions, rows = self._pass()
        if not rows:
            raise ReadError.at(self.files[0].path, "the files have no rows.")
        for column in layout.schema:
            if column.name not in self.selection.wishes:
                point_out_identifier(column, rows, str(self.files[0].path))
        return layout, partitions, rows

    def _pass(self) -> tuple[Layout, Sequence[Partition], int]:
        files, selection, size = self.files, self.selection, self.partition_bytes
        if self.dialect is None:
            return parquet_scan.survey_parquet(files, selection, size)
        return csv_scan.survey_csv(files, self.dialect, selection, size)

    @property
    def schema(self) -> Schema:
        """Schema of the attributes, with the levels of all files.

        The first call passes over the files once. Of Parquet only columns of text are read for it,
        of CSV all wanted columns.
        """
        return self._survey[0].schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """The partitions, in row order."""
        return tuple(self._survey[1])

    @property
    def n_rows(self) -> int:
        """The number of rows of all files."""
        if self.dialect is None and "_survey" not in self.__dict__:
            return parquet_scan.count_rows(self.files)
        return self._survey[2]

    def __repr__(self) -> str:
        first, last = self.files[0].path.name, self.files[-1].path.name
        names = first if len(self.files) == 1 else f"{len(self.files)} files, {first} to {last}"
        parts = [names]
        if "_survey" in self.__dict__:
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
    """Make a source of partitions from Parquet or CSV files that need not fit memory.

    Nothing but the head of the first file is read now. Needs pyarrow.

    Parameters
    ----------
    paths : path, pattern, or list of them
        ``"part-*.parquet"`` for example; files of a pattern are taken in sorted order. All files
        must be of one format and have the same columns.
    target, weight : str, optional
        The columns that hold what is to be learnt and the weights of the rows.
    columns : list of str, optional
        The attributes, in this order. By default all columns of the first file but target and
        weight.
    kinds : mapping, optional
        Kinds that differ from what the files say, as in `read`.
    partition_bytes : int, optional
        For CSV the bytes of text in a partition (32 MB). For Parquet a partition is a row group;
        one that takes more bytes than this in memory (128 MB) is read in slices, each of which
        has to decode the row group from its beginning: small row groups are faster.
    delimiter, header, missing, quote
        CSV only, as in `read`.

    Returns
    -------
    ScannedSource
        With ``schema``, ``partitions``, ``n_rows``, ``target`` and ``weight``.

    Notes
    -----
    A partition of CSV begins and ends with a record; newlines in quotes are respected. Compressed
    CSV is refused, since a compressed file can only be read from its beginning. A column of text
    with more than 100,000 levels is refused: it is an identifier. Files that change after the scan
    are refused when their partitions are loaded.

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
    found = _find(paths)
    style = Style(delimiter, header, missing, quote)
    first = found[0]
    files = [FileStamp.of(path) for path in found]
    if split_suffix(first)[0] in PARQUET_SUFFIXES:
        refuse_idle(first, "Parquet", style)
        names = list(parquet_columns(open_parquet(first), first))
        dialect, usual = None, parquet_scan.PARTITION_BYTES
    else:
        dialect = csv_scan.head_of(first, style)
        names, usual = list(dialect.names), csv_scan.PARTITION_BYTES
    size = usual if partition_bytes is None else partition_bytes
    if size < 1:
        raise ValueError(f"partition_bytes must be positive, not {size}.")
    selection = Selection.of(names, first, columns, target, weight, kinds)
    return ScannedSource(files, selection, size, dialect)


def _find(paths: Paths) -> list[Path]:
    """The files that the paths and patterns name, of one format, each once."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _matches(os.fspath(path))]
    if not found:
        raise ValueError("Name at least one file to scan.")
    forms = {_format_of(path) for path in found}
    if len(forms) > 1:
        raise ValueError("The files are of different formats; scan CSV and Parquet apart.")
    twice = [path for place, path in enumerate(found) if path in found[:place]]
    if twice:
        raise ValueError(f"The file {twice[0]} is named twice, its rows would count twice.")
    return found


def _matches(path: str) -> list[Path]:
    if glob.has_magic(path) and not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(f"No file matches {path!r}.")
        return [Path(name) for name in found]
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"{path} is a folder: name its files, {os.path.join(path, '*.parquet')!r} for example."
        )
    return [Path(path)]


def _format_of(path: Path) -> str:
    form, packing = split_suffix(path)
    if packing:
        raise ReadError.at(
            path,
            f"a {packing} file can only be read from its beginning. Decompress it, or convert it "
            "to Parquet, which is compressed inside.",
        )
    if form in PARQUET_SUFFIXES:
        return "Parquet"
    if form in CSV_SUFFIXES:
        return "CSV"
    known = ", ".join([*PARQUET_SUFFIXES, *CSV_SUFFIXES])
    raise ReadError.at(path, f"the suffix {form!r} is of no format that can be scanned ({known}).")
