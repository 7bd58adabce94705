"""The options vector that Netlab's training functions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.data.warn import warn_user

_LENGTH = 18
_DEFAULT_CYCLES = 100  # if options[13] is 0
_DISPLAY, _CENTER_TOL, _ERROR_TOL, _SWITCH, _FINAL_ERROR, _MAX_CYCLES = 0, 1, 2, 4, 7, 13


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
    """A checked options vector with names for its entries.

    Parameters
    ----------
    vector : ndarray of shape (18,)
        A copy of what was given.
    """

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

    def warn_not_converged(self, name: str) -> None:
        """Warn that all cycles were run, unless ``options[0]`` is -1."""
        if self.vector[_DISPLAY] >= 0:
            warn_user(
                f"{name} did not converge in {self.max_cycles} cycles: raise "
                f"options[{_MAX_CYCLES}], or set options[{_DISPLAY}] = -1 to silence this warning.",
                ConvergenceWarning,
            )
