"""AdaBoostRegressor: stopping, trace, other estimators and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor

import ceiba
from ceiba import ESTIMATORS, AdaBoostRegressor, DecisionTreeRegressor, datasets


@pytest.fixture(scope="module")
def wave():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 6, size=(150, 1)), axis=0)
    return X, np.sin(X[:, 0]) + np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=150)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_ensemble_is_better_than_a_single_tree(wave, loss):
    X, y = wave
    model = AdaBoostRegressor(n_estimators=60, max_depth=4, loss=loss).fit(X, y)
    alone = DecisionTreeRegressor(max_depth=4).fit(X, y)
    assert 1 - model.score(X, y) < 0.8 * (1 - alone.score(X, y))


def test_perfect_member_ends_boosting():
    X, y = np.arange(4.0).reshape(-1, 1), [1.0, 1.0, 5.0, 5.0]
    model = AdaBoostRegressor(trace=True).fit(X, y)
    assert (model.stop_reason_, len(model.estimators_)) == ("perfect", 1)
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.predict([[0.5], [9.0]]).tolist() == [1.0, 5.0]
    assert not model.trace_[0]["loss"].any()


def test_equal_targets():
    model = AdaBoostRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert (model.stop_reason_, model.predict([[0.0]]).tolist()) == ("perfect", [3.0])


def test_first_member_at_chance_is_kept():
    # The mean of 0 and 1 has the same error for both rows: each has loss 1.
    model = AdaBoostRegressor(trace=True).fit([[0.0], [0.0]], [0.0, 1.0])
    assert (model.stop_reason_, len(model.estimators_)) == ("chance", 1)
    assert model.estimator_errors_.tolist() == [1.0]
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.predict([[0.0]]).tolist() == [0.5]
    assert model.trace_[0]["alpha"] == 1.0


def test_later_member_at_chance_is_dropped(wave):
    X, y = wave
    model = AdaBoostRegressor(n_estimators=200, max_depth=1, trace=True).fit(X, y)
    assert model.stop_reason_ == "chance"
    assert len(model.trace_) == len(model.estimators_) + 1
    assert model.trace_[-1]["error"] >= 0.5 * (1 - 1e-9)
    assert (model.estimator_errors_ < 0.5).all()


def test_every_option_changes_the_model(wave):
    X, y = wave
    base = {"n_estimators": 5}
    plain = AdaBoostRegressor(**base).fit(X, y).predict(X)
    for change in (
        {"n_estimators": 2},
        {"learning_rate": 0.2},
        {"loss": "square"},
        {"loss": "exponential"},
        {"max_depth": 2},
        {"max_bins": 8},
        {"reweighting": "resampling"},
        {"estimator": LinearRegression()},
    ):
        other = AdaBoostRegressor(**{**base, **change}).fit(X, y).predict(X)
        assert not np.array_equal(plain, other), change


def test_trace_has_one_frame_per_round(wave):
    X, y = wave
    model = AdaBoostRegressor(n_estimators=6, loss="square", trace=True).fit(X, y)
    assert set(model.trace_[0].values) == {"weights", "error", "alpha", "loss"}
    for frame, member, error, alpha in zip(
        model.trace_,
        model.estimators_,
        model.estimator_errors_,
        model.estimator_weights_,
        strict=True,
    ):
        residuals = np.abs(member.predict(X) - y)
        np.testing.assert_allclose(frame["loss"], (residuals / residuals.max()) ** 2)
        assert frame["weights"] @ frame["loss"] == pytest.approx(len(y) * error)
        assert (frame["error"], frame["alpha"]) == (error, alpha)


def test_missing_values_and_categories_are_supported():
    cars = datasets.load("auto_mpg")
    model = AdaBoostRegressor(n_estimators=20).fit(cars.table, cars.y)
    assert model.score(cars.table, cars.y) > 0.88
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_rows_of_weight_zero_are_ignored(wave):
    X, y = wave
    weight = np.arange(len(y)) % 3
    far = np.where(weight == 0, 1e9, y)
    model = AdaBoostRegressor(n_estimators=4, trace=True).fit(X, far, sample_weight=weight)
    own = AdaBoostRegressor(n_estimators=4)
    own.fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    np.testing.assert_array_equal(model.predict(X), own.predict(X))
    assert not model.trace_[1]["weights"][weight == 0].any()
    assert not model.trace_[1]["loss"][weight == 0].any()


def test_other_estimators(wave):
    X, y = wave
    model = AdaBoostRegressor(LinearRegression(), n_estimators=3, trace=True).fit(X, y)
    own = LinearRegression().fit(X, y, sample_weight=model.trace_[0]["weights"])
    np.testing.assert_allclose(model.estimators_[0].predict(X), own.predict(X))
    with pytest.raises(ValueError, match="KNeighborsRegressor doesn't support sample_weight"):
        AdaBoostRegressor(KNeighborsRegressor()).fit(X, y)
    drawn = AdaBoostRegressor(KNeighborsRegressor(2), n_estimators=5, reweighting="resampling").fit(
        X, y
    )
    assert drawn.score(X, y) > 0.9
    with pytest.raises(
        ValueError, match="must be a regressor, got LogisticRegression, a classifier"
    ):
        AdaBoostRegressor(LogisticRegression()).fit(X, y)


def test_member_that_predicts_nan_is_an_error(wave):
    class PredictsNan(LinearRegression):
        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="NaN or infinity"):
        AdaBoostRegressor(PredictsNan()).fit(*wave)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e100])
def test_weights_do_not_depend_on_target_scale(wave, scale):
    X, y = wave
    plain = AdaBoostRegressor(n_estimators=5).fit(X, y)
    model = AdaBoostRegressor(n_estimators=5).fit(X, y * scale)
    np.testing.assert_allclose(model.estimator_weights_, plain.estimator_weights_, rtol=1e-6)
    assert model.score(X, y * scale) == pytest.approx(plain.score(X, y), rel=1e-6)


def test_last_stage_is_the_prediction(wave):
    X, y = wave
    model = AdaBoostRegressor(n_estimators=6).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_)
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    np.testing.assert_array_equal(stages[0], model.estimators_[0].predict(X))
    assert list(model.staged_score(X, y))[-1] == pytest.approx(model.score(X, y))
    with pytest.raises(NotFittedError):
        AdaBoostRegressor().predict(X)


def test_pickle_grid_search_and_model_file(wave, tmp_path, monkeypatch):
    X, y = wave
    monkeypatch.setitem(ESTIMATORS, "AdaBoostRegressor", "ceiba.ensemble.adaboost.regressor")
    model = AdaBoostRegressor(n_estimators=4, trace=True).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    ceiba.save(model, tmp_path / "model.ceiba")
    np.testing.assert_array_equal(ceiba.load(tmp_path / "model.ceiba").predict(X), model.predict(X))
    search = GridSearchCV(AdaBoostRegressor(n_estimators=3), {"max_depth": [1, 5]}, cv=3)
    assert search.fit(X, y).best_estimator_.max_depth in (1, 5)


def test_learning_rate_without_progress_warns(wave):
    X, y = wave
    rng = np.random.default_rng(0)
    noisy = y + rng.normal(size=len(y))
    model = AdaBoostRegressor(n_estimators=10, learning_rate=100, max_depth=2)
    with pytest.warns(UserWarning, match=r"not below that of its first .*learning_rate=100 is too"):
        model.fit(X, noisy)
    errors = [np.abs(stage - noisy).mean() for stage in model.staged_predict(X)]
    assert errors[-1] >= errors[0]
    with pytest.raises(ValueError, match=r"learning_rate.* in \[1e-09, 100\], got inf"):
        AdaBoostRegressor(learning_rate=np.inf).fit(X, y)
