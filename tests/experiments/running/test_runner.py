"""Where units run: threads, processes of their own, a Dask cluster; what progress shows."""

from __future__ import annotations

import io
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
from ceiba.base import progress as base_progress
from ceiba.experiments import Journal, compare, summarize
from ceiba.experiments.running.progress import TimeLeft, format_left

LEARNERS = {"tree": DecisionTreeClassifier(max_depth=2), "naive Bayes": NaiveBayesClassifier()}


class Crash(ClassifierMixin, BaseEstimator):
    """Kills its own process."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Chatter(ClassifierMixin, BaseEstimator):
    """Prints, and takes memory."""

    def fit(self, X, y):
        print("fitting")
        os.write(1, b"from native code\n")
        self.classes_ = np.unique(y)
        self.size_ = np.ones(30_000_000).sum()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def table_of(results):
    """Everything but seconds and memory."""
    return [
        (
            fold.unit.dataset.name,
            fold.unit.learner.name,
            fold.unit.fold,
            fold.result.test.tolist(),
            fold.result.predictions.tolist(),
            fold.result.probabilities.tolist(),
        )
        for fold in results.folds
    ]


def test_units_give_the_same_results_wherever_they_run():
    expected = compare(LEARNERS, "iris", protocol="holdout 0.3", n_jobs=1)
    threads = compare(LEARNERS, "iris", protocol="holdout 0.3", n_jobs=2)
    isolated = compare(LEARNERS, "iris", protocol="holdout 0.3", isolate=True)
    assert table_of(threads) == table_of(isolated) == table_of(expected)
    assert all(fold.result.peak_memory is None for fold in expected.folds)
    assert all(fold.result.peak_memory > 20e6 for fold in isolated.folds)


def test_a_learner_that_crashes_its_process_has_failed_and_the_rest_goes_on():
    learners = {"crash": Crash(), "chatter": Chatter()}
    results = compare(learners, "iris", protocol="holdout 0.3", isolate=True)
    crash, chatter = (fold.result for fold in results.folds)
    assert crash.error == "ProcessError: the process of the unit ended with signal 9"
    assert chatter.error is None
    assert chatter.peak_memory > 240e6
    assert "failed" in str(summarize(results))


@pytest.mark.dask
def test_units_run_on_a_dask_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        path = tmp_path / "journal.db"
        results = compare(LEARNERS, "iris", protocol="3-fold", client=client, journal=path)
    assert table_of(results) == table_of(compare(LEARNERS, "iris", protocol="3-fold"))
    with Journal(path) as journal:
        assert len(journal) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": "tcp://nowhere"}, r"client must be a dask\.distributed\.Client or None, got"),
        ({"client": SimpleNamespace(scatter=1), "isolate": True}, "isolate=True has no effect"),
        ({"client": SimpleNamespace(scatter=1), "n_jobs": 2}, "n_jobs has no effect"),
        ({"progress": "yes"}, "progress must be True, False, None or a function, got 'yes'"),
    ],
)
def test_options_that_do_not_apply_raise(options, message):
    with pytest.raises(ValueError, match=message):
        compare(LEARNERS, "iris", protocol="2-fold", **options)


def test_equal_learners_are_computed_once():
    learners = {"one": DecisionTreeClassifier(), "same": DecisionTreeClassifier()}
    results = compare(learners, "iris", protocol="2-fold")
    assert results.record["n_computed"] == results.record["n_units"] == 2
    assert len(results.folds) == 4


def test_progress_may_be_a_function():
    seen = []
    compare(LEARNERS, "iris", protocol="2-fold", progress=lambda *state: seen.append(state))
    assert [state[:2] for state in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert seen[-1][2] == 0.0
    assert all(left > 0 for _, _, left in seen[:-1])


def test_progress_prints_lines_without_a_terminal(capsys):
    compare(LEARNERS, "iris", protocol="10-fold", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("2 of 20 units, ")
    assert lines[-1].startswith("20 of 20 units")
    compare(LEARNERS, "iris", protocol="10-fold")
    assert capsys.readouterr().err == ""


def test_progress_is_a_line_in_a_terminal(monkeypatch):
    class FakeTerminal(io.StringIO):
        def isatty(self):
            return True

    stream = FakeTerminal()
    monkeypatch.setattr(base_progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("CEIBA_PROGRESS", raising=False)
    compare(LEARNERS, "iris", protocol="2-fold")
    assert stream.getvalue() == ""  # it takes less than two seconds
    compare(LEARNERS, "iris", protocol="2-fold", progress=True)
    assert "4/4" in stream.getvalue()
    assert "left" in stream.getvalue()
    assert not base_progress.ProgressLine.shown


def test_the_time_left_is_by_learner_and_dataset():
    def unit(dataset, learner):
        return SimpleNamespace(
            dataset=SimpleNamespace(name=dataset), learner=SimpleNamespace(name=learner)
        )

    units = [unit(d, m) for d in "ab" for m in ("fast", "slow") for _ in range(2)]
    left = TimeLeft(units, workers=2)
    assert left.seconds() is None
    left.finish(units[0], 1.0)
    assert left.seconds() == pytest.approx(7 * 1.0 / 2)
    left.finish(units[2], 9.0)  # slow on a; on b it is expected to take as long
    assert left.seconds() == pytest.approx((1 + 9 + 2 * 1 + 2 * 9) / 2)
    assert format_left(None) == ""
