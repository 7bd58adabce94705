"""Rows of text whose attributes a file declares: ARFF files and Elvira's case files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.column import ColumnValues, number_values
from ceiba.data.io.errors import InvalidValueError, error_position
from ceiba.data.io.selection import check_columns, check_kinds
from ceiba.data.io.types import (
    InferredType,
    KindRequest,
    TextColumn,
    as_labels,
    build_table,
    check_identifier,
)
from ceiba.data.schema import Column, Kind
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute: its categories if nominal, its strptime format if a date.

    ``type`` is ``"numeric"``, ``"real"``, ``"nominal"``, ``"string"`` or ``"date"``.
    """

    name: str
    type: str
    categories: tuple[str, ...] = ()
    format: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredRows:
    """Attributes, the texts of all rows one after the other, and the line of every row."""

    path: Path
    attributes: list[Attribute]
    texts: list[str | None]
    lines: list[int]

    def table(
        self, columns: Sequence[str] | None, kinds: Mapping[str, str | Sequence[Any]] | None
    ) -> Table:
        """Convert the requested columns to a table."""
        names = [attribute.name for attribute in self.attributes]
        chosen = check_columns(columns, names, self.path)
        requests = check_kinds(kinds, names, self.path)
        index = {name: position for position, name in enumerate(names)}
        return build_table([self.column(index[name], requests.get(name)) for name in chosen])

    def column(self, index: int, request: KindRequest | None) -> tuple[Column, ColumnValues]:
        """Convert a column, as declared or as requested."""
        attribute = self.attributes[index]
        texts = self.texts[index :: len(self.attributes)]
        with error_position(self.path, attribute.name, self.lines.__getitem__):
            if attribute.type == "date" and request in (None, "numeric"):
                return _parse_dates(attribute, texts)
            coded = TextColumn.of(texts)
            column = _column_of(attribute, coded, request)
            values = coded.values(column)
        if attribute.type == "string" and request is None:
            column = check_identifier(column, int(np.count_nonzero(values.array >= 0)), self.path)
        return column, values


def _column_of(attribute: Attribute, texts: TextColumn, request: KindRequest | None) -> Column:
    name = attribute.name
    if attribute.type == "nominal" and request in (None, "nominal", "ordinal"):
        if request == "ordinal":
            return Column(name, Kind.ORDINAL, as_labels(attribute.categories), "codes")
        return Column(name, Kind.NOMINAL, as_labels(attribute.categories), "codes")
    if request is None and attribute.type == "string":
        request = "nominal"
    if request in (None, "numeric"):
        texts.parse()
        declared = InferredType(real=attribute.type == "real")
        return Column(name, Kind.NUMERIC, dtype=InferredType.of(texts.texts).merge(declared).dtype)
    return InferredType(text=True).column(name, request, texts.texts)


def _parse_dates(attribute: Attribute, texts: Sequence[str | None]) -> tuple[Column, ColumnValues]:
    instants = np.full(len(texts), np.datetime64("NaT", "us"))
    for row, text in enumerate(texts):
        if text is None:
            continue
        try:
            instants[row] = datetime.strptime(text, attribute.format)
        except ValueError:
            problem = f"{text!r} is not a date of the declared format."
            raise InvalidValueError(row, problem) from None
    values = number_values(attribute.name, instants)
    return Column(attribute.name, Kind.NUMERIC, dtype=values.dtype), values
