"""The classes that a model file may name. Nothing else is ever looked up for a file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Public estimator -> the module that holds it.
ESTIMATORS = {
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
}

# Parts of a fitted state that write themselves with to_json and read themselves with from_json.
RECORDS = {
    "Account": "ceiba.mixture.events",
    "Anchor": "ceiba.mixture.prior",
    "ComponentMoments": "ceiba.mixture.statistics",
    "ConjugatePrior": "ceiba.mixture.prior",
    "Forest": "ceiba.ensemble.forest.model",
    "LeafTargets": "ceiba.ensemble.forest.quantiles",
    "Lot": "ceiba.ensemble.bagging.fitted",
    "MixtureChoice": "ceiba.mixture.selection",
    "OobCurve": "ceiba.ensemble.forest.oob",
    "PermutationImportance": "ceiba.ensemble.forest.importance",
    "Pruning": "ceiba.tree.prune.pruning",
    "Schema": "ceiba.data.schema",
    "Trace": "ceiba.base.trace",
    "Tree": "ceiba.tree.model.tree",
}


def estimator_class(name: object) -> Any:
    """The public estimator of that name, or None."""
    return _look_up(ESTIMATORS, name)


def record_class(name: object) -> Any:
    """The part of that name, or None."""
    return _look_up(RECORDS, name)


def _look_up(table: dict[str, str], name: object) -> Any:
    if not isinstance(name, str) or name not in table:
        return None
    return getattr(import_module(table[name]), name)
