"""Gradient boosting: fits of several shapes, predictions, and one row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.boosting import peers
from benchmarks.boosting.peers import FittedBooster
from benchmarks.forest.data import n_test_rows, quantile_classes
from benchmarks.forest.quality import auc
from benchmarks.tree.data import (
    N_COLUMNS,
    Sample,
    SplitSample,
    Task,
    iris,
    mixed_table,
    normal_table,
    split_rows,
)
from benchmarks.tree.quality import r2
from benchmarks.workload import Check, Implementation, Metrics, Workload

GROUP = "float64"
N_TREES = 100
N_LEAVES = 63
QUICK_ROWS = 2_000
# AUC and R² of equally good models differ by as much.
TOLERANCE = 0.0005


def numbers(task: Task, n_columns: int = N_COLUMNS) -> Callable[[int, int], Mapping[str, Any]]:
    """Return a function that makes normal columns, two classes or numbers."""

    def make(seed: int, n_rows: int) -> dict[str, SplitSample]:
        total = n_rows + min(n_test_rows(n_rows), 100_000)
        return {GROUP: split_rows(normal_table(task, seed, total, n_columns), n_rows)}

    return make


def five_classes(seed: int, n_rows: int) -> dict[str, SplitSample]:
    """Make normal columns and five classes of equal size."""
    sample = normal_table("regression", seed, n_rows + min(n_test_rows(n_rows), 100_000))
    return {GROUP: split_rows(Sample(sample.X, quantile_classes(sample.y)), n_rows)}


def nominal(seed: int, n_rows: int) -> dict[str, SplitSample]:
    """Make ten nominal and ten numeric columns, 5 % missing."""
    return {GROUP: split_rows(mixed_table(seed, n_rows + n_test_rows(n_rows)), n_rows)}


def score_two_classes(booster: FittedBooster, sample: SplitSample) -> Metrics:
    """Compute the area under the ROC curve and the log-loss on test rows."""
    probabilities = np.asarray(booster.predict(sample.test.X))
    return {"auc": auc(probabilities[:, 1], sample.test.y), **log_loss(probabilities, sample)}


def score_classes(booster: FittedBooster, sample: SplitSample) -> Metrics:
    """Compute the log-loss on test rows."""
    return log_loss(np.asarray(booster.predict(sample.test.X)), sample)


def log_loss(probabilities: Any, sample: SplitSample) -> Metrics:
    """Compute the log-loss of class probabilities."""
    metric = import_module("sklearn.metrics").log_loss
    return {"log_loss": float(metric(sample.test.y, probabilities))}


def score_numbers(booster: FittedBooster, sample: SplitSample) -> Metrics:
    """Compute R² on test rows."""
    return {"r2": r2(np.asarray(booster.predict(sample.test.X)), sample.test.y)}


AUC = (Check("auc", TOLERANCE, "at least", relative=False),)
LOG_LOSS = (Check("log_loss", 0.01, "at most"),)
R2 = (Check("r2", 0.002, "at least", relative=False),)
QUICK = {
    "auc": (Check("auc", 0.05, "at least", relative=False),),
    "log_loss": (Check("log_loss", 0.2, "at most"),),
    "r2": (Check("r2", 0.1, "at least", relative=False),),
}


def implementations(
    fits: Mapping[str, peers.Peer], run: Callable[[peers.Peer], Any] = lambda peer: peer.fit
) -> tuple[Implementation, ...]:
    """Return the implementations of a workload; ``run`` makes the timed function of a peer."""
    return tuple(
        Implementation(label, run(peer), GROUP, ours=label == "ceiba", module=peer.module)
        for label, peer in fits.items()
    )


def fit_workload(
    name: str, title: str, make_data: Any, fits: Mapping[str, peers.Peer], quality: Any,
    checks: tuple[Check, ...], n_rows: int,
) -> Workload:  # fmt: skip
    """Return a workload that times fits."""
    return Workload(
        name=f"boosting-{name}", title=title, make_data=make_data,
        implementations=implementations(fits), quality=quality, checks=checks,
        quick_checks=checks if n_rows < QUICK_ROWS else QUICK[checks[0].metric], n_rows=n_rows,
        quick_n_rows=min(n_rows, QUICK_ROWS),
    )  # fmt: skip


def fit_once(
    predict: Callable[[FittedBooster, SplitSample], FittedBooster],
) -> Callable[[peers.Peer], Callable[[SplitSample], FittedBooster]]:
    """Return a maker of functions that fit at their first call, and time ``predict`` after it."""

    def make(peer: peers.Peer) -> Callable[[SplitSample], FittedBooster]:
        fitted: dict[int, FittedBooster] = {}

        def run(sample: SplitSample) -> FittedBooster:
            if id(sample) not in fitted:
                fitted[id(sample)] = peer.fit(sample)
            return predict(fitted[id(sample)], sample)

        return run

    return make


def predict_all(booster: FittedBooster, sample: SplitSample) -> FittedBooster:
    """Predict the test rows once."""
    predictions = booster.predict(sample.test.X)
    return FittedBooster(booster.model, lambda X: predictions)


def predict_one_row(booster: FittedBooster, sample: SplitSample) -> FittedBooster:
    """Predict the first test row many times."""
    for _ in range(ROW_CALLS):
        booster.predict(sample.test.X[:1])
    return booster


ROW_CALLS = 100
BINARY = peers.all_peers("classification", N_TREES, N_LEAVES)
PREDICTORS = {
    **BINARY, "XGBoost, TL2cgen": peers.compiled_xgboost("classification", N_TREES, N_LEAVES)
}  # fmt: skip
LARGE = {name: BINARY[name] for name in ("ceiba", "LightGBM", "LightGBM quantized", "XGBoost")}

WORKLOADS = (
    fit_workload(
        "two-classes", f"two classes, {N_COLUMNS} columns, {N_TREES} trees of {N_LEAVES} leaves",
        numbers("classification"), BINARY, score_two_classes, AUC, 500_000,
    ),
    fit_workload(
        "five-classes", f"five classes, {N_COLUMNS} columns, {N_TREES} rounds of {N_LEAVES} leaves",
        five_classes, BINARY, score_classes, LOG_LOSS, 100_000,
    ),
    fit_workload(
        "regression", f"regression, {N_COLUMNS} columns, {N_TREES} trees of {N_LEAVES} leaves",
        numbers("regression"), peers.all_peers("regression", N_TREES, N_LEAVES),
        score_numbers, R2, 500_000,
    ),
    fit_workload(
        "wide", f"two classes, 100 columns, {N_TREES} trees of {N_LEAVES} leaves",
        numbers("classification", 100), LARGE, score_two_classes, AUC, 1_000_000,
    ),
    fit_workload(
        "small", f"two classes, 20 columns, {N_TREES} trees of 31 leaves",
        numbers("classification", 20), peers.all_peers("classification", N_TREES, 31),
        score_two_classes, QUICK["auc"], 5_000,
    ),
    fit_workload(
        "nominal", f"10 nominal, 10 numeric columns, 5 % missing, {N_TREES} trees of 31 leaves",
        nominal, peers.nominal_peers(N_TREES, 31), score_two_classes, AUC, 200_000,
    ),
    fit_workload(
        "iris", "iris, three classes, 100 rounds",
        lambda seed, n_rows: {GROUP: SplitSample(iris().X, iris().y, iris())},
        peers.all_peers("classification", N_TREES, 31), score_classes,
        (Check("log_loss", 0.05, "at most", relative=False),), 150,
    ),
    Workload(
        name="boosting-predict", title=f"predict, {N_TREES} trees of {N_LEAVES} leaves",
        make_data=numbers("classification"),
        implementations=implementations(PREDICTORS, fit_once(predict_all)),
        quality=score_two_classes, checks=AUC, quick_checks=QUICK["auc"], n_rows=200_000,
        quick_n_rows=QUICK_ROWS,
    ),
    Workload(
        name="boosting-one-row", title=f"predict one row, {N_TREES} trees of {N_LEAVES} leaves",
        make_data=numbers("classification"),
        implementations=implementations(BINARY, fit_once(predict_one_row)),
        quality=score_two_classes, checks=QUICK["auc"], n_rows=20_000,
        quick_n_rows=QUICK_ROWS, n_calls=ROW_CALLS,
    ),
)  # fmt: skip
