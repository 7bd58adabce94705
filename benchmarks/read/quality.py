"""Compare the values that were read with those that were written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.read.data import Array, FileData
from benchmarks.workload import Check, Metrics

# Of numbers. The default parser of pandas' C engine may be wrong in the last bit.
RELATIVE_TOLERANCE = 1e-14
CHECKS = (Check("rows", 0.0), Check("missing", 0.0), Check("wrong", 0.0, "at most"))


def score_table(table: Any, data: FileData) -> Metrics:
    """Count rows, missing values, wrong values, and numbers that are not equal in all bits."""
    frame = to_pandas(table)
    if list(frame.columns) != list(data.columns):
        raise ValueError(f"columns must be {list(data.columns)}, got {list(frame.columns)}.")
    metrics = {"rows": float(len(frame)), "missing": 0.0, "wrong": 0.0, "inexact": 0.0}
    for name, expected in data.columns.items():
        column = frame[name]
        missing = column.isna().to_numpy()
        metrics["missing"] += float(missing.sum())
        if expected.dtype == object:
            values = column.astype(object).to_numpy()
            metrics["wrong"] += count_wrong(values == expected, missing, is_none(expected))
        else:
            values = column.to_numpy(np.float64, na_value=np.nan)
            close = np.isclose(values, expected, rtol=RELATIVE_TOLERANCE, atol=0.0)
            metrics["wrong"] += count_wrong(close, missing, np.isnan(expected))
            metrics["inexact"] += count_wrong(values == expected, missing, np.isnan(expected))
    return metrics


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
