"""Measure the bandwidth of the histograms of gradient boosting relative to that of a copy.

``python -m benchmarks.boosting.bandwidth`` times fits of stumps and a copy of memory alternately,
prints both rates, and writes ``boosting-bandwidth.json`` to the results.

A stump counts the rows of its root once, so it reads one byte per row and column: the code of the
bin. The time of that is the difference of four fits, with few and many trees on few and many
columns: what does not grow with both, such as binning the table or the gradients, cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from benchmarks import report
from benchmarks.harness import rotate, time_call
from benchmarks.machine import set_threads
from benchmarks.script import make_timing_parser, n_timing_rounds


@dataclass(frozen=True)
class Size:
    """Rows of the table, numbers of trees and columns that differ, and bytes of the copy."""

    rows: int
    trees: tuple[int, int]
    columns: tuple[int, int]
    copied: int

    @property
    def n_bytes(self) -> int:
        """Return the codes that the difference of the fits reads."""
        trees, columns = (last - first for first, last in (self.trees, self.columns))
        return self.rows * trees * columns


# Codes and copies are several times as large as the caches.
FULL = Size(rows=500_000, trees=(10, 60), columns=(28, 140), copied=1 << 29)
QUICK = Size(rows=5_000, trees=(2, 6), columns=(7, 28), copied=1 << 22)


@dataclass
class Work:
    """Something to time, and its seconds per round."""

    label: str
    run: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)


def copy_work(n_bytes: int, threads: int) -> Work:
    """Return a copy of an array by several threads."""
    import numpy as np

    source = np.ones((threads, n_bytes // 8 // threads))
    target = np.empty_like(source)
    pool = ThreadPoolExecutor(threads)
    return Work("copy", lambda: list(pool.map(np.copyto, target, source)))


def stump_fits(size: Size, seed: int) -> list[Work]:
    """Return our fits of stumps: few and many columns, each with few and many trees."""
    from benchmarks.boosting import peers
    from benchmarks.tree.data import normal_table

    tables = {p: normal_table("regression", seed, size.rows, p) for p in size.columns}

    def work(n_columns: int, n_trees: int) -> Work:
        stumps = peers.ceiba("regression", n_trees, 2)
        return Work(f"{n_trees} trees, {n_columns} columns", lambda: stumps.fit(tables[n_columns]))

    return [work(*pair) for pair in product(size.columns, size.trees)]


def measure(works: Sequence[Work], rounds: int) -> None:
    """Warm up, then time them in turn."""
    for work in works:
        work.run()
    for turn in range(rounds):
        for work in rotate(works, turn):
            work.seconds.append(time_call(lambda each: each(), work.run)[0])


def histogram_seconds(fits: Sequence[Work]) -> float:
    """Return the time of the codes that only many trees on many columns read."""
    few_few, few_many, many_few, many_many = (min(work.seconds) for work in fits)
    return (many_many - many_few) - (few_many - few_few)


# Table and command -----------------------------------------------------------------------------


def rates(copy: Work, fits: Sequence[Work], size: Size) -> list[dict[str, Any]]:
    """Return bytes, seconds and bandwidth: of the copy, which reads and writes, and of ours."""
    moved = {
        "copy": (2 * size.copied, min(copy.seconds)),
        "histograms": (size.n_bytes, histogram_seconds(fits)),
    }
    return [
        {
            "label": label,
            "n_bytes": n,
            "seconds": seconds,
            "gigabytes_per_second": n / seconds / 1e9,
        }
        for label, (n, seconds) in moved.items()
    ]


def table(found: Sequence[dict[str, Any]]) -> str:
    """Return one line per rate; fractions refer to the copy."""
    head = ["memory", "bytes", "time", "GB/s", "fraction of a copy"]
    peak = found[0]["gigabytes_per_second"]
    lines = [
        [
            rate["label"],
            f"{rate['n_bytes'] / 1e9:.2f}e9",
            report.format_duration(rate["seconds"]),
            f"{rate['gigabytes_per_second']:.2f}",
            f"{rate['gigabytes_per_second'] / peak:.0%}",
        ]
        for rate in found
    ]
    return "\n".join(report.align([head, *lines]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers."""
    parser = make_timing_parser("benchmarks.boosting.bandwidth", __doc__)
    args = parser.parse_args(arguments)
    rounds = n_timing_rounds(parser, args)
    threads = set_threads(args.threads)
    size = QUICK if args.quick else FULL
    copy, fits = copy_work(size.copied, threads), stump_fits(size, args.seed)
    measure([copy, *fits], rounds)
    found = rates(copy, fits, size)
    print(f"{threads} threads each\n\n{table(found)}", flush=True)
    name = f"boosting-bandwidth{'-quick' if args.quick else ''}"
    seconds = {work.label: work.seconds for work in (copy, *fits)}
    content = {"seed": args.seed, "n_rounds": rounds, "rates": found, "seconds": seconds}
    print(f"\nwritten: benchmarks/results/{report.write(name, content).name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
