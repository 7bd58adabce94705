"""Datasets: a table with its target, description and citation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table


class Task(StrEnum):
    """Type of the target: a class or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@dataclass(frozen=True, slots=True, eq=False)
class LoadedTable:
    """Attributes, target and, for some tables, names of the rows."""

    table: Table
    target: Array
    row_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """A table with its target, schema, description and citation; unpacks as ``X, y``.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    task : {"classification", "regression"}
    X : ndarray of float64, Table or pandas.DataFrame
        The attributes: a DataFrame with ``as_frame=True``; otherwise an array if all columns are
        numeric (missing values are NaN), else a `ceiba.data.Table`, which every learner accepts
        and which keeps kinds and categories.
    y : ndarray or pandas.Series
        The target, without missing values: class labels (text, or integers where every label is a
        whole number), or float64 for regression.
    table : Table
        The attributes as a Table, whatever X is.
    target_name : str
    description : str
    citation : str
        The publication to cite with results.
    row_names : tuple of str
        A name for each row (an animal, a car) where the table has them; else empty.

    Examples
    --------
    >>> from ceiba.datasets import load
    >>> lenses = load("contact_lenses")
    >>> lenses
    <Dataset contact_lenses: 24 rows, 4 attributes, classification of recommendation>
    >>> lenses.feature_names
    ['age', 'prescription', 'astigmatism', 'tear_rate']
    >>> lenses.schema[0].categories
    ('pre-presbyopic', 'presbyopic', 'young')
    """

    name: str
    task: Task
    X: Any
    y: Any
    table: Table
    target_name: str
    description: str
    citation: str
    row_names: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        """Iterate over X and y."""
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        size = f"{len(self.y)} rows, {len(self.schema)} attributes"
        return f"<Dataset {self.name}: {size}, {self.task} of {self.target_name}>"

    @property
    def schema(self) -> Schema:
        """Names, kinds and categories of the attributes."""
        return self.table.schema

    @property
    def feature_names(self) -> list[str]:
        """Names of the attributes, in order."""
        return self.schema.names
