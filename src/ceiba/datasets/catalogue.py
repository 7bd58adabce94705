"""Every table by name: list them, load one."""

from __future__ import annotations

import difflib
from numbers import Integral
from typing import Any

from ceiba.datasets import bundled, external, sklearn_tables, synthetic, textbook
from ceiba.datasets.dataset import Dataset
from ceiba.datasets.entry import Entry, Source, Task
from ceiba.datasets.frame import to_frame, to_series

_ROOMS = (textbook, synthetic, bundled, sklearn_tables, external)
_CATALOGUE: dict[str, Entry] = {entry.name: entry for room in _ROOMS for entry in room.ENTRIES}


def names(*, task: str | None = None, source: str | None = None) -> list[str]:
    """Names of the tables that `load` knows, in alphabetical order.

    Parameters
    ----------
    task : {"classification", "regression"}, optional
        Only tables for this task.
    source : {"textbook", "synthetic", "bundled", "scikit-learn", "external"}, optional
        Only tables of this origin. All but the external ones load without a network.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from ceiba import datasets
    >>> datasets.names(task="regression")
    ['auto_mpg', 'automobiles', 'diabetes', 'servo']
    """
    _check_choice("task", task, [str(choice) for choice in Task])
    _check_choice("source", source, [str(choice) for choice in Source])
    return sorted(
        entry.name
        for entry in _CATALOGUE.values()
        if task in (None, entry.task) and source in (None, entry.source)
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
        Give ``X`` as a pandas DataFrame (nominal columns as categoricals, ordinal ones as ordered
        categoricals) and ``y`` as a Series. Otherwise ``X`` is a float64 array where every column
        is numeric, and a `ceiba.data.Table` where one is not: all learners here take it, while
        tools of scikit-learn that cut rows out of ``X`` want the frame. ``y`` is an array.
    seed : int, optional
        For synthetic tables: which draw to give. 0 by default.
    n_rows : int, optional
        For synthetic tables: how many rows. Each has its own default, told in its description.

    Returns
    -------
    Dataset
        With X, y, table, schema, feature_names, target_name, task, description, citation and
        row_names; unpacks as ``X, y``.

    Raises
    ------
    ValueError
        If there is no such table, or ``seed`` or ``n_rows`` is given for one that is not drawn.
    DatasetNotFoundError
        If an external table is in none of the places where it is looked for; the message names
        them. Nothing else ever asks the network.

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
    rows = entry.make(**_options(entry, seed, n_rows))
    X: Any = rows.table if rows.table.matrix is None else rows.table.matrix
    return Dataset(
        name=entry.name,
        task=entry.task,
        X=to_frame(rows.table) if as_frame else X,
        y=to_series(rows.target, entry.target, entry.task) if as_frame else rows.target,
        table=rows.table,
        target_name=entry.target,
        description=entry.description,
        citation=entry.citation,
        row_names=rows.names,
    )


def _find(name: str) -> Entry:
    if name in _CATALOGUE:
        return _CATALOGUE[name]
    close = difflib.get_close_matches(str(name), _CATALOGUE, n=3)
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ValueError(f"No table is called {name!r}. {hint}ceiba.datasets.names() lists them all.")


def _options(entry: Entry, seed: int | None, n_rows: int | None) -> dict[str, int]:
    given = {"seed": seed, "n_rows": n_rows}
    options = {option: value for option, value in given.items() if value is not None}
    if options and entry.source is not Source.SYNTHETIC:
        raise ValueError(
            f"{entry.name} is a fixed table and takes no {' or '.join(options)}: only synthetic "
            f"tables do ({', '.join(names(source='synthetic'))})."
        )
    for option, value in options.items():
        low, high = (0, 2**32 - 1) if option == "seed" else (1, 2**31 - 1)
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= value <= high:
            raise ValueError(
                f"{option} must be a whole number from {low} to {high}, not {value!r}."
            )
    return {option: int(value) for option, value in options.items()}


def _check_choice(option: str, value: str | None, choices: list[str]) -> None:
    if value is not None and value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}, not {value!r}.")
