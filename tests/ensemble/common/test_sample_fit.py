"""Samples that lack classes: members have all classes, and no sample fails the ensemble."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

from ceiba import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier
from ceiba.ensemble.common.rows import InputRows, TrainingData
from ceiba.ensemble.common.sample_fit import ConstantMember, SampleFitter


def rare_class(n_rows=60, n_rare=2, n_classes=2):
    """Return rows with few of class 1, and the other classes."""
    rng = np.random.default_rng(0)
    y = np.zeros(n_rows, int)
    y[:n_rare] = 1
    if n_classes == 3:
        y[n_rows // 2 :] = 2
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] += y
    return X, y


ESTIMATORS = [
    LogisticRegression(),
    SGDClassifier(),
    LinearSVC(),
    SVC(),
    GaussianNB(),
    TheirTree(),
    GradientBoostingClassifier(n_estimators=2),
    HistGradientBoostingClassifier(max_iter=2),
    LinearDiscriminantAnalysis(),
    NearestCentroid(),
    KNeighborsClassifier(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sample_without_a_class_does_not_fail(estimator, n_classes):
    X, y = rare_class(n_classes=n_classes)
    # Two of these four samples have no row of class 1.
    model = BaggingClassifier(estimator, 4, random_state=11)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(X, y)
        probabilities = model.predict_proba(X)
    lacking = [1 not in y[rows] for rows in model.estimators_samples_]
    assert sum(lacking) == 2
    assert model.classes_.tolist() == list(range(n_classes))
    assert probabilities.shape == (60, n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= set(model.classes_)


@pytest.mark.parametrize("seed", range(6))
def test_rare_class_among_100_rows(seed):
    X, y = rare_class(100, 3)
    model = BaggingClassifier(LogisticRegression(), random_state=seed).fit(X, y)
    assert all(isinstance(member, LogisticRegression) for member in model.estimators_)
    assert all(member.classes_.tolist() == [0, 1] for member in model.estimators_)
    means = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), means, rtol=1e-12)


def test_weights_of_zero_equal_those_of_sklearn():
    """All rows that are not drawn with weight zero, as there, and one per absent class."""
    X, y = rare_class(80, 2, 3)
    model = BaggingClassifier(LogisticRegression(tol=1e-10), 5, random_state=2).fit(X, y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=80)
        theirs = LogisticRegression(tol=1e-10).fit(X, y, sample_weight=counts)
        np.testing.assert_allclose(
            member.predict_proba(X), theirs.predict_proba(X), atol=2e-4, rtol=0
        )


def fitter_of(y, *, pass_weights, sample_weight=None):
    X = np.arange(2.0 * len(y)).reshape(-1, 2)
    data = TrainingData.of(InputRows(X, {}), np.asarray(y), sample_weight, "classification")
    return SampleFitter(data, pass_weights)


class Recorder(ClassifierMixin, BaseEstimator):
    """Records its input; fails on weights of zero if asked."""

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, X, y, sample_weight=None):
        if self.fails and sample_weight is not None and not np.all(sample_weight):
            raise ValueError("weights must be positive")
        self.X_, self.y_, self.weight_ = X, y, sample_weight
        return self


def test_first_row_of_each_absent_class_is_added_with_weight_zero():
    fitter = fitter_of(["a", "b", "c", "b", "c"], pass_weights=True)
    member = fitter.fit(Recorder(), np.array([0, 0]), None, np.array([1]))
    assert member.X_.tolist() == [[1.0], [1.0], [3.0], [5.0]]
    assert member.y_.tolist() == ["a", "a", "b", "c"]
    assert member.weight_.tolist() == [1.0, 1.0, 0.0, 0.0]
    member = fitter.fit(Recorder(), np.array([3, 4]), np.array([2.0, 3.0]))
    assert member.y_.tolist() == ["b", "c", "a"]
    assert member.weight_.tolist() == [2.0, 3.0, 0.0]


def test_estimator_that_refuses_zero_weights_is_fitted_to_the_sample():
    fitter = fitter_of(["a", "b", "c"], pass_weights=True)
    member = fitter.fit(Recorder(fails=True), np.array([0, 1]), np.array([2.0, 1.0]))
    assert member.y_.tolist() == ["a", "b"]
    assert member.weight_.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("pass_weights", [True, False])
def test_constant_member_of_a_sample_of_one_class(pass_weights):
    fitter = fitter_of(["a", "b", "c"], pass_weights=pass_weights)
    member = fitter.fit(Recorder(fails=True), np.array([1, 1]), None)
    assert isinstance(member, ConstantMember)
    assert member.classes_.tolist() == ["a", "b", "c"]
    assert member.predict_proba([[0.0, 0.0]]).tolist() == [[0.0, 1.0, 0.0]]
    assert member.feature_importances_.tolist() == [0.0, 0.0]
    assert member.decision_function(np.zeros((2, 2))).tolist() == [[-1.0, 1.0, -1.0]] * 2


def test_constant_members_have_a_decision_function():
    X, y = np.arange(8.0).reshape(-1, 1), np.array(["a"] * 7 + ["b"])
    members = make_pipeline(StandardScaler(), LogisticRegression())  # without sample_weight
    model = BaggingClassifier(members, n_estimators=8, random_state=0).fit(X, y)
    constant = [isinstance(member, ConstantMember) for member in model.estimators_]
    assert any(constant)
    assert not all(constant)
    values = [member.decision_function(X) for member in model.estimators_]
    np.testing.assert_allclose(model.decision_function(X), np.mean(values, axis=0))
    assert {-1.0} == {
        float(v[0]) for v, is_constant in zip(values, constant, strict=True) if is_constant
    }


def test_target_of_one_class_is_left_to_the_estimator():
    with pytest.raises(ValueError, match=r"member 0 .* could not be fitted: .*one class"):
        BaggingClassifier(LogisticRegression()).fit([[1.0], [2.0]], ["a", "a"])


def test_error_of_another_cause_is_raised():
    X, y = rare_class(n_classes=3)
    with pytest.raises(ValueError, match=r"could not be fitted: .*'C' parameter"):
        BaggingClassifier(LogisticRegression(C=-1.0)).fit(X, y)


def test_warning_if_all_members_are_constant():
    X, y = rare_class(n_rare=1)
    bag = BaggingClassifier(NearestCentroid(), 3, max_samples=1)
    with pytest.warns(UserWarning, match=r"each of the 3 members has a single class.*NearestCent"):
        model = bag.fit(X, y)
    assert set(model.predict(X)) == {0}


def test_internal_folds_get_the_sample_alone():
    fitter = fitter_of(["a", "b"] * 6 + ["c"], pass_weights=True)
    inner = CalibratedClassifierCV(LogisticRegression(), cv=3)  # refuses a class of one row
    member = fitter.fit(inner, np.arange(12), None)
    assert member.classes_.tolist() == ["a", "b"]


def test_importances_of_constant_members_are_zero():
    X, y = rare_class()
    inner = GradientBoostingClassifier(n_estimators=2)
    model = BaggingClassifier(inner, 4, random_state=11, max_features=2).fit(X, y)
    constant = [isinstance(member, ConstantMember) for member in model.estimators_]
    assert 0 < sum(constant) < 4
    np.testing.assert_allclose(model.feature_importances_.sum(), 1 - sum(constant) / 4)


def test_class_of_weight_zero_stays():
    X, y = rare_class(n_classes=3)
    model = BaggingClassifier(LogisticRegression(), 3).fit(X, y, sample_weight=(y != 1) * 1.0)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (60, 3)
    assert model.predict_proba(X)[:, 1].max() < 0.01
    both = BaggingClassifier(LogisticRegression(), 3).fit(X, y == 1, sample_weight=(y != 1) * 1.0)
    assert both.classes_.tolist() == [False, True]
    assert not both.predict(X).any()


@pytest.mark.parametrize("algorithm", ["samme", "samme.r"])
@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), TheirTree(max_depth=1)])
def test_resampled_boosting_without_a_class(estimator, algorithm):
    X, y = rare_class(n_rare=1)
    for seed in range(3):
        model = AdaBoostClassifier(
            estimator,
            n_estimators=4,
            reweighting="resampling",
            algorithm=algorithm,
            random_state=seed,
        ).fit(X, y)
        assert all(member.classes_.tolist() == [0, 1] for member in model.estimators_)
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("estimator", [LogisticRegression(), SVC(), DecisionTreeClassifier()])
def test_boosting_with_a_class_of_weight_zero(estimator):
    X, y = rare_class()
    model = AdaBoostClassifier(estimator, n_estimators=3).fit(X, y, sample_weight=(y == 0) * 1.0)
    assert model.classes_.tolist() == [0, 1]
    assert not model.predict(X).any()
    np.testing.assert_array_equal(model.predict_proba(X), np.eye(2)[np.zeros(60, int)])


@pytest.mark.parametrize(
    "options",
    [
        {"class_weight": {0: 2.0, 1: 3.0}},  # class 2 is not named, and class 1 is rare
        {"cost_matrix": [[0, 1, 2], [3, 0, 1], [1, 1, 0]]},
    ],
)
def test_options_per_class_with_a_sample_that_lacks_one(options):
    X, y = rare_class(n_classes=3)
    model = BaggingClassifier(DecisionTreeClassifier(**options), 4, random_state=11).fit(X, y)
    assert sum(1 not in y[rows] for rows in model.estimators_samples_) == 2
    assert all(member.classes_.tolist() == [0, 1, 2] for member in model.estimators_)
    assert model.predict_proba(X).shape == (60, 3)
