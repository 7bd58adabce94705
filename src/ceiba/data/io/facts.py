"""What the texts of a column allow it to be, gathered part by part."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import Label
from ceiba.data.schema import Column, Kind

# Python also reads 1_000 and digits of other scripts as numbers, which no file means so.
_FOREIGN = re.compile(r"[^0-9+\-.eE \tinfatyINFATY]")
_CANONICAL = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the texts of a column so far.

    The findings form a ladder, gaps only < whole numbers < real numbers < text, and a merge climbs
    to the higher of the two.

    Parameters
    ----------
    gaps : bool
        Whether a value is missing.
    low, high : int or None
        Range of a column of whole numbers that 64 bits hold; None for any other.
    real : bool
        Whether the column is numeric, but not of such whole numbers.
    text : bool
        Whether a text was no number.
    """

    gaps: bool = False
    low: int | None = None
    high: int | None = None
    real: bool = False
    text: bool = False

    @classmethod
    def of(cls, texts: Sequence[str], gaps: bool = False) -> Facts:
        """The facts of some texts, none of which is a gap."""
        if not texts:
            return cls(gaps)
        return cls.of_numbers(parse_numbers(texts), gaps)

    @classmethod
    def of_numbers(cls, numbers: Array | None, gaps: bool) -> Facts:
        """The facts of texts that spell these numbers; of None, if they spell none."""
        if numbers is None:
            return cls(gaps, text=True)
        if numbers.dtype.kind == "f":
            return cls(gaps, real=True)
        return cls(gaps, int(numbers.min()), int(numbers.max()))

    def merge(self, other: Facts) -> Facts:
        """The facts of both."""
        gaps = self.gaps or other.gaps
        if self.text or other.text:
            return Facts(gaps, text=True)
        if self.real or other.real:
            return Facts(gaps, real=True)
        low = min((f.low for f in (self, other) if f.low is not None), default=None)
        high = max((f.high for f in (self, other) if f.high is not None), default=None)
        if low is not None and high is not None and _whole_dtype(low, high) == "float64":
            return Facts(gaps, real=True)
        return Facts(gaps, low, high)

    @property
    def has_numbers(self) -> bool:
        """Whether there were numbers, and nothing else."""
        return self.real or self.low is not None

    @property
    def dtype(self) -> str:
        """The number type that holds a numeric column: whole numbers exactly where 64 bits can."""
        if self.low is None or self.high is None:
            return "float64"
        return _whole_dtype(self.low, self.high)

    def column(self, name: str, wish: str | None, words: Iterable[str]) -> Column:
        """What the column is, by its texts or by the kind that the user wishes.

        ``words`` are its different texts; they are asked for only if it is not numeric.
        """
        if wish == "numeric" or (wish is None and not self.text):
            return Column(name, Kind.NUMERIC, dtype=self.dtype)
        levels = text_levels(words)
        if wish == "ordinal" and levels and isinstance(levels[0], str):
            raise ValueError(
                f"column {name!r} is text, whose order is unknown: give its levels in order, "
                f"kinds={{{name!r}: ['low', 'middle', 'high']}} for example."
            )
        kind = Kind.ORDINAL if wish == "ordinal" else Kind.NOMINAL
        return Column(name, kind, levels, "codes")


def text_levels(words: Iterable[str]) -> tuple[Label, ...]:
    """Level labels of some texts, sorted."""
    labels: list[Any] = list(as_labels(set(words)))
    return tuple(sorted(labels))


def as_labels(words: Collection[str]) -> tuple[Label, ...]:
    """The texts as labels, in their order: ints where every text is just how an int is written."""
    if all(map(_CANONICAL.fullmatch, words)):
        return tuple(map(int, words))
    return tuple(words)


def parse_numbers(texts: Sequence[str]) -> Array | None:
    """The numbers that the texts spell, as int64, uint64 or float64; None if one spells none."""
    # A few first: most columns of text are told by them.
    if _FOREIGN.search("".join(texts[:50])) or _FOREIGN.search("".join(texts)):
        return None
    try:
        whole = list(map(int, texts))
    except ValueError:
        return _parse_reals(texts)
    dtype = _whole_dtype(min(whole, default=0), max(whole, default=0))
    return _parse_reals(texts) if dtype == "float64" else np.array(whole, dtype)


def _parse_reals(texts: Sequence[str]) -> Array | None:
    try:
        real = np.array(list(map(float, texts)), np.float64)
    except ValueError:
        return None
    return None if np.isnan(real).any() else real


def first_text(texts: Iterable[str | None]) -> int:
    """The place of the first text that is neither a number nor a gap."""
    for place, text in enumerate(texts):
        if text is not None and parse_numbers([text]) is None:
            return place
    raise ValueError("every text is a number")


def _whole_dtype(low: int, high: int) -> str:
    if low >= -(2**63) and high < 2**63:
        return "int64"
    return "uint64" if low >= 0 and high < 2**64 else "float64"
