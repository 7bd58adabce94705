"""Pack the bundled tables from a folder of plain CSV files.

    python tools/pack_tables.py FOLDER

Each file must have the SHA-256 that is stated here. A packed table is a NumPy archive with the
schema as JSON and the columns as arrays, so that `ceiba.datasets` loads it without a CSV reader.
The archives contain no times and no paths: packing the same tables again changes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind
from ceiba.datasets.dataset import LoadedTable, Task
from ceiba.datasets.text_table import ColumnKinds, read_text_table

TABLES = Path(__file__).resolve().parents[1] / "src" / "ceiba" / "datasets" / "tables"

# SHA-256 of each table as CSV.
SHA256 = {
    "auto_mpg": "d701eae2d7b420ca535362a098b36885376e107e4cd4c2b4929f0678a4372be3",
    "automobiles": "1a944fc35cd763ed65271ef247aac0ae41563babd3f99172ec9a29fcdf6fd3bf",
    "balance_scale": "4db0be97b6ca2474dd321c41382b97efe454c5441e6639a40f3a813965883134",
    "breast_cancer_wisconsin_original": (
        "1a418397ff52759fdc3afe718d6565957f669fd5ab985bfd8f152d68973906a9"
    ),
    "car": "34bf415672fe458905066990a49629adaa0c019ce01ac2faaaeb613166fd1fb0",
    "cleveland": "543f7e70962f0c09dcea7a45bd996bf4643f4f15bdf7046a684176ebcffb2201",
    "crx": "2efc16946d6633aef1f1bd2765d7d209d4684504e4a29fb5f86137c5c9ba8aaf",
    "german_credit": "4d4f1ca0eb9042ccaaf5ac186687a5d8c205e90d0465b7e2b1502d9e2a975437",
    "glass": "32463121e9b48c4717c636dc1e5a1dc961bdbad868ac218bfd6f77e6791b5ae9",
    "hepatitis": "7fb6f2cb00dbe49ff6aa47a0418b9142c3e7b0f11ff52a5b247859333132b69e",
    "lymphography": "8aef82ce8dd6590a90bf0a2335c996b45f5e196856b08ee518ee23a5cb3912c6",
    "monks1": "355cd2a4ee889c0c1b2ec02a84367f1f2cab50fefb9e9be2d0613a32556bf5a5",
    "servo": "c84cabb67b95c96fb1cecaf6de3ca64b312db3acc00eac9cbcb9901a7ff9e8eb",
    "tic_tac_toe": "a2de0094bc7ac0fafdd94f19003677ea827b2d510c504842c75aa8b6e5051ce2",
    "titanic": "7b6dab2b5783a215692ab4224ec724878ae8be131de6a013ce25bae026a76226",
    "vehicle": "0ec37a40aaec1b492c4c41da2fcaf9e0bf0e40ef69c2bb6b9ab11d116e261671",
    "vote": "6e69301fcac51ca0955c9797763ea320bb33f5379495fb15b14ba512e202d56b",
    "zoo": "647902b72ee83f89c2844b0d462e232bcc733eecf24a46543474dc52e1ab73d4",
}

_PRICES = ("low", "med", "high", "v-high")

# Declared kinds of the columns of each table.
KINDS = {
    "auto_mpg": ColumnKinds("mpg", Task.REGRESSION, nominal=("origin",), row_names="car_name"),
    "automobiles": ColumnKinds(
        "price",
        Task.REGRESSION,
        nominal=(
            "make",
            "fuel_type",
            "aspiration",
            "num_of_doors",
            "body_style",
            "drive_wheels",
            "engine_location",
            "engine_type",
            "num_of_cylinders",
            "fuel_system",
        ),
    ),
    "balance_scale": ColumnKinds("class"),
    "breast_cancer_wisconsin_original": ColumnKinds("class"),
    "car": ColumnKinds(
        "class",
        ordinal={
            "buying": _PRICES,
            "maint": _PRICES,
            "doors": ("2", "3", "4", "5-more"),
            "persons": ("2", "4", "more"),
            "lugboot": ("small", "med", "big"),
            "safety": ("low", "med", "high"),
        },
    ),
    "cleveland": ColumnKinds(
        "class",
        nominal=(
            "gender",
            "chest_pain",
            "fasting_blood_sugar_120",
            "rest_ecg",
            "exerc_ind_ang",
            "thal",
        ),
        ordinal={"slope_peak_exc_st": ("upsloping", "flat", "downsloping")},
    ),
    "crx": ColumnKinds("class", nominal=("a1", "a4", "a5", "a6", "a7", "a9", "a10", "a12", "a13")),
    "german_credit": ColumnKinds(
        "class",
        others=Kind.NOMINAL,
        numeric=(
            "duration",
            "credit_amount",
            "installment_rate",
            "residence_since",
            "age",
            "existing_credits",
            "num_dependents",
        ),
    ),
    "glass": ColumnKinds("class"),
    "hepatitis": ColumnKinds(
        "class",
        others=Kind.NOMINAL,
        numeric=("age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime"),
    ),
    "lymphography": ColumnKinds(
        "class", others=Kind.NOMINAL, numeric=("lym_dimin", "lym_enlar", "no_nodes")
    ),
    "monks1": ColumnKinds("class", others=Kind.NOMINAL),
    "servo": ColumnKinds("rise_time", Task.REGRESSION, others=Kind.NOMINAL),
    "tic_tac_toe": ColumnKinds("class", others=Kind.NOMINAL),
    "titanic": ColumnKinds("class", others=Kind.NOMINAL),
    "vehicle": ColumnKinds("class"),
    "vote": ColumnKinds("class", others=Kind.NOMINAL),
    "zoo": ColumnKinds("class", others=Kind.NOMINAL, numeric=("legs",)),
}


def pack(source: Path, destination: Path) -> None:
    """Pack every table of the folder ``source``, or none if one has another SHA-256."""
    contents = {name: (source / f"{name}.csv").read_bytes() for name in SHA256}
    for name, content in contents.items():
        found = hashlib.sha256(content).hexdigest()
        if found != SHA256[name]:
            raise SystemExit(f"{source / name}.csv has SHA-256 {found}, expected {SHA256[name]}.")
    for name, content in contents.items():
        table = read_text_table(content, KINDS[name], Path(f"{name}.csv"))
        (destination / f"{name}.npz").write_bytes(archive(table))


def archive(loaded: LoadedTable) -> bytes:
    """Serialize a table as a NumPy archive."""
    table = loaded.table
    schema = json.dumps(table.schema.to_json(), ensure_ascii=False).encode("utf-8")
    arrays = {"schema": np.frombuffer(schema, np.uint8), "target": loaded.target}
    if loaded.row_names:
        arrays["row_names"] = np.array(loaded.row_names)
    if table.matrix is not None:
        arrays["matrix"] = table.matrix
    else:
        arrays |= {f"column_{j}": _stored(table.column(j)) for j in range(len(table.schema))}
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    return out.getvalue()


def _stored(column: Array) -> Array:
    """Return category codes in as few bytes as they need; floats unchanged."""
    if column.dtype.kind == "f":
        return column
    return column.astype(np.int8 if column.max() < 128 else np.int32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of NAME.csv files")
    pack(parser.parse_args().folder, TABLES)
