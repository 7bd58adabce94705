from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import memory, report
from benchmarks.kmeans import large_files


@pytest.fixture
def folder(tmp_path):
    """Three CSV parts of two columns."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    for part, rows in enumerate(np.split(X, 3)):
        np.savetxt(tmp_path / f"part-{part}.csv", rows, delimiter=",", header="a,b", comments="")
    return tmp_path


@pytest.fixture(autouse=True)
def results_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")


def read_result(folder):
    text = (folder / "results" / "kmeans-large-files.json").read_text(encoding="utf-8")
    assert str(folder) not in text
    (fit,) = json.loads(text)["fits"]
    return fit


def test_empty_folder_names_the_command_that_fills_it(tmp_path, capsys):
    with pytest.raises(SystemExit):
        large_files.main(["--folder", str(tmp_path)])
    assert "make_large_files" in capsys.readouterr().err


def test_table_and_json_have_the_measurement(folder, monkeypatch, capsys):
    passed = {}

    def measure(target, arguments):
        passed.update(arguments, target=target)
        result = {"iterations": 5, "inertia": 12.5}
        return memory.Measurement(12.34, 50_000_000, 654_000_000, result)

    monkeypatch.setattr(memory, "measure", measure)
    assert large_files.main(["--folder", str(folder), "--clusters", "3"]) == 0
    assert passed["target"] == "benchmarks.kmeans.large_files:fit"
    names = [path.rsplit("/", 1)[1] for path in passed["paths"]]
    assert names == ["part-0.csv", "part-1.csv", "part-2.csv"]
    out = capsys.readouterr().out
    assert "12.3 s" in out
    assert "654 MB" in out
    fit = read_result(folder)
    assert (fit["format"], fit["peak_bytes"], fit["n_clusters"]) == ("csv", 654_000_000, 3)


def test_fit_runs_through_scan(folder):
    assert large_files.main(["--folder", str(folder), "--clusters", "2", "--format", "csv"]) == 0
    fit = read_result(folder)
    assert fit["n_files"] == 3
    assert fit["fitted"]["inertia"] > 0
    assert 0 < fit["peak_bytes"] < 1_000_000_000
