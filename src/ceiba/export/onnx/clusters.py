"""K-means and Gaussian mixtures as ONNX graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.export.errors import NotExpressibleError
from ceiba.export.onnx.graph import Graph, add_labels, log_sum_exp
from ceiba.export.onnx.inputs import add_encoded_inputs
from ceiba.mixture.statistics import Gaussians


def add_kmeans(graph: Graph, model: Any, dtype: Any) -> None:
    """Add k-means: distances over the known columns, scaled up to all columns."""
    centers = np.asarray(model.cluster_centers_, dtype=np.float64)
    points = add_encoded_inputs(graph, model.schema_, dtype)
    if model.scale is not None:
        points, centers = _scaled_points(graph, points, model)
    differences, missing = _differences(graph, points, centers)
    squares = graph.add("Mul", differences, differences)
    squares = graph.add("Where", missing, graph.constant(0.0), squares)
    total = graph.reduce("ReduceSum", squares, 2)
    known = graph.cast(graph.add("Not", missing), np.float64)
    n_known = graph.add("Max", graph.reduce("ReduceSum", known, 2), graph.constant(1.0))
    missing_factor = graph.add("Div", graph.constant(float(centers.shape[1])), n_known)
    distances = graph.add("Sqrt", graph.add("Mul", total, missing_factor))
    label = graph.add("ArgMin", distances, axis=1, keepdims=0)
    graph.output("label", label, np.int64)
    graph.output("distances", distances, np.float64, len(centers))


def _scaled_points(graph: Graph, points: str, model: Any) -> tuple[str, Array]:
    """Return the scaled points, and the centers in the same units."""
    units = model._units
    with np.errstate(over="ignore", under="ignore"):
        divisors = np.ldexp(units.divisors, -units.exponents)
    if units.origins.any() or not (np.isfinite(divisors) & (divisors > 0)).all():
        raise NotExpressibleError(
            f"scale={model.scale!r} must be expressible in float64, got columns beyond its range "
            "or its precision: rescale X before the fit."
        )
    return graph.add("Div", points, graph.constant(divisors)), model._fitted_centers


def _differences(graph: Graph, points: str, centers: Array) -> tuple[str, str]:
    """Return differences from all centers, of shape (n_rows, n_centers, n_columns), and a mask.

    The mask of missing values has shape (n_rows, 1, n_columns).
    """
    rows = graph.add("Unsqueeze", points, graph.constant([1], np.int64))
    return graph.add("Sub", rows, graph.constant(centers)), graph.add("IsNaN", rows)


def add_mixture(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a Gaussian mixture: component, posterior probabilities and log density."""
    points = add_encoded_inputs(graph, model.schema_, dtype)
    joint = _joint_log_densities(graph, points, model._own_gaussians)
    density = log_sum_exp(graph, joint)
    graph.output("label", graph.add("ArgMax", joint, axis=1, keepdims=0), np.int64)
    posteriors = graph.add("Exp", graph.add("Sub", joint, density))
    graph.output("probabilities", posteriors, np.float64, len(model.weights_))
    graph.output("log_density", graph.reduce("ReduceSum", density, 1), np.float64)


def add_mixture_classifier(graph: Graph, model: Any, dtype: Any) -> None:
    """Add a classifier of one mixture per class."""
    points = add_encoded_inputs(graph, model.schema_, dtype)
    known = {
        k: log_sum_exp(graph, _joint_log_densities(graph, points, gaussians))
        for k, gaussians in enumerate(model._own_models)
        if gaussians is not None
    }
    # A class without rows has no mixture: its density is 0.
    shape = graph.add("Shape", next(iter(known.values())))
    zero = graph.add("Expand", graph.constant([[-np.inf]]), shape)
    densities = [known.get(k, zero) for k in range(len(model.classes_))]
    joint = graph.add("Concat", *densities, axis=1)
    joint = graph.add("Add", joint, graph.constant(model._log_priors))
    add_labels(graph, joint, model.classes_)
    probabilities = graph.add("Exp", graph.add("Sub", joint, log_sum_exp(graph, joint)))
    graph.output("probabilities", probabilities, np.float64, len(model.classes_))


def _joint_log_densities(graph: Graph, points: str, model: Gaussians) -> str:
    """Return log weight + log density of each component, of shape (n_rows, n_components)."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(model.weights)
    differences, missing = _differences(graph, points, model.means)
    if model.full:
        return _full_log_densities(graph, differences, model, log_weights)
    # A diagonal covariance leaves out the terms of missing columns.
    scaled = graph.add("Mul", differences, graph.constant(model.factors))
    constants = graph.constant(np.log(2 * np.pi) - 2 * np.log(model.factors))
    terms = graph.add("Add", graph.add("Mul", scaled, scaled), constants)
    terms = graph.add("Where", missing, graph.constant(0.0), terms)
    total = graph.reduce("ReduceSum", terms, 2)
    return graph.add(
        "Add", graph.add("Mul", total, graph.constant(-0.5)), graph.constant(log_weights)
    )


def _full_log_densities(graph: Graph, differences: str, model: Gaussians, logs: Array) -> str:
    by_component = graph.add("Transpose", differences, perm=[1, 0, 2])
    factors = graph.constant(np.swapaxes(model.factors, 1, 2))
    whitened = graph.add("MatMul", by_component, factors)
    total = graph.reduce("ReduceSum", graph.add("Mul", whitened, whitened), 2)
    total = graph.add("Transpose", total, perm=[1, 0])
    d = model.means.shape[1]
    constants = logs - 0.5 * (model.log_dets + d * np.log(2 * np.pi))
    return graph.add(
        "Add", graph.add("Mul", total, graph.constant(-0.5)), graph.constant(constants)
    )
