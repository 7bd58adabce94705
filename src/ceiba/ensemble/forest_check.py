"""What the arrays of a forest must satisfy: one may come out of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.ensemble.bootstrap import tree_seeds
from ceiba.stats.points import Array

_ARRAYS: dict[str, tuple[Any, int]] = {
    "nodes": (np.uint64, 2), "first": (np.int64, 1), "words": (np.uint64, 1),
    "tables": (np.int32, 1), "leaves": (np.uint8, 1), "keys": (np.uint64, 2),
    "importances": (np.float64, 2), "weight_unit": (np.float64, 1),
}  # fmt: skip
_MOST_CLASSES = 65_535


def check_record(record: dict[str, Any], names: set[str]) -> None:
    """Names, types and lengths; what the nodes say is checked natively."""
    if set(record) != names or not isinstance(record["schema"], Schema):
        raise ValueError("these are not the arrays of a forest")
    for name, (dtype, ndim) in _ARRAYS.items():
        array = record[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
            raise ValueError(f"{name} must be an array of {np.dtype(dtype)} in {ndim} dimensions")
        if not array.flags.c_contiguous:
            record[name] = np.ascontiguousarray(array)
    trees = len(record["first"]) - 1
    if trees < 1:
        raise ValueError("a forest has at least one tree")
    if record["keys"].shape != (trees, 3):
        raise ValueError("keys must be three of each tree")
    _check_origins(record["origins"], record["keys"])
    record["steps"] = _checked_steps(record["steps"])
    if record["importances"].shape != (trees, len(record["schema"])):
        raise ValueError("importances must be told of every tree and column")
    for name in ("n_classes", "grown"):
        if type(record[name]) is not int or record[name] < 0:
            raise ValueError(f"{name} must be a count")
    unit = record["weight_unit"]
    if len(unit) != trees or not ((unit >= 1e-300) & (unit <= 1e300)).all():
        raise ValueError("weight_unit must be a positive number of each tree")
    if not (np.isfinite(record["importances"]) & (record["importances"] >= 0)).all():
        raise ValueError("importances must be numbers of 0 or more")
    if record["n_classes"] > _MOST_CLASSES:
        raise ValueError("there are too many classes")


def _checked_steps(steps: Any) -> Array | None:
    """Their shape and numbers are checked with the leaves."""
    if steps is None:
        return None
    if not isinstance(steps, np.ndarray) or steps.dtype != np.int64 or steps.ndim != 2:
        raise ValueError("steps must be an array of int64 in 2 dimensions")
    return np.ascontiguousarray(steps)


def _check_origins(origins: Any, keys: Array) -> None:
    """Seeds of trees must be those that their origins tell."""
    if origins is None:
        return
    if not isinstance(origins, np.ndarray) or origins.dtype != np.uint64:
        raise ValueError("origins must be an array of uint64")
    if origins.shape != (len(keys), 2) or (tree_seeds(origins) != keys[:, 0]).any():
        raise ValueError("origins must tell the seed of each tree")
