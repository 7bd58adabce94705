"""What is found out about the columns of Parquet files: types by their heads, levels by a pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.data.categories import MAX_LEVELS, Vocabulary, find_levels, plain, plain_labels
from ceiba.data.io.errors import ReadError
from ceiba.data.io.layout import Selection
from ceiba.data.io.parquet import check_flat, naming, open_parquet, parquet_columns
from ceiba.data.schema import Column, Kind

_NUMBERS = {"int64", "uint64", "float32", "float64"}
_BATCH_ROWS = 1 << 16


@dataclass(slots=True)
class ParquetSurvey:
    """What the columns of all files are: types from their heads, levels from a pass over them."""

    selection: Selection
    first: Path
    columns: dict[str, Column] = field(default_factory=dict)
    words: dict[str, Vocabulary] = field(default_factory=dict)

    def add_head(self, file: Any, path: Path) -> None:
        """Take in the types of a file."""
        known = parquet_columns(file, path)
        self.selection.check_file(list(known), path, self.first)
        for name in self.selection.names:
            column = check_flat(known[name], name, path)
            if name in self.columns:
                column = _merge_types(self.columns[name], column, path, self.first)
            self.columns[name] = column

    def uncounted(self) -> list[str]:
        """The columns whose levels must be looked for in the rows."""
        wishes = self.selection.wishes
        return [
            name
            for name, column in self.columns.items()
            if wishes.get(name) != "numeric"
            and (name in wishes or (column.kind is not Kind.NUMERIC and not column.levels))
        ]

    def add_labels(self, path: Path, names: Sequence[str]) -> None:
        """Take in the labels of some columns of a file."""
        file = open_parquet(path, dictionaries=names)
        with naming(str(path)):
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(names)):
                for name in names:
                    self._add_labels(name, batch.column(name), path)

    def _add_labels(self, name: str, array: Any, path: Path) -> None:
        import pyarrow as pa

        coded = pa.types.is_dictionary(array.type)
        found = [plain(v) for v in _labels(array) if v is not None and v == v]
        known = self.words.setdefault(name, Vocabulary())
        self.words[name] = known.merge(Vocabulary.of(found))
        if self.words[name].overfull:
            raise ReadError.at(
                path,
                f"it has more than {MAX_LEVELS:,} different labels, as an identifier has. Leave it "
                "out: name the other columns in `columns`. Or say what it is in `kinds`.",
                column=name,
            )
        if coded and self.columns[name].kind is Kind.ORDINAL:
            self._check_order(name, tuple(found), path)

    def _check_order(self, name: str, levels: tuple[Any, ...], path: Path) -> None:
        """Ordered categories must be the same everywhere: parts of an order do not merge."""
        column = self.columns[name]
        if column.levels and column.levels != levels and name not in self.selection.wishes:
            raise ReadError.at(
                path,
                "its ordered categories differ between row groups. Give them all in order, "
                f"kinds={{{name!r}: [...]}}.",
                column=name,
            )
        self.columns[name] = replace(column, levels=levels)

    def settled(self, path: Path) -> dict[str, Column]:
        """The columns, of the kinds that are wished, with their levels."""
        return {name: self._settle(column, path) for name, column in self.columns.items()}

    def _settle(self, column: Column, path: Path) -> Column:
        wish = self.selection.wishes.get(column.name)
        words = self.words.get(column.name, Vocabulary()).words
        if wish is None:
            return self._unwished(column, words)
        if wish == "numeric":
            numeric = column.kind is Kind.NUMERIC
            return column if numeric else Column(column.name, Kind.NUMERIC, dtype="float64")
        if wish == "nominal":
            return Column(column.name, Kind.NOMINAL, tuple(sorted(words)), "codes")
        if wish == "ordinal":
            return self._ordered(column, words, path)
        levels = plain_labels(wish, column.name)
        for label, place in zip(words, find_levels(list(words), levels, column.name), strict=True):
            if place < 0:
                problem = f"{label!r} is not among the levels given for it: {list(levels)!r}."
                raise ReadError.at(path, problem, column=column.name)
        return Column(column.name, Kind.ORDINAL, levels, "codes")

    def _unwished(self, column: Column, words: frozenset[Any]) -> Column:
        if column.kind is Kind.NOMINAL and not column.levels:
            return replace(column, levels=tuple(sorted(words)))
        return column

    def _ordered(self, column: Column, words: frozenset[Any], path: Path) -> Column:
        if column.kind is Kind.ORDINAL or column.levels:
            return replace(column, kind=Kind.ORDINAL)
        if column.kind is Kind.NOMINAL:
            raise ReadError.at(
                path,
                "it is text, whose order is unknown: give its levels in order, "
                f"kinds={{{column.name!r}: ['low', 'middle', 'high']}} for example.",
                column=column.name,
            )
        return Column(column.name, Kind.ORDINAL, tuple(sorted(words)), "codes")


def _labels(array: Any) -> list[Any]:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        return list(array.dictionary.to_pylist())
    unique = array.unique()
    if pa.types.is_floating(array.type):
        return list(unique.to_numpy(zero_copy_only=False))  # float32 labels keep their spelling
    return list(unique.to_pylist())


def _merge_types(one: Column, other: Column, path: Path, first: Path) -> Column:
    if one == other:
        return one
    if {one.dtype, other.dtype} <= _NUMBERS:
        return replace(one, dtype=np.promote_types(one.dtype, other.dtype).name)
    raise ReadError.at(
        path,
        f"it is {other.kind} ({other.dtype}), but {one.kind} ({one.dtype}) in {first}. "
        "Write both files with one type.",
        column=one.name,
    )
