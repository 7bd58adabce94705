"""Make sklearn.json: python make_sklearn.py TABLES_DIRECTORY [OUT_DIRECTORY]

TABLES_DIRECTORY holds what export_tables.py wrote. README.md says what stands in the file.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from ceiba._typing import Array

FOLDS = 5
SEEDS = 10
TREES = 100


class Rows:
    """An exported table; levels are their numbers."""

    def __init__(self, directory: Path, name: str) -> None:
        cells = np.loadtxt(directory / f"{name}.csv", delimiter=",", ndmin=2)
        kinds = np.loadtxt(directory / f"{name}-columns.csv", str, delimiter=",", skiprows=1)
        self.y, self.fold, self.X = cells[:, 0], cells[:, 1], cells[:, 2:]
        self.has_classes = kinds[0, 1] == "classification"
        self.has_levels = bool((kinds[2:, 2] != "0").any())


def forest(rows: Rows, seed: int) -> Any:
    p = rows.X.shape[1]
    options: dict[str, Any] = {"oob_score": True, "random_state": seed, "n_jobs": 1}
    if rows.has_classes:
        return RandomForestClassifier(TREES, max_features=math.isqrt(p), **options)
    return RandomForestRegressor(TREES, max_features=max(1, p // 3), **options)


def of_rows(model: Any, X: Array, y: Array) -> Array:
    """The share of each row's own class, or the predicted number."""
    if not hasattr(model, "classes_"):
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)[model.classes_ == y[:, None]])


def spread(rows: Rows, chosen: Array | slice) -> float:
    """The loss that scores are measured by: all rows, or the sum of squares around the mean."""
    y = rows.y[chosen]
    return float(len(y) if rows.has_classes else ((y - y.mean()) ** 2).sum())


def scores(rows: Rows, seed: int) -> tuple[float, float, Array]:
    """The score out of fold, that out of bag, and the share or number of each row."""
    values = np.empty(len(rows.y))
    lost = inside = total = 0.0
    for fold in range(FOLDS):
        test, train = rows.fold == fold, rows.fold != fold
        model = forest(rows, seed).fit(rows.X[train], rows.y[train])
        values[test] = of_rows(model, rows.X[test], rows.y[test])
        lost += (1 - model.score(rows.X[test], rows.y[test])) * spread(rows, test)
        inside += (1 - model.oob_score_) * spread(rows, train)
        total += spread(rows, train)
    return 1 - lost / spread(rows, slice(None)), 1 - inside / total, values


def case(rows: Rows) -> dict[str, Any]:
    found = [scores(rows, seed) for seed in range(SEEDS)]
    values = np.mean([values for _, _, values in found], axis=0)
    return {
        "score": [score for score, _, _ in found],
        "oob_score": [score for _, score, _ in found],
        "of_rows": [float(f"{value:.5g}") for value in values],
    }


def main(directory: Path, out: Path) -> None:
    cases = {}
    for file in sorted(directory.glob("*-columns.csv")):
        name = file.name.removesuffix("-columns.csv")
        rows = Rows(directory, name)
        cases[name + ("-codes" if rows.has_levels else "")] = case(rows)
    lines = ",\n".join(f'"{name}": {json.dumps(found)}' for name, found in cases.items())
    system = f"scikit-learn {sklearn.__version__}"
    text = f'{{\n"system": "{system}",\n"cases": {{\n{lines}\n}}\n}}\n'
    (out / "sklearn.json").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "."))
