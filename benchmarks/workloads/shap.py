"""Shapley values (SHAP) of the raw scores of boosted trees, and how well they add up."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.boosting import peers
from benchmarks.machine import n_threads
from benchmarks.tree.data import N_COLUMNS, Array, SplitSample
from benchmarks.workload import Check, Implementation, Metrics, Workload
from benchmarks.workloads.boosting import GROUP, N_LEAVES, N_TREES, five_classes, numbers

# The values of XGBoost are float32, and so are its scores.
TOLERANCE = 1e-3
QUICK_ROWS = 200


class Explained(NamedTuple):
    """Sums of the contributions and the base value of each row, and the scores they explain."""

    totals: Array
    scores: Array


# From a fitted model and rows to (what is timed: contributions), and from these to `Explained`.
Explainer = tuple[Callable[[Any, Array], Any], Callable[[Any, Array, Any], Explained]]


def ceiba_values(model: Any, X: Array) -> Array:
    """Compute contributions by Ceiba."""
    return np.asarray(model.shap_values(X))


def ceiba_totals(model: Any, X: Array, values: Array) -> Explained:
    """Add the base values of one row, as ``explain`` returns them."""
    base = model.explain(X[:1]).base
    base = base[1] if values.ndim == 2 else base
    return Explained(values.sum(axis=1) + base, model.decision_function(X))


def lightgbm_values(model: Any, X: Array) -> Array:
    """Compute contributions by LightGBM: the base value is one more column."""
    return np.asarray(model.predict(X, pred_contrib=True))


def lightgbm_totals(model: Any, X: Array, values: Array) -> Explained:
    """Sum the columns of each class."""
    n_columns = X.shape[1] + 1
    totals = values.reshape(len(X), -1, n_columns).sum(axis=2)
    return Explained(totals, model.predict(X, raw_score=True))


def xgboost_values(model: Any, X: Array) -> Array:
    """Compute contributions by XGBoost: the base value is one more column."""
    matrix = import_module("xgboost").DMatrix(X, nthread=n_threads())
    return np.asarray(model.get_booster().predict(matrix, pred_contribs=True))


def xgboost_totals(model: Any, X: Array, values: Array) -> Explained:
    """Sum the columns of each class."""
    return Explained(values.sum(axis=-1), model.predict(X, output_margin=True))


def shap_values(model: Any, X: Array) -> Any:
    """Compute contributions by the package shap, in its own code: it has no threads.

    Models of LightGBM and XGBoost would be explained by their own functions.
    """
    explainer = import_module("shap").TreeExplainer(model)
    return np.asarray(explainer.shap_values(X, check_additivity=False)), explainer.expected_value


def shap_totals(model: Any, X: Array, values: Any) -> Explained:
    """Add the base values."""
    contributions, base = values
    return Explained(contributions.sum(axis=1) + base, model.decision_function(X))


PEERS: dict[str, tuple[peers.Peer, str, Explainer]] = {
    "ceiba": (
        peers.ceiba("classification", N_TREES, N_LEAVES), "ceiba", (ceiba_values, ceiba_totals)
    ),
    "LightGBM": (
        peers.lightgbm("classification", N_TREES, N_LEAVES), "lightgbm",
        (lightgbm_values, lightgbm_totals),
    ),
    "XGBoost": (
        peers.xgboost("classification", N_TREES, N_LEAVES), "xgboost",
        (xgboost_values, xgboost_totals),
    ),
    "shap": (
        peers.hist_gradient_boosting("classification", N_TREES, N_LEAVES), "shap",
        (shap_values, shap_totals),
    ),
}  # fmt: skip


class Result(NamedTuple):
    """A fitted model and its contributions."""

    model: Any
    values: Any
    totals: Callable[[Any, Array, Any], Explained]


def fit_once(peer: peers.Peer, explainer: Explainer) -> Callable[[SplitSample], Result]:
    """Return a function that fits at its first call, and times the explanations after it."""
    fitted: dict[int, Any] = {}

    def run(sample: SplitSample) -> Result:
        if id(sample) not in fitted:
            fitted[id(sample)] = peer.fit(sample).model
        model, (values, totals) = fitted[id(sample)], explainer
        return Result(model, values(model, sample.X), totals)

    return run


def additivity(result: Result, sample: SplitSample) -> Metrics:
    """Compute the largest difference between a score and the sum of its contributions."""
    totals, scores = result.totals(result.model, sample.X, result.values)
    difference = np.reshape(totals, -1) - np.reshape(scores, -1)
    return {"additivity": float(np.abs(difference).max())}


def workload(name: str, title: str, make_data: Any, n_rows: int) -> Workload:
    """Return a workload that explains the rows that the models were fitted to."""
    return Workload(
        name=f"shap-{name}", title=f"SHAP, {title}, {N_COLUMNS} columns, {N_LEAVES} leaves",
        make_data=make_data,
        implementations=tuple(
            Implementation(
                label, fit_once(peer, explainer), GROUP, ours=label == "ceiba", module=module
            )
            for label, (peer, module, explainer) in PEERS.items()
        ),
        quality=additivity, checks=(Check("additivity", TOLERANCE, "at most", relative=False),),
        n_rows=n_rows, quick_n_rows=QUICK_ROWS,
    )  # fmt: skip


WORKLOADS = (
    workload("two-classes", f"two classes, {N_TREES} trees", numbers("classification"), 10_000),
    workload("five-classes", f"five classes, {N_TREES} rounds", five_classes, 2_000),
)
