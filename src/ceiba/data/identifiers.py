"""Columns of text with a category for every row, or for every few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ceiba.data.schema import Column, Kind
from ceiba.data.warn import warn_user

# Up to this number, rows may all have different categories without being identifiers.
MAX_DISTINCT_ROWS = 20

# A column with more categories than the first and fewer rows per category than the second is warned
# of: the smallest expected count of the chi-square test, below which frequencies are mostly chance.
_MAX_UNWARNED_CATEGORIES, _MIN_ROWS_PER_CATEGORY = 10, 5


class IdentifierWarning(UserWarning):
    """A nominal column has a different category in every row, like an identifier."""


class ManyCategoriesWarning(UserWarning):
    """A nominal column has few rows per category."""


def mark_identifier(column: Column, n_values: int) -> Column:
    """Return a column of inferred kind, marked if each of its known values differs from the others.

    Learners leave a marked column out, because no category of it can occur again.
    """
    is_identifier = _is_text(column) and MAX_DISTINCT_ROWS < n_values <= len(column.categories)
    return replace(column, is_identifier=True) if is_identifier else column


def warn_categories(column: Column, n_values: int, remedy: str, where: str = "") -> None:
    """Warn of a column of inferred kind with one row or few rows per category."""
    prefix = f"{where}: column" if where else "Column"
    if column.is_identifier:
        warn_user(
            f"{prefix} {column.name!r} has a different category in every row, like an identifier: "
            f"learners leave it out. {remedy}",
            IdentifierWarning,
        )
        return
    if has_few_rows(column, n_values):
        warn_user(
            f"{prefix} {column.name!r} has {len(column.categories):,} categories for "
            f"{n_values:,} values, too few rows per category to learn from. {remedy}",
            ManyCategoriesWarning,
        )


def has_few_rows(column: Column, n_values: int) -> bool:
    """Return whether a column of text has too few rows per category to learn from."""
    n = len(column.categories)
    few_rows = MAX_DISTINCT_ROWS < n_values < _MIN_ROWS_PER_CATEGORY * n
    return _is_text(column) and n > _MAX_UNWARNED_CATEGORIES and few_rows


def _is_text(column: Column) -> bool:
    categories: Sequence[object] = column.categories
    return column.kind is Kind.NOMINAL and bool(categories) and isinstance(categories[0], str)
