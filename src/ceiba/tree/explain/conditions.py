"""What leads to a branch, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.tree.model.split import Split

if TYPE_CHECKING:
    from ceiba.data.schema import Column

# Stands for a gap among the levels that rows may have.
GAP = object()
_UNITS = {"d": 86_400 * 10**9, "h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6}
_UNITS |= {"us": 10**3, "ns": 1}
# Up to here fixed decimals show a float's whole part exactly.
_WHOLE = 1e16


def branch_cases(split: Split, branch: int, missing: str = "branch") -> list[Any]:
    """Levels of a branch, and `GAP` where rows without a value go there (``Tree.missing``)."""
    levels = [*split.branches[branch]] if split.branches else []
    return levels + [GAP] * (branch == split.gaps and missing == "branch")


def condition(
    split: Split,
    branch: int,
    column: Column,
    cases: Sequence[Any] | None = None,
    *,
    max_labels: int = 10,
    decimals: int = 3,
) -> str:
    """What leads to a branch: ``width <= 0.8 or missing``, ``colour in {red, blue}``.

    ``cases`` are the levels and the gap (`GAP`) that rows may have there; all of the branch unless
    given.
    """
    if cases is None:
        cases = branch_cases(split, branch)
    levels = [case for case in cases if case is not GAP]
    if split.kind == "threshold":
        text = _comparison(split, branch, column, decimals)
    elif split.kind == "intervals":
        text = _interval(split, branch, column, decimals)
    elif len(levels) == 1:
        text = f"{split.name} = {levels[0]}"
    else:
        text = f"{split.name} in {{{listed_labels(levels, max_labels)}}}" if levels else ""
    if not text:
        return f"{split.name} missing"
    return f"{text} or missing" if len(levels) < len(cases) else text


def _comparison(split: Split, branch: int, column: Column, decimals: int) -> str:
    if branch == 2 or (branch == 1 and only_known(split)):
        return ""
    if only_known(split):
        return f"{split.name} known"
    shown = threshold_words(split.threshold, column, decimals)
    return f"{split.name} {'<=' if branch == 0 else '>'} {shown}"


def _interval(split: Split, branch: int, column: Column, decimals: int) -> str:
    if branch > len(split.thresholds):
        return ""
    shown = [threshold_words(value, column, decimals) for value in split.thresholds]
    if branch == 0:
        return f"{split.name} <= {shown[0]}"
    if branch == len(shown):
        return f"{split.name} > {shown[-1]}"
    return f"{shown[branch - 1]} < {split.name} <= {shown[branch]}"


def only_known(split: Split) -> bool:
    """Whether a test tells known values from gaps and nothing else."""
    return split.kind == "threshold" and bool(split.threshold == np.inf)


def threshold_words(value: Any, column: Column, decimals: int) -> str:
    """A threshold as it is shown: a number, a time or a level."""
    if column.temporal:
        return _time(value, column.dtype)
    if not isinstance(value, float) or column.levels:
        return str(value)
    if 1e6 <= abs(value) < _WHOLE:  # six digits would hide the whole part
        return number_words(value, decimals)
    return f"{value:.{max(6, decimals)}g}"


def _time(ticks: int, dtype: str) -> str:
    """An instant or a duration, to the last unit that is not zero."""
    if dtype.startswith("datetime"):
        return str(np.datetime_as_string(np.datetime64(ticks, "ns"), unit="auto"))
    unit, size = next((unit, size) for unit, size in _UNITS.items() if ticks % size == 0)
    return f"{ticks // size} {unit}"


def number_words(value: float, decimals: int) -> str:
    """At most so many decimals, unless nothing would be left."""
    text = f"{value:.{decimals}f}"
    if abs(value) >= _WHOLE or (value != 0 and float(text) == 0):
        return f"{value:.{decimals + 1}g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def listed_labels(labels: Sequence[Any], most: int) -> str:
    """Labels side by side, at most so many."""
    shown = ", ".join(str(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, ... {len(labels) - most} more"
