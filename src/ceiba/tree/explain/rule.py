"""If-then rules: conditions on single columns, and a prediction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.data.schema import Column
from ceiba.data.table import Table
from ceiba.tree.explain.conditions import format_labels, format_number, format_threshold
from ceiba.tree.explain.text import rows_text
from ceiba.tree.grow.encoding import ColumnTypes, column_arrays
from ceiba.tree.model.split import Split


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
        elif len(self.categories) == 1:
            text = f"{name} = {self.categories[0]}"
        else:
            text = f"{name} in {{{format_labels(self.categories, max_labels)}}}"
        return f"{text} or missing" if self.missing and show_missing else text

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


def _not_none(*bounds: Any) -> list[Any]:
    return [bound for bound in bounds if bound is not None]


def branch_condition(split: Split, branch: int, column: Column, missing: bool) -> RuleCondition:
    """Return the condition of a branch; ``missing``: missing values go there."""
    index = split.column
    if split.branches:
        categories = split.branches[branch]
        return RuleCondition(
            index, column, categories=categories, known=bool(categories), missing=missing
        )
    thresholds = split.thresholds if split.kind == "intervals" else (split.threshold,)
    low = thresholds[branch - 1] if 0 < branch <= len(thresholds) else None
    high = thresholds[branch] if branch < len(thresholds) else None
    # An infinite threshold separates known values from missing ones: no value is above it.
    known = branch <= len(thresholds) and not _is_infinite(low)
    low, high = (None if _is_infinite(end) else end for end in (low, high))
    return RuleCondition(index, column, low, high, known=known, missing=missing)


def _is_infinite(threshold: Any) -> bool:
    return isinstance(threshold, float) and threshold == np.inf


def merge_conditions(conditions: Iterable[RuleCondition]) -> tuple[RuleCondition, ...]:
    """Combine conditions into one for each column, without trivial ones."""
    by_column: dict[int, RuleCondition] = {}
    for condition in conditions:
        previous = by_column.get(condition.column_index)
        combined = condition if previous is None else previous.intersect(condition)
        by_column[condition.column_index] = combined
    return tuple(condition for condition in by_column.values() if not condition.is_trivial)


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this prediction.

    Parameters
    ----------
    conditions : tuple of RuleCondition
        Empty for a rule that covers every row.
    prediction : label or float
    n_rows, weight : int and float
        Training rows that the rule covers, and their weight.
    class_weights : tuple of float or None
        Weight of each class among them; None for regression.
    confidence : float or None
        Probability of the predicted class; None for regression.
    class_index : int or None
        Index of the predicted class; None for regression.
    node : int
        Leaf that the rule comes from; -1 for none.
    pessimistic_error : float or None
        Pessimistic error rate, if conditions were dropped by it.
    """

    conditions: tuple[RuleCondition, ...]
    prediction: Any
    n_rows: int
    weight: float
    class_weights: tuple[float, ...] | None = None
    confidence: float | None = None
    class_index: int | None = None
    node: int = -1
    pessimistic_error: float | None = None

    def to_text(self, *, show_missing: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """Format the rule; options as in `ceiba.tree.explain.rule_list.RuleList.to_text`."""
        texts = [
            condition.to_text(show_missing=show_missing, max_labels=max_labels, decimals=decimals)
            for condition in self.conditions
        ]
        if len(texts) > 1:
            texts = [f"({text})" if text.endswith(" or missing") else text for text in texts]
        lead = f"if {' and '.join(texts)} then" if texts else "always"
        return f"{lead} {self.prediction_text(decimals)}"

    def prediction_text(self, decimals: int) -> str:
        """Format the prediction: ``yes (12 rows, p = 0.92)``."""
        rows = rows_text(self.n_rows, self.weight, decimals)
        if self.confidence is None:
            return f"{format_number(self.prediction, decimals)} ({rows})"
        return f"{self.prediction} ({rows}, p = {format_number(self.confidence, decimals)})"

    def __str__(self) -> str:
        return self.to_text()


class ConditionEvaluator:
    """Evaluate conditions on the rows of a table under the schema of the tree."""

    __slots__ = ("_arrays", "_masks", "_missing", "_types")

    def __init__(self, table: Table, types: ColumnTypes) -> None:
        self._arrays, self._masks = column_arrays(table, types)
        self._types = types.types
        self._missing: dict[int, Array] = {}

    def satisfied(self, condition: RuleCondition, rows: Any = slice(None)) -> Array:
        """Return which of some rows satisfy a condition."""
        j = condition.column_index
        if j not in self._missing:
            self._prepare_column(j)
        missing = self._missing[j][rows]
        if not condition.known:
            return np.asarray(missing & condition.missing)
        satisfied = self._satisfied_known(condition, self._arrays[j][rows])
        return np.where(missing, condition.missing, satisfied)

    def _satisfied_known(self, condition: RuleCondition, values: Array) -> Array:
        if condition.categories is not None:
            allowed = np.zeros(len(condition.column.categories) + 1, bool)  # -1: missing
            allowed[[condition.encode(category) for category in condition.categories]] = True
            return np.asarray(allowed[values])
        satisfied = np.ones(len(values), bool)
        if condition.low is not None:
            satisfied &= values > condition.encode(condition.low)
        if condition.high is not None:
            satisfied &= values <= condition.encode(condition.high)
        return satisfied

    def _prepare_column(self, j: int) -> None:
        array, mask = self._arrays[j], self._masks[j]
        if self._types[j] in (ColumnType.ORDINAL, ColumnType.NOMINAL):
            mask = array < 0
        elif array.dtype.kind == "f":
            # Beside a float32 array a threshold would itself be rounded to float32.
            array = array.astype(np.float64, copy=False)
            mask = np.isnan(array)
        self._arrays[j] = array
        self._missing[j] = np.zeros(len(array), bool) if mask is None else mask
