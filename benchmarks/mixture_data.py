"""Tables of overlapping groups, and the parameters that every mixture begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import give_back

Array = NDArray[Any]
Form = Literal["full", "tied", "diag", "spherical"]
Maker = Callable[[int, int, int, int], Array]

# Every first mean is that of so many random rows: a single row of many columns lies so far out
# that its component would soon hold fewer rows than columns.
ROWS_A_MEAN = 8
GAPS = 0.1


class Kind(NamedTuple):
    """What tells the groups of a workload apart."""

    form: Form
    dtype: str = "float64"


class Shape(NamedTuple):
    """Columns and components of a workload, and its rows."""

    columns: int
    k: int
    rows: int
    quick_rows: int


@dataclass(frozen=True)
class Start:
    """Rows, the form of the covariances, and the parameters that everyone begins with."""

    X: Array
    form: Form
    weights: Array
    means: Array
    covariances: Array

    @cached_property
    def precisions(self) -> Array:
        """Inverse covariances, in the same shape."""
        matrices = self.form in ("full", "tied")
        return np.linalg.inv(self.covariances) if matrices else 1 / self.covariances


def groups(seed: int, rows: int, columns: int, k: int) -> Array:
    """Three overlapping groups a component, each with correlations of its own.

    A mixture of k cannot tell them apart, so that EM still moves in its last step. Groups lie as
    near to each other in many columns as in few.
    """
    random = np.random.default_rng(seed)
    centres = random.uniform(-4, 4, (3 * k, columns)) / np.sqrt(columns)
    bends = np.eye(columns) + 2 * random.standard_normal((3 * k, columns, columns)) / columns
    which = random.integers(3 * k, size=rows)
    X = random.standard_normal((rows, columns))
    for group, (centre, bend) in enumerate(zip(centres, bends, strict=True)):
        mine = which == group
        X[mine] = X[mine] @ bend + centre
    return X


def iris(seed: int, rows: int, columns: int, k: int) -> Array:
    """The 150 flowers, whatever the seed."""
    X: Array = import_module("sklearn.datasets").load_iris().data
    return X


def punched(X: Array, seed: int) -> Array:
    """The same rows without a tenth of their values."""
    return np.where(np.random.default_rng(seed).random(X.shape) < GAPS, np.nan, X)


def begun(X: Array, form: Form, k: int, seed: int) -> Start:
    """Equal weights, means of a few random rows, and the covariance of all rows."""
    chosen = np.random.default_rng(seed).choice(len(X), (k, ROWS_A_MEAN), replace=False)
    pooled = np.cov(X, rowvar=False)
    variances = np.diag(pooled)
    covariances = {
        "full": np.tile(pooled, (k, 1, 1)),
        "tied": pooled,
        "diag": np.tile(variances, (k, 1)),
        "spherical": np.full(k, variances.mean()),
    }
    return Start(X, form, np.full(k, 1 / k), X[chosen].mean(axis=1), covariances[form])


def started(
    make: Maker, shape: Shape, kinds: Mapping[str, Kind], gaps: bool = False
) -> Callable[[int, int], dict[str, Start]]:
    """Data of a workload: the same rows and the same start for all of its groups."""

    def data(seed: int, rows: int) -> dict[str, Start]:
        X = make(seed, rows, shape.columns, shape.k)
        shown = punched(X, seed + 2) if gaps else X
        tables = {dtype: shown.astype(dtype, copy=False) for _, dtype in kinds.values()}
        found = {
            group: replace(begun(X, form, shape.k, seed + 1), X=tables[dtype])
            for group, (form, dtype) in kinds.items()
        }
        give_back()
        return found

    return data
