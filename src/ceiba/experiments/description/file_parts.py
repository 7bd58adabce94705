"""The tables of an experiment file: datasets, learners, sweeps and nested validations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sklearn.base import clone

from ceiba.base import validate
from ceiba.base.parameters import Parameters
from ceiba.data.target import Task
from ceiba.experiments.description.catalog import (
    TASKS,
    UnknownParameterError,
    did_you_mean,
    make_learner,
    make_steps,
    parse_parameter,
)
from ceiba.experiments.description.tables import TargetError, load_table
from ceiba.experiments.description.toml_lines import key_lines
from ceiba.experiments.protocols import parse_protocol
from ceiba.experiments.results.scores import get_score
from ceiba.experiments.running.units import Dataset

_TYPE_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class ExperimentFileError(ValueError):
    """An experiment file is invalid.

    Parameters
    ----------
    path : str
    line : int
    key : str
        Such as ``learner.max_depth``; empty for an error of the syntax.
    message : str
    """

    def __init__(self, path: str, line: int, key: str, message: str) -> None:
        self.path, self.line, self.key = path, line, key
        where = f"{path}, line {line}"
        super().__init__(f"{where}, {key}: {message}" if key else f"{where}: {message}")


@dataclass(frozen=True, slots=True, eq=False)
class FileTable:
    """A table of the file, with the lines of its keys.

    Parameters
    ----------
    values : dict
    path : str
        Path of the file.
    lines : dict of tuple to int
    where : tuple
        Keys and numbers that lead to the table.
    """

    values: dict[str, Any]
    path: str
    lines: Mapping[tuple[str | int, ...], int]
    where: tuple[str | int, ...] = ()

    @classmethod
    def of(cls, values: dict[str, Any], text: str, path: str) -> FileTable:
        """Return the whole file as a table."""
        return cls(values, path, key_lines(text))

    def error(self, key: str | int, message: str, *rest: str | int) -> ExperimentFileError:
        """Return an error at a key; the table itself has the line if it has no such key."""
        where = (*self.where, key, *rest)
        while where and where not in self.lines:
            where = where[:-1]
        name = ".".join(str(part) for part in (*self.where, key) if isinstance(part, str))
        text = (
            message[:1].lower() + message[1:] if message.startswith(("There", "The ")) else message
        )
        return ExperimentFileError(self.path, self.lines.get(where, 1), name, text)

    @contextmanager
    def located(self, key: str, *rest: str | int) -> Iterator[None]:
        """Raise errors of the block as errors at a key."""
        try:
            yield
        except ExperimentFileError:
            raise
        except (ValueError, TypeError, OSError, ImportError) as error:
            raise self.error(key, " ".join(str(error).split()), *rest) from error

    def check_keys(self, known: Sequence[str]) -> None:
        """Raise for the first key that is not known."""
        for key in self.values:
            if key not in known:
                hint = did_you_mean(key, known) or f" The keys are {', '.join(known)}."
                raise self.error(key, f"there is no key {key!r}.{hint}")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """Return a value of a type, or the default if there is none."""
        if key not in self.values:
            return default
        value = self.values[key]
        if not _has_type(value, kind):
            raise self.error(key, f"must be {_TYPE_NAMES[kind]}, got {value!r}.")
        return value

    def get_list(self, key: str, kind: type) -> list[Any]:
        """Return a list of values of a type; a single value is a list of one."""
        values = self.values.get(key, [])
        values = values if isinstance(values, list) else [values]
        for index, value in enumerate(values):
            if not _has_type(value, kind):
                raise self.error(key, f"must be a list of texts, got {value!r} in it.", index)
        return values

    def choice(self, key: str, choices: Sequence[str]) -> Any:
        """Return a text that is one of some choices, or None."""
        value = self.get(key, str)
        if value is not None and value not in choices:
            hint = did_you_mean(value, choices)
            raise self.error(key, f"must be one of {', '.join(choices)}, got {value!r}.{hint}")
        return value

    def tables(self, key: str) -> list[FileTable]:
        """Return the tables of an array, ``[[key]]``."""
        values = self.values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.error(key, f"must be tables: write [[{key}]], got {values!r}.")
        return [
            FileTable(value, self.path, self.lines, (*self.where, key, index))
            for index, value in enumerate(values)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class SweepEntry:
    """A learner, and the values of the hyper-parameters that are combined.

    Parameters
    ----------
    name : str
    estimator : estimator
    over : mapping from str to list
    """

    name: str
    estimator: Any
    over: Mapping[str, list[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class NestedEntry:
    """A learner, and the values among which each fold chooses.

    Parameters
    ----------
    name : str
    estimator : estimator
    over : mapping from str to list
    inner : str
        Protocol of the choice.
    score : str or None
        Score of the choice.
    """

    name: str
    estimator: Any
    over: Mapping[str, list[Any]]
    inner: str = "5-fold"
    score: str | None = None


def read_datasets(top: FileTable, folder: Path) -> tuple[Dataset, ...]:
    """Load the datasets of a file; paths are relative to a folder."""
    found = []
    for index, name in enumerate(top.get_list("datasets", str)):
        with top.located("datasets", index):
            found.append((top, "datasets", load_table(name)))
    for entry in top.tables("dataset"):
        entry.check_keys(("name", "file", "target", "task", "drop", "groups"))
        file, name = entry.get("file", str), entry.get("name", str)
        if file is None and name is None:
            raise entry.error(
                "name", "is required: the name of a bundled table, or that of a file."
            )
        options = {
            "target": entry.get("target", str),
            "task": entry.choice("task", TASKS),
            "drop": entry.get_list("drop", str),
            "groups": entry.get("groups", str),
            "name": name,
        }
        key = "file" if file is not None else "name"
        try:
            dataset = load_table(folder / file if file else name, **options)
        except (ValueError, OSError, ImportError) as error:
            raise entry.error(_key_of_error(entry, key, error), str(error)) from error
        found.append((entry, key, dataset))
    if not found:
        raise top.error("datasets", "is required: names of bundled tables, or [[dataset]] tables.")
    for table, key, dataset in found:
        if dataset.task != found[0][2].task:
            raise table.error(
                key,
                f"{dataset.name} is a {dataset.task}, but {found[0][2].name} is a "
                f"{found[0][2].task}: datasets of a file must have one task.",
            )
        if [entry[2].name for entry in found].count(dataset.name) > 1:
            raise table.error(
                key, f"datasets must have different names, got {dataset.name!r} twice."
            )
    return tuple(dataset for _, _, dataset in found)


def _key_of_error(entry: FileTable, key: str, error: Exception) -> str:
    """Return the key that an error of loading a dataset is about: it names the column."""
    for name in ("target", "groups", "drop"):
        columns = entry.values.get(name, [])
        columns = columns if isinstance(columns, list) else [columns]
        if any(f"column {column!r}" in str(error) for column in columns):
            return name
    return "task" if isinstance(error, TargetError) and "task" in entry.values else key


def read_learners(top: FileTable, task: Task) -> dict[str, Any]:
    """Make the estimators of ``[[learner]]`` tables, by name."""
    learners: dict[str, Any] = {}
    for entry in top.tables("learner"):
        name, estimator = _read_learner(entry, task, ())
        if name in learners:
            raise entry.error("name", f"learners must have different names, got {name!r} twice.")
        learners[name] = estimator
    return learners


def read_sweeps(top: FileTable, task: Task) -> tuple[SweepEntry, ...]:
    """Read ``[[sweep]]`` tables."""
    found: list[SweepEntry] = []
    for entry in top.tables("sweep"):
        name, estimator = _read_learner(entry, task, ("over",))
        _check_name(entry, name, found)
        found.append(SweepEntry(name, estimator, _read_over(entry, estimator)))
    return tuple(found)


def read_nested(top: FileTable, task: Task) -> tuple[NestedEntry, ...]:
    """Read ``[[nested]]`` tables."""
    found: list[NestedEntry] = []
    for entry in top.tables("nested"):
        name, estimator = _read_learner(entry, task, ("over", "inner", "score"))
        _check_name(entry, name, found)
        inner, score = entry.get("inner", str, "5-fold"), entry.get("score", str)
        with entry.located("inner"):
            parse_protocol(inner, task=task)
        with entry.located("score"):
            if score is not None and get_score(score).task != task:
                raise ValueError(f"must be a score of a {task}, got {score!r}.")
        found.append(NestedEntry(name, estimator, _read_over(entry, estimator), inner, score))
    return tuple(found)


def _check_name(entry: FileTable, name: str, others: Sequence[Any]) -> None:
    if any(other.name == name for other in others):
        raise entry.error(
            "name" if "name" in entry.values else "learner",
            f"tables of one kind must have different names, got {name!r} twice: set 'name'.",
        )


def _read_learner(entry: FileTable, task: Task, others: Sequence[str]) -> tuple[str, Any]:
    """Make the estimator of a table; keys beside its own and ``others`` are hyper-parameters."""
    reserved = ("name", "learner", "steps", *others)
    parameters = {key: value for key, value in entry.values.items() if key not in reserved}
    learner, steps = entry.get("learner", str), entry.get_list("steps", str)
    if (learner is None) == (not steps):
        raise entry.error("learner", "is required, or 'steps' in its stead, and not both.")
    if steps:
        for index, step in enumerate(steps):
            with entry.located("steps", index):
                make_learner(step, task)
        estimator = make_steps(steps, task)
        default = " + ".join(step.rpartition(".")[2] for step in steps)
    else:
        with entry.located("learner"):
            estimator = make_learner(learner, task)
        default = learner
    for key, value in parameters.items():
        with entry.located(key):
            _check_known(estimator, key)
            estimator = _with_value(estimator, key, value)
    return entry.get("name", str, default), estimator


def _check_known(estimator: Any, name: str) -> None:
    """Raise if an estimator, or one inside of it, has no such hyper-parameter."""
    known = estimator.get_params(deep=True)
    if name not in known:
        hint = did_you_mean(name, known)
        raise UnknownParameterError(
            f"there is no parameter {name!r} of {type(estimator).__name__}.{hint}"
        )


def _with_value(estimator: Any, key: str, value: Any) -> Any:
    """Return a copy of an estimator with another value; a text is parsed by the declared type."""
    if isinstance(estimator, Parameters) and isinstance(value, str):
        value = parse_parameter(type(estimator), key, value)
    elif value == "none":  # TOML has no such value
        value = None
    changed = clone(estimator).set_params(**{key: value})
    if isinstance(changed, Parameters):
        validate(changed)
    return changed


def _read_over(entry: FileTable, estimator: Any) -> dict[str, list[Any]]:
    """Read the values of hyper-parameters, ``over = {max_depth = [1, 2, 3]}``."""
    given = entry.values.get("over")
    if not isinstance(given, dict) or not given:
        message = "must be a table of lists, such as {max_depth = [1, 2, 3]}"
        raise entry.error("over", f"{message}, got {given!r}." if given else f"{message}.")
    table = FileTable(given, entry.path, entry.lines, (*entry.where, "over"))
    over: dict[str, list[Any]] = {}
    for name, values in given.items():
        with table.located(name):
            _check_known(estimator, name)
        if not isinstance(values, list) or not values:
            raise table.error(name, f"must be a list of values, got {values!r}.")
        over[name] = []
        for index, value in enumerate(values):
            with table.located(name, index):
                over[name].append(_with_value(estimator, name, value).get_params()[name])
    return over


def _has_type(value: Any, kind: type) -> bool:
    """Return whether a value of TOML has a type; whole numbers are numbers, bools are not."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else cast(Any, kind))
