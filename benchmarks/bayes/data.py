"""Tables for Bayesian network classifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

Array = np.ndarray[Any, Any]
# Rows whose probabilities are compared.
N_COMPARED = 20_000


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows in the forms that libraries take: a frame, a matrix of numbers or codes, a table.

    ``fitted`` has a fitted model for each library, in workloads of predictions.
    """

    frame: Any
    matrix: Array
    y: Array
    fitted: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def table(self) -> Any:
        """The frame as a table of Ceiba, as others get the codes: made before the clock runs."""
        from ceiba.data import Table

        return Table.of(self.frame)

    @cached_property
    def texts(self) -> Any:
        """The frame with columns of text."""
        return self.frame.astype(str).astype(object)

    @cached_property
    def one_hot(self) -> Any:
        """Sparse indicators of all categories."""
        from sklearn.preprocessing import OneHotEncoder

        return OneHotEncoder().fit_transform(self.matrix)


def nominal(n_columns: int, n_categories: int, n_classes: int) -> Callable[[int, int], Problem]:
    """Return a maker of nominal tables, in which a column depends on the class and on the last."""

    def make(seed: int, n_rows: int) -> Problem:
        rng = np.random.default_rng(seed)
        y = rng.integers(0, n_classes, n_rows)
        codes = np.empty((n_rows, n_columns), np.int64)
        previous = np.zeros(n_rows, np.int64)
        for j in range(n_columns):
            base = rng.permuted(np.arange(n_classes) * 3 % n_categories)[y]
            noise = rng.integers(0, n_categories, n_rows)
            chosen = rng.random(n_rows)
            previous = np.where(chosen < 0.1, base, np.where(chosen < 0.4, previous, noise))
            codes[:, j] = previous
        return Problem(_categorical(codes, n_categories), codes, y)

    return make


def _categorical(codes: Array, n_categories: int) -> Any:
    labels = [f"v{k}" for k in range(n_categories)]
    small = codes.astype(np.int8)
    columns = {
        f"x{j}": pd.Categorical.from_codes(small[:, j], labels) for j in range(codes.shape[1])
    }
    return pd.DataFrame(columns)


def normal(n_columns: int, n_classes: int) -> Callable[[int, int], Problem]:
    """Return a maker of normal columns, whose means depend on the class."""

    def make(seed: int, n_rows: int) -> Problem:
        rng = np.random.default_rng(seed)
        y = rng.integers(0, n_classes, n_rows)
        X = rng.normal(size=(n_rows, n_columns)) + rng.normal(0, 0.4, (n_classes, n_columns))[y]
        return Problem(X, X, y)

    return make


def bundled(name: str) -> Callable[[int, int], Problem]:
    """Return a maker of a table of Ceiba, whatever the number of rows."""

    def make(seed: int, n_rows: int) -> Problem:
        from ceiba import datasets

        data = datasets.load(name)
        numeric = data.table.schema.all_numeric
        matrix = np.asarray(data.table) if numeric else np.empty((len(data.y), 0))
        return Problem(matrix if numeric else data.table.to_pandas(), matrix, np.asarray(data.y))

    return make
