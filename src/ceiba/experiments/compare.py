"""Compare learners on the same folds of datasets.

An experiment is a list of units (`ceiba.experiments.running.units`). Those that the journal has are
read, the others are computed, and every score is computed later from the raw predictions of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ceiba import datasets as bundled
from ceiba._typing import Array
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.experiments.probabilities.calibration import calibrated
from ceiba.experiments.probabilities.conformal import conformal as make_conformal
from ceiba.experiments.protocols import Protocol, parse_protocol
from ceiba.experiments.results.scores import Predictions, ScoreValue, default_score, get_score
from ceiba.experiments.running.journal import Journal, UnitResult
from ceiba.experiments.running.progress import Progress
from ceiba.experiments.running.record import make_record
from ceiba.experiments.running.runner import UnitRunner
from ceiba.experiments.running.units import Dataset, Learner, Unit


class LearnerWarning(UserWarning):
    """A learner warned on some folds of a comparison."""


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A unit with its result."""

    unit: Unit
    result: UnitResult

    @cached_property
    def predictions(self) -> Predictions | None:
        """Predictions of the test rows with their true values; None if the unit failed."""
        return self.unit.predictions(self.result)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The raw results of an experiment.

    Parameters
    ----------
    datasets : tuple of Dataset
    learners : tuple of Learner
    protocol : str
    seed : int
    folds : tuple of FoldResult
        By dataset, learner, repeat and fold.
    record : dict
        What is needed to reproduce the experiment: command, versions, machine, hashes of the data.
    """

    datasets: tuple[Dataset, ...]
    learners: tuple[Learner, ...]
    protocol: str
    seed: int
    folds: tuple[FoldResult, ...]
    record: dict[str, Any]

    @property
    def task(self) -> Task:
        """``"classification"`` or ``"regression"``."""
        return self.datasets[0].task

    def dataset_name(self, dataset: str | None) -> str:
        """Return the name of a dataset, by default of the only one; raise for any other."""
        names = [table.name for table in self.datasets]
        if dataset is None and len(names) == 1:
            return names[0]
        if dataset not in names:
            raise ValueError(f"dataset must be one of {', '.join(names)}, got {dataset!r}.")
        return dataset

    def of(self, dataset: str, learner: str) -> list[FoldResult]:
        """Return the folds of one learner on one dataset."""
        found = self._folds_by_name.get((self.dataset_name(dataset), learner))
        if found is None:
            names = ", ".join(entry.name for entry in self.learners)
            raise ValueError(f"learner must be one of {names}, got {learner!r}.")
        return list(found)

    @cached_property
    def _folds_by_name(self) -> dict[tuple[str, str], list[FoldResult]]:
        found: dict[tuple[str, str], list[FoldResult]] = {}
        for fold in self.folds:
            key = fold.unit.dataset.name, fold.unit.learner.name
            found.setdefault(key, []).append(fold)
        return found

    def fold_scores(self, score: str, dataset: str, learner: str) -> list[ScoreValue]:
        """Return a score of each fold; failed folds have none, for the reason of their error."""
        chosen = get_score(score)
        values: list[ScoreValue] = []
        for fold in self.of(dataset, learner):
            predictions = fold.predictions
            if predictions is None:
                values.append(ScoreValue(None, fold.result.error or "failed"))
            else:
                values.append(chosen(predictions))
        return values

    def mean(self, score: str, dataset: str, learner: str) -> float | None:
        """Return the mean of a score over the folds; None if a fold has none."""
        values = [value.value for value in self.fold_scores(score, dataset, learner)]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known and len(known) == len(values) else None

    def best(self, score: str | None = None, dataset: str | None = None) -> str:
        """Return the name of the learner with the best mean score.

        Parameters
        ----------
        score : str, optional
            By default accuracy, or R² of a regression.
        dataset : str, optional
            Required if there are several.
        """
        chosen = get_score(score or default_score(self.task))
        name = self.dataset_name(dataset)
        means = {
            learner.name: self.mean(chosen.name, name, learner.name) for learner in self.learners
        }
        known = {learner: mean for learner, mean in means.items() if mean is not None}
        if not known:
            raise ValueError(f"No learner has the score {chosen.name!r} on {name}.")
        return (max if chosen.check_direction() else min)(known, key=known.__getitem__)

    @property
    def warnings(self) -> dict[tuple[str, str], list[str]]:
        """The different warnings of each learner on each dataset, by (dataset, learner)."""
        found: dict[tuple[str, str], list[str]] = {}
        for fold in self.folds:
            key = fold.unit.dataset.name, fold.unit.learner.name
            for message in fold.result.warnings:
                if message not in found.setdefault(key, []):
                    found[key].append(message)
        return found

    @property
    def failures(self) -> list[FoldResult]:
        """The folds on which a learner failed."""
        return [fold for fold in self.folds if fold.result.error is not None]


def compare(
    learners: Any,
    datasets: Any,
    *,
    protocol: str | Protocol = "10-fold",
    seed: int = 0,
    journal: Any = None,
    n_jobs: int | None = None,
    isolate: bool = False,
    client: Any = None,
    calibrate: str | None = None,
    conformal: float | None = None,
    progress: Progress = None,
    command: str | None = None,
) -> Comparison:
    """Fit and test learners on the same folds of datasets.

    Parameters
    ----------
    learners : estimator, mapping from name to estimator, or list of estimators
        Estimators of Ceiba or scikit-learn, or pipelines; those of a list are named by their class.
    datasets : str, mapping from name to (X, y) or (X, y, groups), or list of str
        Names of bundled datasets, or rows with their target, and groups for protocols of groups;
        or a `Dataset`.
    protocol : str or Protocol
        How rows are divided: ``"10-fold"``, ``"5x2-fold"``, ``"holdout 0.3"``, ``"loo"`` and so on.
    seed : int
        Seed of the folds, and of learners whose ``random_state`` is None.
    journal : path-like or Journal, optional
        Where finished units are kept. The same call continues an experiment that was interrupted,
        and a changed one computes only what changed.
    n_jobs : int, optional
        Number of units (a learner on a fold) that are computed at a time; None for all cores. With
        1, learners may use all cores themselves; otherwise they use one each.
    isolate : bool
        Whether every unit has a process of its own, whose peak memory is measured. A learner that
        crashes its process is shown as failed.
    client : dask.distributed.Client, optional
        The cluster that computes the units.
    calibrate : {"isotonic", "sigmoid", "isotonic oob", "sigmoid oob"}, optional
        Calibrate the probabilities of all learners, by inner folds of the training rows or by
        out-of-bag rows (`CalibratedClassifier`).
    conformal : float, optional
        Confidence level of prediction sets or intervals of all learners, by a quarter of the
        training rows (`ConformalClassifier`, `ConformalRegressor`), for the score ``"coverage"``.
    progress : bool or callable, optional
        A line with the time left: by default in terminals if it takes more than two seconds; True
        always; False never; or a function of the number of finished units, the number of all
        units, and the estimated seconds left (None before the first).
    command : str, optional
        Line that reproduces the experiment, for the record; by default this call in Python.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, "iris", protocol="5-fold")
    >>> round(results.mean("accuracy", "iris", "tree"), 2)
    0.93
    """
    runner = UnitRunner(n_jobs, isolate, client, progress)
    named = _learners(learners)
    task = _task(named)
    named = [_wrap(learner, task, calibrate, conformal) for learner in named]
    if journal is None:
        named = [_with_key(learner) for learner in named]
    tables = _datasets(datasets, task)
    chosen: Any = protocol
    if not isinstance(protocol, Protocol):
        chosen = parse_protocol(protocol, task=task, random_state=seed)
    units = [
        Unit(table, learner, split.repeat, split.fold, split.train, split.test, seed)
        for table in tables
        for splits in [chosen.splits(table.labels, table.groups)]
        for learner in named
        for split in splits
    ]
    text = chosen.to_text()
    record = make_record(tables, named, units, protocol=text, seed=seed, command=command)
    start = perf_counter()
    with nullcontext(journal) if isinstance(journal, Journal) else Journal(journal) as opened:
        opened.add_run(record)
        results, n_computed = runner.run(units, opened)
    record["n_units"], record["n_computed"] = len(results), n_computed
    record["seconds"] = round(perf_counter() - start, 3)
    folds = tuple(FoldResult(unit, results[unit.key]) for unit in units)
    comparison = Comparison(tuple(tables), tuple(named), text, seed, folds, record)
    _warn(comparison.warnings)
    return comparison


def _warn(found: dict[tuple[str, str], list[str]]) -> None:
    """Emit one warning in place of those of all learners."""
    if not found:
        return
    (dataset, learner), messages = next(iter(found.items()))
    n_messages = sum(len(each) for each in found.values())
    head = f"{learner} on {dataset}"
    if n_messages > 1:
        head = f"{n_messages} warnings of learners (see results.warnings), the first of {head}"
    warn_user(f"{head}: {messages[0]}", LearnerWarning)


def _learners(given: Any) -> list[Learner]:
    """Return learners with different names."""
    if isinstance(given, Mapping):
        found = [Learner(str(name), estimator) for name, estimator in given.items()]
    else:
        estimators = given if isinstance(given, list | tuple) else [given]
        found = [Learner(type(estimator).__name__, estimator) for estimator in estimators]
    if not found:
        raise ValueError("learners must have at least one estimator, got none.")
    names = [learner.name for learner in found]
    for learner in found:
        if not hasattr(learner.estimator, "fit") or isinstance(learner.estimator, type):
            raise ValueError(
                f"learners must be estimators, got {learner.estimator!r} as {learner.name!r}."
            )
        if names.count(learner.name) > 1:
            raise ValueError(
                f"learners must have different names, got {learner.name!r} twice: pass a mapping "
                "from name to estimator."
            )
    return found


def _wrap(learner: Learner, task: Task, calibrate: str | None, conformal: float | None) -> Learner:
    """Return a learner with calibrated probabilities or conformal regions, on request."""
    estimator = learner.estimator
    if calibrate is not None:
        if task == "regression":
            raise ValueError(f"calibrate={calibrate!r} requires classifiers, got regressors.")
        estimator = calibrated(estimator, calibrate)
    if conformal is not None:
        estimator = make_conformal(estimator, conformal, task)
    return Learner(learner.name, estimator)


def _with_key(learner: Learner) -> Learner:
    """Return a learner that needs no hash, if it has none, as with a lambda function."""
    try:
        learner.key  # noqa: B018
    except ValueError:
        return replace(learner, given_key=f"not hashed: {learner.name}")
    return learner


def _task(learners: Sequence[Learner]) -> Task:
    """Return the task that all learners have."""
    tasks = {learner.name: task_of(learner.estimator) for learner in learners}
    if len(set(tasks.values())) > 1:
        names = ", ".join(f"{name} ({task})" for name, task in tasks.items())
        raise ValueError(f"learners must be all classifiers or all regressors, got {names}.")
    return tasks[learners[0].name]


def task_of(estimator: Any) -> Task:
    """Return whether an estimator classifies or regresses; raise if it does neither."""
    if is_classifier(estimator):
        return "classification"
    if is_regressor(estimator):
        return "regression"
    raise ValueError(f"learners must be classifiers or regressors, got {estimator!r}.")


def _datasets(given: Any, task: Task) -> list[Dataset]:
    """Return datasets with different names."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        # A tuple may be (X, y), or names.
        several = isinstance(given, tuple) and all(isinstance(each, str) for each in given)
        entries = given if isinstance(given, list) or several else [given]
        pairs = [(entry if isinstance(entry, str) else None, entry) for entry in entries]
    found = [_dataset(name, entry, task) for name, entry in pairs]
    names = [table.name for table in found]
    if not found or len(set(names)) < len(names):
        raise ValueError(
            f"datasets must have different names, and at least one is required, got {names}: pass "
            "a mapping from name to (X, y)."
        )
    return found


def _dataset(name: Any, entry: Any, task: Task) -> Dataset:
    if isinstance(entry, Dataset):
        if entry.task != task:
            raise ValueError(
                f"datasets must have the task of the learners, {task}, got {entry.task} as "
                f"{entry.name!r}."
            )
        return entry if name is None else replace(entry, name=str(name))
    if isinstance(entry, bundled.Dataset):
        return Dataset(str(name or entry.name), entry.table, entry.y, task)
    if isinstance(entry, str):
        loaded: Any = bundled.load(entry)
        return Dataset(str(name), loaded.table, loaded.y, task, bundled=name == entry)
    if isinstance(entry, tuple) and len(entry) in (2, 3):
        groups: Array | None = entry[2] if len(entry) == 3 else None
        return Dataset(str(name or "data"), entry[0], entry[1], task, groups)
    raise ValueError(
        "datasets must be names of bundled datasets, or pairs (X, y) by name, got "
        f"{type(entry).__name__}."
    )
