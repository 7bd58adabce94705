"""The words of a line of an ARFF file: bare or quoted, set apart by commas or blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ceiba.data.column import Values, numbers
from ceiba.data.io.cells import BadCellError, PlainCells
from ceiba.data.io.errors import ReadError
from ceiba.data.io.facts import Facts, as_labels, text_levels
from ceiba.data.io.gather import gather, point_out_identifier
from ceiba.data.io.text_file import BOM, as_utf8, check_text
from ceiba.data.io.wishes import Wish, check_columns, check_kinds
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<mark>[,{}])|(?P<blank>\s+)|(?P<bare>[^\s,{}'"][^\s,{}]*)"""
)
_SPECIAL = re.compile(r"""['"{}%]""")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, or one of the marks ``,``, ``{`` and ``}``, or a blank."""

    text: str
    kind: str = "bare"

    @property
    def gap(self) -> bool:
        """Whether it stands for a missing value."""
        return self.kind == "bare" and self.text == "?"

    def is_mark(self, mark: str) -> bool:
        """Whether it is this mark."""
        return self.kind == "mark" and self.text == mark


class BadWordsError(ValueError):
    """A line that does not fall into words."""


def plain_values(line: str) -> list[str] | None:
    """The values of a row without quotes, braces and comments; None for any other row."""
    if _SPECIAL.search(line):
        return None
    return [part.strip() for part in line.split(",")] if "," in line else line.split()


def words_of(line: str) -> list[Word]:
    """Words, marks and blanks of a line, up to a comment: ``%`` at the start or after a blank."""
    words: list[Word] = []
    for word in _tokens(line):
        follows = words[-1].kind if words else "blank"
        if word.kind == "bare" and word.text.startswith("%") and follows == "blank":
            break
        if "quoted" in (word.kind, follows) and {word.kind, follows} <= {"quoted", "bare"}:
            raise BadWordsError(f"a comma is missing before {word.text!r}.")
        words.append(word)
    return words


def _tokens(line: str) -> Iterator[Word]:
    place = 0
    while place < len(line):
        found = _TOKEN.match(line, place)
        if found is None:
            raise BadWordsError(
                f"the quote that opens at {line[place : place + 20]!r} is not closed."
            )
        kind = str(found.lastgroup)
        text = found[0]
        yield Word(_ESCAPE.sub(_unescape, text[1:-1]) if kind == "quoted" else text, kind)
        place = found.end()


def _unescape(found: re.Match[str]) -> str:
    letter = found[1]
    return chr(int(letter[1:], 16)) if len(letter) > 1 else _ESCAPES.get(letter, letter)


def values_of(words: Sequence[Word]) -> list[Word]:
    """The values between commas, or between blanks where there is no comma."""
    if not any(word.is_mark(",") for word in words):
        return [word for word in words if word.kind != "blank"]
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.is_mark(","):
            parts.append([])
        else:
            parts[-1].append(word)
    return [_join(part) for part in parts]


def _join(part: Sequence[Word]) -> Word:
    """One value: a quoted word, or bare words with the blanks between them."""
    inner = [word for word in part if word.kind != "blank"]
    if len(inner) == 1:
        return inner[0]
    if any(word.kind == "quoted" for word in inner):
        raise BadWordsError(f"a comma is missing after {inner[0].text!r}.")
    return Word("".join(word.text for word in part).strip())


Type = Literal["numeric", "real", "nominal", "string", "date"]

_NUMERIC: dict[str, Type] = {"numeric": "numeric", "integer": "numeric", "real": "real"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_DATE_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute: its type, its levels if nominal, its format if a date."""

    name: str
    type: Type
    levels: tuple[str, ...] = ()
    format: str = ""


def parse_attribute(line: str) -> Attribute:
    """The attribute of an ``@attribute`` line."""
    words = words_of(line)[1:]
    while words and words[0].kind == "blank":
        words = words[1:]
    if not words or words[0].kind == "mark":
        raise BadWordsError("the attribute has no name.")
    name = words[0].text
    rest = [word for word in words[1:] if word.kind != "blank"]
    if not rest:
        raise BadWordsError(f"the attribute {name!r} has no type.")
    if rest[0].is_mark("{"):
        return Attribute(name, "nominal", _parse_levels(words[1:], name))
    return _plain_attribute(name, rest)


def _plain_attribute(name: str, rest: list[Word]) -> Attribute:
    word = rest[0].text.lower()
    if word == "date" and len(rest) <= 2:
        return Attribute(name, "date", format=date_format(rest[1].text if rest[1:] else _ISO))
    if len(rest) > 1:
        raise BadWordsError(f"{rest[1].text!r} follows the type of {name!r}; quote long names.")
    if word in _NUMERIC:
        return Attribute(name, _NUMERIC[word])
    if word == "string":
        return Attribute(name, "string")
    if word == "relational":
        raise BadWordsError(
            f"the attribute {name!r} is relational, a table in every row. Write its columns out as "
            "attributes of their own."
        )
    raise BadWordsError(
        f"the attribute {name!r} has the unknown type {rest[0].text!r}: numeric, real, integer, "
        "string, date or a list of levels in braces."
    )


def _parse_levels(words: list[Word], name: str) -> tuple[str, ...]:
    inner = [word for word in words if not word.is_mark("{")]
    closing = next((place for place, word in enumerate(inner) if word.is_mark("}")), None)
    if closing is None:
        raise BadWordsError(f"the levels of {name!r} lack the closing brace.")
    if any(word.kind != "blank" for word in inner[closing + 1 :]):
        raise BadWordsError(f"something follows the levels of {name!r}.")
    values = values_of(inner[:closing])
    if any(not word.text and word.kind != "quoted" for word in values):
        raise BadWordsError(f"a level of {name!r} is empty: write '' for an empty text.")
    levels = tuple(word.text for word in values)
    if len(set(levels)) < len(levels):
        twice = next(level for place, level in enumerate(levels) if level in levels[:place])
        raise BadWordsError(f"the level {twice!r} of {name!r} is declared twice.")
    return levels


def date_format(pattern: str) -> str:
    """The strptime format of a date pattern, ``yyyy-MM-dd`` for example."""
    formatted = ""
    for found in re.finditer(r"'(?P<text>[^']*)'|(?P<letter>[A-Za-z])(?P=letter)*|.", pattern):
        if not found["letter"]:
            formatted += (found[0] if found["text"] is None else found["text"]).replace("%", "%%")
        elif found[0] in _DATE_PARTS:
            formatted += _DATE_PARTS[found[0]]
        else:
            raise BadWordsError(f"the date format {pattern!r} is not understood at {found[0]!r}.")
    return formatted


_WEIGHT = (
    "the row ends with a weight in braces, which a table has no place for: make the weight an "
    "attribute of its own."
)


def parse_row(line: str, attributes: Sequence[Attribute]) -> list[str | None]:
    """The values of a row, None for a gap; an empty list for a line that is only a comment."""
    plain = plain_values(line)
    if plain is None:
        words = words_of(line)
        while words and words[0].kind == "blank":
            words = words[1:]
        if not words:
            return []
        if words[0].is_mark("{"):
            return _sparse_row(words[1:], attributes)
        return _dense_row(words, attributes)
    _check_width(len(plain), attributes)
    _check_filled(plain, attributes)
    return [None if text == "?" else text for text in plain]


def _dense_row(words: Sequence[Word], attributes: Sequence[Attribute]) -> list[str | None]:
    if any(word.is_mark("{") for word in words):
        raise BadWordsError(_WEIGHT)
    if any(word.is_mark("}") for word in words):
        raise BadWordsError("a brace closes that was not opened: quote it if it is text.")
    values = values_of(words)
    _check_width(len(values), attributes)
    _check_filled([value.text or value.kind == "quoted" for value in values], attributes)
    return [None if value.gap else value.text for value in values]


def _sparse_row(words: Sequence[Word], attributes: Sequence[Attribute]) -> list[str | None]:
    closing = next((place for place, word in enumerate(words) if word.is_mark("}")), None)
    if closing is None:
        raise BadWordsError("the sparse row lacks the closing brace.")
    if any(word.is_mark("{") for word in words[closing + 1 :]):
        raise BadWordsError(_WEIGHT)
    if any(word.kind != "blank" for word in words[closing + 1 :]):
        raise BadWordsError("something follows the sparse row.")
    given = _sparse_values(words[:closing], len(attributes))
    return [
        _given(given[place]) if place in given else _left_out(attribute)
        for place, attribute in enumerate(attributes)
    ]


def _given(value: Word) -> str | None:
    return None if value.gap else value.text


def _sparse_values(words: Sequence[Word], width: int) -> dict[int, Word]:
    pairs: list[list[Word]] = [[]]
    for word in words:
        if word.is_mark(","):
            pairs.append([])
        elif word.kind != "blank":
            pairs[-1].append(word)
    if pairs == [[]]:
        return {}
    values: dict[int, Word] = {}
    for pair in pairs:
        if len(pair) != 2 or not (pair[0].text.isascii() and pair[0].text.isdigit()):
            shown = " ".join(word.text for word in pair)
            raise BadWordsError(f"a sparse row holds pairs of number and value, not {shown!r}.")
        place = int(pair[0].text)
        if place >= width:
            raise BadWordsError(
                f"the sparse row has a value for attribute {place}, but they are numbered from 0 "
                f"to {width - 1}."
            )
        if place in values:
            raise BadWordsError(f"the sparse row has two values for attribute {place}.")
        values[place] = pair[1]
    return values


def _left_out(attribute: Attribute) -> str:
    """The value of an attribute that a sparse row leaves out: zero, or the first level."""
    if attribute.type in ("numeric", "real"):
        return "0"
    if attribute.type == "nominal" and attribute.levels:
        return attribute.levels[0]
    raise BadWordsError(
        f"the sparse row leaves out {attribute.name!r}, and a {attribute.type} attribute has no "
        "zero: write its value."
    )


def _check_width(count: int, attributes: Sequence[Attribute]) -> None:
    if count < len(attributes):
        name = attributes[count].name
        raise BadWordsError(
            f"the row has {count} values for {len(attributes)} attributes: {name!r} is missing."
        )
    if count > len(attributes):
        raise BadWordsError(f"the row has {count} values for {len(attributes)} attributes.")


def _check_filled(values: Sequence[object], attributes: Sequence[Attribute]) -> None:
    if not all(values):
        name = next(a.name for a, value in zip(attributes, values, strict=True) if not value)
        raise BadWordsError(f"the value of {name!r} is empty: write ? for a gap, '' for no text.")


def read_arff(
    raw: bytes,
    path: Path,
    encoding: str,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """The table of an ARFF file's bytes.

    References
    ----------
    I. H. Witten, E. Frank, M. A. Hall and C. J. Pal (2017), Data Mining, 4th edition, appendix on
    the Weka workbench: the attribute-relation file format.
    """
    body = _parse(raw, path, encoding)
    names = [attribute.name for attribute in body.attributes]
    wanted = check_columns(columns, names, path)
    wishes = check_kinds(kinds, names, path)
    pairs = [body.column(names.index(name), wishes.get(name)) for name in wanted]
    schema = Schema(tuple(column for column, _ in pairs))
    return gather(schema, [values for _, values in pairs])


@dataclass(frozen=True, slots=True, eq=False)
class _Body:
    """Attributes, the texts of all rows one after the other, and the line of every row."""

    path: Path
    attributes: list[Attribute]
    texts: list[str | None]
    lines: list[int]

    def column(self, place: int, wish: Wish | None) -> tuple[Column, Values]:
        """What a column is, as declared or as wished, and its values."""
        attribute = self.attributes[place]
        cells = PlainCells(self.texts[place :: len(self.attributes)])
        try:
            if attribute.type == "date" and wish in (None, "numeric"):
                return _dates(attribute, cells)
            column = _column_of(attribute, cells, wish)
            values = cells.values(column)
        except BadCellError as bad:
            line = self.lines[bad.row]
            raise ReadError.at(self.path, bad.problem, line=line, column=attribute.name) from None
        except ValueError as error:
            raise ReadError.at(self.path, str(error)) from None
        if attribute.type == "string" and wish is None:
            present = int(np.count_nonzero(values.array >= 0))
            point_out_identifier(column, present, str(self.path))
        return column, values


def _parse(raw: bytes, path: Path, encoding: str) -> _Body:
    data = as_utf8(raw, encoding, path).removeprefix(BOM)
    check_text(data, path)
    text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not data.strip():
        raise ReadError.at(path, "the file is empty.")
    attributes, first = _parse_head(lines, path)
    body = _Body(path, attributes, [], [])
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line or line.isspace():
            continue
        try:
            row = parse_row(line, attributes)
        except BadWordsError as error:
            raise ReadError.at(path, str(error), line=number) from None
        if row:
            body.texts.extend(row)
            body.lines.append(number)
    return body


def _parse_head(lines: Sequence[str], path: Path) -> tuple[list[Attribute], int]:
    """The attributes, and how many lines the head has."""
    attributes: list[Attribute] = []
    for number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0].lower() if line.strip() else "%"
        try:
            if word == "@data":
                _check_attributes(attributes)
                return attributes, number
            if word == "@attribute":
                attributes.append(parse_attribute(line))
            elif word != "@relation" and not word.startswith("%"):
                raise BadWordsError(
                    f"{line.strip()[:40]!r} is none of @relation, @attribute, @data and % comment."
                )
        except BadWordsError as error:
            raise ReadError.at(path, str(error), line=number) from None
    raise ReadError.at(path, "the file has no @data line.", line=len(lines))


def _check_attributes(attributes: Sequence[Attribute]) -> None:
    if not attributes:
        raise BadWordsError("no @attribute stands before @data.")
    names = [attribute.name for attribute in attributes]
    for place, name in enumerate(names):
        if not name:
            raise BadWordsError(f"attribute {place + 1} has an empty name.")
        if name in names[:place]:
            raise BadWordsError(f"two attributes are called {name!r}: rename one of them.")


def _column_of(attribute: Attribute, cells: PlainCells, wish: Wish | None) -> Column:
    name = attribute.name
    if isinstance(wish, tuple):
        return Column(name, Kind.ORDINAL, wish, "codes")
    if attribute.type == "nominal" and wish != "numeric":
        if wish == "ordinal":
            return Column(name, Kind.ORDINAL, as_labels(attribute.levels), "codes")
        return Column(name, Kind.NOMINAL, text_levels(attribute.levels), "codes")
    if wish is None and attribute.type == "string":
        wish = "nominal"
    if wish in (None, "numeric"):
        cells.numbers()
        real = Facts(real=attribute.type == "real")
        return Column(name, Kind.NUMERIC, dtype=cells.facts().merge(real).dtype)
    return Facts(text=True).column(name, wish, cells.words())


def _dates(attribute: Attribute, cells: PlainCells) -> tuple[Column, Values]:
    instants = np.full(len(cells), np.datetime64("NaT", "us"))
    for row, text in enumerate(cells.texts):
        if text is None:
            continue
        try:
            instants[row] = datetime.strptime(text, attribute.format)
        except ValueError:
            problem = f"{text!r} is no date of the declared format."
            raise BadCellError(row, problem) from None
    values = numbers(attribute.name, instants)
    return Column(attribute.name, Kind.NUMERIC, dtype=values.dtype), values
