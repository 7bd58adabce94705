"""Comparison of pruning methods on one tree, with errors and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine.local import effective_threads, run_tasks
from ceiba.inference import Interval, t_interval, wilson
from ceiba.inference.intervals import check_confidence_level
from ceiba.stats import LabeledRows, ToLabeledRows
from ceiba.tree.base import DecisionTree
from ceiba.tree.compare.presets import ComparisonTable
from ceiba.tree.compare.table import align_columns
from ceiba.tree.prune.cross_validation import (
    AlphaRule,
    FoldFit,
    choose_alpha,
    fit_clone,
    fit_folds,
    unpruned_clone,
)
from ceiba.tree.prune.folds import split_rows
from ceiba.tree.prune.path import Risk, cost_complexity_path

_ERRORS = ("training", "validation", "cross_validated")
_RULES: tuple[AlphaRule, ...] = ("min", "one_se")
_VALIDATION_FRACTION = 0.25


@dataclass(frozen=True, slots=True)
class PruningRow:
    """Size and errors of the tree that one pruning method gives.

    Parameters
    ----------
    name : str
        The method, such as "cost complexity, one_se, impurity".
    n_leaves, depth : int
        Of the pruned tree.
    training, validation, cross_validated : Interval
        Error rate, or mean squared error, on the rows that the tree was grown from, on the
        validation rows, and on folds that growing and pruning did not see.
    """

    name: str
    n_leaves: int
    depth: int
    training: Interval
    validation: Interval
    cross_validated: Interval


@dataclass(frozen=True, eq=False, repr=False)
class PruningTable(ComparisonTable):
    """Table of pruning methods; it prints as aligned text.

    Parameters
    ----------
    rows : tuple of PruningRow
        The first is the unpruned tree.
    models : dict
        Fitted estimator of each row, by name.
    measure : {"error", "squared error"}
    notes : tuple of str
        How the numbers were computed.
    """

    measure: str
    notes: tuple[str, ...]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, indexed by name, with two columns for each interval."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'to_frame requires pandas: pip install "ceiba[files]", or use .rows'
            ) from error
        return pd.DataFrame([_flatten(row) for row in self.rows]).set_index("name")

    def __str__(self) -> str:
        sizes = [(row.name, str(row.n_leaves), str(row.depth)) for row in self.rows]
        columns = [self._format_errors(name) for name in _ERRORS]
        lines = [[*size, *errors] for size, *errors in zip(sizes, *columns, strict=True)]
        errors = [f"{name.replace('_', '-')} {self.measure}" for name in _ERRORS]
        text = align_columns([["", "leaves", "depth", *errors], *lines], "   ", right=True)
        return "\n".join([text, "", *self.notes])

    def _format_errors(self, name: str) -> list[str]:
        intervals: list[Interval] = [getattr(row, name) for row in self.rows]
        form = ".4f" if self.measure == "error" else ".4g"
        numbers = [[format(x, form) for x in (i.estimate, i.lower, i.upper)] for i in intervals]
        widths = [max(len(texts[k]) for texts in numbers) for k in range(3)]
        cells = []
        for texts in numbers:
            mid, low, high = (text.rjust(w) for text, w in zip(texts, widths, strict=True))
            cells.append(f"{mid} [{low}, {high}]")
        return cells


def _flatten(row: PruningRow) -> dict[str, Any]:
    flat: dict[str, Any] = {"name": row.name, "n_leaves": row.n_leaves, "depth": row.depth}
    for name in _ERRORS:
        interval: Interval = getattr(row, name)
        flat[name] = interval.estimate
        flat[f"{name}_lower"], flat[f"{name}_upper"] = interval.lower, interval.upper
    return flat


def compare_pruning(
    model: Any,
    X: Any,
    y: Any,
    X_validation: Any = None,
    y_validation: Any = None,
    *,
    folds: int = 10,
    inner_folds: int = 5,
    seed: int = 0,
    confidence_level: float = 0.95,
) -> PruningTable:
    """Prune one tree by every method, and compare leaves, depth and errors.

    The methods: none; reduced-error pruning on the validation rows; pessimistic pruning, without
    and with subtree raising (classification only); cost-complexity pruning, with alpha chosen by
    cross-validation and the minimum or the one-standard-error rule (in classification for both
    risks).

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        How the tree is grown, ``prune_confidence`` and ``validation_fraction``; fitted or not, it
        is not changed. Its own ``pruning`` is ignored.
    X, y : table and target
        Rows to grow from and to cross-validate.
    X_validation, y_validation : table and target, optional
        Validation rows; by default a quarter of ``X`` is held out, stratified by class.
    folds : int
        Folds of the cross-validation, in which each tree is grown and pruned without the rows that
        it is evaluated on; they also choose alpha.
    inner_folds : int
        Folds that choose alpha within the training rows of each fold.
    seed : int
        Seed of the held-out rows and of the folds.
    confidence_level : float
        Confidence level of the intervals: Wilson's for error rates, Student's t for mean squared
        errors.

    Returns
    -------
    PruningTable

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> table = compare_pruning(DecisionTreeClassifier(), iris.table, iris.y, folds=5)
    >>> [row.n_leaves for row in table][0] >= table["reduced error"].n_leaves
    True
    """
    if not isinstance(model, DecisionTree):
        raise TypeError(
            "model must be a DecisionTreeClassifier or DecisionTreeRegressor, got "
            f"{type(model).__name__}."
        )
    check_confidence_level(confidence_level)  # before all the fits
    rows = _labeled(model, Table.of(X), y)
    train, validation, note = _split_rows(model, rows, X_validation, y_validation, seed)
    methods = _Methods(model, unpruned_clone(model), inner_folds, seed)
    fold_fits = fit_folds(model, train, folds, seed)
    grown = fit_clone(methods.template, train)
    models = dict(methods.prune_all(grown, train, fold_fits, grown, validation))
    fold_losses = run_tasks(
        methods.fold_losses, list(enumerate(fold_fits)), effective_threads(model.n_jobs)
    )
    table = []
    for name, pruned in models.items():
        losses = [
            _losses(pruned, train),
            _losses(pruned, validation),
            np.concatenate([by_name[name] for by_name in fold_losses]),
        ]
        intervals = [_interval(model, values, confidence_level) for values in losses]
        table.append(PruningRow(name, pruned.tree_.n_leaves, pruned.tree_.max_depth, *intervals))
    measure = "error" if model._task == "classification" else "squared error"
    notes = (note, *_notes(len(train), folds, inner_folds, confidence_level))
    return PruningTable(tuple(table), models, measure, notes)


@dataclass(frozen=True, slots=True, eq=False)
class _Methods:
    """All pruning methods, applied to trees of one estimator."""

    model: Any
    template: Any
    inner_folds: int
    seed: int

    def prune_all(
        self,
        grown: Any,
        rows: LabeledRows,
        fold_fits: list[FoldFit],
        grown_without_validation: Any,
        validation: LabeledRows,
    ) -> Iterator[tuple[str, Any]]:
        """Yield the name of each method and the pruned estimator."""
        yield "unpruned", grown.unpruned()
        X, y = validation.table, _target(validation)
        yield "reduced error", grown_without_validation.pruned("reduced_error", X, y)
        classification = self.model._task == "classification"
        if classification:
            yield "pessimistic", grown.pruned("pessimistic", subtree_raising=False)
            raised = grown.pruned("pessimistic", rows.table, _target(rows), subtree_raising=True)
            yield "pessimistic, subtree raising", raised
        risks: tuple[Risk, ...] = ("impurity", "error") if classification else ("impurity",)
        for risk in risks:
            path = cost_complexity_path(grown.tree_, risk)
            choice = choose_alpha(path, fold_fits, risk, "min")
            for rule in _RULES:
                alpha = choice.with_rule(rule).alpha
                pruned = grown.pruned("cost_complexity", alpha=alpha, risk=risk)
                name = ["cost complexity", rule, *([risk] if classification else [])]
                yield ", ".join(name), pruned

    def fold_losses(self, numbered: tuple[int, FoldFit]) -> dict[str, Array]:
        """Return the losses of a fold by method; all choices are made without it."""
        number, fold = numbered
        seed, rows = self.seed + 1 + number, fold.train
        inner_fits = fit_folds(self.template, rows, self.inner_folds, seed)
        train, validation = split_rows(rows, self.model.validation_fraction, seed)
        smaller = fit_clone(self.template, train)
        pruned_models = self.prune_all(fold.model, rows, inner_fits, smaller, validation)
        return {name: _losses(pruned, fold.held_out) for name, pruned in pruned_models}


def _labeled(model: Any, table: Table, y: Any) -> LabeledRows:
    return ToLabeledRows(model._task)(Chunk(table, y))


def _split_rows(
    model: Any, rows: LabeledRows, X: Any, y: Any, seed: int
) -> tuple[LabeledRows, LabeledRows, str]:
    """Return training rows, validation rows, and a note about them."""
    if (X is None) != (y is None):
        raise ValueError("X_validation and y_validation must be passed together.")
    if X is not None:
        table = Table.of(X, rows.table.schema, expected_by="compare_pruning")
        given = _labeled(model, table, y)
        return rows, given, f"Validation: {len(given):,} rows given."
    train, held_out = split_rows(rows, _VALIDATION_FRACTION, seed)
    note = (
        f"Validation: {len(held_out):,} of {len(rows):,} rows held out; no tree is grown from them."
    )
    return train, held_out, note


def _target(rows: LabeledRows) -> Array:
    """Return the target as it was given."""
    classes, values = rows.target.classes, rows.target.values
    return np.asarray(values if classes is None else classes[values])


def _losses(model: Any, rows: LabeledRows) -> Array:
    """Return the 0-1 loss, or the squared error, of every row."""
    predicted, true = model.predict(rows.table), _target(rows)
    if rows.target.classes is None:
        return np.asarray((predicted - true) ** 2)
    return np.asarray(predicted != true, np.float64)


def _interval(model: Any, losses: Array, confidence_level: float) -> Interval:
    if model._task == "classification":
        return wilson(float(losses.sum()), len(losses), confidence_level)
    return t_interval(losses, confidence_level)


def _notes(n_rows: int, folds: int, inner_folds: int, confidence_level: float) -> tuple[str, ...]:
    return (
        "Reduced-error pruning uses the validation rows: its validation error is optimistic.",
        f"Cross-validation: {folds} folds of {n_rows:,} rows, every choice made within the other "
        f"folds (alpha by {inner_folds} inner folds).",
        f"Intervals: {100 * confidence_level:g} %.",
    )
