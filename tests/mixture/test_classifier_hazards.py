"""Mixture classifier on data that break arithmetic, and its fit events."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import GaussianMixtureClassifier
from ceiba.mixture import CollapsedComponentWarning, DegenerateColumnWarning
from tests.mixture.parts import FORMS, drop_values, groups, matrices, quiet

X = groups(1, 90, 3, 3, apart=2.0)
Y = np.arange(90) % 3
WITH_MISSING = drop_values(X)
WORDS = np.array(["ash", "birch", "cedar"])

shared = pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])


def fitted(rows: Any, y: Any, n: Any = 1, weight: Any = None, **options: Any) -> Any:
    return quiet(GaussianMixtureClassifier(n, **options), rows, y=y, sample_weight=weight)


def assert_valid(model: Any, rows: Any) -> None:
    """Predictions are finite, and probabilities sum to one."""
    for mixture in model.mixtures_:
        for name in ("weights_", "means_", "covariances_", "log_likelihood_", "lower_bound_"):
            assert np.isfinite(getattr(mixture, name)).all(), name
        assert mixture.weights_.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.isfinite(model.class_log_densities(rows)).all()
    assert np.isfinite(model.score_samples(rows)).all()
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(rows))


# One class, many classes


@shared
def test_single_class_can_be_fitted(shared):
    model = fitted(X, np.full(90, "only"), 2, shared_covariance=shared)
    assert_valid(model, X)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((90, 1)))
    np.testing.assert_allclose(model.score_samples(X), model.mixtures_[0].score_samples(X))


def test_many_classes_can_be_fitted():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 150
    rows = rng.normal(size=(600, 2)) + 100.0 * np.c_[y // 15, y % 15]
    model = fitted(rows, y)
    assert_valid(model, rows)
    assert model.score(rows, y) == 1.0


# Few rows, equal rows, flat columns


@shared
@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
def test_one_row_per_class_can_be_fitted(form, shared):
    """Each component has its row as mean and the floor as covariance."""
    rows = X[:3]
    model = fitted(rows, Y[:3], covariance_type=form, shared_covariance=shared)
    assert_valid(model, rows)
    np.testing.assert_array_equal(model.predict(rows), Y[:3])
    floor = 1e-6 * (rows.var(axis=0).mean() if form == "spherical" else rows.var(axis=0))
    for mixture, row in zip(model.mixtures_, rows, strict=True):
        np.testing.assert_allclose(mixture.means_[0], row, rtol=1e-12)
        found = matrices(mixture)[0]
        np.testing.assert_allclose(np.diagonal(found), np.broadcast_to(floor, 3), rtol=1e-9)


@shared
def test_class_of_one_row_can_be_fitted(shared):
    rows, y = X[:41], np.append(Y[:40] % 2, 9)
    model = fitted(rows, y, shared_covariance=shared)
    assert_valid(model, rows)
    assert shared or model.predict(rows)[-1] == 9  # with a covariance of all it may drown
    assert model.class_prior_[-1] == pytest.approx(1 / 41)


@pytest.mark.parametrize("form", FORMS)
def test_fewer_rows_than_columns_can_be_fitted(form):
    wide = groups(2, 12, 8, 2)
    model = fitted(wide, np.arange(12) % 2, covariance_type=form)
    assert_valid(model, wide)
    assert model.score(wide, np.arange(12) % 2) == 1.0


@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
def test_fewer_rows_than_columns_can_share_a_covariance(form):
    wide = groups(2, 12, 30, 2)
    model = fitted(wide, np.arange(12) % 2, 2, covariance_type=form, shared_covariance=True)
    assert_valid(model, wide)


@shared
@pytest.mark.parametrize("form", ["full", "diag"])
def test_column_constant_within_a_class_can_be_fitted(form, shared):
    rows = np.c_[X, np.where(Y == 1, 5.0, X[:, 0] - X[:, 1])]
    model = fitted(rows, Y, covariance_type=form, shared_covariance=shared)
    assert_valid(model, rows)
    assert model.mixtures_[1].means_[0, 3] == pytest.approx(5.0)
    if not shared:
        minimum = 1e-6 * rows[:, 3].var()
        assert matrices(model.mixtures_[1])[0, 3, 3] == pytest.approx(minimum, rel=1e-6)
        assert (model.predict(rows[Y == 1]) == 1).all()


@shared
def test_equal_rows_within_a_class_can_be_fitted(shared):
    rows = X.copy()
    rows[Y == 2] = rows[2]
    model = fitted(rows, Y, {0: 2, 1: 1, 2: 3}, shared_covariance=shared)
    assert_valid(model, rows)
    means = model.mixtures_[2].means_
    np.testing.assert_allclose(means, np.broadcast_to(rows[2], means.shape))


@shared
def test_equal_rows_raise_without_reg_covar(shared):
    rows, y = np.full((8, 2), 3.0), np.arange(8) % 2
    with pytest.raises(ValueError, match=r"equal rows.*reg_covar"):
        GaussianMixtureClassifier(shared_covariance=shared).fit(rows, y)
    model = fitted(rows, y, reg_covar=0.5, shared_covariance=shared, priors=[0.25, 0.75])
    np.testing.assert_allclose(model.predict_proba(rows), np.tile([0.25, 0.75], (8, 1)))
    np.testing.assert_allclose(model.score_samples(rows), -np.log(2 * np.pi * 0.5))


def test_constant_column_warns_once_at_the_call():
    rows = np.c_[X, np.full(90, 7.0)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GaussianMixtureClassifier().fit(rows, Y)
    flat = [w for w in caught if issubclass(w.category, DegenerateColumnWarning)]
    assert len(flat) == 1
    assert flat[0].filename == __file__


# Scales


@shared
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("scale", [1e-90, 1e-30, 1e50, 1e90])
def test_any_scale_gives_the_same_mixture(rows, scale, shared):
    plain, model = (fitted(rows * s, Y, 2, shared_covariance=shared) for s in (1.0, scale))
    np.testing.assert_allclose(
        model.predict_log_proba(rows * scale), plain.predict_log_proba(rows), rtol=1e-6, atol=1e-6
    )
    known = (~np.isnan(rows)).sum(axis=1)
    np.testing.assert_allclose(
        model.score_samples(rows * scale), plain.score_samples(rows) - known * np.log(scale),
        rtol=1e-8, atol=1e-7,
    )  # fmt: skip


@shared
@pytest.mark.parametrize("form", ["full", "diag"])
def test_very_different_column_scales_give_the_same_mixture(form, shared):
    scale = np.array([1e-40, 1e30, 1.0])
    options = {"covariance_type": form, "shared_covariance": shared}
    plain, model = (fitted(X * s, Y, **options) for s in (1.0, scale))
    np.testing.assert_allclose(
        model.predict_log_proba(X * scale), plain.predict_log_proba(X), rtol=1e-7, atol=1e-7
    )


@shared
@pytest.mark.parametrize("shift", [1e9, [1e9, -1e9, 1e6]], ids=["one", "each"])
def test_common_shift_gives_the_same_mixture(shift, shared):
    plain, model = (fitted(X + s, Y, 2, shared_covariance=shared) for s in (0.0, shift))
    found, wanted = model.predict_log_proba(X + shift), plain.predict_log_proba(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@shared
def test_distant_classes_keep_their_digits(shared):
    """Sums over all rows would lose the covariance within classes."""
    far = 1e7 * Y[:, None]
    options = {"shared_covariance": shared, "covariance_floor": 1e-20}
    plain, model = (fitted(X + s, Y, **options) for s in (0.0, far))
    for one, other in zip(model.mixtures_, plain.mixtures_, strict=True):
        np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-6, atol=1e-7)


@shared
def test_float32_rows_give_the_same_mixture(shared):
    single = X.astype(np.float32)
    model, double = (
        fitted(r, Y, 2, shared_covariance=shared) for r in (single, single.astype(float))
    )
    for one, other in zip(model.mixtures_, double.mixtures_, strict=True):
        np.testing.assert_allclose(one.means_, other.means_, rtol=1e-9)
        assert one.means_.dtype == np.float64
    np.testing.assert_allclose(model.predict_proba(single), double.predict_proba(single), rtol=1e-6)


def test_distant_rows_raise_or_have_probabilities():
    model = fitted(X, Y, 2)
    far = np.array([[1e6, 0, 0], [1e100, -1e100, 1e100], [-1e150, 1e150, 0.0]])
    assert_valid(model, far)
    assert (model.score_samples(far) < -1e9).all()
    with pytest.raises(ValueError, match="density of row 1 underflows"):
        model.predict_proba(np.array([[0, 0, 0], [1e200, 0, 0.0]]))


@pytest.mark.parametrize("scale", [1e-200, 1e160])
@shared
def test_scale_with_overflowing_squares_gives_the_same_classifier(scale, shared):
    plain = GaussianMixtureClassifier(shared_covariance=shared).fit(X, Y)
    model = GaussianMixtureClassifier(shared_covariance=shared).fit(X * scale, Y)
    np.testing.assert_allclose(model.predict_proba(X * scale), plain.predict_proba(X), atol=1e-9)
    assert model.score(X * scale, Y) == plain.score(X, Y)
    for one, other in zip(model.mixtures_, plain.mixtures_, strict=True):
        moved = other.lower_bound_ - X.shape[1] * np.log(scale)
        assert one.lower_bound_ == pytest.approx(moved, rel=1e-9)


# Missing values


@shared
@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
def test_class_without_values_in_a_column_can_be_fitted(form, shared):
    rows = X.copy()
    rows[Y == 1, 2] = np.nan
    model = fitted(rows, Y, covariance_type=form, shared_covariance=shared)
    assert_valid(model, X)
    assert_valid(model, rows)


@shared
def test_class_without_values_can_be_fitted(shared):
    rows = X.copy()
    rows[Y == 1] = np.nan
    model = fitted(rows, Y, shared_covariance=shared)
    assert_valid(model, X)
    blank = np.full((2, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(blank), np.tile(model.class_prior_, (2, 1)))
    np.testing.assert_allclose(model.score_samples(blank), 0.0, atol=1e-12)


def test_column_without_values_raises_and_is_named():
    rows = X.copy()
    rows[:, 1] = np.nan
    with pytest.raises(ValueError, match="'x1' has no value"):
        GaussianMixtureClassifier().fit(rows, Y)


# Fit events


@shared
def test_fit_events_name_class_rows_and_weight(shared):
    rows = np.c_[np.where(Y == 1, 4.0, 0.0), X[:, 1]]
    w = np.where(Y == 1, 2.0, 1.0)
    model = fitted(rows, WORDS[Y], weight=w, shared_covariance=shared)
    events = {event.class_label: event for event in model.fit_events_}
    assert set(events) == set(WORDS)
    for index, label in enumerate(WORDS):
        event = events[label]
        assert (event.kind, event.component) == ("floored", 0)
        assert event.rows == tuple(np.flatnonzero(index == Y)[:10])
        assert event.weight == pytest.approx(w[index == Y].sum())
        assert f"of class {label}" in str(model.fit_events_)


def light(first: bool) -> tuple[Any, Any, Any]:
    """A class with a group of tiny weight, first or last among the classes."""
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(size=20), 1000.0, 1001.0, rng.normal(size=10) + 50.0][:, None]
    own, other = ("a", "b") if first else ("z", "b")
    w = np.r_[np.ones(20), 1e-3, 1e-3, np.ones(10)]
    return rows, np.repeat([own, other], [22, 10]), w


@shared
@pytest.mark.parametrize("empty_component", ["drop", "reseed"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_lost_components_are_reported_under_their_class(empty_component, first, shared):
    rows, y, w = light(first)
    own, other = y[0], y[-1]
    model = fitted(
        rows, y, {own: 2, other: 1}, w, empty_component=empty_component, shared_covariance=shared
    )
    assert {event.class_label for event in model.fit_events_} == {own}
    assert {event.component for event in model.fit_events_} == {1}
    again = [event for event in model.fit_events_ if event.kind == "reseeded"]
    assert bool(again) == (empty_component == "reseed")
    assert not again or set(again[0].rows) <= {20, 21}
    dropped = [event for event in model.fit_events_ if event.kind == "dropped"]
    assert [m.n_components_ for m in model.mixtures_].count(2) == 1 - len(dropped)
    assert dropped or empty_component == "reseed"
    assert_valid(model, rows)


@shared
def test_class_of_small_weight_keeps_its_components(shared):
    """The threshold of lost components is relative to the weights of the own class."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(140, 2))
    rows[100:120] += 8.0
    rows[120:] -= 8.0
    y, w = np.repeat([0, 1], [100, 40]), np.repeat([1.0, 1e-4], [100, 40])
    model = fitted(rows, y, {0: 1, 1: 2}, w, shared_covariance=shared)
    assert model.mixtures_[1].n_components_ == 2
    np.testing.assert_allclose(model.mixtures_[1].weights_, 0.5)
    assert not model.fit_events_


@shared
def test_warnings_point_at_the_call_of_fit(shared):
    rows = np.c_[np.where(Y == 1, 4.0, 0.0), X[:, 1]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianMixtureClassifier(2, max_iter=1, tol=0.0, shared_covariance=shared)
        model.fit(rows, Y)
    assert {w.category for w in caught} == {CollapsedComponentWarning, ConvergenceWarning}
    assert {w.filename for w in caught} == {__file__}


def test_no_fit_events():
    model = fitted(X, Y)
    assert not model.fit_events_
    assert "no events" in str(model.fit_events_)
