"""An ARFF file in memory, read into a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.arff_header import Attribute, parse_attribute
from ceiba.data.arff_rows import parse_row
from ceiba.data.arff_words import BadWordsError
from ceiba.data.cells import BadCellError, PlainCells
from ceiba.data.column import Values, numbers
from ceiba.data.facts import Facts, as_labels, text_levels
from ceiba.data.gather import gather, point_out_identifier
from ceiba.data.read_error import ReadError
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.data.text_file import BOM, as_utf8, check_text
from ceiba.data.wishes import Wish, check_columns, check_kinds


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
