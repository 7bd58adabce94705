"""The texts of one column of a file, on their way to numbers or to codes of levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import Label, spelled
from ceiba.data.column import Values, numbers
from ceiba.data.io.facts import Facts, first_text, parse_numbers
from ceiba.data.schema import Column, Kind


class BadCellError(ValueError):
    """A text that its column cannot hold, by row within its part of the file."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row, self.problem = row, problem


class Cells(Protocol):
    """The texts of one column, however they are stored."""

    def __len__(self) -> int: ...

    def facts(self) -> Facts:
        """What the texts allow the column to be."""
        ...

    def words(self) -> set[str]:
        """The different texts, gaps apart."""
        ...

    def values(self, column: Column) -> Values:
        """The texts as what the column holds: numbers, or codes of its levels."""
        ...

    def plain(self) -> PlainCells:
        """The texts as Python strings."""
        ...


class PlainCells:
    """Texts as Python strings, None for a gap."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def plain(self) -> PlainCells:
        """Itself."""
        return self

    @cached_property
    def _present(self) -> list[str]:
        return [text for text in self.texts if text is not None]

    @cached_property
    def _parsed(self) -> Array | None:
        return parse_numbers(self._present)

    def words(self) -> set[str]:
        """The different texts, gaps apart."""
        return set(self._present)

    def facts(self) -> Facts:
        """What the texts allow the column to be."""
        gaps = len(self._present) < len(self.texts)
        return Facts.of_numbers(self._parsed, gaps) if self._present else Facts(gaps)

    def numbers(self) -> Array:
        """The numbers that the texts spell, gaps left out, or an error at the first other text."""
        if self._parsed is None:
            row = first_text(self.texts)
            raise BadCellError(row, not_a_number(self.texts[row]))
        return self._parsed

    def values(self, column: Column) -> Values:
        """The texts as what the column holds: numbers, or codes of its levels."""
        if column.kind is Kind.NUMERIC:
            return self._number_values(column)
        words = list(self.words())
        places: dict[str | None, int] = dict(
            zip(words, level_places(words, column.levels), strict=True)
        )
        strange = [word for word in words if places[word] < 0]
        if strange:
            row = min(map(self.texts.index, strange))
            raise BadCellError(row, not_a_level(self.texts[row], column.levels))
        places[None] = -1
        codes = np.fromiter(map(places.__getitem__, self.texts), np.int32, len(self.texts))
        return Values(column.name, codes, labels=column.levels)

    def _number_values(self, column: Column) -> Values:
        parsed = self.numbers()
        if len(parsed) == len(self.texts):
            return numbers(column.name, parsed.astype(column.dtype, copy=False))
        gaps = np.fromiter((text is None for text in self.texts), bool, len(self.texts))
        full = np.zeros(len(gaps), column.dtype)
        full[~gaps] = parsed
        return numbers(column.name, full, gaps)


def level_places(texts: Iterable[str], levels: Sequence[Label]) -> list[int]:
    """The place of every text among the levels, by its number where they are numbers; else -1."""
    places = {level: place for place, level in enumerate(levels)}
    if not levels or isinstance(levels[0], str):
        return [places.get(text, -1) for text in texts]
    numbers_of = map(spelled, texts)
    return [-1 if number is None else places.get(number, -1) for number in numbers_of]


def not_a_number(text: str | None) -> str:
    """What to say of a text in a numeric column."""
    return (
        f"{text!r} is not a number, but the column is declared numeric. Correct it, or mark it as "
        "missing."
    )


def not_a_level(text: str | None, levels: Sequence[Label]) -> str:
    """What to say of a text that is no level of its column."""
    shown = ", ".join(repr(level) for level in levels[:8]) + (", ..." if len(levels) > 8 else "")
    return f"{text!r} is not among the levels of the column: {shown}."
