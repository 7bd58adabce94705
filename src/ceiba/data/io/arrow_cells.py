"""The texts of one column as an Arrow array: the same findings as with Python's strings, faster.

Arrow is only trusted where it cannot differ. It also reads ``0x1F`` and ``nan`` as numbers, and
not ``+5``: such columns, and any that it refuses, are settled by their different texts in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.column import Values, numbers
from ceiba.data.io.cells import BadCellError, PlainCells, level_places, not_a_level
from ceiba.data.io.facts import Facts, parse_numbers
from ceiba.data.schema import Column, Kind


@dataclass(frozen=True, slots=True, eq=False)
class ArrowCells:
    """Texts as a chunked Arrow array of strings, or of numbers once parsed; null for a gap.

    ``hexes`` says that a text may be a hexadecimal number, which Arrow would take for one.
    """

    array: Any
    hexes: bool = False

    def __len__(self) -> int:
        return len(self.array)

    def plain(self) -> PlainCells:
        """The texts as Python strings."""
        return PlainCells(self.array.to_pylist())

    def words(self) -> set[str]:
        """The different texts, gaps apart."""
        return {text for text in self.array.unique().to_pylist() if text is not None}

    def facts(self) -> Facts:
        """What the texts allow the column to be."""
        import pyarrow.compute as pc

        gaps = self.array.null_count > 0
        if self.array.null_count == len(self.array):
            return Facts(gaps)
        whole = self._cast("int64")
        if whole is not None:
            ends = pc.min_max(whole).as_py()
            return Facts(gaps, ends["min"], ends["max"])
        real = self._cast("float64")
        # +5 and integers above int64 are whole numbers too: only a fraction tells reals for sure.
        if real is not None and pc.any(pc.not_equal(real, pc.floor(real))).as_py():
            return Facts(gaps, real=True)
        return Facts.of(list(self.words()), gaps)

    def values(self, column: Column) -> Values:
        """The texts as what the column holds: numbers, or codes of its levels."""
        if column.kind is not Kind.NUMERIC:
            return Values(column.name, self._codes(column), labels=column.levels)
        cast = self._cast(column.dtype)
        full = self._parsed(column.dtype) if cast is None else _filled(cast)
        gaps = self.array.is_null().to_numpy() if self.array.null_count else None
        return numbers(column.name, full, gaps)

    def _cast(self, dtype: str) -> Any | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pa.type_for_alias(dtype)
        if self.array.type == wanted:
            return self.array
        if self.hexes:
            return None
        try:
            cast = self.array.cast(wanted)
        except pa.ArrowInvalid:
            return None
        if dtype == "float64" and pc.any(pc.is_nan(cast)).as_py():
            return None
        return cast

    def _parsed(self, dtype: str) -> Array:
        def parse(words: list[str]) -> Array:
            parsed = parse_numbers(words)
            assert parsed is not None  # the facts of the column were that all are numbers
            return parsed.astype(dtype)

        parts = [table[codes] for table, codes in self._by_word(parse, np.zeros(1, dtype))]
        return np.concatenate(parts) if parts else np.zeros(0, dtype)

    def _codes(self, column: Column) -> Array:
        def places(words: list[str]) -> Array:
            return np.array(level_places(words, column.levels), np.int32)

        gap = np.array([-1], np.int32)
        parts = [table[codes] for table, codes in self._by_word(places, gap)]
        codes = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        unknown = np.flatnonzero((codes < 0) & self.array.is_valid().to_numpy())
        if len(unknown):
            row = int(unknown[0])
            raise BadCellError(row, not_a_level(self.array[row].as_py(), column.levels))
        return codes

    def _by_word(
        self, value_of: Callable[[list[str]], Array], gap: Array
    ) -> Iterator[tuple[Array, Array]]:
        """For each chunk, the values of its different texts with that of a gap last, and codes."""
        for chunk in self.array.chunks:
            coded = chunk.dictionary_encode()
            table = np.concatenate((value_of(coded.dictionary.to_pylist()), gap))
            yield table, coded.indices.fill_null(-1).to_numpy()


def _filled(cast: Any) -> Array:
    """The numbers, with 0 at the gaps."""
    full: Array = (cast.fill_null(0) if cast.null_count else cast).to_numpy()
    return full
