"""Columns that predict the target alone, by their values or by which of them are missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from scipy.special import chdtrc, ndtr
from scipy.stats import rankdata

from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.engine.local import effective_threads, run_tasks
from ceiba.experiments.protocols import KFold, Split
from ceiba.experiments.table_checks.columns import is_infinite
from ceiba.experiments.table_checks.result import ColumnSummary, Finding, listed, quoted
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor

# Above this share of the errors avoided, a column may be a copy of the target. The best column of
# iris, petal width, has 0.93, and odor of mushrooms 0.97.
MIN_SUSPECT_SKILL = 0.98
# Fewer errors of the most frequent class than this can be avoided by chance.
_MIN_ERRORS = 10
# Up to this number of columns all are cross-validated; of more only those that are good in the
# first fold.
_MAX_COLUMNS = 300
_MIN_FIRST_SKILL = 0.9
_N_FOLDS = 3
_MIN_DEPTH, _REGRESSION_DEPTH = 3, 6
_MAX_FINDINGS = 10
# Of missingness: the correlation (Cramér's V) that is reported, and the p-value, which is divided
# by the number of columns.
_MIN_ASSOCIATION, _MAX_P = 0.3, 0.001
_MIN_MISSING = 10


def column_skills(
    table: Table, columns: Sequence[ColumnSummary], target: Target, seed: int
) -> list[float | None]:
    """Compute how well a small tree of each column alone predicts the target.

    The skill is the share of the errors of the most frequent class that the tree avoids in
    cross-validation. The numbers of a regression are replaced by their ranks, so that neither scale
    nor extreme values matter, and the skill is R².
    """
    y = target.values if target.classes is not None else rankdata(target.values)
    if not _is_predictable(y, target):
        return [None] * len(columns)
    used = [
        j
        for j, column in enumerate(columns)
        if column.n_distinct > 1 and not column.is_identifier and not is_infinite(table, j)
    ]
    splits = _splits(y, target, seed)
    first = splits if len(used) <= _MAX_COLUMNS else splits[:1]
    compute = partial(_skill, table, y, target)
    threads = effective_threads(None)
    skills = dict(zip(used, run_tasks(partial(compute, splits=first), used, threads), strict=True))
    if len(first) < len(splits):
        good = [j for j in used if skills[j] >= _MIN_FIRST_SKILL]
        complete = run_tasks(partial(compute, splits=splits), good, threads)
        skills = dict(zip(good, complete, strict=True))
    return [skills.get(j) for j in range(len(columns))]


def _is_predictable(y: Array, target: Target) -> bool:
    """Return whether there are enough rows, and errors to avoid."""
    if target.classes is None:
        return len(y) >= 2 * _MIN_ERRORS and bool(np.ptp(y) > 0)
    return len(y) - int(np.bincount(y).max()) >= _MIN_ERRORS


def _splits(y: Array, target: Target, seed: int) -> list[Split]:
    stratified = target.classes is not None and int(np.bincount(y).min()) >= _N_FOLDS
    return KFold(_N_FOLDS, stratified=stratified, random_state=seed).splits(y)


def _skill(table: Table, y: Array, target: Target, j: int, *, splits: Sequence[Split]) -> float:
    """Return the share of the errors that a tree of column ``j`` avoids in the folds."""
    column = _one_column(table, j)
    n_classes = 0 if target.classes is None else len(target.classes)
    error = baseline = 0.0
    for split in splits:
        own, other = y[split.train], y[split.test]
        train, test = column.take(split.train), column.take(split.test)
        if n_classes:
            depth = max(_MIN_DEPTH, math.ceil(math.log2(n_classes)) + 1)
            classifier = DecisionTreeClassifier(max_depth=depth, n_jobs=1).fit(train, own)
            error += float((classifier.predict(test) != other).sum())
            baseline += float((other != np.bincount(own).argmax()).sum())
        else:
            regressor = DecisionTreeRegressor(max_depth=_REGRESSION_DEPTH, n_jobs=1).fit(train, own)
            error += float(((regressor.predict(test) - other) ** 2).sum())
            baseline += float(((other - own.mean()) ** 2).sum())
    return 1 - error / baseline if baseline else 0.0


def _one_column(table: Table, j: int) -> Table:
    """Return the table of one column; by name it would take seconds for 10,000 columns."""
    missing = table.missing_mask(j)
    masks = {} if missing is None else {0: missing}
    return Table.from_columns([table.column(j)], Schema((table.schema[j],)), masks)


def check_leakage(columns: Sequence[ColumnSummary], target_name: str) -> Iterator[Finding]:
    """Yield columns that predict the target nearly without error."""
    suspects = [column for column in columns if (column.skill or 0) >= MIN_SUSPECT_SKILL]
    for column in suspects[:_MAX_FINDINGS]:
        yield Finding(
            "leakage", "warning", (column.name,),
            f"Column {quoted(column.name)} alone predicts {quoted(target_name)} nearly without "
            f"error (skill {column.skill:.3f} of a small tree in cross-validation). It may be "
            "derived from the target or measured after it: keep it only if new rows will have it "
            "before their target is known.",
        )  # fmt: skip
    if others := [column.name for column in suspects[_MAX_FINDINGS:]]:
        yield Finding(
            "leakage", "warning", tuple(others),
            f"{len(others):,} more columns predict {quoted(target_name)} alone: {listed(others)}.",
        )  # fmt: skip


def check_missingness(
    table: Table, columns: Sequence[ColumnSummary], target: Target, target_name: str
) -> Iterator[Finding]:
    """Yield columns whose missing values are frequent where the target has certain values."""
    n = len(table)
    used = [
        j for j, c in enumerate(columns) if _MIN_MISSING <= c.n_missing <= n - _MIN_MISSING
    ]  # fmt: skip
    groups: dict[bytes, list[int]] = {}
    for j in used:
        groups.setdefault(np.packbits(_mask(table, j)).tobytes(), []).append(j)
    ranks = rankdata(target.values) if target.classes is None else np.empty(0)
    for group in groups.values():
        mask = _mask(table, group[0])
        association, p_value = (
            _rank_correlation(mask, ranks) if target.classes is None else _cramer(mask, target)
        )
        if association >= _MIN_ASSOCIATION and p_value <= _MAX_P / len(groups):
            names = [columns[j].name for j in group]
            noun = "column" if len(names) == 1 else "columns"
            yield Finding(
                "missingness", "warning", tuple(names),
                f"Whether {noun} {listed(names)} {'is' if len(names) == 1 else 'are'} missing "
                f"predicts {quoted(target_name)}: {_shares(mask, target)}. The values may be "
                "missing because of the target: keep the column only if that holds for new rows.",
            )  # fmt: skip


def _mask(table: Table, j: int) -> Array:
    missing = table.missing_mask(j)
    return np.zeros(len(table), bool) if missing is None else missing


def _cramer(mask: Array, target: Target) -> tuple[float, float]:
    """Return Cramér's V of a mask and the classes, and the p-value of the chi-square test."""
    n_classes = len(target.classes) if target.classes is not None else 0
    counts = np.bincount(target.values + n_classes * mask, minlength=2 * n_classes)
    observed = counts.reshape(2, n_classes).astype(np.float64)
    observed = observed[:, observed.sum(axis=0) > 0]
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(mask)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    freedom = observed.shape[1] - 1
    return math.sqrt(statistic / len(mask)), float(chdtrc(freedom, statistic)) if freedom else 1.0


def _rank_correlation(mask: Array, ranks: Array) -> tuple[float, float]:
    """Return the absolute correlation of a mask and ranks, and its p-value."""
    if np.ptp(ranks) == 0:
        return 0.0, 1.0
    correlation = abs(float(np.corrcoef(mask, ranks)[0, 1]))
    return correlation, 2 * float(ndtr(-correlation * math.sqrt(len(mask) - 1)))


def _shares(mask: Array, target: Target) -> str:
    """Return text such as "missing in 60 % of the rows of class 'a' and 2 % of class 'b'"."""
    if target.classes is None:
        missing, known = (float(np.median(target.values[part])) for part in (mask, ~mask))
        return f"its median is {missing:.4g} where it is missing and {known:.4g} elsewhere"
    n_classes = len(target.classes)
    counts = np.bincount(target.values, minlength=n_classes)
    shares = np.bincount(target.values[mask], minlength=n_classes) / np.maximum(counts, 1)
    high, low = (int(np.where(counts > 0, sign * shares, -2.0).argmax()) for sign in (1, -1))
    return (
        f"missing in {shares[high]:.0%} of the rows of class {quoted(target.classes[high])} and "
        f"{shares[low]:.0%} of class {quoted(target.classes[low])}"
    )
