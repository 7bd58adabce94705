"""Names and options that scikit-learn's mixtures have too."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import ceiba
from ceiba import GaussianMixture, KMeans

RANDOM = np.random.default_rng(0)
X = np.concatenate([RANDOM.normal(size=(60, 2)), RANDOM.normal(4.0, 1.0, (60, 2))])


@pytest.mark.parametrize("options", [{}, {"n_init": 3, "short_iter": 2}, {"prior": "default"}])
def test_lower_bounds_are_those_of_the_iterations(options: dict, tmp_path: Path) -> None:
    model = GaussianMixture(2, trace=True, **options).fit(X)
    assert len(model.lower_bounds_) == model.n_iter_
    assert model.lower_bounds_[-1] == model.lower_bound_
    assert (np.diff(model.lower_bounds_) >= -1e-12).all()
    # The first frame of the trace is the initial model, before the first iteration.
    objectives = [frame["objective"] / len(X) for frame in model.trace_]
    assert model.lower_bounds_ == objectives[1:]
    ceiba.save(model, tmp_path / "model")
    assert ceiba.load(tmp_path / "model").lower_bounds_ == model.lower_bounds_


def test_lower_bounds_of_batches() -> None:
    model = GaussianMixture(2).partial_fit(X).partial_fit(X)
    assert len(model.lower_bounds_) == model.n_iter_ == 2
    assert model.lower_bounds_[-1] == model.lower_bound_


def test_no_iterations_keep_the_initial_parameters() -> None:
    means, precisions = np.array([[0.0, 0.0], [4.0, 4.0]]), np.stack([np.eye(2)] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianMixture(
            2, max_iter=0, weights_init=[0.5, 0.5], means_init=means, precisions_init=precisions
        ).fit(X)
    np.testing.assert_array_equal(model.means_, means)
    np.testing.assert_allclose(model.covariances_, precisions)
    assert (model.n_iter_, model.converged_, model.lower_bounds_) == (0, False, [])
    assert model.lower_bound_ == pytest.approx(model.score(X))
    drawn = GaussianMixture(2, max_iter=0, init_params="k-means++").fit(X)
    assert (drawn.predict(X[:60]) != drawn.predict(X[60:])).mean() > 0.9


def test_kmeans_has_one_algorithm_and_leaves_x_alone() -> None:
    before = X.copy()
    models = [
        KMeans(3, algorithm=algorithm, copy_x=copy_x).fit(X)  # type: ignore[arg-type]
        for algorithm in ("lloyd", "elkan")
        for copy_x in (True, False)
    ]
    np.testing.assert_array_equal(X, before)
    for model in models:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
    with pytest.raises(ValueError, match="does not match the number of clusters, n_clusters=3"):
        KMeans(3, init=X[:2]).fit(X)
    with pytest.raises(ValueError, match="number of features of the data, 2 columns"):
        KMeans(3, init=np.zeros((3, 4))).fit(X)
