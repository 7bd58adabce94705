"""The options vector that Netlab's training functions share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.data.warn import warn_user

_LENGTH = 18
_CYCLES = 100  # where options[13] is 0
_DISPLAY, _CENTRES, _ERROR, _SWITCH, _RESULT, _MOST = 0, 1, 2, 4, 7, 13


def foptions() -> Array:
    """The options vector with its default values: 18 numbers, as old MATLAB's ``foptions``.

    Python counts from 0, so that ``options(14)`` is ``options[13]``. Those that `gmmem`, `gmminit`
    and `kmeans` look at:

    =============== ================================================================
    ``options[0]``  1 prints the error of every cycle, 0 only warns, -1 says nothing
    ``options[1]``  `kmeans`: least change of a centre's coordinate (default 1e-4)
    ``options[2]``  least change of the error; 0 makes all cycles (default 1e-4)
    ``options[4]``  1: `gmmem` resets collapsed covariances, `kmeans` starts at rows
    ``options[7]``  the final error, in the options that are returned
    ``options[13]`` most cycles; 0 stands for 100
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
    """A checked options vector, and what its places mean.

    Parameters
    ----------
    vector : ndarray of shape (18,)
        A copy of what was given.
    """

    vector: Array

    @classmethod
    def of(cls, given: Any) -> Options:
        """The options that a user gives, as a vector or as one row of a matrix."""
        try:
            vector = np.array(given, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            vector = np.empty(0)
        if len(vector) != _LENGTH:
            raise ValueError(
                f"options must be {_LENGTH} numbers: begin with foptions(), or with "
                f"numpy.zeros({_LENGTH})"
            )
        if not np.isfinite(vector).all():
            raise ValueError("options must be finite numbers")
        cycles = vector[_MOST]
        if cycles < 0 or cycles != np.floor(cycles):
            raise ValueError(
                f"options[{_MOST}]={cycles:g}: give the number of cycles, or 0 for {_CYCLES}"
            )
        return cls(vector)

    @property
    def cycles(self) -> int:
        """Most cycles."""
        return int(self.vector[_MOST]) or _CYCLES

    @property
    def centre_precision(self) -> float:
        """Change of a centre's coordinate under which it rests."""
        return float(self.vector[_CENTRES])

    @property
    def error_precision(self) -> float:
        """Change of the error under which it rests."""
        return float(self.vector[_ERROR])

    @property
    def switch(self) -> bool:
        """What ``options[4]`` asks for."""
        return bool(self.vector[_SWITCH] >= 1)

    def switched_on(self) -> Options:
        """The same with ``options[4]`` set."""
        vector = self.vector.copy()
        vector[_SWITCH] = 1
        return Options(vector)

    def ended(self, error: float) -> Array:
        """The vector to return: the final error in its place."""
        vector = self.vector.copy()
        vector[_RESULT] = error
        return vector

    def show(self, cycle: int, error: float) -> None:
        """Print the error of a cycle, if that is wanted."""
        if self.vector[_DISPLAY] > 0:
            print(f"Cycle {cycle:4d}  Error {error:11.6f}")

    def warn(self, name: str) -> None:
        """Say that all cycles were made, unless nothing is to be said."""
        if self.vector[_DISPLAY] >= 0:
            warn_user(
                f"{name} made all {self.cycles} cycles: raise options[{_MOST}] for more, or set "
                f"options[{_DISPLAY}] = -1 to hear nothing of it",
                ConvergenceWarning,
            )
