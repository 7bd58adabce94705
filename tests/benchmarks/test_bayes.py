"""Workloads of Bayesian network classifiers do the same work in all libraries."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks import harness, report, workloads
from benchmarks.bayes import scaling
from benchmarks.workloads import bayes
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees


def test_every_workload_is_listed() -> None:
    assert set(workloads.select(["bayes"])) == set(bayes.WORKLOADS)


def test_groups_have_peers() -> None:
    assert_groups_have_peers([each for each in bayes.WORKLOADS if "search" not in each.name])


@pytest.mark.slow
@pytest.mark.parametrize("workload", bayes.WORKLOADS, ids=lambda workload: workload.name)
def test_quick_runs_agree(workload: workloads.Workload) -> None:
    assert_quick_run_agrees(replace(workload, quick_n_rows=min(workload.quick_n_rows, 1_500)))


def test_scaling_is_measured_and_drawn(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "settle", lambda: None)
    monkeypatch.setattr(scaling, "peak_memory", lambda index, shape, seed: shape[0] * shape[1])
    ours = tuple(fit for fit in scaling.FITS if fit.library in ("ceiba", "CategoricalNB"))
    monkeypatch.setattr(scaling, "FITS", ours)
    assert scaling.main(["--quick"]) == 0
    content = (tmp_path / "bayes-scaling-quick.json").read_text(encoding="utf-8")
    curves = json.loads(content)["curves"]
    assert len(curves) == 2 * len(ours)
    for curve in curves:
        assert len(curve["seconds"]) == len(curve["peak_bytes"]) == len(curve["sizes"]) == 2
    assert "CategoricalNB: naive Bayes" in capsys.readouterr().out
    assert (tmp_path / "bayes-scaling-quick.png").read_bytes().startswith(b"\x89PNG")


def test_slow_libraries_fit_smaller_tables(monkeypatch) -> None:
    monkeypatch.setattr(scaling, "peak_memory", lambda index, shape, seed: 0)
    fit = replace(scaling.FITS[0], max_values=8_000)
    monkeypatch.setattr(scaling, "FITS", (fit,))
    curve = scaling.measure_curve(fit, "rows", scaling.QUICK, seed=0, rounds=1)
    assert curve.sizes == (500, 2_000)
    fit = replace(fit, max_values=2_000)
    monkeypatch.setattr(scaling, "FITS", (fit,))
    grids = replace(scaling.QUICK, rows=(100, 2_000, 3))
    assert scaling.measure_curve(fit, "rows", grids, seed=0, rounds=1).sizes == (100, 447)


@pytest.mark.slow
def test_memory_of_a_fit_is_measured() -> None:
    assert scaling.peak_memory(0, (200_000, 5), seed=0) > 200_000
