"""Libraries that grow a forest, behind one interface and with the same limits.

Trees of full depth on bootstrap samples; the square root of the columns is drawn at every node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.machine import n_threads
from benchmarks.peers import SUFFIX
from benchmarks.tree.data import Array, Sample, Task
from benchmarks.workload import Implementation

N_TREES = 100
# Fraction of distinct rows in a bootstrap sample, for libraries that draw without replacement.
DISTINCT_ROWS = 0.632
# LightGBM allows no more leaves, and would keep gigabytes of histograms for them.
MAX_LEAVES = 131_072
POOL_MEGABYTES = 512


class FittedForest(NamedTuple):
    """A fitted forest, and how to predict with it, which is not timed with the fit."""

    model: Any
    # Probabilities of all classes, or the numbers.
    predict: Callable[[Any], Array]
    # All nodes divided by the requested trees. Boosters grow one tree per class for each.
    nodes_per_tree: Callable[[], float]


Fit = Callable[[Sample], FittedForest]
CountNodes = Callable[[Any], int]
Peer = peers.Peer[FittedForest]


# scikit-learn's interface ------------------------------------------------------------------------


def ceiba(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return ours, with its default settings (255 bins above 10,000 rows) unless given."""

    def settings() -> dict[str, Any]:
        return {"max_features": "sqrt", **parameters}

    def nodes(model: Any) -> int:
        return len(model.forest_.nodes)

    return Peer(estimator("ceiba", task, n_trees, nodes, settings), "ceiba")


def default_and_exact(task: Task, n_trees: int = N_TREES) -> dict[str, Peer]:
    """Return ours twice; ratios refer to the default."""
    return {
        "ceiba": ceiba(task, n_trees),
        "ceiba exact": ceiba(task, n_trees, max_bins=None),
    }


def sklearn(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return scikit-learn's forest, exact, on threads."""
    settings = partial(sklearn_parameters, **parameters)
    return Peer(estimator("sklearn.ensemble", task, n_trees, count_nodes, settings), "sklearn")


def intelex(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return scikit-learn-intelex's forest, which bins; 256 bins by default."""
    settings = partial(sklearn_parameters, **parameters)
    return Peer(estimator("sklearnex.ensemble", task, n_trees, count_nodes, settings), "sklearnex")


def sklearn_parameters(**parameters: Any) -> dict[str, Any]:
    """Return the common parameters, with the number of threads at the time of the call."""
    return {"max_features": "sqrt", "n_jobs": n_threads(), "random_state": 0, **parameters}


def ordinal_codes(n_trees: int = N_TREES) -> Peer:
    """Return scikit-learn's classifier after the usual preprocessing: ordinal codes."""

    def fit(sample: Sample) -> FittedForest:
        forest_class = import_module("sklearn.ensemble").RandomForestClassifier
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
        model = peers.ordinal_pipeline(forest_class(n_trees, **sklearn_parameters()), **unknown)
        model.fit(sample.X, sample.y)
        return fitted_forest(model, "classification", n_trees, lambda m: count_nodes(m[-1]))

    return Peer(fit, "sklearn")


# Forests of boosters -----------------------------------------------------------------------------


def xgboost(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return XGBoost's random forest on histograms, not regularized; one tree per class."""

    def fit(sample: Sample) -> FittedForest:
        settings = {
            "n_estimators": n_trees,
            "max_depth": 0,
            "subsample": DISTINCT_ROWS,
            "colsample_bynode": fraction_drawn(sample),
            "tree_method": "hist",
            "reg_lambda": 0.0,
            "min_child_weight": 0.0,
            "n_jobs": n_threads(),
            "random_state": 0,
            **parameters,
        }
        model = getattr(import_module("xgboost"), f"XGBRF{SUFFIX[task]}")(**settings)
        return fitted_forest(model.fit(sample.X, sample.y), task, n_trees, nodes)

    def nodes(model: Any) -> int:
        return sum(text.count("\n") for text in model.get_booster().get_dump())

    return Peer(fit, "xgboost")


def lightgbm(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return LightGBM's forest mode, with its Dataset made in the call; one tree per class."""

    def fit(sample: Sample) -> FittedForest:
        library = import_module("lightgbm")
        settings = {**lightgbm_forest_mode(sample), **lightgbm_objective(task, sample)}
        dataset = library.Dataset(sample.X, label=sample.y)
        booster = library.train({**settings, **parameters}, dataset, num_boost_round=n_trees)

        def predict(X: Any) -> Array:
            return both_classes(task, booster.predict(X))

        return FittedForest(booster, predict, lambda: nodes(booster))

    def nodes(booster: Any) -> float:
        leaves = re.findall(r"^num_leaves=(\d+)$", booster.model_to_string(), re.MULTILINE)
        return sum(2 * int(count) - 1 for count in leaves) / n_trees

    return Peer(fit, "lightgbm")


def lightgbm_forest_mode(sample: Sample) -> dict[str, Any]:
    """Return LightGBM's parameters for trees of full depth, not regularized."""
    return {
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": DISTINCT_ROWS,
        "feature_fraction_bynode": fraction_drawn(sample),
        "num_leaves": min(len(sample.y), MAX_LEAVES),
        "histogram_pool_size": POOL_MEGABYTES,
        **peers.lightgbm_unregularized(),
    }


def lightgbm_objective(task: Task, sample: Sample) -> dict[str, Any]:
    """Return LightGBM's objective."""
    if task == "regression":
        return {"objective": "regression"}
    n_classes = int(sample.y.max()) + 1
    return (
        {"objective": "binary"}
        if n_classes == 2
        else {"objective": "multiclass", "num_class": n_classes}
    )


# ydf ---------------------------------------------------------------------------------------------


def ydf(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return Yggdrasil's forest, exact, by information gain: its only class criterion."""

    def fit(sample: Sample) -> FittedForest:
        library = import_module("ydf")
        library.verbose(0)
        learner = library.RandomForestLearner(
            label="y",
            task=library.Task[task.upper()],
            num_trees=n_trees,
            max_depth=-1,
            min_examples=1,
            # It searches one column more than this number.
            num_candidate_attributes=n_drawn(sample) - 1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=n_threads(),
            **parameters,
        )
        model = learner.train({**ydf_columns(sample.X), "y": sample.y})

        def predict(X: Any) -> Array:
            return both_classes(task, model.predict(ydf_columns(X), num_threads=n_threads()))

        return FittedForest(model, predict, lambda: model.num_nodes() / n_trees)

    return Peer(fit, "ydf")


def ydf_columns(X: Any) -> dict[str, Array]:
    """Return arrays by name, as ydf reads no pandas categories; empty text is missing."""
    if isinstance(X, np.ndarray):
        return {"x": X}
    return {name: to_plain_array(column) for name, column in X.items()}


def to_plain_array(column: Any) -> Array:
    """Return numbers, ranks as numbers, or names of categories."""
    if column.dtype != "category":
        values: Array = column.to_numpy()
    elif column.cat.ordered:
        codes = column.cat.codes.to_numpy()
        values = np.where(codes < 0, np.nan, codes)
    else:
        names = np.array(["", *column.cat.categories], dtype=str)
        values = names[column.cat.codes.to_numpy() + 1]
    return values


# Predictors of scikit-learn's forests ------------------------------------------------------------


def treelite(task: Task, n_trees: int = N_TREES, **parameters: Any) -> Peer:
    """Return Treelite's predictor of the forest that scikit-learn grows with these settings."""
    fit_sklearn = sklearn(task, n_trees, **parameters).fit

    def fit(sample: Sample) -> FittedForest:
        library = import_module("treelite")
        grown = fit_sklearn(sample)
        model = library.sklearn.import_model(grown.model)

        def predict(X: Any) -> Array:
            predicted: Array = library.gtil.predict(model, X, nthread=n_threads())
            outputs = predicted.reshape(len(X), -1)
            return outputs if task == "classification" else outputs[:, 0]

        return FittedForest(model, predict, grown.nodes_per_tree)

    return Peer(fit, "treelite")


# Common interface --------------------------------------------------------------------------------


def estimator(
    module: str,
    task: Task,
    n_trees: int,
    nodes: CountNodes,
    parameters: Callable[[], dict[str, Any]],
) -> Fit:
    """Return a function that fits the forest of ``module`` by scikit-learn's interface."""
    fit = peers.sklearn_fitter(
        module, "RandomForest", task, lambda: {"n_estimators": n_trees, **parameters()}
    )
    return lambda sample: fitted_forest(fit(sample), task, n_trees, nodes)


def fitted_forest(model: Any, task: Task, n_trees: int, nodes: CountNodes) -> FittedForest:
    """Wrap a fitted estimator."""
    predict = model.predict_proba if task == "classification" else model.predict
    return FittedForest(model, predict, lambda: nodes(model) / n_trees)


def count_nodes(model: Any) -> int:
    """Count the nodes of a list of scikit-learn's trees."""
    return sum(int(tree.tree_.node_count) for tree in model.estimators_)


def both_classes(task: Task, predictions: Array) -> Array:
    """Return probabilities of both classes where only the second's are given."""
    if task == "classification" and predictions.ndim == 1:
        return np.column_stack([1 - predictions, predictions])
    return predictions


def n_drawn(sample: Sample) -> int:
    """Return the number of columns drawn at a node."""
    return isqrt(sample.X.shape[1])


def fraction_drawn(sample: Sample) -> float:
    """Return the same as a fraction of all columns."""
    return n_drawn(sample) / int(sample.X.shape[1])


def implementations(group: str, by_label: Mapping[str, Peer]) -> tuple[Implementation, ...]:
    """Return a group in which all grow a forest."""
    ours = tuple(label for label in by_label if label.startswith("ceiba"))
    return peers.implementations(group, by_label, ours)
