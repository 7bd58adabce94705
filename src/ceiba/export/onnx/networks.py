"""Bayesian network classifiers and latent classes as ONNX graphs.

Missing values are summed over by messages from the children of a tree to its root, as in
``predict``. Networks of features with several parents have no such messages: their outputs for rows
with missing values are NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.structure.aode import AveragedModel
from ceiba.data.schema import Kind
from ceiba.export.checks import check_float64_threshold
from ceiba.export.densities import normal_terms
from ceiba.export.errors import NotExpressibleError
from ceiba.export.onnx.graph import Graph, add_labels, log_sum_exp
from ceiba.export.onnx.inputs import add_inputs


def add_network(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a network classifier: sums of log probabilities, and their softmax."""
    columns = add_inputs(graph, model.schema_, dtype)
    codes = _codes(graph, columns, model.encoding_)
    if isinstance(model.model_, AveragedModel):
        scores = _average(graph, columns, codes, model.model_)
    else:
        scores = _log_joint(graph, columns, codes, model.model_)
    for densities in getattr(model, "_densities", ()):
        scores = graph.add("Add", scores, _log_densities(graph, columns, densities, model))
    if not (model.class_count_ > 0).all():
        absent = np.where(model.class_count_ > 0, 0.0, -np.inf)
        scores = graph.add("Add", scores, graph.constant(absent))
    add_labels(graph, scores, model.classes_)
    probabilities = graph.add("Exp", graph.add("Sub", scores, log_sum_exp(graph, scores)))
    graph.output("probabilities", probabilities, np.float64, len(model.classes_))


def add_latent_classes(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a mixture of networks: component, posterior probabilities and log density."""
    columns = add_inputs(graph, model.schema_, dtype)
    codes = _codes(graph, columns, model.encoding_)
    joint = _log_joint(graph, columns, codes, model.model_)
    density = log_sum_exp(graph, joint)
    graph.output("label", graph.add("ArgMax", joint, axis=1, keepdims=0), np.int64)
    posteriors = graph.add("Exp", graph.add("Sub", joint, density))
    graph.output("probabilities", posteriors, np.float64, model.n_components_)
    graph.output("log_density", _squeeze(graph, density, 1), np.float64)


def _codes(graph: Graph, columns: str, encoding: CategoryEncoding) -> list[str]:
    """Return the code of each feature as int64 of shape (n_rows,); r is a missing value."""
    codes = []
    for j, index in enumerate(encoding.columns.tolist()):
        values = graph.add("Gather", columns, graph.constant([index], np.int64), axis=1)
        is_missing = graph.add("IsNaN", values)
        column = encoding.schema[index]
        if column.kind is Kind.NUMERIC:
            thresholds = encoding.thresholds(j).tolist()
            for threshold in thresholds:
                check_float64_threshold(column, threshold, "ONNX compares values in float64")
            reached = graph.add("GreaterOrEqual", values, graph.constant([thresholds]))
            values = graph.reduce("ReduceSum", graph.cast(reached, np.float64), 1, keepdims=True)
        unknown = graph.constant(float(encoding.n_categories[j]))
        code = graph.cast(graph.add("Where", is_missing, unknown, values), np.int64)
        codes.append(_squeeze(graph, code, 1))
    return codes


def _log_joint(graph: Graph, columns: str, codes: list[str], model: NetworkModel) -> str:
    """Return log p(class, row), of shape (n_rows, n_classes)."""
    if model.structure.is_forest:
        terms = _root_messages(graph, codes, model)
    else:
        terms = [_table_rows(graph, codes, model, f) for f in range(len(model.features))]
    bias = graph.constant(model.network.bias[None])
    if not terms:  # no feature: one equal row of scores for each row
        n_rows = graph.add("Shape", columns, start=0, end=1)
        shape = graph.add("Concat", n_rows, graph.constant([1], np.int64), axis=0)
        return graph.add("Expand", bias, shape)
    return graph.add("Add", graph.add("Sum", *terms), bias)


def _table_rows(graph: Graph, codes: list[str], model: NetworkModel, family: int) -> str:
    """Return the log probabilities of a feature given its parents; NaN with a missing value."""
    families = model.families
    known = families.is_known[families.offsets[family] : families.offsets[family + 1], None]
    table = families.view(model.network.table, family)
    marked = np.where(known, table.reshape(-1, table.shape[-1]), np.nan)
    row = ""
    for j, size in zip(families.members(family), families.shapes[family], strict=True):
        if row:
            row = graph.add("Mul", row, graph.constant(size, np.int64))
        row = graph.add("Add", row, codes[j]) if row else codes[j]
    return graph.add("Gather", graph.constant(marked), row, axis=0)


def _root_messages(graph: Graph, codes: list[str], model: NetworkModel) -> list[str]:
    """Return log p(tree | class) of each tree of a forest, of shape (n_rows, n_classes).

    The message of a family is the log probability of the feature and its descendants for each
    category of its parent, of shape (n_rows, n_parent_categories, n_classes).
    """
    families, roots = model.families, []
    received: dict[int, list[str]] = {}
    for family in reversed(range(len(families.structure.features))):
        feature, parents = families.structure.features[family], families.structure.parents[family]
        table = families.view(model.network.table, family)
        if not parents:
            table = table[None]
        # The last code of each axis is a missing value.
        table = table[: table.shape[0] - 1 if parents else 1, :-1]
        message = _message(graph, codes[feature], table, received.pop(feature, []))
        if parents:
            received.setdefault(parents[0], []).append(message)
        else:
            roots.append(_squeeze(graph, message, 1))
    return roots


def _message(graph: Graph, code: str, table: Array, received: list[str]) -> str:
    """Return the message of a family with a table of shape (n_parents, n_categories, n_classes)."""
    if not received:
        # The probabilities of all categories sum to 1.
        none = np.zeros((1, table.shape[0], table.shape[2]))
        by_code = np.concatenate([table.transpose(1, 0, 2), none])
        return graph.add("Gather", graph.constant(by_code), code, axis=0)
    n = table.shape[1]
    with np.errstate(divide="ignore"):
        observed = np.log(np.concatenate([np.eye(n), np.ones((1, n))]))
    evidence = graph.add("Gather", graph.constant(observed[:, :, None]), code, axis=0)
    below = graph.add("Unsqueeze", graph.add("Sum", evidence, *received), _axes(graph, 1))
    joint = graph.add("Add", below, graph.constant(table[None]))
    return _squeeze(graph, log_sum_exp(graph, joint, axis=2), 2)


def _average(graph: Graph, columns: str, codes: list[str], model: AveragedModel) -> str:
    """Return the logarithm of the sum of the networks whose super-parent has a frequent value."""
    naive = _log_joint(graph, columns, codes, model.naive)
    starts = np.concatenate([[0], np.cumsum(model.sizes)])
    scores, used = [], []
    for parent, network in enumerate(model.networks):
        counts = model.frequencies[starts[parent] : starts[parent + 1]]
        frequent = counts >= model.min_frequency
        frequent[-1] = False
        is_used = graph.add("Gather", graph.constant(frequent[:, None], bool), codes[parent])
        joint = _log_joint(graph, columns, codes, network)
        joint = graph.add("Where", is_used, joint, graph.constant(-np.inf))
        scores.append(graph.add("Unsqueeze", joint, _axes(graph, 1)))
        used.append(graph.cast(is_used, np.float64))
    if not scores:
        return naive
    total = _squeeze(graph, log_sum_exp(graph, graph.add("Concat", *scores, axis=1)), 1)
    any_used = graph.add("Greater", graph.add("Sum", *used), graph.constant(0.0))
    return graph.add("Where", any_used, total, naive)


def _log_densities(graph: Graph, columns: str, densities: Any, model: Any) -> str:
    """Return the sum of the log densities of normal columns, of shape (n_rows, n_classes)."""
    if not isinstance(densities, GaussianColumns):
        names = sorted(set(model.distributions_.values()) & {"kernel", "mixture", "poisson"})
        raise NotExpressibleError(
            f"to_onnx requires columns of categories or normal distributions, got "
            f"distributions={names[0]!r}: fit with 'discretized' or 'gaussian'."
        )
    mean, factor, constant = normal_terms(densities, "to_onnx")
    index = graph.constant(densities.columns, np.int64)
    rows = graph.add("Gather", columns, index, axis=1)
    rows = graph.add("Unsqueeze", rows, _axes(graph, 1))
    scaled = graph.add("Mul", graph.add("Sub", rows, graph.constant(mean)), graph.constant(factor))
    terms = graph.add("Sub", graph.constant(constant), graph.add("Mul", scaled, scaled))
    terms = graph.add("Where", graph.add("IsNaN", rows), graph.constant(0.0), terms)
    return graph.reduce("ReduceSum", terms, 2)


def _axes(graph: Graph, axis: int) -> str:
    return graph.constant([axis], np.int64)


def _squeeze(graph: Graph, value: str, axis: int) -> str:
    return graph.add("Squeeze", value, _axes(graph, axis))
