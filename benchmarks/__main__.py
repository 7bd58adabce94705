"""Compare Ceiba with its peers: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks.machine import set_threads

if TYPE_CHECKING:
    from benchmarks.workload import Implementation, Workload

MIN_ROUNDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected workloads; return 1 if a quality check of ours failed."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    rounds = args.rounds or (2 if args.quick else MIN_ROUNDS)
    if args.rounds and (args.list or args.memory or args.instructions is not None):
        parser.error("--rounds has no effect with --list, --memory and --instructions.")
    if rounds < MIN_ROUNDS and not args.quick:
        parser.error(f"--rounds must be at least {MIN_ROUNDS} without --quick, got {rounds}.")
    threads = set_threads(args.threads)
    # Not before: NumPy and the peers read the number of threads when they are loaded.
    from benchmarks import workloads

    try:
        selected = workloads.select(args.names)
    except LookupError as error:
        parser.error(str(error))
    if args.list:
        print("\n".join(f"{w.name:32} {w.n_rows:>9,} rows, {w.title}" for w in selected))
        return 0
    if args.instructions is not None:
        return print_instructions(selected, args)
    if args.memory:
        return print_memory(selected, args)
    print(f"{threads} threads each; * marks the fastest peer\n")
    return compare(selected, rounds, args)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="workloads or families (kmeans); default: all")
    instead = parser.add_mutually_exclusive_group().add_argument
    instead("--list", action="store_true", help="list the workloads and exit")
    add("--rounds", type=positive_int, help=f"timed rounds, at least {MIN_ROUNDS} (default)")
    add("--quick", action="store_true", help="small data, 2 rounds: a test of the harness")
    add("--seed", type=int, default=0, help="seed of the data (default 0)")
    add("--threads", type=positive_int, help="threads (default: OMP_NUM_THREADS or all cores)")
    instead("--memory", action="store_true", help="peak memory, each in a fresh process")
    instead(
        "--instructions",
        metavar="LABEL",
        help="instructions of the implementations whose label contains LABEL, by callgrind",
    )
    return parser


def positive_int(text: str) -> int:
    """Convert to an integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}.")
    return value


def compare(selected: Sequence[Workload], rounds: int, args: argparse.Namespace) -> int:
    """Time the workloads; print each table and write its JSON as soon as it is ready."""
    from benchmarks import harness, report

    passed = True
    for workload in selected:
        comparison = harness.run(workload, rounds=rounds, seed=args.seed, quick=args.quick)
        print(report.table(comparison), flush=True)
        name = f"{workload.name}-quick" if args.quick else workload.name
        content = {"seed": args.seed, "quick": args.quick, **report.to_json(comparison)}
        print(f"\nwritten: benchmarks/results/{report.write(name, content).name}\n", flush=True)
        passed = passed and comparison.passed
    if not passed:
        print("The quality of ours differs: see the tables.", file=sys.stderr)
    return 0 if passed else 1


def print_instructions(selected: Sequence[Workload], args: argparse.Namespace) -> int:
    """Print the instructions per call of the implementations selected by label."""
    from benchmarks import isolated

    if not isolated.has_valgrind():
        print("valgrind is not installed: instructions cannot be counted")
        return 0

    def measure(workload: Workload, implementation: Implementation) -> str:
        count = isolated.count_instructions(workload, implementation, args.seed, args.quick)
        return f"{count / workload.n_calls:>17,.0f} instructions"

    return print_values(installed(selected, args.instructions), measure)


def print_memory(selected: Sequence[Workload], args: argparse.Namespace) -> int:
    """Print the peak memory of every implementation, above that of its data."""
    from benchmarks import isolated

    def measure(workload: Workload, implementation: Implementation) -> str:
        increase = isolated.peak_memory(workload, implementation, args.seed, args.quick)
        return f"{increase / 1e6:>10,.1f} MB above the data"

    return print_values(installed(selected, ""), measure)


def print_values(
    pairs: Sequence[tuple[Workload, Implementation]],
    measure: Callable[[Workload, Implementation], str],
) -> int:
    """Print one line per implementation; return 1 if one of ours failed."""
    exit_code = 0
    for workload, implementation in pairs:
        try:
            value = measure(workload, implementation)
        except RuntimeError as error:
            value = f"failed: {str(error).splitlines()[-1]}"
            exit_code |= implementation.ours
        name = f"{workload.name:32} {implementation.group:22} {implementation.label:30}"
        print(f"{name}{value}", flush=True)
    return exit_code


def installed(selected: Sequence[Workload], label: str) -> list[tuple[Workload, Implementation]]:
    """Return the installed implementations whose label contains ``label``."""
    return [
        (workload, each)
        for workload in selected
        for each in workload.implementations
        if label in each.label and each.is_installed()
    ]


if __name__ == "__main__":
    raise SystemExit(main())
