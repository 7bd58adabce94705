"""The target of a table: its task, its missing values, and the balance of its classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ceiba._typing import Array
from ceiba.data.target import Target, Task
from ceiba.experiments.results.labels import is_missing
from ceiba.experiments.table_checks.result import (
    ClassCount,
    Finding,
    count_text,
    listed,
    quoted,
)

# Whole numbers of up to this many different values are taken for classes.
MAX_WHOLE_CLASSES = 20
# The usual number of folds: a class with fewer rows is rare.
_N_FOLDS = 10
_MAX_SHARE = 0.9  # of the most frequent class, before accuracy is called misleading
_MIN_ROWS_PER_CLASS = 5  # on average


@dataclass(frozen=True, slots=True, eq=False)
class KnownTarget:
    """The rows with a target, and their target."""

    rows: Array
    target: Target
    task: Task
    n_missing: int


def infer_task(y: Any) -> Task:
    """Infer whether a target has classes or numbers.

    Text, bools and categories are classes, and so are whole numbers of up to 20 different values;
    other numbers are those of a regression. Missing values do not matter.

    Examples
    --------
    >>> infer_task(["yes", "no"]), infer_task([0, 1, 1]), infer_task([0.5, 1.5, 2.0])
    ('classification', 'classification', 'regression')
    """
    array = np.asarray(y)
    if array.dtype == object:
        known = [value for value in array.tolist() if not is_missing(value)]
        if not all(isinstance(value, int | float | np.number) for value in known):
            return "classification"
        array = np.array(known)
    if array.dtype.kind not in "iuf":
        return "classification"
    known_values = np.unique(array[~np.isnan(array)] if array.dtype.kind == "f" else array)
    is_whole = array.dtype.kind != "f" or bool((known_values % 1 == 0).all())
    few = len(known_values) <= MAX_WHOLE_CLASSES
    return "classification" if is_whole and few else "regression"


def read_target(y: Any, n_rows: int, task: Task | None) -> KnownTarget:
    """Return the target of the rows that have one; raise if no row has."""
    if task not in (None, "classification", "regression"):
        raise ValueError(
            f"task must be 'classification', 'regression' or None, which infers it, got {task!r}."
        )
    missing = _missing_rows(y)
    if len(missing) != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{n_rows} rows in X, {len(missing)} in y."
        )
    rows = np.flatnonzero(~missing)
    if not len(rows):
        raise ValueError(f"y must have at least one value, got {n_rows} missing values.")
    values = _safe_indexing(y, rows) if len(rows) < n_rows else y
    found = infer_task(values) if task is None else task
    target = Target.of(values, len(rows), task=found)
    return KnownTarget(rows, target, found, n_rows - len(rows))


def _missing_rows(y: Any) -> Array:
    """Return the mask of the rows without a target."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise ValueError(f"y must be 1D, got shape {array.shape}.")
    if array.dtype.kind in "fmM":
        return np.asarray(np.isnan(array) if array.dtype.kind == "f" else np.isnat(array))
    if array.dtype == object:
        return np.fromiter(map(is_missing, array.tolist()), bool, len(array))
    return np.zeros(len(array), bool)


def count_classes(target: Target) -> tuple[ClassCount, ...]:
    """Return the classes with their rows, the largest first."""
    if target.classes is None:
        return ()
    counts = np.bincount(target.values, minlength=len(target.classes))
    order = np.argsort(-counts, kind="stable")
    return tuple(ClassCount(str(target.classes[k]), int(counts[k])) for k in order)


def check_target(
    known: KnownTarget, classes: Sequence[ClassCount], name: str, is_inferred: bool
) -> Iterator[Finding]:
    """Yield the findings about the target."""
    y = quoted(name)
    n_rows = len(known.rows) + known.n_missing
    if known.n_missing:
        share = known.n_missing / n_rows
        yield Finding(
            "missing_target", "warning", (),
            f"The target {y} is missing in {count_text(known.n_missing, 'row')} ({share:.1%}), "
            "which are left out: find out why, since rows without a target may differ from others.",
        )  # fmt: skip
    if known.task == "classification":
        yield from _check_classes(classes, y)
        if is_inferred and known.target.classes is not None:
            yield from _check_numbers(known.target.classes, y)
    elif np.ptp(known.target.values) == 0:
        text = f"The target {y} has the same value in all rows: there is nothing to predict."
        yield Finding("constant_target", "warning", (), text)


def _check_numbers(classes: Array, y: str) -> Iterator[Finding]:
    """Yield that several numbers were taken for classes."""
    if classes.dtype.kind in "iuf" and len(classes) > 2:
        yield Finding(
            "task", "note", (),
            f"The {len(classes)} whole numbers of the target {y} are taken for classes: pass "
            "task='regression' if they are amounts.",
        )  # fmt: skip


def _check_classes(classes: Sequence[ClassCount], y: str) -> Iterator[Finding]:
    n_rows = sum(count.n_rows for count in classes)
    if len(classes) == 1:
        text = f"The target {y} has one class, {quoted(classes[0].label)}: nothing to predict."
        yield Finding("constant_target", "warning", (), text)
        return
    if n_rows < _MIN_ROWS_PER_CLASS * len(classes):
        yield Finding(
            "many_classes", "warning", (),
            f"The target {y} has {len(classes):,} classes in {count_text(n_rows, 'row')}, too few "
            "rows per class to learn from: is it an identifier, or a number "
            "(task='regression')?",
        )  # fmt: skip
    rare = [count for count in classes if count.n_rows < _N_FOLDS]
    if rare:
        yield _rare_classes(rare, y)
    share = classes[0].n_rows / n_rows
    if share >= _MAX_SHARE:
        yield Finding(
            "imbalance", "note", (),
            f"Class {quoted(classes[0].label)} has {share:.1%} of the rows, so that an accuracy of "
            f"{share:.3f} needs no learning: compare balanced accuracy or AUC as well.",
        )  # fmt: skip


def _rare_classes(rare: Sequence[ClassCount], y: str) -> Finding:
    """Return how many folds the rare classes allow."""
    labels = listed([count.label for count in rare])
    min_rows = min(count.n_rows for count in rare)
    noun = "Class" if len(rare) == 1 else "Classes"
    verb = "has" if len(rare) == 1 else "have"
    text = f"{noun} {labels} of {y} {verb} fewer than {_N_FOLDS} rows"
    if min_rows == 1:
        remedy = (
            "one row cannot be in training and test, so that stratified folds are impossible. "
            "Merge or remove such classes."
        )
    else:
        remedy = f"use at most {min_rows} stratified folds, or merge or remove such classes."
    return Finding("rare_classes", "warning", (), f"{text}: {remedy}")
