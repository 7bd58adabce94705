"""The chunks engine: order, bounds, errors and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from ceiba.engine import PartitionError
from ceiba.engine.chunks import ChunksEngine
from ceiba.engine.local import effective_threads
from tests.engine.parts import Listing, Part, column, parts


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_statistics_are_merged_in_partition_order(threads: int, n: int) -> None:
    def slow_at_first(index: int) -> list[float]:
        time.sleep(0.01 * (n - index))
        return [float(index)]

    made = [Part(f"p{p}", lambda p=p: slow_at_first(p)) for p in range(n)]
    engine = ChunksEngine(threads)
    listing = engine.reduce(engine.rows(made, column), Listing.of, 0.5)
    assert listing.values == [p + 0.5 for p in range(n)]


def test_thousands_of_partitions() -> None:
    engine = ChunksEngine(3)
    rows = engine.rows(parts([[float(p)] for p in range(3000)]), column)
    listing = engine.reduce(rows, Listing.of)
    assert listing.values == list(map(float, range(3000)))
    numbered = engine.reduce(rows.numbered(listing.lengths), Listing.of)
    assert [number for number, _ in numbered.rows] == list(range(3000))


def test_partitions_without_rows_are_passed_over() -> None:
    engine = ChunksEngine(2)
    rows = engine.rows(parts([[], [1.0, 2.0], [], [3.0]]), column)
    listing = engine.reduce(rows, Listing.of)
    again = engine.reduce(rows.numbered(listing.lengths), Listing.of)
    assert again.rows == ((0, 1.0), (1, 2.0), (2, 3.0))


@pytest.mark.parametrize(("error", "kind"), [(OSError, PartitionError), (ValueError, ValueError)])
def test_a_failing_partition_is_named_and_ends_the_rest(
    error: type[Exception], kind: type[Exception]
) -> None:
    loaded: list[int] = []

    def load(index: int) -> list[float]:
        loaded.append(index)
        if index == 5:
            raise error("the disk is gone")
        return [0.0]

    engine = ChunksEngine(2)
    made = [Part(f"rows-{p}", lambda p=p: load(p)) for p in range(1000)]
    with pytest.raises(kind, match="partition rows-5: the disk is gone") as caught:
        engine.reduce(engine.rows(made, column), Listing.of)
    assert isinstance(caught.value.__cause__, error)
    assert len(loaded) <= 5 + 2 * 2 + 1


def test_an_error_of_the_summary_is_named_too() -> None:
    def summarise(batch: Any) -> Listing:
        raise ZeroDivisionError("nothing to divide by")

    engine = ChunksEngine(2)
    with pytest.raises(PartitionError, match="partition p0: nothing to divide by"):
        engine.reduce(engine.rows(parts([[1.0], [2.0]]), column), summarise)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_more_partitions_in_memory_than_threads(threads: int) -> None:
    running, peak, lock = 0, 0, threading.Lock()

    def load() -> np.ndarray[Any, Any]:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        time.sleep(0.002)
        return np.zeros(3)

    def summarise(batch: Any) -> Listing:
        nonlocal running
        with lock:
            running -= 1
        return Listing.of(batch)

    engine = ChunksEngine(threads)
    engine.reduce(engine.rows([Part(f"p{p}", load) for p in range(30)], column), summarise)
    assert peak == threads


def test_statistics_in_waiting_are_bounded() -> None:
    """While partition 0 is slow, only a few of the others are summarised ahead of it."""
    begun: set[int] = set()
    ahead = threading.Event()

    def load(index: int) -> list[float]:
        begun.add(index)
        if len(begun) == 4:
            ahead.set()
        if index == 0:
            assert ahead.wait(60)
            time.sleep(0.05)  # an engine without a bound would run on here
            assert begun == {0, 1, 2, 3}
        return [0.0]

    engine = ChunksEngine(2)
    made = [Part(f"p{p}", lambda p=p: load(p)) for p in range(50)]
    engine.reduce(engine.rows(made, column), Listing.of)
    assert len(begun) == 50


def test_partitions_are_summarised_single_threaded() -> None:
    def summarise(batch: Any) -> Listing:
        assert (batch.threads, effective_threads()) == (1, 1)
        return Listing.of(batch)

    engine = ChunksEngine(2)
    engine.reduce(engine.rows(parts([[1.0], [2.0]]), column), summarise)


def test_ctrl_c_does_not_wait_for_running_loads() -> None:
    """The loads end only after the interrupt has been heard: waiting for them would never end."""
    heard = threading.Event()
    loaders: list[threading.Thread] = []
    summarised: list[int] = []

    def load() -> list[float]:
        loaders.append(threading.current_thread())
        if len(loaders) == 2:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert heard.wait(60)
        return [0.0]

    def summarise(batch: Any) -> Listing:
        summarised.append(1)
        return Listing.of(batch)

    engine = ChunksEngine(2)
    with pytest.raises(KeyboardInterrupt):
        engine.reduce(engine.rows([Part(f"p{p}", load) for p in range(20)], column), summarise)
    heard.set()
    for thread in loaders:
        thread.join(60)
    assert len(loaders) == 2
    assert not summarised


def test_map_keeps_the_order_of_the_tasks() -> None:
    assert ChunksEngine(2).map(lambda x: x * x, range(20)) == [x * x for x in range(20)]
