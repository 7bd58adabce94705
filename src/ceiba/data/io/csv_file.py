"""A CSV file in memory, read into a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.column import Values
from ceiba.data.io.arrow import has_arrow
from ceiba.data.io.cells import BadCellError, Cells
from ceiba.data.io.csv_bytes import unify_newlines
from ceiba.data.io.csv_records import Records
from ceiba.data.io.dialect import Style, find_dialect
from ceiba.data.io.errors import ReadError
from ceiba.data.io.facts import Facts
from ceiba.data.io.gather import gather, point_out_identifier
from ceiba.data.io.text_file import BOM, as_utf8
from ceiba.data.io.wishes import Wish, check_columns, check_kinds
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

# From here on Arrow, if installed, is so much faster that it pays for its import.
_ARROW_BYTES = 1 << 20


def read_csv(
    raw: bytes,
    path: Path,
    style: Style,
    encoding: str,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """The table of a CSV file's bytes."""
    data = as_utf8(raw, encoding, path)
    dialect = find_dialect(unify_newlines(data.removeprefix(BOM), style.quote), path, style)
    wanted = check_columns(columns, dialect.names, path)
    wishes = check_kinds(kinds, dialect.names, path)
    records = Records.of(data, dialect, path)
    texts = records.columns(wanted, arrow=len(data) >= _ARROW_BYTES and has_arrow())
    if not len(texts[wanted[0]]):
        raise ReadError.at(path, "the file has a header, but no rows.")
    pairs = [_settle(records, name, texts[name], wishes.get(name)) for name in wanted]
    schema = Schema(tuple(column for column, _ in pairs), named=dialect.header)
    return gather(schema, [values for _, values in pairs])


def _settle(records: Records, name: str, texts: Cells, wish: Wish | None) -> tuple[Column, Values]:
    try:
        column = column_of(name, texts, wish)
        values = texts.values(column)
    except BadCellError as bad:
        raise records.error(name, bad) from None
    except ValueError as error:
        raise ReadError.at(records.path, str(error)) from None
    if wish is None and column.kind is Kind.NOMINAL:
        present = int(np.count_nonzero(values.array >= 0))
        point_out_identifier(column, present, str(records.path))
    return column, values


def column_of(name: str, texts: Cells, wish: Wish | None) -> Column:
    """What a column of texts is, by itself or as wished."""
    if isinstance(wish, tuple):
        return Column(name, Kind.ORDINAL, wish, "codes")
    facts = texts.facts() if wish in (None, "numeric") else Facts(text=True)
    if wish == "numeric" and facts.text:
        texts.plain().numbers()
    return facts.column(name, wish, texts.words() if facts.text else ())
