"""Monotonic and interaction constraints of gradient boosting, probed under all its options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from tests.ensemble.gradient_boosting.parts import bits
from tests.oracles.constraint_probes import assert_monotone, is_monotone

SIGNS = [1, -1, 0, 1]
SETS = [[0, 1], [2], [1, 3]]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"growth": "breadth_first"},
    {"max_leaf_nodes": None, "max_depth": 5},
    {"max_features": 2},
    {"tree_features": 3},
    {"subsample": 0.5},
    {"sampling": "goss"},
    {"dropout": 0.3},
    {"gradient_bits": 4},
    {"max_bins": 16},
    {"reg_alpha": 1.0, "reg_lambda": 0.0},
    {"early_stopping": True},
]
LOSSES = [
    "squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma", "tweedie",
]  # fmt: skip


def rows(missing: float, n: int = 400) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, rng.random(n) + 0.1


def assert_keeps_signs(kind: Any, target: Any, predict: Any, options: dict[str, Any]) -> None:
    """Assert that constraints hold, with missing values and weights, and that they matter."""
    X, y, weight = rows(0.15)
    small = {"n_estimators": 8, "min_samples_leaf": 5, **options}
    model = kind(monotonic_cst=SIGNS, **small).fit(X, target(y), sample_weight=weight)
    assert_monotone(predict(model), X[:40], SIGNS)
    free = kind(**small).fit(X, target(y), sample_weight=weight)
    assert not is_monotone(predict(free), X[:40], SIGNS)


@pytest.mark.parametrize("options", [*OPTIONS, *({"loss": loss} for loss in LOSSES)], ids=str)
def test_boosted_numbers_are_monotone(options: dict[str, Any]) -> None:
    assert_keeps_signs(
        GradientBoostingRegressor, lambda y: np.exp(y / 4), lambda model: model.predict, options
    )


@pytest.mark.parametrize("options", [*OPTIONS, {"loss": "exponential"}], ids=str)
def test_boosted_probabilities_are_monotone(options: dict[str, Any]) -> None:
    def probability(model: Any) -> Any:
        return lambda X: model.predict_proba(X)[:, 1]

    assert_keeps_signs(GradientBoostingClassifier, lambda y: y > 0, probability, options)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("free", [[0] * 4, {}], ids=["zeros", "empty"])
def test_constraints_of_no_column_change_nothing(loss: str, free: Any) -> None:
    X, y, _ = rows(0.0)
    options: dict[str, Any] = {"loss": loss, "trace": True, "min_samples_leaf": 1}
    plain, model = (
        GradientBoostingRegressor(5, monotonic_cst=signs, **options).fit(X, np.exp(4 * y))
        for signs in (None, free)
    )
    assert bits(model) == bits(plain)
    assert model.trace_[0]["node_bounds"] is None


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_constrained_steps_of_log_links_do_not_diverge(loss: str) -> None:
    """As without constraints; test_targets_of_many_orders_of_magnitude."""
    X = np.random.default_rng(0).normal(size=(1000, 4))
    y = np.exp(5.0 * X[:, 0])
    model = GradientBoostingRegressor(100, loss=loss, trace=True, monotonic_cst=[1, 0, 1, 0])
    losses = model.fit(X, y).losses_["training"]
    constant = GradientBoostingRegressor(1, loss=loss, trace=True, learning_rate=1e-9).fit(X, y)
    losses = np.r_[constant.losses_["training"], losses]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.3 * losses[0]
    assert_monotone(model.predict, X[:40], [1, 0, 1, 0])


def paths_of(model: Any) -> list[frozenset[int]]:
    """Return the columns tested on each path of all trees."""
    forest, found = model.boosted_trees_, []
    for number in range(forest.n_trees):
        tree = forest.tree(number)
        pending: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
        while pending:
            node, tested = pending.pop()
            if tree.is_leaf[node]:
                found.append(tested)
                continue
            below = tested | {int(tree.column[node])}
            pending += [(int(child), below) for child in tree.children(node)]
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_boosted_paths_stay_in_a_set(options: dict[str, Any]) -> None:
    X, y, _ = rows(0.1)
    model = GradientBoostingRegressor(n_estimators=6, interaction_cst=SETS, **options).fit(X, y)
    paths = paths_of(model)
    assert all(any(path <= set(group) for group in SETS) for path in paths)
    assert max(map(len, paths)) == 2
