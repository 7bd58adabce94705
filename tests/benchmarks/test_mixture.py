from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks import (
    alone,
    harness,
    machine,
    mixture_data,
    mixture_judge,
    mixture_peers,
    mixture_rate,
    report,
    workloads,
)

mixture = import_module("benchmarks.workloads.mixture")
predict = import_module("benchmarks.workloads.mixture_predict")
FAMILY = [*mixture.WORKLOADS, *predict.WORKLOADS]
FORMS = ("full", "tied", "diag", "spherical")
SMALL = mixture_data.Shape(columns=5, k=3, rows=400, quick_rows=400)
# Below that many rows the wide mixture has converged before its last step.
FEW_ROWS = {"mixture-wide": mixture.WIDE.quick_rows, "mixture-gaps": 1_000}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small work on several spinning pools of threads takes long on a busy machine."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
    with threadpool_limits(1):
        yield


def small(form, gaps=False, dtype="float64"):
    kinds = {"only": mixture_data.Kind(form, dtype)}
    return mixture_data.started(mixture_data.groups, SMALL, kinds, gaps)(3, SMALL.rows)["only"]


def at_start(start):
    return mixture_peers.Fit(start.weights, start.means, start.covariances, 0)


def matrices(form, covariances, k, d):
    """Covariance matrices of any form, entry by entry."""
    at = {
        "full": lambda j, a, b: covariances[j, a, b],
        "tied": lambda j, a, b: covariances[a, b],
        "diag": lambda j, a, b: covariances[j, a] if a == b else 0.0,
        "spherical": lambda j, a, b: covariances[j] if a == b else 0.0,
    }[form]
    return np.array([[[at(j, a, b) for b in range(d)] for a in range(d)] for j in range(k)])


def naive_joint(X, form, weights, means, covariances):
    """Log of weight times density of what is there, row by row and component by component."""
    full = matrices(form, covariances, *means.shape)
    joint = np.empty((len(X), len(weights)))
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        for k, weight in enumerate(weights):
            normal = multivariate_normal(means[k, o], full[k][np.ix_(o, o)])
            joint[i, k] = math.log(weight) + normal.logpdf(row[o])
    return joint


def naive_step(start):
    """One step of EM for full covariances."""
    joint = naive_joint(start.X, "full", start.weights, start.means, start.covariances)
    shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    counts = shares.sum(axis=0)
    means = (shares.T @ start.X) / counts[:, None]
    gaps = start.X[:, None] - means
    covariances = np.einsum("ik,ika,ikb->kab", shares, gaps, gaps) / counts[:, None, None]
    return counts / len(start.X), means, covariances


# Data


@pytest.mark.parametrize("form", FORMS)
def test_start_has_the_shapes_of_its_form(form):
    start = small(form)
    k, d = SMALL.k, SMALL.columns
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    assert start.covariances.shape == start.precisions.shape == shapes[form]
    one = matrices(form, start.covariances, k, d) @ matrices(form, start.precisions, k, d)
    np.testing.assert_allclose(one, np.tile(np.eye(d), (k, 1, 1)), atol=1e-12)
    assert start.weights.sum() == pytest.approx(1)
    assert len(np.unique(start.means, axis=0)) == k


def test_groups_share_rows_and_starts():
    kinds = {form: mixture_data.Kind(form) for form in FORMS}
    kinds["single"] = mixture_data.Kind("full", "float32")
    data = mixture_data.started(mixture_data.groups, SMALL, kinds)(5, 100)
    assert data["full"].X is data["diag"].X
    np.testing.assert_array_equal(data["full"].X.astype(np.float32), data["single"].X)
    for start in data.values():
        np.testing.assert_array_equal(start.means, data["full"].means)
    other = mixture_data.started(mixture_data.groups, SMALL, kinds)(6, 100)
    assert not np.array_equal(other["full"].X, data["full"].X)


def test_gaps_are_a_tenth_of_the_same_rows():
    whole, holed = small("full"), small("full", gaps=True)
    there = ~np.isnan(holed.X)
    assert 0.08 < 1 - there.mean() < 0.12
    np.testing.assert_array_equal(holed.X[there], whole.X[there])
    np.testing.assert_array_equal(holed.means, whole.means)


@pytest.mark.parametrize("shape", [mixture.MIDDLE, mixture.NARROW, mixture.WIDE], ids=str)
def test_em_still_moves_in_its_last_step(shape):
    kinds = {"only": mixture_data.Kind("full")}
    start = mixture_data.started(mixture_data.groups, shape, kinds)(0, shape.quick_rows)["only"]
    settings = mixture_peers.given(start, mixture_peers.ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = GaussianMixture(shape.k, **settings).fit(start.X).lower_bounds_
    assert bounds[-1] - bounds[-2] > 1e-6 * abs(bounds[-1])


# Judge


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("form", FORMS)
def test_likelihood_is_the_naive_one(form, gaps, monkeypatch):
    monkeypatch.setattr(mixture_judge, "BLOCK", 150)
    start = small(form, gaps)
    fit = at_start(start)
    naive = logsumexp(naive_joint(start.X, form, *fit[:3]), axis=1).mean()
    assert mixture_judge.mean_log_likelihood(fit, start) == pytest.approx(naive, rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_other_parameters_are_told_apart(form):
    start = small(form)
    right = at_start(start)
    told = mixture_judge.of_fit(right, start)["log_likelihood"]
    for other in (
        right._replace(weights=np.array([0.34, 0.33, 0.33])),
        right._replace(means=right.means + 1e-4),
        right._replace(covariances=right.covariances * (1 + 1e-4)),
    ):
        changed = mixture_judge.of_fit(other, start)["log_likelihood"]
        assert abs(changed - told) > 1e-9 * abs(told)


def test_answers_in_another_order_are_told_apart():
    posteriors = np.array([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]])
    told = mixture_judge.of_answers(posteriors, None)
    assert told == {"mean": pytest.approx(1.575), "mean_square": pytest.approx(0.4575)}
    assert mixture_judge.of_answers(posteriors[:, ::-1], None)["mean"] != pytest.approx(1.575)
    scores = mixture_judge.of_answers(np.array([-1.0, -3.0]), None)
    assert scores == {"mean": -2.0, "mean_square": 5.0}


# Peers


@pytest.mark.parametrize("peer", ["ceiba", "scikit-learn", "oneDAL"])
def test_everyone_begins_with_the_given_parameters(peer, monkeypatch):
    if peer == "oneDAL":
        pytest.importorskip("daal4py")
    monkeypatch.setattr(mixture_peers, "ITERATIONS", 1)
    start = small("full")
    run = mixture_peers.onedal if peer == "oneDAL" else mixture_peers.from_start(peer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = run(start)
    assert fit.iterations == 1
    for found, naive in zip(fit[:3], naive_step(start), strict=True):
        np.testing.assert_allclose(found, naive, rtol=1e-9, atol=1e-12)


def test_filled_gaps_are_means():
    start = small("diag", gaps=True)
    by_hand = start.X.copy()
    for column in by_hand.T:
        column[np.isnan(column)] = np.nanmean(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mixture_peers.with_means_for_gaps(start)
        filled = mixture_peers.from_start("scikit-learn")(replace(start, X=by_hand))
    np.testing.assert_allclose(found.means, filled.means, rtol=1e-10)


# Workloads


def equal_work(outcome):
    told = {(row.contestant.group, row.contestant.label): row.verdict for row in outcome.rows}
    assert set(told.values()) <= {"reference", "equal", "not installed"}, told
    return outcome.good


def quick(workload):
    """As small as its components allow."""
    return replace(workload, quick_rows=FEW_ROWS.get(workload.name, 2_000))


LARGE = [quick(each) for each in FAMILY if each.rows > 150]


@pytest.mark.parametrize("workload", LARGE, ids=lambda each: each.name)
def test_everyone_does_equal_work(workload):
    # No round: the warm-up alone is judged, and nothing here is about time.
    assert equal_work(harness.run(workload, rounds=0, quick=True))


@pytest.mark.parametrize(
    "workload", [mixture.iris_given(2), mixture.iris_default(3)], ids=["given", "default"]
)
def test_iris_does_equal_work(workload):
    assert equal_work(harness.run(workload, rounds=1, quick=True))


def test_mixtures_are_not_fitted_in_the_timed_part(monkeypatch):
    workload = predict.predicting(SMALL)
    data = workload.data(0, 2_000)
    monkeypatch.setattr(GaussianMixture, "fit", None)
    asked = data["predict_proba"]
    posteriors = workload.contestant("scikit-learn", "predict_proba").run(asked)
    assert posteriors.shape == (2_000, SMALL.k)


@pytest.mark.parametrize("label", ["ceiba", "scikit-learn"])
def test_contestants_can_be_weighed_alone(label):
    workload = workloads.found("mixture-diag")
    raised = alone.memory(workload, workload.contestant(label, "float64"), 0, quick=True)
    assert 0 <= raised < 500_000_000


def test_registered_names_are_unique_and_of_the_family():
    names = [each.name for each in FAMILY]
    assert len(set(names)) == len(names)
    assert sorted(each.name for each in workloads.chosen(["mixture"])) == sorted(names)
    assert len(workloads.chosen(["mixture-iris"])) == 2


def test_every_group_has_ours_and_a_reference():
    for workload in FAMILY:
        groups = {each.group for each in workload.contestants}
        for group in groups:
            ours = [each.ours for each in workload.contestants if each.group == group]
            assert ours.count(True) == 1, (workload.name, group)
            assert ours.count(False) >= 1, (workload.name, group)


# Rate


def test_operations_are_those_of_the_loops():
    counted, columns, k = 0, 4, 2
    for step in range(4):
        for _ in range(3 * k):
            counted += 1  # the exponential
            counted += sum(2 for i in range(columns) for _ in range(i + 1))
            if step < 3:
                counted += sum(2 for i in range(columns) for _ in range(i, columns))
    assert mixture_rate.em_operations(rows=3, columns=4, k=2, iterations=3) == counted


@pytest.fixture
def by_the_clock(monkeypatch, tmp_path):
    """Products of 100e9 and fits of 25e9 operations a second."""
    now = 0.0

    def work(label, operations, speed):
        def run():
            nonlocal now
            now += operations / speed

        return mixture_rate.Rate(label, operations, run)

    monkeypatch.setattr(harness, "perf_counter", lambda: now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(mixture_rate, "matrix_product", lambda *_: work("dgemm", 10**9, 100e9))
    monkeypatch.setattr(mixture_rate, "our_fit", lambda *_: work("ceiba", 10**10, 25e9))
    return tmp_path


def test_rates_are_operations_by_seconds(by_the_clock, capsys):
    assert mixture_rate.main([]) == 0
    peak, ours = json.loads((by_the_clock / "mixture-rate.json").read_text("utf-8"))["rates"]
    assert (peak["gflops"], ours["gflops"]) == (pytest.approx(100), pytest.approx(25))
    assert len(ours["seconds"]) == mixture_rate.FEWEST_ROUNDS
    assert "25%" in capsys.readouterr().out


def test_few_rounds_are_no_measurement(by_the_clock, capsys):
    with pytest.raises(SystemExit):
        mixture_rate.main(["--rounds", "2"])
    assert "at least 5 rounds" in capsys.readouterr().err


def test_product_and_fit_are_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert mixture_rate.main(["--quick", "--rounds", "1"]) == 0
    out = capsys.readouterr().out
    assert "5,000 x 16, 8 components, 20 iterations" in out
    assert (tmp_path / "mixture-rate-quick.json").exists()
