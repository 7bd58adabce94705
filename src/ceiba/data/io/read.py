"""`read`: a file of any known format becomes a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ceiba.data.io.arff import read_arff
from ceiba.data.io.compressed import contents, split_suffix
from ceiba.data.io.csv_file import read_csv
from ceiba.data.io.dialect import MISSING, Header, Style
from ceiba.data.io.errors import ReadError
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

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.data`` and ``.dat`` are CSV, ``.arff`` is ARFF,
        ``.parquet`` and ``.pq`` are Parquet (which needs pyarrow). CSV and ARFF may be compressed:
        ``.gz``, ``.bz2``, ``.xz``, ``.zip`` (with one file in it), ``.zst`` (from Python 3.14 on).
    columns : list of str, optional
        The columns to read, in this order. All by default.
    kinds : mapping, optional
        Kinds that differ from what the file says: ``{"zip": "nominal"}``, ``"numeric"``,
        ``"ordinal"``, or the levels of an ordinal column in order, ``{"size": ["S", "M", "L"]}``.
    delimiter : str
        CSV only. One character, ``" "`` for any run of blanks. By default it is found out among
        comma, tab, semicolon, bar and blanks.
    header : bool or "infer"
        CSV only. Whether the first record holds the column names. By default it does if it has no
        number and no gap, and shares no text with the column below it where all columns are text.
    missing : sequence of str
        CSV only. The texts that stand for a gap, quoted or not: by default the empty text, ``?``,
        ``NA``, ``N/A``, ``n/a``, ``<NA>``, ``NaN``, ``nan``, ``null`` and ``NULL``.
    quote : str or None
        CSV only. The character around fields that hold delimiters, newlines or (doubled) quotes.
    encoding : str
        CSV and ARFF. Files must be UTF-8 unless this says otherwise.

    Returns
    -------
    Table

    Raises
    ------
    ReadError
        If the file is broken; the message names file, line and column.

    Notes
    -----
    A CSV column of numbers is numeric: whole numbers are kept exactly (int64, or uint64) where 64
    bits can, others as float64. Any other column is nominal. Blanks around an unquoted field do not
    count. A nominal column whose texts are all plain whole numbers has them as levels, not the
    texts. An ARFF nominal attribute keeps its declared levels, as ``"ordinal"`` also their order.
    The index that pandas may have stored in a Parquet file is left out.

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
    style = Style(delimiter, header, missing, quote)
    form, packing = split_suffix(path)
    if form in PARQUET_SUFFIXES:
        refuse_idle(path, "Parquet", style, encoding)
        if packing:
            raise ReadError.at(path, "Parquet is compressed inside: decompress the file first.")
        return read_parquet(path, columns, kinds)
    if form or packing != ".zip":  # an archive's name need not say what is in it
        _check_form(path, form)
    data, form = contents(path)
    _check_form(path, form)
    if form == ".arff":
        refuse_idle(path, "ARFF", style)
        return read_arff(data, path, encoding, columns, kinds)
    return read_csv(data, path, style, encoding, columns, kinds)


def _check_form(path: Path, form: str) -> None:
    if form != ".arff" and form not in CSV_SUFFIXES:
        known = ", ".join([*CSV_SUFFIXES, *PARQUET_SUFFIXES, ".arff"])
        raise ReadError.at(path, f"the suffix {form!r} is of no known format ({known}).")


def refuse_idle(path: Path, form: str, style: Style, encoding: str = "utf-8") -> None:
    """Refuse options that the format has no use for."""
    usual = Style()
    for option in ("delimiter", "header", "missing", "quote"):
        if getattr(style, option) != getattr(usual, option):
            raise ReadError.at(path, f"{option} is for CSV files, and this is {form}.")
    if encoding != "utf-8":
        raise ReadError.at(path, f"encoding is for text files, and this is {form}.")
