"""k-means on files larger than memory: wall time and peak resident memory.

``python -m benchmarks.large_source --folder FOLDER`` takes a folder made by
``benchmarks.make_large_source`` and fits each kind of file in it in a fresh process.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from benchmarks import memory, report
from benchmarks.machine import fix_threads

Init = Literal["k-means++", "random"]
KINDS = ("parquet", "csv")


def files(folder: Path, kind: str) -> list[Path]:
    """The folder's files of one kind, in order."""
    return sorted(folder.glob(f"*.{kind}"))


def fit(
    paths: list[str], clusters: int, iterations: int, init: Init, target: str | None
) -> dict[str, Any]:
    """Fit through `ceiba.scan`; it runs in a process of its own."""
    import ceiba

    model = ceiba.KMeans(n_clusters=clusters, init=init, n_init=1, max_iter=iterations, tol=0.0)
    model.fit(ceiba.scan(paths, target=target))
    return {"iterations": int(model.n_iter_), "inertia": float(model.inertia_)}


def measure(kind: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One kind of file: its size, the time, the peak, and what was learnt."""
    paths = files(asked.folder, kind)
    settings = {
        "clusters": asked.clusters,
        "iterations": asked.iterations,
        "init": asked.init,
        "target": asked.target,
    }
    arguments = {"paths": [str(path.resolve()) for path in paths], **settings}
    found = memory.measure("benchmarks.large_source:fit", arguments)
    return {
        "kind": kind,
        "files": len(paths),
        "bytes": sum(path.stat().st_size for path in paths),
        "seconds": found.seconds,
        "peak_bytes": found.peak,
        **settings,
        "learnt": found.answer,
    }


def table(measured: Sequence[dict[str, Any]]) -> str:
    """A line a kind of file."""
    head = ["source", "files", "on disk", "time", "peak memory", "iterations", "inertia"]
    return "\n".join(report.aligned([head, *(cells(found) for found in measured)]))


def cells(found: dict[str, Any]) -> list[str]:
    """One line of the table."""
    return [
        found["kind"],
        str(found["files"]),
        f"{found['bytes'] / 1e9:.2f} GB",
        report.duration(found["seconds"]),
        f"{found['peak_bytes'] / 1e6:.0f} MB",
        str(found["learnt"]["iterations"]),
        f"{found['learnt']['inertia']:.9g}",
    ]


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_source", description=__doc__)
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="folder of Parquet or CSV parts")
    add("--kind", choices=KINDS, help="only this kind of file (default: each that is there)")
    add("--clusters", type=int, default=8)
    add("--iterations", type=int, default=5)
    add("--init", choices=get_args(Init), default="k-means++")
    add("--target", help="column to leave out of the attributes")
    add("--threads", type=int, help="default: OMP_NUM_THREADS or every core")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write ``results/large-source.json``."""
    parser = make_parser()
    asked = parser.parse_args(arguments)
    wanted = (asked.kind,) if asked.kind else KINDS
    kinds = [kind for kind in wanted if files(asked.folder, kind)]
    if not kinds:
        parser.error(
            f"no {' or '.join(wanted)} files in {asked.folder}: make some with "
            "python -m benchmarks.make_large_source"
        )
    fix_threads(asked.threads)
    measured = [measure(kind, asked) for kind in kinds]
    print(table(measured))
    print(f"\nwritten: benchmarks/results/{report.write('large-source', {'fits': measured}).name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
