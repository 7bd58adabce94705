"""Checked arguments of a call: arrays, rows for Ceiba's statistics, seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ceiba._typing import Array
from ceiba.base import seed_of
from ceiba.engine import Engine, choose_engine
from ceiba.stats import ToPoints


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory and the engine that computes on them.

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
        """Check the rows of a call."""
        values = as_matrix(given, nin, name)
        engine, source = choose_engine(values)
        return cls(values, engine, engine.rows(source.partitions, ToPoints()))

    def __len__(self) -> int:
        return len(self.values)

    def reduce(self, summarize: Callable[..., Any], *model: Any) -> Any:
        """Return a statistic of the rows under a model."""
        return self.engine.reduce(self.points, summarize, *model)

    def predict(self, function: Callable[..., Array], *model: Any) -> Array:
        """Return a result for each row under a model."""
        return self.engine.predict(self.points, function, *model)


def as_matrix(given: Any, nin: int, name: str) -> Array:
    """Return finite float64 rows of ``nin`` columns.

    A plain list of numbers is a column if there is one column, else a single row.
    """
    values = as_floats(given, name)
    if values.ndim < 2:
        values = values.reshape(-1, 1) if nin == 1 else values.reshape(1, -1)
    if values.ndim != 2 or values.shape[1] != nin:
        raise ValueError(f"{name} must have shape (n, {nin}), got {np.shape(given)}.")
    if not len(values):
        raise ValueError(f"{name} must have at least one row.")
    return np.ascontiguousarray(values)


def as_floats(given: Any, name: str) -> Array:
    """Return a copy as an array of finite float64."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers.") from None
    if not np.isfinite(values).all():
        raise ValueError(
            f"{name} contains NaN or infinity: leave such rows out, or use ceiba.GaussianMixture, "
            "which accepts missing values (NaN)."
        )
    return values


def as_shape(given: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return a copy as an array of finite float64 of a shape."""
    values = as_floats(given, name)
    if values.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {values.shape}.")
    return values


def netlab_seed(random_state: Any) -> int:
    """Return the seed of one call's draws; None takes it from NumPy's global state."""
    return seed_of(check_random_state(None) if random_state is None else random_state)
