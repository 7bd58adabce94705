"""Records of a CSV file or of a part of one: split into columns of texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceiba.data.io.arrow_cells import ArrowCells
from ceiba.data.io.cells import BadCellError, Cells, PlainCells
from ceiba.data.io.csv_bytes import after_first_record, check_quotes, tidy_blanks, unify_newlines
from ceiba.data.io.dialect import Dialect, csv_reader_options
from ceiba.data.io.errors import ReadError
from ceiba.data.io.text_file import BOM, check_text
from ceiba.data.schema import Column, Kind

# Arrow parses blocks of this size in parallel.
_ARROW_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Tidy records, without the header, and where they stand in their file.

    Parameters
    ----------
    data : bytes
    dialect : Dialect
    path : Path
    line : int
        Number of the first line.
    """

    data: bytes
    dialect: Dialect
    path: Path
    line: int = 1

    @classmethod
    def of(cls, raw: bytes, dialect: Dialect, path: Path, line: int = 1) -> Records:
        """The records of a file's bytes from line ``line`` on; line 1 may begin with a header."""
        check_text(raw, path, line)
        data = unify_newlines(raw.removeprefix(BOM) if line == 1 else raw, dialect.quote)
        data = tidy_blanks(data, dialect.delimiter, dialect.quote)
        check_quotes(data, dialect.delimiter, dialect.quote, path, line)
        start = 0
        if line == 1 and dialect.header:
            start = after_first_record(data, dialect.quote)
        return cls(data[start:], dialect, path, line + data.count(b"\n", 0, start))

    def columns(self, wanted: Sequence[str], arrow: bool) -> dict[str, Cells]:
        """The texts of the wanted columns; ``arrow`` says whether to split by Arrow."""
        found = self._try_arrow(dict.fromkeys(wanted, "string")) if arrow else None
        # Records that Arrow refuses are split in Python, which says where they are wrong.
        return self._plain_columns(wanted) if found is None else found

    def known_columns(self, columns: Sequence[Column]) -> dict[str, Cells]:
        """The texts of columns that are known: numbers are parsed at once where Arrow can.

        It may only be told so of a column all of whose texts are numbers by our own rules.
        """
        types = {c.name: c.dtype if c.kind is Kind.NUMERIC else "string" for c in columns}
        found = self._try_arrow(types)
        return self.columns(list(types), arrow=True) if found is None else found

    def error(self, column: str, bad: BadCellError) -> ReadError:
        """The error of a bad cell, with its line in the file."""
        reader = self._reader()
        rows = 0
        for fields in reader:
            rows += bool(fields)
            if rows > bad.row:
                break
        line = self._line_of(reader.line_num, fields)
        return ReadError.at(self.path, bad.problem, line=line, column=column)

    def _reader(self) -> Any:
        options: Any = csv_reader_options(self.dialect.delimiter, self.dialect.quote)
        return csv.reader(io.StringIO(self.data.decode("utf-8"), newline=""), **options)

    def _plain_columns(self, wanted: Sequence[str]) -> dict[str, Cells]:
        names = self.dialect.names
        width = len(names)
        # One flat list: a list for each record would cost more in garbage collection than parsing.
        flat: list[str] = []
        reader = self._reader()
        try:
            for fields in reader:
                if len(fields) == width:
                    flat += fields
                elif fields:
                    raise self._ragged(self._line_of(reader.line_num, fields), fields)
        except csv.Error as error:
            raise ReadError.at(
                self.path, f"{error}.", line=self._line_of(reader.line_num, ())
            ) from None
        missing = frozenset(self.dialect.missing)
        return {name: _with_gaps(flat[names.index(name) :: width], missing) for name in wanted}

    def _line_of(self, last: int, fields: Sequence[str]) -> int:
        """Number of the line on which a record begins that ends with the ``last`` line read."""
        return self.line + last - 1 - sum(field.count("\n") for field in fields)

    def _ragged(self, line: int, fields: Sequence[str]) -> ReadError:
        names, first = self.dialect.names, "header" if self.dialect.header else "first record"
        problem = f"the record has {len(fields)} fields, but the {first} has {len(names)}: "
        if len(fields) < len(names):
            problem += "this one is missing."
            return ReadError.at(self.path, problem, line=line, column=names[len(fields)])
        strange, delimiter = fields[len(names)], self.dialect.delimiter
        problem += f"{strange!r} is one too many. Quote a field that has {delimiter!r} in it."
        return ReadError.at(self.path, problem, line=line, column=len(names) + 1)

    def _try_arrow(self, types: Mapping[str, str]) -> dict[str, Cells] | None:
        import pyarrow as pa

        try:
            return self._arrow_columns(types) if self.data else None
        except pa.ArrowInvalid:
            return None

    def _arrow_columns(self, types: Mapping[str, str]) -> dict[str, Cells]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        # Arrow knows the columns by number: names are for people and may be anything.
        numbers = [str(place) for place in range(len(self.dialect.names))]
        chosen = {str(self.dialect.names.index(name)): types[name] for name in types}
        quote = self.dialect.quote
        # Arrow would drop a byte order mark, which is text anywhere but at the start of a file.
        data = b"\n" + self.data if self.data.startswith(BOM) else self.data
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(column_names=numbers, block_size=_ARROW_BLOCK),
            arrow_csv.ParseOptions(
                delimiter=self.dialect.delimiter,
                quote_char=quote or False,
                newlines_in_values=quote is not None and quote.encode() in self.data,
            ),
            arrow_csv.ConvertOptions(
                column_types={n: pa.type_for_alias(alias) for n, alias in chosen.items()},
                include_columns=list(chosen),
                null_values=list(self.dialect.missing),
                strings_can_be_null=True,
                check_utf8=False,
            ),
        )
        # An x is soon looked for, a 0 before it is not.
        hexes = any(x in self.data and b"0" + x in self.data for x in (b"x", b"X"))
        return {
            name: ArrowCells(table.column(number), hexes)
            for name, number in zip(types, chosen, strict=True)
        }


def _with_gaps(texts: list[str], missing: frozenset[str]) -> PlainCells:
    if missing.isdisjoint(texts):
        return PlainCells(texts)
    return PlainCells([None if text in missing else text for text in texts])
