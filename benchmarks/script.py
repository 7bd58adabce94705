"""The options that the scripts beside the workloads have."""

from __future__ import annotations

import argparse

MIN_ROUNDS = 5


def make_parser(
    prog: str,
    description: str | None,
    rounds: str,
    quick: str = "small sizes, two rounds: a test of the script",
) -> argparse.ArgumentParser:
    """Return a parser of the options of a script; ``rounds`` and ``quick`` describe two of them."""
    parser = argparse.ArgumentParser(prog=f"python -m {prog}", description=description)
    add = parser.add_argument
    add("--quick", action="store_true", help=quick)
    add("--rounds", type=int, help=rounds)
    add("--seed", type=int, default=0, help="seed of the data (default 0)")
    add("--threads", type=int, help="default: OMP_NUM_THREADS or all cores")
    return parser


def make_timing_parser(prog: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a script that times several things in turn."""
    return make_parser(prog, description, f"timed rounds, at least {MIN_ROUNDS} (default)")


def n_timing_rounds(parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Return the number of rounds; end with a message if they are too few."""
    rounds: int = args.rounds or (2 if args.quick else MIN_ROUNDS)
    if rounds < MIN_ROUNDS and not args.quick:
        parser.error(f"--rounds must be at least {MIN_ROUNDS} without --quick, got {rounds}.")
    return rounds


def make_scaling_parser(prog: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a script that times a grid of sizes."""
    rounds = "timed rounds per point (default 3)"
    return make_parser(prog, description, rounds, "small grids, one round: a test of the script")


def n_scaling_rounds(args: argparse.Namespace) -> int:
    """Return the number of rounds per point."""
    return args.rounds or (1 if args.quick else 3)
