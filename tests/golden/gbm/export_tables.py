"""Write tables for make_gbm.R: python export_tables.py OUT_DIRECTORY

NAME.csv has a header, the target ``y`` first, and no missing values. Archives of the bundled
tables are read as they are, so that the library need not be built.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

TABLES = Path(__file__).parents[3] / "src" / "ceiba" / "datasets" / "tables"
AUTO_COLUMNS = ("displacement", "weight", "acceleration", "model_year")


def auto_columns() -> dict[str, np.ndarray]:
    """Read the numeric columns of auto_mpg, with the target as ``mpg``."""
    with np.load(TABLES / "auto_mpg.npz") as archive:
        names = [column["name"] for column in json.loads(archive["schema"].tobytes())["columns"]]
        found = {name: archive[f"column_{j}"] for j, name in enumerate(names)}
        return {**found, "mpg": archive["target"]}


def tables() -> dict[str, dict[str, np.ndarray]]:
    auto = auto_columns()
    features = {name: auto[name] for name in AUTO_COLUMNS}
    iris = load_iris()
    flowers = dict(zip(("sepal_length", "sepal_width", "petal_length"), iris.data.T, strict=False))
    two = {name: values[50:] for name, values in flowers.items()}
    return {
        "auto_mpg": {"y": auto["mpg"], **features},
        "auto_cylinders": {"y": auto["cylinders"], **features},
        "iris_petal_width": {"y": iris.data[:, 3], **flowers},
        "iris_virginica": {"y": iris.target[50:] == 2, **two},
    }


if __name__ == "__main__":
    for table_name, columns in tables().items():
        with (Path(sys.argv[1]) / f"{table_name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            rows = np.column_stack([np.asarray(column, float) for column in columns.values()])
            writer.writerows([repr(float(value)) for value in row] for row in rows)
