"""CSV files, parsed by pyarrow: whole, or in partitions of whole records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.categories import CategorySet
from ceiba.data.column import ColumnValues, numbers
from ceiba.data.io.csv_dialect import Dialect, file_dialect, find_dialect, split_records
from ceiba.data.io.csv_ranges import (
    after_first_record,
    check_quotes,
    normalize,
    record_line,
    record_ranges,
)
from ceiba.data.io.errors import InvalidValueError, ReadError
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
    warn_identifier,
)
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table

#: Default size of the text of a partition.
PARTITION_BYTES = 32 << 20
# Arrow parses blocks of this size in parallel.
_BLOCK_BYTES = 1 << 20
_MAX_BLOCK_BYTES = (1 << 31) - 1


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
    texts = block.parse(dict.fromkeys(names, "string"))
    if not len(texts[names[0]].array):
        raise ReadError.at(path, "the file has a header, but no rows.")
    pairs = [_convert(block, name, texts[name], requests.get(name)) for name in names]
    return build_table(pairs, named=bool(dialect.header))


def _convert(
    block: CsvBlock, name: str, texts: ArrowColumn, request: KindRequest | None
) -> tuple[Column, ColumnValues]:
    try:
        inferred = texts.infer() if request in (None, "numeric") else InferredType(text=True)
        if request == "numeric" and inferred.text:
            texts.encode().parse()
        distinct = texts.distinct() if inferred.text else ()
        column = inferred.column(name, request, distinct)
        values = texts.values(column)
    except InvalidValueError as error:
        raise block.error(name, error) from None
    except ValueError as error:
        raise ReadError.at(block.path, str(error)) from None
    if request is None and column.kind is Kind.NOMINAL:
        warn_identifier(column, int(np.count_nonzero(values.array >= 0)), block.path)
    return column, values


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Normalized records, without the header, of a CSV file from line ``line`` on."""

    data: bytes
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
        return cls(data[start:], dialect, path, line + data.count(b"\n", 0, start))

    def parse(self, dtypes: Mapping[str, str]) -> dict[str, ArrowColumn]:
        """Parse columns as ``"string"`` or as numbers.

        A numeric dtype is allowed only for a column whose texts are numbers by our own rules.
        """
        import pyarrow as pa

        if not self.data.lstrip(b"\n"):  # no copy, unlike strip
            return {name: ArrowColumn(pa.chunked_array([[]], pa.string())) for name in dtypes}
        # Arrow does not parse every number that Python does, +5 for example: then as text.
        strings = dict.fromkeys(dtypes, "string")
        for attempt in (dtypes, strings):
            with suppress(pa.ArrowInvalid):
                return self._parse(attempt, _BLOCK_BYTES)
        # Either a record has the wrong width, or one is longer than a block.
        self._check_widths()
        return self._parse(strings, self._one_block)

    @property
    def _one_block(self) -> int:
        return min(len(self.data) + 1, _MAX_BLOCK_BYTES)

    def error(self, column: str, error: InvalidValueError) -> ReadError:
        """Make the ReadError of an invalid value, with its line in the file."""
        line = self.line + record_line(self.data, self.dialect.quote, error.row)
        return ReadError.at(self.path, error.problem, line=line, column=column)

    def _parse(
        self, dtypes: Mapping[str, str], block_bytes: int, on_invalid: Any = None
    ) -> dict[str, ArrowColumn]:
        import pyarrow as pa
        from pyarrow import csv

        # Arrow gets the columns by number: names may be anything.
        by_number = {str(self.dialect.names.index(name)): dtypes[name] for name in dtypes}
        quote = self.dialect.quote
        # Arrow would drop a byte order mark, which is text except at the start of a file.
        data = b"\n" + self.data if self.data.startswith(BOM) else self.data
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
                newlines_in_values=quote is not None and quote.encode() in self.data,
                invalid_row_handler=on_invalid,
            ),
            csv.ConvertOptions(
                column_types={n: pa.type_for_alias(dtype) for n, dtype in by_number.items()},
                include_columns=list(by_number),
                null_values=list(self.dialect.missing),
                strings_can_be_null=True,
                check_utf8=False,
            ),
        )
        # The search for x alone is fast, and usually finds none.
        may_be_hex = any(x in self.data and b"0" + x in self.data for x in (b"x", b"X"))
        return {
            name: ArrowColumn(table.column(number), may_be_hex)
            for name, number in zip(dtypes, by_number, strict=True)
        }

    def _check_widths(self) -> None:
        """Parse again in one thread, where Arrow reports row numbers, and raise at a bad row."""
        invalid: list[Any] = []

        def skip(row: Any) -> str:
            if not invalid:
                invalid.append(row)
            return "skip"

        self._parse({self.dialect.names[0]: "string"}, self._one_block, skip)
        if invalid:
            raise self._width_error(invalid[0])

    def _width_error(self, row: Any) -> ReadError:
        dialect = self.dialect
        n_fields, names = row.actual_columns, dialect.names
        line = self.line + record_line(self.data, dialect.quote, row.number - 1)
        first = "header" if dialect.header else "first record"
        problem = f"the record has {n_fields} fields, but the {first} has {len(names)}: "
        if n_fields < len(names):
            problem += "the value of this column is absent."
            return ReadError.at(self.path, problem, line=line, column=names[n_fields])
        extra = next(split_records(row.text, dialect.delimiter, dialect.quote))[len(names)]
        problem += f"{extra!r} is one too many. Quote a field that contains {dialect.delimiter!r}."
        return ReadError.at(self.path, problem, line=line, column=len(names) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class ArrowColumn:
    """A column as a chunked Arrow array of strings or numbers, null for a missing value.

    Arrow also parses ``0x1F`` and ``nan`` as numbers, and not ``+5``: columns for which it could
    differ from `parse_numbers`, and columns that it cannot cast, are converted by their distinct
    texts. ``may_be_hex`` marks blocks that may contain hexadecimal numbers.
    """

    array: Any
    may_be_hex: bool = False

    def distinct(self) -> set[str]:
        """Return the distinct texts."""
        return {text for text in self.array.unique().to_pylist() if text is not None}

    def encode(self) -> TextColumn:
        """Encode the texts by their distinct values."""
        coded = self.array.dictionary_encode().unify_dictionaries()
        if not coded.num_chunks:
            return TextColumn([], np.zeros(0, np.int32))
        codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks]
        return TextColumn(coded.chunk(0).dictionary.to_pylist(), np.concatenate(codes))

    def infer(self) -> InferredType:
        """Infer the type of the column."""
        import pyarrow.compute as pc

        if self.array.null_count == len(self.array):
            return InferredType()
        whole = self._cast("int64")
        if whole is not None:
            bounds = pc.min_max(whole).as_py()
            return InferredType(bounds["min"], bounds["max"])
        real = self._cast("float64")
        # +5 and integers above int64 are whole numbers too: only a fraction proves real numbers.
        if real is not None and pc.any(pc.not_equal(real, pc.floor(real))).as_py():
            return InferredType(real=True)
        return InferredType.of(list(self.distinct()))

    def values(self, column: Column) -> ColumnValues:
        """Convert the column to the numbers or category codes of ``column``."""
        cast = self._cast(column.dtype) if column.kind is Kind.NUMERIC else None
        if cast is None:
            return self.encode().values(column)
        filled = (cast.fill_null(0) if cast.null_count else cast).to_numpy()
        missing = self.array.is_null().to_numpy() if self.array.null_count else None
        return numbers(column.name, filled, missing)

    def _cast(self, dtype: str) -> Any | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        arrow_type = pa.type_for_alias(dtype)
        if self.array.type == arrow_type:
            return self.array
        if self.may_be_hex:
            return None
        try:
            cast = self.array.cast(arrow_type)
        except pa.ArrowInvalid:
            return None
        if dtype == "float64" and pc.any(pc.is_nan(cast)).as_py():
            return None
        return cast


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
            column.name: column.dtype if column.kind is Kind.NUMERIC else "string"
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
        found = part.block().parse(dict.fromkeys(sorted(inference.late), "string"))
        for name, texts in found.items():
            add_categories(inference.categories, name, texts.distinct(), part.file.path)
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
        self.categories = dict.fromkeys(selection.names, CategorySet())
        self.late: set[str] = set()
        self.n_rows = 0

    def add(self, block: CsvBlock) -> int:
        """Add a block and return the number of its rows."""
        names = self.selection.names
        texts = block.parse(dict.fromkeys(names, "string"))
        count = len(texts[names[0]].array)
        for name in names if count else ():
            try:
                self._add_column(name, texts[name], block.path)
            except InvalidValueError as error:
                raise block.error(name, error) from None
        self.n_rows += count
        return count

    def _add_column(self, name: str, texts: ArrowColumn, path: Path) -> None:
        request = self.selection.kinds.get(name)
        if isinstance(request, tuple):
            texts.values(InferredType().column(name, request, ()))  # checks the categories
            return
        before = self.types[name]
        if request in ("nominal", "ordinal") or before.text:
            inferred = InferredType(text=True)
        else:
            inferred = before.merge(texts.infer())
            if inferred.text and request == "numeric":
                texts.encode().parse()
            if inferred.text and (before.real or before.low is not None):
                self.late.add(name)
        self.types[name] = inferred
        if inferred.text and name not in self.late:
            add_categories(self.categories, name, texts.distinct(), path)

    def columns(self) -> dict[str, Column]:
        """Return the inferred columns."""
        kinds = self.selection.kinds
        return {
            name: found.column(name, kinds.get(name), self.categories[name].labels)
            for name, found in self.types.items()
        }
