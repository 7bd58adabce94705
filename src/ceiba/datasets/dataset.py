"""A loaded table: attributes, target, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.datasets.entry import Task


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset:
    """A table with its target, schema, description and citation; unpacks as ``X, y``.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    task : {"classification", "regression"}
    X : ndarray of float64, Table or pandas.DataFrame
        The attributes. A DataFrame if asked for; else an array where every column is numeric (a
        gap is NaN), and a `ceiba.data.Table`, which every learner takes, where one is not: an
        array would lose kinds and levels.
    y : ndarray or pandas.Series
        The target: class labels (text, or integers where every label is a whole number), or
        float64 for regression. It has no gaps.
    table : Table
        The attributes as a Table, whatever X is.
    target_name : str
    description : str
    citation : str
        Whom to cite when results are published.
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
    >>> lenses.schema[0].levels
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
        """Give X, then y."""
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        size = f"{len(self.y)} rows, {len(self.schema)} attributes"
        return f"<Dataset {self.name}: {size}, {self.task} of {self.target_name}>"

    @property
    def schema(self) -> Schema:
        """Names, kinds and levels of the attributes."""
        return self.table.schema

    @property
    def feature_names(self) -> list[str]:
        """Names of the attributes, in order."""
        return self.schema.names
