"""CSV files in partitions: byte ranges that begin and end with a record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ceiba.data.io.csv_bytes import last_record_end, unify_newlines
from ceiba.data.io.csv_records import Records
from ceiba.data.io.csv_survey import CsvSurvey
from ceiba.data.io.dialect import Dialect, Style, find_dialect
from ceiba.data.io.errors import ReadError
from ceiba.data.io.file_stamp import FileStamp
from ceiba.data.io.gather import gather
from ceiba.data.io.layout import Layout, Selection
from ceiba.data.io.text_file import BOM
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table

#: Bytes of text in a partition unless the user says otherwise.
PARTITION_BYTES = 32 << 20
# A longer record is taken for a quote that nobody closed.
_LONGEST_RECORD = 64 << 20
_HEAD_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class CsvPartition:
    """The records in a range of bytes of a CSV file, and how to read them."""

    file: FileStamp
    dialect: Dialect
    layout: Layout
    start: int
    stop: int
    line: int
    last_line: int

    @property
    def name(self) -> str:
        """File and lines."""
        return f"{self.file.path.name}, lines {self.line}–{self.last_line}"

    def load(self) -> Chunk:
        """Read the records."""
        cells = self.records().known_columns(self.layout.columns)

        def table_of(schema: Schema) -> Table:
            return gather(schema, [cells[column.name].values(column) for column in schema])

        return self.layout.chunk(table_of, self.name)

    def records(self) -> Records:
        """The records as bytes."""
        self.file.check()
        with self.file.path.open("rb") as file:
            file.seek(self.start)
            raw = file.read(self.stop - self.start)
        return Records.of(raw, self.dialect, self.file.path, self.line)


def head_of(path: Path, style: Style) -> Dialect:
    """The dialect of a file, by its beginning."""
    size = _HEAD_BYTES
    with path.open("rb") as file:
        head = file.read(size)
        # Enough for the first record whole, if anything is.
        while len(head) == size < _LONGEST_RECORD and not last_record_end(head, style.quote):
            head += file.read(size)
            size *= 2
        if len(head) == size:
            head = head[: last_record_end(head, style.quote)] or head
    return find_dialect(unify_newlines(head.removeprefix(BOM), style.quote), path, style)


def dialect_for(path: Path, first: Dialect) -> Dialect:
    """The dialect of a further file: as the first's, with the column order of its own header."""
    style = Style(first.delimiter, first.header, first.missing, first.quote)
    return replace(first, names=head_of(path, style).names)


def cut(file: FileStamp, dialect: Dialect, size: int) -> Iterator[tuple[int, bytes, int]]:
    """Blocks of whole records, of about ``size`` bytes: offset, bytes, number of the first line."""
    start, line, held = 0, 1, b""
    with file.path.open("rb") as stream:
        while True:
            fresh = stream.read(max(size - len(held), len(held), 1))
            held += fresh
            over = not fresh or start + len(held) >= file.size
            end = len(held) if over else last_record_end(held, dialect.quote)
            if not (start or over or held[:end].removeprefix(BOM).strip()):
                end = 0  # the first block holds the header, not only blank lines before it
            if end:
                yield start, held[:end], line
                start, line = start + end, line + held.count(b"\n", 0, end)
                held = held[end:]
            if over:
                return
            if len(held) > max(_LONGEST_RECORD, 2 * size):
                raise _too_long(held, file.path, dialect, line)


def _too_long(held: bytes, path: Path, dialect: Dialect, line: int) -> ReadError:
    Records.of(held, dialect, path, line)  # says where a quote is wrong
    problem = f"the record that begins here has more than {_LONGEST_RECORD >> 20} MB."
    return ReadError.at(path, problem, line=line)


def survey_csv(
    files: Sequence[FileStamp], dialect: Dialect, selection: Selection, size: int
) -> tuple[Layout, list[CsvPartition], int]:
    """The layout of all files, their partitions and the number of rows."""
    survey = CsvSurvey(selection)
    blank = Layout(Schema(()), None, None)
    cuts: list[CsvPartition] = []
    for file in files:
        own = dialect if file is files[0] else dialect_for(file.path, dialect)
        selection.check_file(own.names, file.path, files[0].path)
        for start, raw, line in cut(file, own, size):
            if survey.add(Records.of(raw, own, file.path, line)):
                last = line + raw.rstrip(b"\r\n").count(b"\n")
                cuts.append(CsvPartition(file, own, blank, start, start + len(raw), line, last))
        file.check()
    for part in cuts if survey.late else []:
        for name, cells in part.records().columns(sorted(survey.late), arrow=True).items():
            survey.add_words(name, cells)
            survey.check_levels(name, part.file.path)
    try:
        layout = selection.layout(survey.columns(), named=dialect.header)
    except ValueError as error:
        raise ReadError.at(files[0].path, str(error)) from None
    return layout, [replace(part, layout=layout) for part in cuts], survey.rows
