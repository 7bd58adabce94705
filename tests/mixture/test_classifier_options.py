"""Mixture classifier: numbers of components, every option, accuracy against scikit-learn."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ceiba import GaussianMixtureClassifier, datasets
from ceiba.mixture import ConjugatePrior
from tests.mixture.parts import drop_values, groups, quiet

X = groups(1, 120, 3, 6, apart=2.0)
Y = np.arange(120) % 3  # two groups a class
NEW = groups(2, 40, 3, 6, apart=2.0)
WITH_MISSING = drop_values(X)


def fitted(rows: Any, y: Any, n: Any = 1, weight: Any = None, **options: Any) -> Any:
    return quiet(GaussianMixtureClassifier(n, **options), rows, y=y, sample_weight=weight)


# Components


def test_n_components_per_class():
    model = fitted(X, Y, {np.int64(2): np.int64(3), 0: 1, 1: 2})
    assert [m.n_components_ for m in model.mixtures_] == [1, 2, 3]
    assert [m.n_components for m in model.mixtures_] == [1, 2, 3]
    assert [m.means_.shape for m in model.mixtures_] == [(1, 3), (2, 3), (3, 3)]


ROWS = np.vstack([groups(3, 60, 2, 1), groups(4, 90, 2, 3, apart=9.0)])
KIND = np.repeat(["one", "three"], [60, 90])


@cache
def of_size(k: int) -> Any:
    return fitted(ROWS, KIND, k, n_init=2, short_iter=None)


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl"])
def test_criterion_selects_n_components_per_class(criterion):
    model = fitted(ROWS, KIND, criterion, max_components=3, n_init=2)
    for index, label in enumerate(model.classes_):
        own = ROWS[label == KIND]
        values = [getattr(of_size(k).mixtures_[index], criterion)(own) for k in (1, 2, 3)]
        assert getattr(model.mixtures_[index], criterion)(own) == pytest.approx(min(values))
    if criterion != "aic":  # which is fond of components
        assert [m.n_components_ for m in model.mixtures_] == [1, 3]
    few = fitted(ROWS, KIND, criterion, max_components=2)
    assert max(m.n_components_ for m in few.mixtures_) <= 2


def test_shared_covariance_with_a_criterion_raises():
    with pytest.raises(
        ValueError, match=r"shared_covariance=True requires n_components as numbers"
    ):
        GaussianMixtureClassifier("bic", shared_covariance=True).fit(X, Y)


@pytest.mark.parametrize("form", ["ppca", "VEI", "EVI", "VEE", "EVV", "EEV", "VEV"])
def test_forms_that_cannot_be_shared_raise(form):
    with pytest.raises(ValueError, match=f"'full', 'diag' or 'spherical', got '{form}'"):
        GaussianMixtureClassifier(covariance_type=form, shared_covariance=True).fit(X, Y)


@pytest.mark.parametrize(
    ("one", "other"), [("VVV", "full"), ("EEE", "tied"), ("VVI", "diag"), ("VII", "spherical")]
)
@pytest.mark.parametrize("shared", [False, True])
def test_aliases_give_the_same_model(one, other, shared):
    models = [fitted(X, Y, 2, covariance_type=f, shared_covariance=shared) for f in (one, other)]
    for a, b in zip(*(model.mixtures_ for model in models), strict=True):
        np.testing.assert_array_equal(a.covariances_, b.covariances_)


# Options


@pytest.mark.parametrize(
    ("base", "change"),
    [
        ({}, {"reg_covar": 0.1}),
        ({}, {"covariance_floor": 0.2}),
        ({}, {"prior": "default"}),
        ({"prior": "default"}, {"prior": ConjugatePrior(shrinkage=5.0)}),
        ({"prior": "default", "shared_covariance": True}, {"prior": None}),
        ({"tol": 1e-9}, {"tol": 0.1}),
        ({"tol": 0.0, "max_iter": 40}, {"max_iter": 2}),
        ({"init_params": "random", "max_iter": 3}, {"n_init": 6}),
        ({"init_params": "random", "max_iter": 9, "n_init": 6}, {"short_iter": 1}),
        ({"max_iter": 2}, {"init_params": "k-means++"}),
        ({"max_iter": 2}, {"init_params": "random_from_data"}),
        ({"max_iter": 2}, {"init_params": "random"}),
        ({"init_params": "random", "max_iter": 3}, {"random_state": 8}),
        ({"covariance_type": "ppca"}, {"n_latent": 2}),
        ({"n_components": "aic", "max_components": 1}, {"max_components": 3}),
        ({}, {"n_components": 1}),
        ({}, {"covariance_type": "diag"}),
        ({}, {"shared_covariance": True}),
        ({}, {"priors": [0.8, 0.1, 0.1]}),
    ],
    ids=lambda options: " ".join(options) or "default",
)
def test_every_option_has_an_effect(base, change):
    given = {"n_components": 2, **base}
    one, other, again = (
        quiet(GaussianMixtureClassifier(**{**given, **more}), WITH_MISSING, y=Y).predict_log_proba(
            NEW
        )
        for more in ({}, change, {})
    )
    assert np.abs(np.exp(one) - np.exp(other)).max() > 1e-6
    np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize("random_state", [np.random.RandomState(3), np.random.default_rng(3), None])
def test_random_state_accepts_generators(random_state):
    model = fitted(X, Y, 2, init_params="random", random_state=random_state)
    assert model.score(X, Y) > 0.6


# Accuracy


# scikit-learn needs shrinkage on glass, whose smallest class has nine rows in nine columns.
SHRUNK = make_pipeline(
    StandardScaler(), QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1)
)


@pytest.mark.filterwarnings("ignore::ceiba.mixture.CollapsedComponentWarning")
@pytest.mark.parametrize(
    ("name", "options", "other"),
    [
        ("iris", {}, QuadraticDiscriminantAnalysis()),
        ("vehicle", {}, QuadraticDiscriminantAnalysis()),
        ("glass", {}, SHRUNK),
        ("iris", {"shared_covariance": True}, LinearDiscriminantAnalysis()),
        ("vehicle", {"shared_covariance": True}, LinearDiscriminantAnalysis()),
        ("glass", {"shared_covariance": True}, LinearDiscriminantAnalysis()),
    ],
)
def test_accuracy_matches_scikit_learn(name, options, other):
    """In five folds, at most half a percent worse than the same discriminant analysis."""
    data = datasets.load(name)
    rows, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    one = cross_val_score(GaussianMixtureClassifier(**options), rows, y, cv=folds).mean()
    assert one >= cross_val_score(other, rows, y, cv=folds).mean() - 0.005


@pytest.mark.parametrize("options", [{"n_latent": 2}, {"max_components": 3}, {"short_iter": 3}])
def test_an_option_without_effect_raises(options):
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' has no effect with"):
        GaussianMixtureClassifier(2, **options).fit(WITH_MISSING, Y)
