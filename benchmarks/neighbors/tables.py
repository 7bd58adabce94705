"""Neighbors in mixed tables, on the sphere, of few rows, and among rows that grow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.neighbors.peers import N_NEIGHBORS, Array, threads
from benchmarks.workload import Implementation, Metrics

N_NUMERIC, CATEGORIES = 7, (2, 3, 4, 6, 10)


@dataclass(frozen=True, eq=False)
class MixedProblem:
    """A frame of numbers and categories, and queries, a twenty-fifth as many."""

    frame: Any
    queries: Any

    @cached_property
    def model(self) -> Any:
        """Our model, fitted once."""
        from ceiba import NearestNeighbors

        return NearestNeighbors(metric="gower", n_jobs=threads()).fit(self.frame)

    @cached_property
    def encoded(self) -> tuple[Array, Array]:
        """Numbers divided by their range and indicators: their Manhattan distance is Gower's."""
        import pandas as pd

        numeric = [f"x{j}" for j in range(N_NUMERIC)]
        ranges = np.ptp(self.frame[numeric].to_numpy(), axis=0)
        both = pd.concat([self.frame, self.queries])
        indicators = pd.get_dummies(both.drop(columns=numeric), dtype=float).to_numpy() / 2
        X = np.hstack([both[numeric].to_numpy() / ranges, indicators]) / len(both.columns)
        return X[: len(self.frame)], X[len(self.frame) :]


def make_mixed(seed: int, n_rows: int) -> MixedProblem:
    """Return seven columns of numbers and five of categories."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    n = n_rows + n_rows // 25
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=n) for j in range(N_NUMERIC)}
    for j, size in enumerate(CATEGORIES):
        columns[f"c{j}"] = np.array([*"abcdefghij"], object)[rng.integers(size, size=n)]
    frame = pd.DataFrame(columns).astype({f"c{j}": object for j in range(len(CATEGORIES))})
    rows, queries = frame[:n_rows].copy(), frame[n_rows:].copy()
    # Within the ranges of the rows, because gower takes those of rows and queries together.
    for name in rows.columns[:N_NUMERIC]:
        queries[name] = queries[name].clip(rows[name].min(), rows[name].max())
    return MixedProblem(rows, queries)


def _nearest(matrix: Array) -> Array:
    return np.sort(np.partition(matrix, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS], axis=1)


def _ceiba_gower(problem: MixedProblem) -> Array:
    distances: Array = problem.model.kneighbors(problem.queries, N_NEIGHBORS)[0]
    return distances


def _gower(problem: MixedProblem) -> Array:
    import gower

    return _nearest(gower.gower_matrix(problem.queries, problem.frame))


def _sklearn_matrix(problem: MixedProblem) -> Array:
    from sklearn.metrics import pairwise_distances

    X, Q = problem.encoded
    return _nearest(pairwise_distances(Q, X, metric="manhattan", n_jobs=threads()))


MIXED = (
    Implementation("ceiba", _ceiba_gower, "gower", ours=True, module="ceiba"),
    Implementation("scikit-learn, precomputed", _sklearn_matrix, "gower"),
    Implementation("gower, precomputed", _gower, "gower", module="gower"),
)


def score_mixed(distances: Array, problem: MixedProblem) -> Metrics:
    """Return the mean distances to the first and the last neighbor."""
    return {"nearest": float(distances[:, 0].mean()), "farthest": float(distances[:, -1].mean())}


# Iris


def _predict(module: str, rows: slice) -> Any:
    def run(problem: Any) -> Array:
        predicted: Array = problem[module].predict(problem["X"][rows])
        return np.asarray([predicted == problem["y"][rows]])

    return run


def make_iris(seed: int, n_rows: int) -> dict[str, Any]:
    """Return fitted classifiers of the 150 irises."""
    from sklearn.neighbors import KNeighborsClassifier as Peer

    import ceiba

    iris = ceiba.datasets.load("iris")
    X, y = np.ascontiguousarray(iris.table.block), np.asarray(iris.y)
    ours, peer = ceiba.KNeighborsClassifier(), Peer()
    return {"X": X, "y": y, "ceiba": ours.fit(X, y), "sklearn": peer.fit(X, y)}


def _fit(module: str) -> Any:
    def run(problem: Any) -> Array:
        from sklearn.base import clone

        model = clone(problem[module]).fit(problem["X"], problem["y"])
        return np.asarray([model.predict(problem["X"][:1]) == problem["y"][:1]])

    return run


IRIS = tuple(
    Implementation(label, run(module), group, module == "ceiba", module)
    for group, run in (
        ("one row", lambda module: _predict(module, slice(1))),
        ("150 rows", lambda module: _predict(module, slice(None))),
        ("fit and one row", _fit),
    )
    for label, module in (("ceiba", "ceiba"), ("scikit-learn", "sklearn"))
)


def score_iris(correct: Array, problem: Any) -> Metrics:
    """Return the share of correct predictions."""
    return {"accuracy": float(correct.mean())}


# Rows on a sphere


def make_sphere(seed: int, n_rows: int) -> dict[str, Any]:
    """Return latitudes and longitudes of rows, and of a twentieth as many queries."""
    rng = np.random.default_rng(seed)
    n = n_rows + n_rows // 20
    X = np.column_stack([np.arcsin(rng.uniform(-1, 1, n)), rng.uniform(-np.pi, np.pi, n)])
    return {"X": X[:n_rows].copy(), "queries": X[n_rows:].copy()}


def _sphere(module: str, algorithm: str) -> Any:
    def run(problem: Any) -> Array:
        from importlib import import_module

        if module not in problem:
            learner = import_module(f"{module}.neighbors").NearestNeighbors
            model = learner(metric="haversine", algorithm=algorithm, n_jobs=threads())
            problem[module] = model.fit(problem["X"])
        distances: Array = problem[module].kneighbors(problem["queries"], N_NEIGHBORS)[0]
        return distances

    return run


SPHERE = (
    Implementation("ceiba", _sphere("ceiba", "auto"), "haversine", ours=True, module="ceiba"),
    Implementation("scikit-learn ball_tree", _sphere("sklearn", "ball_tree"), "haversine"),
)


# Rows that are added one by one


def make_growing(seed: int, n_rows: int) -> dict[str, Any]:
    """Return rows with classes; a hundredth of them are added."""
    rng = np.random.default_rng(seed)
    n = n_rows + n_rows // 100
    return {"X": rng.normal(size=(n, 4)), "y": rng.integers(2, size=n), "n": n_rows}


def _add(problem: Any) -> Array:
    from ceiba import KNeighborsClassifier

    X, y, n = problem["X"], problem["y"], problem["n"]
    model = KNeighborsClassifier(n_jobs=threads()).fit(X[:n], y[:n])
    for i in range(n, len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return np.asarray(model.predict_proba(X[:100]))


def _rebuild_tenth(problem: Any) -> Array:
    from ceiba import KNeighborsClassifier

    X, y, n = problem["X"], problem["y"], problem["n"]
    step = max((len(X) - n) // 10, 1)
    for end in [*range(n, len(X), step), len(X)]:
        model = KNeighborsClassifier(n_jobs=threads()).fit(X[:end], y[:end])
    return np.asarray(model.predict_proba(X[:100]))


GROWING = (
    Implementation("ceiba, one by one", _add, "added rows", ours=True, module="ceiba"),
    Implementation("ceiba, ten rebuilds", _rebuild_tenth, "added rows", module="ceiba"),
)


def score_growing(votes: Array, problem: Any) -> Metrics:
    """Return the mean vote of the first class."""
    return {"vote": float(votes[:, 0].mean())}
