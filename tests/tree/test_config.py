"""The configuration of a tree: presets, overrides and contradictions."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.base import ParameterError
from ceiba.tree.config import PRESETS, TreeConfig


@pytest.mark.parametrize("algorithm", PRESETS)
def test_config_of_an_estimator_equals_the_config_of_its_parameters(algorithm: str) -> None:
    options = {"max_depth": 3, "min_samples_leaf": 0.1, "missing": "branch"}
    model = DecisionTreeClassifier(algorithm=algorithm, **options)
    assert TreeConfig.from_estimator(model) == TreeConfig.of(algorithm, **options)


def test_config_of_a_regressor_has_the_defaults_of_cart() -> None:
    config = TreeConfig.from_estimator(DecisionTreeRegressor())
    assert config == TreeConfig.of(criterion="squared_error")
    assert config.is_regression
    assert {name: getattr(config, name) for name in PRESETS["cart"]} == {
        **PRESETS["cart"],
        "criterion": "squared_error",
    }


def test_every_field_is_a_parameter_of_the_classifier() -> None:
    names = {entry.name for entry in fields(TreeConfig)}
    assert names <= set(DecisionTreeClassifier().get_params())


def test_none_takes_the_value_of_the_preset() -> None:
    assert TreeConfig.of("c45", criterion=None, max_bins=None) == TreeConfig.of("c45")


def test_positive_ccp_alpha_implies_cost_complexity_pruning() -> None:
    assert TreeConfig.of(ccp_alpha=0.1).pruning == "cost_complexity"
    assert TreeConfig.of(ccp_alpha=0.0).pruning == "none"
    with pytest.raises(ParameterError, match="'ccp_alpha' has no effect with pruning='none'"):
        TreeConfig.of(ccp_alpha=0.1, pruning="none")


def test_config_is_immutable() -> None:
    config = TreeConfig.of()
    with pytest.raises(FrozenInstanceError):
        config.max_depth = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("missing", "routing"),
    [
        ("learned", "branch"),
        ("branch", "branch"),
        ("majority", "branch"),
        ("fractional", "fractional"),
        ("surrogate", "surrogate"),
    ],
)
def test_missing_routing_of_the_tree(missing: str, routing: str) -> None:
    assert TreeConfig.of(missing=missing).missing_routing == routing
