"""Length of the long runs, and the tables and options that they draw.

``CEIBA_SOAK`` is a fraction of the full length: with ``CEIBA_SOAK=0.1`` runs are ten times shorter.
"""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from tests.ensemble.forest.parts import array_bits, table

FRACTION = float(os.environ.get("CEIBA_SOAK", "1"))


def cases(number: int) -> Any:
    """Return the settings of a run with that many cases at full length."""
    return settings(
        deadline=None,
        max_examples=max(1, round(FRACTION * number)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def longer(number: int, test: Any, *drawn: Any, **named: Any) -> Any:
    """Return a property test of the suite with many more cases."""
    inner = test.hypothesis.inner_test

    # Without the attributes of the test, among them the number of its cases.
    @wraps(inner, updated=())
    def run(*args: Any, **values: Any) -> None:
        inner(*args, **values)

    return cases(number)(given(*drawn, **named)(run))


def times(number: int) -> range:
    """Return the range of the cases of a run."""
    return range(max(1, round(FRACTION * number)))


class Chance:
    """Random choices of one seed, so that a failure can be reproduced."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def of(self, *options: Any) -> Any:
        """Return one of some options."""
        return options[int(self.rng.integers(len(options)))]

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return int(self.rng.integers(low, high + 1))

    def weights(self, n: int) -> Any:
        """Return None, integer or fractional weights; some of them zero."""
        some = self.rng.random(n) < 0.9
        return self.of(
            None, None, self.rng.integers(1, 4, n) * some, self.rng.exponential(size=n) * some
        )


def some_table(
    chance: Chance, min_rows: int = 40, max_rows: int = 900
) -> tuple[Any, Array, Array, Any]:
    """Return rows of up to eight columns of all kinds, classes, numbers and weights."""
    n = chance.between(min_rows, max_rows)
    X, classes, numbers = table(n, seed=chance.between(0, 10**6))
    if chance.of(True, False):
        X = X[["b", "c", "d", "e"]].to_numpy()
    else:
        X = X[list(chance.rng.permutation(X.columns)[: chance.between(1, 8)])]
    if chance.of(True, False, False):  # classes whose weights do not fit into a node
        classes = chance.rng.integers(chance.between(2, 90), size=n)
    return X, classes, numbers, chance.weights(n)


def rows_drawn(chance: Chance) -> dict[str, Any]:
    """Return how rows are drawn, and their number."""
    if chance.of(True, True, False):
        return {"max_samples": chance.of(None, None, 0.3, 17)}
    return {"bootstrap": False, "max_samples": chance.of(None, 0.4, 17)}


def some_options(chance: Chance, known: Any) -> dict[str, Any]:
    """Return options of a forest, often the defaults; ``known`` is one of the classes."""
    thresholds = chance.of({}, {}, {"max_bins": chance.between(2, 40)}, {"thresholds": "random"})
    per = chance.of(
        {}, {}, {"max_features_per": "tree"}, {"max_features_per": "both", "tree_features": 1}
    )
    limit = chance.of(
        {}, {}, {"max_depth": chance.between(1, 5)}, {"max_leaf_nodes": chance.between(2, 30)},
        {"min_samples_leaf": 4}, {"min_weight_fraction_leaf": 0.05},
        {"min_impurity_decrease": 0.01},
    )  # fmt: skip
    found = {
        "missing": chance.of("learned", "branch", "majority"),
        "max_features": chance.of(1, 0.6),
    }
    found |= {**thresholds, **per, **limit, **rows_drawn(chance)}
    found["random_state"] = chance.between(0, 2**32 - 1)
    if known is not None:
        weight = chance.of(None, None, "balanced", "balanced_subsample", {known: 0.3})
        found |= {"criterion": chance.of("gini", "gini", "entropy"), "class_weight": weight}
        found["leaf_probability"] = chance.of("plain", "laplace")
    elif "thresholds" not in found:
        found["criterion"] = chance.of("squared_error", "squared_error", "absolute_error")
    return found


def some_forest(chance: Chance) -> tuple[Any, Any, Array, Any, dict[str, Any]]:
    """Return class, rows, targets, weights and options of a forest."""
    X, classes, numbers, weight = some_table(chance)
    kind = chance.of(RandomForestClassifier, RandomForestRegressor)
    if kind is RandomForestRegressor:
        return kind, X, numbers, weight, some_options(chance, None)
    there = classes if weight is None else classes[weight > 0]
    return kind, X, classes, weight, some_options(chance, int(there[0]))


def bits_of(value: Any) -> Any:
    """Return fitted state as bytes: arrays, records, trees and lists of estimators."""
    if isinstance(value, np.ndarray):
        return array_bits(value)
    if isinstance(value, list | tuple):
        return [bits_of(one) for one in value]
    if isinstance(value, dict):
        return {name: bits_of(one) for name, one in value.items()}
    if hasattr(value, "get_params"):
        return state(value)
    if hasattr(value, "to_json"):
        return bits_of(value.to_json())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: bits_of(getattr(value, field.name)) for field in fields(value)}
    return value


def state(model: Any) -> dict[str, Any]:
    """Return all fitted attributes as bytes, those of the next ``partial_fit`` too."""
    later = getattr(type(model), "_state_names", ())
    names = [name for name in vars(model) if name.endswith("_") or name in later]
    return {name: bits_of(getattr(model, name)) for name in names}
