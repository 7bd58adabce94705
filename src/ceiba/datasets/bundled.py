"""Tables of the package, as NumPy archives in ``tables/``, and the small ones of scikit-learn.

`tools/pack_tables.py` writes the archives from CSV files, with the declared kinds of their columns.
"""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.datasets.dataset import LoadedTable, Task


def load_archive(name: str) -> LoadedTable:
    """Load the archive of a bundled table."""
    with (
        files("ceiba.datasets").joinpath("tables", f"{name}.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        arrays = dict(archive)
    schema = Schema.from_json(json.loads(arrays["schema"].tobytes()))
    if "matrix" in arrays:
        table = Table.of(arrays["matrix"], schema)
    else:
        columns = [arrays[f"column_{j}"] for j in range(len(schema))]
        table = Table.from_columns(columns, schema)
    row_names = arrays.get("row_names", np.array([], "U"))
    return LoadedTable(table, arrays["target"], tuple(row_names.tolist()))


def load_sklearn(loader: str, task: Task) -> LoadedTable:
    """Load a table of scikit-learn, with the names of the classes as labels."""
    # Imported here: scikit-learn's datasets package takes longer to import than to read.
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{loader}")()
    names = [str(name) for name in bunch.feature_names]
    table = Table.of(np.ascontiguousarray(bunch.data), Schema.numeric(len(names), names=names))
    if task is Task.REGRESSION:
        return LoadedTable(table, bunch.target)
    return LoadedTable(table, np.asarray(bunch.target_names)[bunch.target])
