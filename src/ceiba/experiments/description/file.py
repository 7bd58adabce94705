"""Experiment files in TOML, which the command line and Python share.

    protocol = "10-fold"
    scores = ["accuracy", "log_loss"]
    datasets = ["iris", "wine"]

    [[learner]]
    name = "shallow tree"
    learner = "tree"
    max_depth = 3

`ceiba.experiments.description.file_parts` reads the tables of such a file; an error names file,
line and key.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ceiba.data.target import Task
from ceiba.experiments.compare import Comparison, compare
from ceiba.experiments.description.catalog import default_learners
from ceiba.experiments.description.file_parts import (
    ExperimentFileError,
    FileTable,
    NestedEntry,
    SweepEntry,
    read_datasets,
    read_learners,
    read_nested,
    read_sweeps,
)
from ceiba.experiments.nested import nested
from ceiba.experiments.protocols import MAX_SEED, Protocol, parse_protocol
from ceiba.experiments.results.differences import TestMethod, check_test
from ceiba.experiments.results.scores import default_score, get_score
from ceiba.experiments.results.summary import IntervalMethod, allowed_intervals
from ceiba.experiments.running.units import Dataset
from ceiba.experiments.sweep import Sweep, sweep

__all__ = ["Experiment", "ExperimentFileError", "ExperimentResults"]

Calibrate = Literal["isotonic", "sigmoid", "isotonic oob", "sigmoid oob"]
KEYS = (
    "name", "protocol", "seed", "scores", "interval", "control", "test", "journal", "calibrate",
    "conformal", "isolate", "n_jobs", "datasets", "dataset", "learner", "sweep", "nested",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ExperimentResults:
    """Results of an experiment file.

    Parameters
    ----------
    comparison : Comparison or None
        Of the learners; None if the file has only sweeps or nested validations.
    sweeps : dict of str to Sweep
    nested : dict of str to Comparison
    """

    comparison: Comparison | None
    sweeps: Mapping[str, Sweep] = field(default_factory=dict)
    nested: Mapping[str, Comparison] = field(default_factory=dict)

    @property
    def all(self) -> list[Comparison | Sweep]:
        """The comparison, the sweeps and the nested validations, in this order."""
        first = [] if self.comparison is None else [self.comparison]
        return [*first, *self.sweeps.values(), *self.nested.values()]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is compared on which data, and how: an experiment file as a record.

    Parameters
    ----------
    datasets : tuple of Dataset
        All of one task.
    learners : mapping from str to estimator
    sweeps : tuple of SweepEntry
    nested : tuple of NestedEntry
    name : str
    protocol : str
    seed : int
    scores : tuple of str
        Empty for the default of the task.
    interval, test : str
    control : str or None
        As in `summarize`.
    journal : Path or None
    calibrate : str or None
    conformal : float or None
    isolate : bool
    n_jobs : int or None
        As in `compare`.

    Examples
    --------
    >>> text = '''
    ... protocol = "5-fold"
    ... datasets = ["iris"]
    ... [[learner]]
    ... learner = "tree"
    ... max_depth = 2
    ... '''
    >>> experiment = Experiment.from_text(text)
    >>> experiment.learners
    {'tree': DecisionTreeClassifier(max_depth=2)}
    >>> round(experiment.run().comparison.mean("accuracy", "iris", "tree"), 2)
    0.93
    >>> try:
    ...     Experiment.from_text(text.replace("depth", "dept"), path="workshop.toml")
    ... except ExperimentFileError as error:
    ...     print(error)
    workshop.toml, line 6, learner.max_dept: there is no parameter 'max_dept' of \
DecisionTreeClassifier. Did you mean 'max_depth'?
    """

    datasets: tuple[Dataset, ...]
    learners: Mapping[str, Any] = field(default_factory=dict)
    sweeps: tuple[SweepEntry, ...] = ()
    nested: tuple[NestedEntry, ...] = ()
    name: str = "experiment"
    protocol: str = "10-fold"
    seed: int = 0
    scores: tuple[str, ...] = ()
    interval: str = "auto"
    control: str | None = None
    test: str = "corrected_t"
    journal: Path | None = None
    calibrate: str | None = None
    conformal: float | None = None
    isolate: bool = False
    n_jobs: int | None = None

    @property
    def task(self) -> Task:
        """The task of all datasets."""
        return self.datasets[0].task

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read an experiment file; the paths in it are relative to its folder.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Experiment

        Raises
        ------
        ExperimentFileError
            If the file is invalid; the message names file, line and key.
        """
        raw = Path(path).read_bytes()
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            message = f"byte {raw[error.start]:#04x} is not UTF-8: save the file as UTF-8."
            raise ExperimentFileError(os.fspath(path), line, "", message) from None
        return cls.from_text(text, path=path)

    @classmethod
    def from_text(
        cls, text: str, *, path: str | os.PathLike[str] = "experiment.toml"
    ) -> Experiment:
        """Read the text of an experiment file.

        Parameters
        ----------
        text : str
        path : str or path-like
            Name in messages; paths in the text are relative to its folder.

        Returns
        -------
        Experiment
        """
        top = _parse(text, path)
        top.check_keys(KEYS)
        datasets = read_datasets(top, Path(path).parent)
        task = datasets[0].task
        learners = read_learners(top, task)
        sweeps, nested_entries = read_sweeps(top, task), read_nested(top, task)
        if not learners and not sweeps and not nested_entries:
            learners = default_learners(task, [data.X.schema for data in datasets])
        journal = top.get("journal", str)
        design = _read_design(top, datasets)
        protocol = parse_protocol(design["protocol"], task=task)
        return cls(
            datasets,
            learners,
            sweeps,
            nested_entries,
            name=top.get("name", str, Path(path).stem),
            journal=None if journal is None else Path(path).parent / journal,
            isolate=top.get("isolate", bool, False),
            n_jobs=top.get("n_jobs", int),
            **design,
            **_read_statistics(top, task, learners, protocol),
        )

    def run(
        self, *, progress: Any = None, client: Any = None, command: str | None = None
    ) -> ExperimentResults:
        """Compute the experiment.

        Parameters
        ----------
        progress, client, command
            As in `compare`.

        Returns
        -------
        ExperimentResults
        """
        options: dict[str, Any] = {
            "protocol": self.protocol,
            "seed": self.seed,
            "journal": self.journal,
            "n_jobs": self.n_jobs,
            "isolate": self.isolate,
            "calibrate": self.calibrate,
            "conformal": self.conformal,
            "progress": progress,
            "client": client,
            "command": command,
        }
        data = list(self.datasets)
        comparison = compare(self.learners, data, **options) if self.learners else None
        sweeps = {
            entry.name: sweep(
                entry.estimator, list(entry.over), list(entry.over.values()), data, **options
            )
            for entry in self.sweeps
        }
        validations = {
            entry.name: nested(
                entry.estimator,
                list(entry.over),
                list(entry.over.values()),
                data,
                inner=entry.inner,
                score=entry.score,
                **options,
            )
            for entry in self.nested
        }
        return ExperimentResults(comparison, sweeps, validations)


def _parse(text: str, path: str | os.PathLike[str]) -> FileTable:
    """Parse a TOML text; an error of the syntax names the line as all others do."""
    try:
        text = text.removeprefix("\ufeff")  # of Windows editors
        return FileTable.of(tomllib.loads(text), text, os.fspath(path))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        message = str(error) if found is None else str(error)[: found.start()]
        last = text.count("\n") + (not text.endswith("\n"))
        line = int(found[1]) if found is not None and found[1] else last
        raise ExperimentFileError(os.fspath(path), line, "", f"{message}.") from None


def _read_design(top: FileTable, datasets: Sequence[Dataset]) -> dict[str, Any]:
    """Read protocol, seed, calibration and conformal prediction."""
    task = datasets[0].task
    if top.get("n_jobs", int) == 0:
        raise top.error("n_jobs", "must be a nonzero integer, got 0.")
    seed = top.get("seed", int, 0)
    if not 0 <= seed <= MAX_SEED:
        raise top.error("seed", f"must be an integer in [0, {MAX_SEED}], got {seed}.")
    protocol = top.get("protocol", str, "10-fold")
    with top.located("protocol"):
        parsed = parse_protocol(protocol, task=task, random_state=seed)
        for data in datasets:  # a class may have too few rows
            parsed.splits(data.labels, data.groups)
    conformal = top.get("conformal", float)
    if conformal is not None and not 0 < conformal < 1:
        raise top.error("conformal", f"must be a number between 0 and 1, got {conformal}.")
    calibrate = top.choice("calibrate", get_args(Calibrate))
    if calibrate is not None and task == "regression":
        raise top.error("calibrate", "requires the classes of a classification.")
    return {
        "protocol": protocol,
        "seed": seed,
        "calibrate": calibrate,
        "conformal": conformal,
    }


def _read_statistics(
    top: FileTable, task: Task, learners: Mapping[str, Any], protocol: Protocol
) -> dict[str, Any]:
    """Read scores, intervals and tests."""
    interval = top.choice("interval", get_args(IntervalMethod)) or "auto"
    names = []
    for index, name in enumerate(top.get_list("scores", str)):
        with top.located("scores", index):
            score = get_score(name)
            if score.task not in (None, task):
                raise ValueError(f"{score.name} is a score of a {score.task}, not of a {task}.")
            if score.needs_regions and "conformal" not in top.values:
                raise ValueError(f"{score.name} requires 'conformal'.")
            names.append(score.name)
        if interval not in allowed_intervals(score):
            allowed = ", ".join(allowed_intervals(score))
            raise top.error("interval", f"must be one of {allowed} for {score.name}.")
    if not learners and "control" in top.values:
        raise top.error("control", "requires [[learner]] tables: it names one of them.")
    control = top.choice("control", tuple(learners))
    test: Any = top.choice("test", get_args(TestMethod)) or "corrected_t"
    if control is None and "test" in top.values:
        raise top.error("test", "has no effect without 'control'.")
    if control is not None:
        with top.located("test"):
            for name in names or [default_score(task)]:
                check_test(get_score(name), test, protocol)
    return {
        "scores": tuple(names),
        "interval": interval,
        "control": control,
        "test": test,
    }
