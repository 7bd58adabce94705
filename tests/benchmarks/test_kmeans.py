from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

from benchmarks import harness, workloads
from benchmarks.kmeans import data, peers, quality
from benchmarks.workloads import kmeans
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees

N_ROWS = 400


@pytest.fixture(scope="module")
def problem():
    return data.data_maker(data.blobs, 5, 6, ("float64",))(3, N_ROWS)["float64"]


@pytest.fixture(scope="module")
def labels(problem):
    return naive_labels(problem.X, problem.centers)


def naive_labels(X, centers):
    return np.array([np.argmin([np.sum((x - c) ** 2) for c in centers]) for x in X])


def naive_inertia(X, centers, labels):
    return sum(float(np.sum((x - centers[j]) ** 2)) for x, j in zip(X, labels, strict=True))


def test_inertia_is_the_naive_sum(problem, labels):
    naive = naive_inertia(problem.X, problem.centers, labels)
    assert quality.inertia(problem, problem.centers, labels) == pytest.approx(naive, rel=1e-12)


def test_wrong_labels_have_more_inertia(problem, labels):
    wrong = (labels + 1) % len(problem.centers)
    right = quality.inertia(problem, problem.centers, labels)
    assert quality.inertia(problem, problem.centers, wrong) > 1.01 * right


def test_seeds_alone_are_scored_after_one_iteration(problem):
    seeds = peers.sklearn_seeding(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KMeans(len(problem.centers), init=seeds.centers, n_init=1, max_iter=1)
        inertia = model.fit(problem.X).inertia_
    assert quality.score_seeding(seeds, problem)["inertia"] == pytest.approx(inertia, rel=1e-9)


def test_faiss_starts_from_the_given_centers(monkeypatch):
    pytest.importorskip("faiss")
    problem = data.data_maker(data.blobs, 5, 6, ("float32",))(3, N_ROWS)["float32"]
    monkeypatch.setattr(peers, "N_ITERATIONS", 1)
    fit = peers.faiss_fit(problem)
    labels = naive_labels(problem.X, problem.centers)
    means = [problem.X[labels == j].mean(axis=0) for j in range(len(problem.centers))]
    np.testing.assert_allclose(fit.centers, means, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(fit.labels, naive_labels(problem.X, fit.centers))
    assert fit.n_iterations == 1


def test_dtypes_share_rows_and_centers():
    problems = data.data_maker(data.noise, 4, 3, ("float64", "float32"))(5, 50)
    double, single = problems["float64"], problems["float32"]
    assert (double.X.dtype, single.X.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(double.X.astype(np.float32), single.X)
    assert all(np.equal(double.X, center).all(axis=1).any() for center in double.centers)


@pytest.mark.parametrize("make_table", [data.blobs, data.noise])
def test_all_run_the_same_iterations(make_table, monkeypatch):
    monkeypatch.setattr(peers, "N_ITERATIONS", 6)
    workload = replace(kmeans.long_fit("toy", make_table, "toy"), quick_n_rows=4_000)
    comparison = assert_quick_run_agrees(workload)
    assert {each.metrics["iterations"] for each in comparison.results if each.ran} == {6.0}


@pytest.mark.parametrize(
    ("make_table", "n_rows", "n_clusters"), [(data.blobs, 300, 4), (data.iris, 150, 3)]
)
def test_whole_calls_do_equal_work(make_table, n_rows, n_clusters):
    assert_quick_run_agrees(kmeans.small_given("toy", make_table, n_rows, n_clusters, n_calls=2))


@pytest.mark.parametrize(
    "workload",
    [
        replace(kmeans.seeding(), quick_n_rows=4_000),
        kmeans.small_seeded("toy", data.iris, 150, 3, n_calls=3),
    ],
    ids=["seeding", "iris"],
)
def test_all_run_from_plusplus(workload):
    comparison = harness.run(workload, rounds=1, quick=True)
    statuses = [each.status for each in comparison.results]
    assert not [status for status in statuses if status.startswith("failed")], statuses
    assert all(np.isfinite(each.metrics["inertia"]) for each in comparison.results if each.ran)


def test_names_are_unique_and_of_the_family():
    names = [each.name for each in kmeans.WORKLOADS]
    assert len(set(names)) == len(names)
    assert [each.name for each in workloads.select(["kmeans"])] == names
    with pytest.raises(LookupError, match="kmeans-blobs"):
        workloads.select(["kmean"])


def test_groups_have_peers():
    assert_groups_have_peers(kmeans.WORKLOADS)
