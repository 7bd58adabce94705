"""The journal keeps finished units, also those of a process that is killed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceiba.experiments import Journal, JournalError, UnitResult


def result(number: int, **options: Any) -> UnitResult:
    """Return a result that its number determines."""
    rng = np.random.default_rng(number)
    fields: dict[str, Any] = {
        "test": np.arange(number, number + 5),
        "predictions": rng.integers(3, size=5),
        "probabilities": rng.random((5, 3)),
        "fit_seconds": 0.5,
        "predict_seconds": 0.25,
        "peak_memory": 1000 + number,
    }
    return UnitResult(**(fields | options))


def assert_same(one: UnitResult, other: UnitResult) -> None:
    for name in ("test", "predictions", "probabilities", "regions"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b, strict=True)
    assert one.to_text() == other.to_text()


@pytest.mark.parametrize("in_file", [False, True])
def test_results_are_found_as_they_were_stored(in_file: bool, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "journal.db" if in_file else None
    numbers = result(2, predictions=np.array([0.1, 1e300]), probabilities=None, peak_memory=None)
    with Journal(path) as journal:
        journal.add("one", result(1))
        journal.add("two", numbers)
        journal.add("one", result(3))  # the first one stays
        found = journal.find(["one", "two", "three"])
        assert set(found) == {"one", "two"}
        assert_same(found["one"], result(1))
        assert_same(found["two"], numbers)
        assert len(journal) == 2


def test_regions_are_kept_and_older_journals_have_none(tmp_path: Path) -> None:
    sets = result(1, regions=np.array([[True, False, True]] * 5))
    intervals = result(2, regions=np.array([[-np.inf, np.inf]] * 5))
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.add("sets", sets)
        journal.add("intervals", intervals)
        journal.add("older", result(3))
        assert_same(journal.find(["sets"])["sets"], sets)
        assert_same(journal.find(["intervals"])["intervals"], intervals)
    # As an earlier version wrote it: without the array, and without the newer fields of the text.
    text = '{"fit_seconds": 0.5, "predict_seconds": 0.25, "peak_memory": 1003, "error": null}'
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE units SET result = ? WHERE key = 'older'", (text,))
    with Journal(path) as journal:
        assert_same(journal.find(["older"])["older"], result(3))


def test_failed_units_are_computed_again(tmp_path: Path) -> None:
    failed = result(1, predictions=None, probabilities=None, error="ValueError: no rows")
    with Journal(tmp_path / "journal.db") as journal:
        journal.add("one", failed)
        assert journal.find(["one"]) == {}
        journal.discard(["one"])
        journal.add("one", result(1))
        assert_same(journal.find(["one"])["one"], result(1))


def test_runs_are_recorded_in_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    for number in range(3):
        with Journal(path) as journal:
            journal.add_run({"number": number})
    with Journal(path) as journal:
        assert [run["number"] for run in journal.runs()] == [0, 1, 2]


def test_threads_and_journals_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as one, Journal(path) as other:
        threads = [
            threading.Thread(target=journal.add, args=(f"{name}{i}", result(i)))
            for i in range(10)
            for name, journal in (("a", one), ("b", other), ("a", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(one) == len(other) == 20


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are the notes of a user, long enough to be read as a database. " * 20)
    before = text.read_bytes()
    with pytest.raises(JournalError, match=r"notes\.txt cannot be opened as a journal"):
        Journal(text)
    assert text.read_bytes() == before
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE prices (price REAL)")
    with pytest.raises(JournalError, match="another kind or version: choose another path"):
        Journal(database)
    with pytest.raises(JournalError, match="cannot be opened as a journal"):
        Journal(tmp_path)


def test_a_damaged_unit_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.add("one", result(1))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE units SET arrays = x'00ff'")
    with Journal(path) as journal, pytest.raises(JournalError, match="damaged at unit one"):
        journal.find(["one"])


KILLED = """
import sys
from ceiba.experiments import Journal
from tests.experiments.running.test_journal import result
journal = Journal(sys.argv[1])
for number in range(100_000):
    journal.add(str(number), result(number))
    print(number, flush=True)
"""


@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_a_killed_process_loses_no_finished_unit(seconds: float, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    finished = [0, *map(int, process.communicate()[0].split()[:-1])]
    with Journal(path) as journal:
        found = journal.find(map(str, finished))
        assert len(found) == len(finished)
        assert_same(found[str(finished[-1])], result(finished[-1]))
        # At most the unit in flight came after the last printed one.
        assert len(finished) <= len(journal) <= len(finished) + 2
        journal.add("another", result(5))


def test_damaged_results_are_a_clear_error(tmp_path):
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.add("a", UnitResult(np.arange(500), np.zeros(500), None, 0.1, 0.01))
    connection = sqlite3.connect(path)
    (content,) = connection.execute("SELECT arrays FROM units").fetchone()
    damaged = content[:200] + bytes(50) + content[250:]
    connection.execute("UPDATE units SET arrays = ?", (damaged,))
    connection.commit()
    connection.close()
    with Journal(path) as journal, pytest.raises(JournalError, match="is damaged at unit a"):
        journal.find(["a"])
