"""How a CSV file is written: its delimiter, its quote, its header and what stands for a gap."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ceiba.data.io.csv_bytes import check_quotes, last_record_end, tidy_blanks
from ceiba.data.io.errors import ReadError
from ceiba.data.io.facts import parse_numbers
from ceiba.data.io.text_file import check_text
from ceiba.data.schema import stand_in_names

#: Texts that stand for a missing value in a CSV file, quoted or not.
MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL")

Header = bool | Literal["infer"]
Rows = list[list[str]]

_SAMPLE_BYTES = 1 << 18
_SAMPLE_ROWS = 200
_DELIMITERS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class Style:
    """What the user says of a CSV file; ``"infer"`` asks to find it out."""

    delimiter: str = "infer"
    header: Header = "infer"
    missing: Sequence[str] = MISSING
    quote: str | None = '"'

    def __post_init__(self) -> None:
        if self.delimiter != "infer" and (
            len(self.delimiter) != 1
            or not self.delimiter.isascii()
            or self.delimiter in ("\r", "\n", '"', self.quote)
        ):
            raise ValueError(
                f"delimiter must be one ASCII character (' ' for any run of blanks) or 'infer', "
                f"not {self.delimiter!r}."
            )
        if self.header not in (True, False, "infer"):
            raise ValueError(f"header must be True, False or 'infer', not {self.header!r}.")
        if self.quote not in ('"', "'", None):
            raise ValueError(f"quote must be '\"', \"'\" or None, not {self.quote!r}.")
        if isinstance(self.missing, str):
            raise ValueError(f"missing must be a list of texts: missing=[{self.missing!r}].")
        object.__setattr__(self, "missing", tuple(self.missing))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one CSV file is written.

    Parameters
    ----------
    delimiter : str
        One character; a space stands for any run of blanks and tabs.
    quote : str or None
    missing : tuple of str
    names : tuple of str
        Column names, in the file's order.
    header : bool
        Whether the first record holds the names.
    """

    delimiter: str
    quote: str | None
    missing: tuple[str, ...]
    names: tuple[str, ...]
    header: bool


def find_dialect(data: bytes, path: Path, style: Style) -> Dialect:
    """The dialect of a file that begins with these bytes, whose line ends are unified."""
    sample = data[:_SAMPLE_BYTES]
    if len(data) > len(sample):
        sample = sample[: last_record_end(sample, style.quote)] or data
    check_text(sample, path)
    delimiter = style.delimiter
    if delimiter == "infer":
        delimiter = _find_delimiter(sample, path, style)
    rows = _sample_rows(sample, delimiter, style.quote)
    if not rows:
        raise _first_record_error(sample, path, delimiter, style.quote)
    header = _has_header(rows, style.missing) if style.header == "infer" else style.header
    if header:
        blank_lines = len(sample) - len(sample.lstrip(b"\n"))
        names = _header_names(rows[0], path, line=1 + blank_lines)
    else:
        names = tuple(stand_in_names(len(rows[0])))
    return Dialect(delimiter, style.quote, tuple(style.missing), names, header)


def csv_reader_options(delimiter: str, quote: str | None) -> dict[str, object]:
    """Arguments of the standard library's reader for tidy records."""
    quoting = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    return {"delimiter": delimiter, "quotechar": quote, "quoting": quoting, "strict": True}


def _sample_rows(sample: bytes, delimiter: str, quote: str | None) -> Rows:
    text = tidy_blanks(sample, delimiter, quote).decode("utf-8")
    options = csv_reader_options(delimiter, quote)
    rows: Rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), **options):  # type: ignore[arg-type]
            if row:
                rows.append(row)
            if len(rows) == _SAMPLE_ROWS:
                break
    except csv.Error:
        # Whoever reads all the records says where; the rows before it are a sample all the same.
        return rows
    return rows


def _first_record_error(sample: bytes, path: Path, delimiter: str, quote: str | None) -> ReadError:
    if not sample.strip():
        return ReadError.at(path, "the file is empty.")
    check_quotes(tidy_blanks(sample, delimiter, quote), delimiter, quote, path)
    return ReadError.at(path, f"a field is longer than {csv.field_size_limit():,} bytes.", line=1)


def _find_delimiter(sample: bytes, path: Path, style: Style) -> str:
    if ".tsv" in path.suffixes or ".tab" in path.suffixes:
        return "\t"
    scores = {}
    for delimiter in _DELIMITERS:
        if delimiter.encode() in sample:
            agreeing, width = _agreement(_sample_rows(sample, delimiter, style.quote))
            if width > 1:
                scores[delimiter] = (agreeing, width)
    best = max(scores, key=lambda delimiter: scores[delimiter], default=",")
    if scores.get(best, (0.0, 0))[0] < 1.0 and _is_blank_separated(sample, style):
        return " "
    return best


def _agreement(rows: Rows) -> tuple[float, int]:
    """The commonest number of fields, and the share of records that have it."""
    if not rows:
        return 0.0, 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    return count / len(rows), width


def _is_blank_separated(sample: bytes, style: Style) -> bool:
    # A column of names has blanks too: one column of numbers must come out before they separate.
    rows = _sample_rows(sample, " ", style.quote)
    agreeing, width = _agreement(rows)
    return agreeing == 1.0 and width > 1 and any(_numeric_columns(rows[1:], style.missing))


def _numeric_columns(rows: Rows, missing: Sequence[str]) -> list[bool]:
    """For each column, whether its texts are all numbers, and there is one."""
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
    # All text: a record shares levels with the records below it, a header does not.
    columns = zip(first, zip(*rest, strict=False), strict=False)
    return not any(text and text in below for text, below in columns)


def _header_names(row: Sequence[str], path: Path, line: int) -> tuple[str, ...]:
    for place, name in enumerate(row, start=1):
        if not name:
            raise ReadError.at(
                path,
                "the header gives this column no name. Name it, or pass header=False if the first "
                "record is data.",
                line=line,
                column=place,
            )
        if name in row[: place - 1]:
            raise ReadError.at(
                path,
                f"the header has the name {name!r} twice. Rename one of the two columns, or pass "
                "header=False if the first record is data.",
                line=line,
                column=place,
            )
    return tuple(row)
