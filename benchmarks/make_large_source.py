"""Write a table of Gaussian groups that is larger than memory, as Parquet or CSV parts.

``python -m benchmarks.make_large_source FOLDER --gigabytes 4 --format parquet`` streams rows into
several files; nothing but one block of rows is in memory. The same seed gives the same rows,
whatever the number and format of the files.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

ROWS = 100_000  # of a row group
SPREAD = 10.0  # of the group centres, in standard deviations of a group


def blocks(columns: int, groups: int, seed: int) -> Iterator[pa.Table]:
    """Blocks of rows without end."""
    centres = np.random.default_rng([seed, 0]).normal(0.0, SPREAD, (groups, columns))
    number = 0
    while True:
        number += 1
        rng = np.random.default_rng([seed, number])
        rows = rng.standard_normal((ROWS, columns)) + centres[rng.integers(0, groups, ROWS)]
        yield pa.table({f"x{j}": rows[:, j] for j in range(columns)})


def write(
    folder: Path, size: int, form: str, files: int, columns: int, groups: int, seed: int
) -> list[Path]:
    """Write files of ``size`` bytes together, to within a block; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = blocks(columns, groups, seed)
    digits = len(str(files - 1))
    paths = [folder / f"part-{number:0{digits}d}.{form}" for number in range(files)]
    for path in paths:
        _write_file(path, size // files, form, rows)
        print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB", flush=True)
    return paths


def _write_file(path: Path, size: int, form: str, rows: Iterator[pa.Table]) -> None:
    block = next(rows)
    # Random doubles do not shrink: compression would only cost time.
    writer = (
        parquet.ParquetWriter(path, block.schema, compression="none", use_dictionary=False)
        if form == "parquet"
        else csv.CSVWriter(path, block.schema)
    )
    with writer:
        writer.write_table(block)
        while path.stat().st_size < size:
            writer.write_table(next(rows))


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.make_large_source", description=__doc__
    )
    add = parser.add_argument
    add("folder", type=Path, help="where the files go; made if need be")
    add("--gigabytes", type=float, default=4.0, help="of all files together")
    add("--format", choices=("parquet", "csv"), default="parquet")
    add("--files", type=int, default=8)
    add("--columns", type=int, default=16)
    add("--groups", type=int, default=32, help="Gaussian groups")
    add("--seed", type=int, default=0)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files and tell what they are."""
    asked = make_parser().parse_args(arguments)
    size = int(asked.gigabytes * 1e9)
    paths = write(
        asked.folder, size, asked.format, asked.files, asked.columns, asked.groups, asked.seed
    )
    total = sum(path.stat().st_size for path in paths)
    print(f"{len(paths)} files, {total / 1e9:.2f} GB in {asked.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
