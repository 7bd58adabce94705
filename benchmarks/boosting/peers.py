"""Libraries of gradient boosting, behind one interface and with the same limits.

All have the same number of trees and leaves, rate 0.1 and 255 bins, and grow leaf by leaf;
everything else is the default of each.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.machine import n_threads
from benchmarks.peers import MAX_BINS, SUFFIX, ordinal_pipeline
from benchmarks.tree.data import Array, Sample, Task

RATE = 0.1


class FittedBooster(NamedTuple):
    """A fitted model, and how to predict with it, which is not timed with the fit."""

    model: Any
    # Probabilities of all classes, or the numbers.
    predict: Callable[[Any], Array]


Peer = peers.Peer[FittedBooster]


def ceiba(task: Task, n_trees: int, n_leaves: int, **parameters: Any) -> Peer:
    """Return ours, with its default settings."""
    return _peer("ceiba", "ceiba", "GradientBoosting", task, lambda: {
        "n_estimators": n_trees, "max_leaf_nodes": n_leaves, **parameters,
    })  # fmt: skip


def lightgbm(task: Task, n_trees: int, n_leaves: int, **parameters: Any) -> Peer:
    """Return LightGBM; ``use_quantized_grad`` quantizes its gradients."""
    return _peer("lightgbm", "lightgbm", "LGBM", task, lambda: {
        "n_estimators": n_trees, "num_leaves": n_leaves, "learning_rate": RATE,
        "max_bin": MAX_BINS, "n_jobs": n_threads(), "verbose": -1, **parameters,
    })  # fmt: skip


def xgboost(task: Task, n_trees: int, n_leaves: int, **parameters: Any) -> Peer:
    """Return XGBoost on histograms; it counts the bin of missing values as one more."""
    return _peer("xgboost", "xgboost", "XGB", task, lambda: {
        "n_estimators": n_trees, "max_leaves": n_leaves, "max_depth": 0,
        "grow_policy": "lossguide", "tree_method": "hist", "learning_rate": RATE,
        "max_bin": MAX_BINS + 1, "n_jobs": n_threads(), **parameters,
    })  # fmt: skip


def hist_gradient_boosting(task: Task, n_trees: int, n_leaves: int, **parameters: Any) -> Peer:
    """Return scikit-learn's HistGradientBoosting, whose threads OpenMP limits."""
    return _peer("sklearn", "sklearn.ensemble", "HistGradientBoosting", task, lambda: {
        "max_iter": n_trees, "max_leaf_nodes": n_leaves, "learning_rate": RATE,
        "max_bins": MAX_BINS, "early_stopping": False, **parameters,
    })  # fmt: skip


def catboost(task: Task, n_trees: int, n_leaves: int, **parameters: Any) -> Peer:
    """Return CatBoost with trees that grow leaf by leaf."""
    return _peer("catboost", "catboost", "CatBoost", task, lambda: {
        "iterations": n_trees, "max_leaves": n_leaves, "grow_policy": "Lossguide",
        "learning_rate": RATE, "max_bin": MAX_BINS - 1, "thread_count": n_threads(),
        "verbose": False, "allow_writing_files": False, **parameters,
    })  # fmt: skip


def all_peers(task: Task, n_trees: int, n_leaves: int) -> dict[str, Peer]:
    """Return ours and all peers for tables of numbers."""
    quantized = {"use_quantized_grad": True}
    return {
        "ceiba": ceiba(task, n_trees, n_leaves),
        "LightGBM": lightgbm(task, n_trees, n_leaves),
        "LightGBM quantized": lightgbm(task, n_trees, n_leaves, **quantized),
        "XGBoost": xgboost(task, n_trees, n_leaves),
        "HistGradientBoosting": hist_gradient_boosting(task, n_trees, n_leaves),
        "CatBoost": catboost(task, n_trees, n_leaves),
    }


def nominal_peers(n_trees: int, n_leaves: int) -> dict[str, Peer]:
    """Return ours and the peers that take a frame with categories and missing values."""
    task: Task = "classification"
    return {
        "ceiba": ceiba(task, n_trees, n_leaves),
        "LightGBM": lightgbm(task, n_trees, n_leaves),
        "XGBoost": xgboost(task, n_trees, n_leaves, enable_categorical=True),
        "HistGradientBoosting": hist_gradient_boosting(
            task, n_trees, n_leaves, categorical_features="from_dtype"
        ),
        "HistGradientBoosting ordinal": _ordinal(n_trees, n_leaves),
    }


def compiled_xgboost(task: Task, n_trees: int, n_leaves: int) -> Peer:
    """Return XGBoost whose trees TL2cgen translates to C; the fit compiles them."""
    fit_xgboost = xgboost(task, n_trees, n_leaves).fit

    def fit(sample: Sample) -> FittedBooster:
        compiler = import_module("tl2cgen")
        booster = fit_xgboost(sample).model.get_booster()
        trees = import_module("treelite").frontend.from_xgboost(booster)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "trees.so"
            compiler.export_lib(trees, toolchain="gcc", libpath=path)
            compiled = compiler.Predictor(path, nthread=n_threads())

        def predict(X: Array) -> Array:
            # The trees of XGBoost have float32 thresholds, and so must be the rows.
            rows = compiler.DMatrix(np.ascontiguousarray(X, np.float32))
            outputs = compiled.predict(rows)[:, 0, 0]
            return np.column_stack([1 - outputs, outputs]) if task == "classification" else outputs

        return FittedBooster(compiled, predict)

    return Peer(fit, "tl2cgen")


def _ordinal(n_trees: int, n_leaves: int) -> Peer:
    def fit(sample: Sample) -> FittedBooster:
        cls = import_module("sklearn.ensemble").HistGradientBoostingClassifier
        model = cls(max_iter=n_trees, max_leaf_nodes=n_leaves, early_stopping=False)
        fitted = ordinal_pipeline(model).fit(sample.X, sample.y)
        return FittedBooster(fitted, fitted.predict_proba)

    return Peer(fit, "sklearn")


def _peer(
    top_level: str, module: str, name: str, task: Task, parameters: Callable[[], dict[str, Any]]
) -> Peer:
    def fit(sample: Sample) -> FittedBooster:
        model = getattr(import_module(module), name + SUFFIX[task])(**parameters())
        model.fit(sample.X, sample.y)
        return FittedBooster(
            model, model.predict_proba if task == "classification" else model.predict
        )

    return Peer(fit, top_level)
