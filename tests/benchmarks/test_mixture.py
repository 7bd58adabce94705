from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from benchmarks import harness, isolated, report, script, workloads
from benchmarks.mixture import data, flop_rate, peers, quality
from benchmarks.workloads.mixture import fit, predict
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees

FAMILY = [*fit.WORKLOADS, *predict.WORKLOADS]
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")
SMALL = data.Shape(n_columns=5, n_components=3, n_rows=400, quick_n_rows=400)
# With fewer rows the wide mixture has converged before its last iteration.
FEW_ROWS = {"mixture-wide": fit.WIDE.quick_n_rows, "mixture-missing": 1_000}


def make_small(covariance_type, missing=False):
    groups = {"only": data.GroupSpec(covariance_type)}
    return data.data_maker(data.clusters, SMALL, groups, missing)(3, SMALL.n_rows)["only"]


@pytest.fixture(scope="module")
def small():
    """Problems by covariance type and whether values are missing."""
    return {
        (kind, missing): make_small(kind, missing)
        for kind in COVARIANCE_TYPES
        for missing in (False, True)
    }


def initial_fit(problem):
    return peers.Fit(problem.weights, problem.means, problem.covariances, 0)


def matrices(covariance_type, covariances, k, d):
    """Return covariance matrices of any type, entry by entry."""
    entry = {
        "full": lambda j, a, b: covariances[j, a, b],
        "tied": lambda j, a, b: covariances[a, b],
        "diag": lambda j, a, b: covariances[j, a] if a == b else 0.0,
        "spherical": lambda j, a, b: covariances[j] if a == b else 0.0,
    }[covariance_type]
    return np.array([[[entry(j, a, b) for b in range(d)] for a in range(d)] for j in range(k)])


def naive_joint(X, covariance_type, weights, means, covariances):
    """Return log(weight * density of the observed values), one by one."""
    full = matrices(covariance_type, covariances, *means.shape)
    joint = np.empty((len(X), len(weights)))
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        for k, weight in enumerate(weights):
            normal = multivariate_normal(means[k, o], full[k][np.ix_(o, o)])
            joint[i, k] = math.log(weight) + normal.logpdf(row[o])
    return joint


def naive_iteration(problem):
    """Run one iteration of EM for full covariances."""
    X = problem.X
    joint = naive_joint(X, "full", problem.weights, problem.means, problem.covariances)
    responsibilities = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    totals = responsibilities.sum(axis=0)
    means = (responsibilities.T @ X) / totals[:, None]
    centered = X[:, None] - means
    moments = np.einsum("ik,ika,ikb->kab", responsibilities, centered, centered)
    return totals / len(X), means, moments / totals[:, None, None]


# Data


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_initial_parameters_have_their_shapes(covariance_type, small):
    problem = small[covariance_type, False]
    k, d = SMALL.n_components, SMALL.n_columns
    shapes = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}
    assert problem.covariances.shape == problem.precisions.shape == shapes[covariance_type]
    product = matrices(covariance_type, problem.covariances, k, d) @ matrices(
        covariance_type, problem.precisions, k, d
    )
    np.testing.assert_allclose(product, np.tile(np.eye(d), (k, 1, 1)), atol=1e-12)
    assert problem.weights.sum() == pytest.approx(1)
    assert len(np.unique(problem.means, axis=0)) == k


def test_groups_share_rows_and_means():
    groups = {kind: data.GroupSpec(kind) for kind in COVARIANCE_TYPES}
    groups["single"] = data.GroupSpec("full", "float32")
    make_data = data.data_maker(data.clusters, SMALL, groups)
    problems = make_data(5, 100)
    assert problems["full"].X is problems["diag"].X
    np.testing.assert_array_equal(problems["full"].X.astype(np.float32), problems["single"].X)
    for problem in problems.values():
        np.testing.assert_array_equal(problem.means, problems["full"].means)
    assert not np.array_equal(make_data(6, 100)["full"].X, problems["full"].X)


def test_a_tenth_of_the_same_rows_is_missing(small):
    complete, incomplete = small["full", False], small["full", True]
    observed = ~np.isnan(incomplete.X)
    assert 0.08 < 1 - observed.mean() < 0.12
    np.testing.assert_array_equal(incomplete.X[observed], complete.X[observed])
    np.testing.assert_array_equal(incomplete.means, complete.means)


@pytest.mark.parametrize("shape", [fit.MEDIUM, fit.NARROW, fit.WIDE], ids=str)
def test_em_still_improves_in_its_last_iteration(shape):
    groups = {"only": data.GroupSpec("full")}
    problem = data.data_maker(data.clusters, shape, groups)(0, shape.quick_n_rows)["only"]
    parameters = peers.fixed_parameters(problem, peers.N_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = GaussianMixture(shape.n_components, **parameters).fit(problem.X).lower_bounds_
    assert bounds[-1] - bounds[-2] > 1e-6 * abs(bounds[-1])


# Quality


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_likelihood_is_the_naive_one(covariance_type, missing, small, monkeypatch):
    monkeypatch.setattr(quality, "BLOCK", 150)
    problem = small[covariance_type, missing]
    parameters = initial_fit(problem)
    joint = naive_joint(problem.X, covariance_type, *parameters[:3])
    naive = logsumexp(joint, axis=1).mean()
    assert quality.mean_log_likelihood(parameters, problem) == pytest.approx(naive, rel=1e-12)


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_likelihood_detects_other_parameters(covariance_type, small):
    problem = small[covariance_type, False]
    right = initial_fit(problem)
    expected = quality.score_fit(right, problem)["log_likelihood"]
    for other in (
        right._replace(weights=np.array([0.34, 0.33, 0.33])),
        right._replace(means=right.means + 1e-4),
        right._replace(covariances=right.covariances * (1 + 1e-4)),
    ):
        changed = quality.score_fit(other, problem)["log_likelihood"]
        assert abs(changed - expected) > 1e-9 * abs(expected)


def test_exchanged_components_are_detected():
    posteriors = np.array([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]])
    metrics = quality.score_predictions(posteriors, None)
    assert metrics == {"mean": pytest.approx(1.575), "mean_square": pytest.approx(0.4575)}
    assert quality.score_predictions(posteriors[:, ::-1], None)["mean"] != pytest.approx(1.575)
    metrics = quality.score_predictions(np.array([-1.0, -3.0]), None)
    assert metrics == {"mean": -2.0, "mean_square": 5.0}


# Peers


@pytest.mark.parametrize("peer", ["ceiba", "scikit-learn", "oneDAL"])
def test_all_start_from_the_given_parameters(peer, small, monkeypatch):
    if peer == "oneDAL":
        pytest.importorskip("daal4py")
    monkeypatch.setattr(peers, "N_ITERATIONS", 1)
    problem = small["full", False]
    run = peers.onedal if peer == "oneDAL" else peers.from_given(peer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run(problem)
    assert result.n_iterations == 1
    for actual, naive in zip(result[:3], naive_iteration(problem), strict=True):
        np.testing.assert_allclose(actual, naive, rtol=1e-9, atol=1e-12)


def test_missing_values_are_imputed_by_means(small):
    problem = small["diag", True]
    imputed = problem.X.copy()
    for column in imputed.T:
        column[np.isnan(column)] = np.nanmean(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = peers.with_mean_imputation(problem)
        expected = peers.from_given("scikit-learn")(replace(problem, X=imputed))
    np.testing.assert_allclose(result.means, expected.means, rtol=1e-10)


# Workloads


LARGE = [
    replace(each, quick_n_rows=FEW_ROWS.get(each.name, 2_000))
    for each in FAMILY
    if each.n_rows > 150
]


@pytest.mark.parametrize("workload", LARGE, ids=lambda each: each.name)
def test_work_is_equal(workload):
    assert_quick_run_agrees(workload)


@pytest.mark.parametrize(
    "workload", [fit.iris_given(2), fit.iris_default(3)], ids=["given", "default"]
)
def test_work_on_iris_is_equal(workload):
    assert_quick_run_agrees(workload, rounds=1)


def test_mixtures_are_not_fitted_in_the_timed_part(monkeypatch):
    workload = predict.workload(SMALL)
    prediction_data = workload.make_data(0, 2_000)["predict_proba"]
    monkeypatch.setattr(GaussianMixture, "fit", None)
    posteriors = workload.find("scikit-learn", "predict_proba").run(prediction_data)
    assert posteriors.shape == (2_000, SMALL.n_components)


@pytest.mark.parametrize("label", ["ceiba", "scikit-learn"])
def test_peak_memory_is_measured(label):
    workload = workloads.get("mixture-diag")
    increase = isolated.peak_memory(workload, workload.find(label, "float64"), 0, quick=True)
    assert 0 <= increase < 500_000_000


def test_names_are_unique_and_of_the_family():
    names = [each.name for each in FAMILY]
    assert len(set(names)) == len(names)
    assert sorted(each.name for each in workloads.select(["mixture"])) == sorted(names)
    assert len(workloads.select(["mixture-iris"])) == 2


def test_groups_have_peers():
    assert_groups_have_peers(FAMILY)


# Floating-point rate


def test_operations_are_those_of_the_loops():
    counted, n_columns, k = 0, 4, 2
    for iteration in range(4):
        for _ in range(3 * k):
            counted += 1  # the exponential
            counted += sum(2 for i in range(n_columns) for _ in range(i + 1))
            if iteration < 3:
                counted += sum(2 for i in range(n_columns) for _ in range(i, n_columns))
    assert flop_rate.em_operations(n_rows=3, n_columns=4, n_components=2, n_iterations=3) == counted


@pytest.fixture
def known_rates(monkeypatch, tmp_path):
    """Make products run at 100e9 and fits at 25e9 operations per second."""
    now = 0.0

    def work(label, n_operations, speed):
        def run():
            nonlocal now
            now += n_operations / speed

        return flop_rate.Rate(label, n_operations, run)

    monkeypatch.setattr(harness, "perf_counter", lambda: now)
    monkeypatch.setattr(harness, "settle", lambda: None)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(flop_rate, "matrix_product", lambda *_: work("dgemm", 10**9, 100e9))
    monkeypatch.setattr(flop_rate, "ceiba_fit", lambda *_: work("ceiba", 10**10, 25e9))
    return tmp_path


def test_rates_are_operations_by_seconds(known_rates, capsys):
    assert flop_rate.main([]) == 0
    text = (known_rates / "mixture-flop-rate.json").read_text("utf-8")
    peak, ours = json.loads(text)["rates"]
    assert (peak["gflops"], ours["gflops"]) == (pytest.approx(100), pytest.approx(25))
    assert len(ours["seconds"]) == script.MIN_ROUNDS
    assert "25%" in capsys.readouterr().out


def test_too_few_rounds_are_rejected(known_rates, capsys):
    with pytest.raises(SystemExit):
        flop_rate.main(["--rounds", "2"])
    assert "--rounds must be at least 5" in capsys.readouterr().err


def test_product_and_fit_are_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert flop_rate.main(["--quick", "--rounds", "1"]) == 0
    assert "5,000 x 16, 8 components, 20 iterations" in capsys.readouterr().out
    assert (tmp_path / "mixture-flop-rate-quick.json").exists()
