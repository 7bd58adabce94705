"""Conformal prediction: exact coverage in simulations, and naive versions of the regions."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestRegressor as PeerForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import ceiba
from ceiba.experiments import Dataset, Learner, Unit
from ceiba.experiments.probabilities.calibration import CalibratedClassifier
from ceiba.experiments.probabilities.conformal import (
    CalibrationRowsWarning,
    ConformalClassifier,
    ConformalRegressor,
    calibration_rank,
    conformal,
)
from tests.experiments.probabilities.coverage_simulation import (
    CASES,
    KINDS,
    N_TEST,
    REPEATS,
    Coverage,
    cell,
    simulate,
)
from tests.experiments.probabilities.test_calibration import mixed_frame
from tests.paths import ROOT


def classes(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=4, class_sep=0.7, flip_y=0.1, random_state=seed
    )
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def numbers(n: int = 400) -> tuple[Any, Any]:
    X, y = make_regression(n, 4, noise=20, random_state=0)
    return X, y


# ---- coverage ----------------------------------------------------------------------------------


def check_coverage(kind: str, confidence_level: float, n: int, repeats: int) -> Coverage:
    """Compare the mean coverage with that of the Beta distribution of the coverage."""
    rank = calibration_rank(n, confidence_level)
    exact = beta(rank, n + 1 - rank)
    of_rows = exact.expect(lambda p: p * (1 - p)) / N_TEST
    error = math.sqrt((exact.var() + of_rows) / repeats)
    found = simulate(kind, confidence_level, n, repeats)
    assert found.mean > exact.mean() - 4 * error
    # Without randomization, the coverage of adaptive sets is greater where the accuracy may be
    # above the confidence level in the calibration rows: it is 0.71.
    if kind != "adaptive" or confidence_level > 0.85:
        assert found.mean < exact.mean() + 4 * error
        assert found.standard_error == pytest.approx(error, rel=6 / math.sqrt(repeats))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_coverage_is_exact(kind: str) -> None:
    check_coverage(kind, 0.9, 20, 250)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("confidence_level", "n"), CASES)
def test_coverage_is_that_of_the_guide(kind: str, confidence_level: float, n: int) -> None:
    guide = (ROOT / "docs" / "guide" / "honest_probabilities.rst").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^{confidence_level} +{n} +(.*)$", guide, re.MULTILINE)
    exact, *cells = re.split(r"  +", row)
    assert float(exact) == round(calibration_rank(n, confidence_level) / (n + 1), 4)
    found = cell(check_coverage(kind, confidence_level, n, REPEATS))
    shown = cells[KINDS.index(kind)]
    # Another processor may round sums in another way, and so a row at the end of a region.
    for a, b in zip(shown.split(), found.split(), strict=True):
        digits = 3 if "(" not in a else 1
        assert float(a.strip("()")) == pytest.approx(float(b.strip("()")), abs=0.1**digits)


@pytest.mark.parametrize(
    ("n", "confidence_level", "rank"),
    [(9, 0.9, 9), (8, 0.9, 9), (99, 0.9, 90), (100, 0.9, 91), (99, 0.07, 7), (19, 0.95, 19)],
)
def test_ranks(n: int, confidence_level: float, rank: int) -> None:
    assert calibration_rank(n, confidence_level) == rank


# ---- naive versions ----------------------------------------------------------------------------


def naive_sets(
    method: str, calibration: Any, codes: Any, probabilities: Any, confidence: float
) -> Any:
    """Return prediction sets, row by row and class by class."""

    def score(row: Any, k: int) -> float:
        return -row[k] if method == "threshold" else sum(p for p in row if p > row[k])

    scores = sorted(score(row, k) for row, k in zip(calibration, codes, strict=True))
    threshold = scores[math.ceil((len(scores) + 1) * confidence) - 1]
    return [[score(row, k) <= threshold + 1e-9 for k in range(len(row))] for row in probabilities]


@pytest.mark.parametrize("method", ["threshold", "adaptive"])
@pytest.mark.parametrize("confidence_level", [0.5, 0.8, 0.93])
def test_sets_are_the_naive_ones(method: Any, confidence_level: float) -> None:
    X, y = classes()
    model = ConformalClassifier(GaussianNB(), confidence_level=confidence_level, method=method)
    found = model.fit(X, y).predict_set(X)
    rows = calibration_rows(model, X, y)
    assert len(rows) == model.n_calibration_rows_ == 100
    probabilities = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, y[rows])
    expected = naive_sets(method, probabilities[rows], codes, probabilities, confidence_level)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == bool
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))


class Recording(GaussianNB):
    """Keep the rows of the fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Recording:
        super().fit(X, y, sample_weight)
        self.rows_ = X
        return self


def calibration_rows(model: ConformalClassifier, X: Any, y: Any) -> Any:
    """Return the rows that a fit with the same seed does not use."""
    used = clone(model).set_params(estimator=Recording()).fit(X, y).estimator_.rows_
    trained = {row.tobytes() for row in used}
    return np.array([i for i, row in enumerate(X) if row.tobytes() not in trained])


def test_adaptive_sets_are_never_empty_and_have_the_predicted_class() -> None:
    X, y = classes()
    for confidence in (0.1, 0.6):
        model = ConformalClassifier(GaussianNB(), confidence_level=confidence, method="adaptive")
        sets = model.fit(X, y).predict_set(X)
        top = model.predict_proba(X).argmax(axis=1)
        assert sets[np.arange(len(y)), top].all()
    empty = ConformalClassifier(GaussianNB(), confidence_level=0.1).fit(X, y).predict_set(X)
    assert not empty.any(axis=1).all()


def test_adaptive_sets_of_certain_trees() -> None:
    # Leaves have probabilities 0 and 1; the sums of other classes are 1 up to rounding.
    X, y = classes()
    tree = ceiba.DecisionTreeClassifier()
    model = ConformalClassifier(tree, confidence_level=0.9, method="adaptive").fit(X, y)
    assert model.predict_set(X).all()
    low = ConformalClassifier(tree, confidence_level=0.3, method="adaptive").fit(X, y)
    np.testing.assert_array_equal(low.predict_set(X).sum(axis=1), 1)


def test_intervals_are_those_of_the_errors() -> None:
    X, y = numbers()
    model = ConformalRegressor(LinearRegression(), confidence_level=0.8).fit(X, y)
    low, high = model.predict_interval(X).T
    np.testing.assert_allclose((low + high) / 2, model.predict(X))
    np.testing.assert_allclose(high - low, 2 * model.threshold_)
    errors = np.abs(y - model.predict(X))
    # 81 of the 100 calibration rows are inside, and the others are outside.
    assert (errors == model.threshold_).sum() == 1
    assert model.n_calibration_rows_ == 100


def test_whole_numbers_at_the_ends_are_inside() -> None:
    # The mean is 0.3, errors are 0.3 and 0.7 for all rows, and 0.3 + 0.7 may be below 1.
    y = np.tile([0, 0, 0, 1, 0, 0, 1, 0, 0, 1], 40).astype(float)
    model = ConformalRegressor(ceiba.DecisionTreeRegressor(max_depth=1), confidence_level=0.95)
    low, high = model.fit(np.zeros((400, 1)), y).predict_interval(np.zeros((2, 1))).T
    assert (low <= 0).all()
    assert (high >= 1).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [("confidence_level", 0.6), ("calibration_size", 0.5), ("random_state", 7)],
)
def test_every_option_changes_the_result(option: str, value: Any) -> None:
    for model, (X, y) in (
        (ConformalClassifier(GaussianNB()), classes()),
        (ConformalRegressor(LinearRegression()), numbers()),
    ):
        plain: Any = clone(model).fit(X, y)
        changed: Any = clone(model).set_params(**{option: value}).fit(X, y)
        assert plain.threshold_ != changed.threshold_
        assert clone(model).fit(X, y).threshold_ == plain.threshold_


# ---- few rows ----------------------------------------------------------------------------------


def test_too_few_rows_have_regions_of_everything() -> None:
    X, y = classes(32)
    with pytest.warns(CalibrationRowsWarning, match=r"at least 9 calibration rows, got 8"):
        model = ConformalClassifier(GaussianNB(var_smoothing=0.1)).fit(X, y)
    assert model.threshold_ == math.inf
    assert model.predict_set(X).all()
    X, y = numbers(36)
    with pytest.warns(CalibrationRowsWarning, match=r"at least 19 calibration rows, got 9"):
        intervals = ConformalRegressor(Ridge(), confidence_level=0.95).fit(X, y)
    np.testing.assert_array_equal(intervals.predict_interval(X), [[-math.inf, math.inf]] * 36)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConformalRegressor(Ridge(), confidence_level=0.9).fit(X, y)


def test_a_class_of_calibration_rows_only() -> None:
    X, y = classes()
    model = ConformalClassifier(GaussianNB())
    rows = calibration_rows(model, X, y)
    y[rows[:30]] = "elk"
    model.fit(X, y)
    assert model.classes_.tolist() == ["ant", "bee", "cat", "dog", "elk"]
    assert not model.predict_proba(X)[:, 4].any()
    # 30 of 100 calibration rows have probability 0, so that 90 % are covered by all classes only.
    assert model.predict_set(X).all()


# ---- rows of all kinds -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["threshold", "adaptive"])
def test_tables_and_frames_have_the_same_sets(method: Any) -> None:
    frame, y = mixed_frame()
    tree = ceiba.DecisionTreeClassifier(max_depth=3)
    model = ConformalClassifier(tree, method=method, confidence_level=0.85)
    expected = clone(model).fit(frame, y).predict_set(frame)
    rows = ceiba.data.Table.of(frame)
    found = clone(model).fit(rows, list(y)).predict_set(rows)
    np.testing.assert_array_equal(found, expected)
    assert 0.75 < found[np.arange(len(y)), (y == "yes").astype(int)].mean() < 1


def test_pipelines_weights_and_calibrated_learners() -> None:
    X, y = classes()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    inner = CalibratedClassifier(pipeline, method="sigmoid")
    sets = ConformalClassifier(inner, method="adaptive").fit(X, y).predict_set(X)
    assert 0.85 < sets[np.arange(len(y)), np.searchsorted(np.unique(y), y)].mean() < 0.99
    weights = np.where(y == "ant", 5.0, 1.0)
    plain, weighted = (
        ConformalClassifier(GaussianNB()).fit(X, y, sample_weight=given).predict_proba(X)
        for given in (None, weights)
    )
    assert weighted[:, 0].mean() > plain[:, 0].mean() + 0.1
    numbers_, targets = numbers()
    heavy = np.where(targets > 0, 9.0, 1.0)
    means = [
        ConformalRegressor(Ridge(1000))
        .fit(numbers_, targets, sample_weight=given)
        .predict(numbers_)
        for given in (None, heavy)
    ]
    assert means[1].mean() > means[0].mean() + 5


def test_units_keep_regions() -> None:
    X, y = classes()
    data = Dataset("classes", X, y, "classification")
    train, test = np.flatnonzero(y != "bee")[:250], np.arange(300, 400)
    model = ConformalClassifier(GaussianNB())
    found = Unit(data, Learner("sets", model), 0, 0, train, test, 0).run()
    assert found.error is None
    assert found.regions is not None
    assert found.regions.shape == (100, 4)
    assert not found.regions[:, 1].any()  # no training row has the class
    expected = clone(model).fit(X[train], y[train]).predict_set(X[test])
    np.testing.assert_array_equal(found.regions[:, [0, 2, 3]], expected)
    X, y = numbers()
    data = Dataset("numbers", X, y, "regression")
    interval = ConformalRegressor(Ridge())
    found = Unit(data, Learner("intervals", interval), 0, 0, np.arange(300), test, 0).run()
    expected = clone(interval).fit(X[:300], y[:300]).predict_interval(X[test])
    np.testing.assert_array_equal(found.regions, expected)
    # The intervals of a forest have options of their own.
    forest = Learner("forest", ceiba.RandomForestRegressor(5, n_jobs=1))
    found = Unit(data, forest, 0, 0, np.arange(300), test, 0).run()
    assert found.error is None
    assert found.regions is None


# ---- contract ----------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        ConformalClassifier(LogisticRegression(), method="adaptive"),
        ConformalRegressor(Ridge()),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "whole rows are held out"
        for kind in ("dense", "sparse")
    },
)
@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::ceiba.experiments.probabilities.conformal.CalibrationRowsWarning"
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters_reach_the_learner() -> None:
    model = conformal(PeerForest(), 0.8, "regression")
    assert isinstance(model, ConformalRegressor)
    assert model.get_params()["estimator__random_state"] is None
    assert model.confidence_level == 0.8
    assert isinstance(conformal(GaussianNB(), 0.8, "classification"), ConformalClassifier)
    copy = clone(model).set_params(estimator__max_depth=2)
    assert copy.estimator.max_depth == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X, y: conformal(GaussianNB(), 1.0, "classification"), r"conformal must be a float"),
        (lambda X, y: conformal(GaussianNB(), True, "classification"), r"in \(0, 1\), got True"),
        (lambda X, y: conformal(GaussianNB(), 0.9, "ranking"), "task must be"),
        (lambda X, y: ConformalClassifier(GaussianNB(), confidence_level=90).fit(X, y), "'confid"),
        (lambda X, y: ConformalClassifier(GaussianNB(), calibration_size=1.0).fit(X, y), "'calib"),
        (lambda X, y: ConformalClassifier(GaussianNB(), method="raps").fit(X, y), "'method' param"),
        (lambda X, y: ConformalClassifier(LinearSVC()).fit(X, y), "must have predict_proba"),
        (lambda X, y: ConformalRegressor(GaussianNB()).fit(X, range(400)), "must be a regressor"),
        (lambda X, y: ConformalClassifier(GaussianNB()).fit(X[:1], y[:1]), "n_samples=1"),
        (lambda X, y: ConformalRegressor(Ridge()).fit(X, range(399)), "inconsistent numbers"),
    ],
)
def test_refusals(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call(*classes())
