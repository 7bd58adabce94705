"""Catalog of all tables: list their names, load one."""

from __future__ import annotations

import difflib
from numbers import Integral
from typing import Any

from ceiba._typing import Array
from ceiba.datasets import bundled, external, sklearn_tables, synthetic, textbook
from ceiba.datasets.dataset import CatalogEntry, Dataset, Origin, Task

_MODULES = (textbook, synthetic, bundled, sklearn_tables, external)
_CATALOG: dict[str, CatalogEntry] = {
    entry.name: entry for module in _MODULES for entry in module.ENTRIES
}


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
    _check_choice("task", task, [str(choice) for choice in Task])
    _check_choice("source", source, [str(choice) for choice in Origin])
    return sorted(
        entry.name
        for entry in _CATALOG.values()
        if task in (None, entry.task) and source in (None, entry.origin)
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
    loaded = entry.load(**_options(entry, seed, n_rows))
    table, y = loaded.table, loaded.target
    X: Any = table if table.matrix is None else table.matrix
    return Dataset(
        name=entry.name,
        task=entry.task,
        X=table.to_pandas() if as_frame else X,
        y=_to_series(y, entry.target, entry.task) if as_frame else y,
        table=table,
        target_name=entry.target,
        description=entry.description,
        citation=entry.citation,
        row_names=loaded.row_names,
    )


def _find(name: str) -> CatalogEntry:
    if name in _CATALOG:
        return _CATALOG[name]
    close = difflib.get_close_matches(str(name), _CATALOG, n=3)
    hint = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ValueError(f"Unknown table {name!r}. {hint}ceiba.datasets.names() lists all tables.")


def _options(entry: CatalogEntry, seed: int | None, n_rows: int | None) -> dict[str, int]:
    given = {"seed": seed, "n_rows": n_rows}
    options = {option: value for option, value in given.items() if value is not None}
    if options and entry.origin is not Origin.SYNTHETIC:
        raise ValueError(
            f"{next(iter(options))!r} has no effect with the fixed table {entry.name!r}, only with "
            f"synthetic tables: {', '.join(names(source='synthetic'))}."
        )
    for option, value in options.items():
        low, high = (0, 2**32 - 1) if option == "seed" else (1, 2**31 - 1)
        if isinstance(value, bool) or not isinstance(value, Integral) or not low <= value <= high:
            raise ValueError(f"{option} must be an int in [{low}, {high}], got {value!r}.")
    return {option: int(value) for option, value in options.items()}


def _check_choice(option: str, value: str | None, choices: list[str]) -> None:
    if value is not None and value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}, got {value!r}.")


def _to_series(target: Array, name: str, task: Task) -> Any:
    """Convert a target to a Series: a categorical of class labels, or float64."""
    import pandas

    values = pandas.Categorical(target) if task is Task.CLASSIFICATION else target
    return pandas.Series(values, name=name)
