"""Columns and rows that occur more than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.experiments.table_checks.columns import numeric_column
from ceiba.experiments.table_checks.result import ColumnSummary, Finding, count_text, listed

_MAX_FINDINGS = 10
_MAX_EXACT = 2.0**53  # larger whole numbers are rounded as float64
# A column with more different numbers makes equal rows improbable.
_MANY_VALUES = 20
_MAX_REPEATED = 0.01  # share of such rows, before it is a warning
_MAX_CONFLICT = 0.05  # share of rows that no learner can predict, before it is a warning


def check_duplicate_columns(table: Table, columns: Sequence[ColumnSummary]) -> Iterator[Finding]:
    """Yield groups of columns with the same values, or with categories that differ in name only."""
    groups: dict[bytes, list[str]] = {}
    for j, column in enumerate(columns):
        if column.n_distinct > 1 and not column.is_identifier:
            key = blake2b(_comparable(table, j).tobytes(), digest_size=16).digest()
            groups.setdefault(key, []).append(column.name)
    repeated = [names for names in groups.values() if len(names) > 1]
    for names in repeated[:_MAX_FINDINGS]:
        yield Finding(
            "duplicate_columns", "note", tuple(names),
            f"Columns {listed(names)} have the same values in all rows, up to the names of "
            "categories: keep one.",
        )  # fmt: skip
    if len(repeated) > _MAX_FINDINGS:
        others = [name for names in repeated[_MAX_FINDINGS:] for name in names]
        yield Finding(
            "duplicate_columns", "note", tuple(others),
            f"{len(repeated) - _MAX_FINDINGS:,} more groups of columns have the same values: "
            f"{listed(others)}.",
        )  # fmt: skip


def _comparable(table: Table, j: int) -> Array:
    """Return values that are equal bytes for equal columns."""
    values = table.column(j)
    if table.schema[j].kind is not Kind.NUMERIC:
        # Codes in order of their first row: names of categories do not matter.
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        ranks = np.empty(len(first), np.int64)
        ranks[np.argsort(first)] = np.arange(len(first))
        codes = ranks[inverse]
        codes[values < 0] = -1
        return codes
    if values.dtype.kind != "f" and len(values) and np.abs(values.astype(float)).max() > _MAX_EXACT:
        return np.ascontiguousarray(values)
    numbers = numeric_column(table, j) + 0.0  # 0.0 for -0.0
    numbers[np.isnan(numbers)] = np.nan  # one of the many NaN
    return numbers


def check_duplicate_rows(
    table: Table, columns: Sequence[ColumnSummary], target: Target
) -> Iterator[Finding]:
    """Yield the numbers of rows that repeat another, with the same or another target."""
    used = [j for j, column in enumerate(columns) if not column.is_identifier]
    if not used:
        return
    group = np.unique(_row_hashes(table, used), return_inverse=True)[1]
    n, n_groups = len(table), int(group.max()) + 1
    if n_groups == n:
        return
    codes = np.unique(target.values, return_inverse=True)[1]
    pairs, counts = np.unique(np.stack([group, codes]), axis=1, return_counts=True)
    n_repeated = n - len(counts)
    ignored = [column.name for column in columns if column.is_identifier]
    apart = f" apart from {listed(ignored)}" if ignored else ""
    has_many_values = any(columns[j].n_distinct > _MANY_VALUES for j in used)
    is_suspect = has_many_values and n_repeated >= _MAX_REPEATED * n
    if n_repeated:
        yield Finding(
            "duplicate_rows", "warning" if is_suspect else "note", (),
            f"{count_text(n_repeated, 'row')} ({n_repeated / n:.1%}) "
            f"{'repeats' if n_repeated == 1 else 'repeat'} another row and its target{apart}: if "
            "they are copies, remove them, since copies of training rows would be tested.",
        )  # fmt: skip
    largest = np.zeros(n_groups, np.int64)
    np.maximum.at(largest, pairs[0], counts)
    n_lost = n - int(largest.sum())
    if n_lost:
        conflicting = np.bincount(pairs[0])[group] > 1
        text = (
            f"{count_text(int(conflicting.sum()), 'row')} ({conflicting.mean():.1%}) have equal "
            f"columns{apart} and different targets"
        )
        is_large = False
        if target.classes is not None:
            is_large = n_lost > _MAX_CONFLICT * n
            text += f": no learner can have an accuracy above {1 - n_lost / n:.3f} on all rows"
            text += " without them" if ignored else ""
        text += ". Correct them, or add a column that separates them."
        yield Finding("conflicting_rows", "warning" if is_large else "note", (), text)


def _row_hashes(table: Table, used: Sequence[int]) -> Array:
    """Return a 64-bit hash of every row; of a million rows two collide with probability 3e-8."""
    hashes = np.full(len(table), 0x9E3779B97F4A7C15, np.uint64)
    for j in used:
        values = _comparable(table, j)
        hashes = _mix(hashes ^ _mix(values.view(np.uint64) + np.uint64(j)))
    return hashes


def _mix(bits: Array) -> Array:
    """Spread every bit over all bits (the finalizer of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = bits ^ (bits >> np.uint64(31))
    return mixed
