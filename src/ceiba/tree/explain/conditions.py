"""Conditions on single columns: of the branches of a tree, and of rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import ColumnTypes, column_arrays, observed_mask
from ceiba.tree.model.split import Split, split_thresholds

# Stands for a missing value among the categories of a branch.
MISSING_VALUE = object()
_UNITS = {"d": 86_400 * 10**9, "h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6}
_UNITS |= {"us": 10**3, "ns": 1}
# Below this, fixed decimals show the integer part of a float exactly.
_MAX_EXACT = 1e16


@dataclass(frozen=True, slots=True)
class RuleCondition:
    """A condition on one column: an interval or a set of categories.

    Parameters
    ----------
    column_index : int
    column : Column
    low, high : number, category or None
        Interval ``low < value <= high`` of a numeric or ordinal column; None for no bound.
    categories : tuple or None
        Categories of a nominal column; None for other columns.
    known : bool
        Whether any known value satisfies it; if not, only a missing value does.
    missing : bool
        Whether a missing value satisfies it.
    """

    column_index: int
    column: Column
    low: Any = None
    high: Any = None
    categories: tuple[Any, ...] | None = None
    known: bool = True
    missing: bool = False

    @property
    def is_satisfiable(self) -> bool:
        """Whether some value satisfies it."""
        return self.known or self.missing

    @property
    def is_trivial(self) -> bool:
        """Whether every value satisfies it."""
        return self.missing and self._takes_any_known

    @property
    def _takes_any_known(self) -> bool:
        if self.categories is not None:
            return len(self.categories) == len(self.column.categories) > 0
        return self.known and self.low is None and self.high is None

    def intersect(self, other: RuleCondition) -> RuleCondition:
        """Combine this condition with another one on the same column."""
        missing = self.missing and other.missing
        if self.categories is not None:
            assert other.categories is not None
            allowed = set(other.categories)
            common = tuple(category for category in self.categories if category in allowed)
            return replace(self, categories=common, known=bool(common), missing=missing)
        low = max(_not_none(self.low, other.low), key=self.encode, default=None)
        high = min(_not_none(self.high, other.high), key=self.encode, default=None)
        empty = low is not None and high is not None and self.encode(low) >= self.encode(high)
        known = self.known and other.known and not empty
        return replace(self, low=low, high=high, known=known, missing=missing)

    def parts(self) -> list[RuleCondition]:
        """Split an interval into its two ends, each of which can be dropped alone."""
        if self.low is None or self.high is None:
            return [self]
        return [replace(self, high=None), replace(self, low=None)]

    def encode(self, value: Any) -> Any:
        """Return a bound as rows are encoded: a category as its index."""
        return self.column.categories.index(value) if self.column.categories else value

    def to_text(self, *, show_missing: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """Format the condition: ``1 < width <= 3``, ``color in {red, blue} or missing``."""
        name = self.column.name
        if not self.known:
            return f"{name} missing"
        if self._takes_any_known:
            text = f"{name} known"
        elif self.categories is None:
            text = self._interval_text(name, decimals)
        else:
            text = _categories_text(name, self.categories, max_labels)
        return f"{text} or missing" if self.missing and show_missing else text

    def satisfied_by(self, values: Array) -> Array:
        """Return which known values, or codes of categories, satisfy the condition."""
        if self.categories is not None:
            allowed = np.zeros(len(self.column.categories) + 1, bool)  # -1: missing
            allowed[[self.encode(category) for category in self.categories]] = True
            return np.asarray(allowed[values])
        satisfied = np.ones(len(values), bool)
        if self.low is not None:
            satisfied &= values > _comparable(self.encode(self.low), values)
        if self.high is not None:
            satisfied &= values <= _comparable(self.encode(self.high), values)
        return satisfied

    def _interval_text(self, name: str, decimals: int) -> str:
        low, high = (
            None if end is None else format_threshold(end, self.column, decimals)
            for end in (self.low, self.high)
        )
        if low is None:
            return f"{name} <= {high}"
        return f"{name} > {low}" if high is None else f"{low} < {name} <= {high}"

    def __str__(self) -> str:
        return self.to_text()


def _comparable(bound: Any, values: Array) -> Any:
    """Return a bound that values are above exactly if they are above the given one.

    NumPy would round an integer beside floats: the largest float up to it separates them alike.
    """
    if values.dtype.kind != "f" or not isinstance(bound, int):
        return bound
    return largest_float(bound)


def largest_float(bound: Any) -> float:
    """Return the largest float up to a number, which may be an integer beyond 2^53."""
    rounded = float(bound)
    is_above = isinstance(bound, int) and int(rounded) > bound
    return float(np.nextafter(rounded, -np.inf)) if is_above else rounded


def _not_none(*bounds: Any) -> list[Any]:
    return [bound for bound in bounds if bound is not None]


def branch_condition(split: Split, branch: int, column: Column, missing: bool) -> RuleCondition:
    """Return the condition of a branch; ``missing``: missing values go there."""
    if split.branches:
        own = split.branches[branch]
        return RuleCondition(split.column, column, categories=own, known=bool(own), missing=missing)
    thresholds = split_thresholds(split)
    low = thresholds[branch - 1] if 0 < branch <= len(thresholds) else None
    high = thresholds[branch] if branch < len(thresholds) else None
    # An infinite threshold separates known values from missing ones: no value is above it.
    known = branch <= len(thresholds) and not _is_infinite(low)
    low, high = (None if _is_infinite(end) else end for end in (low, high))
    return RuleCondition(split.column, column, low, high, known=known, missing=missing)


def _is_infinite(threshold: Any) -> bool:
    return isinstance(threshold, float) and threshold == np.inf


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
    condition = branch_condition(split, branch, column, missing=False)
    if not (categories if split.branches else condition.known):
        return f"{split.name} missing"
    if split.branches:
        text = _categories_text(split.name, categories, max_labels)
    else:
        text = condition.to_text(decimals=decimals)
    return f"{text} or missing" if len(categories) < len(values) else text


def merge_conditions(conditions: Iterable[RuleCondition]) -> tuple[RuleCondition, ...]:
    """Combine conditions into one for each column, without trivial ones."""
    by_column: dict[int, RuleCondition] = {}
    for condition in conditions:
        previous = by_column.get(condition.column_index)
        combined = condition if previous is None else previous.intersect(condition)
        by_column[condition.column_index] = combined
    return tuple(condition for condition in by_column.values() if not condition.is_trivial)


class ConditionEvaluator:
    """Evaluate conditions on the rows of a table under the schema of the tree."""

    def __init__(self, table: Table, types: ColumnTypes) -> None:
        self._types = types.types
        self._arrays, self._masks = column_arrays(table, types)
        self._columns: dict[int, tuple[Array, Array]] = {}

    def satisfied(self, condition: RuleCondition, rows: Any = slice(None)) -> Array:
        """Return which of some rows satisfy a condition."""
        values, known = (array[rows] for array in self._column(condition.column_index))
        if not condition.known:
            return np.asarray(~known & condition.missing)
        return np.where(known, condition.satisfied_by(values), condition.missing)

    def _column(self, j: int) -> tuple[Array, Array]:
        """Return the values of a column, and the mask of the known ones."""
        if j not in self._columns:
            array = self._arrays[j]
            if array.dtype.kind == "f":
                # Beside a float32 array a threshold would itself be rounded to float32.
                array = array.astype(np.float64, copy=False)
            self._columns[j] = array, observed_mask(self._types[j], array, self._masks[j])
        return self._columns[j]


def format_threshold(value: Any, column: Column, decimals: int) -> str:
    """Format a threshold: a number, a time or a category."""
    if column.temporal:
        return _format_time(value, column.dtype)
    if not isinstance(value, float) or column.categories:
        return str(value)
    if "int" in column.dtype:  # a multiple of one half, shown exactly
        return f"{value:.1f}"
    if 1e6 <= abs(value) < _MAX_EXACT:  # six digits would hide part of the integer part
        return format_decimals(value, decimals)
    return f"{value:.{max(6, decimals)}g}"


def _format_time(ticks: int, dtype: str) -> str:
    """Format an instant or a duration, down to its last unit that is not zero."""
    if dtype.startswith("datetime"):
        return str(np.datetime_as_string(np.datetime64(ticks, "ns"), unit="auto"))
    unit, size = next((unit, size) for unit, size in _UNITS.items() if ticks % size == 0)
    return f"{ticks // size} {unit}"


def format_decimals(value: float, decimals: int) -> str:
    """Format a number with at most so many decimals, or more if it would read as zero."""
    text = f"{value:.{decimals}f}"
    if abs(value) >= _MAX_EXACT or (value != 0 and float(text) == 0):
        return f"{value:.{decimals + 1}g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _categories_text(name: str, categories: Sequence[Any], max_labels: int) -> str:
    """Format a set of categories, with at most so many of them."""
    if len(categories) == 1:
        return f"{name} = {categories[0]}"
    listed = ", ".join(str(category) for category in categories[:max_labels])
    n_hidden = len(categories) - max_labels
    return f"{name} in {{{listed}{f', ... {n_hidden} more' if n_hidden > 0 else ''}}}"
