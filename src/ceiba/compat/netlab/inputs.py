"""Checked arguments of a call: rows for Ceiba's statistics, seeds, the vector of options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ceiba._typing import Array
from ceiba.base import seed_of
from ceiba.data.warn import warn_user
from ceiba.engine import Engine, choose_engine
from ceiba.mixture.events import CollapsedComponentWarning
from ceiba.stats import ToPoints

# Length of the vector of options, and indices of its entries.
_LENGTH = 18
_DEFAULT_CYCLES = 100  # if options[13] is 0
_DISPLAY, _CENTER_TOL, _ERROR_TOL, _SWITCH, _FINAL_ERROR, _MAX_CYCLES = 0, 1, 2, 4, 7, 13


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in memory, (n, nin), and the engine that computes on them as ``points``."""

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


def check_count(name: str, given: Any) -> None:
    """Raise ValueError unless an argument is an int of at least 1."""
    if not isinstance(given, Integral) or given < 1:
        raise ValueError(f"{name} must be an int >= 1, got {given!r}.")


def netlab_seed(random_state: Any) -> int:
    """Return the seed of one call's draws; None takes it from NumPy's global state."""
    return seed_of(check_random_state(None) if random_state is None else random_state)


def foptions() -> Array:
    """Return the options vector with its default values, as old MATLAB's ``foptions``.

    Python counts from 0, so that ``options(14)`` is ``options[13]``. `gmmem`, `gmminit` and
    `kmeans` use these:

    =============== ================================================================
    ``options[0]``  1 prints the error of every cycle, 0 only warns, -1 is silent
    ``options[1]``  `kmeans`: tolerance of the coordinates of centers (default 1e-4)
    ``options[2]``  tolerance of the error; 0 runs all cycles (default 1e-4)
    ``options[4]``  1: `gmmem` resets collapsed covariances, `kmeans` starts at rows
    ``options[7]``  the final error, in the options that are returned
    ``options[13]`` maximum number of cycles; 0 for 100
    =============== ================================================================

    Returns
    -------
    ndarray of shape (18,)

    Examples
    --------
    >>> options = foptions()
    >>> options[13] = 20
    >>> options[2], options[13]
    (np.float64(0.0001), np.float64(20.0))
    """
    options = np.zeros(_LENGTH)
    options[[1, 2]] = 1e-4
    options[3] = 1e-6
    options[[15, 16]] = 1e-8, 0.1
    return options


@dataclass(frozen=True, slots=True)
class Options:
    """A checked copy of an options vector, with names for its entries."""

    vector: Array

    @classmethod
    def of(cls, given: Any) -> Options:
        """Check the options of a call, a vector or one row of a matrix."""
        try:
            vector = np.array(given, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            vector = np.empty(0)
        if len(vector) != _LENGTH:
            raise ValueError(
                f"options must be {_LENGTH} numbers: start from foptions() or from "
                f"numpy.zeros({_LENGTH})."
            )
        if not np.isfinite(vector).all():
            raise ValueError("options must be finite numbers.")
        cycles = vector[_MAX_CYCLES]
        if cycles < 0 or cycles != np.floor(cycles):
            raise ValueError(
                f"options[{_MAX_CYCLES}] must be an int >= 1, or 0 for {_DEFAULT_CYCLES} cycles, "
                f"got {cycles:g}."
            )
        return cls(vector)

    @property
    def max_cycles(self) -> int:
        """Maximum number of cycles."""
        return int(self.vector[_MAX_CYCLES]) or _DEFAULT_CYCLES

    @property
    def center_tolerance(self) -> float:
        """Change of the coordinates of centers below which they have converged."""
        return float(self.vector[_CENTER_TOL])

    @property
    def error_tolerance(self) -> float:
        """Change of the error below which it has converged."""
        return float(self.vector[_ERROR_TOL])

    @property
    def switch(self) -> bool:
        """Whether ``options[4]`` is set."""
        return bool(self.vector[_SWITCH] >= 1)

    def with_switch(self) -> Options:
        """Return the options with ``options[4]`` set."""
        vector = self.vector.copy()
        vector[_SWITCH] = 1
        return Options(vector)

    def with_error(self, error: float) -> Array:
        """Return the vector with the final error in ``options[7]``."""
        vector = self.vector.copy()
        vector[_FINAL_ERROR] = error
        return vector

    def print_cycle(self, cycle: int, error: float) -> None:
        """Print the error of a cycle if ``options[0]`` is 1."""
        if self.vector[_DISPLAY] > 0:
            print(f"Cycle {cycle:4d}  Error {error:11.6f}")

    def warn_reset(self, cause: str) -> None:
        """Warn of a final covariance that was reset, unless ``options[0]`` is -1."""
        if self.vector[_DISPLAY] >= 0:
            cause = cause or "Use fewer centres or a simpler covar_type."
            warn_user(
                f"a component has its initial covariance again in the last cycle, because it "
                f"collapsed. {cause} options[{_DISPLAY}] = -1 silences this warning.",
                CollapsedComponentWarning,
            )

    def warn_not_converged(self, name: str) -> None:
        """Warn that all cycles were run, unless ``options[0]`` is -1."""
        if self.vector[_DISPLAY] >= 0:
            warn_user(
                f"{name} did not converge in {self.max_cycles} cycles: raise "
                f"options[{_MAX_CYCLES}], or set options[{_DISPLAY}] = -1 to silence this warning.",
                ConvergenceWarning,
            )
