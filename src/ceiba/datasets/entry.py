"""One line of the catalogue: what a table is, and how to make its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from ceiba.data.table import Table


class Task(StrEnum):
    """What is predicted: a class or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Source(StrEnum):
    """Where the rows of a table come from."""

    TEXTBOOK = "textbook"
    SYNTHETIC = "synthetic"
    BUNDLED = "bundled"
    SKLEARN = "scikit-learn"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table: its attributes, its target and, where rows have them, their names."""

    table: Table
    target: np.ndarray[Any, Any]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A table of the catalogue.

    ``make`` gives the rows. It takes no arguments, except for a synthetic table, whose ``make``
    takes ``seed`` and ``n_rows``.
    """

    name: str
    source: Source
    task: Task
    target: str
    description: str
    citation: str
    make: Callable[..., Rows]
