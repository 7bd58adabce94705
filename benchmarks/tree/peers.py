"""Libraries that grow one tree, behind one interface and with the same limits."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks import peers
from benchmarks.machine import n_threads
from benchmarks.tree.data import Array, Sample, Task

SUFFIX, MAX_BINS = peers.SUFFIX, peers.MAX_BINS


class FittedTree(NamedTuple):
    """A fitted tree, and how to predict with it, which is not timed with the fit."""

    model: Any
    # Probabilities of the second class, or the numbers.
    predict: Callable[[Any], Array]
    n_leaves: Callable[[], int]


Fit = Callable[[Sample], FittedTree]
CountLeaves = Callable[[Any], int]
Peer = peers.Peer[FittedTree]
implementations = peers.implementations


# Exact -------------------------------------------------------------------------------------------


def ceiba(task: Task, **parameters: Any) -> Peer:
    """Return ours: exact, or binned where ``max_bins`` is given."""
    return Peer(estimator("ceiba", "DecisionTree", task, count_leaves, **parameters), "ceiba")


def sklearn(task: Task, **parameters: Any) -> Peer:
    """Return scikit-learn's tree; it computes in float32 and breaks ties by its seed."""
    parameters = {"random_state": 0, **parameters}
    fit = estimator("sklearn.tree", "DecisionTree", task, count_leaves, **parameters)
    return Peer(fit, "sklearn")


def ordinal_codes(**parameters: Any) -> Peer:
    """Return scikit-learn's classifier after the usual preprocessing: ordinal codes."""

    def fit(sample: Sample) -> FittedTree:
        tree = import_module("sklearn.tree").DecisionTreeClassifier(random_state=0, **parameters)
        model = peers.ordinal_pipeline(tree).fit(sample.X, sample.y)
        return fitted_tree(model, "classification", lambda m: count_leaves(m[-1]))

    return Peer(fit, "sklearn")


# Binned ------------------------------------------------------------------------------------------


def intelex(task: Task, *, max_bins: int | None = None, **parameters: Any) -> Peer:
    """Return a forest of one tree on all rows and columns: scikit-learn-intelex has no tree.

    It always bins. Without ``max_bins`` it gets one bin per row, which makes it exact.
    """

    def fit(sample: Sample) -> FittedTree:
        settings = {
            "n_estimators": 1,
            "bootstrap": False,
            "max_features": 1.0 if task == "regression" else None,
            "max_bins": max_bins or len(sample.y),
            "random_state": 0,
            "n_jobs": n_threads(),
            **parameters,
        }
        grow = estimator("sklearnex.ensemble", "RandomForest", task, leaves, **settings)
        return grow(sample)

    def leaves(model: Any) -> int:
        return count_leaves(model.estimators_[0])

    return Peer(fit, "sklearnex")


def hist_boosting(task: Task, **parameters: Any) -> Peer:
    """Return one iteration of scikit-learn's histogram-based boosting."""
    settings = {
        "max_iter": 1,
        "learning_rate": 1.0,
        "max_bins": MAX_BINS,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "early_stopping": False,
        **parameters,
    }

    def leaves(model: Any) -> int:
        return int(model._predictors[0][0].get_n_leaf_nodes())

    name = "HistGradientBoosting"
    return Peer(estimator("sklearn.ensemble", name, task, leaves, **settings), "sklearn")


def xgboost(task: Task, **parameters: Any) -> Peer:
    """Return one round of XGBoost on histograms, without regularization."""
    settings = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "tree_method": "hist",
        "max_bin": MAX_BINS,
        "reg_lambda": 0.0,
        "min_child_weight": 0.0,
        "enable_categorical": True,
        "n_jobs": n_threads(),
        **parameters,
    }

    def leaves(model: Any) -> int:
        return int(model.get_booster().get_dump()[0].count("leaf="))

    return Peer(estimator("xgboost", "XGB", task, leaves, **settings), "xgboost")


def lightgbm(task: Task, depth: int, **parameters: Any) -> Peer:
    """Return one round of LightGBM, with its Dataset made in the call, not regularized."""
    settings = {
        "objective": "binary" if task == "classification" else "regression",
        "learning_rate": 1.0,
        "num_leaves": 2**depth,
        "max_depth": depth,
        **peers.lightgbm_unregularized(),
        **parameters,
    }

    def fit(sample: Sample) -> FittedTree:
        library = import_module("lightgbm")
        dataset = library.Dataset(sample.X, label=sample.y)
        booster = library.train(settings, dataset, num_boost_round=1)
        return FittedTree(booster, booster.predict, lambda: leaves(booster))

    def leaves(booster: Any) -> int:
        return int(booster.dump_model()["tree_info"][0]["num_leaves"])

    return Peer(fit, "lightgbm")


def lightgbm_layouts(task: Task, depth: int) -> dict[str, Peer]:
    """Return LightGBM three times: by default it tries both layouts, costly for one tree."""
    return {
        "LightGBM": lightgbm(task, depth),
        "LightGBM by columns": lightgbm(task, depth, force_col_wise=True),
        "LightGBM by rows": lightgbm(task, depth, force_row_wise=True),
    }


# Common interface --------------------------------------------------------------------------------


def estimator(module: str, name: str, task: Task, leaves: CountLeaves, **parameters: Any) -> Fit:
    """Return a function that fits ``module.name`` by scikit-learn's interface."""
    fit = peers.sklearn_fitter(module, name, task, lambda: parameters)
    return lambda sample: fitted_tree(fit(sample), task, leaves)


def fitted_tree(model: Any, task: Task, leaves: CountLeaves) -> FittedTree:
    """Wrap a fitted estimator."""

    def predict(X: Any) -> Array:
        second_or_number: Array = (
            model.predict_proba(X)[:, 1] if task == "classification" else model.predict(X)
        )
        return second_or_number

    return FittedTree(model, predict, lambda: leaves(model))


def count_leaves(tree: Any) -> int:
    """Count the leaves of a tree with scikit-learn's interface."""
    return int(tree.get_n_leaves())
