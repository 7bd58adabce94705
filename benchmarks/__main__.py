"""``python -m benchmarks [NAME ...]``: run workloads side by side with the peers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks.machine import fix_threads

if TYPE_CHECKING:
    from benchmarks.workload import Contestant, Workload

FEWEST_ROUNDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked; 1 if a quality check of ours failed, whatever the times."""
    parser = make_parser()
    asked = parser.parse_args(arguments)
    rounds = asked.rounds or (2 if asked.quick else FEWEST_ROUNDS)
    if rounds < FEWEST_ROUNDS and not asked.quick:
        parser.error(f"at least {FEWEST_ROUNDS} rounds make a measurement; --quick allows fewer")
    threads = fix_threads(asked.threads)
    # Only now: NumPy and the peers read the number of threads when they are loaded.
    from benchmarks import workloads

    try:
        selected = workloads.chosen(asked.names)
    except LookupError as error:
        parser.error(str(error))
    if asked.list:
        print("\n".join(f"{w.name:24} {w.rows:>9,} rows, {w.title}" for w in selected))
        return 0
    if asked.instructions is not None:
        return count_instructions(selected, asked)
    if asked.memory:
        return weigh_memory(selected, asked)
    print(f"{threads} threads each; * marks the fastest peer\n")
    return race(selected, rounds, asked)


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="workloads or families (kmeans); default: all")
    add("--list", action="store_true", help="list the workloads and stop")
    add("--rounds", type=positive, help=f"timed rounds, at least {FEWEST_ROUNDS} (default)")
    add("--quick", action="store_true", help="small data, 2 rounds: to try the harness itself")
    add("--seed", type=int, default=0, help="seed of the data (default 0)")
    add("--threads", type=positive, help="threads of everyone (default: OMP_NUM_THREADS or all)")
    add("--memory", action="store_true", help="peak memory, each contestant in a fresh process")
    add(
        "--instructions",
        metavar="LABEL",
        help="instructions of the contestants whose label contains LABEL, by callgrind",
    )
    return parser


def positive(text: str) -> int:
    """A whole number of at least one."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def race(selected: Sequence[Workload], rounds: int, asked: argparse.Namespace) -> int:
    """Time the workloads; print each table and write its JSON as soon as it is there."""
    from benchmarks import harness, report

    good = True
    for workload in selected:
        outcome = harness.run(workload, rounds=rounds, seed=asked.seed, quick=asked.quick)
        print(report.table(outcome), flush=True)
        name = f"{workload.name}-quick" if asked.quick else workload.name
        told = {"seed": asked.seed, "quick": asked.quick, **report.as_json(outcome)}
        print(f"\nwritten: benchmarks/results/{report.write(name, told).name}\n", flush=True)
        good = good and outcome.good
    if not good:
        print("The quality of ours differs: see the tables.", file=sys.stderr)
    return 0 if good else 1


def count_instructions(selected: Sequence[Workload], asked: argparse.Namespace) -> int:
    """Instructions a call of the contestants that were named."""
    from benchmarks import alone

    if not alone.has_valgrind():
        print("valgrind is not installed: no instructions counted")
        return 0

    def figure(workload: Workload, contestant: Contestant) -> str:
        count = alone.instructions(workload, contestant, asked.seed, asked.quick)
        return f"{count / workload.calls:>17,.0f} instructions"

    return print_figures(installed(selected, asked.instructions), figure)


def weigh_memory(selected: Sequence[Workload], asked: argparse.Namespace) -> int:
    """Peak memory of every contestant, above what its data take."""
    from benchmarks import alone

    def figure(workload: Workload, contestant: Contestant) -> str:
        raised = alone.memory(workload, contestant, asked.seed, asked.quick)
        return f"{raised / 1e6:>10,.1f} MB above the data"

    return print_figures(installed(selected, ""), figure)


def print_figures(
    pairs: Sequence[tuple[Workload, Contestant]], figure: Callable[[Workload, Contestant], str]
) -> int:
    """One line a contestant, in its own process; 1 if ours failed there."""
    status = 0
    for workload, contestant in pairs:
        try:
            told = figure(workload, contestant)
        except RuntimeError as error:
            told = f"failed: {str(error).splitlines()[-1]}"
            status |= contestant.ours
        name = f"{workload.name:24} {contestant.group:10} {contestant.label:28}"
        print(f"{name}{told}", flush=True)
    return status


def installed(selected: Sequence[Workload], label: str) -> list[tuple[Workload, Contestant]]:
    """The contestants that are there and whose label contains ``label``."""
    return [(w, c) for w in selected for c in w.contestants if label in c.label and c.installed()]


if __name__ == "__main__":
    raise SystemExit(main())
