"""Write a table of Gaussian clusters that is larger than memory, as Parquet or CSV parts.

``python -m benchmarks.kmeans.make_large_files FOLDER --gigabytes 4 --format parquet`` streams rows
into several files with one block of rows in memory. A seed gives the same rows for any number and
format of files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

ROWS_PER_GROUP = 100_000
SPREAD = 10.0  # of the cluster centers, in standard deviations of a cluster


def blocks(n_columns: int, n_clusters: int, seed: int) -> Iterator[pa.Table]:
    """Yield blocks of rows without end."""
    centers = np.random.default_rng([seed, 0]).normal(0.0, SPREAD, (n_clusters, n_columns))
    number = 0
    while True:
        number += 1
        rng = np.random.default_rng([seed, number])
        noise = rng.standard_normal((ROWS_PER_GROUP, n_columns))
        rows = noise + centers[rng.integers(0, n_clusters, ROWS_PER_GROUP)]
        yield pa.table({f"x{j}": rows[:, j] for j in range(n_columns)})


def write(
    folder: Path,
    size: int,
    suffix: str,
    n_files: int,
    n_columns: int,
    n_clusters: int,
    seed: int,
) -> list[Path]:
    """Write files of ``size`` bytes in total, to within a block, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = blocks(n_columns, n_clusters, seed)
    digits = len(str(n_files - 1))
    paths = [folder / f"part-{number:0{digits}d}.{suffix}" for number in range(n_files)]
    for path in paths:
        _write_file(path, size // n_files, suffix, rows)
        print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB", flush=True)
    return paths


def _write_file(path: Path, size: int, suffix: str, rows: Iterator[pa.Table]) -> None:
    block = next(rows)
    # Random doubles cannot be compressed: it would only cost time.
    writer = (
        parquet.ParquetWriter(path, block.schema, compression="none", use_dictionary=False)
        if suffix == "parquet"
        else csv.CSVWriter(path, block.schema)
    )
    with writer:
        writer.write_table(block)
        while path.stat().st_size < size:
            writer.write_table(next(rows))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kmeans.make_large_files", description=__doc__
    )
    add = parser.add_argument
    add("folder", type=Path, help="folder of the files, made if it does not exist")
    add("--gigabytes", type=float, default=4.0, help="of all files together")
    add("--format", choices=("parquet", "csv"), default="parquet")
    add("--files", type=int, default=8)
    add("--columns", type=int, default=16)
    add("--clusters", type=int, default=32)
    add("--seed", type=int, default=0)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files and print their size."""
    args = make_parser().parse_args(arguments)
    size = int(args.gigabytes * 1e9)
    paths = write(
        args.folder, size, args.format, args.files, args.columns, args.clusters, args.seed
    )
    total = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} files, {total / 1e9:.2f} GB in {args.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
