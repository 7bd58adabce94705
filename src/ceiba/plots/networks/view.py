"""What pictures of Bayesian network classifiers show of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes import LatentClassMixture
from ceiba.bayes.base import NetworkClassifier
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import mean_values
from ceiba.bayes.structure.dependence import arc_information
from ceiba.plots.models import is_fitted, model_error


def check_network(model: Any) -> NetworkClassifier:
    """Return the model; raise if it is not a fitted classifier with one network."""
    if not isinstance(model, NetworkClassifier) or not is_fitted(model):
        raise model_error("model", "a fitted Bayesian network classifier", model)
    if not isinstance(model.model_, NetworkModel):
        raise ValueError(
            "model must have one network, got structure='aode', an average of networks: fit it "
            "with structure='tree'."
        )
    return model


def network_columns(model: NetworkClassifier | LatentClassMixture) -> tuple[list[str], list[str]]:
    """Return the columns of the network, and those with a density of their own."""
    names = model.encoding_.names
    inside = [names[feature] for feature in model.model_.structure.features]
    distributions = getattr(model, "distributions_", {})
    outside = [
        name
        for name, distribution in distributions.items()
        if distribution not in ("categorical", "discretized") and name not in model.dropped_columns_
    ]
    return inside, outside


def network_information(model: NetworkClassifier | LatentClassMixture) -> Array:
    """Return the mutual information of the columns of each arc, given the class.

    A model without ``arc_information_`` (naive Bayes, mixtures, files written before searched
    networks had it) has that of its own joint distribution.
    """
    if hasattr(model, "arc_information_"):
        return np.asarray(model.arc_information_)
    families = model.model_.families
    return arc_information(families, mean_values(families, model.model_.network, 1.0).table)


def class_index(model: Any, label: Any, parameter: str = "label") -> int:
    """Return the index of a class; ValueError for another value."""
    labels = np.asarray(model.classes_).tolist()
    if label not in labels:
        raise ValueError(f"{parameter} must be one of the classes {labels}, got {label!r}.")
    return int(labels.index(label))


def named_models(models: Any, parameter: str) -> dict[str, Any]:
    """Return models by name; a single one has the name of its class."""
    if not isinstance(models, Mapping):
        return {type(models).__name__: models}
    if not models:
        raise ValueError(f"{parameter} must contain at least one fitted model, got none.")
    return {str(name): model for name, model in models.items()}
