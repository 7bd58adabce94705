"""Tables to grow trees on.

Normal columns of which some decide behind noise, so that a greedy tree finds something to do at
every depth; tables with gaps, of mixed and of related columns; and iris.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Task = Literal["classes", "numbers"]

# How the workloads of a task are called, and what their titles say.
FAMILY = {"classes": "tree", "numbers": "tree-regression"}
TITLE = {"classes": "two classes", "numbers": "regression"}
COLUMNS = 28
GAPS = 0.05
# Levels of the nominal columns: from yes or no to something like a place.
LEVELS = (2, 3, 4, 6, 8, 12, 18, 26, 40, 60)


@dataclass(frozen=True)
class Sample:
    """Rows and their targets: classes 0 and 1, or numbers."""

    X: Any
    y: Array


@dataclass(frozen=True)
class Parted(Sample):
    """Rows to grow from, and new rows to ask about."""

    new: Sample


def parted(sample: Sample, rows: int) -> Parted:
    """The first rows to grow from, the others new."""
    new = Sample(sample.X[rows:], sample.y[rows:])
    return Parted(sample.X[:rows], sample.y[:rows], new)


def normal(task: Task, seed: int, rows: int, columns: int = COLUMNS) -> Sample:
    """Independent normal columns; the first six decide, behind noise."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, columns))
    y = signal(X) + 1.5 * random.standard_normal(rows)
    return Sample(X, target(task, y))


def signal(X: Array) -> Array:
    """A wave, two bends, a product and a slope of six columns, about zero in the mean."""
    a, b, c, d, e, f = X[:, :6].T
    found: Array = np.sin(2 * a) + b * np.abs(b) / 2 + np.abs(c) - 0.8 + (d + 0.5) * e + f / 3
    return found


def target(task: Task, y: Array) -> Array:
    """The number itself, or on which side of zero it lies."""
    return (y > 0).astype(np.int64) if task == "classes" else y


def mixed(seed: int, rows: int) -> Sample:
    """Ten nominal and ten numeric columns of a pandas frame, each with 5 % gaps; two classes."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    y = 1.5 * random.standard_normal(rows)
    for levels in LEVELS:
        codes = random.integers(levels, size=rows)
        y += 0.6 * random.standard_normal(levels)[codes]
        columns[f"kind_{levels}"] = categories(with_gaps(codes, -1, random), levels)
    X = random.standard_normal((rows, 10))
    y += signal(X)
    columns |= {f"number_{j}": with_gaps(X[:, j], np.nan, random) for j in range(X.shape[1])}
    return Sample(import_module("pandas").DataFrame(columns), target("classes", y))


def related(seed: int, rows: int) -> Sample:
    """Ten numeric columns with 5 % gaps each, the last four akin to the first; two classes.

    A gap in one of the first four can be made up for by its relative: surrogates find something.
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 10))
    y = signal(X) + 1.5 * random.standard_normal(rows)
    X[:, 6:] = X[:, :4] + 0.5 * random.standard_normal((rows, 4))
    gappy = np.column_stack([with_gaps(column, np.nan, random) for column in X.T])
    return Sample(gappy, target("classes", y))


def with_gaps(values: Array, gap: float, random: np.random.Generator) -> Array:
    """The values, a twentieth of them replaced by the sign for a gap."""
    return np.where(random.random(len(values)) < GAPS, gap, values).astype(values.dtype)


def categories(codes: Array, levels: int) -> Any:
    """A pandas categorical with named levels; the code -1 is a gap."""
    names = [f"level {level}" for level in range(levels)]
    return import_module("pandas").Categorical.from_codes(codes, categories=names)


def iris() -> Sample:
    """The 150 flowers."""
    return Sample(*import_module("sklearn.datasets").load_iris(return_X_y=True))
