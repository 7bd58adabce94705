"""Ceiba: classical learners on real tables, fast and visible step by step, at three scales.

Public names are imported on first use, so that ``import ceiba`` stays cheap and an optional
package is required only by the part that uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ceiba import datasets, experiments, export, plots
    from ceiba.bayes import (
        Discretizer,
        LatentClassMixture,
        NaiveBayesClassifier,
        StructuralTMClassifier,
        TANClassifier,
    )
    from ceiba.cluster import KMeans
    from ceiba.data import read, scan
    from ceiba.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        BaggingClassifier,
        BaggingRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from ceiba.export import load, save
    from ceiba.mixture import GaussianMixture, GaussianMixtureClassifier
    from ceiba.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
    from ceiba.report import fit_report
    from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"

# Estimator -> its package. Model files may name these classes and no others.
ESTIMATORS = {
    "AdaBoostClassifier": "ceiba.ensemble",
    "AdaBoostRegressor": "ceiba.ensemble",
    "BaggingClassifier": "ceiba.ensemble",
    "BaggingRegressor": "ceiba.ensemble",
    "DecisionTreeClassifier": "ceiba.tree",
    "DecisionTreeRegressor": "ceiba.tree",
    "Discretizer": "ceiba.bayes",
    "ExtraTreesClassifier": "ceiba.ensemble",
    "ExtraTreesRegressor": "ceiba.ensemble",
    "GaussianMixture": "ceiba.mixture",
    "GaussianMixtureClassifier": "ceiba.mixture",
    "GradientBoostingClassifier": "ceiba.ensemble",
    "GradientBoostingRegressor": "ceiba.ensemble",
    "KMeans": "ceiba.cluster",
    "KNeighborsClassifier": "ceiba.neighbors",
    "KNeighborsRegressor": "ceiba.neighbors",
    "LatentClassMixture": "ceiba.bayes",
    "NaiveBayesClassifier": "ceiba.bayes",
    "NearestNeighbors": "ceiba.neighbors",
    "RandomForestClassifier": "ceiba.ensemble",
    "RandomForestRegressor": "ceiba.ensemble",
    "StructuralTMClassifier": "ceiba.bayes",
    "TANClassifier": "ceiba.bayes",
}
_FUNCTIONS = {
    "fit_report": "ceiba.report",
    "load": "ceiba.export",
    "read": "ceiba.data",
    "save": "ceiba.export",
    "scan": "ceiba.data",
}
_MODULES = ("datasets", "experiments", "export", "plots")

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Discretizer",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GaussianMixture",
    "GaussianMixtureClassifier",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KMeans",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LatentClassMixture",
    "NaiveBayesClassifier",
    "NearestNeighbors",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StructuralTMClassifier",
    "TANClassifier",
    "__version__",
    "datasets",
    "experiments",
    "export",
    "fit_report",
    "load",
    "plots",
    "read",
    "save",
    "scan",
]


if not TYPE_CHECKING:  # a type checker would take every unknown name for Any

    def __getattr__(name: str) -> Any:
        package = ESTIMATORS.get(name) or _FUNCTIONS.get(name)
        if package is not None:
            value = getattr(import_module(package), name)
        elif name in _MODULES:
            value = import_module(f"ceiba.{name}")
        else:
            raise AttributeError(f"module 'ceiba' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
