"""Conditions of branches and rules as expressions of a language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba.data.schema import Column, Kind
from ceiba.tree.explain.conditions import RuleCondition, branch_condition
from ceiba.tree.model.split import Surrogate
from ceiba.tree.model.tree import Tree


class Language:
    """Expressions of one language; its subclasses have the operators."""

    and_word: str
    or_word: str
    true: str
    false: str

    def compare(self, index: int, column: Column, operator: str, number: Any) -> str:
        """Return a comparison of a column with a number, which is false for a missing value."""
        raise NotImplementedError

    def is_missing(self, index: int, column: Column) -> str:
        """Return whether a number is missing."""
        raise NotImplementedError

    def is_known(self, index: int, column: Column) -> str:
        """Return whether a number is known."""
        raise NotImplementedError

    def is_member(
        self, index: int, column: Column, categories: Sequence[Any], negated: bool
    ) -> str:
        """Return a membership test; a missing value is in no set."""
        raise NotImplementedError

    def conditional(self, cases: Sequence[tuple[str, str]], default: str) -> str:
        """Return the second expression of the first case whose first one is true."""
        raise NotImplementedError

    def condition(self, condition: RuleCondition) -> str:
        """Return a condition of a branch or a rule."""
        index, column = condition.column_index, condition.column
        categories = _categories(condition)
        if categories is not None:
            return self._set_condition(index, column, categories, condition.missing)
        tests = []
        if condition.low is not None:
            tests.append(self.compare(index, column, ">", condition.low))
        if condition.high is not None:
            tests.append(self.compare(index, column, "<=", condition.high))
        if not condition.known:
            return self.is_missing(index, column) if condition.missing else self.false
        if not tests:
            return self.true if condition.missing else self.is_known(index, column)
        if not condition.missing:
            return self.all_of(tests)
        return f"({self.all_of(tests)} {self.or_word} {self.is_missing(index, column)})"

    def _set_condition(
        self, index: int, column: Column, categories: Sequence[Any], missing: bool
    ) -> str:
        if missing:
            others = [category for category in column.categories if category not in categories]
            return self.is_member(index, column, others, True) if others else self.true
        return self.is_member(index, column, categories, False) if categories else self.false

    def all_of(self, tests: Sequence[str]) -> str:
        """Return the conjunction of some expressions."""
        if len(tests) == 1:
            return tests[0]
        return f"({f' {self.and_word} '.join(tests)})" if tests else self.true


def _categories(condition: RuleCondition) -> tuple[Any, ...] | None:
    """Return the categories that satisfy a condition; None for a numeric column."""
    column = condition.column
    if column.kind is not Kind.ORDINAL:
        return condition.categories
    if not condition.known:
        return ()
    first = 0 if condition.low is None else condition.encode(condition.low) + 1
    last = (
        len(column.categories) - 1 if condition.high is None else condition.encode(condition.high)
    )
    return column.categories[first : last + 1]


class NodeTests:
    """Expressions of an inner node: whether a row has a value with a branch, and which one.

    ``columns`` are the indices of the tree's columns among those of the model.
    """

    def __init__(self, language: Language, tree: Tree, node: int, columns: Sequence[int]) -> None:
        self._language, self._tree, self._node, self._columns = language, tree, node, columns
        self._split = tree.split(node)
        self._column = tree.schema[self._split.column]

    @property
    def has_branch(self) -> str:
        """Whether a row has a value that belongs to one of the branches."""
        return _has_branch(self._language, self._index, self._column, self._split.branches)

    def taken_by_value(self, branch: int) -> str:
        """Return whether a row takes a branch by its value, not as a missing one."""
        return self._language.condition(self._condition(branch))

    def taken(self, branch: int) -> str:
        """Return whether a row takes a branch, with the rule for missing values."""
        is_default = branch == self._split.missing_branch
        if self._tree.missing != "surrogate":
            condition = replace(self._condition(branch), missing=is_default)
            return self._language.condition(condition)
        cases = [(self.has_branch, self.taken_by_value(branch))]
        for surrogate in self._tree.surrogates_of(self._node):
            index, column = self._columns[surrogate.column], self._tree.schema[surrogate.column]
            has_branch = _has_branch(self._language, index, column, surrogate.branches)
            condition = _surrogate_conditions(surrogate, index, column)[branch]
            cases.append((has_branch, self._language.condition(condition)))
        return self._language.conditional(
            cases, self._language.true if is_default else self._language.false
        )

    @property
    def _index(self) -> int:
        return self._columns[self._split.column]

    def _condition(self, branch: int) -> RuleCondition:
        condition = branch_condition(self._split, branch, self._column, False)
        return replace(condition, column_index=self._index)


def _has_branch(
    language: Language, index: int, column: Column, branches: Sequence[Sequence[Any]]
) -> str:
    """Return whether a number is known, or a category is in one of the branches."""
    if not branches:
        return language.condition(RuleCondition(index, column))
    groups = [category for group in branches for category in group]
    return language.is_member(index, column, groups, False) if groups else language.false


def _surrogate_conditions(
    surrogate: Surrogate, index: int, column: Column
) -> tuple[RuleCondition, RuleCondition]:
    if surrogate.branches:
        first, second = (
            RuleCondition(index, column, categories=group, known=bool(group))
            for group in surrogate.branches
        )
        return first, second
    if surrogate.threshold == np.inf:  # known values are all on one side
        low, high = RuleCondition(index, column), RuleCondition(index, column, known=False)
    else:
        low = RuleCondition(index, column, high=surrogate.threshold)
        high = RuleCondition(index, column, low=surrogate.threshold)
    return (high, low) if surrogate.flipped else (low, high)
