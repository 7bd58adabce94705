"""Quote-aware scan of CSV bytes: records, lines, blanks, and byte ranges of whole records.

Blocks are processed by NumPy, never byte by byte. A quote opens or closes by its number alone: the
first, third, fifth ... open. That is exact for well-formed records; `check_quotes` raises for
others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import BOM, FileStamp

#: A longer record is taken for an unclosed quote.
MAX_RECORD_BYTES = 64 << 20

_NEWLINE = ord("\n")
_BLOCK_BYTES = 1 << 17


def record_ranges(
    file: FileStamp, delimiter: str, quote: str | None, size: int
) -> Iterator[tuple[int, bytes, int]]:
    """Iterate over blocks of whole records: offset, bytes of about ``size``, first line."""
    start, line, block = 0, 1, b""
    with file.path.open("rb") as stream:
        while True:
            fresh = stream.read(max(size - len(block), len(block), 1))
            block += fresh
            at_end = not fresh or start + len(block) >= file.size
            end = len(block) if at_end else last_record_end(block, quote)
            if not (start or at_end or block[:end].removeprefix(BOM).strip()):
                end = 0  # the first block contains the header, not only blank lines before it
            if end:
                yield start, block[:end], line
                start, line = start + end, line + block.count(b"\n", 0, end)
                block = block[end:]
            if at_end:
                return
            if len(block) > max(MAX_RECORD_BYTES, 2 * size):
                check_quotes(normalize(block, delimiter, quote), delimiter, quote, file.path, line)
                problem = f"the record that starts here exceeds {MAX_RECORD_BYTES >> 20} MB."
                raise ReadError.at(file.path, problem, line=line)


def last_record_end(data: bytes, quote: str | None) -> int:
    """Offset after the newline of the last whole record; 0 if there is none."""
    quotes = _quotes(data, quote)
    if not len(quotes):
        return data.rfind(b"\n") + 1
    ends = _outside(_find(data, "\n"), quotes)
    return int(ends[-1]) + 1 if len(ends) else 0


def after_first_record(data: bytes, quote: str | None) -> int:
    """Offset of the record after the first one. Blank lines are not records."""
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


def record_line(data: bytes, quote: str | None, row: int) -> int:
    """Number of lines before record ``row`` of normalized data; blank lines are not records."""
    ends = np.append(_outside(_find(data, "\n"), _quotes(data, quote)), len(data))
    starts = np.append(0, ends[:-1] + 1)
    return data.count(b"\n", 0, int(starts[ends > starts][row]))


def normalize(data: bytes, delimiter: str, quote: str | None) -> bytes:
    """Return the records with ``\\n`` line ends and without blanks around unquoted fields."""
    return tidy_blanks(unify_newlines(data, quote), delimiter, quote)


def unify_newlines(data: bytes, quote: str | None) -> bytes:
    """Replace every line end outside quotes by one newline character."""
    if b"\r" not in data:
        return data
    quotes = _quotes(data, quote)
    if not len(quotes):
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    codes = np.frombuffer(data, np.uint8).copy()
    returns = _outside(_find(data, "\r"), quotes)
    followed = np.append(codes, 0)[returns + 1] == _NEWLINE
    codes[returns[~followed]] = _NEWLINE
    keep = np.ones(len(codes), bool)
    keep[returns[followed]] = False
    return codes[keep].tobytes()


def tidy_blanks(data: bytes, delimiter: str, quote: str | None) -> bytes:
    """Remove blanks around unquoted fields; with delimiter ``" "`` a run becomes one space."""
    has_tabs = delimiter != "\t" and b"\t" in data
    if not has_tabs and b" " not in data:
        return data
    codes, quotes = np.frombuffer(data, np.uint8), _quotes(data, quote)
    outer = _outside(_outer_blanks(codes, delimiter, has_tabs), quotes)
    if not len(outer) and delimiter != " ":
        return data
    blanks = _outside(np.flatnonzero(_is_blank(codes, has_tabs)), quotes)
    is_first = np.diff(blanks, prepend=-2) > 1  # of a run of blanks
    run = np.cumsum(is_first) - 1
    is_outer = np.zeros(len(blanks), bool)
    is_outer[run[np.searchsorted(blanks, outer)]] = True
    removed = is_outer[run]
    if delimiter == " ":
        codes = codes.copy()
        codes[blanks[is_first]] = ord(" ")
        removed |= ~is_first
    keep = np.ones(len(codes), bool)
    keep[blanks[removed]] = False
    kept: Array = codes[keep]
    return kept.tobytes()


def _outer_blanks(codes: Array, delimiter: str, has_tabs: bool) -> Array:
    """Positions of blanks next to a delimiter, a line end, or an end of the data."""
    last = len(codes) - 1
    ends = np.array([0, last] if last else [0])
    found = [ends[_is_blank(codes[ends], has_tabs)]]
    # By blocks that stay in the cache: three times as fast.
    for start in range(1, last, _BLOCK_BYTES):
        block = codes[start - 1 : start + _BLOCK_BYTES + 1]
        is_separator = block == _NEWLINE
        if delimiter != " ":
            is_separator |= block == ord(delimiter)
        is_outer = _is_blank(block[1:-1], has_tabs) & (is_separator[:-2] | is_separator[2:])
        found.append(np.flatnonzero(is_outer) + start)
    return np.concatenate(found)


def _is_blank(codes: Array, has_tabs: bool) -> Array:
    is_space: Array = codes == ord(" ")
    return is_space | (codes == ord("\t")) if has_tabs else is_space


def check_quotes(data: bytes, delimiter: str, quote: str | None, path: Path, line: int = 1) -> None:
    """Raise ReadError for misplaced or unclosed quotes in normalized data from line ``line``."""
    quotes = _quotes(data, quote)
    if not len(quotes):
        return
    codes = np.frombuffer(data, np.uint8)
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening > 0, codes[opening - 1], _NEWLINE)
    is_last = closing == len(codes) - 1
    after = np.where(is_last, _NEWLINE, codes[np.where(is_last, 0, closing + 1)])
    allowed = [_NEWLINE, ord(delimiter), int(codes[quotes[0]])]
    misplaced = np.concatenate(
        (opening[~np.isin(before, allowed)], closing[~np.isin(after, allowed)])
    )
    if len(misplaced):
        position = int(misplaced.min())
        problem = (
            "unexpected quote inside a field. Double it and quote the whole field, or pass "
            "quote=None if quotes are plain text."
        )
    elif len(quotes) % 2:
        position = int(quotes[-1])
        problem = "the quote that opens here is never closed."
    else:
        return
    head = data[:position]
    record = head[last_record_end(head, quote) :].decode("utf-8", errors="replace")
    fields = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter), [""])
    raise ReadError.at(path, problem, line=line + head.count(b"\n"), column=len(fields))


def has_quoted_newline(data: bytes, quote: str | None) -> bool:
    """Whether a newline is inside quotes."""
    quotes = _quotes(data, quote)
    return bool(len(quotes) and _parity(_find(data, "\n"), quotes).any())


def has_pair(data: bytes, first: str, second: str) -> bool:
    """Whether two characters follow each other; faster than ``in`` for bytes."""
    if second.encode() not in data:
        return False
    codes, found = np.frombuffer(data, np.uint8), _find(data, second)
    return bool((codes[found - (found > 0)] == ord(first)).any())


def _find(data: bytes, character: str) -> Array:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == ord(character))


def _quotes(data: bytes, quote: str | None) -> Array:
    if quote is None or quote.encode() not in data:
        return np.empty(0, np.intp)
    return _find(data, quote)


def _parity(positions: Array, quotes: Array) -> Array:
    """For each position, 1 if it is inside quotes, else 0."""
    return np.searchsorted(quotes, positions) & 1


def _outside(positions: Array, quotes: Array) -> Array:
    kept: Array = positions[_parity(positions, quotes) == 0]
    return kept
