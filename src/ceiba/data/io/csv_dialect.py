"""Dialect of a CSV file: delimiter, quote, header and markers of missing values."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ceiba.data.io.csv_ranges import (
    MAX_RECORD_BYTES,
    check_quotes,
    last_record_end,
    tidy_blanks,
    unify_newlines,
)
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import BOM, check_utf8
from ceiba.data.io.types import parse_numbers
from ceiba.data.schema import default_names

#: Texts that stand for a missing value in a CSV file, quoted or not.
MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL")

Header = bool | Literal["infer"]
Rows = list[list[str]]

_SAMPLE_BYTES = 1 << 18
_SAMPLE_ROWS = 200
_DELIMITERS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Dialect of a CSV file; ``"infer"`` and no ``names`` until it is detected.

    ``names`` are the columns in the order of the file, ``delimiter=" "`` is any run of blanks.
    """

    delimiter: str = "infer"
    header: Header = "infer"
    missing: Sequence[str] = MISSING
    quote: str | None = '"'
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter != "infer" and (
            len(self.delimiter) != 1
            or not self.delimiter.isascii()
            or self.delimiter in ("\r", "\n", '"', self.quote)
        ):
            raise ValueError(
                "delimiter must be one ASCII character (' ' for any run of blanks) or 'infer', "
                f"got {self.delimiter!r}."
            )
        if self.header not in (True, False, "infer"):
            raise ValueError(f"header must be True, False or 'infer', got {self.header!r}.")
        if self.quote not in ('"', "'", None):
            raise ValueError(f"quote must be '\"', \"'\" or None, got {self.quote!r}.")
        if isinstance(self.missing, str):
            raise ValueError(
                f"missing must be a list of texts, got a str: use missing=[{self.missing!r}]."
            )
        object.__setattr__(self, "missing", tuple(self.missing))


def file_dialect(path: Path, options: Dialect) -> Dialect:
    """Detect the dialect of a file from its beginning."""
    size = _SAMPLE_BYTES
    with path.open("rb") as file:
        head = file.read(size)
        # At least the first record must be whole.
        while len(head) == size < MAX_RECORD_BYTES and not last_record_end(head, options.quote):
            head += file.read(size)
            size *= 2
        if len(head) == size:
            head = head[: last_record_end(head, options.quote)] or head
    return find_dialect(head, path, options)


def find_dialect(data: bytes, path: Path, options: Dialect) -> Dialect:
    """Detect the dialect of the first bytes of a file."""
    data = data.removeprefix(BOM)
    # Enough for a sample, since two bytes of a line end become one.
    head = unify_newlines(data[: 2 * _SAMPLE_BYTES + 1], options.quote)
    sample = head[:_SAMPLE_BYTES]
    if len(head) > len(sample):
        end = last_record_end(sample, options.quote)
        sample = sample[:end] if end else unify_newlines(data, options.quote)
    check_utf8(sample, path)
    delimiter = options.delimiter
    if delimiter == "infer":
        delimiter = _find_delimiter(sample, path, options)
    rows = _sample_rows(sample, delimiter, options.quote)
    if not rows:
        raise _first_record_error(sample, path, delimiter, options.quote)
    header = _has_header(rows, options.missing) if options.header == "infer" else options.header
    if header:
        n_blank_lines = len(sample) - len(sample.lstrip(b"\n"))
        names = _header_names(rows[0], path, line=1 + n_blank_lines)
    else:
        names = tuple(default_names(len(rows[0])))
    return replace(options, delimiter=delimiter, header=header, names=names)


def _sample_rows(sample: bytes, delimiter: str, quote: str | None) -> Rows:
    text = tidy_blanks(sample, delimiter, quote).decode("utf-8")
    rows: Rows = []
    # Reading the whole file reports an error; the rows before it are a sample.
    with suppress(csv.Error):
        rows.extend(islice(filter(None, split_records(text, delimiter, quote)), _SAMPLE_ROWS))
    return rows


def split_records(text: str, delimiter: str, quote: str | None) -> Any:
    """Iterate over the fields of normalized records."""
    quoting: Any = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    source = io.StringIO(text, newline="")
    return csv.reader(source, delimiter=delimiter, quotechar=quote, quoting=quoting, strict=True)


def _first_record_error(sample: bytes, path: Path, delimiter: str, quote: str | None) -> ReadError:
    if not sample.strip():
        return ReadError.at(path, "the file is empty.")
    check_quotes(tidy_blanks(sample, delimiter, quote), delimiter, quote, path)
    limit = csv.field_size_limit()
    return ReadError.at(path, f"the first record has a field above {limit:,} bytes.", line=1)


def _find_delimiter(sample: bytes, path: Path, options: Dialect) -> str:
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    scores = {}
    for delimiter in _DELIMITERS:
        if delimiter.encode() in sample:
            agreement, width = _agreement(_sample_rows(sample, delimiter, options.quote))
            if width > 1:
                scores[delimiter] = (agreement, width)
    best = max(scores, key=lambda delimiter: scores[delimiter], default=",")
    if scores.get(best, (0.0, 0))[0] < 1.0 and _is_blank_separated(sample, options):
        return " "
    return best


def _agreement(rows: Rows) -> tuple[float, int]:
    """Fraction of the records that have the most common number of fields, and that number."""
    if not rows:
        return 0.0, 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    return count / len(rows), width


def _is_blank_separated(sample: bytes, options: Dialect) -> bool:
    # A column of names contains blanks too: they separate only if a column of numbers results.
    rows = _sample_rows(sample, " ", options.quote)
    agreement, width = _agreement(rows)
    return agreement == 1.0 and width > 1 and any(_numeric_columns(rows[1:], options.missing))


def _numeric_columns(rows: Rows, missing: Sequence[str]) -> list[bool]:
    """For each column, whether it has values, all of which are numbers."""
    found = []
    for cells in zip(*rows, strict=False):
        texts = [text for text in cells if text not in missing]
        found.append(bool(texts) and parse_numbers(texts) is not None)
    return found


def _has_header(rows: Rows, missing: Sequence[str]) -> bool:
    first, rest = rows[0], rows[1:]
    if any(text and (text in missing or parse_numbers([text]) is not None) for text in first):
        return False
    if not rest or any(_numeric_columns(rest, missing)):
        return True
    # All text: a record shares categories with the records below it, a header does not.
    columns = zip(first, zip(*rest, strict=False), strict=False)
    return not any(text and text in below for text, below in columns)


def _header_names(row: Sequence[str], path: Path, line: int) -> tuple[str, ...]:
    for number, name in enumerate(row, start=1):
        problem = None
        if not name:
            problem = "the header has no name for this column. Name it"
        elif name in row[: number - 1]:
            problem = f"the header has the name {name!r} twice. Rename one of the columns"
        if problem is not None:
            problem += ", or pass header=False if the first record is data."
            raise ReadError.at(path, problem, line=line, column=number)
    return tuple(row)
