"""Quality of gradient boosting with default settings, compared with the peers.

``python -m benchmarks.boosting.quality`` prints a table: mean and standard deviation, over folds or
over samples of synthetic tables, of the log-loss of classes (of two also the area under the ROC
curve) and of r². All libraries have the same number of trees and leaves and the same rate.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from benchmarks.boosting.peers import (
    Peer,
    all_peers,
    ceiba,
    hist_gradient_boosting,
    lightgbm,
    nominal_peers,
    xgboost,
)
from benchmarks.forest.census_like import make_people
from benchmarks.forest.cover_like import make_cover
from benchmarks.forest.quality import auc
from benchmarks.tree.data import Array, Sample, Task
from benchmarks.tree.quality import r2

N_TREES, N_LEAVES = 100, 31
N_FOLDS = 5
Splits = Iterator[tuple[Sample, Sample]]


@dataclass(frozen=True)
class Table:
    """A table of the comparison, and its training and test rows, for some repetitions."""

    name: str
    task: Task
    is_nominal: bool
    splits: Callable[[int], Splits]


def bundled(name: str, task: Task, is_nominal: bool) -> Table:
    """Return a bundled table, divided into folds; each repetition divides it differently."""

    def splits(n_repetitions: int) -> Splits:
        dataset = import_module("ceiba.datasets").load(name)
        frame, y = dataset.table.to_pandas(), dataset.y
        selection = import_module("sklearn.model_selection")
        kind = selection.StratifiedKFold if task == "classification" else selection.KFold
        if task == "classification":
            y = np.unique(y, return_inverse=True)[1]
        for seed in range(n_repetitions):
            folds = kind(N_FOLDS, shuffle=True, random_state=seed)
            for train, test in folds.split(frame, y):
                yield Sample(frame.iloc[train], y[train]), Sample(frame.iloc[test], y[test])

    return Table(name, task, is_nominal, splits)


def synthetic(
    name: str, make: Callable[[int, int], Sample], n_rows: int, is_nominal: bool
) -> Table:
    """Return a synthetic table; each repetition draws training and test rows again."""

    def splits(n_repetitions: int) -> Splits:
        for seed in range(n_repetitions):
            yield make(2 * seed, n_rows), make(2 * seed + 1, n_rows)

    return Table(name, "classification", is_nominal, splits)


def all_tables(n_rows: int) -> list[Table]:
    """Return six bundled tables and two synthetic ones of this number of rows."""
    return [
        bundled("german_credit", "classification", True),
        bundled("crx", "classification", True),
        bundled("vehicle", "classification", False),
        bundled("diabetes", "regression", False),
        bundled("auto_mpg", "regression", True),
        bundled("automobiles", "regression", True),
        synthetic("census-like", make_people, n_rows, True),
        synthetic("cover-like", make_cover, n_rows, False),
    ]


def peers_of(table: Table) -> dict[str, Peer]:
    """Return ours and the peers that take the columns of the table."""
    if not table.is_nominal:
        peers = all_peers(table.task, N_TREES, N_LEAVES)
        del peers["LightGBM quantized"]
        return peers
    if table.task == "classification":
        peers = nominal_peers(N_TREES, N_LEAVES)
        # Its encoder refuses categories that only test rows have.
        del peers["HistGradientBoosting ordinal"]
        return peers
    return {
        "ceiba": ceiba(table.task, N_TREES, N_LEAVES),
        "LightGBM": lightgbm(table.task, N_TREES, N_LEAVES),
        "XGBoost": xgboost(table.task, N_TREES, N_LEAVES, enable_categorical=True),
        "HistGradientBoosting": hist_gradient_boosting(
            table.task, N_TREES, N_LEAVES, categorical_features="from_dtype"
        ),
    }


def scores(predictions: Array, truth: Sample, task: Task) -> dict[str, float]:
    """Compute the scores of probabilities, or of numbers."""
    if task == "regression":
        return {"r2": r2(predictions, truth.y)}
    own = predictions[np.arange(len(truth.y)), truth.y]
    found = {"log_loss": float(-np.log(np.clip(own, 1e-15, 1)).mean())}
    if predictions.shape[1] == 2:
        found["auc"] = auc(predictions[:, 1], truth.y)
    return found


def compare(table: Table, n_repetitions: int) -> dict[str, dict[str, Array]]:
    """Return the scores of each library by name, one per division of the rows."""
    found: dict[str, dict[str, list[float]]] = {}
    for train, test in table.splits(n_repetitions):
        for name, peer in peers_of(table).items():
            fitted = peer.fit(train)
            for metric, value in scores(fitted.predict(test.X), test, table.task).items():
                found.setdefault(metric, {}).setdefault(name, []).append(value)
    return {
        metric: {name: np.array(values) for name, values in by_name.items()}
        for metric, by_name in found.items()
    }


def shortfall(metric: str, by_name: dict[str, Array]) -> tuple[float, float]:
    """Return by how much the best peer is better than ours on average, and its standard error.

    Differences are taken between scores of the same division of the rows.
    """
    sign = -1.0 if metric == "log_loss" else 1.0
    best = max(
        (name for name in by_name if name != "ceiba"), key=lambda n: sign * by_name[n].mean()
    )
    difference = sign * (by_name[best] - by_name["ceiba"])
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
    return float(difference.mean()), float(error)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description="Quality of gradient boosting.")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the synthetic tables")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--tables", nargs="*", help="names of tables; all by default")
    options = parser.parse_args(arguments)
    for table in all_tables(options.rows):
        if options.tables and table.name not in options.tables:
            continue
        for metric, by_name in compare(table, options.repetitions).items():
            texts = [f"{name} {v.mean():.4f} ± {v.std():.4f}" for name, v in by_name.items()]
            mean, error = shortfall(metric, by_name)
            print(
                f"{table.name}, {metric}: {', '.join(texts)}; shortfall {mean:.4f} ± {error:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
