"""Measure the floating-point rate of EM relative to that of a matrix product.

``python -m benchmarks.mixture.flop_rate`` times our fit of ``mixture-full`` and NumPy's product of
two large matrices alternately, prints both rates, and writes ``mixture-flop-rate.json`` to the
results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks import report
from benchmarks.harness import rotate, time_call
from benchmarks.machine import set_threads
from benchmarks.script import make_timing_parser, n_timing_rounds

# Large enough for a BLAS to reach its peak: a product takes some tenths of a second.
SIZE, QUICK_SIZE = 2_048, 256


@dataclass
class Rate:
    """Work with a known number of operations, and its seconds per round."""

    label: str
    n_operations: int
    run: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)

    @property
    def gflops(self) -> float:
        """10⁹ operations per second in the fastest round."""
        return self.n_operations / min(self.seconds) / 1e9


def em_operations(n_rows: int, n_columns: int, n_components: int, n_iterations: int) -> int:
    """Count the operations that any EM with full covariances needs.

    Per row and component: the product with a triangular matrix (E) and the symmetric second
    moments (M), each a multiplication and an addition for half of the matrix and its diagonal; an
    exponential (E), counted as one operation. A last E step computes the likelihood of the final
    parameters.
    """
    half = n_columns * (n_columns + 1) // 2
    e_step, m_step = 2 * half + 1, 2 * half
    return n_rows * n_components * ((n_iterations + 1) * e_step + n_iterations * m_step)


def matrix_product(size: int, seed: int) -> Rate:
    """Return NumPy's product of two square matrices: the rate of its BLAS."""
    import numpy as np

    left, right = np.random.default_rng(seed).standard_normal((2, size, size))
    out = np.empty((size, size))
    label = f"dgemm, {size:,} x {size:,}"
    return Rate(label, 2 * size**3, lambda: np.matmul(left, right, out=out))


def ceiba_fit(seed: int, quick: bool) -> Rate:
    """Return our fit on the data of ``mixture-full``."""
    from benchmarks import workloads
    from benchmarks.mixture.peers import N_ITERATIONS

    workload = workloads.get("mixture-full")
    problem = workload.make_data(seed, workload.size(quick))["float64"]
    (n_rows, n_columns), k = problem.X.shape, len(problem.weights)
    run = workload.find("ceiba", "float64").run
    label = f"ceiba, {n_rows:,} x {n_columns}, {k} components, {N_ITERATIONS} iterations"
    return Rate(label, em_operations(n_rows, n_columns, k, N_ITERATIONS), lambda: run(problem))


def measure(rates: Sequence[Rate], rounds: int) -> None:
    """Warm up, then time them in turn."""
    with warnings.catch_warnings():
        # The number of iterations is fixed on purpose: warnings of non-convergence are expected.
        warnings.simplefilter("ignore")
        for rate in rates:
            rate.run()
        for turn in range(rounds):
            for rate in rotate(rates, turn):
                rate.seconds.append(time_call(lambda work: work(), rate.run)[0])


# Table and command -----------------------------------------------------------------------------


def table(rates: Sequence[Rate]) -> str:
    """Return one line per rate; fractions refer to the first."""
    head = ["double precision", "operations", "min", "median", "GFLOP/s", "fraction of dgemm"]
    return "\n".join(report.align([head, *(cells(rate, rates[0]) for rate in rates)]))


def cells(rate: Rate, peak: Rate) -> list[str]:
    """Return one line of the table."""
    return [
        rate.label,
        f"{rate.n_operations / 1e9:.2f}e9",
        report.format_duration(min(rate.seconds)),
        report.format_duration(median(rate.seconds)),
        f"{rate.gflops:.1f}",
        f"{rate.gflops / peak.gflops:.0%}",
    ]


def to_json(rate: Rate) -> dict[str, Any]:
    """Return all measurements, each round included."""
    return {
        "label": rate.label,
        "n_operations": rate.n_operations,
        "gflops": rate.gflops,
        "seconds": rate.seconds,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers."""
    parser = make_timing_parser("benchmarks.mixture.flop_rate", __doc__)
    args = parser.parse_args(arguments)
    rounds = n_timing_rounds(parser, args)
    # Before NumPy is loaded: its BLAS reads the number of threads only then.
    threads = set_threads(args.threads)
    size = QUICK_SIZE if args.quick else SIZE
    rates = [matrix_product(size, args.seed), ceiba_fit(args.seed, args.quick)]
    measure(rates, rounds)
    print(f"{threads} threads each\n\n{table(rates)}", flush=True)
    name = f"mixture-flop-rate{'-quick' if args.quick else ''}"
    content = {"seed": args.seed, "n_rounds": rounds, "rates": [to_json(rate) for rate in rates]}
    print(f"\nwritten: benchmarks/results/{report.write(name, content).name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
