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
from ceiba.export.errors import NotExpressibleError
from ceiba.tree.grow.encoding import ColumnTypes, column_arrays, observed_mask
from ceiba.tree.model.split import Split
from ceiba.tree.model.tree import Tree

_LEAF, _NO_FEATURE = -1, -2
# Decimal numbers of so many digits differ in float32, at least nearly all of them.
_DIGITS = 8
# Criteria of other names, by the impurity that their nodes have, or the nearest one.
_CRITERIA = {"gain_ratio": "entropy", "error": "gini"}


@dataclass(frozen=True, slots=True)
class Thresholds:
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
    def of(cls, schema: Schema, X: Any, at_values: bool) -> Thresholds:
        """Return the rounding that keeps the rows ``X``, or None, in their leaves."""
        if X is None:
            return cls(None, at_values)
        table = Table.of(X, schema, expected_by="this model")
        types = ColumnTypes.of(schema)
        arrays, masks = column_arrays(table, types)
        known = [observed_mask(*entry) for entry in zip(types.types, arrays, masks, strict=True)]
        pairs = zip(arrays, known, strict=True)
        return cls(tuple(np.unique(array[mask]) for array, mask in pairs), at_values)

    def take(self, columns: Sequence[int]) -> Thresholds:
        """Select columns."""
        if self.values is None:
            return self
        return Thresholds(tuple(self.values[j] for j in columns), self.at_values)

    def round(self, threshold: float, column: int) -> float:
        """Return the threshold for values in float32."""
        if not np.isfinite(threshold):
            return threshold
        if self.values is None:
            value = threshold if self.at_values else _nearby_decimal(threshold)
            return threshold if value is None else _keep_side(threshold, value)
        values = self.values[column]
        end = int(np.searchsorted(values, threshold, side="right"))
        below = _to_float32(values[end - 1]) if end else -np.inf
        above = _to_float32(values[end]) if end < len(values) else np.inf
        return threshold if below <= threshold < above or below == above else below


def _nearby_decimal(threshold: float) -> float | None:
    """Return the decimal number of few digits that a threshold equals up to rounding, or None.

    Columns of decimals such as 1.6, 1.7, 1.8 have rows with the value of a midpoint, which is
    1.7000000000000002. Midpoints of values that float32 can hold have more digits, or are exact.
    """
    value = float(f"{threshold:.{_DIGITS}g}")
    return value if abs(value - threshold) <= 4 * np.spacing(abs(threshold)) else None


def _keep_side(threshold: float, value: float) -> float:
    """Return a threshold that has the float32 of a value on the side of the value."""
    rounded = _to_float32(value)
    if value <= threshold:
        return max(threshold, rounded)
    if rounded > threshold:
        return threshold
    return float(np.nextafter(np.float32(rounded), np.float32(-np.inf)))


def _to_float32(value: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def criterion_name(criterion: str) -> str:
    """Return scikit-learn's name of a criterion, which its pictures show beside impurities."""
    return _CRITERIA.get(criterion, criterion)


def tree_estimator(
    tree: Tree, classes: Array | None, criterion: str, thresholds: Thresholds
) -> Any:
    """Return a fitted tree of scikit-learn.

    ``classes`` are None for regression.
    """
    n_columns = len(tree.schema)
    structure = sklearn_tree(tree, thresholds)
    name = criterion_name(criterion)
    if classes is None:
        model = DecisionTreeRegressor(criterion=name)
    else:
        model = DecisionTreeClassifier(criterion=name)
        model.classes_, model.n_classes_ = classes, np.int64(len(classes))
    model.n_outputs_, model.max_features_ = 1, n_columns
    set_columns(model, tree.schema)
    model.tree_ = structure
    return model


def set_columns(model: Any, schema: Schema) -> None:
    """Set the attributes that describe the columns."""
    model.n_features_in_ = len(schema)
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)


def sklearn_tree(tree: Tree, thresholds: Thresholds) -> Any:
    """Return the structure of a tree; raise NotExpressibleError if scikit-learn has none."""
    _check_tree(tree)
    n_nodes = tree.n_nodes
    nodes = np.zeros(n_nodes, NODE_DTYPE)
    nodes["left_child"] = np.where(tree.is_leaf, _LEAF, tree.child)
    nodes["right_child"] = np.where(tree.is_leaf, _LEAF, tree.child + 1)
    nodes["feature"], nodes["threshold"] = _NO_FEATURE, _NO_FEATURE
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"], nodes["weighted_n_node_samples"] = tree.n_rows, tree.weight
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        split = tree.split(node)
        threshold, swapped = _threshold(split, tree.schema[split.column])
        entry = nodes[node]
        entry["feature"] = split.column
        entry["threshold"] = thresholds.round(threshold, split.column)
        entry["missing_go_to_left"] = (split.missing_branch == 0) != swapped
        if swapped:
            entry["left_child"], entry["right_child"] = entry["right_child"], entry["left_child"]
    n_classes = max(1, tree.leaves.shape[1])
    structure = SklearnTree(len(tree.schema), np.array([n_classes], dtype=np.intp), 1)
    values = np.ascontiguousarray(_node_values(tree)[:, None, :])
    state = {"max_depth": tree.max_depth, "node_count": n_nodes, "nodes": nodes, "values": values}
    structure.__setstate__(state)
    return structure


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
    if tree.missing != "branch":
        raise NotExpressibleError(
            "scikit-learn has one branch for missing values in each node, and no "
            f"missing={tree.missing!r}: fit with missing='learned'."
        )
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
    """Return the threshold of a split, and whether the first branch has the larger values."""
    if column.kind is Kind.NOMINAL:
        return _category_threshold(split, column)
    if column.kind is Kind.ORDINAL and split.threshold != np.inf:
        return column.categories.index(split.threshold) + 0.5, False
    if column.temporal:
        raise NotExpressibleError(
            f"scikit-learn compares values in float32, which cannot hold the times of column "
            f"{column.name!r}: convert it to a number of days before the fit."
        )
    # The largest float up to an integer beyond 2^53 separates floats alike.
    threshold = float(split.threshold)
    if isinstance(split.threshold, int) and int(threshold) > split.threshold:
        threshold = float(np.nextafter(threshold, -np.inf))
    return threshold, False


def _category_threshold(split: Split, column: Column) -> tuple[float, bool]:
    """Return a threshold between the codes 0 and 1 of a column with two categories."""
    if len(column.categories) > 2:
        raise NotExpressibleError(
            "scikit-learn has no splits by groups of categories, and column "
            f"{column.name!r} has {len(column.categories)} categories: encode it as numbers before "
            "the fit (sklearn.preprocessing.OneHotEncoder), or export to ONNX or code."
        )
    return 0.5, column.categories[0] not in split.branches[0]
