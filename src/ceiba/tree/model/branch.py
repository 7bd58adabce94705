"""Find the branch of a node that a single value takes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ceiba.tree.model.split import Split, Surrogate

if TYPE_CHECKING:
    from ceiba.data.schema import Schema


def split_thresholds(split: Split) -> tuple[Any, ...]:
    """Return the thresholds of a numeric or ordinal split, ascending."""
    return split.thresholds if split.kind == "intervals" else (split.threshold,)


def branch_of(split: Split, value: Any, schema: Schema) -> int:
    """Return the branch that a number, or the code of a category, takes."""
    categories = schema[split.column].categories
    if split.branches:
        found = _group_of(split.branches, categories[value])
        return split.missing_branch if found is None else found
    return bisect_left([_code(t, categories) for t in split_thresholds(split)], value)


def surrogate_branch_of(surrogate: Surrogate, value: Any, schema: Schema) -> int | None:
    """Return the branch that a surrogate assigns; None for an unseen category."""
    categories = schema[surrogate.column].categories
    if surrogate.branches:
        return _group_of(surrogate.branches, categories[value])
    return int((value > _code(surrogate.threshold, categories)) != surrogate.flipped)


def _group_of(branches: Sequence[Sequence[Any]], category: Any) -> int | None:
    return next((b for b, group in enumerate(branches) if category in group), None)


def _code(threshold: Any, categories: Sequence[Any]) -> Any:
    """Return a threshold in the units of values: of ordinal columns the code.

    A threshold of infinity, which separates observed from missing values, is no category.
    """
    return categories.index(threshold) if threshold in categories else threshold
