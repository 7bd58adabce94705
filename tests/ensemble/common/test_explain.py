"""Shapley values of ensembles: additivity, all coalitions, members, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from ceiba.base import Explanation
from ceiba.data.table import Table
from ceiba.tree.explain.shap import node_predictions
from tests.oracles.shap_naive import (
    branches,
    interventional_value,
    path_dependent_value,
    shapley_values,
)
from tests.tree.explain.test_shap import mixed_frame, targets

CLASSIFIERS = [
    DecisionTreeClassifier(max_depth=5),
    RandomForestClassifier(7),
    RandomForestClassifier(5, leaf_probability="laplace", class_weight="balanced"),
    ExtraTreesClassifier(7),
    BaggingClassifier(n_estimators=6),
    BaggingClassifier(n_estimators=6, voting="majority", max_features=0.6),
    BaggingClassifier(n_estimators=6, bootstrap_features=True),
    AdaBoostClassifier(n_estimators=8, max_depth=2),
    AdaBoostClassifier(n_estimators=8, max_depth=2, algorithm="samme.r"),
    GradientBoostingClassifier(n_estimators=8),
    GradientBoostingClassifier(n_estimators=4, multi_strategy="multi_output_tree"),
]
REGRESSORS = [
    DecisionTreeRegressor(max_depth=5),
    RandomForestRegressor(7),
    ExtraTreesRegressor(7),
    BaggingRegressor(n_estimators=6, max_features=0.6),
    GradientBoostingRegressor(n_estimators=8),
    GradientBoostingRegressor(n_estimators=8, loss="absolute_error", init="zero"),
    GradientBoostingRegressor(n_estimators=8, loss="poisson"),
]


def rows_and_targets(n_classes):
    rng = np.random.default_rng(5)
    frame = mixed_frame(rng, 150)
    y = targets(rng, frame, n_classes > 0)
    return frame, np.where(y == "r", "q", y) if n_classes == 2 else y


def scores(model, rows):
    """Return the scores that Shapley values explain."""
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)
    predicted = model.predict(rows)
    return np.log(predicted) if getattr(model, "loss", None) == "poisson" else predicted


@pytest.mark.parametrize("n_background", [0, 7])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=str)
def test_classifiers_are_additive(learner, n_classes, n_background):
    frame, y = rows_and_targets(n_classes)
    check_additive(learner.fit(frame, y), frame, n_background)


@pytest.mark.parametrize("n_background", [0, 7])
@pytest.mark.parametrize("learner", REGRESSORS, ids=str)
def test_regressors_are_additive(learner, n_background):
    frame, y = rows_and_targets(0)
    check_additive(learner.fit(frame, np.abs(y)), frame, n_background)


def check_additive(model, frame, n_background):
    rows, background = frame.iloc[:30], frame.iloc[30 : 30 + n_background]
    expected = scores(model, rows)
    background = background if n_background else None
    found = model.shap_values(rows, background)
    assert found.shape == (30, frame.shape[1], *expected.shape[1:])
    base = model.expected_value(background)
    assert np.shape(base) == expected.shape[1:]
    assert np.ndim(base) or type(base) is float
    np.testing.assert_allclose(base + found.sum(axis=1), expected, rtol=1e-9, atol=1e-9)
    if n_background:
        np.testing.assert_allclose(base, scores(model, background).mean(axis=0), atol=1e-9)
    of_last_output = model.explain(rows.iloc[:1], background).base[-1]
    np.testing.assert_allclose(np.reshape(base, -1)[-1], of_last_output, rtol=1e-9, atol=1e-12)
    check_explanation(model, rows.iloc[:1], expected[0], found[0], background)


def check_explanation(model, row, expected, values, background):
    explanation = model.explain(row, background)
    total = explanation.base + explanation.contributions.sum(axis=0)
    np.testing.assert_allclose(total, explanation.scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(explanation.scores[-1], expected.reshape(-1)[-1], rtol=1e-12)
    of_last_output = explanation.contributions[:, -1]
    np.testing.assert_array_equal(of_last_output, values.reshape(len(values), -1)[:, -1])
    assert explanation.prediction == model.predict(row)[0]
    assert bool(explanation.path) == isinstance(
        model, (DecisionTreeClassifier, DecisionTreeRegressor)
    )
    if explanation.outputs:
        assert explanation.outputs == model.classes_.tolist()
        np.testing.assert_array_equal(explanation.probabilities, model.predict_proba(row)[0])
    text = explanation.to_json()
    again = Explanation.from_json(text)
    assert again.to_json() == text
    assert str(again) == str(explanation)


@pytest.mark.parametrize("n_background", [0, 5])
def test_values_are_those_of_all_coalitions(n_background):
    frame, y = rows_and_targets(0)
    model = GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=8).fit(frame, y)
    rows = frame.iloc[: 1 + n_background]
    table, expected = Table.of(rows, model.schema_), 0.0
    others = range(1, 1 + n_background)
    for number in range(3):
        tree = model.tree(number)
        values, branch = node_predictions(tree), branches(tree, table)

        def value_of(known, tree=tree, branch=branch, values=values):
            if n_background:
                return interventional_value(tree, branch, values, 0, known, others)
            return path_dependent_value(tree, branch, values, 0, known)

        expected = expected + shapley_values(value_of, len(tree.schema))[:, 0]
    found = model.shap_values(rows.iloc[:1], rows.iloc[1:] if n_background else None)
    np.testing.assert_allclose(found[0], expected, rtol=1e-10, atol=1e-12)


def test_forest_is_the_mean_of_its_trees():
    frame, y = rows_and_targets(3)
    model = RandomForestClassifier(4).fit(frame, y)
    expected = np.mean([tree.shap_values(frame.iloc[:5]) for tree in model], axis=0)
    np.testing.assert_allclose(model.shap_values(frame.iloc[:5]), expected, atol=1e-12)


def test_members_that_lack_a_class():
    X = np.arange(30.0)[:, None]
    y = np.repeat([0, 1, 2], [14, 14, 2])
    model = BaggingClassifier(n_estimators=8, max_samples=6).fit(X, y)
    check_additive(model, pd.DataFrame(X), 0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (AdaBoostRegressor(n_estimators=3), "weighted median"),
        (BaggingRegressor(LinearRegression(), n_estimators=2), "got LinearRegression"),
        (GradientBoostingRegressor(n_estimators=2, init=LinearRegression()), "init=Linear"),
        (DecisionTreeRegressor(missing="surrogate"), "^An explanation requires trees"),
    ],
    ids=["median", "members", "init", "surrogate"],
)
def test_scores_that_are_no_sum_of_trees(model, message):
    X = np.arange(100.0).reshape(50, 2)
    model.fit(X, X[:, 0] ** 2)
    for method in (model.shap_values, model.explain):
        with pytest.raises(ValueError, match=message):
            method(X[:1])
    for background in (None, X[:3]):
        with pytest.raises(ValueError, match=message):
            model.expected_value(background)


def test_other_members_and_rows():
    X, y = np.arange(20.0)[:, None], np.repeat(["a", "b"], 10)
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="got LogisticRegression"):
        model.shap_values(X)
    model = RandomForestClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match="X must be one row, got 2"):
        model.explain(X[:2])
    with pytest.raises(ValueError, match="2 features"):
        model.shap_values(np.zeros((3, 2)))


def test_expected_value_of_times_and_categories():
    frame = pd.DataFrame({
        "day": pd.date_range("2020-01-01", periods=60), "size": np.arange(60),
        "kind": pd.Categorical(list("abc") * 20), "wait": pd.to_timedelta(np.arange(60), "h"),
    })  # fmt: skip
    model = RandomForestRegressor(5).fit(frame, np.arange(60.0))
    check_additive(model, frame, 0)
    check_additive(model, frame, 4)


def test_expected_value_of_models_that_are_not_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        RandomForestRegressor().expected_value()
