"""Fit k-means on files larger than memory: wall time and peak resident memory.

``python -m benchmarks.kmeans.large_files --folder FOLDER`` takes a folder made by
``benchmarks.kmeans.make_large_files`` and fits each format in it in a fresh process.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from benchmarks import memory, report
from benchmarks.machine import set_threads

Init = Literal["k-means++", "random"]
FORMATS = ("parquet", "csv")


def find_files(folder: Path, suffix: str) -> list[Path]:
    """Return the files of one format in a folder, sorted."""
    return sorted(folder.glob(f"*.{suffix}"))


def fit(
    paths: list[str], n_clusters: int, n_iterations: int, init: Init, target: str | None
) -> dict[str, Any]:
    """Fit through `ceiba.scan`; runs in a process of its own."""
    import ceiba

    model = ceiba.KMeans(n_clusters=n_clusters, init=init, n_init=1, max_iter=n_iterations, tol=0.0)
    model.fit(ceiba.scan(paths, target=target))
    return {"iterations": int(model.n_iter_), "inertia": float(model.inertia_)}


def measure(suffix: str, args: argparse.Namespace) -> dict[str, Any]:
    """Measure one format: its size, the time, the peak, and the fitted model."""
    paths = find_files(args.folder, suffix)
    settings = {
        "n_clusters": args.clusters,
        "n_iterations": args.iterations,
        "init": args.init,
        "target": args.target,
    }
    arguments = {"paths": [str(path.resolve()) for path in paths], **settings}
    measured = memory.measure("benchmarks.kmeans.large_files:fit", arguments)
    return {
        "format": suffix,
        "n_files": len(paths),
        "bytes": sum(path.stat().st_size for path in paths),
        "seconds": measured.seconds,
        "peak_bytes": measured.peak,
        **settings,
        "fitted": measured.result,
    }


def table(measured: Sequence[dict[str, Any]]) -> str:
    """Return one line per format."""
    head = ["format", "files", "on disk", "time", "peak memory", "iterations", "inertia"]
    return "\n".join(report.align([head, *(cells(each) for each in measured)]))


def cells(measured: dict[str, Any]) -> list[str]:
    """Return one line of the table."""
    return [
        measured["format"],
        str(measured["n_files"]),
        f"{measured['bytes'] / 1e9:.2f} GB",
        report.format_duration(measured["seconds"]),
        f"{measured['peak_bytes'] / 1e6:.0f} MB",
        str(measured["fitted"]["iterations"]),
        f"{measured['fitted']['inertia']:.9g}",
    ]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kmeans.large_files", description=__doc__
    )
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="folder of Parquet or CSV parts")
    add("--format", choices=FORMATS, help="only this format (default: all in the folder)")
    add("--clusters", type=int, default=8)
    add("--iterations", type=int, default=5)
    add("--init", choices=get_args(Init), default="k-means++")
    add("--target", help="column to exclude from the features")
    add("--threads", type=int, help="default: OMP_NUM_THREADS or all cores")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write ``results/kmeans-large-files.json``."""
    parser = make_parser()
    args = parser.parse_args(arguments)
    formats = (args.format,) if args.format else FORMATS
    available = [each for each in formats if find_files(args.folder, each)]
    if not available:
        parser.error(
            f"--folder must contain {' or '.join(formats)} files, got {args.folder}; make them "
            "with python -m benchmarks.kmeans.make_large_files."
        )
    set_threads(args.threads)
    measured = [measure(each, args) for each in available]
    print(table(measured))
    path = report.write("kmeans-large-files", {"fits": measured})
    print(f"\nwritten: benchmarks/results/{path.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
