"""Refuse models that another library, format or language cannot express.

``where`` is the first part of a message: the library, or what it cannot do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import ceiba
from ceiba.data.schema import Column, Kind
from ceiba.export.errors import NotExpressibleError
from ceiba.tree.base import DecisionTree
from ceiba.tree.model.tree import Tree

# Integers up to this are exact in float64.
_MAX_EXACT = 2**53


def check_learner(model: Any, names: Iterable[str], alternative: str = "") -> None:
    """Raise unless a model is fitted, and one of Ceiba's learners of some names itself.

    ``alternative`` is what else is accepted.
    """
    name = type(model).__name__
    if name not in names or type(model) is not getattr(ceiba, name, None):
        raise NotExpressibleError(
            f"model must be {alternative}one of {', '.join(sorted(names))} of Ceiba, got {name}."
        )
    check_is_fitted(model)
    if getattr(model, "n_outputs_", 1) > 1:
        raise NotExpressibleError(
            f"model must have one target to be exported, got {model.n_outputs_}: fit a model for "
            "each column of y, or store it by ceiba.save."
        )


def check_no_times(columns: Iterable[Column], where: str) -> None:
    """Raise for a column of times."""
    for column in columns:
        if column.temporal:
            raise NotExpressibleError(
                f"{where} the times of column {column.name!r}: convert it to a number of days "
                "before the fit."
            )


def check_float64_threshold(column: Column, threshold: Any, where: str) -> None:
    """Raise for a threshold of integers that float64 cannot hold."""
    is_integer = column.kind is Kind.NUMERIC and column.dtype not in ("float64", "float32")
    if is_integer and _MAX_EXACT < abs(threshold) < np.inf:
        raise NotExpressibleError(
            f"{where}, which cannot hold the integers of column {column.name!r}, got a threshold "
            f"of {threshold}: subtract a constant before the fit."
        )


def check_missing_branch(tree: Tree, where: str) -> None:
    """Raise unless missing values take one branch of each node."""
    if tree.missing != "branch":
        raise NotExpressibleError(
            f"{where} has one branch for missing values in each node, and no "
            f"missing={tree.missing!r}: fit with missing='learned', or export to code."
        )


def check_no_majority_vote(model: Any, where: str) -> None:
    """Raise for bagging by votes, which draws the class of tied rows."""
    if getattr(model, "voting", None) == "majority":
        raise NotExpressibleError(
            f"{where} has no majority vote with drawn ties: fit with voting='probability'."
        )


def check_tree_members(model: Any, where: str) -> None:
    """Raise if a member of an ensemble is no decision tree of Ceiba."""
    for member in model.estimators_:
        if not isinstance(member, DecisionTree):
            raise NotExpressibleError(
                f"{where} requires members that are decision trees of Ceiba, got "
                f"{type(member).__module__}.{type(member).__name__}."
            )
    check_no_majority_vote(model, where)
