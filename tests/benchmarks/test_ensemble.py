from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

import ceiba
from benchmarks import harness, report, workloads
from benchmarks.ensemble import peers
from benchmarks.forest.data import normal_table
from benchmarks.workload import Check, Implementation, Workload
from benchmarks.workloads import adaboost
from tests.benchmarks.helpers import assert_quick_run_agrees


@pytest.fixture(scope="module")
def sample():
    return adaboost.make_data(0, 300)[adaboost.GROUP]


@pytest.fixture(scope="module")
def rows():
    return normal_table("classification", 0, 200)


@pytest.mark.parametrize("name", ["adaboost-stumps", "bagging-trees"])
def test_work_is_equal(name):
    assert_quick_run_agrees(workloads.get(name))


def test_exact_stumps_equal_those_of_sklearn(sample):
    ours, theirs = (peers.adaboost(library, 10)(sample) for library in ("ceiba", "scikit-learn"))
    errors = [each.model.estimator_errors_ for each in (ours, theirs)]
    np.testing.assert_allclose(*errors, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(sample.test.X), theirs.predict(sample.test.X))


def test_stumps_are_counted(sample):
    ensemble = peers.adaboost("scikit-learn", 7)(sample)
    assert isinstance(ensemble.model, AdaBoostClassifier)
    assert adaboost.quality(ensemble, sample)["stumps"] == 7.0


@pytest.mark.parametrize("trees", ["ceiba", "scikit-learn"])
def test_base_estimators_are_of_the_given_library(trees, rows):
    ensemble = peers.bagging("ceiba", trees, 3)(rows)
    assert isinstance(ensemble.model, ceiba.BaggingClassifier)
    modules = [type(each).__module__.partition(".")[0] for each in ensemble.model.estimators_]
    assert modules == [peers.TOP_LEVEL[trees]] * 3
    assert ensemble.predict(rows.test.X).shape == (len(rows.test.y), 5)


def test_threads_and_processes_give_equal_predictions(rows):
    predictions = [
        peers.bagging("scikit-learn", "scikit-learn", 3, backend)(rows).predict(rows.test.X)
        for backend in (None, "threading")
    ]
    np.testing.assert_array_equal(*predictions)


# Two of ours in one group


def toy(seconds):
    """Return a workload with two of ours and a peer, whose runs take these seconds."""
    return Workload(
        name="toy",
        title="a toy",
        make_data=lambda seed, n_rows: {"all": None},
        implementations=tuple(
            Implementation(label, lambda data, label=label: seconds[label], "all", "ours" in label)
            for label in seconds
        ),
        quality=lambda result, data: {"score": 0.6 - result / 1_000},
        checks=(Check("score", 0.003, "at least", relative=False),),
        quick_checks=(Check("score", 0.1, "at least", relative=False),),
        n_rows=10,
        quick_n_rows=2,
    )


@pytest.fixture
def clock(monkeypatch):
    """Make every run take the seconds that it returns."""
    monkeypatch.setattr(harness, "time_call", lambda call, data: (call(data), None))


@pytest.mark.usefixtures("clock")
def test_ratios_refer_to_the_first_of_ours():
    comparison = harness.run(toy({"ours": 2.0, "ours binned": 1.0, "peer": 3.0}), rounds=2)
    assert [comparison.relative_time(each) for each in comparison.results] == [1.0, 0.5, 1.5]
    fastest = comparison.fastest_peer("all")
    assert fastest is not None
    assert fastest.implementation.label == "peer"
    assert "time / ours" in report.table(comparison)


@pytest.mark.usefixtures("clock")
def test_each_of_ours_must_pass():
    workload = toy({"ours": 2.0, "ours binned": 9.0, "peer": 3.0})
    comparison = harness.run(workload, rounds=1)
    statuses = [each.status for each in comparison.results]
    assert [status[:7] for status in statuses] == ["equal", "differs", "referen"]
    assert not comparison.passed
    assert "0.003 absolute" in statuses[1]
    assert harness.run(workload, rounds=1, quick=True).passed, "quick checks allow more"
