"""Passes over many partitions: few tasks, one statistic for the client, one model for all."""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.engine import PartitionError
from ceiba.engine.chunks import ChunksEngine
from ceiba.engine.dask import futures, passes, placement
from ceiba.engine.dask.engine import DaskEngine
from ceiba.engine.dask.placement import Bundle, balanced_bundles, local_bundles
from ceiba.engine.dask.tasks import PartitionFunction, merge_in_row_order
from ceiba.tree.grow import grower
from tests.engine.parts import Listing, WeightedSum, column, parts, whole

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = [
    pytest.mark.dask,
    pytest.mark.xdist_group("dask in process"),
    pytest.mark.filterwarnings("ignore:Port 8787"),
]


@dataclass
class Traffic:
    """Number of tasks, and bytes of the results that the client received."""

    tasks: int = 0
    received: int = 0


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    seen = Traffic()
    submit, results = distributed.Client.submit, passes.results_in_order
    map_tasks = distributed.Client.map

    def count_tasks(*args: Any, **options: Any) -> Any:
        seen.tasks += 1
        return submit(*args, **options)

    def count_tasks_of_map(client: Any, function: Any, *iterables: Any, **options: Any) -> Any:
        seen.tasks += len(iterables[0])
        return map_tasks(client, function, *iterables, **options)

    def count_bytes(*args: Any) -> Any:
        for result in results(*args):
            seen.received += len(pickle.dumps(result))
            yield result

    monkeypatch.setattr(distributed.Client, "submit", count_tasks)
    monkeypatch.setattr(distributed.Client, "map", count_tasks_of_map)
    monkeypatch.setattr(passes, "results_in_order", count_bytes)
    return seen


@dataclass(frozen=True)
class Total:
    """A sum whose rounding depends on the order of the merges."""

    total: float

    @classmethod
    def of(cls, batch: Any) -> Total:
        return cls(float(np.sum(batch.rows)))

    def merge(self, other: Total) -> Total:
        return Total(self.total + other.total)


def uneven(n: int) -> Any:
    return np.random.default_rng(0).lognormal(sigma=9.0, size=(n, 1))


def persisted(client: Any, x: Any, partitions: int) -> Any:
    return client.persist(da.from_array(x, chunks=(len(x) // partitions, x.shape[1])))


def in_memory(client: Any, condition: Callable[[Any], bool]) -> list[Any]:
    """Return the keys of a condition that the workers keep, after they had time to free them."""
    for _ in range(100):
        keys = [key for keys in client.has_what().values() for key in keys if condition(key)]
        if not keys:
            break
        time.sleep(0.01)
    return keys


@pytest.mark.parametrize("mode", ["copied", "placed", "not persisted", "shared tasks"])
def test_the_bits_are_those_of_chunks(
    client: Any, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Whichever way partitions run, the shape of the merges is the same."""
    if mode == "placed":
        monkeypatch.setattr(placement, "_SMALL_BYTES", 0)
    x, n = uneven(160), 80
    X = da.from_array(x, chunks=(2, 1)) if mode != "copied" else persisted(client, x, n)
    if mode == "placed":
        X = persisted(client, x, n)
    if mode == "shared tasks":
        X = X + 0.0 * X.mean()
    engine, files = DaskEngine(client), ChunksEngine(2)
    rows = engine.rows(engine.source(X).partitions, column)
    same = files.rows(parts(np.split(x[:, 0], n)), column)
    assert engine.reduce(rows, Total.of) == files.reduce(same, Total.of)
    listing = engine.reduce(rows, Listing.of)
    assert listing.values == x[:, 0].tolist()
    numbered = engine.reduce(rows.numbered(listing.lengths), Listing.of)
    assert [number for number, _ in numbered.rows] == list(range(160))
    predicted = engine.predict(rows, lambda batch: batch.rows + 1.0)
    assert predicted.tolist() == (x[:, 0] + 1.0).tolist()


def test_neither_tasks_nor_bytes_depend_on_the_partitions(client: Any, traffic: Traffic) -> None:
    found = []
    for n in (8, 200):
        X, weight = persisted(client, uneven(400), n), da.ones(400, chunks=400 // n)
        engine = DaskEngine(client)
        rows = engine.rows(engine.source(X, client.persist(weight)).partitions, whole)
        engine.reduce(rows, WeightedSum.of)  # caches the partitions
        traffic.tasks = traffic.received = 0
        engine.reduce(rows, WeightedSum.of)
        found.append((traffic.tasks, traffic.received))
    assert found[0] == found[1]
    assert found[0][0] == 6  # the model, two tasks for each of two threads, a merge


class Pickled:
    """A model that counts how often it is pickled."""

    times = 0

    def __reduce__(self) -> Any:
        Pickled.times += 1
        return Pickled, ()


def summarize_with(batch: Any, model: Any) -> Total:
    assert isinstance(model, Pickled)
    return Total.of(batch)


def test_the_model_is_sent_once(client: Any) -> None:
    engine = DaskEngine(client)
    rows = engine.rows(engine.source(da.from_array(uneven(40), chunks=(2, 1))).partitions, column)
    Pickled.times = 0
    engine.reduce(rows, summarize_with, Pickled())
    assert Pickled.times == 1


def fail_to_import() -> Any:
    raise ModuleNotFoundError("No module named 'absent'")


class NotOnWorkers:
    """A model of a module that the workers do not have."""

    def __reduce__(self) -> Any:
        return fail_to_import, ()


@pytest.mark.parametrize("shared", [False, True])
def test_a_model_that_workers_cannot_load_is_no_error_of_a_partition(
    client: Any, shared: bool
) -> None:
    engine, X = DaskEngine(client), da.from_array(uneven(40), chunks=(2, 1))
    rows = engine.rows(engine.source(X - X.mean() if shared else X).partitions, column)
    with pytest.raises(RuntimeError, match=r"cannot load .*: install .*'absent'") as raised:
        engine.reduce(rows, summarize_with, NotOnWorkers())
    assert "partition" not in str(raised.value)
    with pytest.raises(RuntimeError, match=r"cannot load .*: install .*'absent'"):
        engine.map(NotOnWorkers(), [1])


def test_a_tree_is_the_same_for_any_number_of_partitions(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grower, "GATHER_BYTES", 0)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 3)), rng.integers(3, size=600)
    model = ceiba.DecisionTreeClassifier(max_bins=20, max_depth=4)
    local = model.fit(X, y).tree_.to_text()
    with client.as_current():
        for size in (300, 4):
            dX, dy = da.from_array(X, chunks=(size, 3)), da.from_array(y, chunks=size)
            assert model.fit(client.persist(dX), client.persist(dy)).tree_.to_text() == local


def fail_in_the_third(block: Any, block_info: Any = None) -> Any:
    if block_info[0]["chunk-location"][0] == 3:
        raise OSError("the disk is gone")
    return block


@pytest.mark.parametrize("before", [False, True], ids=["during the fit", "before the fit"])
def test_a_persisted_partition_that_fails_is_named(client: Any, before: bool) -> None:
    X = da.from_array(uneven(10), chunks=(2, 1)).map_blocks(fail_in_the_third, dtype=float)
    X, engine = client.persist(X), DaskEngine(client)
    if before:
        with client.as_current():
            distributed.wait(X)
    with pytest.raises(PartitionError, match="partition 3 of the Dask array: the disk is gone"):
        engine.reduce(engine.rows(engine.source(X).partitions, column), Total.of)


def return_late(block: Any) -> Any:
    time.sleep(0.3)
    return block


def test_partitions_may_share_a_value_that_is_being_persisted(client: Any) -> None:
    x = uneven(8)
    X = persisted(client, x, 4)
    mean = client.persist(X.mean(axis=0).map_blocks(return_late, dtype=float))
    engine = DaskEngine(client)
    rows = engine.rows(engine.source(X - mean).partitions, column)
    values = engine.reduce(rows, Listing.of).values
    np.testing.assert_allclose(values, (x - x.mean(axis=0))[:, 0])


def test_partitions_with_shared_tasks_are_freed_during_the_pass(client: Any) -> None:
    """The cluster holds no more of the collection than is being summarized."""
    x = uneven(40)
    X = da.from_array(x, chunks=(2, 1))
    engine = DaskEngine(client)
    rows = engine.rows(engine.source(X - X.mean()).partitions, column)
    tasks = engine._tasks(rows)
    assert all(part.block is None for part in tasks.partitions)
    own = {key for part in tasks.partitions for key in part.delayed[0].__dask_graph__()}
    function = PartitionFunction(rows.prepare, Listing.of, (), len(rows.partitions))
    with tasks.open_pass(function, rows, merge_in_row_order) as submitted:
        with client.as_current():
            distributed.wait(submitted)
        assert in_memory(client, own.__contains__) == []
        merged = tasks.merge(submitted, by_worker=False)
    np.testing.assert_allclose(merged.result().values, (x - x.mean())[:, 0])


def test_persisted_partitions_beside_others(client: Any) -> None:
    x = uneven(12)
    X = da.concatenate([persisted(client, x[:8], 4), da.from_array(x[8:], chunks=(2, 1))])
    engine = DaskEngine(client)
    rows = engine.rows(engine.source(X).partitions, column)
    assert engine.reduce(rows, Listing.of).values == x[:, 0].tolist()


def test_sizes_and_workers_are_those_of_the_scheduler(client: Any) -> None:
    X = persisted(client, np.zeros((40, 10)), 4)
    engine = DaskEngine(client)
    tasks = engine._tasks(engine.rows(engine.source(X).partitions, column))
    workers, sizes = placement.locate_inputs(client, [part.inputs for part in tasks.partitions])
    assert set(workers) <= set(client.nthreads())
    assert all(800 <= size < 1000 for size in sizes)


def test_inputs_that_the_scheduler_does_not_have_are_nowhere() -> None:
    class Client:
        def who_has(self, futures: Any) -> Any:
            return {}

        def nbytes(self, keys: Any, summary: bool) -> Any:
            raise KeyError(keys[0])

    workers, sizes = placement.locate_inputs(Client(), [[SimpleNamespace(key="rows")]])
    assert workers == [None]
    assert sizes[0] > 0


def test_a_partition_is_located_by_its_largest_input() -> None:
    class Client:
        def who_has(self, futures: Any) -> Any:
            return {future.key: [f"worker of {future.key}"] for future in futures}

        def nbytes(self, keys: Any, summary: bool) -> Any:
            return {"rows": 500, "target": 20, "mean": 8}

    inputs = [SimpleNamespace(key=key) for key in ("target", "rows", "mean")]
    for order in (inputs, inputs[::-1]):
        assert placement.locate_inputs(Client(), [order]) == (["worker of rows"], [528])


@pytest.mark.parametrize(
    ("derive", "copied"),
    [
        (lambda X: X, True),
        (lambda X: X[["a", "b"]], True),
        (lambda X: X.assign(**{f"c{i}": X["a"] for i in range(4)}), False),
    ],
    ids=["all columns", "some columns", "more columns"],
)
def test_only_persisted_values_are_copied(client: Any, derive: Any, copied: bool) -> None:
    """The size of values that are computed from them is not known."""
    # Other values, and keys, in every test: the release of equal ones may still be on its way.
    a = np.random.default_rng().random(8)
    frame = pd.DataFrame({"a": a, "b": np.arange(8.0), "y": np.arange(8)})
    X = client.persist(dd.from_pandas(frame, npartitions=4))
    with client.as_current():
        distributed.wait(X)
    engine = DaskEngine(client)
    partitions = engine.source(derive(X), y=X["y"]).partitions
    tasks = engine._tasks(engine.rows(partitions, column))
    assert [bundle.copied for bundle in tasks.bundles] == [copied] * 4


def test_a_large_model_gives_no_warning(client: Any) -> None:
    engine = DaskEngine(client)
    rows = engine.rows(engine.source(da.from_array(uneven(4), chunks=(2, 1))).partitions, column)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.reduce(rows, lambda batch, model: Total.of(batch), np.zeros(2_000_000))
        engine.map(partial(np.add, np.zeros(2_000_000)), [1.0])


def test_overlapping_fits_restore_the_settings_of_dask() -> None:
    """The first call returns while the second one, of another thread, is inside."""
    setting = "distributed.admin.large-graph-warning-threshold"
    before = dask.config.get(setting)
    second_inside, first_left = threading.Event(), threading.Event()

    class First:
        def submit(self, *args: Any, **options: Any) -> None:
            second_inside.wait(0.2)

    class Second:
        def submit(self, *args: Any, **options: Any) -> None:
            second_inside.set()
            first_left.wait(5)

    first = threading.Thread(target=futures.submit_value, args=(First(), 1))
    second = threading.Thread(target=futures.submit_value, args=(Second(), 1))
    first.start()
    second.start()
    first.join()
    first_left.set()
    second.join()
    assert dask.config.get(setting) == before


def test_tasks_hold_the_partitions_of_the_fit_only(client: Any) -> None:
    X = persisted(client, uneven(40), 20)
    engine = DaskEngine(client)
    engine.reduce(engine.rows(engine.source(X).partitions, column), Total.of)
    del engine
    assert in_memory(client, lambda key: str(key).startswith("ceiba")) == []


# Placement


def test_partitions_that_any_worker_can_load_are_neighbors() -> None:
    bundles = balanced_bundles(10, {"a": 1, "b": 2})
    assert [bundle.indices for bundle in bundles] == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    assert [bundle.worker for bundle in bundles] == ["a", "a", "b", "b", "b"]
    few = balanced_bundles(4, dict.fromkeys("abcd", 4))
    assert [bundle.worker for bundle in few] == ["a", "b", "c", "d"]
    assert max(len(bundle.indices) for bundle in balanced_bundles(10_000, {"a": 1})) == 32
    assert balanced_bundles(2, {}) == [Bundle((0,)), Bundle((1,))]


def test_large_partitions_stay_on_their_workers() -> None:
    large = [300_000_000] * 5
    bundles = local_bundles(["a", "b", "a", "b", "a"], large, {"a": 1, "b": 1})
    assert bundles == [Bundle((i,), worker) for i, worker in enumerate("ababa")]
    medium = local_bundles(["a", "b", "a", "b", "a"], [2_000_000] * 5, {"a": 1, "b": 1})
    assert medium == [
        Bundle((0, 2), "a"), Bundle((1,), "b"), Bundle((3,), "b"), Bundle((4,), "a")
    ]  # fmt: skip
    many = local_bundles(["a"] * 1000, [2_000_000] * 1000, {"a": 1})
    assert max(len(bundle.indices) for bundle in many) == 32


def test_unfinished_partitions_go_to_all_threads() -> None:
    bundles = local_bundles([None] * 4, [2_000_000] * 4, {"a": 1, "b": 1})
    assert [bundle.indices for bundle in bundles] == [(0,), (1,), (2,), (3,)]


def test_small_partitions_are_copied_next_to_their_neighbors() -> None:
    small = local_bundles(["a", "b"] * 4, [1_000] * 8, {"a": 1, "b": 1})
    assert small == [Bundle((2 * i, 2 * i + 1), worker, True) for i, worker in enumerate("aabb")]
    many = local_bundles(["a", "b"] * 400, [900_000] * 800, {"a": 1, "b": 1})
    assert not any(bundle.copied for bundle in many)
