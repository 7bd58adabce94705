from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from benchmarks import harness, workloads

kmeans = import_module("benchmarks.workloads.kmeans")
ROWS = 400


@pytest.fixture(autouse=True)
def one_thread():
    """Small work on several spinning pools of threads takes long on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def start():
    return kmeans.started(kmeans.groups, 5, 6, ("float64",))(3, ROWS)["float64"]


def naive_labels(X, centres):
    return np.array([np.argmin([np.sum((x - c) ** 2) for c in centres]) for x in X])


def naive_cost(X, centres, labels):
    return sum(float(np.sum((x - centres[j]) ** 2)) for x, j in zip(X, labels, strict=True))


def test_cost_is_the_naive_sum(start):
    labels = naive_labels(start.X, start.centres)
    told = kmeans.cost(start, start.centres, labels)
    assert told == pytest.approx(naive_cost(start.X, start.centres, labels), rel=1e-12)


def test_wrong_labels_cost_more(start):
    labels = naive_labels(start.X, start.centres)
    wrong = (labels + 1) % len(start.centres)
    right_cost = kmeans.cost(start, start.centres, labels)
    assert kmeans.cost(start, start.centres, wrong) > 1.01 * right_cost


def test_bare_seeds_are_given_one_step(start):
    bare = kmeans.plusplus(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stepped = KMeans(len(start.centres), init=bare.centres, n_init=1, max_iter=1).fit(start.X)
    told = kmeans.seed_quality(bare, start)["inertia"]
    assert told == pytest.approx(stepped.inertia_, rel=1e-9)


def test_faiss_begins_with_the_given_centres(monkeypatch):
    pytest.importorskip("faiss")
    start = kmeans.started(kmeans.groups, 5, 6, ("float32",))(3, ROWS)["float32"]
    monkeypatch.setattr(kmeans, "ITERATIONS", 1)
    fit = kmeans.faiss_fit(start)
    labels = naive_labels(start.X, start.centres)
    means = [start.X[labels == j].mean(axis=0) for j in range(len(start.centres))]
    np.testing.assert_allclose(fit.centres, means, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(fit.labels, naive_labels(start.X, fit.centres))
    assert fit.iterations == 1


def test_data_share_rows_and_starts_between_dtypes():
    data = kmeans.started(kmeans.noise, 4, 3, ("float64", "float32"))(5, 50)
    double, single = data["float64"], data["float32"]
    assert (double.X.dtype, single.X.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(double.X.astype(np.float32), single.X)
    assert all(np.equal(double.X, centre).all(axis=1).any() for centre in double.centres)


@pytest.mark.parametrize("make", [kmeans.groups, kmeans.noise])
def test_everyone_runs_the_same_iterations(make, monkeypatch):
    monkeypatch.setattr(kmeans, "ITERATIONS", 6)
    outcome = harness.run(
        replace(kmeans.long_fit("toy", make, "toy"), quick_rows=4_000), rounds=1, quick=True
    )
    assert equal_work(outcome)
    assert {row.quality["iterations"] for row in outcome.rows if row.ran} == {6.0}


@pytest.mark.parametrize(("make", "rows", "k"), [(kmeans.groups, 300, 4), (kmeans.iris, 150, 3)])
def test_whole_calls_do_equal_work(make, rows, k):
    assert equal_work(harness.run(kmeans.short_given("toy", make, rows, k, calls=2), rounds=1))


def equal_work(outcome):
    told = {(row.contestant.group, row.contestant.label): row.verdict for row in outcome.rows}
    assert set(told.values()) <= {"reference", "equal", "not installed"}, told
    return outcome.good


@pytest.mark.parametrize(
    "workload",
    [
        replace(workloads.found("kmeans-seeding"), quick_rows=4_000),
        kmeans.short_seeded("toy", kmeans.iris, 150, 3, calls=3),
    ],
    ids=["seeding", "iris"],
)
def test_from_seeds_everyone_runs(workload):
    outcome = harness.run(workload, rounds=1, quick=True)
    verdicts = {row.contestant.label: row.verdict for row in outcome.rows}
    assert not [v for v in verdicts.values() if v.startswith("failed")], verdicts
    assert all(np.isfinite(row.quality["inertia"]) for row in outcome.rows if row.ran)


def test_registered_names_are_unique_and_of_the_family():
    names = [each.name for each in kmeans.WORKLOADS]
    assert len(set(names)) == len(names)
    assert [each.name for each in workloads.chosen(["kmeans"])] == names
    with pytest.raises(LookupError, match="kmeans-groups"):
        workloads.chosen(["kmean"])
