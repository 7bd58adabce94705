"""AdaBoost of stumps and bagging of trees, behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks.machine import n_threads
from benchmarks.tree.data import Array, Sample


class FittedEnsemble(NamedTuple):
    """A fitted ensemble, and how to predict with it."""

    model: Any
    # Labels, or probabilities of all classes.
    predict: Callable[[Any], Array]


Fit = Callable[[Sample], FittedEnsemble]
ENSEMBLE_MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.ensemble"}
TREE_MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.tree"}
TOP_LEVEL = {"ceiba": "ceiba", "scikit-learn": "sklearn"}


def adaboost(library: str, n_estimators: int, **parameters: Any) -> Fit:
    """Return a fit of discrete AdaBoost of stumps (SAMME), the default of both libraries."""

    def fit(sample: Sample) -> FittedEnsemble:
        ensemble_class = import_module(ENSEMBLE_MODULES[library]).AdaBoostClassifier
        model = ensemble_class(n_estimators=n_estimators, random_state=0, **parameters)
        model.fit(sample.X, sample.y)
        return FittedEnsemble(model, model.predict)

    return fit


def bagging(library: str, trees_of: str, n_estimators: int, backend: str | None = None) -> Fit:
    """Return a fit of bagging of full trees; ``backend`` is joblib's, for scikit-learn."""

    def fit(sample: Sample) -> FittedEnsemble:
        tree = import_module(TREE_MODULES[trees_of]).DecisionTreeClassifier(random_state=0)
        ensemble_class = import_module(ENSEMBLE_MODULES[library]).BaggingClassifier
        model = ensemble_class(tree, n_estimators=n_estimators, random_state=0, n_jobs=n_threads())
        config = import_module("joblib").parallel_config
        with config(backend=backend) if backend else nullcontext():
            model.fit(sample.X, sample.y)
        return FittedEnsemble(model, model.predict_proba)

    return fit
