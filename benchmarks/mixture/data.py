"""Tables of overlapping clusters, and the initial parameters of all mixtures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import release_free_memory

Array = NDArray[Any]
CovarianceType = Literal["full", "tied", "diag", "spherical"]
MakeTable = Callable[[int, int, int, int], Array]

# An initial mean is the mean of so many random rows: a single row of many columns is so far out
# that its component would soon have fewer rows than columns.
ROWS_PER_MEAN = 8
MISSING_FRACTION = 0.1


class GroupSpec(NamedTuple):
    """What distinguishes the groups of a workload."""

    covariance_type: CovarianceType
    dtype: str = "float64"


class Shape(NamedTuple):
    """Columns, components and rows of a workload."""

    n_columns: int
    n_components: int
    n_rows: int
    quick_n_rows: int


@dataclass(frozen=True)
class Problem:
    """Rows, and the initial parameters."""

    X: Array
    covariance_type: CovarianceType
    weights: Array
    means: Array
    covariances: Array

    @cached_property
    def precisions(self) -> Array:
        """Inverse covariances, in the same shape."""
        are_matrices = self.covariance_type in ("full", "tied")
        return np.linalg.inv(self.covariances) if are_matrices else 1 / self.covariances


def clusters(seed: int, n_rows: int, n_columns: int, n_components: int) -> Array:
    """Make three overlapping clusters per component, each with its own correlations.

    A mixture cannot separate them, so that EM still improves in its last iteration. The overlap
    does not depend on the number of columns.
    """
    rng = np.random.default_rng(seed)
    n_clusters = 3 * n_components
    centers = rng.uniform(-4, 4, (n_clusters, n_columns)) / np.sqrt(n_columns)
    noise = rng.standard_normal((n_clusters, n_columns, n_columns))
    transforms = np.eye(n_columns) + 2 * noise / n_columns
    cluster = rng.integers(n_clusters, size=n_rows)
    X = rng.standard_normal((n_rows, n_columns))
    for index, (center, transform) in enumerate(zip(centers, transforms, strict=True)):
        rows = cluster == index
        X[rows] = X[rows] @ transform + center
    return X


def iris(seed: int, n_rows: int, n_columns: int, n_components: int) -> Array:
    """Return the 150 rows of iris, for any seed."""
    X: Array = import_module("sklearn.datasets").load_iris().data
    return X


def with_missing(X: Array, seed: int) -> Array:
    """Return the rows with a tenth of their values missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < MISSING_FRACTION, np.nan, X)


def make_problem(
    X: Array, covariance_type: CovarianceType, n_components: int, seed: int
) -> Problem:
    """Set equal weights, means of a few random rows, and the covariance of all rows."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(X), (n_components, ROWS_PER_MEAN), replace=False)
    pooled = np.cov(X, rowvar=False)
    variances = np.diag(pooled)
    covariances = {
        "full": np.tile(pooled, (n_components, 1, 1)),
        "tied": pooled,
        "diag": np.tile(variances, (n_components, 1)),
        "spherical": np.full(n_components, variances.mean()),
    }
    weights = np.full(n_components, 1 / n_components)
    means = X[rows].mean(axis=1)
    return Problem(X, covariance_type, weights, means, covariances[covariance_type])


def data_maker(
    make_table: MakeTable,
    shape: Shape,
    groups: Mapping[str, GroupSpec],
    missing: bool = False,
) -> Callable[[int, int], dict[str, Problem]]:
    """Return a function that makes the same rows and initial means for all groups."""

    def make_data(seed: int, n_rows: int) -> dict[str, Problem]:
        complete = make_table(seed, n_rows, shape.n_columns, shape.n_components)
        X = with_missing(complete, seed + 2) if missing else complete
        tables = {spec.dtype: X.astype(spec.dtype, copy=False) for spec in groups.values()}
        problems = {}
        for group, (covariance_type, dtype) in groups.items():
            problem = make_problem(complete, covariance_type, shape.n_components, seed + 1)
            problems[group] = replace(problem, X=tables[dtype])
        release_free_memory()
        return problems

    return make_data
