"""Parquet files in partitions: row groups, and slices of those that are too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.data.io.file_stamp import FileStamp
from ceiba.data.io.layout import Layout, Selection
from ceiba.data.io.parquet import float_table, is_float_block, naming, open_parquet
from ceiba.data.io.parquet_survey import ParquetSurvey
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table

#: Decoded bytes above which a row group is read in slices, unless the user says otherwise.
PARTITION_BYTES = 128 << 20
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """A row group of a Parquet file, or a slice of one, and how to read it.

    ``first`` and ``rows`` give the slice; ``whole`` says that it is all of the row group.
    """

    file: FileStamp
    layout: Layout
    group: int
    first: int
    rows: int
    whole: bool

    @property
    def name(self) -> str:
        """File and row group."""
        place = f"{self.file.path.name}, row group {self.group}"
        if self.whole:
            return place
        return f"{place}, rows {self.first + 1}–{self.first + self.rows}"

    def load(self) -> Chunk:
        """Read the rows."""
        self.file.check()
        with naming(f"{self.file.path}, row group {self.group}"):
            rows = self._rows()
            return self.layout.chunk(lambda schema: table_of(rows, schema), self.name)

    def _rows(self) -> Any:
        import pyarrow as pa

        names = self.layout.names
        with open_parquet(self.file.path) as file:
            if self.whole:
                return file.read_row_group(self.group, columns=names)
            batches = file.iter_batches(_BATCH_ROWS, row_groups=[self.group], columns=names)
            return pa.Table.from_batches(list(_slice(batches, self.first, self.rows)))


def _slice(batches: Iterable[Any], first: int, rows: int) -> Iterator[Any]:
    """The parts of the batches that hold the rows from ``first`` on."""
    for batch in batches:
        if first < len(batch):
            part = batch.slice(first, rows)
            rows -= len(part)
            yield part
        first = max(0, first - len(batch))
        if not rows:
            return


def table_of(rows: Any, schema: Schema) -> Table:
    """The columns of a schema out of an Arrow table."""
    if is_float_block(schema) and all(_is_number(rows.field(name)) for name in schema.names):
        return float_table(rows, schema)
    return Table.of(rows.select(schema.names), schema)


def _is_number(field: Any) -> bool:
    from pyarrow import types

    return bool(types.is_floating(field.type) or types.is_integer(field.type))


def survey_parquet(
    files: Sequence[FileStamp], selection: Selection, size: int
) -> tuple[Layout, list[ParquetPartition], int]:
    """The layout of all files, their partitions and the number of rows."""
    survey = ParquetSurvey(selection, files[0].path)
    for file in files:
        survey.add_head(open_parquet(file.path), file.path)
    names = survey.uncounted()
    for file in files if names else []:
        survey.add_labels(file.path, names)
        file.check()
    columns = survey.settled(files[0].path)
    layout = selection.layout(columns, named=True)
    partitions = [part for file in files for part in _partitions(file, layout, size)]
    return layout, partitions, sum(part.rows for part in partitions)


def count_rows(files: Sequence[FileStamp]) -> int:
    """The number of rows, from the heads of the files."""
    return sum(int(open_parquet(file.path).metadata.num_rows) for file in files)


def _partitions(file: FileStamp, layout: Layout, size: int) -> Iterator[ParquetPartition]:
    metadata = open_parquet(file.path).metadata
    for group in range(metadata.num_row_groups):
        with naming(f"{file.path}, row group {group}"):
            about = metadata.row_group(group)
            rows, taken = int(about.num_rows), _decoded_bytes(about, len(layout.names))
        step = max(1, -(-rows // max(1, -(-taken // size))))
        for first in range(0, rows, step):
            count = min(step, rows - first)
            yield ParquetPartition(file, layout, group, first, count, whole=count == rows)


def _decoded_bytes(group: Any, columns: int) -> int:
    """About what some columns take in memory: a number eight bytes, however the file packs it."""
    share = int(group.total_byte_size * columns / group.num_columns)
    return max(share, 8 * int(group.num_rows) * columns)
