"""Those who boost stumps and those who bag trees, brought to one interface."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks.machine import threads
from benchmarks.tree_data import Array, Sample


class Committee(NamedTuple):
    """A fitted committee, and how to ask it."""

    model: Any
    # Labels or probabilities of all classes.
    answer: Callable[[Any], Array]


Fit = Callable[[Sample], Committee]
MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.ensemble"}
NEEDS = {"ceiba": "ceiba", "scikit-learn": "sklearn"}
TREES = {"ceiba": "ceiba", "scikit-learn": "sklearn.tree"}


def adaboost(library: str, rounds: int, **more: Any) -> Fit:
    """AdaBoost of stumps, discrete and for any number of classes: both libraries' own default."""

    def fit(sample: Sample) -> Committee:
        made = import_module(MODULES[library]).AdaBoostClassifier
        model = made(n_estimators=rounds, random_state=0, **more).fit(sample.X, sample.y)
        return Committee(model, model.predict)

    return fit


def bagging(library: str, trees_of: str, members: int, backend: str | None = None) -> Fit:
    """Bagging of full trees; with a backend scikit-learn's members are fitted by that of joblib."""

    def fit(sample: Sample) -> Committee:
        tree = import_module(TREES[trees_of]).DecisionTreeClassifier(random_state=0)
        made = import_module(MODULES[library]).BaggingClassifier
        model = made(tree, n_estimators=members, random_state=0, n_jobs=threads())
        config = import_module("joblib").parallel_config
        with config(backend=backend) if backend else nullcontext():
            model.fit(sample.X, sample.y)
        return Committee(model, model.predict_proba)

    return fit
