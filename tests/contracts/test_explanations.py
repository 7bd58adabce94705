"""Every learner that predicts explains a row by the same record, or raises a clear error."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

import ceiba
from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GaussianMixture,
    GaussianMixtureClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LatentClassMixture,
    NaiveBayesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StructuralTMClassifier,
    TANClassifier,
    plots,
)
from ceiba.base import Explanation
from ceiba.base.log_odds import SEVERAL_OUTPUTS, TWO_OUTPUTS
from ceiba.experiments import CalibratedClassifier, ConformalClassifier, ConformalRegressor
from ceiba.tree.explain.shap import ShapValues, TreeSum

LEARNERS: list[Any] = [
    AdaBoostClassifier(n_estimators=3, max_depth=2),
    BaggingClassifier(n_estimators=3),
    BaggingRegressor(n_estimators=3),
    DecisionTreeClassifier(max_depth=4),
    DecisionTreeRegressor(max_depth=4),
    ExtraTreesClassifier(3),
    ExtraTreesRegressor(3),
    GaussianMixture(2),
    GaussianMixture(3, covariance_type="diag"),
    GaussianMixture(2, covariance_type="spherical", scale="std"),
    GaussianMixture(2, covariance_type="tied"),
    GaussianMixtureClassifier(),
    GaussianMixtureClassifier(2, covariance_type="diag"),
    GradientBoostingClassifier(3),
    GradientBoostingRegressor(3),
    KMeans(3),
    KMeans(2, scale="std"),
    KNeighborsClassifier(5, weights="distance"),
    KNeighborsRegressor(5),
    LatentClassMixture(2),
    LatentClassMixture(3, structure="tree"),
    NaiveBayesClassifier(),
    NaiveBayesClassifier(distributions={"size": "gaussian", "width": "kernel"}),
    NaiveBayesClassifier(training="tm", missing="category"),
    TANClassifier(),
    TANClassifier(structure="aode"),
    TANClassifier(training="tm"),
    StructuralTMClassifier(),
    RandomForestClassifier(3),
    RandomForestRegressor(3),
    CalibratedClassifier(DecisionTreeClassifier(max_depth=3), method="sigmoid"),
    ConformalClassifier(NaiveBayesClassifier()),
    ConformalRegressor(RandomForestRegressor(3)),
]
# What cannot be explained: predictions that no column adds to, and members without explanations.
REFUSALS: list[tuple[Any, str]] = [
    (AdaBoostRegressor(n_estimators=3), "predicts their weighted median"),
    (BaggingRegressor(LinearRegression(), n_estimators=2), "got LinearRegression"),
    (BaggingClassifier(LogisticRegression(), n_estimators=2), "got LogisticRegression"),
    (ConformalRegressor(LinearRegression()), "estimator=LinearRegression"),
]
KEYS = {"format", *(entry.name for entry in fields(Explanation))}


def frame(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n)
    found = pd.DataFrame(
        {
            "size": rng.normal(size=n) + group,
            "color": pd.Categorical(
                np.array(["red", "green", "blue"])[(group + (rng.random(n) < 0.2)) % 3]
            ),
            "width": rng.normal(size=n) - 2 * (group == 2),
            "shape": pd.Categorical(rng.choice(["round", "long"], n)),
        }
    )
    found.loc[rng.random(n) < 0.1, "size"] = np.nan
    found.loc[rng.random(n) < 0.1, "color"] = None
    return found


def rows_of(model: Any) -> pd.DataFrame:
    """Return rows of the kinds that a learner accepts."""
    tags = model.__sklearn_tags__().input_tags
    rows = frame()
    rows = rows if getattr(model, "_accepts_nominal", True) else rows[["size", "width"]]
    return rows if tags.allow_nan else rows.fillna(0.0)


def fit(model: Any, n_classes: int) -> tuple[Any, pd.DataFrame]:
    rows = rows_of(model)
    signal = rows["width"] + (0.3 * rows["size"]).fillna(0.0)
    if getattr(model, "_estimator_type", None) == "regressor" or "Regressor" in repr(model):
        return clone(model).fit(rows, signal), rows
    labels = np.array(["no", "yes", "maybe"])[np.digitize(signal, [-1.5, 0.3][: n_classes - 1])]
    return clone(model).fit(rows, labels), rows


def test_the_list_is_complete() -> None:
    listed = {type(model).__name__ for model in LEARNERS} | {
        type(model).__name__ for model, _ in REFUSALS
    }
    predicting = {name for name in ceiba.ESTIMATORS if hasattr(getattr(ceiba, name), "predict")}
    assert predicting <= listed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda model: " ".join(repr(model).split()))
def test_explanations(learner: Any, n_classes: int) -> None:
    model, rows = fit(learner, n_classes)
    complete = rows.iloc[[int(rows.notna().all(axis=1).argmax())]]
    incomplete = rows.iloc[[int(rows.isna().any(axis=1).argmax())]]
    for row in (complete, incomplete):
        found = model.explain(row)
        check_record(found, model, row)
        check_scores(found, model, row)


def check_record(found: Explanation, model: Any, row: pd.DataFrame) -> None:
    """Check prediction, row, and the way to JSON and back."""
    assert found.learner == type(model).__name__
    assert found.prediction == model.predict(row)[0]
    assert type(found.prediction) in (str, int, float)
    assert found.columns == list(row.columns)
    for value, given in zip(found.values, row.iloc[0], strict=True):
        assert value is None if pd.isna(given) else value == given
    text = found.to_json()
    assert json.loads(text).keys() == KEYS
    again = Explanation.from_json(text)
    assert again.to_json() == text
    assert str(again) == str(found)
    assert str(found).startswith("prediction: ")


def check_scores(found: Explanation, model: Any, row: pd.DataFrame) -> None:
    """Check that contributions add up to the scores, and scores to the predictions."""
    proba = model.predict_proba(row)[0] if hasattr(model, "predict_proba") else None
    reported = found.probabilities if found.responsibilities is None else found.responsibilities
    if proba is None:
        assert reported is None
    else:
        np.testing.assert_array_equal(reported, proba)
        assert len(found.outputs) == len(proba)
    if found.contributions is None:
        assert found.base is found.scores is None
        assert found.neighbors is not None
        return
    assert found.base is not None
    assert found.scores is not None
    assert found.contributions.shape == (row.shape[1], len(found.base))
    np.testing.assert_allclose(
        found.base + found.contributions.sum(axis=0), found.scores, rtol=1e-10, atol=1e-10
    )
    if isinstance(model, CalibratedClassifier):
        return  # its scores are those of the learner, before calibration
    if found.score == TWO_OUTPUTS:
        np.testing.assert_allclose(expit(found.scores), proba, atol=1e-9)
    elif found.score == SEVERAL_OUTPUTS:
        np.testing.assert_allclose(softmax(found.scores), proba, atol=1e-9)
    elif found.score == "squared distance":
        assert found.prediction == found.scores.argmin()
        if row.notna().all(axis=None):
            np.testing.assert_allclose(np.sqrt(found.scores), found.distances)
    elif found.score == "probability":
        np.testing.assert_array_equal(found.scores, proba)
    elif proba is None:
        assert found.scores[0] == found.prediction
    else:
        # Scores of trees are those of the learner, not the sum that is compared with them above.
        of_last_class = np.reshape(model.decision_function(row), -1)[-1]
        assert found.scores[-1] == of_last_class
        assert found.outputs[int(found.scores.argmax())] == found.prediction


@pytest.mark.parametrize(
    "learner",
    [DecisionTreeClassifier(max_depth=4), AdaBoostClassifier(n_estimators=3, max_depth=2),
     GradientBoostingClassifier(3), GradientBoostingRegressor(3, loss="poisson")],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_scores_are_not_computed_from_the_contributions(
    learner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = clone(learner).fit(X, X[:, 0] > 0)
    expected = model.explain(X[:1])

    def wrong_values(self: TreeSum, *_: Any, threads: int) -> ShapValues:
        return ShapValues(np.ones((1, 2, self.n_outputs)), np.ones(self.n_outputs))

    monkeypatch.setattr(TreeSum, "explain", wrong_values)
    found = model.explain(X[:1])
    assert found.contributions[-1, -1] == 1
    np.testing.assert_array_equal(found.scores, expected.scores)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("learner", "message"), REFUSALS, ids=lambda value: repr(value)[:30])
def test_refusals(learner: Any, message: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + X[:, 1] ** 2
    y = y > 1 if isinstance(learner, BaggingClassifier) else y
    model = clone(learner).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.explain(X[:1])


@pytest.mark.parametrize(
    "learner",
    [KMeans(2), GaussianMixture(2), GaussianMixtureClassifier(), NaiveBayesClassifier(),
     LatentClassMixture(2), KNeighborsClassifier(), RandomForestRegressor(2)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_only_one_row_of_a_fitted_model_is_explained(learner: Any) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match="not fitted"):
        clone(learner).explain(X[:1])
    model = clone(learner).fit(X, y)
    with pytest.raises(ValueError, match=r"X must be one row, got 2: pass X\[i : i \+ 1\]"):
        model.explain(X[:2])
    with pytest.raises(ValueError, match="2 features"):
        model.explain(X[:1, :1])


@pytest.mark.parametrize(
    "learner",
    [NaiveBayesClassifier(distributions={"size": "gaussian", "width": "kernel"}), KMeans(3),
     GaussianMixture(2, covariance_type="diag"), LatentClassMixture(3)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_a_column_contributes_what_its_value_changes(learner: Any) -> None:
    model, rows = fit(learner, 3)
    row = rows.iloc[[int(rows.notna().all(axis=1).argmax())]]
    found = model.explain(row)
    for j, name in enumerate(row.columns):
        without = row.assign(**{name: pd.Series([None], row.index, row.dtypes[name])})
        expected = found.scores - model.explain(without).scores
        np.testing.assert_allclose(found.contributions[j], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "learner", [GaussianMixture(3), GaussianMixtureClassifier(2), TANClassifier(structure="aode")],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_a_column_contributes_given_the_columns_before(learner: Any) -> None:
    model, rows = fit(learner, 3)
    row = rows.iloc[[int(rows.notna().all(axis=1).argmax())]]
    found = model.explain(row)
    total = found.base
    for j in range(len(row.columns)):
        known = row.copy()
        known[row.columns[j + 1 :]] = None
        known = known.astype(row.dtypes)
        total = total + found.contributions[j]
        np.testing.assert_allclose(model.explain(known).scores, total, rtol=1e-9, atol=1e-9)


def test_classes_without_rows_and_impossible_rows() -> None:
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [5.0]])
    y = np.array(["a", "a", "a", "b", "b", "b", "c"])
    weight = np.array([1.0] * 6 + [0.0])
    model = NaiveBayesClassifier(distributions="gaussian").fit(X, y, sample_weight=weight)
    found = model.explain(X[:1])
    assert found.scores.tolist()[2] == -np.inf
    np.testing.assert_allclose(softmax(found.scores), model.predict_proba(X[:1])[0])
    # Every density underflows: the probabilities are those of the classes alone.
    far = np.array([[1e300]])
    found = model.explain(far)
    assert not found.contributions.any()
    np.testing.assert_allclose(softmax(found.scores), model.predict_proba(far)[0])
    mixture = GaussianMixtureClassifier().fit(X, y, sample_weight=weight)
    found = mixture.explain(X[:1])
    np.testing.assert_allclose(softmax(found.scores), mixture.predict_proba(X[:1])[0])


def test_one_class_or_component() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    for model in (NaiveBayesClassifier(distributions="gaussian"), GaussianMixture(1)):
        found = model.fit(X, ["a"] * 3).explain(X[:1])
        assert found.scores.tolist() == [0.0]
        assert not np.isnan(found.contributions).any()


def test_distances_are_named_by_what_they_lead_to() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = [model.fit(X).explain(X[:1]) for model in (GaussianMixture(2), KMeans(2))]
    labels = [plots.explanation(each).axes[-1].get_xlabel() for each in found]
    assert labels == ["Mahalanobis distance", "distance"]
    texts = list(map(str, found))
    assert "component  Mahalanobis distance" in texts[0]
    assert "center  distance" in texts[1]
    assert ["center" in text for text in texts] == [False, True]
