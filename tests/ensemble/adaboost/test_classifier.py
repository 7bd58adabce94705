"""The boosted classifier: stopping, tracing, margins, and what it refuses."""

from __future__ import annotations

import pickle

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
from ceiba import AdaBoostClassifier, DecisionTreeClassifier, datasets
from ceiba.export import registry


@pytest.fixture(scope="module")
def moons():
    loaded = datasets.load("two_moons")
    return loaded.table.matrix, np.asarray(loaded.y)


@pytest.fixture(scope="module")
def wine():
    loaded = datasets.load("wine")
    return loaded.table.matrix, np.unique(loaded.y, return_inverse=True)[1]


# Stopping


def test_a_perfect_first_member_is_alone():
    X, y = np.arange(6.0).reshape(-1, 1), [0, 0, 0, 1, 1, 1]
    model = AdaBoostClassifier(trace=True).fit(X, y)
    assert (model.stopped_, len(model.estimators_), len(model.trace_)) == ("perfect", 1, 1)
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.margins(X, y), 1.0)


def test_a_perfect_member_later_is_kept_with_a_say_of_one():
    class Learning(ClassifierMixin, BaseEstimator):
        """Right about all rows as soon as their weights differ."""

        def fit(self, X, y, sample_weight):
            self.classes_ = np.unique(y)
            self.even_ = np.ptp(sample_weight) == 0
            return self

        def predict(self, X):
            label = X[:, 0].astype(int)
            return np.where(self.even_ & (np.arange(len(X)) == 0), 1 - label, label)

    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = AdaBoostClassifier(Learning()).fit(X, [0, 0, 1, 1])
    assert model.stopped_ == "perfect"
    assert model.estimator_weights_.tolist() == [pytest.approx(np.log(3)), 1.0]
    assert model.estimator_errors_.tolist() == [0.25, 0.0]


@pytest.mark.parametrize("algorithm", ["samme", "m1", "real"])
def test_a_first_member_no_better_than_a_guess_is_refused(algorithm):
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    model = AdaBoostClassifier(algorithm=algorithm)
    with pytest.raises(ValueError, match=r"wrong for 50\.0% of the weight.*max_depth"):
        model.fit(X, y)
    assert not hasattr(model, "estimators_")
    assert model.set_params(max_depth=2).fit(X, y).score(X, y) == 1.0


def test_a_later_member_no_better_than_a_guess_is_not_kept():
    # There is nothing to split: after one round both classes weigh the same.
    for algorithm in ("samme", "m1", "real"):
        model = AdaBoostClassifier(algorithm=algorithm, trace=True)
        model.fit([[0.0], [0.0], [0.0]], [0, 0, 1])
        assert (model.stopped_, len(model.estimators_)) == ("chance", 1)
        assert [frame["error"] for frame in model.trace_] == pytest.approx([1 / 3, 1 / 2])
        assert model.trace_[-1]["alpha"] == 0.0
        np.testing.assert_allclose(model.trace_[-1]["weights"], [1 / 4, 1 / 4, 1 / 2])


def test_m1_asks_for_more_than_half(wine):
    X, y = wine
    nine = 3 * y + np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="M1 wants to be less than half"):
        AdaBoostClassifier(algorithm="m1").fit(X, nine)
    assert len(AdaBoostClassifier(n_estimators=3).fit(X, nine).estimators_) == 3


def test_one_class_is_learnt():
    model = AdaBoostClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.stopped_ == "perfect"
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.decision_function([[5.0]]).shape == (1, 1)
    assert model.margins([[5.0]], ["a"]).tolist() == [1.0]


# What it learns from


def test_gaps_and_levels_are_taken_as_they_are():
    vote = datasets.load("vote")
    model = AdaBoostClassifier(n_estimators=10).fit(vote.table, vote.y)
    assert model.score(vote.table, vote.y) > 0.96
    assert model.schema_ == vote.table.schema
    assert list(model.feature_names_in_) == vote.table.schema.names


def test_every_option_changes_what_is_learnt(wine):
    X, y = wine
    base = {"n_estimators": 6, "max_depth": 1}
    plain = AdaBoostClassifier(**base).fit(X, y).decision_function(X)
    for change in (
        {"n_estimators": 5},
        {"learning_rate": 0.5},
        {"algorithm": "m1"},
        {"algorithm": "real"},
        {"max_depth": 2},
        {"max_bins": 4},
        {"by": "draws"},
        {"estimator": GaussianNB()},
    ):
        other = AdaBoostClassifier(**{**base, **change}).fit(X, y).decision_function(X)
        assert not np.array_equal(plain, other), change
    drawn = [
        AdaBoostClassifier(**base, by="draws", random_state=seed).fit(X, y).decision_function(X)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_rows_of_weight_zero_vanish(moons):
    X, y = moons
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y))
    strange = np.where(weight == 0, "nobody", y.astype(str))
    model = AdaBoostClassifier(n_estimators=5, trace=True).fit(X, strange, sample_weight=weight)
    kept = weight > 0
    own = AdaBoostClassifier(n_estimators=5, trace=True)
    own.fit(X[kept], strange[kept], sample_weight=weight[kept])
    assert model.classes_.tolist() == own.classes_.tolist()
    np.testing.assert_array_equal(model.decision_function(X), own.decision_function(X))
    for frame, other in zip(model.trace_, own.trace_, strict=True):
        assert frame["weights"].shape == frame["wrong"].shape == (len(y),)
        assert not frame["weights"][~kept].any()
        np.testing.assert_array_equal(frame["weights"][kept], other["weights"])
        np.testing.assert_array_equal(frame["wrong"][kept], other["wrong"])
    with pytest.raises(ValueError, match="every row has weight zero"):
        own.fit(X, y, sample_weight=np.zeros(len(y)))


def test_a_fit_that_fails_leaves_the_model(moons):
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


# What it refuses


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"estimator": LinearRegression()}, "for classification.*LinearRegression is a regressor"),
        ({"estimator": LinearSVC(), "algorithm": "real"}, "LinearSVC has no predict_proba"),
        ({"estimator": GaussianNB(), "max_depth": 2}, "max_depth and max_bins are those of Ceiba"),
        ({"estimator": GaussianNB(), "max_bins": 9}, "max_depth and max_bins are those of Ceiba"),
        ({"estimator": "stump"}, "estimator must be"),
        ({"estimator": DecisionTreeClassifier(max_depth=0)}, "max_depth must be an integer of at"),
        ({"n_estimators": 0}, "n_estimators must be an integer of at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0"),
        ({"algorithm": "SAMME"}, "algorithm must be 'samme', 'm1' or 'real'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(options, sentence, moons):
    with pytest.raises(ValueError, match=sentence):
        AdaBoostClassifier(**options).fit(*moons)


def test_rows_elsewhere_are_refused(tmp_path, moons):
    X, y = moons
    pd.DataFrame({"a": X[:, 0], "y": y}).to_csv(tmp_path / "rows.csv", index=False)
    scan = ceiba.scan(tmp_path / "rows.csv", target="y")
    model = AdaBoostClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=r"in memory and was given a scan: .*ceiba\.read"):
        model.fit(scan, None)
    import dask.array

    with pytest.raises(ValueError, match="given a Dask collection: compute it first"):
        model.fit(dask.array.from_array(X), y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="given a Dask collection"):
        model.predict(dask.array.from_array(X))


# What it says


def test_stages_end_with_the_committee(wine):
    X, y = wine
    for algorithm in ("samme", "m1", "real"):
        model = AdaBoostClassifier(n_estimators=7, algorithm=algorithm).fit(X, y)
        for whole, staged in (
            (model.predict, model.staged_predict),
            (model.predict_proba, model.staged_predict_proba),
            (model.decision_function, model.staged_decision_function),
        ):
            stages = list(staged(X))
            assert len(stages) == 7
            np.testing.assert_array_equal(stages[-1], whole(X))
            # A stage is that of a committee of so many rounds, and is not changed by later ones.
            shorter = clone(model).set_params(n_estimators=3).fit(X, y)
            np.testing.assert_array_equal(stages[2], getattr(shorter, whole.__name__)(X))
        assert list(model.staged_score(X, y))[-1] == model.score(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        decided = model.classes_[model.predict_proba(X).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(X), decided)


def test_margins_are_votes_for_the_class_less_those_for_another(wine):
    X, y = wine
    model = AdaBoostClassifier(n_estimators=8, algorithm="m1", max_depth=2).fit(X, y)
    shares = model.estimator_weights_ / model.estimator_weights_.sum()
    votes = np.zeros((len(y), 3))
    for share, member in zip(shares, model.estimators_, strict=True):
        votes[np.arange(len(y)), member.predict(X)] += share
    for row, label, margin in zip(votes, y, model.margins(X, y), strict=True):
        others = [vote for k, vote in enumerate(row) if k != label]
        assert margin == pytest.approx(row[label] - max(others))
    wrong = model.margins(X, y) < 0
    np.testing.assert_array_equal(wrong, (model.predict(X) != y) & wrong)
    assert not ((model.predict(X) != y) & (model.margins(X, y) > 1e-12)).any()


def test_margins_of_probabilities_lie_between_their_ends(wine):
    X, y = wine
    model = AdaBoostClassifier(n_estimators=8, algorithm="real").fit(X, y)
    margins = model.margins(X, y)
    assert margins.min() >= -1
    assert margins.max() <= 1
    assert ((margins > 0) == (model.predict(X) == y)).all()
    with pytest.raises(ValueError, match="holds the class 9"):
        model.margins(X[:1], [9])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.margins(X, y[:3])


def test_margins_grow_after_all_rows_are_right():
    # Schapire et al. (1998): the least margin goes on growing when no row is wrong any more.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 2))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    few, many = (
        AdaBoostClassifier(n_estimators=n, max_depth=2).fit(X, y).margins(X, y) for n in (30, 300)
    )
    assert few.min() > 0
    assert many.min() > 1.2 * few.min()


def test_the_bound_on_the_training_error_holds(wine):
    # Freund & Schapire (1997), theorem 6: the product of 2 sqrt(e (1 - e)) over the rounds.
    X, y = wine
    two = (y == 1).astype(int)
    model = AdaBoostClassifier(n_estimators=15).fit(X, two)
    errors = model.estimator_errors_
    bounds = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
    for bound, score in zip(bounds, model.staged_score(X, two), strict=True):
        assert 1 - score <= bound + 1e-12


def test_nothing_is_said_before_fit():
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


def test_a_frame_a_round(moons):
    X, y = moons
    model = AdaBoostClassifier(n_estimators=9, trace=True).fit(X, y)
    assert [frame.step for frame in model.trace_] == list(range(1, 10))
    assert set(model.trace_[0].values) == {"weights", "error", "alpha", "wrong"}
    np.testing.assert_allclose(model.trace_[0]["weights"], 1 / len(y))
    for frame, member, error in zip(
        model.trace_, model.estimators_, model.estimator_errors_, strict=True
    ):
        assert frame["weights"].sum() == pytest.approx(1.0)
        np.testing.assert_array_equal(frame["wrong"], member.predict(X) != y)
        assert frame["weights"][frame["wrong"]].sum() == pytest.approx(error)
    plain = AdaBoostClassifier(n_estimators=9).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), model.decision_function(X))
    assert not hasattr(plain, "trace_")


def test_the_trace_is_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 1))
    y = (X[:, 0] + rng.normal(size=60_000) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=130, max_bins=8, trace=True).fit(X, y)
    assert model.trace_.thinned
    assert model.trace_.nbytes <= 64_000_000
    assert model.trace_[-1].step == 130


# Contract


def test_copies_and_searches(moons):
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


@pytest.mark.parametrize("algorithm", ["samme", "real"])
def test_a_model_file_keeps_it(algorithm, tmp_path, monkeypatch, wine):
    X, y = wine
    monkeypatch.setitem(
        registry.ESTIMATORS, "AdaBoostClassifier", "ceiba.ensemble.adaboost.classifier"
    )
    model = AdaBoostClassifier(n_estimators=4, algorithm=algorithm, trace=True).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    again = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.stopped_ == model.stopped_
    model.estimator_weights_ = model.estimator_weights_[:2]
    with pytest.raises(ValueError, match="each with its weight"):
        model._check_state()
    foreign = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    with pytest.raises(Exception, match="GaussianNB, which is not one of Ceiba's own models"):
        ceiba.save(foreign, tmp_path / "foreign.ceiba")


def test_callbacks_see_the_committee_of_each_round_and_may_end_it(moons):
    X, y = moons

    class Watcher:
        def __init__(self):
            self.sizes = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name != "step":
                return False
            self.sizes.append(len(list(fitted_estimator.staged_predict(X))))
            return len(self.sizes) == 3

    watcher = Watcher()
    model = AdaBoostClassifier(n_estimators=9).set_callbacks(watcher)
    model.fit(X, y)
    assert watcher.sizes == [1, 2, 3]
    assert (len(model.estimators_), model.stopped_) == (3, "rounds")
