"""Level labels: plain Python values, compared by what they say, not by how it is stored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

Label = str | int | float | bool


def plain(label: Any) -> Label:
    """The label as text, bool, int or float.

    A whole float becomes an int, since ``1`` and ``1.0`` are one level (a column of whole numbers
    turns to floats as soon as it has a gap). An interval, a date, anything else becomes its text.
    """
    if isinstance(label, np.float32):
        label = float(str(label))  # the shortest spelling: float32 0.1 is the level 0.1
    elif isinstance(label, np.datetime64 | date) and getattr(label, "tzinfo", None) is None:
        return str(np.datetime_as_string(np.datetime64(label), unit="auto"))
    elif isinstance(label, np.generic) and not isinstance(label, np.timedelta64):
        label = label.item()
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    if isinstance(label, bool | int | float):
        return label
    return str(label)


def plain_labels(labels: Iterable[Any], column: str) -> tuple[Label, ...]:
    """Plain labels of one column, refused where two become one or text stands beside numbers."""
    found = tuple(labels)
    if set(map(type, found)) != {str}:  # a million texts need no look at each
        found = tuple(map(plain, found))
    if len({kind is str for kind in set(map(type, found))}) > 1:
        text = next(label for label in found if isinstance(label, str))
        number = next(label for label in found if not isinstance(label, str))
        raise ValueError(
            f"Column {column!r} mixes numbers and text: {number!r} and {text!r}, for example. "
            "Make it all text, or all numbers with None for what is missing."
        )
    if len(set(found)) < len(found):
        twice = next(label for place, label in enumerate(found) if label in found[:place])
        raise ValueError(f"Column {column!r} lists the level {twice!r} twice.")
    return found


def spelled(text: Label) -> int | float | None:
    """The number that a text spells (True and False count as 1 and 0), or None."""
    if not isinstance(text, str):
        return text
    if text in ("True", "False"):
        return text == "True"
    try:
        number = float(text)
    except ValueError:
        return None
    if math.isnan(number) or "_" in text:
        return None
    try:
        return int(text)
    except ValueError:
        return number


def find_levels(labels: Sequence[Label], levels: Sequence[Label], column: str) -> list[int]:
    """The place of every label among the levels, -1 for a label that is none of them.

    Text and text, number and number are compared as they are, so that ``1``, ``1.0`` and ``True``
    are one level. Where one side is text and the other numbers, the text is read as a number;
    a column that cannot be read so is refused, as it can hardly be the column that was meant.
    """
    if not labels or not levels or isinstance(labels[0], str) == isinstance(levels[0], str):
        places = {level: place for place, level in enumerate(levels)}
        return [places.get(label, -1) for label in labels]
    if isinstance(levels[0], str):
        return _find_spelled(labels, levels, column)
    places = {level: place for place, level in enumerate(levels)}
    numbers = [spelled(label) for label in labels]
    if None in numbers:
        raise ValueError(
            f"Column {column!r} has numbers as levels ({_few(levels)}), but holds the text "
            f"{labels[numbers.index(None)]!r} now. Give the same labels as before."
        )
    return [places.get(number, -1) for number in numbers if number is not None]


def _find_spelled(labels: Sequence[Label], levels: Sequence[Label], column: str) -> list[int]:
    places: dict[int | float, int] = {}
    for place, level in enumerate(levels):
        number = spelled(level)
        if number is not None:
            places.setdefault(number, place)
    if not places:
        raise ValueError(
            f"Column {column!r} has text levels ({_few(levels)}), but holds numbers now "
            f"({_few(labels)}). Give the labels, not their codes."
        )
    return [places.get(label, -1) for label in labels if not isinstance(label, str)]


def _few(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:3])
    return shown + (", ..." if len(labels) > 3 else "")


# Beyond this a column names its rows rather than describes them, and its levels would not be small.
MAX_LEVELS = 100_000


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A set of labels that merges with others, or the finding that they are too many.

    Once ``overfull`` it holds no labels and swallows whatever is merged into it, so that the result
    does not depend on the order of merging.
    """

    words: frozenset[Any] = frozenset()
    overfull: bool = False

    @classmethod
    def of(cls, words: Iterable[Any]) -> Vocabulary:
        """The vocabulary of some labels, equal or not."""
        found = frozenset(words)
        return cls(overfull=True) if len(found) > MAX_LEVELS else cls(found)

    def merge(self, other: Vocabulary) -> Vocabulary:
        """The labels of both."""
        if self.overfull or other.overfull:
            return Vocabulary(overfull=True)
        if other.words <= self.words:
            return self
        return Vocabulary.of(self.words | other.words)
