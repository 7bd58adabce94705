"""Calibrated probabilities beside scikit-learn's, and what they must do for every container."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier as PeerBagging
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import ceiba
from ceiba.experiments import Dataset, Learner, Predictions, Unit, compute_scores
from ceiba.experiments.probabilities.calibration import (
    CalibratedClassifier,
    SigmoidMap,
    calibrated,
    stratified_folds,
)

TREE = ceiba.DecisionTreeClassifier(max_depth=3)


def blobs(n_classes: int, n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of overlapping classes with text labels."""
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=n_classes, class_sep=0.7, flip_y=0.1, random_state=seed
    )
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def mixed_frame(n: int = 300) -> tuple[pd.DataFrame, Any]:
    """Return numeric and nominal columns with missing values."""
    random = np.random.default_rng(3)
    number = random.normal(size=n)
    number[::7] = np.nan
    color = random.choice(["red", "green", "blue"], n).astype(object)
    color[::11] = None
    frame = pd.DataFrame({"number": number, "color": pd.Categorical(color)})
    signal = np.nan_to_num(number) + (color == "red") + random.normal(scale=0.7, size=n)
    return frame, np.where(signal > 0.5, "yes", "no")


def same_folds(y: Any, n_folds: int = 5) -> list[tuple[Any, Any]]:
    folds = stratified_folds(np.unique(y, return_inverse=True)[1], n_folds)
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(n_folds)]


# ---- beside scikit-learn ----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_maps_are_scikit_learns(n_classes: int, weighted: bool) -> None:
    X, y = blobs(n_classes)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    own = CalibratedClassifier(GaussianNB(), method="isotonic").fit(X, y, sample_weight=weights)
    peer = CalibratedClassifierCV(
        GaussianNB(), method="isotonic", cv=same_folds(y), ensemble=False
    ).fit(X, y, sample_weight=weights)
    # Two maps of two classes add up to 1 but for rounding of the probabilities.
    np.testing.assert_allclose(own.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(own.predict(X), peer.predict(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoid_maps_of_log_odds_are_scikit_learns(weighted: bool) -> None:
    # The decision function of a logistic regression of two classes is its log-odds.
    X, y = blobs(2)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    learner = LogisticRegression(C=1e-3)
    own = CalibratedClassifier(learner, method="sigmoid").fit(X, y, sample_weight=weights)
    peer = CalibratedClassifierCV(learner, method="sigmoid", cv=same_folds(y), ensemble=False)
    expected = peer.fit(X, y, sample_weight=weights).predict_proba(X)
    # scikit-learn stops at a gradient of 1e-6.
    np.testing.assert_allclose(own.predict_proba(X), expected, atol=1e-4)


def test_a_sigmoid_map_has_the_maximum_likelihood() -> None:
    random = np.random.default_rng(0)
    log_odds, is_class = random.normal(0, 8, 200), random.random(200) < 0.3
    weights = random.uniform(0, 3, 200)
    n, m = weights[is_class].sum(), weights[~is_class].sum()
    targets = np.where(is_class, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(parameters: Any) -> float:
        p = expit(parameters[0] * log_odds + parameters[1])
        return float(-(weights * (targets * np.log(p) + (1 - targets) * np.log1p(-p))).sum())

    found = SigmoidMap.fit(log_odds, is_class, weights)
    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
    np.testing.assert_allclose([found.slope, found.intercept], best.x, atol=1e-5)


def test_separable_and_constant_probabilities_have_finite_maps() -> None:
    is_class = np.repeat([False, True], 20)
    separable = SigmoidMap.fit(np.where(is_class, 36.0, -36.0), is_class, np.ones(40))
    np.testing.assert_allclose(separable.predict(np.array([36.0, -36.0])), [21 / 22, 1 / 22])
    constant = SigmoidMap.fit(np.zeros(40), np.arange(40) < 10, np.ones(40))
    expected = (10 * 11 / 12 + 30 / 32) / 40
    np.testing.assert_allclose(constant.predict(np.zeros(1)), [expected])


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(), method="sigmoid"),
        CalibratedClassifier(PeerForest(10, random_state=0), rows="oob"),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "folds and samples draw whole rows"
        for kind in ("dense", "sparse")
    },
)
@pytest.mark.slow
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ---- what calibration is for -------------------------------------------------------------------


@pytest.mark.parametrize(("method", "factor"), [("isotonic", 0.6), ("sigmoid", 0.6)])
def test_an_overconfident_model_gets_honest(method: Any, factor: float) -> None:
    random = np.random.default_rng(5)
    y = random.choice(["a", "b", "c"], 4000)
    centers = {"a": 0.0, "b": 1.0, "c": 2.0}
    X = random.normal(size=(4000, 2)) + np.array([[centers[label]] for label in y])
    X = np.repeat(X, 6, axis=1)  # naive Bayes counts each column six times
    bayes = ceiba.NaiveBayesClassifier(distributions="gaussian")
    model = CalibratedClassifier(bayes, method=method)
    values = []
    for learner in (bayes, model):
        learner.fit(X[:2000], y[:2000])
        rows = X[2000:]
        fold = Predictions(
            y[2000:], learner.predict(rows), learner.predict_proba(rows), learner.classes_
        )
        values.append(compute_scores(fold, ["log_loss", "calibration_error", "accuracy"]))
    raw, honest = values
    assert honest["log_loss"].value < factor * raw["log_loss"].value
    assert honest["calibration_error"].value < 0.25 * raw["calibration_error"].value
    assert honest["accuracy"].value > raw["accuracy"].value - 0.01


def test_probabilities_of_exactly_zero_do_not_determine_the_sigmoid() -> None:
    vote = ceiba.datasets.load("vote")
    rows, y = vote.table, np.asarray(vote.y)
    train, test = (np.flatnonzero(np.arange(len(y)) % 2 == part) for part in (0, 1))
    forest = ceiba.RandomForestClassifier(50, n_jobs=1)
    model = CalibratedClassifier(forest, method="sigmoid", rows="oob")
    model.fit(rows.take(train), y[train])
    raw = model.estimator_.predict_proba(rows.take(test))
    assert (raw == 0).sum() > 50
    assert 1e-4 < model.min_probability_ < 0.1
    found = model.predict_proba(rows.take(test))
    errors = [
        compute_scores(Predictions(y[test], y[test], p, model.classes_), ["log_loss", "brier"])
        for p in (raw, found)
    ]
    # Raised to 1e-16 instead, the Brier score doubles.
    assert errors[1]["brier"].value < 1.1 * errors[0]["brier"].value
    assert errors[1]["log_loss"].value < 1.1 * errors[0]["log_loss"].value


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
@pytest.mark.parametrize("rows", ["folds", "oob"])
def test_every_option_changes_the_result(method: Any, rows: Any) -> None:
    X, y = blobs(3)
    forest = ceiba.RandomForestClassifier(20, n_jobs=1)
    first = CalibratedClassifier(forest, method=method, rows=rows).fit(X, y).predict_proba(X)
    other: Any = "sigmoid" if method == "isotonic" else "isotonic"
    changed = CalibratedClassifier(forest, method=other, rows=rows).fit(X, y).predict_proba(X)
    assert np.abs(first - changed).max() > 0.01
    if rows == "folds":
        fewer = CalibratedClassifier(forest, method=method, n_folds=2).fit(X, y).predict_proba(X)
        assert np.abs(first - fewer).max() > 0.01


def test_the_model_is_that_of_all_rows() -> None:
    X, y = blobs(3)
    model = CalibratedClassifier(TREE).fit(X, y)
    expected = clone(TREE).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), expected)
    assert model.n_calibration_rows_ == len(y)


def test_predictions_are_those_of_the_calibrated_probabilities() -> None:
    X, y = blobs(4, seed=2)
    model = CalibratedClassifier(GaussianNB()).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    assert (model.predict(X) != model.estimator_.predict(X)).any()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()


class Fixed(ClassifierMixin, BaseEstimator):
    """Predict the probabilities that the columns are."""

    def fit(self, X: Any, y: Any) -> Fixed:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(X, axis=1)]

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X)


def test_a_row_without_any_calibrated_value_gets_the_frequencies() -> None:
    codes = np.repeat([0, 1, 2], [20, 40, 60])
    # The true class has probability 0.6 or 1, and the others 0.2 or 0.
    X = np.eye(3)[codes]
    X[::2] = X[::2] * 0.4 + 0.2
    model = CalibratedClassifier(Fixed(), method="isotonic").fit(X, codes)
    np.testing.assert_allclose(model.predict_proba([[0.2, 0.2, 0.2]]), [[1 / 6, 2 / 6, 3 / 6]])
    np.testing.assert_allclose(model.class_prior_, [1 / 6, 2 / 6, 3 / 6])


# ---- rows of all kinds -------------------------------------------------------------------------


@pytest.mark.parametrize("rows", ["folds", "oob"])
@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_tables_and_frames_give_the_same_probabilities(rows: Any, method: Any) -> None:
    frame, y = mixed_frame()
    forest = ceiba.RandomForestClassifier(15, n_jobs=1)
    model = CalibratedClassifier(forest, method=method, rows=rows)
    expected = clone(model).fit(frame, y).predict_proba(frame)
    table = ceiba.data.Table.of(frame)
    found = clone(model).fit(table, list(y)).predict_proba(table)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (clone(model).fit(table, y).predict(table) == y).mean() > 0.7


def test_lists_and_sparse_rows() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y = blobs(2, n=60)
    model = CalibratedClassifier(LogisticRegression(), method="sigmoid")
    expected = clone(model).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(clone(model).fit(X.tolist(), y).predict_proba(X.tolist()), expected)
    rows = sparse.coo_matrix(X)
    np.testing.assert_allclose(clone(model).fit(rows, y).predict_proba(rows), expected, atol=1e-5)


def test_pipelines_and_parameters_of_labels() -> None:
    X, y = blobs(2)
    pipeline = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight={"ant": 5, "bee": 1})
    )
    model = CalibratedClassifier(pipeline, method="sigmoid").fit(X, y)
    assert model.predict_proba(X).shape == (len(y), 2)
    # The weight moves the probabilities of the learner, and calibration moves them back.
    raw = model.estimator_.predict_proba(X)[:, 0].mean()
    assert raw > 0.65
    assert abs(model.predict_proba(X)[:, 0].mean() - np.mean(y == "ant")) < 0.02


def test_weights_reach_the_learner_and_the_maps() -> None:
    X, y = blobs(2)
    weights = np.where(y == "ant", 3.0, 1.0)
    plain = CalibratedClassifier(TREE, method="sigmoid").fit(X, y)
    weighted = CalibratedClassifier(TREE, method="sigmoid").fit(X, y, sample_weight=weights)
    expected = clone(TREE).fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_array_equal(weighted.estimator_.predict_proba(X), expected)
    means = [model.predict_proba(X)[:, 0].mean() for model in (plain, weighted)]
    assert means[1] > means[0] + 0.1
    assert weighted.class_prior_[0] > plain.class_prior_[0] + 0.1


@pytest.mark.parametrize(
    "forest",
    [
        ceiba.RandomForestClassifier(3, n_jobs=1),
        ceiba.BaggingClassifier(n_estimators=3),
        PeerForest(3, random_state=0),
        PeerBagging(n_estimators=3, random_state=0),
    ],
    ids=lambda forest: f"{type(forest).__module__.split('.')[0]} {type(forest).__name__}",
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
def test_rows_that_are_never_out_of_bag_are_left_out(forest: Any) -> None:
    X, y = blobs(3)
    model = CalibratedClassifier(forest, rows="oob").fit(X, y)
    # A row is in all three samples with probability 0.632 ** 3 = 0.25.
    assert 0.65 * len(y) < model.n_calibration_rows_ < 0.85 * len(y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not forest.oob_score  # the learner of the user stays as it is


def test_a_class_with_few_rows_is_in_all_training_parts() -> None:
    X, y = blobs(2)
    y[:2] = "elk"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CalibratedClassifier(GaussianNB(var_smoothing=0.1), method="sigmoid").fit(X, y)
    assert model.classes_.tolist() == ["ant", "bee", "elk"]
    assert model.predict_proba(X).shape == (len(y), 3)
    for train, _ in same_folds(y):
        assert "elk" in y[train]


def test_a_class_that_the_training_rows_lack() -> None:
    X, y = blobs(3)
    data = Dataset("blobs", X, y, "classification")
    train = np.flatnonzero(y != "bee")
    learner = Learner("calibrated", CalibratedClassifier(TREE))
    found = Unit(data, learner, 0, 0, train, np.arange(len(y)), 0).run()
    assert found.error is None
    assert found.probabilities is not None
    assert not found.probabilities[:, 1].any()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    assert found.regions is None


def test_one_class_has_probability_one() -> None:
    X = np.arange(20.0)[:, None]
    for method in ("isotonic", "sigmoid"):
        model = CalibratedClassifier(TREE, method=method).fit(X, ["only"] * 20)
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((20, 1)))


# ---- contract ----------------------------------------------------------------------------------


def test_parameters_and_clones() -> None:
    model = CalibratedClassifier(PeerForest(), method="Sigmoid")
    params = model.get_params(deep=True)
    assert params["method"] == "Sigmoid"
    assert model.method == "sigmoid"
    assert params["estimator__random_state"] is None
    copy = clone(model).set_params(estimator__random_state=3, n_folds=4)
    assert copy.estimator.random_state == 3
    assert model.estimator.random_state is None


def test_a_unit_seeds_the_learner_inside() -> None:
    X, y = blobs(2)
    data = Dataset("blobs", X, y, "classification")
    learner = Learner("forest", CalibratedClassifier(PeerForest(5)))
    rows = np.arange(len(y))
    one, two = (Unit(data, learner, 0, 0, rows[:300], rows[300:], 0).run() for _ in range(2))
    assert one.probabilities is not None
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_a_failed_fit_leaves_the_old_model() -> None:
    X, y = blobs(2)
    model = CalibratedClassifier(TREE).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="1 of class 'rare'"):
        model.fit(X, np.where(np.arange(len(y)) == 0, "rare", y))
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize(
    ("spec", "method", "rows"),
    [
        ("isotonic", "isotonic", "folds"),
        ("sigmoid", "sigmoid", "folds"),
        ("Isotonic  OOB", "isotonic", "oob"),
        ("sigmoid oob", "sigmoid", "oob"),
    ],
)
def test_specs(spec: str, method: str, rows: str) -> None:
    model = calibrated(TREE, spec)
    assert (model.method, model.rows, model.estimator) == (method, rows, TREE)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X, y: calibrated(TREE, "platt"), "calibrate must be one of 'isotonic', .*'platt'"),
        (lambda X, y: calibrated(TREE, None), "got None"),
        (lambda X, y: CalibratedClassifier(TREE, method="beta").fit(X, y), "'method' parameter"),
        (lambda X, y: CalibratedClassifier(TREE, n_folds=1).fit(X, y), "must be an int >= 2"),
        (lambda X, y: CalibratedClassifier(None).fit(X, y), "'estimator' parameter"),
        (
            lambda X, y: CalibratedClassifier(TREE, rows="oob").fit(X, y),
            "rows='oob' requires a forest or bagging .* got DecisionTreeClassifier: use rows='fol",
        ),
        (
            lambda X, y: CalibratedClassifier(
                make_pipeline(StandardScaler(), PeerForest()), rows="oob"
            ).fit(X, y),
            "got Pipeline: use rows='folds'",
        ),
        (
            lambda X, y: CalibratedClassifier(PeerForest(), rows="oob", n_folds=3).fit(X, y),
            "'n_folds' has no effect with rows='oob'",
        ),
        (
            lambda X, y: CalibratedClassifier(LinearSVC()).fit(X, y),
            "must have predict_proba, got LinearSVC",
        ),
        (
            lambda X, y: CalibratedClassifier(ceiba.DecisionTreeRegressor()).fit(X, y),
            "must be a classifier, got DecisionTreeRegressor, a regressor",
        ),
        (lambda X, y: CalibratedClassifier(TREE).fit(X, y[1:]), "inconsistent numbers of samples"),
        (
            lambda X, y: CalibratedClassifier(TREE).fit(X, y, sample_weight=[1.0]),
            r"sample_weight must have shape \(400,\), got \(1,\)",
        ),
    ],
)
def test_refusals(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call(*blobs(2))
