"""A cost model of fits on Dask: measured constants, and what they predict for other sizes.

Seconds are those of processors: of the client with its scheduler, plus those of the workers divided
by their number. Unlike elapsed time they hardly depend on other programs, and on an idle machine
the two differ little, because the client waits while workers compute and vice versa.

``python -m benchmarks.cluster.cost`` measures the constants on two workers of this machine,
compares predicted with measured times of fits at three sizes, predicts a terabyte on a hundred
workers, and writes ``dask-cost.json`` to the results. ``--quick`` is a test of the script.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self
from unittest import mock

import numpy as np

from benchmarks import report
from benchmarks.cluster import data
from benchmarks.machine import set_threads

FAN_IN = 8
MAX_TASK_BYTES = 512_000_000
# Rows of a tree's sample, of which the edges of bins are computed.
SAMPLE_ROWS = 65_536
# Passes of one measurement, of which a single one would be too short.
_PASSES = 10


@dataclass(frozen=True)
class Costs:
    """Constants of a cluster, in seconds.

    Parameters
    ----------
    per_pass : float
        To send the work of a pass and to return its result.
    per_task : float
        For the scheduler to run a task.
    per_partition : float
        For a thread to start with the next partition.
    per_statistic_byte : float
        To fill, send and merge a byte of a statistic.
    """

    per_pass: float
    per_task: float
    per_partition: float
    per_statistic_byte: float


@dataclass(frozen=True)
class Fit:
    """What a fit has to do.

    Parameters
    ----------
    passes : int
        Passes over the rows.
    n_bytes : float
        Size of the rows, persisted.
    n_partitions : int
    statistic_bytes : float
        Size of the statistics of all passes.
    per_byte : float
        Seconds in which one thread summarizes a byte of rows in one pass.
    alone : float
        Seconds of the client between the passes, such as for choosing splits.
    """

    passes: int
    n_bytes: float
    n_partitions: int
    statistic_bytes: float
    per_byte: float
    alone: float = 0.0


def predict_seconds(fit: Fit, costs: Costs, n_workers: int, n_threads: int = 1) -> float:
    """Predict the time of a fit on persisted rows.

    A pass costs a constant, its tasks one after another in the scheduler, and its partitions and
    bytes in parallel on all threads. Every round of merges fetches eight statistics.

    Examples
    --------
    >>> from benchmarks.cluster.cost import Costs, Fit, predict_seconds
    >>> costs = Costs(0.03, 0.002, 0.0002, 3e-9)
    >>> fit = Fit(passes=10, n_bytes=1e9, n_partitions=100, statistic_bytes=0, per_byte=1e-9)
    >>> round(predict_seconds(fit, costs, n_workers=2), 2)
    5.49
    """
    slots = n_workers * n_threads
    n_tasks = min(fit.n_partitions, max(2 * slots, fit.n_bytes / MAX_TASK_BYTES))
    rounds_of_merges = max(1, int(np.ceil(np.log(n_tasks) / np.log(FAN_IN)))) if n_tasks > 1 else 0
    per_pass = (
        costs.per_pass
        + costs.per_task * n_tasks * (1 + 1 / (FAN_IN - 1))
        + costs.per_partition * fit.n_partitions / slots
        + fit.per_byte * fit.n_bytes / slots
    )
    merged = (
        costs.per_statistic_byte
        * fit.statistic_bytes
        * (1 + rounds_of_merges * min(FAN_IN, n_tasks))
    )
    return fit.passes * per_pass + merged + fit.alone


def tree_statistic_bytes(depth: int, n_columns: int, max_bins: int, n_classes: int) -> float:
    """Return the size of the statistics of all depths, of nodes that are all split."""
    return (2.0**depth - 1) * n_columns * (max_bins + 1) * n_classes * 8


# Measured constants ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Zeros:
    """A statistic of a given size, without any work."""

    array: Any

    @classmethod
    def of(cls, batch: Any, size: int) -> Self:
        """Return zeros."""
        return cls(np.zeros(size, np.int64))

    def merge(self, other: Self) -> Self:
        """Add up."""
        return type(self)(self.array + other.array)


def measure_costs(rounds: int) -> Costs:
    """Measure the constants on the two workers, from passes that do nothing, in turn."""
    few, many, size, n_tasks, slots = 4, 1024, 2_000_000, 64, data.N_WORKERS
    from ceiba.stats import Moments, ToPoints

    points = ToPoints(), Moments.of
    passes = {
        "base": make_pass(few, few, _table, Zeros.of, 1),
        "tasks": make_pass(many, n_tasks, _table, Zeros.of, 1),
        "fewer tasks": make_pass(many, few, _table, Zeros.of, 1),
        "statistic": make_pass(few, few, _table, Zeros.of, size),
        "moments": make_pass(few, few, *points),
        "partitions": make_pass(many, few, *points),
    }
    times: dict[str, list[float]] = {name: [] for name in passes}
    for _ in range(rounds):
        for name, run in passes.items():
            times[name].append(busy_seconds(run) / _PASSES)
    minimum = {name: min(seconds) for name, seconds in times.items()}
    per_task = (minimum["tasks"] - minimum["fewer tasks"]) / (
        (n_tasks - few) * FAN_IN / (FAN_IN - 1)
    )
    return Costs(
        per_pass=max(0.0, minimum["base"] - per_task * few),
        per_task=max(0.0, per_task),
        per_partition=max(0.0, (minimum["partitions"] - minimum["moments"]) / (many - few) * slots),
        per_statistic_byte=max(
            0.0, (minimum["statistic"] - minimum["base"]) / (8 * size * (1 + few))
        ),
    )


def make_pass(
    n_partitions: int,
    n_tasks: int,
    prepare: Callable[..., Any],
    summarize: Callable[..., Any],
    *model: Any,
) -> Callable[[], None]:
    """Return a function that makes some passes over a small table."""
    from ceiba.engine.dask import placement
    from ceiba.engine.dask.engine import DaskEngine

    X, _ = data.persisted(np.zeros((1024, data.N_COLUMNS)), np.zeros(1024), n_partitions)
    engine = DaskEngine(data.client())
    rows = engine.rows(engine.source(X).partitions, prepare)
    with mock.patch.object(placement, "TASKS_PER_THREAD", n_tasks // data.N_WORKERS):
        engine.reduce(rows, summarize, *model)  # assigns the partitions to tasks, for all passes

    def run() -> None:
        for _ in range(_PASSES):
            engine.reduce(rows, summarize, *model)

    return run


def _table(chunk: Any) -> Any:
    return chunk.table


@dataclass(frozen=True)
class Part:
    """A partition in memory."""

    name: str
    chunk: Any

    def load(self) -> Any:
        """Return the rows."""
        return self.chunk


def one_worker(X: Any, y: Any, part_rows: int) -> tuple[Any, Any]:
    """Return an engine that runs the task of a worker in this process, and its source."""
    from ceiba.data.source import Chunk, PartitionedSource
    from ceiba.data.table import Table
    from ceiba.engine.chunks import ChunksEngine
    from ceiba.engine.contract import is_exact
    from ceiba.engine.dask import tasks

    class OneWorker(ChunksEngine):
        def reduce(self, rows: Any, summarize: Any, *model: Any) -> Any:
            parts = [(k, part.load(), rows.first_row(k)) for k, part in enumerate(rows.partitions)]
            work = tasks.Work(rows.prepare, summarize, model, len(parts))
            how = tasks.add_up if is_exact(summarize) else tasks.merge_in_row_order
            return tasks.merge_parts([how(work, parts)]).result()

    schema = Table.of(X[:1]).schema
    starts = range(0, len(X), part_rows)
    slices = [slice(start, start + part_rows) for start in starts]
    chunks = [Chunk(Table.of(X[rows], schema), y[rows]) for rows in slices]
    parts = [Part(str(number), chunk) for number, chunk in enumerate(chunks)]
    return OneWorker(1), PartitionedSource(schema, parts)


def learner_costs(
    learner: str, sizes: tuple[int, int], part_rows: int, passes: int, rounds: int
) -> tuple[float, float]:
    """Measure the seconds per byte and pass, and those of the client alone, from two sizes."""
    times, n_bytes = [], []
    for n_rows in sizes:
        X, y = data.table(1, n_rows)
        opened = one_worker(X, y, part_rows)
        with mock.patch("ceiba.base.estimator.choose_engine", return_value=opened):
            times.append(min(_cpu_seconds(learner, X, y) for _ in range(rounds)))
        n_bytes.append(X.nbytes)
    per_byte = (times[1] - times[0]) / (passes * (n_bytes[1] - n_bytes[0]))
    return per_byte, max(0.0, times[0] - per_byte * passes * n_bytes[0])


def _cpu_seconds(learner: str, X: Any, y: Any) -> float:
    start = time.process_time()
    data.FITS[learner](X, y)
    return time.process_time() - start


def busy_seconds(run: Callable[[], Any]) -> float:
    """Return the processor time of the client plus that of the workers by their number."""
    workers, start = data.cpu_seconds(), time.process_time()
    run()
    client = time.process_time() - start
    return client + (data.cpu_seconds() - workers) / data.N_WORKERS


# Comparison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One line of the table: a fit, its predicted and its measured seconds."""

    learner: str
    n_rows: int
    n_partitions: int
    passes: int
    predicted: float
    measured: float


def compare(learner: str, sizes: Sequence[tuple[int, int]], costs: Costs, rounds: int) -> list[Row]:
    """Predict and measure fits of some numbers of rows in some numbers of partitions."""
    rows = []
    for n_rows, n_partitions in sizes:
        X, y = data.table(0, n_rows)
        table = data.persisted(X, y, n_partitions)
        with data.client().as_current():
            with data.counted() as traffic:
                data.FITS[learner](*table)
            fit_once = partial(data.FITS[learner], *table)
            measured = min(busy_seconds(fit_once) for _ in range(rounds))
        part_rows = n_rows // n_partitions
        known = learner_costs(
            learner, (4 * part_rows, 64 * part_rows), part_rows, traffic.passes, rounds
        )
        fit = described(learner, X.nbytes, n_partitions, traffic.passes, *known)
        predicted = predict_seconds(fit, costs, data.N_WORKERS)
        rows.append(Row(learner, n_rows, n_partitions, traffic.passes, predicted, measured))
    return rows


def described(
    learner: str, n_bytes: float, n_partitions: int, passes: int, per_byte: float, alone: float
) -> Fit:
    """Return what one of the fits of `data.FITS` has to do."""
    statistic = passes * data.N_CLUSTERS * (data.N_COLUMNS + 2) * 8.0
    if learner == "tree":
        statistic = tree_statistic_bytes(data.DEPTH, data.N_COLUMNS, data.MAX_BINS, 2)
        statistic += min(n_bytes, SAMPLE_ROWS * data.N_COLUMNS * 8)
    return Fit(passes, n_bytes, n_partitions, statistic, per_byte, alone)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, compare, predict and write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster.cost", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(arguments)
    set_threads(1)
    rounds, factor = (1, 100) if args.quick else (args.rounds, 1)
    sizes = [(n // factor, parts) for n, parts in ((50_000, 16), (200_000, 64), (800_000, 256))]
    costs = measure_costs(rounds)
    print("constants:", ", ".join(f"{name} {value:.3g} s" for name, value in asdict(costs).items()))
    rows, known, large = [], {}, {}
    for learner in data.FITS:
        rows += compare(learner, sizes, costs, rounds)
        passes, part = rows[-1].passes, 200_000 // factor
        known[learner] = learner_costs(learner, (part // 4, part), part, passes, rounds)
        terabyte = described(learner, 1e12, 10_000, passes, *known[learner])
        large[learner] = predict_seconds(terabyte, costs, n_workers=100, n_threads=4)
    print("\n".join(report.align([_HEAD, *(_cells(row) for row in rows)])))
    for learner, (per_byte, alone) in known.items():
        text = f"{learner}: {per_byte * 1e9:.2f} ns per byte and pass, {alone:.2g} s alone"
        print(f"{text}; 1 TB in 10,000 partitions on 100 x 4 threads: {large[learner]:.0f} s")
    name = f"dask-cost{'-quick' if args.quick else ''}"
    content = {"costs": asdict(costs), "rows": [asdict(row) for row in rows]}
    report.write(name, {**content, "learners": known, "terabyte_seconds": large})
    print(f"written: benchmarks/results/{name}.json")
    return 0


_HEAD = ["learner", "rows", "partitions", "passes", "predicted", "measured", "ratio"]


def _cells(row: Row) -> list[str]:
    return [
        row.learner,
        f"{row.n_rows:,}",
        f"{row.n_partitions:,}",
        str(row.passes),
        report.format_duration(row.predicted),
        report.format_duration(row.measured),
        f"{row.predicted / row.measured:.2f}",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
