"""CSV as bytes: whole blocks are checked, cleaned and cut by NumPy, never byte by byte.

A quote counts as opening or closing by its number alone: the first, third, fifth ... open. That is
exact for well-formed records, and `check_quotes` refuses the others.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.data.io.errors import ReadError

_NEWLINE = ord("\n")


def unify_newlines(data: bytes, quote: str | None) -> bytes:
    """Every line end outside quotes as one newline character."""
    if b"\r" not in data:
        return data
    places = _places(data, quote)
    if not len(places):
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    codes = np.frombuffer(data, np.uint8).copy()
    returns = _outside(np.flatnonzero(codes == ord("\r")), places)
    followed = np.append(codes, 0)[returns + 1] == _NEWLINE
    codes[returns[~followed]] = _NEWLINE
    keep = np.ones(len(codes), bool)
    keep[returns[followed]] = False
    return codes[keep].tobytes()


def tidy_blanks(data: bytes, delimiter: str, quote: str | None) -> bytes:
    """The records without blanks around their unquoted fields.

    Line ends must be unified. With the delimiter ``" "`` a run of blanks becomes one space.
    """
    if not _has_idle_blanks(data, delimiter):
        return data
    codes = np.frombuffer(data, np.uint8).copy()
    starts, ends = _blank_runs(codes, delimiter)
    outside = _parity(starts, _places(data, quote)) == 0
    starts, ends = starts[outside], ends[outside]
    edges = [_NEWLINE] if delimiter == " " else [_NEWLINE, ord(delimiter)]
    fenced = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    idle = np.isin(fenced[starts], edges) | np.isin(fenced[ends + 1], edges)
    if delimiter == " ":
        codes[starts] = ord(" ")
        starts = np.where(idle, starts, starts + 1)
    else:
        starts, ends = starts[idle], ends[idle]
    steps = np.zeros(len(codes) + 1, np.int8)
    steps[starts] += 1
    steps[ends] -= 1
    kept: Array = codes[np.cumsum(steps[:-1], dtype=np.int8) == 0]
    return kept.tobytes()


def _has_idle_blanks(data: bytes, delimiter: str) -> bool:
    if delimiter == " ":
        fences, blanks = [b"\n", b" "], [b" ", b"\t"]
        if b"\t" in data:
            return True
    else:
        fences = [b"\n", delimiter.encode()]
        blanks = [blank for blank in (b" ", b"\t") if blank != delimiter.encode()]
    return any(
        data.startswith(blank)
        or data.endswith(blank)
        or any(fence + blank in data or blank + fence in data for fence in fences)
        for blank in blanks
        if blank in data
    )


def _blank_runs(codes: Array, delimiter: str) -> tuple[Array, Array]:
    blank = codes == ord(" ")
    if delimiter != "\t":
        blank |= codes == ord("\t")
    turns = np.flatnonzero(np.diff(blank, prepend=False, append=False))
    return turns[::2], turns[1::2]


def check_quotes(data: bytes, delimiter: str, quote: str | None, path: Path, line: int = 1) -> None:
    """Refuse a quote inside an unquoted field, text after a closing quote, and an unclosed quote.

    Lines and blanks must be tidy; ``line`` is the number of the first line.
    """
    places = _places(data, quote)
    if not len(places):
        return
    fenced = np.frombuffer(b"\n" + data + b"\n", np.uint8)
    fences = [_NEWLINE, ord(delimiter), int(fenced[places[0] + 1])]
    wrong = np.concatenate(
        (
            places[::2][~np.isin(fenced[places[::2]], fences)],
            places[1::2][~np.isin(fenced[places[1::2] + 2], fences)],
        )
    )
    if len(wrong):
        problem = (
            "a quote stands inside a field. Double it and quote the whole field, or pass "
            "quote=None where quotes are plain text."
        )
        raise _quote_error(problem, data, int(wrong.min()), delimiter, quote, path, line)
    if len(places) % 2:
        problem = "the quote that opens here is never closed."
        raise _quote_error(problem, data, int(places[-1]), delimiter, quote, path, line)


def _quote_error(
    problem: str, data: bytes, place: int, delimiter: str, quote: str | None, path: Path, line: int
) -> ReadError:
    head = data[:place]
    record = head[last_record_end(head, quote) :].decode("utf-8", errors="replace")
    fields = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter), [""])
    return ReadError.at(path, problem, line=line + head.count(b"\n"), column=len(fields))


def last_record_end(data: bytes, quote: str | None) -> int:
    """Where the last whole record of the bytes ends: after its newline, 0 if there is none."""
    places = _places(data, quote)
    if not len(places):
        return data.rfind(b"\n") + 1
    lines = _outside(np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE), places)
    return int(lines[-1]) + 1 if len(lines) else 0


def after_first_record(data: bytes, quote: str | None) -> int:
    """Where the record after the first begins. Blank lines are no records."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        while end >= 0 and quote and data.count(quote.encode(), start, end) % 2:
            end = data.find(b"\n", end + 1)
        if end < 0:
            return len(data)
        if end > start:
            return end + 1
        start = end + 1
    return start


def _places(data: bytes, quote: str | None) -> Array:
    """Where the quotes are."""
    if quote is None or quote.encode() not in data:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord(quote))


def _parity(places: Array, quotes: Array) -> Array:
    """For each place, 1 if it is inside quotes, else 0."""
    return np.searchsorted(quotes, places) & 1


def _outside(places: Array, quotes: Array) -> Array:
    kept: Array = places[_parity(places, quotes) == 0]
    return kept
