from __future__ import annotations

import json
from dataclasses import asdict
from typing import get_args

import numpy as np
import pytest

from benchmarks import harness, report, workloads
from benchmarks.boosting import bandwidth, peers, quality, scaling
from benchmarks.workloads import boosting
from tests.benchmarks.helpers import assert_quick_run_agrees


@pytest.mark.parametrize("name", ["boosting-regression", "boosting-nominal", "boosting-iris"])
def test_work_is_equal(name):
    assert_quick_run_agrees(workloads.get(name))


def test_ours_has_the_requested_trees_and_leaves():
    sample = boosting.numbers("classification")(0, 2_000)[boosting.GROUP]
    model = peers.ceiba("classification", 5, 8).fit(sample).model
    assert model.n_estimators_ == 5
    assert {model.tree(number).n_leaves for number in range(5)} == {8}


def test_a_predictor_is_fitted_once():
    fits = []

    def fit(sample):
        fits.append(sample)
        return peers.FittedBooster(None, lambda X: np.zeros(len(X)))

    run = boosting.fit_once(boosting.predict_all)(peers.Peer(fit, "ceiba"))
    sample = boosting.numbers("regression")(0, 200)[boosting.GROUP]
    shapes = [run(sample).predict(sample.test.X).shape for _ in range(3)]
    assert shapes == [(len(sample.test.y),)] * 3
    assert len(fits) == 1


# Scaling and bandwidth


@pytest.fixture
def results(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "settle", lambda: None)
    return tmp_path


def test_scaling_is_measured_and_drawn(monkeypatch, results, capsys):
    labels = ("ceiba", "HistGradientBoosting")
    monkeypatch.setattr(scaling, "PEERS", {label: scaling.PEERS[label] for label in labels})
    monkeypatch.setattr(scaling, "peak_memory", lambda label, shape, seed: shape.rows)
    assert scaling.main(["--quick"]) == 0
    curves = json.loads((results / "boosting-scaling-quick.json").read_text("utf-8"))["curves"]
    assert len(curves) == 2 * len(get_args(scaling.Axis))
    assert curves[0]["peak_bytes"] == curves[0]["sizes"] == [500, 2_000]
    assert "XGBoost" not in capsys.readouterr().out
    assert (results / "boosting-scaling-quick.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("axis", get_args(scaling.Axis))
def test_an_axis_changes_one_size_of_the_fit(axis):
    shape = scaling.QUICK.shape.at(axis, 9)
    sample = scaling.make_sample(shape, seed=0)
    model = scaling.fit("ceiba", shape, sample).model
    fitted = {
        "rows": len(sample.X),
        "columns": model.n_features_in_,
        "leaves": max(model.tree(0).n_leaves, scaling.QUICK.shape.leaves),
        "classes": len(model.classes_),
    }
    assert {**asdict(scaling.QUICK.shape), axis: 9} == {**fitted, "rounds": model.n_estimators_}


@pytest.mark.slow
@pytest.mark.parametrize("label", scaling.PEERS)
def test_memory_of_a_fit_is_measured(label):
    if label in ("LightGBM", "XGBoost"):
        pytest.importorskip(label.lower())
    shape = scaling.QUICK.shape.at("rows", 200_000)
    assert scaling.peak_memory(label, shape, seed=0) > shape.rows * shape.columns


def test_bandwidth_is_bytes_by_seconds(monkeypatch, results, capsys):
    now = 0.0

    def work(label, seconds):
        def run():
            nonlocal now
            now += seconds

        return bandwidth.Work(label, run)

    size = bandwidth.FULL
    # 3 s for every fit, 1 ms per tree, 2 ms per column, and 10 GB/s for the codes.
    fits = [
        work("fit", 3 + t / 1e3 + p / 500 + size.rows * t * p / 10e9)
        for p in size.columns
        for t in size.trees
    ]
    monkeypatch.setattr(harness, "perf_counter", lambda: now)
    monkeypatch.setattr(bandwidth, "copy_work", lambda *_: work("copy", size.copied / 20e9))
    monkeypatch.setattr(bandwidth, "stump_fits", lambda *_: fits)
    assert bandwidth.main([]) == 0
    found = json.loads((results / "boosting-bandwidth.json").read_text("utf-8"))["rates"]
    assert [rate["gigabytes_per_second"] for rate in found] == pytest.approx([40, 10])
    assert "25%" in capsys.readouterr().out


def test_bandwidth_is_measured(results):
    assert bandwidth.main(["--quick"]) == 0
    content = json.loads((results / "boosting-bandwidth-quick.json").read_text("utf-8"))
    assert len(content["seconds"]) == 5
    assert content["rates"][0]["gigabytes_per_second"] > 0


def test_too_few_rounds_are_rejected(results, capsys):
    with pytest.raises(SystemExit):
        bandwidth.main(["--rounds", "2"])
    assert "--rounds must be at least 5" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["vehicle", "auto_mpg"])
def test_quality_is_that_of_the_best_peer(name):
    for module in ("lightgbm", "xgboost", "catboost"):
        pytest.importorskip(module)
    table = next(table for table in quality.all_tables(1_000) if table.name == name)
    for metric, by_name in quality.compare(table, 1).items():
        mean, error = quality.shortfall(metric, by_name)
        # The best of several peers is better by chance, too.
        assert mean < 3 * error + 0.01, (metric, by_name)


def test_tables_of_quality_are_divided_anew():
    for table in quality.all_tables(300):
        train, test = next(table.splits(1))
        assert len(train.X) == len(train.y)
        assert len(test.X) == len(test.y)
