"""What those who grow one tree and those who grow a forest have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeVar

from benchmarks.machine import threads
from benchmarks.tree_data import Sample, Task
from benchmarks.workload import Contestant

ENDING = {"classes": "Classifier", "numbers": "Regressor"}
BINS = 255
Fitted = TypeVar("Fitted")


class Peer(NamedTuple, Generic[Fitted]):
    """How to grow something, and the top-level module without which it cannot be done."""

    fit: Callable[[Sample], Fitted]
    needs: str

    def installed(self) -> bool:
        """Whether its module can be found; nothing is imported."""
        return find_spec(self.needs) is not None


def contestants(
    group: str, peers: Mapping[str, Peer[Fitted]], ours: tuple[str, ...] = ("ceiba",)
) -> tuple[Contestant, ...]:
    """A group in which everyone does the same work; those of these labels are ours."""
    return tuple(
        Contestant(label, peer.fit, group, ours=label in ours, needs=peer.needs)
        for label, peer in peers.items()
    )


def by_scikit_learn(
    module: str, name: str, task: Task, settings: Callable[[], dict[str, Any]]
) -> Callable[[Sample], Any]:
    """Fit ``module.name``, with the task's ending, by scikit-learn's interface.

    Settings are asked for when it is fitted: threads may change till then.
    """

    def fit(sample: Sample) -> Any:
        made = getattr(import_module(module), name + ENDING[task])(**settings())
        return made.fit(sample.X, sample.y)

    return fit


def after_codes(model: Any, **unknown: Any) -> Any:
    """A pipeline in which levels become numbers, as if their codes had an order; then a model."""
    compose = import_module("sklearn.compose")
    nominal = compose.make_column_selector(dtype_include="category")
    encoder = import_module("sklearn.preprocessing").OrdinalEncoder(**unknown)
    table = compose.make_column_transformer((encoder, nominal), remainder="passthrough")
    return import_module("sklearn.pipeline").make_pipeline(table, model)


def lightgbm_unregularised() -> dict[str, Any]:
    """LightGBM's settings under which a split needs nothing but rows on both sides."""
    return {
        "max_bin": BINS,
        "min_data_in_bin": 1,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 1e-9,
        # Read for nominal columns only. Levels are sorted by a ratio that needs one row each.
        "cat_smooth": 1.0,
        "cat_l2": 0.0,
        "min_data_per_group": 1,
        "num_threads": threads(),
        "verbose": -1,
    }
