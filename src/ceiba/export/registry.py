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
    "Account": "ceiba.mixture.account",
    "Anchor": "ceiba.mixture.prior",
    "ComponentMoments": "ceiba.stats.component_moments",
    "ConjugatePrior": "ceiba.mixture.prior",
    "Forest": "ceiba.ensemble.forest",
    "LeafTargets": "ceiba.ensemble.quantiles",
    "Lot": "ceiba.ensemble.bagging_lot",
    "MixtureChoice": "ceiba.mixture.choice",
    "OobCurve": "ceiba.ensemble.oob_curve",
    "PermutationImportance": "ceiba.ensemble.importance",
    "Pruning": "ceiba.tree.prune",
    "Schema": "ceiba.data.schema",
    "Trace": "ceiba.base.trace",
    "Tree": "ceiba.tree.structure",
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
