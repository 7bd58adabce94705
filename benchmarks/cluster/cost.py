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
    """

    passes: int
    n_bytes: float
    n_partitions: int
    statistic_bytes: float
    per_byte: float


def predict_seconds(fit: Fit, costs: Costs, n_workers: int, n_threads: int = 1) -> float:
    """Predict the time of a fit on persisted rows.

    A pass costs a constant, its tasks one after another in the scheduler, and its partitions and
    bytes in parallel on all threads. Every level of the tree of merges fetches eight statistics.

    Examples
    --------
    >>> from benchmarks.cluster.cost import Costs, Fit, predict_seconds
    >>> costs = Costs(0.03, 0.002, 0.0002, 3e-9)
    >>> fit = Fit(passes=10, n_bytes=1e9, n_partitions=100, statistic_bytes=0, per_byte=1e-9)
    >>> round(predict_seconds(fit, costs, n_workers=2), 2)
    5.5
    """
    slots = n_workers * n_threads
    n_tasks = min(fit.n_partitions, max(2 * slots, fit.n_bytes / MAX_TASK_BYTES))
    levels = max(1, int(np.ceil(np.log(n_tasks) / np.log(FAN_IN)))) if n_tasks > 1 else 0
    per_pass = (
        costs.per_pass
        + costs.per_task * n_tasks * (1 + 1 / (FAN_IN - 1))
        + costs.per_partition * fit.n_partitions / slots
        + fit.per_byte * fit.n_bytes / slots
    )
    merged = costs.per_statistic_byte * fit.statistic_bytes * (1 + levels * min(FAN_IN, n_tasks))
    return fit.passes * per_pass + merged


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
    """Measure the constants on the two workers, from passes that do nothing."""
    from ceiba.engine.dask import placement

    few, many, slots = 4, 1024, data.N_WORKERS
    base = seconds_of_pass(few, 1, rounds)
    more_partitions = seconds_of_pass(many, 1, rounds)
    with mock.patch.object(placement, "TASKS_PER_THREAD", 32):
        more_tasks = seconds_of_pass(many, 1, rounds)
    size = 2_000_000
    large = seconds_of_pass(few, size, rounds)
    n_tasks = 32 * slots
    per_task = (more_tasks - more_partitions) / ((n_tasks - few) * (1 + 1 / (FAN_IN - 1)))
    return Costs(
        per_pass=max(0.0, base - per_task * few),
        per_task=max(0.0, per_task),
        per_partition=max(0.0, (more_partitions - base) / (many - few) * slots),
        per_statistic_byte=max(0.0, (large - base) / (8 * size * (1 + few))),
    )


def seconds_of_pass(n_partitions: int, size: int, rounds: int) -> float:
    """Return the minimum time of a pass with statistics of some numbers."""
    from ceiba.engine.dask.engine import DaskEngine

    X, _ = data.persisted(np.zeros((1024, 2)), np.zeros(1024), n_partitions)
    engine = DaskEngine(data.client())
    rows = engine.rows(engine.source(X).partitions, _table)
    engine.reduce(rows, Zeros.of, size)  # holds the partitions

    def run() -> None:
        for _ in range(_PASSES):
            engine.reduce(rows, Zeros.of, size)

    return min(busy_seconds(run) for _ in range(rounds)) / _PASSES


def _table(chunk: Any) -> Any:
    return chunk.table


def seconds_per_byte(learner: str, n_rows: int, passes: int, rounds: int) -> float:
    """Measure how long a thread summarizes a byte of rows: one partition, one thread, no Dask."""
    from ceiba.engine import choose
    from ceiba.engine.chunks import ChunksEngine

    X, y = data.table(1, n_rows)
    _, source = choose.choose_engine(X, y=y, supervised=True)
    one_thread = ChunksEngine(1), source
    seconds = []
    with mock.patch("ceiba.base.estimator.choose_engine", return_value=one_thread):
        for _ in range(rounds):
            start = time.process_time()
            data.FITS[learner](X, y)
            seconds.append(time.process_time() - start)
    return min(seconds) / (passes * X.nbytes)


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
    rows, per_byte = [], 0.0
    for n_rows, n_partitions in sizes:
        X, y = data.table(0, n_rows)
        table = data.persisted(X, y, n_partitions)
        with data.client().as_current():
            with data.counted() as traffic:
                data.FITS[learner](*table)
            fit_once = partial(data.FITS[learner], *table)
            measured = min(busy_seconds(fit_once) for _ in range(rounds))
        per_byte = per_byte or seconds_per_byte(learner, 100_000, traffic.passes, rounds)
        fit = described(learner, X.nbytes, n_partitions, traffic.passes, per_byte)
        predicted = predict_seconds(fit, costs, data.N_WORKERS)
        rows.append(Row(learner, n_rows, n_partitions, traffic.passes, predicted, measured))
    return rows


def described(learner: str, n_bytes: float, n_partitions: int, passes: int, per_byte: float) -> Fit:
    """Return what one of the fits of `data.FITS` has to do."""
    statistic = passes * data.N_CLUSTERS * (data.N_COLUMNS + 2) * 8.0
    if learner == "tree":
        statistic = tree_statistic_bytes(data.DEPTH, data.N_COLUMNS, data.MAX_BINS, 2)
    return Fit(passes, n_bytes, n_partitions, statistic, per_byte)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, compare, predict and write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster.cost", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(arguments)
    set_threads(1)
    rounds = 1 if args.quick else args.rounds
    sizes = [(50_000, 16), (200_000, 64), (800_000, 256)]
    if args.quick:
        sizes = [(n // 100, parts) for n, parts in sizes]
    costs = measure_costs(rounds)
    print("constants:", ", ".join(f"{name} {value:.3g} s" for name, value in asdict(costs).items()))
    rows: list[Row] = []
    large: dict[str, float] = {}
    rates: dict[str, float] = {}
    for learner in data.FITS:
        own = compare(learner, sizes, costs, rounds)
        rows += own
        passes = own[-1].passes
        rates[learner] = seconds_per_byte(learner, 1_000 if args.quick else 100_000, passes, rounds)
        terabyte = described(learner, 1e12, 10_000, passes, rates[learner])
        large[learner] = predict_seconds(terabyte, costs, n_workers=100, n_threads=4)
    print("\n".join(report.align([_HEAD, *(_cells(row) for row in rows)])))
    for learner, seconds in large.items():
        rate = f"{rates[learner] * 1e9:.2f} ns per byte and pass"
        print(f"{learner}: {rate}; 1 TB in 10,000 partitions on 100 x 4 threads {seconds:.0f} s")
    name = f"dask-cost{'-quick' if args.quick else ''}"
    content = {"costs": asdict(costs), "rows": [asdict(row) for row in rows]}
    report.write(name, {**content, "per_byte": rates, "terabyte_seconds": large})
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
