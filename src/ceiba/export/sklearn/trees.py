"""Convert a tree to the arrays of scikit-learn's trees.

scikit-learn compares rows in float32 with thresholds in float64, and has two branches per node. The
numbers of the nodes stay the same, so that ``apply`` and ``decision_path`` do too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree

from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.export.checks import check_missing_branch, check_no_times
from ceiba.export.errors import NotExpressibleError
from ceiba.export.trees import ThresholdNodes
from ceiba.tree.explain.conditions import largest_float
from ceiba.tree.grow.encoding import ColumnTypes, column_arrays, observed_mask
from ceiba.tree.model.split import Split
from ceiba.tree.model.tree import Tree

_LEAF, _NO_FEATURE = -1, -2
# Decimal numbers of so many digits differ in float32, at least nearly all of them.
_DIGITS = 8
# Criteria of other names, by the impurity that their nodes have, or the nearest one.
_CRITERIA = {"gain_ratio": "entropy", "error": "gini"}


@dataclass(frozen=True, slots=True)
class Float32Rounding:
    """How thresholds are rounded for comparisons in float32.

    Parameters
    ----------
    values : tuple of ndarray or None
        Sorted values of each column, which stay on their sides of each threshold unless float32
        rounds values of both sides to the same number. None for no rows.
    at_values : bool
        Whether thresholds are values of the training rows, which then go to the first branch also
        if float32 rounds them up.
    """

    values: tuple[Array, ...] | None = None
    at_values: bool = False

    @classmethod
    def of(cls, schema: Schema, X: Any, at_values: bool) -> Float32Rounding:
        """Return the rounding that keeps the rows ``X``, or None, in their leaves."""
        if X is None:
            return cls(None, at_values)
        table = Table.of(X, schema, expected_by="this model")
        types = ColumnTypes.of(schema)
        arrays, masks = column_arrays(table, types)
        known = [observed_mask(*entry) for entry in zip(types.types, arrays, masks, strict=True)]
        pairs = zip(arrays, known, strict=True)
        return cls(tuple(np.unique(array[mask]) for array, mask in pairs), at_values)

    def take(self, columns: Sequence[int]) -> Float32Rounding:
        """Select columns."""
        if self.values is None:
            return self
        return Float32Rounding(tuple(self.values[j] for j in columns), self.at_values)

    def round(self, threshold: Array, column: Array) -> Array:
        """Return the thresholds of some columns for values in float32."""
        if self.values is None:
            value = threshold if self.at_values else _nearby_decimals(threshold)
            return _keep_side(threshold, value)
        rounded = threshold.copy()
        for j in np.unique(column):
            mask = (column == j) & np.isfinite(threshold)
            exact = threshold[mask]
            below, above = _float32_neighbors(exact, self.values[j])
            moved = np.where(below > exact, below, _next_lower(above))
            keep = ((below <= exact) & (exact < above)) | (below == above)
            rounded[mask] = np.where(keep, exact, moved)
        return rounded


def _float32_neighbors(threshold: Array, values: Array) -> tuple[Array, Array]:
    """Return the float32 of the largest value up to a threshold, and of the next one."""
    ends = np.searchsorted(values, threshold, side="right")
    as_float32 = np.concatenate([[-np.inf], _to_float32(values), [np.inf]])
    return as_float32[ends], as_float32[ends + 1]


def _nearby_decimals(threshold: Array) -> Array:
    """Return decimal numbers of few digits that thresholds equal up to rounding, else NaN.

    Columns of decimals such as 1.6, 1.7, 1.8 have rows with the value of a midpoint, which is
    1.7000000000000002. Midpoints of values that float32 can hold have more digits, or are exact.
    """
    value = np.full(len(threshold), np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = threshold * 10.0 ** (_DIGITS - 1 - np.floor(np.log10(np.abs(threshold))))
        candidates = np.flatnonzero(np.abs(scaled - np.rint(scaled)) < 1e-6)
    for i in candidates.tolist():
        decimal = float(f"{threshold[i]:.{_DIGITS}g}")
        if abs(decimal - threshold[i]) <= 4 * np.spacing(abs(threshold[i])):
            value[i] = decimal
    return value


def _keep_side(threshold: Array, value: Array) -> Array:
    """Return thresholds that have the float32 of a value, unless NaN, on the value's side."""
    as_float32 = _to_float32(value)
    moved_up = (value <= threshold) & (as_float32 > threshold) & np.isfinite(as_float32)
    moved_down = (value > threshold) & (as_float32 <= threshold)
    lower = np.where(moved_down, _next_lower(as_float32), threshold)
    return np.where(moved_up, as_float32, lower)


def _next_lower(as_float32: Array) -> Array:
    """Return the largest float32 below each number, itself a float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.nextafter(as_float32.astype(np.float32), np.float32(-np.inf)).astype(np.float64)


def _to_float32(values: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(np.float32).astype(np.float64)


def criterion_name(criterion: str) -> str:
    """Return scikit-learn's name of a criterion, which its pictures show beside impurities."""
    return _CRITERIA.get(criterion, criterion)


def tree_estimator(
    tree: Tree, classes: Array | None, criterion: str, rounding: Float32Rounding
) -> Any:
    """Return a fitted tree of scikit-learn.

    ``classes`` are None for regression.
    """
    n_columns = len(tree.schema)
    structure = sklearn_tree(tree, rounding)
    name = criterion_name(criterion)
    if classes is None:
        model = DecisionTreeRegressor(criterion=name)
    else:
        model = DecisionTreeClassifier(criterion=name)
        model.classes_, model.n_classes_ = classes, np.int64(len(classes))
    model.n_outputs_, model.max_features_ = 1, n_columns
    set_feature_attributes(model, tree.schema)
    model.tree_ = structure
    return model


def set_feature_attributes(model: Any, schema: Schema) -> None:
    """Set the attributes that describe the columns."""
    model.n_features_in_ = len(schema)
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)


def sklearn_tree(tree: Tree, rounding: Float32Rounding) -> Any:
    """Return the structure of a tree; raise NotExpressibleError if scikit-learn has none."""
    _check_tree(tree)
    n_nodes = tree.n_nodes
    nodes = np.zeros(n_nodes, NODE_DTYPE)
    nodes["left_child"] = np.where(tree.is_leaf, _LEAF, tree.child)
    nodes["right_child"] = np.where(tree.is_leaf, _LEAF, tree.child + 1)
    nodes["feature"], nodes["threshold"] = _NO_FEATURE, _NO_FEATURE
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"], nodes["weighted_n_node_samples"] = tree.n_rows, tree.weight
    _set_tests(nodes, tree, rounding)
    n_classes = max(1, tree.leaves.shape[1])
    structure = SklearnTree(len(tree.schema), np.array([n_classes], dtype=np.intp), 1)
    values = np.ascontiguousarray(_node_values(tree)[:, None, :])
    state = {"max_depth": tree.max_depth, "node_count": n_nodes, "nodes": nodes, "values": values}
    structure.__setstate__(state)
    return structure


def _set_tests(nodes: Array, tree: Tree, rounding: Float32Rounding) -> None:
    """Set column, threshold and branch of missing values of the inner nodes."""
    tests = ThresholdNodes.of(tree)
    mask = tests.selected
    ordinal = np.array([column.kind is Kind.ORDINAL for column in tree.schema])[tests.column]
    nodes["feature"][mask] = tests.column[mask]
    nodes["threshold"][mask] = np.where(ordinal, tests.threshold + 0.5, tests.threshold)[mask]
    nodes["missing_go_to_left"][mask] = tests.missing_first[mask]
    for node in np.flatnonzero(~tree.is_leaf & ~mask).tolist():
        split = tree.split(node)
        threshold, swapped = _threshold(split, tree.schema[split.column])
        entry = nodes[node]
        entry["feature"], entry["threshold"] = split.column, threshold
        entry["missing_go_to_left"] = (split.missing_branch == 0) != swapped
        if swapped:
            entry["left_child"], entry["right_child"] = entry["right_child"], entry["left_child"]
    inner = ~tree.is_leaf
    nodes["threshold"][inner] = rounding.round(nodes["threshold"][inner], nodes["feature"][inner])


def _node_values(tree: Tree) -> Array:
    """Return the class probabilities, or the number, of each node; of leaves as they predict."""
    value: Array = tree.prediction_values.copy()
    if tree.is_classification:
        total = value.sum(axis=1, keepdims=True)
        value = np.divide(value, total, out=np.zeros_like(value), where=total > 0)
    leaf = np.flatnonzero(tree.is_leaf)
    value[leaf] = tree.leaf_values(leaf).reshape(len(leaf), -1)
    return value


def _check_tree(tree: Tree) -> None:
    check_missing_branch(tree, "scikit-learn")
    if len(tree.costs):
        raise NotExpressibleError(
            "scikit-learn's trees predict the most probable class, not the one of minimum "
            "cost: fit without cost_matrix, with class_weight instead."
        )
    if (tree.n_branches > 2).any():
        node = int(np.argmax(tree.n_branches > 2))
        raise NotExpressibleError(
            f"scikit-learn's nodes have two branches, got {tree.n_branches[node]} in node {node}, "
            f"which splits {tree.split(node).name!r}: fit with splits='binary' and "
            "without missing='branch'."
        )


def _threshold(split: Split, column: Column) -> tuple[float, bool]:
    """Return a threshold for other splits, and whether the first branch has the larger values."""
    if column.kind is Kind.NOMINAL:
        return _category_threshold(split, column)
    check_no_times([column], "scikit-learn compares values in float32, which cannot hold")
    return largest_float(split.threshold), False


def _category_threshold(split: Split, column: Column) -> tuple[float, bool]:
    """Return a threshold of the codes 0 and 1 of a column with two categories."""
    if len(column.categories) > 2:
        raise NotExpressibleError(
            "scikit-learn has no splits by groups of categories, and column "
            f"{column.name!r} has {len(column.categories)} categories: encode it as numbers before "
            "the fit (sklearn.preprocessing.OneHotEncoder), or export to ONNX or code."
        )
    # A category that no training row of the node has takes the branch of missing values.
    branches = [
        next(
            (b for b, group in enumerate(split.branches) if category in group), split.missing_branch
        )
        for category in column.categories
    ]
    # Both categories may be in one branch, and missing values in the other.
    return 0.5 if len(set(branches)) == 2 else np.inf, branches[0] == 1
