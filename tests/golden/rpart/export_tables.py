"""Write bundled tables for make_rpart.R: python export_tables.py OUT_DIRECTORY

NAME.csv holds the rows in order, the target first; levels are their numbers from 1 in the order of
the schema, gaps are NA. NAME-columns.csv says the name, kind and number of levels of each column.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ceiba import datasets
from ceiba.data.schema import Kind
from ceiba.data.table import Table

TABLES = ("iris", "cleveland", "vote", "glass", "crx", "automobiles", "auto_mpg")


def written(table: Table, place: int) -> list[str]:
    values, gaps = table.column(place), table.missing_mask(place)
    if table.schema[place].kind is Kind.NUMERIC:
        texts = [repr(float(value)) for value in values]
    else:
        texts = [str(int(code) + 1) for code in values]
    if gaps is None:
        return texts
    return ["NA" if gap else text for text, gap in zip(texts, gaps, strict=True)]


def target(loaded: datasets.Dataset) -> list[str]:
    y: Any = loaded.y
    if loaded.task == "regression":
        return [repr(float(value)) for value in y]
    return [str(int(code) + 1) for code in np.unique(y, return_inverse=True)[1]]


def export(name: str, directory: Path) -> None:
    loaded = datasets.load(name)
    table, schema = loaded.table, loaded.schema
    n_classes = 0 if loaded.task == "regression" else len(np.unique(loaded.y))
    kinds = [("target", loaded.task, n_classes)]
    kinds += [(column.name, column.kind.value, len(column.categories)) for column in schema]
    columns = [target(loaded), *(written(table, place) for place in range(len(schema)))]
    with (directory / f"{name}-columns.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("name", "kind", "levels"), *kinds])
    with (directory / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows(zip(*columns, strict=True))


if __name__ == "__main__":
    for table_name in TABLES:
        export(table_name, Path(sys.argv[1]))
