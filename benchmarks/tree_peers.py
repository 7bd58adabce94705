"""Everyone who can grow one tree, brought to one interface and to the same limits."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks import peers
from benchmarks.machine import threads
from benchmarks.tree_data import Array, Sample, Task

ENDING, BINS = peers.ENDING, peers.BINS


class Grown(NamedTuple):
    """A fitted tree, and how to ask it; asking is not part of growing and not timed with it."""

    model: Any
    # Probabilities of the second class, or the numbers.
    answer: Callable[[Any], Array]
    leaves: Callable[[], int]


Fit = Callable[[Sample], Grown]
Leaves = Callable[[Any], int]
Peer = peers.Peer[Grown]
contestants = peers.contestants


# Exact -------------------------------------------------------------------------------------------


def ceiba(task: Task, **limits: Any) -> Peer:
    """Ours: exact, or binned where ``max_bins`` is given."""
    return Peer(estimator("ceiba", "DecisionTree", task, leaves_of_tree, **limits), "ceiba")


def sklearn(task: Task, **limits: Any) -> Peer:
    """scikit-learn's tree; it works in float32 and breaks ties by its seed."""
    settings = {"random_state": 0, **limits}
    fit = estimator("sklearn.tree", "DecisionTree", task, leaves_of_tree, **settings)
    return Peer(fit, "sklearn")


def ordinal_codes(**limits: Any) -> Peer:
    """scikit-learn's classifier after the usual ritual: levels as if their codes had an order."""

    def fit(sample: Sample) -> Grown:
        tree = import_module("sklearn.tree").DecisionTreeClassifier(random_state=0, **limits)
        model = peers.after_codes(tree)
        return grown(model.fit(sample.X, sample.y), "classes", lambda m: leaves_of_tree(m[-1]))

    return Peer(fit, "sklearn")


# Binned ------------------------------------------------------------------------------------------


def intelex(task: Task, *, bins: int | None = None, **limits: Any) -> Peer:
    """A forest of one tree on all rows and columns: scikit-learn-intelex has no tree alone.

    It always bins. Without ``bins`` it gets one for every row, which makes it exact.
    """

    def fit(sample: Sample) -> Grown:
        settings = {
            "n_estimators": 1,
            "bootstrap": False,
            "max_features": 1.0 if task == "numbers" else None,
            "max_bins": bins or len(sample.y),
            "random_state": 0,
            "n_jobs": threads(),
            **limits,
        }
        grow = estimator("sklearnex.ensemble", "RandomForest", task, leaves, **settings)
        return grow(sample)

    def leaves(model: Any) -> int:
        return leaves_of_tree(model.estimators_[0])

    return Peer(fit, "sklearnex")


def hist_boosting(task: Task, **limits: Any) -> Peer:
    """One iteration of scikit-learn's boosting on histograms."""
    settings = {
        "max_iter": 1,
        "learning_rate": 1.0,
        "max_bins": BINS,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "early_stopping": False,
        **limits,
    }

    def leaves(model: Any) -> int:
        return int(model._predictors[0][0].get_n_leaf_nodes())

    name = "HistGradientBoosting"
    return Peer(estimator("sklearn.ensemble", name, task, leaves, **settings), "sklearn")


def xgboost(task: Task, **limits: Any) -> Peer:
    """One round of XGBoost on histograms, nothing regularised."""
    settings = {
        "n_estimators": 1,
        "learning_rate": 1.0,
        "tree_method": "hist",
        "max_bin": BINS,
        "reg_lambda": 0.0,
        "min_child_weight": 0.0,
        "enable_categorical": True,
        "n_jobs": threads(),
        **limits,
    }

    def leaves(model: Any) -> int:
        return int(model.get_booster().get_dump()[0].count("leaf="))

    return Peer(estimator("xgboost", "XGB", task, leaves, **settings), "xgboost")


def lightgbm(task: Task, depth: int, **more: Any) -> Peer:
    """One round of LightGBM, its data set made in the same call, nothing regularised."""
    settings = {
        "objective": "binary" if task == "classes" else "regression",
        "learning_rate": 1.0,
        "num_leaves": 2**depth,
        "max_depth": depth,
        **peers.lightgbm_unregularised(),
        **more,
    }

    def fit(sample: Sample) -> Grown:
        library = import_module("lightgbm")
        rows = library.Dataset(sample.X, label=sample.y)
        booster = library.train(settings, rows, num_boost_round=1)
        return Grown(booster, booster.predict, lambda: leaves(booster))

    def leaves(booster: Any) -> int:
        return int(booster.dump_model()["tree_info"][0]["num_leaves"])

    return Peer(fit, "lightgbm")


def lightgbms(task: Task, depth: int) -> dict[str, Peer]:
    """LightGBM three times: unless told, it tries both layouts first, much for a single tree."""
    return {
        "LightGBM": lightgbm(task, depth),
        "LightGBM by columns": lightgbm(task, depth, force_col_wise=True),
        "LightGBM by rows": lightgbm(task, depth, force_row_wise=True),
    }


# One interface -----------------------------------------------------------------------------------


def estimator(module: str, name: str, task: Task, leaves: Leaves, **settings: Any) -> Fit:
    """Fit ``module.name``, with the task's ending, by scikit-learn's interface."""

    fit = peers.by_scikit_learn(module, name, task, lambda: settings)
    return lambda sample: grown(fit(sample), task, leaves)


def grown(model: Any, task: Task, leaves: Leaves) -> Grown:
    """A fitted estimator with what the judge asks."""

    def answer(X: Any) -> Array:
        found: Array = model.predict_proba(X)[:, 1] if task == "classes" else model.predict(X)
        return found

    return Grown(model, answer, lambda: leaves(model))


def leaves_of_tree(tree: Any) -> int:
    """Leaves of a tree with scikit-learn's interface."""
    return int(tree.get_n_leaves())
