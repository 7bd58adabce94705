"""Callbacks, batches after drops, choices at the floor, and errors."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ceiba import GaussianMixture, GaussianMixtureClassifier
from ceiba.mixture import ConjugatePrior, UnstableChoiceWarning, choose_components
from tests.mixture.parts import quiet

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 2))
X[60:, 0] += 6.0


@pytest.mark.parametrize(
    "options", [{"short_iter": 2}, {"n_components": "bic", "max_components": 3}], ids=str
)
def test_progress_covers_short_runs_and_choices(options: dict[str, Any]) -> None:
    callback = pytest.importorskip("sklearn.callback")
    model = GaussianMixture(**{"n_components": 2, "n_init": 3, **options})
    reports_progress = GaussianMixture(**model.get_params()).set_callbacks(callback.ProgressBar())
    np.testing.assert_array_equal(quiet(reports_progress, X).means_, quiet(model, X).means_)


def test_partial_fit_continues_after_a_drop() -> None:
    start = {"means_init": [[0.0, 0.0], [6.0, 0.0], [400.0, 0.0]]}
    model = quiet(GaussianMixture(3, empty_component="drop", **start), X)
    assert model.n_components_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.partial_fit(X).partial_fit(X[:7])
    assert model.n_components_ == 2
    assert [event.kind for event in model.fit_events_] == ["dropped"]
    assert model._weight_seen == pytest.approx(2 * len(X) + 7)


@pytest.mark.parametrize("change", [{"n_components": 3}, {"covariance_type": "diag"}], ids=str)
def test_batch_with_changed_parameters_raises(change: dict[str, Any]) -> None:
    model = quiet(GaussianMixture(2), X).set_params(**change)
    with pytest.raises(ValueError, match="set them back"):
        model.partial_fit(X)


def test_predict_with_another_form_raises() -> None:
    model = quiet(GaussianMixture(2), X).set_params(covariance_type="spherical")
    with pytest.raises(ValueError, match="set it back"):
        model.bic(X)


def test_prior_refers_to_the_first_batch() -> None:
    """A batch of one row has no covariance of its own."""
    model = quiet(GaussianMixture(2, prior=ConjugatePrior(shrinkage=50.0)), X)
    means = model.means_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.partial_fit(X[:1])
    np.testing.assert_allclose(model.means_, means, atol=0.3)


def test_prior_helps_a_class_of_one_row() -> None:
    rows, y = np.r_[X, [[20.0, 20.0]]], np.r_[np.zeros(60), np.ones(60), 2.0]
    plain = quiet(GaussianMixtureClassifier(), rows, y=y)
    helped = quiet(GaussianMixtureClassifier(prior="default"), rows, y=y)
    assert helped.mixtures_[2].covariances_.min() > 100 * plain.mixtures_[2].covariances_.min()
    assert not [event for event in helped.fit_events_ if event.class_label == "2.0"]


@pytest.mark.parametrize("form", ["VEE", "VEV", "EVV", "tied"])
def test_floored_forms_are_not_selected_for_rows_on_a_plane(form: str) -> None:
    """Every form that needs the floor counts it; the spherical one does not need it."""
    flat = np.c_[X, X[:, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        choice = choose_components(flat, [1, 2], [form, "spherical"])
    n_floored = choice.table["n_floored"][choice.table["covariance_type"] == form]
    assert n_floored.all()
    assert choice.chosen[1] == "spherical"


def test_objective_increases_across_short_and_continued_runs() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(40, 3)), np.repeat(rng.normal(size=(3, 3)), 5, axis=0)])
    for short in range(1, 12):
        model = quiet(
            GaussianMixture(
                4, covariance_type="VEV", n_init=2, short_iter=short, trace=True, tol=1e-8
            ),
            rows,
        )
        worth = [frame["objective"] for frame in model.trace_]
        repaired = {event.iteration for event in model.fit_events_ if event.kind != "floored"}
        for step, (a, b) in enumerate(pairwise(worth), start=1):
            assert b >= a - 1e-8 * abs(a) or step == 1 or step in repaired


def test_unstable_choice_warns() -> None:
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(60, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianMixture("aic", init_params="random", max_components=6).fit(rows)
    warned = [each for each in caught if each.category is UnstableChoiceWarning]
    assert bool(warned) == bool(model.choice_.unstable.any())
    assert warned
    assert "The initialization decides among" in str(warned[0].message)


def test_underflowing_row_is_named() -> None:
    rows = np.r_[X, [[1e90, 0.0]]]
    start = {"weights_init": [1.0], "means_init": [[0.0, 0.0]], "precisions_init": [1e200]}
    with pytest.raises(ValueError, match="density of row 120 underflows"):
        GaussianMixture(1, covariance_type="spherical", **start).fit(rows)


def test_all_mixtures_of_a_grid_have_the_same_folds() -> None:
    forms = ["full", "VVV"]
    choice = choose_components(X, [1], forms, cv=4, criterion="cv", random_state=None)
    assert choice.table["cv"][0] == choice.table["cv"][1]


def test_unstable_choice_of_a_class_warns() -> None:
    rows = np.random.default_rng(3).uniform(size=(120, 2))
    model = GaussianMixtureClassifier("aic", init_params="random", max_components=6)
    with pytest.warns(UnstableChoiceWarning, match="class b: The initialization decides"):
        model.fit(rows, np.repeat(["a", "b"], 60))
    assert model.mixtures_[1].choice_.unstable.any()


def test_singular_batch_raises_with_a_remedy() -> None:
    model = GaussianMixture(2, covariance_floor=1e-25)
    with pytest.raises(ValueError, match="covariance_floor=1e-25 is too low"):
        model.partial_fit(np.c_[X, X])
