"""Components that shrink or lose their rows: floored, reseeded or dropped, and reported."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from ceiba import GaussianMixture
from ceiba.mixture import CollapsedComponentWarning, ConjugatePrior, FitEvent, FitEvents
from tests.mixture.parts import (
    FORMS,
    assert_valid,
    drop_values,
    groups,
    in_partitions,
    matrices,
    quiet,
)

# Forty scattered rows, and ten equal ones.
SCATTERED = np.random.default_rng(1).normal(size=(40, 2))
POINT = np.array([12.0, -9.0])
HEAP = np.vstack([SCATTERED, np.tile(POINT, (10, 1))])
HARD = np.repeat(np.eye(2), [40, 10], axis=0)
FLOOR = 1e-6 * HEAP.var(axis=0)
# Forms in which each component can collapse alone.
OWN = ("full", "diag", "spherical", "ppca")


def collapsed(form="full", **options):
    return quiet(
        GaussianMixture(2, covariance_type=form, responsibilities_init=HARD, **options), HEAP
    )


# At the floor


@pytest.mark.parametrize("form", OWN)
def test_component_of_equal_rows_is_floored_and_reported(form):
    model = collapsed(form)
    (event,) = model.fit_events_
    assert (event.kind, event.component, event.rows) == ("floored", 1, tuple(range(40, 50)))
    assert event.weight == pytest.approx(10.0)
    assert event.iteration == model.n_iter_
    assert_valid(model, HEAP)
    np.testing.assert_allclose(model.means_[1], POINT)
    if form in ("full", "diag"):
        np.testing.assert_allclose(matrices(model)[1], np.diag(FLOOR), rtol=1e-6, atol=1e-12)
    else:
        np.testing.assert_allclose(matrices(model)[1], FLOOR.mean() * np.eye(2), atol=1e-12)
    assert "component 1 (weight 10," in str(model.fit_events_)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9])
def test_floor_is_a_fraction_of_the_variance(share):
    variances = collapsed("diag", covariance_floor=share).covariances_[1]
    np.testing.assert_allclose(variances, share * HEAP.var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_every_direction_is_above_the_floor(form):
    line = np.c_[SCATTERED[:, 0], 2 * SCATTERED[:, 0], SCATTERED[:, 1]] * [1e6, 1.0, 1e-6]
    model = quiet(GaussianMixture(2, covariance_type=form), line)
    scale = line.std(axis=0)
    if form in ("spherical", "EII", "ppca"):
        scale = np.full(3, np.sqrt(line.var(axis=0).mean()))
    values = np.linalg.eigvalsh(matrices(model) / scale[:, None] / scale)
    assert values.min() > 0.99e-6


@pytest.mark.parametrize("share", [1e-15, 1e-25, 1e-300])
@pytest.mark.parametrize("form", ["full", "tied", "EVV", "VEV", "ppca", "diag"])
def test_floor_below_rounding_fits_or_raises(form, share):
    """Duplicated columns: a mixture, or an error that names the floor."""
    twice = np.c_[SCATTERED, SCATTERED]
    model = GaussianMixture(2, covariance_type=form, covariance_floor=share)
    try:
        quiet(model, twice)
    except ValueError as error:
        assert "covariance_floor" in str(error)  # noqa: PT017 - one of two right outcomes
        return
    for name in ("means_", "covariances_", "log_likelihood_"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.score_samples(twice)).all()


def test_warning_points_at_the_call():
    model = GaussianMixture(2, responsibilities_init=HARD)
    for call in (model.fit, model.fit_predict):
        with pytest.warns(CollapsedComponentWarning, match="at the covariance floor") as caught:
            call(HEAP)
        assert len(caught) == 1
        assert caught[0].filename == __file__, call


@pytest.mark.parametrize("prior", ["default", ConjugatePrior(shrinkage=0.1)])
@pytest.mark.parametrize("form", FORMS)
def test_prior_prevents_collapse(form, prior):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapsedComponentWarning)
        model = GaussianMixture(
            2, covariance_type=form, responsibilities_init=HARD, prior=prior
        ).fit(HEAP)
    assert len(model.fit_events_) == 0
    assert np.linalg.eigvalsh(matrices(model)).min() > 100 * FLOOR.max()
    assert_valid(model, HEAP)


def test_no_fit_events_of_a_regular_fit():
    model = GaussianMixture(2).fit(groups(1, 60, 2, 2))
    assert len(model.fit_events_) == 0
    assert not model.fit_events_
    assert "no events" in str(model.fit_events_)


def test_fit_events_are_a_sequence_that_round_trips():
    events = collapsed().fit_events_
    assert isinstance(events, FitEvents)
    assert isinstance(events[0], FitEvent)
    assert list(events) == [events[0]]
    assert pickle.loads(pickle.dumps(events)) == events
    assert FitEvents.from_json(events.to_json()) == events


def test_fit_events_have_global_row_numbers():
    weight = np.ones(50)
    weight[[1, 2, 3, 20, 41]] = 0.0
    given = {"means_init": [SCATTERED.mean(axis=0), POINT], "init_params": "random_from_data"}
    whole = quiet(GaussianMixture(2, **given), HEAP, sample_weight=weight)
    assert whole.fit_events_[-1].rows == (40, *range(42, 50))
    for splits in ([25], [4, 30], [10, 20, 45]):
        parts = quiet(GaussianMixture(2, **given), in_partitions(HEAP, splits, weight))
        assert parts.fit_events_[-1].rows == whole.fit_events_[-1].rows, splits


# Lost components

ROWS = groups(3, 60, 2, 2)
FAR = np.array([1e5, 1e5])


def fit_with_lost_component(k=3, form="full", rows=ROWS, weight=None, **options):
    """Fit with the last component initialized far from all rows."""
    means = np.vstack([ROWS[: k - 1], FAR])
    one = {"full": np.eye(2), "diag": np.ones(2), "spherical": 1.0}.get(form, np.eye(2))
    precisions = one if form == "tied" else np.stack([one] * k)
    start = {
        "weights_init": np.full(k, 1 / k), "means_init": means, "precisions_init": precisions
    }  # fmt: skip
    model = GaussianMixture(k, covariance_type=form, trace=True, **start, **options)
    return quiet(model, rows, sample_weight=weight)


def lowest_density_row(model, rows, frame=0):
    """The row of smallest density under the parameters of a frame."""
    first = model.trace_[frame]
    covariances = first["covariances"]
    if covariances.ndim == 2:
        covariances = covariances[:, :, None] * np.eye(rows.shape[1])
    joint = []
    for weight, mean, covariance in zip(first["weights"], first["means"], covariances, strict=True):
        away = rows - mean
        distance = (away * np.linalg.solve(covariance, away.T).T).sum(axis=1)
        joint.append(np.log(weight) - 0.5 * (distance + np.linalg.slogdet(covariance)[1]))
    return int(np.argmin(np.logaddexp.reduce(joint)))


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_lost_component_is_reseeded_at_the_lowest_density_row(form):
    model = fit_with_lost_component(form=form)
    event = model.fit_events_[0]
    assert (event.kind, event.iteration, event.component) == ("reseeded", 1, 2)
    assert event.rows == (lowest_density_row(model, ROWS),)
    assert event.weight == pytest.approx(0.0, abs=1e-9)
    frame = model.trace_[1]
    np.testing.assert_allclose(frame["means"][2], ROWS[event.rows[0]])
    assert model.n_components_ == 3
    assert_valid(model, ROWS)


def test_reseeded_component_has_equal_weight_and_the_column_variances():
    model = fit_with_lost_component()
    frame = model.trace_[1]
    assert frame["weights"][2] == pytest.approx(1 / 3)
    assert frame["weights"].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(frame["covariances"][2], np.diag(ROWS.var(axis=0)), rtol=1e-9)


def test_missing_values_of_the_reseeding_row_become_column_means():
    rows = ROWS.copy()
    rows[7] = [np.nan, 300.0]
    model = fit_with_lost_component(rows=rows)
    assert model.fit_events_[0].rows == (7,)
    wanted = [np.nanmean(rows[:, 0]), 300.0]
    np.testing.assert_allclose(model.trace_[1]["means"][2], wanted)


def test_reseeding_ties_go_to_the_first_row():
    rows = ROWS.copy()
    rows[[44, 13, 50]] = [-90.0, 40.0]
    assert fit_with_lost_component(rows=rows).fit_events_[0].rows == (13,)
    for splits in ([20], [10, 45]):
        means = np.vstack([ROWS[:2], FAR])
        model = GaussianMixture(
            3, weights_init=np.full(3, 1 / 3), means_init=means, precisions_init=[np.eye(2)] * 3
        )
        assert quiet(model, in_partitions(rows, splits)).fit_events_[0].rows == (13,)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_lost_component_is_dropped_on_request(form):
    with pytest.warns(CollapsedComponentWarning, match="dropped"):
        model = GaussianMixture(
            2, covariance_type=form, empty_component="drop", means_init=[ROWS[0], FAR]
        ).fit(ROWS)
    (event,) = model.fit_events_
    assert (event.kind, event.component, event.rows) == ("dropped", 1, ())
    assert model.n_components_ == 1
    assert model.predict_proba(ROWS).shape == (60, 1)
    assert len(model.precisions_) == len(model.covariances_)
    assert_valid(model, ROWS)
    # The remaining mixture is that of one component.
    one = GaussianMixture(1, covariance_type=form).fit(ROWS)
    np.testing.assert_allclose(model.means_, one.means_, rtol=1e-9)
    assert model.log_likelihood_ == pytest.approx(one.log_likelihood_)
    assert model.bic(ROWS) == pytest.approx(one.bic(ROWS))


def test_heaviest_component_is_never_lost():
    means = np.vstack([FAR, 2 * FAR, 3 * FAR])
    for empty_component in ("drop", "reseed"):
        model = GaussianMixture(3, means_init=means, empty_component=empty_component)
        assert_valid(quiet(model, ROWS), ROWS)


def test_several_components_are_reseeded_at_different_rows():
    means = np.vstack([ROWS[0], FAR, -FAR, 2 * FAR])
    model = quiet(GaussianMixture(4, means_init=means, trace=True), ROWS)
    events = [event for event in model.fit_events_ if event.kind == "reseeded"]
    first = [event for event in events if event.iteration == 1]
    assert [event.component for event in first] == [1, 2, 3]
    assert len({event.rows for event in first}) == 3


# The row of lowest density has a tiny weight, so that a component of it alone is lost at once.
LIGHT = np.vstack([np.random.default_rng(5).normal(size=(50, 2)), [[400.0, 400.0]]])
LIGHT_WEIGHT = np.r_[np.ones(50), 1e-7]


@pytest.mark.parametrize("options", [{}, {"n_init": 2, "short_iter": 3, "init_params": "random"}])
def test_component_is_reseeded_n_components_times_then_dropped(options):
    given = {} if options else {"means_init": [[0.0, 0.0], [400.0, 400.0]]}
    model = GaussianMixture(2, tol=0.0, max_iter=60, **given, **options)
    quiet(model, LIGHT, sample_weight=LIGHT_WEIGHT)
    kinds = [event.kind for event in model.fit_events_]
    assert kinds.count("reseeded") <= 2
    assert kinds.count("dropped") <= 1
    assert_valid(model, LIGHT)


def test_more_components_than_distinct_rows_can_be_fitted():
    rows = np.repeat([[0.0, 0.0], [1.0, 5.0], [7.0, 2.0]], 6, axis=0)
    for init in ("kmeans", "k-means++", "random_from_data", "random"):
        for empty_component in ("reseed", "drop"):
            model = GaussianMixture(
                5, init_params=init, empty_component=empty_component, max_iter=30
            )
            assert_valid(quiet(model, rows), rows)


# The objective increases


def decreases(model):
    """Iterations whose objective is lower than the previous one."""
    values = np.array([frame["objective"] for frame in model.trace_])
    slack = 1e-9 * np.maximum(1.0, np.abs(values[1:]))
    return [int(step) for step in np.flatnonzero(values[1:] < values[:-1] - slack)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prior", [None, "default"])
@pytest.mark.parametrize("kind", ["whole", "missing", "heap"])
def test_objective_never_decreases(form, prior, kind):
    rows = {
        "whole": groups(9, 90, 3, 3, 1.5),
        "missing": drop_values(groups(9, 90, 3, 3, 1.5)),
        "heap": HEAP,
    }
    model = GaussianMixture(
        3, covariance_type=form, prior=prior, trace=True, tol=0.0, max_iter=40, init_params="random"
    )
    model = quiet(model, rows[kind])
    repaired = {event.iteration - 1 for event in model.fit_events_ if event.kind != "floored"}
    assert set(decreases(model)) <= repaired
    values = [frame["log_likelihood"] for frame in model.trace_]
    assert values[-1] > values[0]


@pytest.mark.parametrize("empty_component", ["reseed", "drop"])
@pytest.mark.parametrize("form", ["full", "diag", "tied", "spherical"])
def test_objective_decreases_only_with_a_fit_event(empty_component, form):
    model = fit_with_lost_component(4, form, empty_component=empty_component)
    repaired = {event.iteration - 1 for event in model.fit_events_ if event.kind != "floored"}
    assert repaired
    assert set(decreases(model)) <= repaired


def test_component_without_rows_in_batches_is_dropped():
    model = GaussianMixture(2, empty_component="drop").partial_fit(ROWS)
    assert len(model.fit_events_) == 0
    for _ in range(400):
        with warnings.catch_warnings(record=True) as caught:
            model.partial_fit(ROWS[::2])
        if model.n_components_ == 1:
            break
    assert [event.kind for event in model.fit_events_] == ["dropped"]
    assert any("dropped" in str(one.message) for one in caught)
    assert model.means_.shape == (1, 2)
    assert_valid(model.partial_fit(ROWS), ROWS)
