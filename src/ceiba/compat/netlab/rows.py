"""The data of a call: a checked matrix, ready for Ceiba's statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import Engine, choose_engine
from ceiba.stats import ToPoints


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory and the engine that summarises them.

    Parameters
    ----------
    values : ndarray of shape (n, nin)
    engine : Engine
    points : rows of that engine
    """

    values: Array
    engine: Engine
    points: Any

    @classmethod
    def of(cls, given: Any, nin: int, name: str = "x") -> Rows:
        """The rows that a user gives."""
        values = matrix(given, nin, name)
        engine, source = choose_engine(values)
        return cls(values, engine, engine.rows(source.partitions, ToPoints()))

    def __len__(self) -> int:
        return len(self.values)

    def ask(self, summarise: Callable[..., Any], *model: Any) -> Any:
        """A statistic of the rows under a model."""
        return self.engine.reduce(self.points, summarise, *model)


def matrix(given: Any, nin: int, name: str) -> Array:
    """Finite float64 rows of ``nin`` columns.

    A plain list of numbers is a column where there is one column, else a single row.
    """
    values = floats(given, name)
    if values.ndim < 2:
        values = values.reshape(-1, 1) if nin == 1 else values.reshape(1, -1)
    if values.ndim != 2 or values.shape[1] != nin:
        raise ValueError(
            f"{name} has shape {np.shape(given)} and needs rows of {nin} "
            f"{'column' if nin == 1 else 'columns'}"
        )
    if not len(values):
        raise ValueError(f"{name} has no rows")
    return np.ascontiguousarray(values)


def floats(given: Any, name: str) -> Array:
    """An array of finite float64, copied."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers") from None
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} contains NaN or infinity, which Netlab's functions cannot describe: leave "
            "such rows out, or use ceiba.GaussianMixture, which takes missing values (NaN)"
        )
    return values


def shaped(given: Any, shape: tuple[int, ...], name: str) -> Array:
    """An array of finite float64 of that shape, copied."""
    values = floats(given, name)
    if values.shape != shape:
        raise ValueError(f"{name} has shape {values.shape} and needs {shape}")
    return values
