"""Datasets of experiments from files or the bundled tables: rows, target, task and groups."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ceiba import datasets as bundled
from ceiba._typing import Array
from ceiba.data import read
from ceiba.data.categories import list_labels
from ceiba.data.io.errors import ReadError
from ceiba.data.io.selection import check_name, known_values
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.experiments.running.units import Dataset
from ceiba.experiments.table_checks.target import infer_task


class TargetError(ValueError):
    """The target of a dataset is missing, not a column, or of another task."""


def load_table(
    source: str | os.PathLike[str],
    target: str | None = None,
    *,
    task: Task | None = None,
    drop: Sequence[str] = (),
    groups: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    """Load a file, or a bundled table, as a dataset of an experiment.

    Parameters
    ----------
    source : str or path-like
        A CSV, Parquet or ARFF file; or the name of a table of `ceiba.datasets`, if there is no
        such file.
    target : str, optional
        Column of the target; required for files. A bundled table has one, and may be given another.
    task : {"classification", "regression"}, optional
        By default inferred from the target: text and few whole numbers are classes.
    drop : sequence of str
        Columns to leave out.
    groups : str, optional
        Column with the group of each row, for protocols of groups; it is left out of the rows.
    kinds : mapping, optional
        Kinds of columns that differ from the inferred ones, as in `ceiba.read`.
    encoding : str
        Of a CSV or ARFF file.
    name : str, optional
        Name of the dataset: by default that of the file without suffix.

    Returns
    -------
    Dataset

    Raises
    ------
    ReadError, OSError
        If the file is invalid or cannot be read.
    TargetError
        If the target is not given, or does not suit the task.

    Examples
    --------
    >>> load_table("iris").task
    'classification'
    >>> data = load_table("auto_mpg", drop=["origin"])
    >>> data.task, data.X.shape
    ('regression', (398, 6))
    """
    path, text = Path(source), os.fspath(source)
    from_file = path.exists() or not is_bundled(text)
    if from_file:
        unused = [*drop, *filter(None, [target, groups])]
        table, y = _read_file(path, text, target, unused, kinds, encoding), None
    else:
        table, y, task = _load_bundled(text, target, task, kinds, encoding)
    unused = list(drop)
    if y is None:
        y, unused = _known_column(table, target, path), [*unused, str(target)]
    group_labels = None
    if groups is not None:
        group_labels, unused = _known_column(table, groups, path), [*unused, groups]
    for column in unused:
        check_name(column, table.schema.names, path)
    if len(set(unused)) == len(table.schema):
        raise ReadError(f"{path}: no column is left beside the target.")
    rows = table.drop(unused) if unused else table
    is_whole = not from_file and not unused and name in (None, text)
    return Dataset(
        name or stem(path), rows, y, task or infer_task(y), group_labels, bundled=is_whole
    )


def is_bundled(name: str) -> bool:
    """Return whether there is a bundled table of a name."""
    return name in bundled.names()


def stem(path: Path) -> str:
    """Return the name of a file without its suffixes, as the name of a dataset."""
    return path.name.split(".")[0] or path.name


def _read_file(
    path: Path,
    given: str,
    target: str | None,
    unused: Sequence[str],
    kinds: Mapping[str, Any] | None,
    encoding: str,
) -> Table:
    """Read a file, without warnings about columns that are not used as attributes."""
    check_found(path, given)
    if target is None:
        raise TargetError(f"{path}: name the column of the target; a file does not have one.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table: Table = read(given, kinds=kinds, encoding=encoding)
        is_unnamed = table.schema.names == [f"x{j}" for j in range(len(table.schema))]
        if is_unnamed and target not in table.schema.names:
            # Names such as years look like a record of data; the target is known to be a name.
            table = read(given, kinds=kinds, encoding=encoding, header=True)
    for warning in caught:
        if not any(f"column {column!r}" in str(warning.message) for column in unused):
            warn_user(str(warning.message), warning.category)
    return table


def _load_bundled(
    name: str,
    target: str | None,
    task: Task | None,
    kinds: Mapping[str, Any] | None,
    encoding: str,
) -> tuple[Table, Array | None, Task | None]:
    """Return rows, target and task; without a target, if another column is named."""
    if kinds or encoding != "utf-8":
        raise ValueError(f"Kinds and encoding are for files, and {name} is a bundled table.")
    loaded = bundled.load(name)
    if target not in (None, loaded.target_name):
        warn_user(f"{loaded.target_name!r}, the target of {name}, is left out.", UserWarning)
        return loaded.table, None, task
    if task not in (None, loaded.task):
        raise TargetError(f"The task of the table {name} is {loaded.task}, got {task}.")
    return loaded.table, loaded.y, loaded.task.value


def _known_column(table: Table, column: Any, path: Path) -> Array:
    check_name(column, table.schema.names, path)
    return known_values(table[[column]], str(path))


def check_found(path: Path, given: str) -> None:
    """Raise FileNotFoundError, with a similar bundled table, if there is no file."""
    if path.exists() or any(sign in given for sign in "*?["):
        return
    known = bundled.names()
    close = difflib.get_close_matches(given, known, n=1)
    if close:
        hint = f" Did you mean the bundled table {close[0]!r}?"
    elif path.suffix:
        hint = ""
    else:
        hint = f" Nor is there a bundled table; those are {list_labels(known)}"
    raise FileNotFoundError(f"There is no file {given!r}.{hint}")
