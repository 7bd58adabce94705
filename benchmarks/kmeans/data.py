"""Tables to cluster, and the initial centers of all fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MakeTable = Callable[[int, int, int, int], Array]


@dataclass(frozen=True)
class Problem:
    """Rows, and the initial centers."""

    X: Array
    centers: Array


def blobs(seed: int, n_rows: int, n_columns: int, n_clusters: int) -> Array:
    """Make overlapping Gaussian blobs: centers in a box of ten, standard deviation three."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-5, 5, (n_clusters, n_columns))
    cluster = rng.integers(n_clusters, size=n_rows)
    return centers[cluster] + 3 * rng.standard_normal((n_rows, n_columns))


def noise(seed: int, n_rows: int, n_columns: int, n_clusters: int) -> Array:
    """Make rows without structure: the worst case for distance bounds."""
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns))


def iris(seed: int, n_rows: int, n_columns: int, n_clusters: int) -> Array:
    """Return the 150 rows of iris, for any seed."""
    X: Array = import_module("sklearn.datasets").load_iris().data
    return X


def data_maker(
    make_table: MakeTable, n_columns: int, n_clusters: int, dtypes: tuple[str, ...]
) -> Callable[[int, int], Mapping[str, Problem]]:
    """Return a function that makes one group per dtype, with the same random rows as centers."""

    def make_data(seed: int, n_rows: int) -> dict[str, Problem]:
        X = make_table(seed, n_rows, n_columns, n_clusters)
        centers = X[np.random.default_rng(seed + 1).choice(len(X), n_clusters, replace=False)]
        return {dtype: Problem(X.astype(dtype), centers.astype(dtype)) for dtype in dtypes}

    return make_data
