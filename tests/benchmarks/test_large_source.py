from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import large_source, machine, memory, report


@pytest.fixture
def folder(tmp_path):
    """Three CSV parts of two columns."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    for part, rows in enumerate(np.split(X, 3)):
        np.savetxt(tmp_path / f"part-{part}.csv", rows, delimiter=",", header="a,b", comments="")
    return tmp_path


@pytest.fixture(autouse=True)
def kept_environment(monkeypatch, tmp_path):
    for name in machine.THREAD_VARIABLES:
        monkeypatch.setenv(name, "2")
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")


def test_empty_folder_says_how_to_fill_it(tmp_path, capsys):
    with pytest.raises(SystemExit):
        large_source.main(["--folder", str(tmp_path)])
    assert "make_large_source" in capsys.readouterr().err


def test_table_and_json(folder, monkeypatch, capsys):
    asked = {}

    def measure(target, arguments):
        asked.update(arguments, target=target)
        answer = {"iterations": 5, "inertia": 12.5}
        return memory.Measured(12.34, 50_000_000, 654_000_000, answer)

    monkeypatch.setattr(memory, "measure", measure)
    assert large_source.main(["--folder", str(folder), "--clusters", "3"]) == 0
    assert asked["target"] == "benchmarks.large_source:fit"
    assert [path.rsplit("/", 1)[1] for path in asked["paths"]] == [
        "part-0.csv",
        "part-1.csv",
        "part-2.csv",
    ]
    out = capsys.readouterr().out
    assert "12.3 s" in out
    assert "654 MB" in out
    text = (folder / "results" / "large-source.json").read_text(encoding="utf-8")
    (told,) = json.loads(text)["fits"]
    assert (told["kind"], told["peak_bytes"], told["clusters"]) == ("csv", 654_000_000, 3)
    assert str(folder) not in text


def test_fit_through_scan(folder, capsys):
    assert large_source.main(["--folder", str(folder), "--clusters", "2", "--kind", "csv"]) == 0
    text = (folder / "results" / "large-source.json").read_text(encoding="utf-8")
    (told,) = json.loads(text)["fits"]
    assert told["files"] == 3
    assert told["learnt"]["inertia"] > 0
    assert 0 < told["peak_bytes"] < 1_000_000_000
