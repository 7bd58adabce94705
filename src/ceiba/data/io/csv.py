"""CSV files, parsed by pyarrow: whole, or in partitions of whole records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.column import ColumnValues, number_values
from ceiba.data.io.csv_dialect import Dialect, file_dialect, find_dialect, split_records
from ceiba.data.io.csv_ranges import (
    after_first_record,
    check_quotes,
    has_pair,
    has_quoted_newline,
    normalize,
    record_line,
    record_ranges,
)
from ceiba.data.io.errors import ReadError, error_position
from ceiba.data.io.files import BOM, FileStamp, check_utf8
from ceiba.data.io.selection import (
    ColumnRoles,
    Selection,
    add_categories,
    check_columns,
    check_kinds,
)
from ceiba.data.io.types import (
    InferredType,
    KindRequest,
    TextColumn,
    build_table,
    check_identifier,
)
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table

#: Default size of the text of a partition.
PARTITION_BYTES = 32 << 20
# Arrow parses blocks of this size in parallel.
_BLOCK_BYTES = 1 << 20
_MAX_BLOCK_BYTES = (1 << 31) - 1
_NO_NEWLINE = re.compile(rb"[^\n]")


def read_csv(
    data: bytes,
    path: Path,
    options: Dialect,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """Parse the UTF-8 bytes of a CSV file as a table."""
    dialect = find_dialect(data, path, options)
    names = check_columns(columns, dialect.names, path)
    requests = check_kinds(kinds, dialect.names, path)
    block = CsvBlock.of(data, dialect, path)
    parsed = block.parse({name: _dtype_of(requests.get(name)) for name in names})
    if not len(parsed[names[0]].array):
        raise ReadError.at(path, "the file has a header, but no rows.")
    pairs = [_convert(block, name, parsed[name], requests.get(name)) for name in names]
    return build_table(pairs, named=bool(dialect.header))


def _dtype_of(request: KindRequest | None) -> str:
    return "infer" if request in (None, "numeric") else "text"


def _convert(
    block: CsvBlock, name: str, parsed: ArrowColumn, request: KindRequest | None
) -> tuple[Column, ColumnValues]:
    with error_position(block.path, name, block.line_of):
        inferred = parsed.infer() if _dtype_of(request) == "infer" else InferredType(text=True)
        if request == "numeric" and inferred.text:
            parsed.texts.parse()
        column = inferred.column(name, request, parsed.texts.texts if inferred.text else ())
        values = parsed.values(column)
    if request is None and column.kind is Kind.NOMINAL:
        column = check_identifier(column, int(np.count_nonzero(values.array >= 0)), block.path)
    return column, values


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Normalized records of a CSV file: ``data`` from ``start`` on, at line ``line``."""

    data: bytes
    start: int
    dialect: Dialect
    path: Path
    line: int = 1

    @classmethod
    def of(cls, raw: bytes, dialect: Dialect, path: Path, line: int = 1) -> CsvBlock:
        """Normalize and check bytes; line 1 may be the header."""
        check_utf8(raw, path, line)
        delimiter, quote = dialect.delimiter, dialect.quote
        data = normalize(raw.removeprefix(BOM) if line == 1 else raw, delimiter, quote)
        check_quotes(data, delimiter, quote, path, line)
        start = after_first_record(data, quote) if line == 1 and dialect.header else 0
        return cls(data, start, dialect, path, line + data.count(b"\n", 0, start))

    def parse(self, dtypes: Mapping[str, str]) -> dict[str, ArrowColumn]:
        """Parse columns as ``"text"``, as numbers, or as ``"infer"``: numbers, else text.

        A numeric dtype is allowed only for a column whose texts are numbers by our own rules.
        """
        import pyarrow as pa

        if not _NO_NEWLINE.search(self.data, self.start):
            empty = pa.chunked_array([], _text_type())
            return dict.fromkeys(dtypes, ArrowColumn(empty))
        # Arrow does not parse every integer that Python does, +5 for example: then as text.
        floats = {n: t if t in ("infer", "float64") else "text" for n, t in dtypes.items()}
        for attempt in (dtypes, floats):
            with suppress(pa.ArrowInvalid):
                return self._parse_certain(attempt, _BLOCK_BYTES)
        # Either a record has the wrong width, or one is longer than a block.
        self._check_widths()
        texts = {name: t if t == "infer" else "text" for name, t in dtypes.items()}
        return self._parse_certain(texts, self._one_block)

    def _parse_certain(self, dtypes: Mapping[str, str], block_bytes: int) -> dict[str, ArrowColumn]:
        """Parse again, as text, columns whose type Arrow may infer otherwise than we do."""
        parsed = self._parse(dtypes, block_bytes)
        has_hex = any(has_pair(self.data, "0", x) for x in "xX")
        has_plus = b"+" in self.data
        doubtful = [
            name
            for name, column in parsed.items()
            if dtypes[name] == "infer" and not column.is_certain(has_hex, has_plus)
        ]
        if doubtful:
            parsed |= self._parse(dict.fromkeys(doubtful, "text"), block_bytes)
        return parsed

    @property
    def _one_block(self) -> int:
        return min(len(self.data) + 1, _MAX_BLOCK_BYTES)

    def line_of(self, row: int) -> int:
        """Return the line of a record in the file."""
        return self.line + record_line(self.data[self.start :], self.dialect.quote, row)

    def _parse(
        self, dtypes: Mapping[str, str], block_bytes: int, on_invalid: Any = None
    ) -> dict[str, ArrowColumn]:
        import pyarrow as pa
        from pyarrow import csv

        # Arrow gets the columns by number: names may be anything.
        keys = {name: str(self.dialect.names.index(name)) for name in dtypes}
        arrow_types = {
            keys[name]: _text_type() if dtype == "text" else pa.type_for_alias(dtype)
            for name, dtype in dtypes.items()
            if dtype != "infer"
        }
        quote = self.dialect.quote
        data = pa.py_buffer(self.data).slice(self.start)
        if self.data.startswith(BOM, self.start):
            # Arrow would drop a byte order mark, which is text except at the start of a file.
            data = b"\n" + self.data[self.start :]
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(
                column_names=[str(number) for number in range(len(self.dialect.names))],
                block_size=block_bytes,
                use_threads=on_invalid is None,
            ),
            csv.ParseOptions(
                delimiter=self.dialect.delimiter,
                quote_char=quote or False,
                # Arrow finds the records faster without, in one thread.
                newlines_in_values=has_quoted_newline(self.data, quote),
                invalid_row_handler=on_invalid,
            ),
            csv.ConvertOptions(
                column_types=arrow_types,
                include_columns=list(keys.values()),
                null_values=list(self.dialect.missing),
                strings_can_be_null=True,
                check_utf8=False,
                auto_dict_encode=True,
                auto_dict_max_cardinality=_MAX_BLOCK_BYTES,
            ),
        )
        return {name: ArrowColumn(table.column(key)) for name, key in keys.items()}

    def _check_widths(self) -> None:
        """Parse again in one thread, where Arrow reports row numbers, and raise at a bad row."""
        invalid: list[Any] = []

        def skip(row: Any) -> str:
            if not invalid:
                invalid.append(row)
            return "skip"

        self._parse({self.dialect.names[0]: "text"}, self._one_block, skip)
        if invalid:
            raise self._width_error(invalid[0])

    def _width_error(self, row: Any) -> ReadError:
        dialect = self.dialect
        n_fields, names = row.actual_columns, dialect.names
        line = self.line_of(row.number - 1)
        first = "header" if dialect.header else "first record"
        problem = f"the record has {n_fields} fields, but the {first} has {len(names)}: "
        if n_fields < len(names):
            problem += "the value of this column is absent."
            return ReadError.at(self.path, problem, line=line, column=names[n_fields])
        extra = next(split_records(row.text, dialect.delimiter, dialect.quote))[len(names)]
        problem += f"{extra!r} is one too many. Quote a field that contains {dialect.delimiter!r}."
        return ReadError.at(self.path, problem, line=line, column=len(names) + 1)


def _text_type() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, eq=False)
class ArrowColumn:
    """A column as a chunked Arrow array of numbers or a dictionary, null for a missing value."""

    array: Any

    @cached_property
    def texts(self) -> TextColumn:
        """The texts of a dictionary, by their distinct values."""
        coded = self.array.unify_dictionaries()
        if not coded.num_chunks:
            return TextColumn([], np.zeros(0, np.int32))
        codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks]
        return TextColumn(coded.chunk(0).dictionary.to_pylist(), np.concatenate(codes))

    def is_certain(self, has_hex: bool, has_plus: bool) -> bool:
        """Whether our own rules infer the same type as Arrow, or text that we parse ourselves.

        Arrow parses ``0x1F`` as a whole number, ``+5`` and those beyond int64 as floats, ``nan``
        as a float, and dates as times. ``has_hex`` and ``has_plus``: the file may contain such.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.array.type == pa.int64():
            return not has_hex
        if self.array.type != pa.float64():
            return self.array.type in (pa.null(), _text_type())
        bounds = pc.min_max(self.array).as_py()
        may_be_whole = has_plus or bounds["min"] <= -(2**63) or bounds["max"] >= 2**63
        if may_be_whole and not pc.any(pc.not_equal(self.array, pc.floor(self.array))).as_py():
            return False
        return not pc.any(pc.is_nan(self.array)).as_py()

    def infer(self) -> InferredType:
        """Infer the type of a column that was parsed as ``"infer"``."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.array.null_count == len(self.array):
            return InferredType()
        if self.array.type == _text_type():
            return InferredType.of(self.texts.texts)
        if self.array.type == pa.float64():
            return InferredType(real=True)
        bounds = pc.min_max(self.array).as_py()
        return InferredType(bounds["min"], bounds["max"])

    def values(self, column: Column) -> ColumnValues:
        """Convert the column to the numbers or category codes of ``column``."""
        import pyarrow as pa

        array = self.array
        if array.type == _text_type():
            return self.texts.values(column)
        if pa.types.is_null(array.type):
            array = array.cast(pa.type_for_alias(column.dtype))
        if not array.null_count or pa.types.is_floating(array.type):  # null becomes NaN
            return number_values(column.name, array.to_numpy().astype(column.dtype, copy=False))
        filled = array.fill_null(0).to_numpy().astype(column.dtype, copy=False)
        return number_values(column.name, filled, array.is_null().to_numpy())


@dataclass(frozen=True, slots=True)
class CsvPartition:
    """The records in a byte range of a CSV file."""

    file: FileStamp
    dialect: Dialect
    roles: ColumnRoles
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
        dtypes = {
            column.name: column.dtype if column.kind is Kind.NUMERIC else "text"
            for column in self.roles.columns
        }
        parsed = self.block().parse(dtypes)

        def make_table(schema: Schema) -> Table:
            pairs = [(column, parsed[column.name].values(column)) for column in schema]
            return build_table(pairs, schema.named)

        return self.roles.chunk(make_table, self.name)

    def block(self) -> CsvBlock:
        """Read the byte range."""
        self.file.check()
        with self.file.path.open("rb") as stream:
            stream.seek(self.start)
            raw = stream.read(self.stop - self.start)
        return CsvBlock.of(raw, self.dialect, self.file.path, self.line)


def scan_csv(
    files: Sequence[FileStamp], dialect: Dialect, selection: Selection, size: int
) -> tuple[ColumnRoles, list[CsvPartition], int]:
    """Infer the columns of all files in one pass; also return the partitions and row count."""
    inference = _CsvInference(selection)
    partitions: list[CsvPartition] = []
    for file in files:
        own = dialect if file is files[0] else file_dialect(file.path, dialect)
        selection.check_file(own.names, file.path, files[0].path)
        for start, raw, line in record_ranges(file, own.delimiter, own.quote, size):
            if inference.add(CsvBlock.of(raw, own, file.path, line)):
                last, stop = line + raw.rstrip(b"\r\n").count(b"\n"), start + len(raw)
                roles = ColumnRoles(Schema(()))  # replaced below, when all blocks are known
                partitions.append(CsvPartition(file, own, roles, start, stop, line, last))
        file.check()
    for part in partitions if inference.late else []:
        found = part.block().parse(dict.fromkeys(sorted(inference.late), "text"))
        for name, parsed in found.items():
            add_categories(inference.categories, name, parsed.texts.texts, part.file.path)
    try:
        roles = selection.roles(inference.columns(), named=bool(dialect.header))
    except ValueError as error:
        raise ReadError.at(files[0].path, str(error)) from None
    return roles, [replace(part, roles=roles) for part in partitions], inference.n_rows


class _CsvInference:
    """Types and categories of the blocks so far.

    A column is numeric until a text is found. If that happens after the first block, the column is
    ``late``: its categories are collected by a second pass over this column alone.
    """

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.types = dict.fromkeys(selection.names, InferredType())
        self.categories: dict[str, set[Any]] = {name: set() for name in selection.names}
        self.late: set[str] = set()
        self.n_rows = 0

    def add(self, block: CsvBlock) -> int:
        """Add a block and return the number of its rows."""
        kinds = self.selection.kinds
        dtypes = {
            name: "text" if found.text else _dtype_of(kinds.get(name))
            for name, found in self.types.items()
        }
        parsed = block.parse(dtypes)
        count = len(next(iter(parsed.values())).array)
        for name in dtypes if count else ():
            with error_position(block.path, name, block.line_of):
                self._add_column(name, parsed[name], block.path)
        self.n_rows += count
        return count

    def _add_column(self, name: str, parsed: ArrowColumn, path: Path) -> None:
        request = self.selection.kinds.get(name)
        if isinstance(request, tuple):
            parsed.values(InferredType().column(name, request, ()))  # checks the categories
            return
        before = self.types[name]
        if request in ("nominal", "ordinal") or before.text:
            inferred = InferredType(text=True)
        else:
            found = parsed.infer()
            if found.text and request == "numeric":
                parsed.texts.parse()
            inferred = before.merge(found)
            if inferred.text and (before.real or before.low is not None):
                self.late.add(name)
        self.types[name] = inferred
        if inferred.text and name not in self.late:
            add_categories(self.categories, name, parsed.texts.texts, path)

    def columns(self) -> dict[str, Column]:
        """Return the inferred columns."""
        kinds = self.selection.kinds
        return {
            name: found.column(name, kinds.get(name), self.categories[name])
            for name, found in self.types.items()
        }
