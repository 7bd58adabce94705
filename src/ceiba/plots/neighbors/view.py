"""What pictures of nearest neighbors show of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind
from ceiba.neighbors import KNeighborsClassifier, KNeighborsRegressor
from ceiba.neighbors.distance import Distance
from ceiba.neighbors.partitioned import PartitionedIndex
from ceiba.plots.models import is_fitted, model_error


def check_classifier(model: Any) -> KNeighborsClassifier:
    """Return the model; raise if it is not a fitted classifier by neighbors."""
    if not isinstance(model, KNeighborsClassifier) or not is_fitted(model):
        raise model_error("model", "a fitted KNeighborsClassifier", model)
    return model


def check_predictor(model: Any) -> KNeighborsClassifier | KNeighborsRegressor:
    """Return the model; raise if it does not predict by neighbors."""
    if not isinstance(model, KNeighborsClassifier | KNeighborsRegressor) or not is_fitted(model):
        raise model_error("model", "a fitted KNeighborsClassifier or KNeighborsRegressor", model)
    return model


def training_matrix(model: Any) -> Array:
    """Return the training rows as numbers; ValueError if they stay in files or on a cluster."""
    if isinstance(model.index_, PartitionedIndex):
        raise ValueError(
            "model must have its training rows in memory, got one whose rows stay in files or on a "
            "cluster: fit it on a sample of them."
        )
    return np.asarray(model.rows_.X, np.float64)


def numeric_columns(model: Any) -> list[int]:
    """Return the indices of the columns of numbers, without times."""
    numeric = (column.kind is Kind.NUMERIC and not column.temporal for column in model.schema_)
    return [j for j, is_numeric in enumerate(numeric) if is_numeric]


def linear_map(distance: Distance) -> Array | None:
    """Return the matrix that rows of two columns are multiplied with before their distance.

    None if there is none, or if the distance ignores a column.
    """
    if not distance.is_coordinate or distance.direction != "none":
        return None
    linear = distance.apply(np.eye(2))
    # It is triangular.
    return linear if (np.diag(linear) > 0).all() else None
