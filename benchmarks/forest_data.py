"""Tables to grow forests on: rows to learn from, and new rows to be asked about."""

from __future__ import annotations

import numpy as np

from benchmarks.census_like import people
from benchmarks.tree_data import COLUMNS, Array, Parted, Sample, Task, parted, signal

FAMILY = {"classes": "forest-classes", "numbers": "forest-numbers"}
TITLE = {"classes": "five classes", "numbers": "regression"}
CLASSES = 5
# So much that a tree of full depth on 100,000 rows ends in some 20,000 leaves.
NOISE = 0.3
# Fewer new rows would judge by chance.
FEWEST_NEW = 5_000


def normal(task: Task, seed: int, rows: int) -> Parted:
    """Independent normal columns; the first six decide, behind little noise."""
    random = np.random.default_rng(seed)
    total = rows + new_rows(rows)
    X = random.standard_normal((total, COLUMNS))
    y = signal(X) + NOISE * random.standard_normal(total)
    return parted(Sample(X, fifths(y) if task == "classes" else y), rows)


def fifths(y: Array) -> Array:
    """Five classes of equal size by the order of the numbers."""
    return np.digitize(y, np.quantile(y, np.arange(1, CLASSES) / CLASSES))


def census(seed: int, rows: int) -> Parted:
    """A pandas frame with nominal columns and gaps; one person in eight is of the second class."""
    return parted(people(seed, rows + new_rows(rows)), rows)


def new_rows(rows: int) -> int:
    """How many rows are asked about."""
    return max(rows // 2, FEWEST_NEW)
