"""`read`: load a file as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ceiba.data.io.arff import read_arff
from ceiba.data.io.csv import read_csv
from ceiba.data.io.csv_dialect import MISSING, Dialect, Header
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import read_bytes, require_arrow, split_suffix, to_utf8
from ceiba.data.io.parquet import read_parquet
from ceiba.data.table import Table

CSV_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")
PARQUET_SUFFIXES = (".parquet", ".pq")


def read(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str | Sequence[Any]] | None = None,
    delimiter: str = "infer",
    header: Header = "infer",
    missing: Sequence[str] = MISSING,
    quote: str | None = '"',
    encoding: str = "utf-8",
) -> Table:
    """Read a CSV, ARFF or Parquet file, compressed or not, into a table.

    CSV and Parquet require pyarrow: ``pip install "ceiba[files]"``.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.data`` and ``.dat`` are CSV, ``.arff`` is ARFF,
        ``.parquet`` and ``.pq`` are Parquet. CSV and ARFF may be compressed: ``.gz``, ``.bz2``,
        ``.xz``, ``.zip`` (with one file in it), ``.zst`` (from Python 3.14 on).
    columns : list of str, optional
        The columns to read, in this order. All by default.
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
        CSV and ARFF. UTF-8 by default.

    Returns
    -------
    Table

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
    numbers. A nominal ARFF attribute keeps its declared categories, and with ``"ordinal"`` also
    their order. An index that pandas stored in a Parquet file is left out.

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
    """
    path = Path(path)
    options = Dialect(delimiter, header, missing, quote)
    suffix, compression = split_suffix(path)
    if suffix in PARQUET_SUFFIXES:
        check_unused(path, "Parquet", options, encoding)
        if compression:
            raise ReadError.at(path, "Parquet is compressed inside: decompress the file first.")
        require_arrow("ceiba.read of Parquet files")
        return read_parquet(path, columns, kinds)
    if suffix or compression != ".zip":  # the member of an archive has a suffix of its own
        _check_suffix(path, suffix)
    raw, suffix = read_bytes(path)
    _check_suffix(path, suffix)
    if suffix == ".arff":
        check_unused(path, "ARFF", options)
        return read_arff(to_utf8(raw, encoding, path), path, columns, kinds)
    require_arrow("ceiba.read of CSV files")
    return read_csv(to_utf8(raw, encoding, path), path, options, columns, kinds)


def _check_suffix(path: Path, suffix: str) -> None:
    if suffix != ".arff" and suffix not in CSV_SUFFIXES:
        known = ", ".join([*CSV_SUFFIXES, *PARQUET_SUFFIXES, ".arff"])
        raise ReadError.at(path, f"the suffix must be one of {known}, got {suffix!r}.")


def check_unused(path: Path, format_name: str, options: Dialect, encoding: str = "utf-8") -> None:
    """Raise ReadError for options that have no effect with the format."""
    defaults = Dialect()
    for name in ("delimiter", "header", "missing", "quote"):
        if getattr(options, name) != getattr(defaults, name):
            raise ReadError.at(path, f"{name!r} has no effect with {format_name} files, only CSV.")
    if encoding != "utf-8":
        raise ReadError.at(path, f"'encoding' has no effect with {format_name} files.")
