"""Convert models to scikit-learn's estimators of the same name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import cluster, ensemble, mixture
from sklearn.base import clone
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from ceiba._typing import Array
from ceiba.base import Estimator
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.ensemble.common.rows import table_columns
from ceiba.export.checks import check_learner, check_no_majority_vote
from ceiba.export.errors import NotExpressibleError
from ceiba.export.sklearn.boosting import convert_boosting
from ceiba.export.sklearn.members import ClassIndexMember
from ceiba.export.sklearn.trees import (
    Float32Rounding,
    criterion_name,
    set_feature_attributes,
    tree_estimator,
)
from ceiba.export.trees import forest_trees
from ceiba.tree.base import DecisionTree
from ceiba.tree.config import TreeConfig
from ceiba.tree.model.tree import Tree
from ceiba.tree.partition import entropies


def to_sklearn(model: Any, X: Any = None) -> Any:
    """Convert a fitted model to a fitted estimator of scikit-learn.

    Trees, random forests, AdaBoost, bagging, k-means and Gaussian mixtures become scikit-learn's
    estimators of the same name, for tools that read those: shap, dtreeviz, skl2onnx,
    `sklearn.tree.plot_tree`. Trees keep the numbers of their nodes. Gradient boosting becomes
    ``HistGradientBoostingClassifier`` or ``HistGradientBoostingRegressor``, which compare float64
    and split nominal columns by the indices of up to 256 categories.

    The other trees of scikit-learn compare rows in float32: predictions are equal for rows that
    float32 can hold. Other rows change their side of a threshold if it lies between a value and its
    float32. Thresholds that are decimal numbers up to rounding, such as 1.7000000000000002, are
    moved so that this does not happen to rows with that decimal number.

    Parameters
    ----------
    model : estimator
        A fitted estimator of Ceiba. An ordinal column becomes a column of the indices 0, 1, ... of
        its categories, and a nominal column of two categories one of 0 and 1.
    X : array, frame, Table or list, optional
        For models of Ceiba's trees: rows, usually those of ``fit``, that keep their leaves.
        Thresholds are moved by less than a float32 where that needs it. Only values on both sides
        of a threshold that float32 rounds to one number are still confused.

    Returns
    -------
    estimator
        A fitted estimator of scikit-learn.

    Raises
    ------
    NotExpressibleError
        If scikit-learn has no such model: splits by groups of more than two categories or with
        more than two branches, fractional or surrogate routing of missing values, cost matrices,
        SAMME.R, an ``init`` predictor of gradient boosting, majority votes, nominal columns or
        ``scale`` in k-means. The message names the part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import export_text
    >>> from ceiba import DecisionTreeClassifier
    >>> from ceiba.export import to_sklearn
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), ["no", "no", "yes"]
    >>> model = to_sklearn(DecisionTreeClassifier().fit(X, y))
    >>> print(export_text(model).rstrip())
    |--- feature_0 <= 3.00
    |   |--- class: no
    |--- feature_0 >  3.00
    |   |--- class: yes
    """
    check_learner(model, _CONVERTERS)
    if X is not None and not hasattr(model, "schema_"):
        raise ValueError(
            f"X requires a model of Ceiba's own trees, got a {type(model).__name__} of "
            f"{type(model.estimators_[0]).__name__}: leave it out."
        )
    converted: Any = _CONVERTERS[type(model).__name__](model, X)
    return converted


def _convert_tree(model: Any, X: Any) -> Any:
    return _tree(model, _rounding(model, X), getattr(model, "classes_", None))


def _tree(model: Any, rounding: Float32Rounding, classes: Array | None) -> Any:
    criterion = TreeConfig.from_estimator(model).criterion
    return tree_estimator(model.tree_, classes, criterion, rounding)


def _rounding(model: Any, X: Any, member: Any = None) -> Float32Rounding:
    """Return how the thresholds of a tree, or of trees like ``member``, are rounded."""
    if isinstance(model if member is None else member, DecisionTree):
        config = TreeConfig.from_estimator(model if member is None else member)
        return Float32Rounding.of(model.schema_, X, config.thresholds == "value")
    return Float32Rounding.of(model.schema_, X, at_values=False)


def _convert_forest(model: Any, X: Any) -> Any:
    forest, rounding = model.forest_, _rounding(model, X)
    classifier = forest.n_classes > 0
    # A forest of regression trees stores the means of its leaves, whatever the criterion was.
    criterion = model.criterion if classifier else "squared_error"
    # The trees of scikit-learn's forests predict indices of classes, as floats.
    classes = np.arange(forest.n_classes, dtype=np.float64) if classifier else None
    trees = [
        tree_estimator(_with_impurity(tree, criterion), classes, criterion, rounding)
        for tree in forest_trees(model)
    ]
    cls = getattr(ensemble, type(model).__name__)
    converted = cls(n_estimators=len(trees), criterion=criterion_name(criterion))
    converted.estimator_ = type(trees[0])()
    converted.n_outputs_ = 1
    return _with_members(converted, model, trees)


def _with_impurity(tree: Tree, criterion: str) -> Tree:
    """Return a tree of a forest, which has Gini impurities, with those of the criterion."""
    if criterion not in ("entropy", "log_loss"):
        return tree
    return replace(tree, impurity=entropies(tree.node_values))


def _with_members(converted: Any, model: Any, members: list[Any]) -> Any:
    converted.estimators_ = members
    if hasattr(model, "classes_"):
        converted.classes_, converted.n_classes_ = model.classes_, len(model.classes_)
    if hasattr(model, "schema_"):
        set_feature_attributes(converted, model.schema_)
    else:
        converted.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            converted.feature_names_in_ = model.feature_names_in_
    return converted


def _convert_members(model: Any, X: Any, columns: Sequence[Sequence[int]]) -> list[Any]:
    """Return the members as estimators of scikit-learn; those of other libraries as they are.

    ``columns`` are the indices of each member's columns.
    """
    pairs = list(zip(model.estimators_, columns, strict=True))
    if isinstance(model.estimators_[0], DecisionTree):
        rounding = _rounding(model, X, model.estimators_[0])
        return [
            _tree(member, rounding.take(selected), getattr(member, "classes_", None))
            for member, selected in pairs
        ]
    if X is None:
        return [
            to_sklearn(member) if isinstance(member, Estimator) else member for member, _ in pairs
        ]
    table = Table.of(X, model.schema_)
    return [
        to_sklearn(member, table_columns(table, np.asarray(selected))) for member, selected in pairs
    ]


def _unfitted_member(model: Any, members: list[Any]) -> Any:
    """Return the estimator whose clones a fit of the converted ensemble would fit."""
    first = members[0] if hasattr(model, "schema_") else model.estimator
    return clone(first.estimator if isinstance(first, ClassIndexMember) else first)


def _convert_adaboost(model: Any, X: Any) -> Any:
    if getattr(model, "algorithm", None) == "samme.r":
        raise NotExpressibleError(
            "scikit-learn's AdaBoostClassifier has no algorithm='samme.r': fit with "
            "algorithm='samme'."
        )
    all_columns = range(model.n_features_in_)
    members = _convert_members(model, X, [all_columns] * len(model.estimators_))
    cls = getattr(ensemble, type(model).__name__)
    names = ("n_estimators", "learning_rate", "loss")
    options = {name: getattr(model, name) for name in names if name in cls().get_params()}
    converted = cls(estimator=_unfitted_member(model, members), **options)
    converted.estimator_ = converted.estimator
    converted.estimator_weights_ = model.estimator_weights_.copy()
    converted.estimator_errors_ = model.estimator_errors_.copy()
    return _with_members(converted, model, members)


def _convert_bagging(model: Any, X: Any) -> Any:
    check_no_majority_vote(model, "scikit-learn's BaggingClassifier")
    members = _convert_members(model, X, model.estimators_features_)
    if hasattr(model, "classes_"):
        members = _with_class_indices(model, members)
    cls = getattr(ensemble, type(model).__name__)
    converted = cls(estimator=_unfitted_member(model, members), n_estimators=len(members))
    converted.estimator_ = converted.estimator
    converted.estimators_features_ = [columns.copy() for columns in model.estimators_features_]
    return _with_members(converted, model, members)


def _with_class_indices(model: Any, members: list[Any]) -> list[Any]:
    """Return converted members that predict class indices, as those of scikit-learn do."""
    if not isinstance(model.estimators_[0], DecisionTree):
        return [ClassIndexMember.wrap(member, model.classes_) for member in members]
    for member in members:
        member.classes_ = class_indices(member.classes_, model.classes_).astype(np.int64)
    return members


def _check_no_rows(model: Any, X: Any) -> None:
    if X is not None:
        raise ValueError(
            f"X has no effect on a {type(model).__name__}, which has no thresholds: leave it out."
        )


def _convert_kmeans(model: Any, X: Any) -> Any:
    _check_no_rows(model, X)
    if not model.schema_.all_numeric:
        names = [column.name for column in model.schema_ if column.kind is not Kind.NUMERIC]
        raise NotExpressibleError(
            f"scikit-learn's KMeans has no nominal columns, got {', '.join(map(repr, names))}: "
            "encode them as numbers before the fit."
        )
    if model.scale is not None:
        raise NotExpressibleError(
            f"scikit-learn's KMeans has no scale, got {model.scale!r}: use a scaler before the fit."
        )
    converted = cluster.KMeans(model.n_clusters, max_iter=model.max_iter)
    converted.cluster_centers_ = np.array(model.cluster_centers_, order="C")
    for name in ("labels_", "inertia_", "n_iter_"):
        if hasattr(model, name):
            setattr(converted, name, getattr(model, name))
    converted._n_features_out = model.n_clusters
    converted._n_threads = _openmp_effective_n_threads()
    set_feature_attributes(converted, model.schema_)
    return converted


# Forms of covariances as scikit-learn names them; the others are matrices, or diagonals.
_COVARIANCE_TYPES = {"tied": "tied", "spherical": "spherical", "EII": "spherical"}


def _convert_mixture(model: Any, X: Any) -> Any:
    _check_no_rows(model, X)
    identifiers = [column.name for column in model.schema_ if column.kind is Kind.NOMINAL]
    if identifiers:
        raise NotExpressibleError(
            "scikit-learn's GaussianMixture has no columns of text, got "
            f"{', '.join(map(repr, identifiers))}: leave them out of the fit."
        )
    form = model._form
    kind = _COVARIANCE_TYPES.get(form.name, "full" if form.full else "diag")
    if kind == "spherical" and np.ndim(model.covariances_) == 2:
        kind = "diag"  # with scale, one variance in units of the spread is one per column
    converted = mixture.GaussianMixture(model.n_components_, covariance_type=kind)
    names = ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_")
    for name in (*names, "converged_", "n_iter_", "lower_bound_"):
        if hasattr(model, name):
            value = getattr(model, name)
            setattr(converted, name, value.copy() if isinstance(value, np.ndarray) else value)
    set_feature_attributes(converted, model.schema_)
    return converted


_CONVERTERS: dict[str, Callable[[Any, Any], Any]] = {
    "AdaBoostClassifier": _convert_adaboost,
    "AdaBoostRegressor": _convert_adaboost,
    "BaggingClassifier": _convert_bagging,
    "BaggingRegressor": _convert_bagging,
    "DecisionTreeClassifier": _convert_tree,
    "DecisionTreeRegressor": _convert_tree,
    "ExtraTreesClassifier": _convert_forest,
    "ExtraTreesRegressor": _convert_forest,
    "GaussianMixture": _convert_mixture,
    "GradientBoostingClassifier": convert_boosting,
    "GradientBoostingRegressor": convert_boosting,
    "KMeans": _convert_kmeans,
    "RandomForestClassifier": _convert_forest,
    "RandomForestRegressor": _convert_forest,
}
