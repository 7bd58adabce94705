"""Category labels: plain Python values, compared by value and not by dtype."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np

Label = str | int | float | bool


def plain(label: Any) -> Label:
    """Convert a label to str, bool, int or float; intervals, dates and all others become text."""
    if isinstance(label, np.float32):
        label = float(str(label))  # the shortest spelling: float32 0.1 is the category 0.1
    elif isinstance(label, np.datetime64 | date) and getattr(label, "tzinfo", None) is None:
        return str(np.datetime_as_string(np.datetime64(label), unit="auto"))
    elif isinstance(label, np.generic) and not isinstance(label, np.timedelta64):
        label = label.item()
    # 1 and 1.0 are one category: a column of integers becomes float if a value is missing.
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    if isinstance(label, bool | int | float):
        return label
    return str(label)


def plain_labels(labels: Iterable[Any], column: str) -> tuple[Label, ...]:
    """Convert the labels of a column; raise ValueError for duplicates or mixed types."""
    found = tuple(labels)
    if set(map(type, found)) != {str}:  # fast for a million texts
        found = tuple(map(plain, found))
    if len({kind is str for kind in set(map(type, found))}) > 1:
        text = next(label for label in found if isinstance(label, str))
        number = next(label for label in found if not isinstance(label, str))
        raise ValueError(
            f"Column {column!r} mixes numbers and text: {number!r} and {text!r}, for example. "
            "Convert it to all text, or to all numbers with None for missing values."
        )
    if len(set(found)) < len(found):
        repeated = next(label for j, label in enumerate(found) if label in found[:j])
        raise ValueError(f"Column {column!r} lists the category {repeated!r} twice.")
    return found


def parse_number(text: Label) -> int | float | None:
    """Parse a label as a number (True and False are 1 and 0); None if it is not one."""
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


def sort_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels of one type; text that is a number in every label by its value."""
    found: list[Any] = list(labels)
    if not found or not isinstance(found[0], str):
        return tuple(sorted(found))
    numbers: dict[str, Any] = {}
    for label in found:
        number = parse_number(label)
        if number is None or isinstance(number, bool):  # usually the first
            return tuple(sorted(found))
        numbers[label] = number
    return tuple(sorted(found, key=lambda label: (numbers[label], label)))


def find_categories(labels: Sequence[Label], categories: Sequence[Label], column: str) -> list[int]:
    """Return the index of each label among the categories, -1 for an unknown label.

    Where one side is text and the other numbers, the text is parsed; if that is impossible, it is
    probably the wrong column and a ValueError is raised.
    """
    text = [isinstance(side[0], str) for side in (labels, categories) if side]
    if len(text) < 2 or text[0] == text[1]:
        index: dict[Any, int] = {category: code for code, category in enumerate(categories)}
        return [index.get(label, -1) for label in labels]
    index = {}
    for code, category in enumerate(map(parse_number, categories)):
        if category is not None:
            index.setdefault(category, code)
    if not index:
        raise ValueError(
            f"Column {column!r} has text categories ({list_labels(categories, 3)}), got numbers "
            f"({list_labels(labels, 3)}). Use the labels, not their codes."
        )
    numbers = [parse_number(label) for label in labels]
    if None in numbers:
        raise ValueError(
            f"Column {column!r} has numeric categories ({list_labels(categories, 3)}), got the "
            f"text {labels[numbers.index(None)]!r}. Use the same labels as before."
        )
    return [index.get(number, -1) for number in numbers]


def list_labels(labels: Sequence[Any], limit: int = 8) -> str:
    """List the first labels for an error message."""
    return ", ".join(map(repr, labels[:limit])) + (", ..." if len(labels) > limit else "")


#: A nominal column with more categories is taken for an identifier.
MAX_CATEGORIES = 100_000
