"""Errors for objects that a picture cannot show; they name what can be drawn instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ceiba.neighbors import KNeighborsClassifier, KNeighborsRegressor
from ceiba.tree.model.tree import Tree

_MEMBER = "model.estimators_[0]"


def model_error(parameter: str, expected: str, given: Any, remedy: str | None = None) -> Exception:
    """Return the error for an object that is not what ``parameter`` must be.

    An estimator that was not fitted gives NotFittedError. The remedy is by default the picture that
    shows such an object.
    """
    if isinstance(given, BaseEstimator) and not is_fitted(given):
        error: Exception = NotFittedError(
            f"This {type(given).__name__} instance is not fitted yet. Call 'fit' before it is "
            "drawn."
        )
        return error
    text = f"{parameter} must be {expected}, got {_type_name(given)}"
    remedy = picture_of(given) if remedy is None else remedy
    return TypeError(f"{text}: {remedy}." if remedy else f"{text}.")


def is_fitted(model: BaseEstimator) -> bool:
    """Return whether an estimator was fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def has_tree(model: Any) -> bool:
    """Return whether a model is a fitted tree estimator of Ceiba."""
    return isinstance(getattr(model, "tree_", None), Tree)


def check_one_target(n_outputs: int) -> None:
    """Raise ValueError for a model of several targets, which no picture shows."""
    if n_outputs > 1:
        raise ValueError(
            f"model must have one target to be drawn, got {n_outputs}: fit a model for each column "
            "of y."
        )


def one_tree(model: Any) -> str | None:
    """Return the advice to pass one tree of an ensemble; None if it has none."""
    tree = _tree_of(model)
    return f"pass one of its trees, {tree}" if tree else None


def one_estimator(model: Any) -> str | None:
    """Return the advice to pass one tree estimator of an ensemble; None if it has none."""
    return f"pass one of its trees, {_MEMBER}" if _has_members(model) else None


def picture_of(model: Any) -> str:
    """Return the advice which picture shows a fitted model; empty if there is none."""
    if has_tree(model):
        return "draw it with plots.tree(model)"
    if hasattr(model, "cluster_centers_"):
        return "draw it with plots.clusters(model, X)"
    if all(hasattr(model, name) for name in ("weights_", "means_", "covariances_")):
        return "draw it with plots.mixture(model, X)"
    if _tree_of(model):
        return f"draw one of its trees with plots.tree({_tree_of(model)})"
    if hasattr(model, "encoding_") and hasattr(getattr(model, "model_", None), "structure"):
        return "draw it with plots.network(model)"
    if isinstance(model, KNeighborsClassifier | KNeighborsRegressor):
        return "draw the neighbors of a row with plots.neighbor_votes(model, X[:1])"
    if isinstance(model, BaseEstimator) and hasattr(model, "classes_"):
        return "draw it with plots.regions(model, X, y)"
    return ""


def _tree_of(model: Any) -> str:
    """Return the expression for one tree of an ensemble, with its class labels."""
    if isinstance(model, BaseEstimator) and hasattr(model, "forest_"):
        return "model.tree(0)" + ", classes=model.classes_" * hasattr(model, "classes_")
    return _MEMBER if _has_members(model) else ""


def _has_members(model: Any) -> bool:
    """Return whether the members of an ensemble are trees of Ceiba with an estimator each."""
    members = getattr(model, "estimators_", None)
    return isinstance(members, Sequence) and len(members) > 0 and has_tree(members[0])


def _type_name(given: Any) -> str:
    """Return the class, with its package if that is neither Ceiba's nor Python's."""
    package = type(given).__module__.partition(".")[0]
    name = type(given).__name__
    return name if package in ("ceiba", "builtins") else f"{name} of {package}"
