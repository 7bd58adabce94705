"""Trees and ensembles of trees as ONNX graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_indices
from ceiba.ensemble.adaboost.formulas import samme_r_scores, samme_scores
from ceiba.export.boosting import boosting_link, check_boosting
from ceiba.export.checks import check_tree_members
from ceiba.export.onnx.graph import Graph, add_labels
from ceiba.export.onnx.inputs import add_inputs
from ceiba.export.onnx.trees import member_leaves
from ceiba.export.trees import (
    forest_trees,
    leaf_predictions,
    member_predictions,
)
from ceiba.tree.model.tree import Tree


def add_tree(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a decision tree."""
    tree = model.tree_
    values = _add_members(
        graph, model, dtype, [(tree, _all_columns(tree))], [leaf_predictions(tree)]
    )
    _add_outputs(graph, model, graph.reduce("ReduceSum", values, 1), tree.costs)


def add_forest(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a random forest: the mean of its trees."""
    trees = list(forest_trees(model))
    members = [(tree, _all_columns(tree)) for tree in trees]
    values = _add_members(graph, model, dtype, members, [leaf_predictions(tree) for tree in trees])
    _add_outputs(graph, model, graph.reduce("ReduceMean", values, 1))


def add_bagging(graph: Graph, model: Any, dtype: Any) -> None:
    """Add bagging of trees: the mean of its members."""
    check_tree_members(model, "ONNX")
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    members = [(member.tree_, columns.tolist()) for member, columns in pairs]
    classes = getattr(model, "classes_", None)
    predictions = [member_predictions(member, classes) for member in model.estimators_]
    values = _add_members(graph, model, dtype, members, predictions)
    _add_outputs(graph, model, graph.reduce("ReduceMean", values, 1))


def add_adaboost_classifier(graph: Graph, model: Any, dtype: Any) -> None:
    """Add AdaBoost of classification trees: the sum of the members' class scores."""
    check_tree_members(model, "ONNX")
    members = [(member.tree_, _all_columns(member.tree_)) for member in model.estimators_]
    weights = model.estimator_weights_.tolist()
    pairs = zip(model.estimators_, weights, strict=True)
    values = [_member_scores(model, member, weight) for member, weight in pairs]
    scores = graph.reduce("ReduceSum", _add_members(graph, model, dtype, members, values), 1)
    add_labels(graph, scores, model.classes_)
    n_classes = len(model.classes_)
    divisor = graph.constant(model._total_weight * max(1, n_classes - 1))
    probabilities = graph.add("Softmax", graph.add("Div", scores, divisor), axis=1)
    graph.output("probabilities", probabilities, np.float64, n_classes)


def add_adaboost_regressor(graph: Graph, model: Any, dtype: Any) -> None:
    """Add AdaBoost of regression trees: the weighted median of the members."""
    check_tree_members(model, "ONNX")
    members = [(member.tree_, _all_columns(member.tree_)) for member in model.estimators_]
    predictions = [leaf_predictions(tree) for tree, _ in members]
    values = _add_members(graph, model, dtype, members, predictions)
    values = graph.add("Squeeze", values, graph.constant([2], np.int64))
    n_members = graph.constant([len(members)], np.int64)
    ordered, order = graph.add_many("TopK", [values, n_members], 2, axis=1, largest=0, sorted=1)
    weights = graph.add("Gather", graph.constant(model.estimator_weights_), order, axis=0)
    cumulative = graph.add("CumSum", weights, graph.constant(1, np.int64))
    total = graph.reduce("ReduceMax", cumulative, 1, keepdims=True)
    reached = graph.add("GreaterOrEqual", cumulative, graph.add("Div", total, graph.constant(2.0)))
    first = graph.add("ArgMax", graph.cast(reached, np.int32), axis=1, keepdims=1)
    median = graph.add("GatherElements", ordered, first, axis=1)
    graph.output("prediction", graph.reduce("ReduceSum", median, 1), np.float64)


def add_gradient_boosting(graph: Graph, model: Any, dtype: Any) -> None:
    """Add gradient boosting: the link of the first scores plus the sum of the trees."""
    check_boosting(model, "ONNX")
    boosted, forest = model.boosted_trees_, model.boosted_trees_.to_forest()
    trees = [forest.tree(number) for number in range(boosted.n_trees)]
    members = [(tree, _all_columns(tree)) for tree in trees]
    values = _add_members(graph, model, dtype, members, [leaf_predictions(tree) for tree in trees])
    # The trees of a round are neighbors, one for each score.
    shape = graph.constant([0, boosted.n_rounds, boosted.n_outputs], np.int64)
    sums = graph.reduce("ReduceSum", graph.add("Reshape", values, shape), 1)
    scores = graph.add("Add", sums, graph.constant(boosted.first_scores))
    link = boosting_link(model)
    if not hasattr(model, "classes_"):
        scores = graph.reduce("ReduceSum", scores, 1)
        graph.output(
            "prediction", graph.add("Exp", scores) if link == "log" else scores, np.float64
        )
        return
    if len(model.classes_) == 1:
        scores = graph.add("Mul", scores, graph.constant(0.0))
    elif link != "softmax":  # the softmax of 0 and the log-odds
        log_odds = graph.constant([[0.0, 2.0 if link == "half_logit" else 1.0]])
        scores = graph.add("MatMul", scores, log_odds)
    _add_outputs(graph, model, graph.add("Softmax", scores, axis=1))


def _all_columns(tree: Tree) -> Sequence[int]:
    return range(len(tree.schema))


def _member_scores(model: Any, member: Any, weight: float) -> Array:
    tree, classes = member.tree_, model.classes_
    if model.algorithm == "samme.r":
        return samme_r_scores(member_predictions(member, classes))
    leaf = np.flatnonzero(tree.is_leaf)
    index = np.zeros(tree.n_nodes, np.int64)
    member_classes = class_indices(np.asarray(member.classes_), classes)
    index[leaf] = member_classes[tree.leaf_class[tree.child[leaf]]]
    return samme_scores(index, len(classes), weight)


def _add_members(
    graph: Graph, model: Any, dtype: Any, members: Sequence[tuple[Tree, Any]], values: list[Array]
) -> str:
    """Return the predictions of the members, of shape (n_rows, n_members, n_values)."""
    codes = add_inputs(graph, model.schema_, dtype)
    builder, table = member_leaves(members, values)
    rows = builder.add_to(graph, codes)
    return graph.add("Gather", graph.constant(table), rows, axis=0)


def _add_outputs(graph: Graph, model: Any, values: str, costs: Array | None = None) -> None:
    """Add the outputs of probabilities, or numbers, of shape (n_rows, n_values)."""
    if not hasattr(model, "classes_"):
        graph.output("prediction", graph.reduce("ReduceSum", values, 1), np.float64)
        return
    if costs is not None and len(costs):
        expected = graph.add("MatMul", values, graph.constant(costs))
        add_labels(graph, expected, model.classes_, "ArgMin")
    else:
        add_labels(graph, values, model.classes_)
    graph.output("probabilities", values, np.float64, len(model.classes_))
