"""The dask engine on an in-process cluster: order, weights, categories, errors, time limits."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.data.schema import Kind
from ceiba.engine import PartitionError, choose_engine
from ceiba.engine.dask import tasks
from ceiba.engine.dask.engine import DaskEngine
from ceiba.engine.local import effective_threads
from ceiba.stats import TargetSummary, ToLabeledRows
from tests.engine.parts import Listing, WeightedSum, column, whole

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

SETTINGS = {"distributed.comm.timeouts.connect": "10s", "distributed.worker.memory.target": False}


def _cluster(n_workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=2,
        processes=False,
        dashboard_address=None,
    )


@pytest.fixture
def engine(client: Any) -> DaskEngine:
    return DaskEngine(client)


def listing(engine: DaskEngine, X: Any) -> Listing:
    rows = engine.rows(engine.source(X).partitions, column)
    counted = engine.reduce(rows, Listing.of)
    return engine.reduce(rows.numbered(counted.lengths), Listing.of)


def numbers(n: int) -> Any:
    return np.arange(2.0 * n).reshape(n, 2)


def frame(n: int = 12) -> Any:
    return pd.DataFrame({"a": np.arange(float(n)), "b": np.arange(n) % 3})


# Blocks and their order


def test_statistics_are_merged_in_partition_order(engine: DaskEngine) -> None:
    def slow_at_first(block: Any, block_info: Any = None) -> Any:
        time.sleep(0.02 * (5 - block_info[0]["chunk-location"][0]))
        return block

    X = da.from_array(numbers(10), chunks=(2, 2)).map_blocks(slow_at_first, dtype=float)
    assert listing(engine, X).rows == tuple((i, 2.0 * i) for i in range(10))


def test_columns_in_several_chunks_are_brought_together(engine: DaskEngine) -> None:
    X = da.from_array(numbers(6), chunks=(2, 1))
    source = engine.source(X)
    assert len(source.partitions) == 3
    assert source.partitions[1].load().table.matrix.tolist() == numbers(6)[2:4].tolist()


def test_chunk_sizes_may_be_unknown_and_blocks_empty(engine: DaskEngine) -> None:
    X = da.from_array(numbers(9), chunks=(3, 2))
    X = X[X[:, 0] >= 6.0]
    assert np.isnan(X.shape[0])
    assert listing(engine, X).rows == tuple((i, 6.0 + 2 * i) for i in range(6))


def test_partitions_of_a_frame_may_be_empty(engine: DaskEngine) -> None:
    X = dd.from_pandas(frame(), npartitions=4)
    X = X[(X.a < 2) | (X.a > 6)]
    rows = engine.rows(engine.source(X).partitions, column)
    assert engine.reduce(rows, Listing.of).lengths == (2, 2, 3)
    assert rows.empty == {1}
    assert listing(engine, X).rows == tuple(enumerate([0.0, 1.0, 7.0, 8.0, 9.0, 10.0, 11.0]))


def test_a_collection_without_rows_is_refused(engine: DaskEngine) -> None:
    X = dd.from_pandas(frame(), npartitions=3)
    with pytest.raises(ValueError, match="got partitions without rows only"):
        listing(engine, X[X.a < 0])


def test_a_persisted_collection_works(engine: DaskEngine, client: Any) -> None:
    X = client.persist(da.from_array(numbers(6), chunks=(2, 2)))
    assert listing(engine, X).values == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_the_model_is_shipped_and_never_reused(engine: DaskEngine) -> None:
    rows = engine.rows(engine.source(da.from_array(numbers(4), chunks=(2, 2))).partitions, column)
    for plus in (0.0, 1.0, 0.0):
        assert engine.reduce(rows, Listing.of, plus).values == [p + plus for p in (0.0, 2, 4, 6)]


def test_tasks_are_single_threaded_inside(engine: DaskEngine) -> None:
    assert engine.map(lambda x: (x, effective_threads()), range(5)) == [(x, 1) for x in range(5)]


@pytest.mark.parametrize("odd", [da.zeros(3), da.zeros((2, 2, 2)), dask.delayed(1)])
def test_other_collections_are_refused(engine: DaskEngine, odd: Any) -> None:
    with pytest.raises(ValueError, match="2D Dask array"):
        engine.source(odd)


# Weights


def test_weights_are_partitioned_with_the_rows(engine: DaskEngine) -> None:
    x, w = numbers(7), np.linspace(0.5, 2.0, 7)
    X, weight = da.from_array(x, chunks=(3, 2)), da.from_array(w, chunks=3)
    rows = engine.rows(engine.source(X, weight).partitions, whole)
    assert engine.reduce(rows, WeightedSum.of).total == pytest.approx(x[:, 0] @ w, rel=1e-14)


def test_weights_may_be_a_column(engine: DaskEngine) -> None:
    local = frame()
    X = dd.from_pandas(local, npartitions=3)
    X = X[X.a != 5]
    rows = engine.rows(engine.source(X[["a"]], X.b).partitions, whole)
    local = local[local.a != 5]
    assert engine.reduce(rows, WeightedSum.of).total == local.a @ local.b


@pytest.mark.parametrize(
    ("weight", "error", "words"),
    [
        (np.ones(6), TypeError, "must be a Dask series"),
        (da.ones((6, 1), chunks=2), TypeError, "must be a Dask series"),
        (da.ones(6, chunks=3), ValueError, r"as many partitions as X \(3\), got 2"),
    ],
)
def test_weights_of_another_make_are_refused(
    engine: DaskEngine, weight: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        engine.source(da.from_array(numbers(6), chunks=(2, 2)), weight)


def test_weights_partitioned_otherwise_are_refused(engine: DaskEngine) -> None:
    X, weight = da.from_array(numbers(6), chunks=(2, 2)), da.ones(6, chunks=((1, 3, 2),))
    rows = engine.rows(engine.source(X, weight).partitions, whole)
    with pytest.raises(
        ValueError,
        match=r"partition [01] of the Dask array: sample_weight must be partitioned like X",
    ):
        engine.reduce(rows, WeightedSum.of)


# Targets


def targets(engine: DaskEngine, X: Any, y: Any, weight: Any = None) -> TargetSummary:
    rows = engine.rows(engine.source(X, weight, y=y).partitions, ToLabeledRows("classification"))
    return engine.reduce(rows, TargetSummary.of)


def test_targets_are_partitioned_with_the_rows(engine: DaskEngine) -> None:
    y, w = np.array(["b", "a", "b", "c", "c", "b", "d"]), np.array([1.0, 2, 1, 0, 0, 1, 0.5])
    X = da.from_array(numbers(7), chunks=(3, 2))
    found = targets(engine, X, da.from_array(y, chunks=3), da.from_array(w, chunks=3))
    assert found.classes.tolist() == ["a", "b", "c", "d"]
    assert found.class_counts.tolist() == [1, 3, 0, 1]
    assert found.rows == (3, 1, 1)
    assert (found.weight_min, found.weight_max, found.integer_weights) == (0.5, 2.0, False)


def test_a_target_may_be_a_column_of_any_type(engine: DaskEngine) -> None:
    local = frame().assign(
        text=list("xyzx") * 3, category=pd.Categorical(list("xyzw") * 3), truth=[True, False] * 6
    )
    X = dd.from_pandas(local, npartitions=3)
    X["category"] = X.category.cat.as_unknown()
    X = X[X.a != 4]
    local = local[local.a != 4]
    for name in ("b", "text", "category", "truth"):
        found = targets(engine, X[["a"]], X[name])
        counts = local[name].value_counts().to_dict()
        assert found.class_counts.tolist() == [counts[label] for label in found.classes.tolist()]
        assert found.classes.tolist() == sorted(set(local[name]))


def test_the_target_of_a_partition_is_loaded_with_it(engine: DaskEngine) -> None:
    X = da.from_array(numbers(5), chunks=(3, 2))
    source = engine.source(X, y=da.arange(5, chunks=3))
    assert [part.load().target.tolist() for part in source.partitions] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (np.ones(6), TypeError, "y must be a Dask series"),
        (da.ones((6, 1), chunks=2), TypeError, "y must be a Dask series"),
        (da.ones(6, chunks=3), ValueError, r"y must have as many partitions as X \(3\), got 2"),
        (
            da.ones(6, chunks=((1, 3, 2),)),
            ValueError,
            r"partition [01] .*: y must be partitioned like X, got \d targets for 2 rows",
        ),
        (
            da.full(6, 0.5, chunks=2),
            ValueError,
            r"partition [012] of the Dask array: Unknown label",
        ),
    ],
)
def test_targets_of_another_make_are_refused(
    engine: DaskEngine, y: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        targets(engine, da.from_array(numbers(6), chunks=(2, 2)), y)


def test_targets_beside_no_rows_are_refused(engine: DaskEngine) -> None:
    X = dd.from_pandas(frame(), npartitions=3)
    with pytest.raises(
        ValueError, match=r"partition 0 .*: y must be partitioned like X, got 4 targets for 0 rows"
    ):
        targets(engine, X[X.a > 3][["a"]], X.b)


def test_text_in_one_partition_and_numbers_in_another_are_refused(engine: DaskEngine) -> None:
    X = da.from_array(numbers(4), chunks=(2, 2))
    y = da.from_array(np.array(["a", "b", 1, 2], dtype=object), chunks=2)
    with pytest.raises(ValueError, match="all text or all numbers"):
        targets(engine, X, y)


# Schema


def test_the_schema_of_plain_columns_needs_no_pass(client: Any) -> None:
    X = dd.from_pandas(
        frame().assign(
            c=pd.Categorical(list("xyzx") * 3, categories=list("zyxw")), d=[True, False] * 6
        ),
        npartitions=2,
    )
    engine = DaskEngine(client)
    engine.client = None  # any use of the cluster would fail
    schema = engine.source(X).schema
    assert [str(c.kind) for c in schema] == ["numeric", "numeric", "nominal", "nominal"]
    assert [c.dtype for c in schema] == ["float64", "int64", "codes", "codes"]
    assert schema[2].categories == ("z", "y", "x", "w")
    assert schema[3].categories == (False, True)


def test_categories_are_merged_from_every_partition(engine: DaskEngine) -> None:
    words = ["b", "a", None, "d", "c", "b"]
    X = dd.from_pandas(
        pd.DataFrame({"text": words, "category": pd.Categorical(words), "x": range(6)}),
        npartitions=3,
    )
    X["category"] = X.category.cat.as_unknown()
    schema = engine.source(X).schema
    assert [c.categories for c in schema] == [("a", "b", "c", "d"), ("a", "b", "c", "d"), ()]
    codes = engine.reduce(engine.rows(engine.source(X).partitions, column), Listing.of).values
    assert codes == [1.0, 0.0, -1.0, 3.0, 2.0, 1.0]


def test_kinds_override_inference(engine: DaskEngine) -> None:
    X = dd.from_pandas(frame(), npartitions=4)
    schema = engine.source(X, kinds={"b": "nominal"}).schema
    assert (schema[1].kind, schema[1].categories) == (Kind.NOMINAL, (0, 1, 2))
    with pytest.raises(ValueError, match="kinds and schema must not be given together"):
        engine.source(X, schema=schema, kinds={"b": "numeric"})


def test_a_given_schema_is_followed(engine: DaskEngine) -> None:
    words = pd.DataFrame({"text": list("badc")})
    schema = engine.source(dd.from_pandas(words, npartitions=2)).schema
    other = dd.from_pandas(pd.DataFrame({"text": ["d", "new", "a"]}), npartitions=2)
    rows = engine.rows(engine.source(other, schema=schema).partitions, column)
    assert engine.reduce(rows, Listing.of).values == [3.0, -1.0, 0.0]


def test_an_array_of_objects_is_looked_at(engine: DaskEngine) -> None:
    X = np.array([["u", 1], ["v", 2], ["w", 2.5]], dtype=object)
    schema = engine.source(da.from_array(X, chunks=(1, 2))).schema
    assert [(str(c.kind), c.categories, c.dtype) for c in schema] == [
        ("nominal", ("u", "v", "w"), "codes"),
        ("numeric", (), "float64"),
    ]


# Errors


def test_a_failing_partition_is_named(engine: DaskEngine) -> None:
    def fail(block: Any, block_info: Any = None) -> Any:
        if block_info[0]["chunk-location"][0] == 3:
            raise OSError("the disk is gone")
        return block

    X = da.from_array(numbers(10), chunks=(2, 2)).map_blocks(fail, dtype=float)
    with pytest.raises(PartitionError, match="partition 3 of the Dask array: the disk is gone"):
        listing(engine, X)


def test_a_failing_summary_is_named_and_bad_values_stay_a_value_error(engine: DaskEngine) -> None:
    def summarise(batch: Any) -> Listing:
        if batch.rows.max() >= 11:
            raise ValueError("too large")
        return Listing.of(batch)

    rows = engine.rows(engine.source(dd.from_pandas(frame(), npartitions=3)).partitions, column)
    with pytest.raises(ValueError, match="partition 2 of the Dask DataFrame: too large"):
        engine.reduce(rows, summarise)


# What follows is shared with the tasks, which run in this process but are pickled all the same:
# functions of a module travel by their name.
FAILURES: list[Exception] = []
SUMMARISED: list[int] = []
GATE, AT_GATE = threading.Event(), threading.Event()


def fail_at_times(block: Any) -> Any:
    if block[0, 0] == 4.0 and FAILURES:
        raise FAILURES.pop()
    return block


def refuse(batch: Any) -> Listing:
    SUMMARISED.append(len(batch.rows))
    raise ValueError("no good")


def wait_at_gate(block: Any) -> Any:
    if block[0, 0] == 4.0:
        AT_GATE.set()
        GATE.wait(60)
    return block


class Stubborn(Listing):
    def merge(self, other: Any) -> Any:
        raise ArithmeticError("cannot be merged")


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    GATE.clear()
    AT_GATE.clear()
    yield GATE
    GATE.set()


def test_a_partition_that_fails_at_times_is_run_again(
    engine: DaskEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(tasks, "time", SimpleNamespace(sleep=pauses.append))
    FAILURES.extend([OSError("for once"), OSError("and again")])
    X = da.from_array(numbers(6), chunks=(2, 2)).map_blocks(fail_at_times, dtype=float)
    rows = engine.rows(engine.source(X).partitions, column)
    assert engine.reduce(rows, Listing.of).values == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert not FAILURES
    assert pauses == [0.2, 0.4]


def test_bad_values_are_not_tried_again(engine: DaskEngine) -> None:
    SUMMARISED.clear()
    rows = engine.rows(engine.source(dd.from_pandas(frame(), npartitions=1)).partitions, column)
    with pytest.raises(ValueError, match="partition 0 of the Dask DataFrame: no good"):
        engine.reduce(rows, refuse)
    assert SUMMARISED == [12]


def test_an_error_of_a_task_is_raised_as_it_is(engine: DaskEngine) -> None:
    with pytest.raises(ZeroDivisionError):
        engine.map(lambda x: 1 / x, [1, 2, 0])


def test_an_error_in_merging_cancels_the_rest(
    engine: DaskEngine, client: Any, gate: threading.Event
) -> None:
    X = da.from_array(numbers(8), chunks=(1, 2)).map_blocks(wait_at_gate, dtype=float)
    rows = engine.rows(engine.source(X).partitions, column)
    with pytest.raises(ArithmeticError, match="cannot be merged"):
        engine.reduce(rows, Stubborn.of)
    gate.set()
    assert not _left(client)


def _left(client: Any) -> list[Any]:
    """What of a reduction the scheduler still knows after a moment."""
    for _ in range(600):
        left = [key for keys in client.has_what().values() for key in keys]
        if not left and not any(client.processing().values()):
            return []
        time.sleep(0.05)
    return left


# Time limits


def test_without_workers_a_fit_ends() -> None:
    with (
        dask.config.set({**SETTINGS, "ceiba.worker-timeout": "600ms"}),
        _cluster(0) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        engine = DaskEngine(client)
        with pytest.raises(TimeoutError, match=r"no worker for 0\.6 seconds with 3 partitions"):
            listing(engine, da.from_array(numbers(6), chunks=(2, 2)))
        with pytest.raises(TimeoutError, match=r"no worker .* with 1 task pending"):
            engine.map(abs, [1])
        assert not client.futures


def test_a_cluster_that_goes_away_ends_the_fit() -> None:
    def slowly(block: Any) -> Any:
        time.sleep(0.2)
        return block

    with (
        dask.config.set(SETTINGS),
        _cluster(1) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        X = da.from_array(numbers(100), chunks=(1, 2)).map_blocks(slowly, dtype=float)
        engine = DaskEngine(client)
        rows = engine.rows(engine.source(X).partitions, column)
        threading.Timer(0.5, cluster.close).start()
        with pytest.raises(PartitionError, match=r"partition \d+ .* cancelled the task"):
            engine.reduce(rows, Listing.of)


def test_workers_that_come_late_are_waited_for() -> None:
    with (
        dask.config.set(SETTINGS),
        _cluster(0) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        threading.Timer(1.0, cluster.scale, [1]).start()
        engine = DaskEngine(client, worker_timeout="60s")
        assert engine.map(abs, [-1, -2]) == [1, 2]


def test_a_hung_partition_ends_the_fit(client: Any, gate: threading.Event) -> None:
    engine = DaskEngine(client, partition_timeout="1s")
    X = da.from_array(numbers(6), chunks=(2, 2)).map_blocks(wait_at_gate, dtype=float)
    rows = engine.rows(engine.source(X).partitions, column)
    message = "No partition has finished .* for 1 seconds with {} pending: make the partitions"
    with pytest.raises(TimeoutError, match=message.format("1 partition")):
        engine.reduce(rows, Listing.of)
    with pytest.raises(TimeoutError, match=message.format("[12] partitions?")):
        engine.predict(rows, lambda batch: batch.rows)
    with pytest.raises(TimeoutError, match=r"No task .* with 1 task pending: raise the limit"):
        engine.map(wait_at_gate, [np.full((1, 1), 4.0)])
    gate.set()
    assert not _left(client)


def test_ctrl_c_takes_the_tasks_back(
    engine: DaskEngine, client: Any, gate: threading.Event
) -> None:
    X = da.from_array(numbers(6), chunks=(2, 2)).map_blocks(wait_at_gate, dtype=float)
    rows = engine.rows(engine.source(X).partitions, column)
    main = threading.main_thread().ident or 0
    threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        engine.reduce(rows, Listing.of)
    gate.set()
    assert not _left(client)


@pytest.mark.parametrize("persisted", [False, True])
def test_ctrl_c_ends_a_fit_promptly(client: Any, gate: threading.Event, persisted: bool) -> None:
    """While a partition hangs, be it in a task of the fit or in one of the persisted rows."""
    X = da.from_array(numbers(6), chunks=(2, 2)).map_blocks(wait_at_gate, dtype=float)
    X = client.persist(X) if persisted else X
    model, main = ceiba.KMeans(2, n_jobs=1), threading.main_thread().ident or 0
    sent: list[float] = []

    def interrupt() -> None:
        AT_GATE.wait(60)
        time.sleep(0.3)
        sent.append(time.monotonic())
        signal.pthread_kill(main, signal.SIGINT)

    def fit_interrupted(rows: Any) -> None:
        threading.Thread(target=interrupt).start()
        model.fit(rows)

    with client.as_current(), pytest.raises(KeyboardInterrupt):
        fit_interrupted(X)
    assert time.monotonic() - sent[0] < 2.0
    assert not hasattr(model, "cluster_centers_")
    gate.set()
    del X
    assert not _left(client)


def test_time_limits_come_from_arguments_then_settings(client: Any) -> None:
    with dask.config.set({"ceiba.worker-timeout": "5 minutes", "ceiba.partition-timeout": 7}):
        limits = DaskEngine(client, partition_timeout="2h").limits
    assert (limits.worker, limits.task) == (300.0, 7200.0)
    default = DaskEngine(client).limits
    assert (default.worker, default.task) == (60.0, 3600.0)


# The client


def test_without_a_client_the_error_has_instructions() -> None:
    with pytest.raises(RuntimeError, match="from distributed import Client"):
        choose_engine(da.zeros((4, 2), chunks=2))


def test_the_current_client_is_used(client: Any) -> None:
    with client.as_current():
        engine, source = choose_engine(da.ones((4, 2), chunks=2), da.ones(4, chunks=2))
    assert isinstance(engine, DaskEngine)
    assert engine.client is client
    assert engine.name == "dask"
    assert engine.reduce(engine.rows(source.partitions, whole), WeightedSum.of).total == 4.0


def test_a_target_of_the_current_client(client: Any) -> None:
    X = da.ones((4, 2), chunks=2)
    with client.as_current():
        engine, source = choose_engine(X, y=da.arange(4, chunks=2), supervised=True)
        rows = engine.rows(source.partitions, ToLabeledRows("regression"))
        assert engine.reduce(rows, TargetSummary.of).target_max == 3.0
        with pytest.raises(ValueError, match="requires y to be passed"):
            choose_engine(X, supervised=True)
