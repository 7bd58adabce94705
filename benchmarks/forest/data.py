"""Tables to grow forests on: training rows and test rows."""

from __future__ import annotations

import numpy as np

from benchmarks.forest.census_like import make_people
from benchmarks.tree.data import N_COLUMNS, Array, Sample, SplitSample, Task, signal, split_rows

FAMILY = {"classification": "forest-classification", "regression": "forest-regression"}
TITLE = {"classification": "five classes", "regression": "regression"}
N_CLASSES = 5
# With this noise a tree of full depth on 100,000 rows has some 20,000 leaves.
NOISE = 0.3
# With fewer test rows the metrics would depend on chance.
MIN_TEST_ROWS = 5_000


def normal_table(task: Task, seed: int, n_rows: int) -> SplitSample:
    """Make independent normal columns; the first six carry the signal, with little noise."""
    rng = np.random.default_rng(seed)
    total = n_rows + n_test_rows(n_rows)
    X = rng.standard_normal((total, N_COLUMNS))
    y = signal(X) + NOISE * rng.standard_normal(total)
    target = quantile_classes(y) if task == "classification" else y
    return split_rows(Sample(X, target), n_rows)


def quantile_classes(y: Array) -> Array:
    """Return five classes of equal size by the order of the numbers."""
    return np.digitize(y, np.quantile(y, np.arange(1, N_CLASSES) / N_CLASSES))


def census_table(seed: int, n_rows: int) -> SplitSample:
    """Make a pandas frame with nominal columns and missing values; one row in eight positive."""
    return split_rows(make_people(seed, n_rows + n_test_rows(n_rows)), n_rows)


def n_test_rows(n_rows: int) -> int:
    """Return the number of test rows."""
    return max(n_rows // 2, MIN_TEST_ROWS)
