"""Name-value arguments as MATLAB reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ceiba._typing import Array

# Names of older releases.
_ALIASES = {
    "fboot": "InBagFraction",
    "minleaf": "MinLeafSize",
    "minparent": "MinParentSize",
    "nprint": "NumPrint",
    "nvartosample": "NumPredictorsToSample",
    "oobpred": "OOBPrediction",
    "oobvarimp": "OOBPredictorImportance",
    "qetoler": "QuadraticErrorTolerance",
}
_CROSS_VALIDATION = (
    "grow the tree, then call its method crossval('KFold', 10), or cvLoss('Subtrees', 'all') to "
    "choose the pruning level"
)
# Options that are not supported, and what to do instead.
_UNSUPPORTED = {
    **dict.fromkeys(("CrossVal", "CVPartition", "Holdout", "KFold", "Leaveout"), _CROSS_VALIDATION),
    "OptimizeHyperparameters": "search with scikit-learn's GridSearchCV over Ceiba's trees",
    "HyperparameterOptimizationOptions": "search with scikit-learn's GridSearchCV",
    "NumVariablesToSample": "set max_features of Ceiba's own trees",
    "NumBins": "set max_bins of Ceiba's own trees",
    "MaxDepth": "set max_depth of Ceiba's own trees",
    "ScoreTransform": "transform the scores that predict returns",
    "ResponseTransform": "transform what predict returns",
}


@dataclass(frozen=True, slots=True)
class NameValue:
    """Options of one call, under their full names."""

    given: Mapping[str, Any]

    @classmethod
    def read(
        cls,
        function: str,
        known: Iterable[str],
        pairs: Sequence[Any],
        named: Mapping[str, Any],
        unsupported: Mapping[str, str] = _UNSUPPORTED,
    ) -> NameValue:
        """Read options given as 'Name', value, ... and as Name=value, in any case.

        ``unsupported`` maps options that are not supported to what to do instead.
        """
        if len(pairs) % 2:
            raise ValueError(
                f"{function}: options must be Name, value pairs, but {pairs[-1]!r} has no value."
            )
        given: dict[str, Any] = {}
        listed = list(zip(pairs[::2], pairs[1::2], strict=True)) + list(named.items())
        for name, value in listed:
            full = _full_name(function, name, list(known), unsupported)
            if full in given:
                raise ValueError(f"{function}: {full} is given twice.")
            given[full] = value
        return cls(given)

    def of(self, name: str, default: Any = None) -> Any:
        """Return the value of an option as it was given."""
        return self.given.get(name, default)

    def switch(self, name: str, default: bool) -> bool:
        """Return an option that is 'on' or 'off'."""
        value = self.of(name, default)
        if isinstance(value, str) and value.lower() in ("on", "off"):
            return value.lower() == "on"
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise ValueError(f"{name} must be 'on' or 'off', got {value!r}.")

    def flag(self, name: str, default: bool) -> bool:
        """Return an option that is a bool."""
        value = self.of(name, default)
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be a bool, got {value!r}.")
        return bool(value)

    def word(self, name: str, words: Sequence[str], default: str) -> str:
        """Return an option that is one of some words, in any case."""
        value = self.of(name, default)
        for word in words:
            if isinstance(value, str) and value.lower() == word.lower():
                return word
        raise ValueError(f"{name} must be {' or '.join(map(repr, words))}, got {value!r}.")

    def count(self, name: str, default: int, minimum: int = 1) -> int:
        """Return an option that is an integer."""
        value = self.of(name, default)
        if not is_whole(value) or value < minimum:
            raise ValueError(f"{name} must be an int >= {minimum}, got {value!r}.")
        return int(value)

    def weights(self, name: str, n: int) -> Array:
        """Return an option that is ``n`` numbers >= 0, by default ones."""
        weights = np.asarray(self.of(name, np.ones(n)), np.float64)
        valid = weights.shape == (n,) and (np.isfinite(weights) & (weights >= 0)).all()
        if not valid or not weights.any():
            raise ValueError(f"{name} must be {n} finite numbers >= 0, with a positive sum.")
        return weights

    def number(self, name: str, default: float) -> float:
        """Return an option that is a number >= 0."""
        value: Any = self.of(name, default)
        if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
            raise ValueError(f"{name} must be a number >= 0, got {value!r}.")
        return float(value)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, or a float that equals one."""
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool)


def check_nargout(nargout: Any, n_outputs: int) -> None:
    """Raise ValueError unless a call has that many outputs."""
    if isinstance(nargout, bool) or nargout not in range(1, n_outputs + 1):
        raise ValueError(f"nargout must be an int in [1, {n_outputs}], got {nargout!r}.")


def _full_name(
    function: str, name: Any, known: Sequence[str], unsupported: Mapping[str, str]
) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{function}: the name of an option must be a str, got {name!r}.")
    lower = _ALIASES.get(name.lower(), name).lower()
    for full in known:
        if full.lower() == lower:
            return full
    for full, instead in unsupported.items():
        if full.lower() == lower:
            raise ValueError(f"{function} does not support {full}: {instead}.")
    options = f"the options are {', '.join(known)}" if known else "leave it out"
    raise ValueError(f"{function} has no option {name!r}; {options}.")
