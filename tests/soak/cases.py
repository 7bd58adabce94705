"""How long the campaigns of ensembles are, and the tables and options that they draw.

``CEIBA_SOAK`` is a share of their full length: ``CEIBA_SOAK=0.1 make soak`` is ten times shorter.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from tests.ensemble.forest.parts import array_bits, table

SHARE = float(os.environ.get("CEIBA_SOAK", "1"))


def cases(number: int) -> Any:
    """Settings of a campaign with so many cases at full length."""
    return settings(
        deadline=None,
        max_examples=max(1, round(SHARE * number)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def times(number: int) -> range:
    """The cases of a campaign that counts."""
    return range(max(1, round(SHARE * number)))


class Chance:
    """Choices by one seed: what fails is found again by it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def of(self, *options: Any) -> Any:
        """One of some options."""
        return options[int(self.rng.integers(len(options)))]

    def between(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return int(self.rng.integers(least, most + 1))

    def weights(self, n: int) -> Any:
        """No weights, whole ones, or any; some of them zero."""
        some = self.rng.random(n) < 0.9
        return self.of(
            None, None, self.rng.integers(1, 4, n) * some, self.rng.exponential(size=n) * some
        )


def some_table(chance: Chance, least: int = 40, most: int = 900) -> tuple[Any, Array, Array, Any]:
    """Rows with some of eight columns of all kinds, classes and numbers for them, and weights."""
    n = chance.between(least, most)
    X, classes, numbers = table(n, seed=chance.between(0, 10**6))
    if chance.of(True, False):
        X = X[["b", "c", "d", "e"]].to_numpy()
    else:
        X = X[list(chance.rng.permutation(X.columns)[: chance.between(1, 8)])]
    if chance.of(True, False, False):  # classes whose weights do not fit into a node
        classes = chance.rng.integers(chance.between(2, 90), size=n)
    return X, classes, numbers, chance.weights(n)


def rows_drawn(chance: Chance) -> dict[str, Any]:
    """Whether rows are drawn with replacement, and how many."""
    if chance.of(True, True, False):
        return {"max_samples": chance.of(None, None, 0.3, 17)}
    return {"bootstrap": False, "max_samples": chance.of(None, 0.4, 17)}


def some_options(chance: Chance, known: Any) -> dict[str, Any]:
    """Options of a forest, most of them as they are by default; of classes one is known."""
    cuts = chance.of({}, {}, {"max_bins": chance.between(2, 40)}, {"thresholds": "random"})
    per = chance.of({}, {}, {"features_per": "tree"}, {"features_per": "both", "tree_features": 1})
    limit = chance.of(
        {}, {}, {"max_depth": chance.between(1, 5)}, {"max_leaf_nodes": chance.between(2, 30)},
        {"min_samples_leaf": 4}, {"min_weight_fraction_leaf": 0.05},
        {"min_impurity_decrease": 0.01},
    )  # fmt: skip
    found = {
        "missing": chance.of("learned", "branch", "majority"),
        "max_features": chance.of(1, 0.6),
    }
    found |= {**cuts, **per, **limit, **rows_drawn(chance)}
    found["random_state"] = chance.between(0, 2**32 - 1)
    if known is not None:
        weight = chance.of(None, None, "balanced", "balanced_subsample", {known: 0.3})
        found |= {"criterion": chance.of("gini", "gini", "entropy"), "class_weight": weight}
        found["leaf_probability"] = chance.of("plain", "laplace")
    elif "thresholds" not in found:
        found["criterion"] = chance.of("squared_error", "squared_error", "absolute_error")
    return found


def some_forest(chance: Chance) -> tuple[Any, Any, Array, Any, dict[str, Any]]:
    """Kind, rows, targets, weights and options of a forest."""
    X, classes, numbers, weight = some_table(chance)
    kind = chance.of(RandomForestClassifier, RandomForestRegressor)
    if kind is RandomForestRegressor:
        return kind, X, numbers, weight, some_options(chance, None)
    there = classes if weight is None else classes[weight > 0]
    return kind, X, classes, weight, some_options(chance, int(there[0]))


def bits_of(value: Any) -> Any:
    """All bits of fitted state: arrays, records, trees and lists of estimators."""
    if isinstance(value, np.ndarray):
        return array_bits(value)
    if isinstance(value, list | tuple):
        return [bits_of(one) for one in value]
    if isinstance(value, dict):
        return {name: bits_of(one) for name, one in value.items()}
    if hasattr(value, "get_params"):
        return state(value)
    return bits_of(value.to_json()) if hasattr(value, "to_json") else value


def state(model: Any) -> dict[str, Any]:
    """Everything that a fit leaves, in every bit."""
    return {name: bits_of(value) for name, value in vars(model).items() if name.endswith("_")}
