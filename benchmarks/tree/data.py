"""Tables to grow trees on.

Normal columns of which six carry a noisy signal, so that a greedy tree finds splits at every
depth; tables with missing values, of mixed and of correlated columns; and iris.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Task = Literal["classification", "regression"]

# First part of the workloads' names, and of their titles.
FAMILY = {"classification": "tree", "regression": "tree-regression"}
TITLE = {"classification": "two classes", "regression": "regression"}
N_COLUMNS = 28
MISSING_FRACTION = 0.05
# Number of categories of the nominal columns.
N_CATEGORIES = (2, 3, 4, 6, 8, 12, 18, 26, 40, 60)


@dataclass(frozen=True)
class Sample:
    """Rows and their targets: class indices, or numbers."""

    X: Any
    y: Array


@dataclass(frozen=True)
class SplitSample(Sample):
    """Training rows and test rows."""

    test: Sample


def split_rows(sample: Sample, n_rows: int) -> SplitSample:
    """Split a sample: the first ``n_rows`` for training, the others for the test."""
    test = Sample(sample.X[n_rows:], sample.y[n_rows:])
    return SplitSample(sample.X[:n_rows], sample.y[:n_rows], test)


def normal_table(task: Task, seed: int, n_rows: int, n_columns: int = N_COLUMNS) -> Sample:
    """Make independent normal columns; the first six carry the signal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    y = signal(X) + 1.5 * rng.standard_normal(n_rows)
    return Sample(X, to_target(task, y))


def signal(X: Array) -> Array:
    """Return a smooth function of six columns with a mean of about zero."""
    a, b, c, d, e, f = X[:, :6].T
    values: Array = np.sin(2 * a) + b * np.abs(b) / 2 + np.abs(c) - 0.8 + (d + 0.5) * e + f / 3
    return values


def to_target(task: Task, y: Array) -> Array:
    """Return the numbers, or whether they are positive as classes 0 and 1."""
    return (y > 0).astype(np.int64) if task == "classification" else y


def mixed_table(seed: int, n_rows: int) -> Sample:
    """Make a pandas frame of 10 nominal and 10 numeric columns, 5 % missing; two classes."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    y = 1.5 * rng.standard_normal(n_rows)
    for n_categories in N_CATEGORIES:
        codes = rng.integers(n_categories, size=n_rows)
        y += 0.6 * rng.standard_normal(n_categories)[codes]
        columns[f"nominal_{n_categories}"] = categorical(with_missing(codes, -1, rng), n_categories)
    X = rng.standard_normal((n_rows, 10))
    y += signal(X)
    columns |= {f"number_{j}": with_missing(X[:, j], np.nan, rng) for j in range(X.shape[1])}
    return Sample(import_module("pandas").DataFrame(columns), to_target("classification", y))


def correlated_table(seed: int, n_rows: int) -> Sample:
    """Make 10 numeric columns, 5 % missing, the last four near copies of the first; two classes.

    Where one of the first four is missing, its copy can replace it: surrogate splits are useful.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 10))
    y = signal(X) + 1.5 * rng.standard_normal(n_rows)
    X[:, 6:] = X[:, :4] + 0.5 * rng.standard_normal((n_rows, 4))
    X = np.column_stack([with_missing(column, np.nan, rng) for column in X.T])
    return Sample(X, to_target("classification", y))


def with_missing(values: Array, marker: float, rng: np.random.Generator) -> Array:
    """Replace 5 % of the values by the marker of a missing value."""
    missing = rng.random(len(values)) < MISSING_FRACTION
    return np.where(missing, marker, values).astype(values.dtype)


def categorical(codes: Array, n_categories: int) -> Any:
    """Make a pandas categorical with named categories; the code -1 is missing."""
    names = [f"category {code}" for code in range(n_categories)]
    return import_module("pandas").Categorical.from_codes(codes, categories=names)


def iris() -> Sample:
    """Return the 150 rows of iris."""
    return Sample(*import_module("sklearn.datasets").load_iris(return_X_y=True))
