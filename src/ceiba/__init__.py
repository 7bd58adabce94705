"""Ceiba: classical learners on real tables, fast, visible step by step, at three scales.

Public names are looked up when first used, so that ``import ceiba`` stays cheap and an optional
package is only asked for by the part that needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ceiba import datasets, plots
    from ceiba.cluster import KMeans
    from ceiba.data import read, scan
    from ceiba.ensemble import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        BaggingClassifier,
        BaggingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from ceiba.export import load, save
    from ceiba.mixture import GaussianMixture, GaussianMixtureClassifier
    from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"

# Public name -> the module that holds it; None where the name is the module itself.
_PUBLIC = {
    "AdaBoostClassifier": "ceiba.ensemble",
    "AdaBoostRegressor": "ceiba.ensemble",
    "BaggingClassifier": "ceiba.ensemble",
    "BaggingRegressor": "ceiba.ensemble",
    "DecisionTreeClassifier": "ceiba.tree",
    "DecisionTreeRegressor": "ceiba.tree",
    "GaussianMixture": "ceiba.mixture",
    "GaussianMixtureClassifier": "ceiba.mixture",
    "KMeans": "ceiba.cluster",
    "RandomForestClassifier": "ceiba.ensemble",
    "RandomForestRegressor": "ceiba.ensemble",
    "datasets": None,
    "plots": None,
    "read": "ceiba.data",
    "scan": "ceiba.data",
    "save": "ceiba.export",
    "load": "ceiba.export",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GaussianMixture",
    "GaussianMixtureClassifier",
    "KMeans",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "__version__",
    "datasets",
    "load",
    "plots",
    "read",
    "save",
    "scan",
]


if not TYPE_CHECKING:  # a checker would take every unknown name for Any

    def __getattr__(name: str) -> Any:
        if name not in _PUBLIC:
            raise AttributeError(f"module 'ceiba' has no attribute {name!r}")
        module = import_module(_PUBLIC[name] or f"ceiba.{name}")
        value = module if _PUBLIC[name] is None else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
