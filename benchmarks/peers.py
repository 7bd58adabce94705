"""What the peers of trees and of forests have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeVar

from benchmarks.machine import n_threads
from benchmarks.tree.data import Sample, Task
from benchmarks.workload import Implementation

SUFFIX = {"classification": "Classifier", "regression": "Regressor"}
MAX_BINS = 255
Fitted = TypeVar("Fitted")


class Peer(NamedTuple, Generic[Fitted]):
    """A function that fits a model, and the top-level module that it imports."""

    fit: Callable[[Sample], Fitted]
    module: str

    def is_installed(self) -> bool:
        """Return whether its module can be found, without importing it."""
        return find_spec(self.module) is not None


def implementations(
    group: str, peers: Mapping[str, Peer[Fitted]], ours: tuple[str, ...] = ("ceiba",)
) -> tuple[Implementation, ...]:
    """Return a group in which all fit; ``ours`` are the labels of Ceiba's."""
    return tuple(
        Implementation(label, peer.fit, group, ours=label in ours, module=peer.module)
        for label, peer in peers.items()
    )


def sklearn_fitter(
    module: str, name: str, task: Task, parameters: Callable[[], dict[str, Any]]
) -> Callable[[Sample], Any]:
    """Return a function that fits ``module.name``, with the suffix of the task.

    ``parameters`` is called at every fit because the number of threads may have changed.
    """

    def fit(sample: Sample) -> Any:
        model = getattr(import_module(module), name + SUFFIX[task])(**parameters())
        return model.fit(sample.X, sample.y)

    return fit


def ordinal_pipeline(model: Any, **unknown: Any) -> Any:
    """Return a pipeline that encodes categories as ordinal codes before the model."""
    compose = import_module("sklearn.compose")
    nominal = compose.make_column_selector(dtype_include="category")
    encoder = import_module("sklearn.preprocessing").OrdinalEncoder(**unknown)
    table = compose.make_column_transformer((encoder, nominal), remainder="passthrough")
    return import_module("sklearn.pipeline").make_pipeline(table, model)


def lightgbm_unregularized() -> dict[str, Any]:
    """Return LightGBM's parameters under which a split requires only rows on both sides."""
    return {
        "max_bin": MAX_BINS,
        "min_data_in_bin": 1,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 1e-9,
        # For nominal columns only: categories are sorted by a ratio that requires one row each.
        "cat_smooth": 1.0,
        "cat_l2": 0.0,
        "min_data_per_group": 1,
        "num_threads": n_threads(),
        "verbose": -1,
    }
