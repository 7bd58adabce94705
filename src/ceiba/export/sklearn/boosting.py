"""Convert gradient boosting to scikit-learn's HistGradientBoosting estimators.

Their trees compare float64, send missing values to a branch, and split nominal columns, given as
codes, by sets of up to 256 categories.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn._loss import loss as sklearn_losses
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.export.boosting import boosting_link, check_boosting
from ceiba.export.checks import check_float64_threshold, check_no_times
from ceiba.export.errors import NotExpressibleError
from ceiba.export.sklearn.trees import set_feature_attributes
from ceiba.export.trees import ThresholdNodes, leaf_predictions
from ceiba.tree.explain.conditions import largest_float
from ceiba.tree.model.tree import Tree

_MAX_CATEGORIES = 256
# Losses of the same link; the others of its regressor have the identity.
_REGRESSION_LOSSES = {
    "absolute_error": "absolute_error", "poisson": "poisson", "gamma": "gamma",
    "tweedie": "gamma",
}  # fmt: skip


def convert_boosting(model: Any, X: Any) -> Any:
    """Return a fitted HistGradientBoostingClassifier or HistGradientBoostingRegressor."""
    if X is not None:
        raise ValueError(
            f"X has no effect on a {type(model).__name__}, whose thresholds are kept in float64: "
            "leave it out."
        )
    _check(model)
    trees, schema = model.boosted_trees_, model.schema_
    forest, n_outputs = trees.to_forest(), trees.n_outputs
    converted = _estimator(model)
    predictors = [
        _predictor(forest.tree(t), trees.node_gains[slice(*trees.tree_offsets[t : t + 2])])
        for t in range(trees.n_trees)
    ]
    converted._predictors = [
        predictors[first : first + n_outputs] for first in range(0, len(predictors), n_outputs)
    ]
    # A score is added to the columns of an array: one row, also of a single score.
    converted._baseline_prediction = np.array(trees.first_scores).reshape(1, -1)
    converted.n_trees_per_iteration_ = n_outputs
    converted._bin_mapper = _bin_mapper(schema)
    converted.is_categorical_ = converted._bin_mapper.is_categorical_
    # Rows have codes of categories already.
    converted._preprocessor = converted._is_categorical_remapped = None
    converted.do_early_stopping_ = False
    converted.train_score_, converted.validation_score_ = np.empty(0), np.empty(0)
    converted._n_features = len(schema)
    converted._use_warm_start = False
    set_feature_attributes(converted, schema)
    return converted


def _check(model: Any) -> None:
    check_boosting(model, "scikit-learn's HistGradientBoosting")
    check_no_times(model.schema_, "scikit-learn compares values in float64, which cannot hold")
    if hasattr(model, "classes_") and len(model.classes_) == 1:
        raise NotExpressibleError(
            "scikit-learn's HistGradientBoostingClassifier requires two classes, got 1: fit to "
            "rows of another class as well."
        )
    for column in model.schema_:
        if column.kind is Kind.NOMINAL and len(column.categories) > _MAX_CATEGORIES:
            raise NotExpressibleError(
                f"scikit-learn splits by at most {_MAX_CATEGORIES} categories, and column "
                f"{column.name!r} has {len(column.categories)}: leave it out of the fit, or export "
                "to ONNX or code."
            )


def _estimator(model: Any) -> Any:
    """Return an estimator with the loss whose link the model has."""
    limits = {"max_iter": model.n_estimators_, "learning_rate": min(model.learning_rate, 1.0)}
    link = boosting_link(model)
    if not hasattr(model, "classes_"):
        name = model.loss if isinstance(model.loss, str) else "squared_error"
        converted = ensemble.HistGradientBoostingRegressor(
            loss=_REGRESSION_LOSSES.get(name, "squared_error"), **limits
        )
        converted._loss = converted._get_loss(sample_weight=None)
        return converted
    converted = ensemble.HistGradientBoostingClassifier(**limits)
    converted.classes_ = model.classes_
    if link == "softmax":
        converted._loss = sklearn_losses.HalfMultinomialLoss(n_classes=len(model.classes_))
    elif link == "half_logit":
        converted._loss = sklearn_losses.ExponentialLoss()
    else:
        converted._loss = sklearn_losses.HalfBinomialLoss()
    return converted


def _predictor(tree: Tree, gain: Array) -> Any:
    """Return a tree as scikit-learn's nodes, with the same numbers, and sets of categories."""
    nodes = np.zeros(tree.n_nodes, PREDICTOR_RECORD_DTYPE)
    tests, inner = ThresholdNodes.of(tree), ~tree.is_leaf
    nodes["value"], nodes["count"] = leaf_predictions(tree)[:, 0], tree.n_rows
    nodes["is_leaf"], nodes["depth"], nodes["gain"] = tree.is_leaf, tree.depth, gain
    nodes["left"][inner], nodes["right"][inner] = tree.child[inner], tree.child[inner] + 1
    nodes["feature_idx"][inner] = tree.column[inner]
    nodes["missing_go_to_left"][inner] = tests.missing_first[inner]
    nodes["num_threshold"][tests.selected] = tests.threshold[tests.selected]
    sets: list[list[int]] = []
    for node in np.flatnonzero(inner & ~tests.selected).tolist():
        split = tree.split(node)
        column = tree.schema[split.column]
        if column.kind is not Kind.NOMINAL:
            check_float64_threshold(column, split.threshold, "scikit-learn compares float64")
            nodes["num_threshold"][node] = largest_float(split.threshold)
            continue
        first = set(split.branches[0])
        if split.missing_branch == 0:  # with the categories that no row of the node has
            first |= set(column.categories) - set().union(*split.branches)
        nodes["is_categorical"][node], nodes["bitset_idx"][node] = 1, len(sets)
        sets.append([column.categories.index(category) for category in first])
    bitsets = _bitsets(sets)
    return TreePredictor(nodes, bitsets, bitsets)


def _bitsets(sets: list[list[int]]) -> Array:
    bits = np.zeros((len(sets), _MAX_CATEGORIES), np.uint8)
    for row, codes in zip(bits, sets, strict=True):
        row[codes] = 1
    return np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)


def _bin_mapper(schema: Schema) -> Any:
    """Return the part of a fit that holds the known categories."""
    mapper = _BinMapper()
    nominal = [column.kind is Kind.NOMINAL for column in schema]
    mapper.is_categorical_ = np.array(nominal, dtype=np.uint8)
    mapper.bin_thresholds_ = [
        np.arange(len(column.categories), dtype=np.float64) if is_nominal else np.empty(0)
        for column, is_nominal in zip(schema, nominal, strict=True)
    ]
    return mapper
