from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from threadpoolctl import threadpool_limits

import ceiba
from benchmarks import boost_peers, forest_data, harness, machine, report, workload, workloads

adaboost, bagging = (
    import_module(f"benchmarks.workloads.{name}") for name in ("adaboost", "bagging")
)
Check, Contestant, Workload = workload.Check, workload.Contestant, workload.Workload


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small work on several spinning pools of threads takes long on a busy machine."""
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def sample():
    return adaboost.data(0, 300)[adaboost.GROUP]


@pytest.mark.parametrize("name", ["adaboost-stumps", "bagging-trees"])
def test_everyone_does_equal_work(name):
    outcome = harness.run(workloads.found(name), rounds=0, quick=True)
    told = {(row.contestant.group, row.contestant.label): row.verdict for row in outcome.rows}
    assert set(told.values()) <= {"reference", "equal"}, told


def test_exact_stumps_are_the_same_ones(sample):
    ours, theirs = (
        boost_peers.adaboost(library, 10)(sample) for library in ("ceiba", "scikit-learn")
    )
    np.testing.assert_allclose(
        ours.model.estimator_errors_, theirs.model.estimator_errors_, rtol=1e-6
    )
    np.testing.assert_array_equal(ours.answer(sample.new.X), theirs.answer(sample.new.X))


def test_rounds_are_counted(sample):
    committee = boost_peers.adaboost("scikit-learn", 7)(sample)
    assert isinstance(committee.model, AdaBoostClassifier)
    assert adaboost.quality(committee, sample)["stumps"] == 7.0


@pytest.mark.parametrize("trees", ["ceiba", "scikit-learn"])
def test_members_are_whose_they_should_be(trees):
    rows = forest_data.normal("classes", 0, 200)
    committee = boost_peers.bagging("ceiba", trees, 3)(rows)
    assert isinstance(committee.model, ceiba.BaggingClassifier)
    assert len(committee.model.estimators_) == 3
    made = {type(member).__module__.partition(".")[0] for member in committee.model.estimators_}
    assert made == {boost_peers.NEEDS[trees]}
    assert committee.answer(rows.new.X).shape == (len(rows.new.y), 5)


def test_threads_bag_the_same_trees():
    rows = forest_data.normal("classes", 0, 200)
    answers = [
        boost_peers.bagging("scikit-learn", "scikit-learn", 3, backend)(rows).answer(rows.new.X)
        for backend in (None, "threading")
    ]
    np.testing.assert_array_equal(*answers)


# What these workloads ask of the harness


def two_of_ours(seconds):
    """A workload with two of ours and a peer, whose runs take these seconds."""
    return Workload(
        name="toy",
        title="a toy",
        data=lambda seed, rows: {"all": None},
        contestants=tuple(
            Contestant(label, lambda data, label=label: seconds[label], "all", "ours" in label)
            for label in seconds
        ),
        quality=lambda result, data: {"score": 0.6 - result / 1_000},
        checks=(Check("score", 0.003, "no less", relative=False),),
        quick_checks=(Check("score", 0.1, "no less", relative=False),),
        rows=10,
        quick_rows=2,
    )


@pytest.fixture
def clock(monkeypatch):
    """Every run takes what it returns."""
    monkeypatch.setattr(harness, "timed", lambda call, data: (call(data), None))


@pytest.mark.usefixtures("clock")
def test_ratios_are_told_from_the_first_of_ours():
    outcome = harness.run(two_of_ours({"ours": 2.0, "ours binned": 1.0, "peer": 3.0}), rounds=2)
    assert [outcome.times_faster(row) for row in outcome.rows] == [1.0, 0.5, 1.5]
    fastest = outcome.fastest_peer("all")
    assert fastest is not None
    assert fastest.contestant.label == "peer"
    assert "ours = 1.00" in report.table(outcome)


@pytest.mark.usefixtures("clock")
def test_one_of_ours_that_differs_is_enough():
    seconds = {"ours": 2.0, "ours binned": 9.0, "peer": 3.0}
    outcome = harness.run(two_of_ours(seconds), rounds=1)
    assert [row.verdict[:7] for row in outcome.rows] == ["equal", "differs", "referen"]
    assert not outcome.good
    assert "0.003 absolute" in outcome.rows[1].verdict
    assert harness.run(two_of_ours(seconds), rounds=1, quick=True).good, "quick allows more"
