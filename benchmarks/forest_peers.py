"""Everyone who can grow a forest, brought to one interface and to the same limits.

Trees of full depth on bootstrap samples, the square root of the columns drawn at every node.
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
from benchmarks.machine import threads
from benchmarks.peers import BINS, ENDING
from benchmarks.tree_data import Array, Sample, Task
from benchmarks.workload import Contestant

TREES = 100
# Of a bootstrap sample: for those who draw without replacement.
DIFFERENT_ROWS = 0.632
# LightGBM allows no more leaves, and would keep gigabytes of histograms for them.
MOST_LEAVES = 131_072
POOL_MEGABYTES = 512


class Forest(NamedTuple):
    """A fitted forest, and how to ask it; asking is not part of growing and not timed with it."""

    model: Any
    # Probabilities of all classes, or the numbers.
    answer: Callable[[Any], Array]
    # All nodes divided by the trees that were asked for. Boosters grow one tree a class for each.
    nodes: Callable[[], float]


Fit = Callable[[Sample], Forest]
Nodes = Callable[[Any], int]
Peer = peers.Peer[Forest]


# By scikit-learn's interface ---------------------------------------------------------------------


def ceiba(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """Ours: exact, or binned where ``max_bins`` is given."""

    def settings() -> dict[str, Any]:
        return {"max_features": "sqrt", **more}

    def nodes(model: Any) -> int:
        return len(model.forest_.nodes)

    return Peer(estimator("ceiba", task, trees, nodes, settings), "ceiba")


def both(task: Task, trees: int = TREES) -> dict[str, Peer]:
    """Ours twice; ratios are told from the exact one."""
    return {"ceiba": ceiba(task, trees), "ceiba binned": ceiba(task, trees, max_bins=BINS)}


def sklearn(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """scikit-learn's forest, exact, on threads."""
    settings = partial(told, **more)
    return Peer(estimator("sklearn.ensemble", task, trees, nodes_of_trees, settings), "sklearn")


def intelex(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """scikit-learn-intelex's forest, which bins, 256 bins unless told."""
    settings = partial(told, **more)
    return Peer(estimator("sklearnex.ensemble", task, trees, nodes_of_trees, settings), "sklearnex")


def told(**more: Any) -> dict[str, Any]:
    """What those who cannot know have to be told, when they are: threads may change till then."""
    return {"max_features": "sqrt", "n_jobs": threads(), "random_state": 0, **more}


def ordinal_codes(trees: int = TREES) -> Peer:
    """scikit-learn's classifier after the usual ritual: levels as if their codes had an order."""

    def fit(sample: Sample) -> Forest:
        forest = import_module("sklearn.ensemble").RandomForestClassifier(trees, **told())
        unknown = {"handle_unknown": "use_encoded_value", "unknown_value": np.nan}
        model = peers.after_codes(forest, **unknown)
        model.fit(sample.X, sample.y)
        return grown(model, "classes", trees, lambda m: nodes_of_trees(m[-1]))

    return Peer(fit, "sklearn")


# Forests of boosters -----------------------------------------------------------------------------


def xgboost(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """XGBoost's random forest on histograms, nothing regularised; a tree a class."""

    def fit(sample: Sample) -> Forest:
        settings = {
            "n_estimators": trees,
            "max_depth": 0,
            "subsample": DIFFERENT_ROWS,
            "colsample_bynode": share_drawn(sample),
            "tree_method": "hist",
            "reg_lambda": 0.0,
            "min_child_weight": 0.0,
            "n_jobs": threads(),
            "random_state": 0,
            **more,
        }
        made = getattr(import_module("xgboost"), f"XGBRF{ENDING[task]}")(**settings)
        return grown(made.fit(sample.X, sample.y), task, trees, nodes)

    def nodes(model: Any) -> int:
        return sum(text.count("\n") for text in model.get_booster().get_dump())

    return Peer(fit, "xgboost")


def lightgbm(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """LightGBM's forest mode, its data set made in the same call; a tree a class."""

    def fit(sample: Sample) -> Forest:
        library = import_module("lightgbm")
        settings = {**forest_mode(sample), **objective(task, sample), **more}
        rows = library.Dataset(sample.X, label=sample.y)
        booster = library.train(settings, rows, num_boost_round=trees)
        return Forest(booster, lambda X: shares(task, booster.predict(X)), lambda: nodes(booster))

    def nodes(booster: Any) -> float:
        leaves = re.findall(r"^num_leaves=(\d+)$", booster.model_to_string(), re.MULTILINE)
        return sum(2 * int(count) - 1 for count in leaves) / trees

    return Peer(fit, "lightgbm")


def forest_mode(sample: Sample) -> dict[str, Any]:
    """LightGBM's settings for trees of full depth, nothing regularised."""
    return {
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": DIFFERENT_ROWS,
        "feature_fraction_bynode": share_drawn(sample),
        "num_leaves": min(len(sample.y), MOST_LEAVES),
        "histogram_pool_size": POOL_MEGABYTES,
        **peers.lightgbm_unregularised(),
    }


def objective(task: Task, sample: Sample) -> dict[str, Any]:
    """What LightGBM is to predict."""
    if task == "numbers":
        return {"objective": "regression"}
    classes = int(sample.y.max()) + 1
    return (
        {"objective": "binary"}
        if classes == 2
        else {"objective": "multiclass", "num_class": classes}
    )


# ydf ---------------------------------------------------------------------------------------------


def ydf(task: Task, trees: int = TREES, **more: Any) -> Peer:
    """The forest of Yggdrasil, exact, by information gain for classes: it knows no other."""

    def fit(sample: Sample) -> Forest:
        library = import_module("ydf")
        library.verbose(0)
        ending = {"classes": "CLASSIFICATION", "numbers": "REGRESSION"}[task]
        learner = library.RandomForestLearner(
            label="y",
            task=library.Task[ending],
            num_trees=trees,
            max_depth=-1,
            min_examples=1,
            # It looks at one more than it is told.
            num_candidate_attributes=drawn(sample) - 1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=threads(),
            **more,
        )
        model = learner.train({**columns_for_ydf(sample.X), "y": sample.y})

        def answer(X: Any) -> Array:
            return shares(task, model.predict(columns_for_ydf(X), num_threads=threads()))

        return Forest(model, answer, lambda: model.num_nodes() / trees)

    return Peer(fit, "ydf")


def columns_for_ydf(X: Any) -> dict[str, Array]:
    """Arrays by name, for it reads no pandas categories; text without letters is a gap."""
    if isinstance(X, np.ndarray):
        return {"x": X}
    return {name: plain(column) for name, column in X.items()}


def plain(column: Any) -> Array:
    """Numbers, ranks as numbers, or names of levels."""
    if column.dtype != "category":
        found: Array = column.to_numpy()
    elif column.cat.ordered:
        codes = column.cat.codes.to_numpy()
        found = np.where(codes < 0, np.nan, codes)
    else:
        names = np.array(["", *column.cat.categories], dtype=str)
        found = names[column.cat.codes.to_numpy() + 1]
    return found


# One interface -----------------------------------------------------------------------------------


def estimator(
    module: str, task: Task, trees: int, nodes: Nodes, settings: Callable[[], dict[str, Any]]
) -> Fit:
    """Fit the forest of ``module`` by scikit-learn's interface."""

    fit = peers.by_scikit_learn(
        module, "RandomForest", task, lambda: {"n_estimators": trees, **settings()}
    )
    return lambda sample: grown(fit(sample), task, trees, nodes)


def grown(model: Any, task: Task, trees: int, nodes: Nodes) -> Forest:
    """A fitted estimator with what the judge asks."""
    answer = model.predict_proba if task == "classes" else model.predict
    return Forest(model, answer, lambda: nodes(model) / trees)


def nodes_of_trees(model: Any) -> int:
    """Nodes of a list of scikit-learn's trees."""
    return sum(int(tree.tree_.node_count) for tree in model.estimators_)


def shares(task: Task, answers: Array) -> Array:
    """Probabilities of both classes where only the second's are told."""
    if task == "classes" and answers.ndim == 1:
        return np.column_stack([1 - answers, answers])
    return answers


def drawn(sample: Sample) -> int:
    """Columns that a node looks at."""
    return isqrt(sample.X.shape[1])


def share_drawn(sample: Sample) -> float:
    """The same as a share of all columns."""
    return drawn(sample) / int(sample.X.shape[1])


def contestants(group: str, peers_of: Mapping[str, Peer]) -> tuple[Contestant, ...]:
    """A group in which everyone grows a forest."""
    ours = tuple(label for label in peers_of if label.startswith("ceiba"))
    return peers.contestants(group, peers_of, ours)
