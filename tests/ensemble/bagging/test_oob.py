"""Out-of-bag results of bagging compared with computations by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ceiba import BaggingClassifier, BaggingRegressor
from ceiba.ensemble.common.sampling import OutOfBagWarning
from ceiba.tree import DecisionTreeClassifier
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
XR, YR = hand.slope()


def quiet(model, *rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfBagWarning)
        return model.fit(*rows)


def oob_predictions(model, X, method):
    """Return for each row the predictions of the members whose sample lacks it."""
    predictions = [[] for _ in X]
    draws = zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    )
    for member, rows, chosen in draws:
        predicted = getattr(member, method)(X[:, chosen])
        for row in sorted(set(range(len(X))) - set(rows.tolist())):
            predictions[row].append(predicted[row])
    return predictions


@pytest.mark.parametrize("options", [{}, {"bootstrap": False, "max_samples": 0.5}], ids=str)
@pytest.mark.parametrize("members", [3, 8])
@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(3)], ids=["ours", "theirs"])
def test_mean_probabilities_match_naive(estimator, members, options):
    model = BaggingClassifier(estimator, members, max_features=3, oob_score=True, **options)
    predictions = oob_predictions(quiet(model, X, Y), X, "predict_proba")
    n_correct = n_rows = 0
    for row, predicted in enumerate(predictions):
        found = model.oob_decision_function_[row]
        if not predicted:
            assert np.isnan(found).all()
            continue
        mean = sum(predicted) / len(predicted)
        np.testing.assert_allclose(found, mean, rtol=1e-14)
        n_correct += model.classes_[mean.argmax()] == Y[row]
        n_rows += 1
    assert n_rows < 90 or members == 8
    assert model.oob_score_ == pytest.approx(n_correct / n_rows, rel=1e-14)
    assert not hasattr(model, "oob_ties_")


@pytest.mark.parametrize("members", [2, 5])
def test_votes_match_naive(members):
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=2), members, voting="majority", oob_score=True
    )
    predictions = oob_predictions(quiet(model, X, Y), X, "predict")
    n_correct, n_rows, ties = 0, 0, 0
    for row, predicted in enumerate(predictions):
        counts = [predicted.count(label) for label in model.classes_]
        if not predicted:
            assert np.isnan(model.oob_decision_function_[row]).all()
            continue
        np.testing.assert_allclose(
            model.oob_decision_function_[row], np.array(counts) / len(predicted), rtol=1e-14
        )
        n_correct += model.classes_[hand.elected(counts, model.seed_, row)] == Y[row]
        n_rows += 1
        ties += counts.count(max(counts)) > 1
    assert ties > 0
    assert model.oob_ties_ == ties
    assert model.oob_score_ == pytest.approx(n_correct / n_rows, rel=1e-14)


@pytest.mark.parametrize("estimator", [None, KNeighborsRegressor(3)], ids=["ours", "theirs"])
def test_mean_predictions_match_naive(estimator):
    model = quiet(BaggingRegressor(estimator, 8, oob_score=True), XR, YR)
    predictions = oob_predictions(model, XR, "predict")
    means = np.array([np.mean(predicted) if predicted else np.nan for predicted in predictions])
    np.testing.assert_allclose(model.oob_prediction_, means, rtol=1e-13)
    there = ~np.isnan(means)
    errors = ((YR - means)[there] ** 2).sum()
    spread = ((YR[there] - YR[there].mean()) ** 2).sum()
    assert model.oob_score_ == pytest.approx(1 - errors / spread, rel=1e-12)


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_score_is_weighted_and_ignores_rows_of_weight_zero(kind):
    rows, y = (X, Y) if kind is BaggingClassifier else (XR, YR)
    weight = np.random.default_rng(0).integers(0, 4, 90).astype(float)
    model = quiet(kind(n_estimators=12, oob_score=True), rows, y, weight)
    predicted = (
        model.oob_decision_function_[:, 0] if kind is BaggingClassifier else model.oob_prediction_
    )
    assert np.isnan(predicted[weight == 0]).all()
    there = ~np.isnan(predicted)
    w = weight[there]
    if kind is BaggingClassifier:
        right = model.classes_[model.oob_decision_function_[there].argmax(axis=1)] == y[there]
        expected = (w * right).sum() / w.sum()
    else:
        middle = (w * y[there]).sum() / w.sum()
        errors = (w * (y[there] - predicted[there]) ** 2).sum()
        expected = 1 - errors / (w * (y[there] - middle) ** 2).sum()
    assert model.oob_score_ == pytest.approx(expected, rel=1e-12)


def test_warning_counts_rows_never_out_of_bag():
    with pytest.warns(
        OutOfBagWarning, match=r"\d+ of 90 rows are in the sample of every member"
    ) as caught:
        model = BaggingClassifier(n_estimators=3, oob_score=True).fit(X, Y)
    never = int(np.isnan(model.oob_decision_function_[:, 0]).sum())
    assert str(caught[0].message).startswith(f"Some inputs do not have OOB scores: {never} of 90 ")
    assert caught[0].filename == __file__


def test_oob_score_is_close_to_score_on_new_rows():
    many, labels = hand.groups(600, seed=2)
    new, truth = hand.groups(3000, seed=3)
    model = BaggingClassifier(n_estimators=40, oob_score=True).fit(many, labels)
    accuracy = model.score(new, truth)
    assert abs(model.oob_score_ - accuracy) < 4 * np.sqrt(accuracy * (1 - accuracy) / 600)
    assert model.score(many, labels) > accuracy + 0.1  # as training accuracy would be


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_no_out_of_bag_rows_is_an_error(kind):
    rows, y = (X, Y) if kind is BaggingClassifier else (XR, YR)
    with pytest.raises(ValueError, match="set bootstrap=True, or max_samples"):
        kind(bootstrap=False, oob_score=True).fit(rows, y)
    with pytest.raises(ValueError, match="n_samples=1"):
        kind(oob_score=True).fit(rows[:1], y[:1])
    with pytest.raises(ValueError, match="no row is out of bag"):
        kind(n_estimators=1, oob_score=True, max_samples=2000).fit(rows[:10], y[:10])
