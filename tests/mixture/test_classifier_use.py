"""Mixture classifier: its mixtures, model files, and scikit-learn's tools."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba import GaussianMixture, GaussianMixtureClassifier
from ceiba.export import ModelFileError
from tests.mixture.parts import drop_values, groups, quiet

X = drop_values(groups(12, 240, 3, 8, apart=2.0), 1, 0.1)
Y = np.array(["ash", "birch", "cedar", "dogwood"])[np.arange(240) % 4]

CASES: dict[str, dict[str, Any]] = {
    "full": {"n_components": 2},
    "diagonal": {"n_components": 2, "covariance_type": "diag"},
    "shared": {"n_components": 2, "shared_covariance": True},
    "shared balls": {"shared_covariance": True, "covariance_type": "spherical"},
    "mapping and priors": {
        "n_components": {"ash": 1, "birch": 2, "cedar": 3, "dogwood": 1},
        "priors": {"ash": 0.1, "birch": 0.2, "cedar": 0.3, "dogwood": 0.4},
    },
    "bic": {"n_components": "bic", "max_components": 2, "priors": [0.1, 0.2, 0.3, 0.4]},
    "prior": {"n_components": 2, "prior": ceiba.mixture.ConjugatePrior(scale=np.eye(3))},
    "ppca": {"n_components": 2, "covariance_type": "ppca"},
    "floored": {"n_components": 2, "covariance_floor": 0.9},
}


@cache
def model_of(name: str) -> Any:
    return quiet(GaussianMixtureClassifier(**CASES[name]), X, y=Y)


# Mixtures of the classes


@pytest.mark.parametrize("name", ["full", "shared", "shared balls", "diagonal", "ppca"])
def test_mixtures_are_complete_models(name: str) -> None:
    model = model_of(name)
    densities = model.class_log_densities(X)
    for index, mixture in enumerate(model.mixtures_):
        assert type(mixture) is GaussianMixture
        np.testing.assert_allclose(mixture.score_samples(X), densities[:, index], rtol=1e-12)
        np.testing.assert_allclose(mixture.predict_proba(X).sum(axis=1), 1.0)
        assert np.isfinite(mixture.impute(X)).all()
        assert np.isfinite([mixture.bic(X), mixture.aic(X), mixture.icl(X)]).all()
        drawn, labels = mixture.sample(50)
        assert drawn.shape == (50, 3)
        assert labels.max() < mixture.n_components_
        assert mixture.n_features_in_ == 3
        again = clone(mixture)
        assert again.get_params() == mixture.get_params()
        assert quiet(again, X).n_components_ == mixture.n_components_
        more = pickle.loads(pickle.dumps(mixture))
        assert np.isfinite(more.partial_fit(X).means_).all()


# Model files


def assert_same(one: Any, other: Any) -> None:
    """The models are equal bit for bit."""
    assert one.fit_events_ == other.fit_events_
    assert one.schema_ == other.schema_
    np.testing.assert_array_equal(one.classes_, other.classes_, strict=True)
    for found, wanted in zip(one.mixtures_, other.mixtures_, strict=True):
        for name in ("weights_", "means_", "covariances_", "n_iter_", "log_likelihood_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    np.testing.assert_array_equal(one.predict_log_proba(X), other.predict_log_proba(X))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("name", CASES)
def test_model_file_round_trips(name: str, tmp_path: Path) -> None:
    model, path = model_of(name), tmp_path / "model.ceiba"
    assert bool(model.fit_events_) == (name == "floored")
    ceiba.save(model, path)
    for mmap in (False, True):
        again = ceiba.load(path, mmap=mmap)
        assert_same(again, model)
        assert mmap or repr(again) == repr(model)  # mapped arrays show themselves as such
        ceiba.save(again, tmp_path / "again.ceiba")
        assert path.read_bytes() == (tmp_path / "again.ceiba").read_bytes()
    assert_same(pickle.loads(pickle.dumps(model)), model)


def _mixture(**changes: Any) -> Callable[[Any], None]:
    return lambda model: [setattr(model.mixtures_[1], k, v) for k, v in changes.items()]


def _own(**changes: Any) -> Callable[[Any], None]:
    return lambda model: [setattr(model, k, v) for k, v in changes.items()]


def _of_two_columns() -> Any:
    return quiet(GaussianMixture(2), np.arange(20.0).reshape(10, 2) ** 1.5)


DAMAGES: dict[str, Callable[[Any], Any]] = {
    "a mixture too few": lambda m: m.mixtures_.pop(),
    "no mixtures": lambda m: m.__delattr__("mixtures_"),
    "a class too few": lambda m: setattr(m, "classes_", m.classes_[:2]),
    "a class twice": lambda m: setattr(m, "classes_", m.classes_[[0, 0, 1, 2]]),
    "classes in a square": lambda m: setattr(m, "classes_", m.classes_.reshape(4, 1)),
    "priors of another sum": _own(class_prior_=np.full(4, 0.3)),
    "a negative prior": _own(class_prior_=np.array([-0.5, 0.5, 0.5, 0.5])),
    "a prior of NaN": _own(class_prior_=np.array([np.nan, 0.5, 0.5, 0.0])),
    "priors as a list": _own(class_prior_=[0.25, 0.25, 0.25, 0.25]),
    "priors too few": _own(class_prior_=np.array([0.5, 0.5])),
    "no priors": lambda m: m.__delattr__("class_prior_"),
    "another width": _own(n_features_in_=2),
    "no schema": lambda m: m.__delattr__("schema_"),
    "a mixture of NaN": _mixture(means_=np.full((2, 3), np.nan)),
    "a covariance that is none": _mixture(covariances_=np.tile(-np.eye(3), (2, 1, 1))),
    "weights of another sum": _mixture(weights_=np.array([0.5, 0.6])),
    "a mixture of two columns": lambda m: m.mixtures_.__setitem__(1, _of_two_columns()),
    "a number for a mixture": lambda m: m.mixtures_.__setitem__(1, 3),
    "a classifier for a mixture": lambda m: m.mixtures_.__setitem__(1, model_of("shared")),
    "an unfitted mixture": lambda m: m.mixtures_.__setitem__(1, GaussianMixture(2)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_inconsistent_state_raises(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = pickle.loads(pickle.dumps(model_of("full")))
    DAMAGES[name](model)
    with pytest.raises(ModelFileError):  # what could not be loaded is not saved
        ceiba.save(model, tmp_path / "model.ceiba")
    with monkeypatch.context() as unchecked:
        for each in (GaussianMixtureClassifier, GaussianMixture):
            unchecked.setattr(each, "_check_state", lambda self: None)
        ceiba.save(model, tmp_path / "model.ceiba")
    with pytest.raises(ModelFileError):
        ceiba.load(tmp_path / "model.ceiba")


# scikit-learn


def test_clone_has_the_same_parameters() -> None:
    for options in CASES.values():
        model = GaussianMixtureClassifier(**options)
        again = clone(model)
        assert again is not model
        assert repr(again) == repr(model)


def test_grid_search() -> None:
    forms = ["diag", "spherical"]
    grid = [
        {"n_components": [1, 2], "covariance_type": forms},
        {"n_components": ["bic"], "max_components": [2], "covariance_type": forms},
    ]
    model = GaussianMixtureClassifier(max_iter=20)
    search = quiet(GridSearchCV(model, grid, cv=2, error_score="raise"), X, y=Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.4
    assert set(search.predict(X)) <= set(Y)


@pytest.mark.parametrize("shared", [False, True])
def test_pipeline_of_scaled_columns(shared: bool) -> None:
    """Scales do not matter."""
    weight = np.random.default_rng(2).exponential(size=240)
    model = GaussianMixtureClassifier(shared_covariance=shared, tol=1e-12, max_iter=1000)
    scaled = make_pipeline(StandardScaler(), clone(model))
    quiet(scaled, X, y=Y, gaussianmixtureclassifier__sample_weight=weight)
    plain = quiet(model, X, y=Y, sample_weight=weight)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    assert scaled.score(X, Y) == plain.score(X, Y)


def test_refit_discards_the_previous_fit() -> None:
    pd = pytest.importorskip("pandas")
    model = quiet(GaussianMixtureClassifier(), pd.DataFrame(X, columns=[*"abc"]), y=Y)
    np.testing.assert_array_equal(model.feature_names_in_, [*"abc"])
    quiet(model, np.nan_to_num(X[:, :2]), y=np.arange(240) % 2)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.classes_, [0, 1])
    assert len(model.mixtures_) == 2


@pytest.mark.parametrize("name", ["full", "shared"])
def test_callbacks_change_no_result(name: str) -> None:
    callback = pytest.importorskip("sklearn.callback")
    model = GaussianMixtureClassifier(**CASES[name])
    model.set_callbacks(callback.ProgressBar())
    assert_same(quiet(model, X, y=Y), model_of(name))
