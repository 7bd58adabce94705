"""Catalog of all tables: list their names, load one."""

from __future__ import annotations

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from numbers import Integral
from pathlib import Path
from typing import Any

from ceiba._typing import Array
from ceiba.datasets import bundled, synthetic
from ceiba.datasets.dataset import Dataset, LoadedTable, Task
from ceiba.datasets.external import OpenmlTable, load_external
from ceiba.datasets.text_table import ColumnKinds, read_text_table

_SOURCES = ("textbook", "synthetic", "bundled", "scikit-learn", "external")


@cache
def _catalog() -> dict[str, dict[str, Any]]:
    """Read source, target, task, description and citation of every table."""
    text = files("ceiba.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    defaults = {"target": "class", "task": "classification"}
    return {name: defaults | entry for name, entry in tomllib.loads(text).items()}


def names(*, task: str | None = None, source: str | None = None) -> list[str]:
    """List the names of all tables in alphabetical order.

    Parameters
    ----------
    task : {"classification", "regression"}, optional
        Only tables for this task.
    source : {"textbook", "synthetic", "bundled", "scikit-learn", "external"}, optional
        Only tables of this source. All but the external ones load without a network.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from ceiba import datasets
    >>> datasets.names(task="regression")
    ['auto_mpg', 'automobiles', 'diabetes', 'servo']
    """
    for option, value, choices in (("task", task, tuple(Task)), ("source", source, _SOURCES)):
        if value is not None and value not in choices:
            raise ValueError(f"{option} must be one of {', '.join(choices)}, got {value!r}.")
    return sorted(
        name
        for name, entry in _catalog().items()
        if task in (None, entry["task"]) and source in (None, entry["source"])
    )


def load(
    name: str, *, as_frame: bool = False, seed: int | None = None, n_rows: int | None = None
) -> Dataset:
    """Load a table by its name.

    Parameters
    ----------
    name : str
        One of `names()`.
    as_frame : bool
        Return ``X`` as a pandas DataFrame (nominal columns as categoricals, ordinal ones as
        ordered categoricals) and ``y`` as a Series. Otherwise ``X`` is a float64 array if all
        columns are numeric, else a `ceiba.data.Table`, which all learners of Ceiba accept; tools
        that require a frame need ``as_frame=True``. ``y`` is an array.
    seed : int, optional
        For synthetic tables: seed of the random draws. 0 by default.
    n_rows : int, optional
        For synthetic tables: number of rows. The description of a table states its default.

    Returns
    -------
    Dataset
        With X, y, table, schema, feature_names, target_name, task, description, citation and
        row_names; unpacks as ``X, y``.

    Raises
    ------
    ValueError
        If there is no such table, or ``seed`` or ``n_rows`` is given for one that is not synthetic.
    DatasetNotFoundError
        If an external table is not found; the message lists the remedies.
        Only external tables use the network.

    Examples
    --------
    >>> from ceiba import datasets
    >>> X, y = datasets.load("xor", seed=3, n_rows=50)
    >>> X.shape
    (50, 2)
    >>> datasets.load("auto_mpg").row_names[0]
    'chevrolet chevelle malibu'
    """
    entry = _find(name)
    task, target = Task(entry["task"]), entry["target"]
    loaded = _load(name, entry, **_options(name, entry["source"], seed, n_rows))
    table, y = loaded.table, loaded.target
    X: Any = table if table.matrix is None else table.matrix
    return Dataset(
        name=name,
        task=task,
        X=table.to_pandas() if as_frame else X,
        y=_to_series(y, target, task) if as_frame else y,
        table=table,
        target_name=target,
        description=entry["description"],
        citation=entry["citation"],
        row_names=loaded.row_names,
    )


def _find(name: str) -> dict[str, Any]:
    if name in _catalog():
        return _catalog()[name]
    close = difflib.get_close_matches(str(name), _catalog(), n=3)
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ValueError(f"Unknown table {name!r}. {hint}ceiba.datasets.names() lists all tables.")


def _load(name: str, entry: dict[str, Any], **options: int) -> LoadedTable:
    source, target = entry["source"], entry["target"]
    if source == "synthetic":
        return synthetic.draw(name, **options)
    if source == "bundled":
        return bundled.load_archive(name)
    if source == "scikit-learn":
        return bundled.load_sklearn(entry["loader"], Task(entry["task"]))
    kinds = ColumnKinds(target, **entry["kinds"])
    if source == "external":
        return load_external(name, kinds, OpenmlTable(**entry["openml"]))
    raw = files("ceiba.datasets").joinpath("tables", f"{name}.csv").read_bytes()
    return read_text_table(raw, kinds, Path(name))


def _options(name: str, source: str, seed: int | None, n_rows: int | None) -> dict[str, int]:
    given = {"seed": seed, "n_rows": n_rows}
    options = {option: value for option, value in given.items() if value is not None}
    if options and source != "synthetic":
        raise ValueError(
            f"{next(iter(options))!r} has no effect with the fixed table {name!r}, only with "
            f"synthetic tables: {', '.join(names(source='synthetic'))}."
        )
    for option, value in options.items():
        low, high = (0, 2**32 - 1) if option == "seed" else (1, 2**31 - 1)
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= value <= high:
            raise ValueError(f"{option} must be an int in [{low}, {high}], got {value!r}.")
    return {option: int(value) for option, value in options.items()}


def _to_series(target: Array, name: str, task: Task) -> Any:
    """Convert a target to a Series: a categorical of class labels, or float64."""
    import pandas

    values = pandas.Categorical(target) if task is Task.CLASSIFICATION else target
    return pandas.Series(values, name=name)
