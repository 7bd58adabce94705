"""Conditions of branches as text, in the names and values of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.tree.model.split import Split

if TYPE_CHECKING:
    from ceiba.data.schema import Column

# Stands for a missing value among the categories of a branch.
MISSING_VALUE = object()
_UNITS = {"d": 86_400 * 10**9, "h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6}
_UNITS |= {"us": 10**3, "ns": 1}
# Below this, fixed decimals show the integer part of a float exactly.
_MAX_EXACT = 1e16


def branch_values(split: Split, branch: int, missing: str = "branch") -> list[Any]:
    """Return the categories of a branch, with `MISSING_VALUE` if it applies.

    ``missing`` is ``Tree.missing``.
    """
    categories = [*split.branches[branch]] if split.branches else []
    return categories + [MISSING_VALUE] * (branch == split.missing_branch and missing == "branch")


def branch_text(
    split: Split,
    branch: int,
    column: Column,
    values: Sequence[Any] | None = None,
    *,
    max_labels: int = 10,
    decimals: int = 3,
) -> str:
    """Format the condition of a branch, such as ``width <= 0.8 or missing``.

    ``values`` are the categories, and `MISSING_VALUE`, that rows can have there; by default all of
    the branch.
    """
    if values is None:
        values = branch_values(split, branch)
    categories = [value for value in values if value is not MISSING_VALUE]
    if split.kind == "threshold":
        text = _threshold_text(split, branch, column, decimals)
    elif split.kind == "intervals":
        text = _interval_text(split, branch, column, decimals)
    elif len(categories) == 1:
        text = f"{split.name} = {categories[0]}"
    else:
        listed = format_labels(categories, max_labels)
        text = f"{split.name} in {{{listed}}}" if categories else ""
    if not text:
        return f"{split.name} missing"
    return f"{text} or missing" if len(categories) < len(values) else text


def _threshold_text(split: Split, branch: int, column: Column, decimals: int) -> str:
    if branch == 2 or (branch == 1 and separates_missing(split)):
        return ""
    if separates_missing(split):
        return f"{split.name} known"
    threshold = format_threshold(split.threshold, column, decimals)
    return f"{split.name} {'<=' if branch == 0 else '>'} {threshold}"


def _interval_text(split: Split, branch: int, column: Column, decimals: int) -> str:
    if branch > len(split.thresholds):
        return ""
    ends = [format_threshold(value, column, decimals) for value in split.thresholds]
    if branch == 0:
        return f"{split.name} <= {ends[0]}"
    if branch == len(ends):
        return f"{split.name} > {ends[-1]}"
    return f"{ends[branch - 1]} < {split.name} <= {ends[branch]}"


def separates_missing(split: Split) -> bool:
    """Whether a split separates known values from missing ones and nothing else."""
    return split.kind == "threshold" and bool(split.threshold == np.inf)


def format_threshold(value: Any, column: Column, decimals: int) -> str:
    """Format a threshold: a number, a time or a category."""
    if column.temporal:
        return _format_time(value, column.dtype)
    if not isinstance(value, float) or column.categories:
        return str(value)
    if 1e6 <= abs(value) < _MAX_EXACT:  # six digits would hide part of the integer part
        return format_number(value, decimals)
    return f"{value:.{max(6, decimals)}g}"


def _format_time(ticks: int, dtype: str) -> str:
    """Format an instant or a duration, down to its last unit that is not zero."""
    if dtype.startswith("datetime"):
        return str(np.datetime_as_string(np.datetime64(ticks, "ns"), unit="auto"))
    unit, size = next((unit, size) for unit, size in _UNITS.items() if ticks % size == 0)
    return f"{ticks // size} {unit}"


def format_number(value: float, decimals: int) -> str:
    """Format a number with at most so many decimals, or more if it would read as zero."""
    text = f"{value:.{decimals}f}"
    if abs(value) >= _MAX_EXACT or (value != 0 and float(text) == 0):
        return f"{value:.{decimals + 1}g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_labels(labels: Sequence[Any], max_labels: int) -> str:
    """Join labels with commas, at most so many."""
    listed = ", ".join(str(label) for label in labels[:max_labels])
    n_hidden = len(labels) - max_labels
    return listed if n_hidden <= 0 else f"{listed}, ... {n_hidden} more"
