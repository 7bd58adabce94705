"""What a rule asks of one column: an interval or some levels, and whether a gap will do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column
from ceiba.data.table import Table
from ceiba.tree.explain.conditions import listed_labels, number_words, threshold_words
from ceiba.tree.grow.encoding import NOMINAL, ORDINAL, ColumnTypes, column_arrays
from ceiba.tree.model.split import Split


@dataclass(frozen=True, slots=True)
class RuleCondition:
    """What a rule asks of one column.

    Parameters
    ----------
    place : int
        Number of the column.
    column : Column
    low, high : number, level or None
        Values above ``low`` and not above ``high``; None for no bound. Of numeric and ordinal
        columns.
    levels : tuple or None
        Levels of a nominal column; None for the others.
    known : bool
        Whether any value will do: without, only a gap does.
    gap : bool
        Whether a gap will do.
    """

    place: int
    column: Column
    low: Any = None
    high: Any = None
    levels: tuple[Any, ...] | None = None
    known: bool = True
    gap: bool = False

    @property
    def possible(self) -> bool:
        """Whether any row can meet it."""
        return self.known or self.gap

    @property
    def free(self) -> bool:
        """Whether every row meets it."""
        return self.gap and self._any_value

    @property
    def _any_value(self) -> bool:
        if self.levels is not None:
            return len(self.levels) == len(self.column.levels) > 0
        return self.known and self.low is None and self.high is None

    def both(self, other: RuleCondition) -> RuleCondition:
        """What meets this condition and another one of the same column."""
        gap = self.gap and other.gap
        if self.levels is not None:
            assert other.levels is not None
            kept = set(other.levels)
            levels = tuple(level for level in self.levels if level in kept)
            return replace(self, levels=levels, known=bool(levels), gap=gap)
        low = max(_given(self.low, other.low), key=self.code, default=None)
        high = min(_given(self.high, other.high), key=self.code, default=None)
        empty = low is not None and high is not None and self.code(low) >= self.code(high)
        known = self.known and other.known and not empty
        return replace(self, low=low, high=high, known=known, gap=gap)

    def parts(self) -> list[RuleCondition]:
        """What can be dropped by itself: the two ends of an interval are two conditions."""
        if self.low is None or self.high is None:
            return [self]
        return [replace(self, high=None), replace(self, low=None)]

    def code(self, value: Any) -> Any:
        """A bound as rows hold it: a level of an ordinal column is its number."""
        return self.column.levels.index(value) if self.column.levels else value

    def text(self, *, gaps: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """The condition in words: ``1 < width <= 3``, ``colour in {red, blue} or missing``."""
        name = self.column.name
        if not self.known:
            return f"{name} missing"
        if self._any_value:
            text = f"{name} known"
        elif self.levels is None:
            text = self._interval(name, decimals)
        elif len(self.levels) == 1:
            text = f"{name} = {self.levels[0]}"
        else:
            text = f"{name} in {{{listed_labels(self.levels, max_labels)}}}"
        return f"{text} or missing" if self.gap and gaps else text

    def _interval(self, name: str, decimals: int) -> str:
        low, high = (
            None if end is None else threshold_words(end, self.column, decimals)
            for end in (self.low, self.high)
        )
        if low is None:
            return f"{name} <= {high}"
        return f"{name} > {low}" if high is None else f"{low} < {name} <= {high}"

    def __str__(self) -> str:
        return self.text()


def branch_condition(split: Split, branch: int, column: Column, gap: bool) -> RuleCondition:
    """What leads to a branch; ``gap`` says whether rows without a value come there."""
    place = split.column
    if split.branches:
        levels = split.branches[branch]
        return RuleCondition(place, column, levels=levels, known=bool(levels), gap=gap)
    cuts = split.thresholds if split.kind == "intervals" else (split.threshold,)
    low = cuts[branch - 1] if 0 < branch <= len(cuts) else None
    high = cuts[branch] if branch < len(cuts) else None
    # An infinite threshold parts known values from gaps: no value lies above it.
    known = branch <= len(cuts) and not _infinite(low)
    return RuleCondition(
        place, column, None if _infinite(low) else low, None if _infinite(high) else high,
        known=known, gap=gap,
    )  # fmt: skip


def merged(conditions: Iterable[RuleCondition]) -> tuple[RuleCondition, ...]:
    """One condition a column, in the order of their first mention; those that ask nothing go."""
    found: dict[int, RuleCondition] = {}
    for condition in conditions:
        before = found.get(condition.place)
        found[condition.place] = condition if before is None else before.both(condition)
    return tuple(condition for condition in found.values() if not condition.free)


class Cells:
    """The values of a table as conditions compare them.

    Parameters
    ----------
    table : Table
        Under the schema of the tree.
    types : ColumnTypes
        Those of the tree.
    """

    __slots__ = ("_arrays", "_gaps", "_masks", "_types")

    def __init__(self, table: Table, types: ColumnTypes) -> None:
        self._arrays, self._masks = column_arrays(table, types)
        self._types = types.types
        self._gaps: dict[int, Array] = {}

    def meet(self, condition: RuleCondition, rows: Any = slice(None)) -> Array:
        """Which of some rows meet a condition."""
        j = condition.place
        if j not in self._gaps:
            self._prepare(j)
        gaps = self._gaps[j][rows]
        if not condition.known:
            return np.asarray(gaps & condition.gap)
        met = self._known(condition, self._arrays[j][rows])
        return np.where(gaps, condition.gap, met)

    def _known(self, condition: RuleCondition, values: Array) -> Array:
        if condition.levels is not None:
            inside = np.zeros(len(condition.column.levels) + 1, bool)  # the last is a gap's
            inside[[condition.code(level) for level in condition.levels]] = True
            met: Array = inside[values]
            return met
        met = np.ones(len(values), bool)
        if condition.low is not None:
            met &= values > condition.code(condition.low)
        if condition.high is not None:
            met &= values <= condition.code(condition.high)
        return met

    def _prepare(self, j: int) -> None:
        array, mask = self._arrays[j], self._masks[j]
        if self._types[j] in (ORDINAL, NOMINAL):
            mask = array < 0
        elif array.dtype.kind == "f":
            # A threshold beside float32 would be rounded to float32 itself.
            array = array.astype(np.float64, copy=False)
            mask = np.isnan(array)
        self._arrays[j] = array
        self._gaps[j] = np.zeros(len(array), bool) if mask is None else mask


def _given(*bounds: Any) -> list[Any]:
    return [bound for bound in bounds if bound is not None]


def _infinite(threshold: Any) -> bool:
    return isinstance(threshold, float) and threshold == np.inf


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this prediction.

    Parameters
    ----------
    conditions : tuple of RuleCondition
        Empty where the rule asks nothing.
    prediction : label or float
    rows, weight : int and float
        Training rows that the rule covers, and their weight.
    class_weights : tuple of float or None
        Weight of each class among them; None for numbers.
    confidence : float or None
        Probability of the predicted class; None for numbers.
    class_number : int or None
        Number of the predicted class; None for numbers.
    node : int
        The leaf that it comes from; -1 for none.
    estimate : float or None
        Pessimistic error rate, where conditions were dropped by it.
    """

    conditions: tuple[RuleCondition, ...]
    prediction: Any
    rows: int
    weight: float
    class_weights: tuple[float, ...] | None = None
    confidence: float | None = None
    class_number: int | None = None
    node: int = -1
    estimate: float | None = None

    def text(self, *, gaps: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """The rule in words; options as in `ceiba.tree.explain.rule_list.RuleList.to_text`."""
        words = [
            condition.text(gaps=gaps, max_labels=max_labels, decimals=decimals)
            for condition in self.conditions
        ]
        if len(words) > 1:
            words = [f"({word})" if word.endswith(" or missing") else word for word in words]
        lead = f"if {' and '.join(words)} then" if words else "always"
        return f"{lead} {self.result(decimals)}"

    def result(self, decimals: int) -> str:
        """What follows: ``yes (12 rows, p = 0.92)``."""
        rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        if self.weight != self.rows:
            rows += f" of weight {number_words(self.weight, decimals)}"
        if self.confidence is None:
            return f"{number_words(self.prediction, decimals)} ({rows})"
        return f"{self.prediction} ({rows}, p = {number_words(self.confidence, decimals)})"

    def __str__(self) -> str:
        return self.text()
