"""Name-value arguments as MATLAB reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

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
_FOLDS = (
    "cross-validate with scikit-learn, cross_val_score(ceiba.DecisionTreeClassifier(), X, Y, "
    "cv=10), or choose the pruning level by it, model.pruned('cost_complexity', X, Y)"
)
_ELSEWHERE = {
    **dict.fromkeys(("CrossVal", "CVPartition", "Holdout", "KFold", "Leaveout"), _FOLDS),
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
    """The options of one call, under their full names.

    Parameters
    ----------
    given : dict
    """

    given: Mapping[str, Any]

    @classmethod
    def read(
        cls,
        who: str,
        known: Iterable[str],
        pairs: Sequence[Any],
        named: Mapping[str, Any],
        elsewhere: Mapping[str, str] = _ELSEWHERE,
    ) -> NameValue:
        """Options given as 'Name', value, ... and as Name=value; case does not matter.

        ``elsewhere`` says of options that are not taken what to do instead.
        """
        if len(pairs) % 2:
            raise ValueError(
                f"{who}: {pairs[-1]!r} is left without a value: give Name, value pairs"
            )
        given: dict[str, Any] = {}
        listed = list(zip(pairs[::2], pairs[1::2], strict=True)) + list(named.items())
        for name, value in listed:
            full = _full_name(who, name, list(known), elsewhere)
            if full in given:
                raise ValueError(f"{who}: {full} is given twice")
            given[full] = value
        return cls(given)

    def of(self, name: str, default: Any = None) -> Any:
        """The value of an option, as it was given."""
        return self.given.get(name, default)

    def switch(self, name: str, default: bool) -> bool:
        """An option that is 'on' or 'off'."""
        value = self.of(name, default)
        if isinstance(value, str) and value.lower() in ("on", "off"):
            return value.lower() == "on"
        if isinstance(value, bool):
            return value
        raise ValueError(f"{name}={value!r}: give 'on' or 'off'")

    def word(self, name: str, words: Sequence[str], default: str) -> str:
        """An option that is one of some words; case does not matter."""
        value = self.of(name, default)
        for word in words:
            if isinstance(value, str) and value.lower() == word.lower():
                return word
        raise ValueError(f"{name}={value!r}: give {' or '.join(map(repr, words))}")

    def count(self, name: str, default: int, least: int = 1) -> int:
        """An option that is a whole number."""
        value = self.of(name, default)
        whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not whole or value < least:
            raise ValueError(f"{name}={value!r}: give a whole number, {least} or more")
        return int(value)

    def number(self, name: str, default: float) -> float:
        """An option that is a number, 0 or more."""
        value: Any = self.of(name, default)
        if isinstance(value, bool) or not isinstance(value, Real) or not float(value) >= 0:
            raise ValueError(f"{name}={value!r}: give a number, 0 or more")
        return float(value)


def _full_name(who: str, name: Any, known: Sequence[str], elsewhere: Mapping[str, str]) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{who}: {name!r} stands where the name of an option is expected")
    wanted = _ALIASES.get(name.lower(), name).lower()
    for full in known:
        if full.lower() == wanted:
            return full
    for full, instead in elsewhere.items():
        if full.lower() == wanted:
            raise ValueError(f"{who} does not take {full} here: {instead}")
    raise ValueError(f"{who} has no option {name!r}: it takes {', '.join(known)}")
