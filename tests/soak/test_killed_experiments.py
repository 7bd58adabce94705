"""A hundred experiments killed at random moments, and continued."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from ceiba.experiments import Comparison, Journal
from tests.experiments.running.killed import assert_same, kill_after, run

pytestmark = pytest.mark.soak
N_KILLS, N_ISOLATED = 90, 10


@pytest.fixture(scope="module")
def undisturbed() -> tuple[Comparison, float]:
    start = time.perf_counter()
    return run(), time.perf_counter() - start


@pytest.mark.parametrize("number", range(N_KILLS))
def test_a_killed_experiment_gives_the_same_table(
    number: int, undisturbed: tuple[Comparison, float], tmp_path: Path
) -> None:
    expected, seconds = undisturbed
    path = tmp_path / "journal.db"
    kill_after(random.Random(number).uniform(0.0, seconds), path)
    with Journal(path) as journal:
        n_stored = len(journal)
    again = run(path)
    assert again.record["n_computed"] == again.record["n_units"] - n_stored
    assert_same(again, expected)


@pytest.mark.parametrize("number", range(N_ISOLATED))
def test_a_killed_experiment_of_isolated_units_gives_the_same_table(
    number: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    kill_after(random.Random(number).uniform(0.5, 6.0), path, isolate=True)
    assert_same(run(path, isolate=True), run(isolate=True))
