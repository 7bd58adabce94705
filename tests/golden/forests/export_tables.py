"""Write bundled tables for the other systems: python export_tables.py OUT_DIRECTORY

NAME.csv holds the rows without gaps in order: the target, the fold, then the columns; classes and
levels are their numbers from 1, in the order of the labels and of the schema. NAME-columns.csv says
the name, kind and number of levels of each of these.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from ceiba import datasets
from ceiba._typing import Array
from ceiba.data.schema import Kind
from ceiba.data.table import Table

TABLES = ("iris", "wine", "glass", "vehicle", "cleveland", "crx", "auto_mpg", "diabetes")
FOLDS = 5


def whole_rows(table: Table) -> Array:
    """The numbers of the rows without gaps."""
    gaps = np.zeros(len(table), bool)
    for place in range(len(table.schema)):
        mask = table.missing_mask(place)
        if mask is not None:
            gaps |= mask
    return np.flatnonzero(~gaps)


def fold_of(row: int) -> int:
    """The fold of a row, counted among those without gaps: a hash that spreads neighbours."""
    return (row * 2654435761 % 2**32) * FOLDS >> 32


def written(table: Table, place: int) -> list[str]:
    values = table.column(place)
    if table.schema[place].kind is Kind.NUMERIC:
        return [repr(float(value)) for value in values]
    return [str(int(code) + 1) for code in values]


def target(task: str, y: Array) -> list[str]:
    if task == "regression":
        return [repr(float(value)) for value in y]
    return [str(int(code) + 1) for code in np.unique(y, return_inverse=True)[1]]


def export(name: str, directory: Path) -> None:
    loaded = datasets.load(name)
    rows = whole_rows(loaded.table)
    table, y = loaded.table.take(rows), loaded.y[rows]
    n_classes = 0 if loaded.task == "regression" else len(np.unique(y))
    kinds = [("target", loaded.task, n_classes), ("fold", "fold", 0)]
    kinds += [(column.name, column.kind.value, len(column.categories)) for column in table.schema]
    columns = [target(loaded.task, y), [str(fold_of(row)) for row in range(len(y))]]
    columns += [written(table, place) for place in range(len(table.schema))]
    with (directory / f"{name}-columns.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("name", "kind", "levels"), *kinds])
    with (directory / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows(zip(*columns, strict=True))


if __name__ == "__main__":
    for table_name in TABLES:
        export(table_name, Path(sys.argv[1]))
