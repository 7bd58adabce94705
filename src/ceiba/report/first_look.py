"""A first look at a new table: its checks, all learners at their defaults, the best model."""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

import ceiba
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.data.target import Target, Task
from ceiba.experiments import (
    Comparison,
    LearnerWarning,
    Summary,
    compare,
    parse_protocol,
    summarize,
)
from ceiba.experiments.protocols import KFold, Protocol
from ceiba.experiments.results.scores import default_score
from ceiba.experiments.running.units import set_seeds, take_rows
from ceiba.experiments.table_checks import TableChecks, check_table
from ceiba.experiments.table_checks.target import read_target
from ceiba.report.first_page import first_page
from ceiba.report.page import Page
from ceiba.report.results import score_name

BASELINE = "baseline"
# Numbers of columns, and of values, above which a learner takes minutes.
_MAX_COLUMNS = {
    "AdaBoostClassifier": 2000,
    "AdaBoostRegressor": 2000,
    "StructuralTMClassifier": 60,
    "TANClassifier": 300,
    "GaussianMixtureClassifier": 500,
}
_NUMERIC_ONLY = ("GaussianMixtureClassifier",)
_MAX_VALUES = {"StructuralTMClassifier": 150_000}
# Values of the sample that learners get: 10,000 rows of 200 columns, or 500 of more columns.
_MAX_SAMPLE = 2_000_000
_MIN_ROWS = 500
_MIN_KNOWN = 4  # rows of a report
_MIN_FOLDS = 3  # that are stratified
# Tables with more columns than this are tested in fewer folds.
_WIDE, _FOLDS_OF_WIDE = 1000, 5
_ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class FitReport:
    """What a first look at a table found.

    Parameters
    ----------
    checks : TableChecks
    comparison : Comparison
        Of all learners, with a baseline that ignores the columns.
    best : fitted estimator
        The learner with the best mean score, fitted on all rows with a target.
    best_name : str
    similar : tuple of str
        Learners that are not significantly worse, by the corrected t test at 5 %.
    score : str
        What "best" is by.
    notes : tuple of str
        What was sampled, left out, or changed.
    X, y : rows and target of ``best``
    """

    checks: TableChecks
    comparison: Comparison
    best: Any
    best_name: str
    similar: tuple[str, ...]
    score: str
    notes: tuple[str, ...]
    X: Any
    y: Any

    @cached_property
    def summary(self) -> Summary:
        """The score of every learner with its interval."""
        return summarize(self.comparison, self.score, rows="learners")

    @property
    def best_text(self) -> str:
        """Sentences on the best learner, and those that are not significantly worse."""
        cells = dict(zip(self.summary.learners, self.summary.cells[0], strict=True))
        score, best = score_name(self.summary.score), cells[self.best_name]
        text = f"Best mean {score}: {self.best_name}, {best.text(3)}"
        if self.best_name != BASELINE:
            text += f" ({BASELINE}: {cells[BASELINE].text(3)})"
        others = "all others are significantly worse"
        if self.best_name == BASELINE or BASELINE in self.similar:
            others = "no learner is significantly better than the baseline"
        elif self.similar:
            others = f"these are not significantly worse: {', '.join(self.similar)}"
        return (
            f"{text}. By the corrected t test at 5 %, {others}. The best of several learners is a "
            "little optimistic, since it was chosen on the rows that test it."
        )

    @cached_property
    def page(self) -> Page:
        """The page, with figures."""
        return first_page(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as one HTML file; return its path."""
        return self.page.save(path)

    def __str__(self) -> str:
        parts = [str(self.checks), *self.notes, "", str(self.summary), "", self.best_text]
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.page.to_fragment()


def fit_report(
    X: Any,
    y: Any,
    *,
    target_name: str = "y",
    name: str = "table",
    task: Task | None = None,
    learners: Mapping[str, Any] | None = None,
    protocol: str | Protocol = "10-fold",
    seed: int = 0,
    n_jobs: int | None = None,
    max_rows: int = 10_000,
    progress: Any = None,
    command: str | None = None,
) -> FitReport:
    """Check a new table, compare all learners at their defaults, and fit the best.

    Parameters
    ----------
    X : array, frame, list or Table of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
        Classes or numbers; rows without one are left out.
    target_name, name : str
        Names of target and table on the page.
    task : {"classification", "regression"}, optional
        By default inferred, see `ceiba.experiments.table_checks.infer_task`.
    learners : mapping from name to estimator, optional
        By default all classifiers or regressors of Ceiba. A baseline that predicts the most
        frequent class or the mean is added.
    protocol : str or Protocol
        Fewer folds are used where a class has fewer rows or there are more than 1,000 columns, and
        a note states so.
    seed : int
        Seed of samples and folds.
    n_jobs : int, optional
        Number of fits at a time; None for all cores.
    max_rows : int
        At least 100. Learners of a larger table are compared on a sample of about so many rows,
        of fewer if it has more than 200 columns; the best is fitted on all rows.
    progress : bool or callable, optional
        As in `ceiba.experiments.compare`.
    command : str, optional
        Line that makes the report again, for its record.

    Returns
    -------
    FitReport
        It prints a short text, displays the page in a notebook, and ``save(path)`` writes it.

    Examples
    --------
    >>> import ceiba
    >>> wine = ceiba.datasets.load("wine")
    >>> learners = {"tree": ceiba.DecisionTreeClassifier(), "TAN": ceiba.TANClassifier()}
    >>> report = ceiba.fit_report(wine.table, wine.y, learners=learners, protocol="5-fold")
    >>> report.best_name, report.best.n_features_in_
    ('TAN', 13)
    >>> report.checks.findings
    ()
    """
    options = {
        "target_name": target_name, "name": name, "task": task, "learners": learners,
        "protocol": protocol if isinstance(protocol, str) else str(protocol), "seed": seed,
        "max_rows": max_rows,
    }  # fmt: skip
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 100:
        raise ValueError(f"max_rows must be an int >= 100, got {max_rows!r}.")
    checks = check_table(X, y, task=task, target_name=target_name, seed=seed)
    table = Table.of(X, warn=False)
    table.check_finite()
    known = read_target(y, len(table), checks.task)
    if len(known.rows) < _MIN_KNOWN:
        raise ValueError(
            f"X must have at least {_MIN_KNOWN} rows with a target, got {len(known.rows)}."
        )
    if checks.of("constant_target"):
        text = checks.of("constant_target")[0].text
        raise ValueError(f"y must have at least two different values. {text}")
    # Learners of the user may require the container that they were given.
    container = table if learners is None else X
    rows = container if not known.n_missing else take_rows(container, known.rows)
    chosen = _sample(known.target, len(table.schema), max_rows, seed)
    notes = []
    if len(chosen) < len(known.rows):
        notes.append(
            f"The learners were compared on a sample of {len(chosen):,} of {len(known.rows):,} "
            "rows; the best one is fitted on all of them."
        )
    sample = rows if len(chosen) == len(known.rows) else take_rows(rows, chosen)
    labels = known.target.labels
    folds, changed = _folds(protocol, known.target.take(chosen), len(table.schema), seed)
    chosen_learners, left_out = _choose_learners(learners, checks.task, len(chosen), table.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LearnerWarning)  # the page lists them
        comparison = compare(
            chosen_learners, {name: (sample, labels[chosen])}, protocol=folds, seed=seed,
            n_jobs=n_jobs, progress=progress,
            command=command or _command(options),
        )  # fmt: skip
    score = default_score(checks.task)
    best_name, similar = _best(comparison, score)
    best, warned = _fit(chosen_learners[best_name], rows, labels, seed)
    notes += [*changed, *left_out, *(f"Fit of {best_name}: {text}" for text in warned)]
    return FitReport(
        checks, comparison, best, best_name, similar, score, tuple(notes), rows, labels
    )


def _fit(learner: Any, rows: Any, labels: Array, seed: int) -> tuple[Any, list[str]]:
    """Return a learner fitted on all rows, and the warnings of the fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model = set_seeds(clone(learner), seed).fit(rows, labels)
    return model, list(dict.fromkeys(str(entry.message) for entry in caught))


def _command(given: dict[str, Any]) -> str:
    """Return the call of `fit_report` with the options that are not defaults."""
    defaults = inspect.signature(fit_report).parameters
    options = [
        f"{name}=learners" if name == "learners" else f"{name}={value!r}"
        for name, value in given.items()
        if value != defaults[name].default
    ]
    return f"ceiba.fit_report({', '.join(['X', 'y', *options])})"


def _sample(target: Target, n_columns: int, max_rows: int, seed: int) -> Array:
    """Return the rows that learners are compared on; every class keeps its share."""
    n = len(target.values)
    size = min(max_rows, max(_MIN_ROWS, _MAX_SAMPLE // n_columns))
    if n <= size:
        return np.arange(n)
    order = np.random.default_rng([seed, 2]).permutation(n)
    if target.classes is None:
        return np.sort(order[:size])
    codes = target.values[order]
    parts = []
    for code in range(len(target.classes)):
        of_class = order[codes == code]
        parts.append(of_class[: math.ceil(len(of_class) * size / n)])
    return np.sort(np.concatenate(parts))


def _folds(protocol: Any, target: Target, n_columns: int, seed: int) -> tuple[Protocol, list[str]]:
    """Return the protocol with no more folds than rows and time allow, and what was changed."""
    task: Task = "regression" if target.classes is None else "classification"
    chosen: Any = protocol
    if not isinstance(protocol, Protocol):
        chosen = parse_protocol(protocol, task=task, random_state=seed)
    if not isinstance(chosen, KFold):
        return chosen, []
    notes = []
    if n_columns > _WIDE and chosen.n_splits > _FOLDS_OF_WIDE:
        chosen = replace(chosen, n_splits=_FOLDS_OF_WIDE)
        notes.append(f"{n_columns:,} columns take long, so that there are {_FOLDS_OF_WIDE} folds.")
    n = len(target.values)
    if chosen.n_splits > n // 2:
        chosen = replace(chosen, n_splits=max(2, n // 2))
        notes.append(f"{n} rows allow {chosen.n_splits} folds of at least two rows.")
    if target.classes is None or not chosen.stratified:
        return chosen, notes
    counts = np.bincount(target.values)
    rarest = int(counts.argmin())
    if counts[rarest] >= chosen.n_splits:
        return chosen, notes
    what = f"Class {str(target.classes[rarest])!r} has {counts[rarest]} of the rows"
    if counts[rarest] >= _MIN_FOLDS:
        fewer = replace(chosen, n_splits=int(counts[rarest]))
        return fewer, [*notes, f"{what}, so that there are {fewer.n_splits} folds."]
    plain = replace(chosen, stratified=False)
    notes.append(f"{what}, so that the folds are not stratified: some lack the class.")
    return plain, notes


def _choose_learners(
    learners: Mapping[str, Any] | None, task: Task, n_rows: int, schema: Schema
) -> tuple[dict[str, Any], list[str]]:
    """Return the learners with the baseline, and sentences on those that were left out."""
    baseline = DummyClassifier() if task == "classification" else DummyRegressor()
    if learners is not None:
        if BASELINE in learners:
            raise ValueError(f"learners must not have the name {BASELINE!r}, which is added.")
        return {BASELINE: baseline, **learners}, []
    chosen: dict[str, Any] = {BASELINE: baseline}
    slow, numeric_only = [], []
    n_columns = len(schema)
    for name in ceiba.ESTIMATORS:
        estimator = getattr(ceiba, name)()
        if not (is_classifier if task == "classification" else is_regressor)(estimator):
            continue
        is_wide = n_columns > _MAX_COLUMNS.get(name, n_columns)
        if name in _NUMERIC_ONLY and not schema.all_numeric:
            numeric_only.append(name)
        elif is_wide or n_rows * n_columns > _MAX_VALUES.get(name, n_rows * n_columns):
            slow.append(name)
        else:
            chosen[name.removesuffix("Classifier").removesuffix("Regressor")] = estimator
    reasons = {
        "they take minutes on tables of this size": slow,
        "they take numeric columns alone": numeric_only,
    }
    return chosen, [
        f"Left out, since {reason}: {', '.join(names)}."
        for reason, names in reasons.items()
        if names
    ]


def _best(comparison: Comparison, score: str) -> tuple[str, tuple[str, ...]]:
    """Return the learner with the best mean score, and those that are not significantly worse."""
    best = comparison.best(score)
    summary = summarize(comparison, score, control=best)
    similar = [
        name
        for name, cell in zip(summary.learners, summary.cells[0], strict=True)
        if cell.test is not None and cell.test.p_value > _ALPHA
    ]
    return best, tuple(similar)
