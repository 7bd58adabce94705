"""Vantage-point trees against the search among all rows: equal distances, bit by bit, and rows."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba import _native
from ceiba._typing import Array
from tests.budget import examples, first_of

BOOLEAN = ["hamming", "jaccard", "rogers_tanimoto", "sokal_sneath"]
METRICS = ["haversine", "canberra", *BOOLEAN, "manhattan", "euclidean", "chebyshev", "minkowski"]
# Ties, duplicates and constant columns.
SMALL = st.integers(-2, 2).map(float)


def native(metric: str, p: float = 3.0) -> _native.Metric:
    return _native.Metric(_native.MetricKind[metric.upper()], p)


def manhattan(x: Array, y: Array) -> float:
    return float(np.abs(x - y).sum())


def build(X: Array, metric: Any, row_ids: Array | None = None, threads: int = 1) -> Any:
    order, vantage, bounds = _native.neighbors_build_vantage(X, metric, threads)
    kind: Any = _native.VantageTree if X.dtype == np.float64 else _native.FloatVantageTree
    ids = order.astype(np.int64) if row_ids is None else row_ids[order]
    return kind(X, order, ids, vantage, bounds, threads)


def empty(n: int, k: int) -> tuple[Array, Array]:
    return np.full((n, k), np.inf), np.full((n, k), -1, np.int64)


def brute(
    X: Array, row_ids: Array, metric: Any, Q: Array, found: tuple[Array, Array], **options: Any
) -> None:
    queries, nearest = _native.Queries(Q, **options), _native.Nearest(*found)
    if callable(metric):
        _native.neighbors_search_function(X, row_ids, metric, queries, nearest)
    else:
        _native.neighbors_search(X, row_ids, metric, queries, nearest, 2)


def check(
    X: Array, Q: Array, metric: Any, k: int, radius: float | None = None, threads: int = 1
) -> float:
    """Compare a tree with the search among all rows; return the number of distances per query."""
    tree, rows = build(X, metric, threads=threads), np.arange(len(X))
    found, wanted = empty(len(Q), k), empty(len(Q), k)
    n = tree.search(metric, _native.Queries(Q), _native.Nearest(*found), threads)
    brute(X, rows, metric, Q, wanted)
    for own, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(own, other)
    if radius is None:
        radius = float(wanted[0][:, -1].max())
    if math.isfinite(radius):
        within = tree.radius(metric, _native.Queries(Q), radius, threads)
        if callable(metric):
            expected = _native.neighbors_radius_function(
                X, rows, metric, _native.Queries(Q), radius
            )
        else:
            expected = _native.neighbors_radius(X, rows, metric, _native.Queries(Q), radius)
        np.testing.assert_array_equal(within[0], expected[0])
        for own, other in zip(in_order(*within), in_order(*expected), strict=True):
            np.testing.assert_array_equal(own, other)
    return float(n / max(len(Q), 1))


def in_order(starts: Array, distances: Array, rows: Array) -> tuple[Array, Array]:
    query = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((rows, distances, query))
    return distances[order], rows[order]


def table(metric: str, rng: np.random.Generator, n: int, kind: str) -> Array:
    if metric == "haversine":
        X = np.column_stack([np.arcsin(rng.uniform(-1, 1, n)), rng.uniform(-np.pi, np.pi, n)])
    else:
        X = rng.normal(size=(n, 4))
    if metric in BOOLEAN:
        return (rng.random((n, 12)) < 0.3).astype(float)
    if kind == "grid":
        return np.round(X)
    if kind == "clusters":
        return np.asarray(1e-6 * X + X[rng.integers(0, 5, n)])
    return X


@pytest.mark.parametrize("metric", [*METRICS, manhattan])
@examples(40)
@given(data=st.data())
def test_small_tables(metric: Any, data: st.DataObject) -> None:
    n = data.draw(st.one_of(st.just(1), st.integers(1, 20), st.integers(30, 120)))
    d = 2 if metric == "haversine" else data.draw(st.integers(1, 4))
    values = st.one_of(SMALL, st.floats(-1.5, 1.5)) if data.draw(st.booleans()) else SMALL
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    X = data.draw(arrays(np.float64, (n, d), elements=values)).astype(dtype)
    Q = data.draw(arrays(np.float64, (3, d), elements=values))
    k = data.draw(st.integers(1, n + 1))
    radius = data.draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    check(X, Q, metric if callable(metric) else native(metric), k, radius)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", first_of(["clusters", "normal", "grid"]))
@pytest.mark.parametrize("dtype", first_of([np.float64, np.float32]))
def test_large_tables(metric: str, kind: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = table(metric, rng, 5000, kind).astype(dtype)
    Q = np.vstack([X[:60].astype(float), table(metric, rng, 60, kind)])
    for k in (1, 10, 40):
        visited = check(X, Q, native(metric), k, threads=2)
        if k == 1 and kind == "normal" and metric not in BOOLEAN:
            assert visited < 1500


@pytest.mark.parametrize("metric", METRICS)
def test_any_number_of_threads_gives_the_same_tree_and_neighbors(metric: str) -> None:
    rng = np.random.default_rng(1)
    X, own = table(metric, rng, 20_000, "normal"), native(metric)
    trees = [_native.neighbors_build_vantage(X, own, threads) for threads in (1, 2, 3)]
    results = []
    for threads, arrays_ in zip((1, 2, 3), trees, strict=True):
        for one, other in zip(arrays_, trees[0], strict=True):
            np.testing.assert_array_equal(one, other)
        found = empty(500, 5)
        n = build(X, own, threads=threads).search(
            own, _native.Queries(X[:500].copy()), _native.Nearest(*found), threads
        )
        results.append((n, *found))
    for result in results:
        for mine, first in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(mine, first)


def test_distances_near_opposite_points_and_beyond_the_poles() -> None:
    """Haversine distances lose half of their digits there."""
    rng = np.random.default_rng(2)
    X = table("haversine", rng, 3000, "normal")
    opposite = np.column_stack([-X[:, 0], X[:, 1] + np.pi])
    near = opposite[:50] + rng.normal(size=(50, 2)) * np.logspace(-12, -1, 50)[:, None]
    both = np.vstack([X, opposite, near])
    own = native("haversine")
    for k in (1, 3000, 6050):
        check(both, near, own, k)
    cluster = X[:1] + 1e-9 * rng.normal(size=(3000, 2))
    across = cluster[:200] * np.array([-1.0, 1.0]) + np.array([0.0, np.pi])
    check(cluster, np.vstack([across, cluster[:20]]), own, 20)
    check(np.degrees(both), np.degrees(near), own, 10)
    poles = np.vstack([both, np.column_stack([np.pi - both[:, 0], both[:, 1] + np.pi])])
    check(poles, poles[:40].copy(), own, 10)
    pole = np.array([[np.pi / 2, 0.0]]) + 1e-8 * rng.normal(size=(2000, 2))
    check(pole.astype(np.float32), pole[:20].copy(), own, 10)


@pytest.mark.parametrize("metric", ["euclidean", "minkowski", "manhattan", "chebyshev", "canberra"])
@pytest.mark.parametrize("factor", [1e-320, 1e-165, 1e-155, 1e-3, 1e150, 1e200, 1e300])
def test_distances_that_under_or_overflow(metric: str, factor: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3)) * factor
    for p in (3.0, 150.0):
        check(X, X[:20] * 1.01, native(metric, p), 5)


def test_nominal_columns() -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(2000, 2)), rng.integers(0, 5, (2000, 2))])
    mismatch = np.array([np.nan, np.nan, 0.5, 1.0])
    for kind in (_native.MetricKind.EUCLIDEAN, _native.MetricKind.MANHATTAN):
        check(
            X, X[:50] + np.array([0.1, 0.1, 0.0, 0.0]), _native.Metric(kind, mismatch=mismatch), 10
        )


@pytest.mark.parametrize("metric", ["canberra", "haversine", manhattan])
def test_excluded_and_forgotten_rows(metric: Any) -> None:
    rng = np.random.default_rng(5)
    X = np.round(2 * rng.normal(size=(300, 2))) / 2
    own = metric if callable(metric) else native(metric)
    row_ids = np.arange(300)[::-1].copy()
    row_ids[::3] = -1
    row_ids[1::9] = -7
    kept = row_ids >= 0
    excluded = np.where(kept, row_ids, 5)
    tree = build(X, own, row_ids)
    found, wanted = empty(300, 6), empty(300, 6)
    tree.search(own, _native.Queries(X, excluded=excluded), _native.Nearest(*found), 2)
    brute(X[kept], row_ids[kept], own, X, wanted, excluded=excluded)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(found[1], wanted[1])
    assert (found[1] != excluded[:, None]).all()
    starts, _, rows = tree.radius(own, _native.Queries(X, excluded=excluded), 0.0)
    assert (rows >= 0).all()
    assert (rows != np.repeat(excluded, np.diff(starts))).all()
    # The search by a function skips forgotten rows as well.
    if callable(metric):
        again = empty(300, 6)
        brute(X, row_ids, own, X, again, excluded=excluded)
        np.testing.assert_array_equal(again[1], wanted[1])
    nothing = build(X, own, np.full(300, -1))
    found = empty(300, 2)
    nothing.search(own, _native.Queries(X), _native.Nearest(*found))
    assert (found[1] == -1).all()


@pytest.mark.parametrize("metric", ["euclidean", "hamming", manhattan])
@pytest.mark.parametrize("k", [4, 50])
def test_searches_merge_into_the_neighbors_found_so_far(metric: Any, k: int) -> None:
    """As where rows are in several trees."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 4, (500, 3)).astype(float)
    own = metric if callable(metric) else native(metric)
    Q, rows = X[:30].copy(), np.arange(500)
    found, wanted, mixed = (empty(30, k) for _ in range(3))
    for part in (slice(0, 200), slice(200, 500)):
        tree = build(X[part].copy(), own, rows[part])
        tree.search(own, _native.Queries(Q), _native.Nearest(*found))
    brute(X, rows, own, Q, wanted)
    brute(X[250:].copy(), rows[250:].copy(), own, Q, mixed)
    build(X[:250].copy(), own, rows[:250]).search(own, _native.Queries(Q), _native.Nearest(*mixed))
    for result in (found, mixed):
        np.testing.assert_array_equal(result[0], wanted[0])
        np.testing.assert_array_equal(result[1], wanted[1])


def test_equal_rows() -> None:
    X = np.ones((1000, 2))
    for metric in METRICS:
        check(X, X[:3].copy(), native(metric), 7)
    X[::100] = 0.0
    for metric in METRICS:
        check(X, X[:3].copy(), native(metric), 30)


def test_a_function_gets_rows_of_float64() -> None:
    seen = set()

    def distance(x: Array, y: Array) -> float:
        seen.add((type(x), x.dtype, x.shape, y.dtype, y.shape))
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1.0
        return math.dist(x, y)

    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    check(X, rng.normal(size=(2, 3)), distance, 3)
    double = np.dtype(np.float64)
    assert seen == {(np.ndarray, double, (3,), double, (3,))}


def test_a_function_is_called_for_few_of_the_rows() -> None:
    rng = np.random.default_rng(8)
    X, calls = rng.normal(size=(2000, 2)), 0

    def distance(x: Array, y: Array) -> float:
        nonlocal calls
        calls += 1
        return math.dist(x, y)

    tree = build(X, distance)
    assert calls < 2000 * (1 + math.ceil(math.log2(2000 / 16)))
    calls, found = 0, empty(20, 3)
    n = tree.search(distance, _native.Queries(X[:20].copy()), _native.Nearest(*found))
    assert n == calls < 20 * 200


def test_infinite_distances_of_a_function() -> None:
    """Rows of different groups are infinitely far apart."""

    def distance(x: Array, y: Array) -> float:
        return abs(x[1] - y[1]) if x[0] == y[0] else math.inf

    rng = np.random.default_rng(9)
    X = np.column_stack([rng.integers(0, 3, 200), rng.normal(size=200)])
    check(X, X[:10].copy(), distance, 5)
    check(X, X[:10].copy(), distance, 150)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x, y: math.nan, ValueError, "metric must return a number of at least 0, got nan"),
        (lambda x, y: -1, ValueError, "metric must return a number of at least 0, got -1"),
        (lambda x, y: None, ValueError, "metric must return a number of at least 0, got None"),
        (lambda x: 0.0, TypeError, "positional argument"),
        (lambda x, y: {}["a"], KeyError, "a"),
    ],
)
def test_functions_that_are_no_distances(
    function: Callable[..., Any], error: Any, message: str
) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    tree, queries = build(X, manhattan), _native.Queries(X)
    rows, nearest = np.arange(40), _native.Nearest(*empty(40, 2))
    for call in (
        lambda: _native.neighbors_build_vantage(X, function),
        lambda: tree.search(function, queries, nearest),
        lambda: tree.radius(function, queries, 1.0),
        lambda: _native.neighbors_search_function(X, rows, function, queries, nearest),
        lambda: _native.neighbors_radius_function(X, rows, function, queries, 1.0),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("metric", ["bray_curtis", "dice", "russell_rao", "yule"])
def test_distances_without_the_triangle_inequality_raise(metric: str) -> None:
    X = np.ones((40, 2))
    with pytest.raises(ValueError, match="triangle inequality"):
        _native.neighbors_build_vantage(X, native(metric))
    with pytest.raises(ValueError, match="triangle inequality"):
        build(X, manhattan).search(
            native(metric), _native.Queries(X), _native.Nearest(*empty(40, 1))
        )


def test_wrong_arguments_raise() -> None:
    X = np.ones((40, 2))
    own, nearest = native("manhattan"), _native.Nearest(*empty(40, 1))
    tree = build(X, own)
    columns = np.array([1], np.uint32)
    for call, message in (
        (lambda: build(X[:0].copy(), own), "X must have up to"),
        (lambda: build(X, own, threads=0), "threads must be at least 1"),
        (lambda: build(X * np.nan, own), "must not be NaN"),
        (lambda: build(np.ones((40, 3)), native("haversine")), "two columns"),
        (lambda: tree.search(own, _native.Queries(X[:3].copy()), nearest), "n_queries, k"),
        (lambda: tree.search(own, _native.Queries(np.ones((40, 3))), nearest), "the columns of"),
        (lambda: tree.search(own, _native.Queries(X, columns), nearest), "of all columns"),
        (lambda: tree.search(own, _native.Queries(X, None, 2.0), nearest), "of all columns"),
        (lambda: tree.search(manhattan, _native.Queries(X, columns), nearest), "of all columns"),
        (lambda: tree.search(own, _native.Queries(X), nearest, 0), "threads must be at least 1"),
        (
            lambda: _native.neighbors_search_function(
                X, np.arange(3), manhattan, _native.Queries(X), nearest
            ),
            "row_ids must have",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_missing_values_in_queries_find_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(100, 2))
    found = empty(1, 3)
    build(X, native("manhattan")).search(
        native("manhattan"), _native.Queries(np.full((1, 2), np.nan)), _native.Nearest(*found)
    )
    assert (found[1] == -1).all()


def test_forged_arrays_raise_or_find_something() -> None:
    rng = np.random.default_rng(0)
    X, own = rng.normal(size=(100, 2)), native("euclidean")
    order, vantage, bounds = _native.neighbors_build_vantage(X, own)
    ids = order.astype(np.int64)
    assert vantage.shape == (6,)
    assert bounds.shape == (6, 4)

    def forged(**changes: Any) -> Any:
        sound = {"order": order, "row_ids": ids, "vantage": vantage, "bounds": bounds}
        return _native.VantageTree(X, **{**sound, **changes})

    too_large = order.copy()
    too_large[7] = 100
    for changes in (
        {"order": too_large},
        {"order": order[:-1].copy()},
        {"row_ids": ids[:-1].copy()},
        {"vantage": vantage[:-1].copy()},
        {"vantage": np.full(6, 100, np.uint32)},
        {"bounds": bounds[:-1].copy()},
        {"bounds": bounds[:, :3].copy()},
    ):
        with pytest.raises(ValueError, match="must"):
            forged(**changes)
    with pytest.raises(TypeError):
        forged(order=ids)
    for metric in (None, "euclidean"):
        with pytest.raises(TypeError):
            forged().radius(metric, _native.Queries(X), 1.0)
        with pytest.raises(TypeError):
            _native.neighbors_build_vantage(X, metric)
    for value in (np.nan, np.inf, -np.inf, 0.0):
        tree, found = forged(bounds=np.full((6, 4), value)), empty(100, 3)
        tree.search(own, _native.Queries(X), _native.Nearest(*found), 2)
        tree.search(math.dist, _native.Queries(X), _native.Nearest(*found))
        tree.radius(own, _native.Queries(X), np.nan)
    same, found = forged(order=np.zeros(100, np.uint32)), empty(100, 3)
    same.search(own, _native.Queries(X), _native.Nearest(*found), 2)


@pytest.mark.parametrize("task", ["build", "search", "radius", "function", "all pairs"])
def test_searches_end_soon_after_ctrl_c(task: str) -> None:
    rng = np.random.default_rng(0)
    own = native("canberra")
    X = rng.random((4_000_000 if task == "build" else 100_000, 8))
    tree = build(X, own) if task in ("search", "radius") else None
    small = build(X[:100].copy(), math.dist)
    queries, nearest = _native.Queries(X), _native.Nearest(*empty(len(X), 3))
    rows = np.arange(len(X))
    work: dict[str, Callable[[], Any]] = {
        "build": lambda: _native.neighbors_build_vantage(X, own, 2),
        "search": lambda: tree.search(own, queries, nearest, 2),
        "radius": lambda: tree.radius(own, queries, 0.3, 2),
        "function": lambda: small.search(math.dist, queries, nearest),
        "all pairs": lambda: _native.neighbors_search_function(
            X, rows, math.dist, queries, nearest
        ),
    }

    def repeat() -> None:
        for _ in range(100):
            work[task]()

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            repeat()
        assert time.perf_counter() - start < 1.2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
