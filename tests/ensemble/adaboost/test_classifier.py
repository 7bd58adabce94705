"""AdaBoostClassifier: stopping, trace, margins and errors."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import ceiba
from ceiba import ESTIMATORS, AdaBoostClassifier, DecisionTreeClassifier, datasets


@pytest.fixture(scope="module")
def moons():
    loaded = datasets.load("two_moons")
    return loaded.table.matrix, np.asarray(loaded.y)


@pytest.fixture(scope="module")
def wine():
    loaded = datasets.load("wine")
    return loaded.table.matrix, np.unique(loaded.y, return_inverse=True)[1]


# Stopping


def test_perfect_first_member_ends_boosting():
    X, y = np.arange(6.0).reshape(-1, 1), [0, 0, 0, 1, 1, 1]
    model = AdaBoostClassifier(trace=True).fit(X, y)
    assert (model.stop_reason_, len(model.estimators_), len(model.trace_)) == ("perfect", 1, 1)
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.margins(X, y), 1.0)


def test_later_perfect_member_has_weight_one():
    class Learning(ClassifierMixin, BaseEstimator):
        """Classifies all rows correctly as soon as their weights differ."""

        def fit(self, X, y, sample_weight):
            self.classes_ = np.unique(y)
            self.even_ = np.ptp(sample_weight) == 0
            return self

        def predict(self, X):
            label = X[:, 0].astype(int)
            return np.where(self.even_ & (np.arange(len(X)) == 0), 1 - label, label)

    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = AdaBoostClassifier(Learning()).fit(X, [0, 0, 1, 1])
    assert model.stop_reason_ == "perfect"
    assert model.estimator_weights_.tolist() == [pytest.approx(np.log(3)), 1.0]
    assert model.estimator_errors_.tolist() == [0.25, 0.0]


@pytest.mark.parametrize("algorithm", ["samme", "m1", "samme.r"])
def test_first_member_at_chance_is_an_error(algorithm):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    model = AdaBoostClassifier(algorithm=algorithm)
    with pytest.raises(ValueError, match=r"worse than random.* must be below .*50\.0%.*max_depth"):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    given = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1))
    with pytest.raises(ValueError, match=r"got 50\.0%; use another estimator"):
        given.fit(X, y)
    assert model.set_params(max_depth=2).fit(X, y).score(X, y) == 1.0


def test_later_member_at_chance_is_dropped():
    # No split is possible: after one round both classes have the same weight.
    for algorithm in ("samme", "m1", "samme.r"):
        model = AdaBoostClassifier(algorithm=algorithm, trace=True)
        model.fit([[0.0], [0.0], [0.0]], [0, 0, 1])
        assert (model.stop_reason_, len(model.estimators_)) == ("chance", 1)
        assert [frame["error"] for frame in model.trace_] == pytest.approx([1 / 3, 1 / 2])
        assert model.trace_[-1]["alpha"] == 0.0
        np.testing.assert_allclose(model.trace_[-1]["weights"], [3 / 4, 3 / 4, 3 / 2])


def test_m1_requires_error_below_half(wine):
    X, y = wine
    nine = 3 * y + np.arange(len(y)) % 3
    with pytest.raises(ValueError, match=r"below one half with algorithm='m1', got .*'samme'"):
        AdaBoostClassifier(algorithm="m1").fit(X, nine)
    assert len(AdaBoostClassifier(n_estimators=3).fit(X, nine).estimators_) == 3


def test_single_class():
    model = AdaBoostClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.stop_reason_ == "perfect"
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.decision_function([[5.0]]).shape == (1, 1)
    assert model.margins([[5.0]], ["a"]).tolist() == [1.0]


# Training data


def test_missing_values_and_categories_are_supported():
    vote = datasets.load("vote")
    model = AdaBoostClassifier(n_estimators=10).fit(vote.table, vote.y)
    assert model.score(vote.table, vote.y) > 0.96
    assert model.schema_ == vote.table.schema
    assert list(model.feature_names_in_) == vote.table.schema.names


def test_every_option_changes_the_model(wine):
    X, y = wine
    base = {"n_estimators": 6, "max_depth": 1}
    plain = AdaBoostClassifier(**base).fit(X, y).decision_function(X)
    for change in (
        {"n_estimators": 5},
        {"learning_rate": 0.5},
        {"algorithm": "m1"},
        {"algorithm": "samme.r"},
        {"max_depth": 2},
        {"max_bins": 4},
        {"reweighting": "resampling"},
        {"estimator": GaussianNB()},
    ):
        other = AdaBoostClassifier(**{**base, **change}).fit(X, y).decision_function(X)
        assert not np.array_equal(plain, other), change
    drawn = [
        AdaBoostClassifier(**base, reweighting="resampling", random_state=seed)
        .fit(X, y)
        .decision_function(X)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_rows_of_weight_zero_are_ignored(moons):
    X, y = moons
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y))
    strange = np.where(weight == 0, "unused", y.astype(str))
    model = AdaBoostClassifier(n_estimators=5, trace=True).fit(X, strange, sample_weight=weight)
    kept = weight > 0
    own = AdaBoostClassifier(n_estimators=5, trace=True)
    own.fit(X[kept], strange[kept], sample_weight=weight[kept])
    assert model.classes_.tolist() == [*own.classes_.tolist(), "unused"]
    values = model.decision_function(X)
    np.testing.assert_array_equal(values[:, 1] - values[:, 0], own.decision_function(X))
    np.testing.assert_array_equal(values[:, 2], values.min(axis=1))
    for frame, other in zip(model.trace_, own.trace_, strict=True):
        assert frame["weights"].shape == frame["wrong"].shape == (len(y),)
        assert not frame["weights"][~kept].any()
        np.testing.assert_array_equal(frame["weights"][kept], other["weights"])
        np.testing.assert_array_equal(frame["wrong"][kept], other["wrong"])
    with pytest.raises(ValueError, match="sample_weight must have at least one positive entry"):
        own.fit(X, y, sample_weight=np.zeros(len(y)))


def test_failed_fit_leaves_the_model_unchanged(moons):
    X, y = moons
    model = AdaBoostClassifier(n_estimators=3, trace=True).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X[:5], y)
    assert vars(model) == before
    model.set_params(trace=False).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert not hasattr(model, "trace_")
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": LinearRegression()},
            "must be a classifier, got LinearRegression, a regressor",
        ),
        (
            {"estimator": LinearSVC(), "algorithm": "samme.r"},
            "requires an estimator with predict_proba, got LinearSVC",
        ),
        ({"estimator": GaussianNB(), "max_depth": 2}, "'max_depth' has no effect with estimator="),
        ({"estimator": GaussianNB(), "max_bins": 9}, "'max_bins' has no effect with estimator="),
        ({"estimator": "stump"}, "'estimator' parameter .* must be"),
        (
            {"estimator": DecisionTreeClassifier(max_depth=0)},
            "'max_depth' parameter .* must be an int >= 1",
        ),
        ({"n_estimators": 0}, "'n_estimators' parameter .* must be an int >= 1"),
        ({"learning_rate": 0.0}, "'learning_rate' parameter .* must be"),
        ({"learning_rate": np.inf}, r"'learning_rate' parameter .* in \[1e-09, 100\], got inf"),
        ({"learning_rate": 1e308}, r"'learning_rate' parameter .* in \[1e-09, 100\], got 1e\+308"),
        ({"learning_rate": 1e3}, r"'learning_rate' parameter .* in \[1e-09, 100\], got 1000"),
        ({"learning_rate": 1e-20}, r"'learning_rate' parameter .* in \[1e-09, 100\], got 1e-20"),
        ({"algorithm": "gentle"}, "'algorithm' parameter .* must be"),
    ],
)
def test_invalid_parameters_are_rejected(options, message, moons):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(**options).fit(*moons)


@pytest.mark.parametrize("algorithm", ["samme", "samme.r", "m1"])
def test_learning_rate_without_progress_warns(algorithm, moons):
    X, y = moons
    model = AdaBoostClassifier(algorithm=algorithm, learning_rate=100)
    with pytest.warns(UserWarning, match=r"not below that of its first .*learning_rate=100 is too"):
        model.fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    weight = np.ones(len(y))
    assert weight @ (model.predict(X) != y) / len(y) >= model.estimator_errors_[0] * (1 - 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaBoostClassifier(algorithm=algorithm, learning_rate=1.9).fit(X, y)


def test_smallest_learning_rate_changes_the_weights(moons):
    X, y = moons
    model = AdaBoostClassifier(learning_rate=1e-9, n_estimators=3, trace=True).fit(X, y)
    first, second = model.trace_[0], model.trace_[1]
    wrong = first["wrong"]
    assert (second["weights"][wrong] > 1).all()
    assert (second["weights"][~wrong] < 1).all()


def test_rows_must_be_in_memory(tmp_path, moons):
    X, y = moons
    pd.DataFrame({"a": X[:, 0], "y": y}).to_csv(tmp_path / "rows.csv", index=False)
    scan = ceiba.scan(tmp_path / "rows.csv", target="y")
    model = AdaBoostClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=r"requires rows in memory, got a scan: .*ceiba\.read"):
        model.fit(scan, None)
    import dask.array

    with pytest.raises(ValueError, match="got a Dask collection: compute it first"):
        model.fit(dask.array.from_array(X), y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="got a Dask collection"):
        model.predict(dask.array.from_array(X))


# Predictions


def test_last_stage_is_the_prediction(wine):
    X, y = wine
    for algorithm in ("samme", "m1", "samme.r"):
        model = AdaBoostClassifier(n_estimators=7, algorithm=algorithm).fit(X, y)
        for whole, staged in (
            (model.predict, model.staged_predict),
            (model.predict_proba, model.staged_predict_proba),
            (model.decision_function, model.staged_decision_function),
        ):
            stages = list(staged(X))
            assert len(stages) == 7
            np.testing.assert_array_equal(stages[-1], whole(X))
            # A stage equals a shorter fit, and later rounds do not change it.
            shorter = clone(model).set_params(n_estimators=3).fit(X, y)
            np.testing.assert_array_equal(stages[2], getattr(shorter, whole.__name__)(X))
        assert list(model.staged_score(X, y))[-1] == model.score(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        decided = model.classes_[model.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X), decided)


def test_margin_is_vote_difference_to_best_other_class(wine):
    X, y = wine
    model = AdaBoostClassifier(n_estimators=8, algorithm="m1", max_depth=2).fit(X, y)
    fractions = model.estimator_weights_ / model.estimator_weights_.sum()
    votes = np.zeros((len(y), 3))
    for fraction, member in zip(fractions, model.estimators_, strict=True):
        votes[np.arange(len(y)), member.predict(X)] += fraction
    for row, label, margin in zip(votes, y, model.margins(X, y), strict=True):
        others = [vote for k, vote in enumerate(row) if k != label]
        assert margin == pytest.approx(row[label] - max(others))
    wrong = model.margins(X, y) < 0
    np.testing.assert_array_equal(wrong, (model.predict(X) != y) & wrong)
    assert not ((model.predict(X) != y) & (model.margins(X, y) > 1e-12)).any()


def test_margins_of_samme_r_are_in_range(wine):
    X, y = wine
    model = AdaBoostClassifier(n_estimators=8, algorithm="samme.r").fit(X, y)
    margins = model.margins(X, y)
    assert margins.min() >= -1
    assert margins.max() <= 1
    assert ((margins > 0) == (model.predict(X) == y)).all()
    with pytest.raises(ValueError, match="unknown class 9"):
        model.margins(X[:1], [9])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.margins(X, y[:3])


def test_margins_grow_after_training_error_is_zero():
    # Schapire et al. (1998): the smallest margin grows even when no row is misclassified.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    few, many = (
        AdaBoostClassifier(n_estimators=n, max_depth=2).fit(X, y).margins(X, y) for n in (30, 300)
    )
    assert few.min() > 0
    assert many.min() > 1.2 * few.min()


def test_bound_on_training_error_holds(wine):
    # Freund & Schapire (1997), theorem 6: the product of 2 sqrt(e (1 - e)) over the rounds.
    X, y = wine
    two = (y == 1).astype(int)
    model = AdaBoostClassifier(n_estimators=15).fit(X, two)
    errors = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    for bound, score in zip(bounds, model.staged_score(X, two), strict=True):
        assert 1 - score <= bound + 1e-12


def test_methods_require_fit():
    model = AdaBoostClassifier()
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, method)([[1.0]])
    with pytest.raises(NotFittedError):
        next(model.staged_predict([[1.0]]))
    with pytest.raises(NotFittedError):
        model.margins([[1.0]], [1])
    with pytest.raises(NotFittedError):
        model.feature_importances_  # noqa: B018


# Trace


def test_trace_has_one_frame_per_round(moons):
    X, y = moons
    model = AdaBoostClassifier(n_estimators=9, trace=True).fit(X, y)
    assert [frame.step for frame in model.trace_] == list(range(1, 10))
    assert set(model.trace_[0].values) == {"weights", "error", "alpha", "wrong"}
    np.testing.assert_allclose(model.trace_[0]["weights"], 1.0)
    for frame, member, error in zip(
        model.trace_, model.estimators_, model.estimator_errors_, strict=True
    ):
        assert frame["weights"].sum() == pytest.approx(len(y))
        np.testing.assert_array_equal(frame["wrong"], member.predict(X) != y)
        assert frame["weights"][frame["wrong"]].sum() == pytest.approx(len(y) * error)
    plain = AdaBoostClassifier(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
    assert not hasattr(plain, "trace_")


def test_trace_is_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 1))
    y = (X[:, 0] + rng.normal(size=60_000) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=130, max_bins=8, trace=True).fit(X, y)
    assert model.trace_.thinned
    assert model.trace_.nbytes <= 64_000_000
    assert model.trace_[-1].step == 130


# Contract


def test_pickle_clone_and_grid_search(moons):
    X, y = moons
    model = AdaBoostClassifier(n_estimators=5, trace=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert len(again.trace_) == 5
    assert not hasattr(clone(model), "estimators_")
    search = GridSearchCV(AdaBoostClassifier(n_estimators=5), {"max_depth": [1, 3]}, cv=3)
    assert search.fit(X, y).best_params_["max_depth"] in (1, 3)
    nested = GridSearchCV(
        AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=3),
        {"estimator__max_depth": [1, 2]},
        cv=2,
    )
    assert nested.fit(X, y).best_estimator_.estimators_[0].max_depth in (1, 2)


@pytest.mark.parametrize("algorithm", ["samme", "samme.r"])
def test_model_file_round_trip(algorithm, tmp_path, monkeypatch, wine):
    X, y = wine
    monkeypatch.setitem(ESTIMATORS, "AdaBoostClassifier", "ceiba.ensemble.adaboost.classifier")
    model = AdaBoostClassifier(n_estimators=4, algorithm=algorithm, trace=True).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    again = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.stop_reason_ == model.stop_reason_
    model.estimator_weights_ = model.estimator_weights_[:2]
    with pytest.raises(ValueError, match="must have the same length"):
        model._check_state()
    foreign = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    with pytest.raises(Exception, match="GaussianNB"):
        ceiba.save(foreign, tmp_path / "foreign.ceiba")


def test_callbacks_get_the_ensemble_of_each_round_and_can_stop_it(moons):
    X, y = moons

    class Recorder:
        def __init__(self):
            self.sizes = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name != "iteration":
                return False
            self.sizes.append(len(list(fitted_estimator.staged_predict(X))))
            return len(self.sizes) == 3

    recorder = Recorder()
    model = AdaBoostClassifier(n_estimators=9).set_callbacks(recorder)
    model.fit(X, y)
    assert recorder.sizes == [1, 2, 3]
    assert (len(model.estimators_), model.stop_reason_) == (3, "rounds")
