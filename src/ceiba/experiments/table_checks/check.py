"""Check a table: its columns, its target, and what would make results wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.experiments.table_checks.columns import check_columns, summarize_columns
from ceiba.experiments.table_checks.dependence import check_dependence
from ceiba.experiments.table_checks.duplicates import check_duplicate_columns, check_duplicate_rows
from ceiba.experiments.table_checks.prediction import (
    check_leakage,
    check_missingness,
    column_skills,
)
from ceiba.experiments.table_checks.result import Finding, TableChecks
from ceiba.experiments.table_checks.target import check_target, count_classes, read_target

# Values of the sample: 10,000 columns are checked on 2,000 rows.
_MAX_VALUES = 20_000_000
_MIN_ROWS = 1000


def check_table(
    X: Any,
    y: Any,
    *,
    task: Task | None = None,
    target_name: str = "y",
    max_rows: int = 20_000,
    seed: int = 0,
) -> TableChecks:
    """Check a table before anything is learned from it.

    The checks find missing values, constant columns and identifiers, columns and rows that occur
    twice, equal rows with different targets, a column that predicts the target alone and may be
    derived from it, columns that are missing because of the target, linear relations among numeric
    columns, and classes with too few rows. None of them changes the table.

    Parameters
    ----------
    X : array, frame, list or Table of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
        Classes or numbers; rows without one are left out, with a warning.
    task : {"classification", "regression"}, optional
        By default that of `infer_task`.
    target_name : str
        Name of the target in sentences.
    max_rows : int
        At least 100. Predictions by one column and linear dependence are checked on a sample of so
        many rows, and of fewer if the table has more than 1,000 columns; all else on all rows.
    seed : int
        Seed of the sample, and of the folds.

    Returns
    -------
    TableChecks

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> a, b = random.normal(size=(2, 60))
    >>> rows = np.stack([a, b, a + b, np.ones(60)], axis=1)
    >>> y = np.where(a + b + random.normal(size=60) > 0, "yes", "no")
    >>> print(check_table(rows, y))  # doctest: +ELLIPSIS
    60 rows, 4 columns (4 numeric); target 'y': classification, 2 classes
    note: Column 'x3' has one value in all rows, or none: leave out.
    note: Numeric columns are linearly dependent: x2 = x0 + x1. Leave one of them out...
    """
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 100:
        raise ValueError(f"max_rows must be an int >= 100, got {max_rows!r}.")
    table = Table.of(X, warn=False)
    known = read_target(y, len(table), task)
    n_rows = len(table)
    if known.n_missing:
        table = table.take(known.rows)
    columns = summarize_columns(table)
    classes = count_classes(known.target)
    findings: list[Finding] = [
        *check_target(known, classes, target_name, is_inferred=task is None),
        *check_columns(table, columns),
        *check_duplicate_columns(table, columns),
        *check_duplicate_rows(table, columns, known.target),
        *check_missingness(table, columns, known.target, target_name),
    ]
    size = min(max_rows, max(_MIN_ROWS, _MAX_VALUES // len(columns)))
    sample, target = table, known.target
    if len(table) > size:
        draw = np.random.default_rng([seed, 0]).choice(len(table), size, replace=False)
        rows = np.sort(draw)
        sample, target = table.take(rows), target.take(rows)
    skills = column_skills(sample, columns, target, seed)
    columns = [replace(column, skill=skill) for column, skill in zip(columns, skills, strict=True)]
    findings += check_leakage(columns, target_name)
    findings += check_dependence(sample, columns, target, target_name, seed)
    findings.sort(key=lambda finding: finding.severity != "warning")
    return TableChecks(
        target_name, known.task, n_rows, known.n_missing, tuple(columns), classes, tuple(findings),
        len(sample),
    )  # fmt: skip
