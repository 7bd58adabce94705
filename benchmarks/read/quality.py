"""Compare the values that were read with those that were written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.read.data import Array, FileData
from benchmarks.workload import Check, Metrics

CHECKS = (Check("rows", 0.0), Check("missing", 0.0), Check("wrong", 0.0, "at most"))


def score_table(table: Any, data: FileData) -> Metrics:
    """Count rows, missing values, and values that differ in any bit from those written."""
    frame = to_pandas(table)
    if list(frame.columns) != list(data.columns):
        raise ValueError(f"columns must be {list(data.columns)}, got {list(frame.columns)}.")
    n_missing = n_wrong = 0.0
    for name, expected in data.columns.items():
        column = frame[name]
        missing = column.isna().to_numpy()
        n_missing += float(missing.sum())
        if expected.dtype == object:
            values, expected_missing = column.astype(object).to_numpy(), is_none(expected)
        else:
            values = column.to_numpy(np.float64, na_value=np.nan)
            expected_missing = np.isnan(expected)
        n_wrong += count_wrong(values == expected, missing, expected_missing)
    return {"rows": float(len(frame)), "missing": n_missing, "wrong": n_wrong}


def to_pandas(table: Any) -> Any:
    """Convert a table of any of the libraries to a pandas frame."""
    frame_class = import_module("pandas").DataFrame
    return table if isinstance(table, frame_class) else table.to_pandas()


def is_none(values: Array) -> Array:
    """Return the mask of missing texts."""
    return np.array([value is None for value in values])


def count_wrong(equal: Array, missing: Array, expected_missing: Array) -> float:
    """Count values that differ, or that are missing in one of the tables only."""
    return float(np.sum(~(equal | expected_missing) | (missing != expected_missing)))
