"""Asking a mixture that is already fitted: many rows at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import mixture_judge
from benchmarks.memory import give_back
from benchmarks.mixture_data import Array, Shape, Start, begun, groups
from benchmarks.mixture_peers import ITERATIONS, MODULES, both_libraries, given, mixture
from benchmarks.workload import Check, Workload
from benchmarks.workloads.mixture import MIDDLE

METHODS = ("score_samples", "predict_proba")
# A mixture is fitted to one row of so many that it is asked about.
ASKED_A_ROW = 10


@dataclass(frozen=True)
class Asked:
    """Rows, and everyone's fitted mixture by label."""

    X: Array
    models: Mapping[str, Any]


def asked(shape: Shape) -> Callable[[int, int], dict[str, Asked]]:
    """Data of a workload: mixtures are fitted here, outside the timed part; a group a method."""

    def data(seed: int, rows: int) -> dict[str, Asked]:
        X = groups(seed, rows, shape.columns, shape.k)
        start = begun(X[: rows // ASKED_A_ROW], "full", shape.k, seed + 1)
        models = {label: learnt(label, start) for label in MODULES}
        give_back()
        return dict.fromkeys(METHODS, Asked(X, models))

    return data


def learnt(label: str, start: Start) -> Any:
    """A library's mixture after the usual steps."""
    with warnings.catch_warnings():
        # The number of steps is fixed: that it has not converged is no news.
        warnings.simplefilter("ignore")
        settings = given(start, ITERATIONS)
        return mixture(label, len(start.weights), start.form, **settings).fit(start.X)


def ask(method: str, label: str) -> Callable[[Asked], Array]:
    """One call for all rows."""

    def run(question: Asked) -> Array:
        answers: Array = getattr(question.models[label], method)(question.X)
        return answers

    return run


def predicting(shape: Shape) -> Workload:
    """Log densities and posteriors of many rows."""
    return Workload(
        name="mixture-predict",
        title=f"{shape.columns} columns, {shape.k} components (full), rows asked of a mixture",
        data=asked(shape),
        contestants=tuple(
            each for method in METHODS for each in both_libraries(method, partial(ask, method))
        ),
        quality=mixture_judge.of_answers,
        checks=(Check("mean", 1e-9), Check("mean_square", 1e-9)),
        rows=shape.rows,
        quick_rows=shape.quick_rows,
    )


WORKLOADS = (predicting(MIDDLE),)
