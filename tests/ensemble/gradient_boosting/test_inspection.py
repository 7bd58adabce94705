"""scikit-learn's tools of model inspection work with gradient boosting."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import (
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor, plots

RNG = np.random.default_rng(0)
N = 200
X = pd.DataFrame({"slope": RNG.normal(size=N), "noise": RNG.normal(size=N)})
X["group"] = pd.Categorical(RNG.choice(["a", "b"], N))
SIGNAL = 3 * X["slope"] + np.where(X["group"] == "a", 2.0, 0.0) + RNG.normal(size=N)
X.loc[RNG.random(N) < 0.1, "noise"] = np.nan
MODELS = {
    "classifier": (GradientBoostingClassifier(30), SIGNAL > 1),
    "regressor": (GradientBoostingRegressor(30), SIGNAL),
}


@pytest.fixture(params=MODELS)
def fitted(request):
    learner, y = MODELS[request.param]
    return learner.fit(X, y), y


def test_partial_dependence_is_the_mean_prediction(fitted):
    model, _ = fitted
    result = partial_dependence(model, X, ["slope"], grid_resolution=4)
    respond = model.predict
    if isinstance(model, GradientBoostingClassifier):
        respond = lambda rows: model.predict_proba(rows)[:, 1]  # noqa: E731
    expected = [respond(X.assign(slope=value)).mean() for value in result["grid_values"][0]]
    np.testing.assert_allclose(result["average"][0], expected, rtol=1e-12)
    assert expected[0] < expected[-1]
    with pytest.raises(ValueError, match="recursion"):
        partial_dependence(model, X, ["slope"], method="recursion")


def test_partial_dependence_of_categories_is_drawn(fitted):
    pytest.importorskip("matplotlib")
    model, _ = fitted
    display = PartialDependenceDisplay.from_estimator(
        model, X, ["slope", "group"], categorical_features=["group"], grid_resolution=4
    )
    means = display.pd_results[1]["average"][0]
    assert means[0] > means[1]


def test_permutation_importance_finds_the_columns(fitted):
    model, y = fitted
    found = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert found.argmax() == 0
    assert abs(found[1]) < found[2]


def test_the_player_draws_the_steps_of_a_round_that_dropout_has_rescaled():
    """The values of the tree in the model have other factors than the learning rate."""
    model = GradientBoostingRegressor(8, dropout=0.6, trace=True, max_leaf_nodes=4).fit(X, SIGNAL)
    for number in (1, 4):
        axes = plots.play(model, X, columns=["slope"]).draw(number).axes[0]
        (line,) = (line for line in axes.get_lines() if line.get_gid() == "tree")
        # With reg_lambda=1 the step is the mean negative gradient of n rows times n / (n + 1).
        gradient, leaf = model.trace_[number]["gradient"][0], model.apply(X)[:, number]
        sums = np.bincount(leaf, gradient)[leaf]
        np.testing.assert_allclose(line.get_ydata(), -sums / (np.bincount(leaf)[leaf] + 1))
