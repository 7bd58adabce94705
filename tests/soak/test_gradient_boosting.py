"""Long runs of gradient boosting and explanations: naive versions, threads, files, warm starts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor, load, save
from tests.ensemble.common import test_shap_oracle as sums
from tests.ensemble.gradient_boosting import test_oracle as boosting
from tests.ensemble.gradient_boosting.parts import bits, raw_scores
from tests.soak.cases import Chance, cases, longer, some_table
from tests.tree.explain import test_shap as trees

pytestmark = pytest.mark.soak
SEEDS = st.integers(0, 2**32 - 1)
METHODS = st.sampled_from(["newton", "gradient"])
LOSSES = st.sampled_from([*boosting.REGRESSION, "log_loss", "exponential"])

test_losses = longer(4_000, boosting.test_losses, loss=LOSSES, method=METHODS, seed=SEEDS)
test_three_classes = longer(
    1_000,
    boosting.test_three_classes,
    strategy=st.sampled_from(["one_output_per_tree", "multi_output_tree"]),
    method=METHODS,
    seed=SEEDS,
)
test_one_side_sampling = longer(
    1_000,
    boosting.test_one_side_sampling_of_all_losses,
    method=METHODS,
    seed=SEEDS,
    loss=st.sampled_from([*boosting.REGRESSION, "log_loss"]),
)
test_constraints = longer(
    1_000,
    boosting.test_constraints,
    seed=SEEDS,
    loss=st.sampled_from(["squared_error", "log_loss", "poisson", "gamma", "tweedie"]),
    monotonic=st.sampled_from([[1, -1, 0, 0], [-1, 0, 0, 0]]),
    interactions=st.sampled_from([None, [[0, 1]], [[0], [1], [2, 3]]]),
)
test_values_of_one_tree = longer(
    300,
    trees.test_values_are_those_of_all_coalitions,
    SEEDS,
    st.sampled_from([0, 1, 2, 3]),
    st.booleans(),
    st.sampled_from([0, 12]),
)
test_values_add_up = longer(
    2_000,
    sums.test_values_add_up_to_the_scores,
    SEEDS,
    st.sampled_from(sums.BOOSTED + sums.FORESTS),
    st.sampled_from([0, 3]),
)


def some_boosting(chance: Chance) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """Return class, rows, targets, weights and options of gradient boosting."""
    X, classes, numbers, weight = some_table(chance, 60, 3000)
    kind = chance.of(GradientBoostingClassifier, GradientBoostingRegressor)
    rows = chance.of({}, {"subsample": 0.6}, {"sampling": "goss"}, {"dropout": 0.4})
    columns = chance.of({}, {"max_features": 0.5}, {"tree_features": 0.5})
    growth = chance.of(
        {}, {"growth": "breadth_first", "max_depth": 4}, {"max_leaf_nodes": chance.between(2, 60)}
    )
    options = {
        **rows, **columns, **growth, "min_samples_leaf": chance.of(1, 5, 20),
        "max_bins": chance.of(255, 16, 1000), "gradient_bits": chance.of("auto", "auto", 41, 5),
        "random_state": chance.between(0, 2**32 - 1),
    }  # fmt: skip
    if kind is GradientBoostingRegressor:
        loss = chance.of("squared_error", "absolute_error", "huber", "quantile", "poisson")
        y = np.exp(numbers / 10) if loss == "poisson" else numbers
        return kind, X, y, weight, {**options, "loss": loss}
    strategy = chance.of("one_output_per_tree", "multi_output_tree")
    return kind, X, classes % chance.of(2, 3, 8), weight, {**options, "multi_strategy": strategy}


def fit(kind: Any, X: Any, y: Any, weight: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of trees that are a single leaf
        return kind(**options).fit(X, y, weight)


def has_classes(kind: Any, y: Any, weight: Any) -> bool:
    """Return whether rows of positive weight have two classes."""
    present = y if weight is None else y[weight > 0]
    return kind is GradientBoostingRegressor or len(np.unique(present)) > 1


@cases(1_000)
@given(seed=SEEDS)
def test_models_do_not_depend_on_number_of_threads(seed: int) -> None:
    kind, X, y, weight, options = some_boosting(Chance(seed))
    if not has_classes(kind, y, weight):
        return
    models = [fit(kind, X, y, weight, n_estimators=4, n_jobs=k, **options) for k in (1, 2)]
    assert bits(models[0]) == bits(models[1])
    np.testing.assert_array_equal(raw_scores(models[0], X), raw_scores(models[1], X))


@cases(500)
@given(seed=SEEDS)
def test_warm_starts_and_model_files_change_nothing(seed: int, tmp_path_factory: Any) -> None:
    kind, X, y, weight, options = some_boosting(Chance(seed))
    if not has_classes(kind, y, weight):
        return
    once = fit(kind, X, y, weight, n_estimators=6, **options)
    grown = kind(2, warm_start=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for size in (2, 5, 6):
            grown.set_params(n_estimators=size).fit(X, y, weight)
    np.testing.assert_allclose(raw_scores(grown, X), raw_scores(once, X), rtol=1e-9, atol=1e-9)
    path = tmp_path_factory.getbasetemp() / "boosting"
    save(once, path)
    np.testing.assert_array_equal(raw_scores(load(path), X), raw_scores(once, X))
