"""How near EM comes to the machine's peak: its operations a second beside a matrix product's.

``python -m benchmarks.mixture_rate`` runs our fit of ``mixture-full`` and NumPy's product of two
large matrices in turn, prints both rates, and leaves ``mixture-rate.json`` among the results.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks import report
from benchmarks.harness import rotated, timed
from benchmarks.machine import fix_threads

FEWEST_ROUNDS = 5
# Large enough for a BLAS to reach its peak: a product takes some tenths of a second.
SIDE, QUICK_SIDE = 2_048, 256


@dataclass
class Rate:
    """Work whose operations are known, and the seconds that it took every round."""

    label: str
    operations: int
    run: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)

    @property
    def billions(self) -> float:
        """10⁹ operations a second in the fastest round."""
        return self.operations / min(self.seconds) / 1e9


def em_operations(rows: int, columns: int, k: int, iterations: int) -> int:
    """Operations that EM with full covariances cannot do without, whoever does it.

    For every row and component: the product with a triangular matrix (E) and the symmetric
    second moments (M), each a multiplication and an addition for half of the matrix and its
    diagonal; an exponential (E), counted as a single operation. A last E step tells the
    likelihood of the final parameters.
    """
    half = columns * (columns + 1) // 2
    expectation, maximisation = 2 * half + 1, 2 * half
    return rows * k * ((iterations + 1) * expectation + iterations * maximisation)


def matrix_product(side: int, seed: int) -> Rate:
    """NumPy's product of two square matrices: what its BLAS makes of the machine."""
    import numpy as np

    left, right = np.random.default_rng(seed).standard_normal((2, side, side))
    out = np.empty((side, side))
    label = f"dgemm, {side:,} x {side:,}"
    return Rate(label, 2 * side**3, lambda: np.matmul(left, right, out=out))


def our_fit(seed: int, quick: bool) -> Rate:
    """Ours on the data of ``mixture-full``."""
    from benchmarks import workloads
    from benchmarks.mixture_peers import ITERATIONS

    workload = workloads.found("mixture-full")
    start = workload.data(seed, workload.size(quick))["float64"]
    (rows, columns), k = start.X.shape, len(start.weights)
    run = workload.contestant("ceiba", "float64").run
    label = f"ceiba, {rows:,} x {columns}, {k} components, {ITERATIONS} iterations"
    return Rate(label, em_operations(rows, columns, k, ITERATIONS), lambda: run(start))


def measure(rates: Sequence[Rate], rounds: int) -> None:
    """Warm up, then time them in turn."""
    with warnings.catch_warnings():
        # The number of iterations is fixed: that it has not converged is no news.
        warnings.simplefilter("ignore")
        for each in rates:
            each.run()
        for turn in range(rounds):
            for each in rotated(rates, turn):
                each.seconds.append(timed(lambda work: work(), each.run)[0])


# Table and command -----------------------------------------------------------------------------


def table(rates: Sequence[Rate]) -> str:
    """A line each; the first is the peak that shares are told of."""
    head = ["double precision", "operations", "least", "median", "GFLOP/s", "share of dgemm"]
    return "\n".join(report.aligned([head, *(cells(each, rates[0]) for each in rates)]))


def cells(rate: Rate, peak: Rate) -> list[str]:
    """One line of the table."""
    return [
        rate.label,
        f"{rate.operations / 1e9:.2f}e9",
        report.duration(min(rate.seconds)),
        report.duration(median(rate.seconds)),
        f"{rate.billions:.1f}",
        f"{rate.billions / peak.billions:.0%}",
    ]


def as_json(rate: Rate) -> dict[str, Any]:
    """Everything measured, each round included."""
    return {
        "label": rate.label,
        "operations": rate.operations,
        "gflops": rate.billions,
        "seconds": rate.seconds,
    }


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixture_rate", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small sizes, two rounds: does it run at all?")
    add("--rounds", type=int, help=f"timed rounds, at least {FEWEST_ROUNDS} (default)")
    add("--seed", type=int, default=0, help="seed of the data (default 0)")
    add("--threads", type=int, help="default: OMP_NUM_THREADS or every core")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers."""
    parser = make_parser()
    asked = parser.parse_args(arguments)
    rounds = asked.rounds or (2 if asked.quick else FEWEST_ROUNDS)
    if rounds < FEWEST_ROUNDS and not asked.quick:
        parser.error(f"at least {FEWEST_ROUNDS} rounds make a measurement; --quick allows fewer")
    # Before NumPy is loaded: its BLAS reads the number of threads only then.
    threads = fix_threads(asked.threads)
    side = QUICK_SIDE if asked.quick else SIDE
    rates = [matrix_product(side, asked.seed), our_fit(asked.seed, asked.quick)]
    measure(rates, rounds)
    print(f"{threads} threads each\n\n{table(rates)}", flush=True)
    name = f"mixture-rate{'-quick' if asked.quick else ''}"
    told = {"seed": asked.seed, "rounds": rounds, "rates": [as_json(each) for each in rates]}
    print(f"\nwritten: benchmarks/results/{report.write(name, told).name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
