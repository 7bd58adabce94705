"""Compress the bundled tables from a folder of plain CSV files.

    python tools/pack_tables.py FOLDER

Each file must have the SHA-256 that ``ceiba.datasets.bundled`` states. The compressed files hold
neither a time nor a file name, so packing the same tables again changes nothing.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
from pathlib import Path

from ceiba.datasets.bundled import SHA256

TABLES = Path(__file__).resolve().parents[1] / "src" / "ceiba" / "datasets" / "tables"


def pack(folder: Path, into: Path) -> None:
    """Write every bundled table of ``folder`` into ``into``, or none if one is not as stated."""
    contents = {name: (folder / f"{name}.csv").read_bytes() for name in SHA256}
    for name, content in contents.items():
        found = hashlib.sha256(content).hexdigest()
        if found != SHA256[name]:
            raise SystemExit(f"{folder / name}.csv has SHA-256 {found}, expected {SHA256[name]}.")
    for name, content in contents.items():
        (into / f"{name}.csv.gz").write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of NAME.csv files")
    pack(parser.parse_args().folder, TABLES)
