"""The pruning laboratory: one tree pruned in every way, and what each way is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine.threads import effective_threads, run_tasks
from ceiba.inference import Interval, t_interval, wilson
from ceiba.stats import Labelled, ToLabelled
from ceiba.tree.base import DecisionTree
from ceiba.tree.prune.cross_validation import (
    Rule,
    Trial,
    choice_of,
    fold_trials,
    grow,
    grown_template,
    held_out_rows,
    some_rows,
)
from ceiba.tree.prune.path import complexity_path
from ceiba.tree.prune.risk import Risk

_ERRORS = ("training", "validation", "cross_validated")


@dataclass(frozen=True, slots=True)
class PruningRow:
    """One way to prune, and what became of the tree.

    Parameters
    ----------
    name : str
        The way, as "cost complexity, one_se, impurity".
    n_leaves, depth : int
        Of the pruned tree.
    training, validation, cross_validated : Interval
        Share of wrong predictions, or mean squared error, on the rows that the tree was grown
        from, on the validation rows, and on rows in folds that growing and pruning did not see.
    """

    name: str
    n_leaves: int
    depth: int
    training: Interval
    validation: Interval
    cross_validated: Interval


@dataclass(frozen=True, eq=False, repr=False)
class PruningTable:
    """One tree pruned in every way; printed, it is an aligned table.

    Parameters
    ----------
    rows : tuple of PruningRow
        The first is the tree as it was grown.
    models : dict
        Name of each row to the fitted estimator with that tree.
    measure : str
        What an error is: "error" (a share) or "squared error" (a mean).
    notes : tuple of str
        How the figures were made.
    """

    rows: tuple[PruningRow, ...]
    models: dict[str, Any]
    measure: str
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PruningRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> PruningRow:
        for row in self.rows:
            if row.name == name:
                return row
        names = ", ".join(repr(row.name) for row in self.rows)
        raise KeyError(f"no row is called {name!r}; there are {names}")

    def to_frame(self) -> Any:
        """The table as a pandas frame, indexed by name; intervals are two columns each."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'a frame needs pandas: pip install "ceiba[files]", or use .rows'
            ) from error
        return pd.DataFrame([_flat(row) for row in self.rows]).set_index("name")

    def __str__(self) -> str:
        columns = [
            _column("", [row.name for row in self.rows], left=True),
            _column("leaves", [str(row.n_leaves) for row in self.rows]),
            _column("depth", [str(row.depth) for row in self.rows]),
        ]
        columns += [self._errors(name) for name in _ERRORS]
        lines = ["   ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
        return "\n".join([*lines, "", *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _errors(self, name: str) -> list[str]:
        intervals: list[Interval] = [getattr(row, name) for row in self.rows]
        form = ".4f" if self.measure == "error" else ".4g"
        ends = [[format(x, form) for x in (i.estimate, i.lower, i.upper)] for i in intervals]
        widths = [max(len(each[k]) for each in ends) for k in range(3)]
        cells = []
        for each in ends:
            mid, low, high = (text.rjust(w) for text, w in zip(each, widths, strict=True))
            cells.append(f"{mid} [{low}, {high}]")
        heading = name.replace("_", "-")
        return _column(f"{heading} {self.measure}", cells)


def _column(heading: str, cells: list[str], left: bool = False) -> list[str]:
    width = max(map(len, [heading, *cells]))
    return [text.ljust(width) if left else text.rjust(width) for text in (heading, *cells)]


def _flat(row: PruningRow) -> dict[str, Any]:
    flat: dict[str, Any] = {"name": row.name, "n_leaves": row.n_leaves, "depth": row.depth}
    for name in _ERRORS:
        interval: Interval = getattr(row, name)
        flat[name] = interval.estimate
        flat[f"{name}_lower"], flat[f"{name}_upper"] = interval.lower, interval.upper
    return flat


_SHARE = 0.25
_RULES: tuple[Rule, ...] = ("min", "one_se")


def pruning_laboratory(
    model: Any,
    X: Any,
    y: Any,
    X_validation: Any = None,
    y_validation: Any = None,
    *,
    folds: int = 10,
    inner_folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
) -> PruningTable:
    """Prune one tree in every way, and compare leaves, depth and errors.

    The ways: not at all; reduced error, on the validation rows; the pessimistic estimate, without
    and with raising of subtrees (classes only); cost complexity, alpha chosen by cross-validation
    with the minimum or the one-standard-error rule (for classes by both risks).

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        How the tree is grown, and the confidence of the pessimistic estimate; fitted or not, it is
        not changed. Its own ``pruning`` is left out.
    X, y : table and target
        Rows to grow and to cross-validate.
    X_validation, y_validation : table and target, optional
        Rows for validation; without them a quarter of ``X`` is held out, stratified by class.
    folds : int
        Folds of the cross-validation, in which each tree is grown and pruned anew without the
        rows that judge it; they also choose alpha.
    inner_folds : int
        Folds that choose alpha within the rows of a fold's tree.
    seed : int
        Keys the rows held out and the folds.
    level : float
        Confidence of the intervals: Wilson's for shares of wrong classes, Student's for mean
        squared errors.

    Returns
    -------
    PruningTable

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> table = pruning_laboratory(DecisionTreeClassifier(), iris.table, iris.y, folds=5)
    >>> [row.n_leaves for row in table][0] >= table["reduced error"].n_leaves
    True
    """
    if not isinstance(model, DecisionTree):
        raise TypeError(
            "the laboratory prunes a DecisionTreeClassifier or DecisionTreeRegressor, not a "
            f"{type(model).__name__}"
        )
    rows = _rows(model, Table.of(X), y)
    train, validation, note = _parted(model, rows, X_validation, y_validation, seed)
    bench = _Bench(model, grown_template(model), folds, inner_folds, seed)
    trials = fold_trials(model, train, folds, seed)
    grown = grow(bench.template, train)
    models = dict(bench.pruned(grown, train, lambda: (grown, validation), trials))
    judged = run_tasks(bench.losses, list(enumerate(trials)), effective_threads(model.n_jobs))
    interval = _wilson if model._task == "classification" else t_interval
    table = []
    for name, pruned in models.items():
        columns = [
            _losses(pruned, train),
            _losses(pruned, validation),
            np.concatenate([losses[name] for losses in judged]),
        ]
        tree = pruned.tree_
        errors = [interval(column, level) for column in columns]
        table.append(PruningRow(name, tree.n_leaves, tree.max_depth, *errors))
    measure = "error" if model._task == "classification" else "squared error"
    notes = (note, *_notes(len(train), folds, inner_folds, level))
    return PruningTable(tuple(table), models, measure, notes)


@dataclass(frozen=True, slots=True, eq=False)
class _Bench:
    """How trees are grown, and every way to prune them."""

    model: Any
    template: Any
    folds: int
    inner_folds: int
    seed: int

    def pruned(
        self,
        grown: Any,
        rows: Labelled,
        validated: Callable[[], tuple[Any, Labelled]],
        trials: list[Trial],
    ) -> Iterator[tuple[str, Any]]:
        """Name of each way and the pruned estimator.

        ``validated`` gives what reduced error starts from: a grown estimator and the rows that it
        is pruned by.
        """
        yield "unpruned", grown.unpruned()
        other, held = validated()
        yield "reduced error", other.pruned("reduced_error", held.table, _labels(held))
        classes = self.model._task == "classification"
        if classes:
            yield "pessimistic", grown.pruned("pessimistic", raising=False)
            raised = grown.pruned("pessimistic", rows.table, _labels(rows), raising=True)
            yield "pessimistic, raising", raised
        risks: tuple[Risk, ...] = ("impurity", "error") if classes else ("impurity",)
        for risk in risks:
            path = complexity_path(grown.tree_, risk)
            choice = choice_of(path, trials, risk, "min")
            for rule in _RULES:
                alpha = choice.by(rule).alpha
                pruned = grown.pruned("cost_complexity", alpha=alpha, risk=risk)
                yield _cost_complexity(rule, risk if classes else None), pruned

    def losses(self, numbered: tuple[int, Trial]) -> dict[str, Array]:
        """Losses of a fold's rows under each way, all choices made without them."""
        number, trial = numbered
        seed, rows = self.seed + 1 + number, trial.grown_from
        trials = fold_trials(self.template, rows, self.inner_folds, seed)
        ways = self.pruned(trial.model, rows, partial(self._held_out, rows, seed), trials)
        return {name: _losses(pruned, trial.held) for name, pruned in ways}

    def _held_out(self, rows: Labelled, seed: int) -> tuple[Any, Labelled]:
        share = getattr(self.model, "validation_share", _SHARE)
        held = held_out_rows(len(rows), share, seed, _codes(rows))
        rest = some_rows(rows, np.flatnonzero(~held))
        return grow(self.template, rest), some_rows(rows, np.flatnonzero(held))


def _rows(model: Any, table: Table, y: Any) -> Labelled:
    return ToLabelled(model._task)(Chunk(table, y))


def _parted(
    model: Any, rows: Labelled, X: Any, y: Any, seed: int
) -> tuple[Labelled, Labelled, str]:
    """Rows for growing, rows for validation, and a sentence about them."""
    if (X is None) != (y is None):
        raise ValueError("give both X_validation and y_validation, or neither")
    if X is not None:
        given = _rows(model, Table.of(X, rows.table.schema, who="the laboratory"), y)
        return rows, given, f"Validation: {len(given):,} rows given."
    held = held_out_rows(len(rows), _SHARE, seed, _codes(rows))
    kept, out = np.flatnonzero(~held), np.flatnonzero(held)
    note = f"Validation: {len(out):,} of {len(rows):,} rows held out; no tree is grown from them."
    return some_rows(rows, kept), some_rows(rows, out), note


def _codes(rows: Labelled) -> Array | None:
    return None if rows.target.classes is None else rows.target.values


def _labels(rows: Labelled) -> Array:
    """The target as it was given."""
    classes, values = rows.target.classes, rows.target.values
    labels: Array = values if classes is None else classes[values]
    return labels


def _losses(model: Any, rows: Labelled) -> Array:
    """Of every row 1 for a wrong class, else 0; or its squared error."""
    said, wanted = model.predict(rows.table), _labels(rows)
    if rows.target.classes is None:
        return np.asarray((said - wanted) ** 2)
    return np.asarray(said != wanted, np.float64)


def _wilson(losses: Array, level: float) -> Interval:
    return wilson(float(losses.sum()), len(losses), level)


def _cost_complexity(rule: Rule, risk: Risk | None) -> str:
    return ", ".join(["cost complexity", rule, *([risk] if risk else [])])


def _notes(n_rows: int, folds: int, inner_folds: int, level: float) -> tuple[str, ...]:
    return (
        "Reduced error chose its cuts on the validation rows, which flatters its validation error.",
        f"Cross-validation: {folds} folds of {n_rows:,} rows, every choice made within the other "
        f"folds (alpha by {inner_folds} inner folds).",
        f"Intervals: {100 * level:g} %.",
    )
