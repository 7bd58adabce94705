"""Indices of nearest neighbors against the naive search, scikit-learn, and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import NearestNeighbors

from ceiba import _native
from ceiba._typing import Array
from ceiba.neighbors import METRICS, NeighborIndex, make_distance, make_mixed_distance
from tests.budget import examples, first_of
from tests.instruction_sets import arrays_of
from tests.oracles.neighbors_naive import DISTANCES, gower, heom, nearest

RNG = np.random.default_rng(0)
COORDINATE = ["euclidean", "manhattan", "chebyshev", "minkowski"]
# Ties, duplicates and constant columns.
SMALL = st.integers(-2, 2).map(float)


def forms_of(metric: str) -> list[Any]:
    if metric in COORDINATE:
        return ["kd_tree", "brute", *(["products"] if metric == "euclidean" else [])]
    return ["brute"]


@pytest.mark.parametrize("metric", DISTANCES)
@examples(20)
@given(data=st.data())
def test_neighbors_are_those_of_the_naive_search(metric: str, data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    d = 2 if metric == "haversine" else d
    values = st.one_of(SMALL, st.floats(-1.5, 1.5)) if data.draw(st.booleans()) else SMALL
    X = data.draw(arrays(np.float64, (n, d), elements=values))
    Q = data.draw(arrays(np.float64, (3, d), elements=values))
    k = data.draw(st.integers(1, n))
    index = NeighborIndex.of(X, make_distance(metric))
    distances, rows = index.search(Q, k)
    for query, found, found_rows in zip(Q, distances, rows, strict=True):
        wanted = nearest(X.tolist(), query.tolist(), k, DISTANCES[metric])
        np.testing.assert_allclose(found, [a for a, _ in wanted], rtol=1e-12, atol=1e-9)
        own = [DISTANCES[metric](X[i].tolist(), query.tolist()) for i in found_rows]
        np.testing.assert_allclose(own, found, rtol=1e-12, atol=1e-9)
        pairs = list(zip(found.tolist(), found_rows.tolist(), strict=True))
        assert pairs == sorted(pairs)


@pytest.mark.parametrize(("metric", "naive"), [("gower", gower), ("heom", heom)])
@examples(40)
@given(data=st.data())
def test_mixed_tables_with_missing_values(metric: Any, naive: Any, data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 5))
    values = st.one_of(SMALL, st.just(np.nan), st.floats(-3, 3))
    nominal = data.draw(arrays(bool, d))
    X = data.draw(arrays(np.float64, (n + 3, d), elements=values))
    X = np.where(nominal, np.round(X), X)
    ranges = np.nan_to_num(np.nanmax(X, axis=0, initial=-9) - np.nanmin(X, axis=0, initial=9))
    weights = data.draw(arrays(np.float64, d, elements=st.sampled_from([0.5, 1.0, 2.0])))
    rows, Q = X[:n], X[n:]
    index = NeighborIndex.of(rows, make_mixed_distance(metric, nominal, ranges, weights))
    distances, found = index.search(Q, n)
    for query, own, own_rows in zip(Q.tolist(), distances, found, strict=True):
        wanted = [naive(row, query, nominal, ranges, weights) for row in rows.tolist()]
        np.testing.assert_allclose(own, np.sort(wanted), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.array(wanted)[own_rows], own, rtol=1e-12, atol=1e-12)


def test_a_search_of_some_columns_has_the_factor_of_the_others() -> None:
    """As where values are missing in all rows of a group."""
    X, Q = RNG.normal(size=(500, 4)), RNG.normal(size=(9, 4))
    order, boxes = _native.neighbors_build(X, 32, None, 1)
    tiles = _native.neighbors_tiles(X, 32, order, 1)
    tree = _native.BoxTree(X, 32, order, order.astype(np.int64), boxes, tiles, None)
    columns = np.array([1, 3], np.uint32)
    distances, rows = np.full((9, 5), np.inf), np.full((9, 5), -1, np.int64)
    metric = _native.Metric(_native.MetricKind.EUCLIDEAN)
    queries = _native.Queries(Q, columns, 2.0)
    tree.search(metric, queries, _native.Nearest(distances, rows), 1)
    part = NeighborIndex.of(X[:, [1, 3]].copy(), make_distance("euclidean"))
    wanted = part.search(Q[:, [1, 3]].copy(), 5)
    np.testing.assert_array_equal(rows, wanted[1])
    np.testing.assert_allclose(distances, np.sqrt(2.0) * wanted[0], rtol=1e-12)


@pytest.mark.parametrize("metric", COORDINATE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", first_of(["clusters", "normal", "grid", "shifted"]))
def test_all_forms_give_equal_bits(metric: str, dtype: Any, kind: str) -> None:
    n, d = 3000, 6
    X = RNG.normal(size=(n, d))
    if kind == "grid":
        X = RNG.integers(0, 3, (n, d)).astype(float)
    elif kind == "clusters":
        X = 1e-4 * X + RNG.integers(0, 5, (n, 1)) * 100.0
    elif kind == "shifted":
        X = X + 1e6
    X = X.astype(dtype)
    Q = np.vstack([X[:40].astype(float), X[:40] + 0.01, X.mean(axis=0, keepdims=True)])
    distance = make_distance(metric, 3.0 if metric == "minkowski" else 2.0)
    wanted: Any = None
    for algorithm in forms_of(metric):
        index = NeighborIndex.of(X, distance, algorithm, threads=2)
        for k in (1, 7, 50):
            for threads in (1, 2, 3):
                found = index.search(Q, k, threads=threads)
                np.testing.assert_array_equal(found[0], index.search(Q, 50)[0][:, :k])
        found = index.search(Q, 50)
        if wanted is not None:
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])
        wanted = found
    order = np.lexsort((wanted[1], wanted[0]), axis=1)
    np.testing.assert_array_equal(order, np.tile(np.arange(50), (len(Q), 1)))


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scikit_learn(metric: str) -> None:
    if metric == "sokalmichener":
        pytest.skip("scikit-learn has removed it")
    X = np.random.default_rng(1).random((200, 2 if metric == "haversine" else 5))
    if metric in ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        X = (X > 0.5).astype(float)
        X[~X.any(axis=1), 0] = 1.0  # two rows without a true value have no distance elsewhere
    options: dict[str, Any] = {}
    if metric == "seuclidean":
        options = {"V": X.var(axis=0)}
    elif metric == "mahalanobis":
        options = {"VI": np.linalg.inv(np.cov(X.T))}
    peer = NearestNeighbors(
        n_neighbors=5,
        metric={"p": "minkowski", "infinity": "chebyshev"}.get(metric, metric),
        metric_params=options or None,
        p=3 if metric in ("minkowski", "p") else 2,
        algorithm="brute",
    )
    values = X.astype(bool) if set(np.unique(X)) <= {0.0, 1.0} else X
    wanted = peer.fit(values).kneighbors(values[:20])[0]
    found = NeighborIndex.of(X, make_distance(metric, 3.0, **options)).search(X[:20], 5)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("algorithm", ["kd_tree", "products", "brute"])
@pytest.mark.parametrize("factor", [1e-200, 1e200, 1e-30, 1e30])
def test_units_do_not_matter(algorithm: Any, factor: float) -> None:
    X, Q = RNG.normal(size=(500, 4)), RNG.normal(size=(20, 4))
    distance = make_distance("euclidean")
    distances, rows = NeighborIndex.of(X, distance, algorithm).search(Q, 5)
    found, found_rows = NeighborIndex.of(X * factor, distance, algorithm).search(Q * factor, 5)
    np.testing.assert_array_equal(found_rows, rows)
    np.testing.assert_allclose(found, distances * factor, rtol=1e-12)


@pytest.mark.parametrize("metric", COORDINATE)
def test_rows_within_a_radius(metric: str) -> None:
    X = RNG.integers(0, 4, (400, 3)).astype(float)
    Q, distance = X[:30], make_distance(metric, 3.0)
    for algorithm in forms_of(metric):
        index = NeighborIndex.of(X, distance, algorithm)
        all_distances, all_rows = index.search(Q, len(X))
        starts, distances, rows = index.within(Q, 2.0, threads=2)
        for i in range(len(Q)):
            inside = all_distances[i] <= 2.0
            part = slice(starts[i], starts[i + 1])
            np.testing.assert_array_equal(distances[part], all_distances[i][inside])
            np.testing.assert_array_equal(rows[part], all_rows[i][inside])


@pytest.mark.parametrize("algorithm", ["kd_tree", "products", "brute"])
def test_a_row_is_not_its_own_neighbor_where_it_is_excluded(algorithm: Any) -> None:
    X = RNG.integers(0, 3, (700, 2)).astype(float)
    index = NeighborIndex.of(X, make_distance("euclidean"), algorithm)
    own = np.arange(len(X))
    distances, rows = index.search(X, 3, excluded=own)
    assert (rows != own[:, None]).all()
    wanted = nearest(X.tolist(), X[9].tolist(), 3, DISTANCES["euclidean"], excluded=9)
    assert rows[9].tolist() == [i for _, i in wanted]
    assert distances[9].tolist() == [a for a, _ in wanted]


def test_the_form_follows_the_rows() -> None:
    euclidean = make_distance("euclidean")

    def algorithm(X: Array, metric: Any = euclidean) -> str:
        index = NeighborIndex.of(X, metric)
        assert index.algorithms[0] in ("kd_tree", "products", "vp_tree", "brute")
        assert index.report
        return index.algorithms[0]

    assert algorithm(RNG.random((100, 3))) == "brute"
    assert algorithm(RNG.random((20_000, 2))) == "kd_tree"
    assert algorithm(RNG.random((20_000, 40))) == "products"
    assert algorithm(RNG.random((20_000, 40)), make_distance("manhattan")) == "brute"
    assert algorithm(RNG.random((2_000, 3)), make_distance("canberra")) == "vp_tree"
    assert algorithm(RNG.random((2_000, 3)), make_distance("braycurtis")) == "brute"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda index: index.search(np.zeros((1, 2)), 4), r"k must be in \[1, 3\]"),
        (
            lambda index: index.search(np.zeros((3, 2)), 3, excluded=np.arange(3)),
            r"k must be in \[1, 2\]",
        ),
        (lambda index: index.search(np.zeros((1, 3)), 1), "queries must have 2 columns"),
        (lambda index: index.within(np.zeros((1, 2)), -1.0), "radius must be at least 0"),
        (lambda index: index.search(np.full((1, 2), 1e300), 1), "Distances overflow"),
    ],
)
def test_wrong_searches_raise(call: Any, message: str) -> None:
    index = NeighborIndex.of(np.eye(3)[:, :2].copy(), make_distance("euclidean"))
    with pytest.raises(ValueError, match=message):
        call(index)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_distance("minkowski", 0.5), r"p must be in \[1, 14\]"),
        (lambda: make_distance("angle"), "metric must be one of"),
        (lambda: make_distance("seuclidean"), "must be V"),
        (lambda: make_distance("mahalanobis", VI=-np.eye(2)), "positive definite"),
        (
            lambda: NeighborIndex.of(np.eye(2), make_distance("canberra"), "kd_tree"),
            "algorithm='kd_tree' requires",
        ),
        (
            lambda: NeighborIndex.of(np.eye(2), make_distance("manhattan"), "products"),
            "algorithm='products' requires",
        ),
        (
            lambda: NeighborIndex.of(np.array([[np.nan]]), make_distance("euclidean")),
            "contains NaN",
        ),
    ],
)
def test_wrong_settings_raise(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Missing values: groups of rows that lack the same columns


def with_patterns(n: int, dtype: Any = np.float64) -> tuple[Array, Array]:
    """Return rows and queries of numbers and codes: two common patterns, and many rare ones."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5)).astype(dtype)
    X[:, 3:] = rng.integers(0, 3, (n, 2))
    kind = rng.integers(0, 10, n)
    X[kind < 3, 1] = np.nan
    X[np.ix_(kind == 3, [0, 2])] = np.nan
    rare = kind == 4
    X[rare] = np.where(rng.random((rare.sum(), 5)) < 0.5, np.nan, X[rare])
    return X[100:], X[:100].astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("missing", ["partial", "mismatch"])
@pytest.mark.parametrize("metric", ["gower", "heom", "chebyshev", "minkowski"])
def test_groups_of_missing_columns_give_equal_bits(metric: str, missing: Any, dtype: Any) -> None:
    X, Q = with_patterns(12_000, dtype)
    nominal = np.arange(5) >= 3
    weights = np.array([1.0, 0.3, 0.7, 2.0, 0.1])
    distance = make_mixed_distance(metric, nominal, np.ones(5), weights, p=3.0, missing=missing)
    index = NeighborIndex.of(X, distance)
    assert index.algorithms[:2] == ["kd_tree", "kd_tree"]
    assert index.algorithms[-1] == "brute"
    brute = NeighborIndex.of(X, distance, "brute")
    assert brute.algorithms == ["brute"]
    for k in (1, 40):
        for one, two in zip(index.search(Q, k), brute.search(Q, k), strict=True):
            np.testing.assert_array_equal(one, two)
    for one, two in zip(index.within(Q, 0.4), brute.within(Q, 0.4), strict=True):
        np.testing.assert_array_equal(one, two)


def test_rows_without_a_common_column_come_last_and_in_order() -> None:
    X = np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, 3.0], [np.nan, np.nan]])
    distance = make_mixed_distance("euclidean", np.zeros(2, bool), np.ones(2))
    Q = np.array([[2.0, np.nan], [np.nan, np.nan]])
    for algorithm in ("auto", "brute"):
        distances, rows = NeighborIndex.of(X, distance, algorithm).search(Q, 4)
        assert rows.tolist() == [[1, 0, 2, 3], [0, 1, 2, 3]]
        assert distances.tolist() == [[0.0, np.inf, np.inf, np.inf], [np.inf] * 4]


# Rows that come and go


@pytest.mark.parametrize("metric", ["euclidean", "heom", "canberra"])
def test_an_index_grows_and_forgets(metric: str) -> None:
    rng = np.random.default_rng(5)
    distance = make_distance("canberra")
    X, Q = rng.normal(size=(6000, 3)), rng.normal(size=(20, 3))
    if metric != "canberra":
        distance = make_mixed_distance(metric, np.zeros(3, bool), np.ones(3))
        X[rng.random(X.shape) < 0.02] = np.nan
    n = 4000
    index, rows = NeighborIndex.of(X[:n], distance), X[:n]
    for step in (1, 1, 300, 1, 700, 2, 900):
        rows = np.vstack([rows, X[n : n + step]])
        n += step
        index = index.with_rows(rows)
        removed = np.unique(rng.integers(0, len(rows), 400))
        rows = np.delete(rows, removed, axis=0)
        index = index.without_rows(removed, rows)
        assert len(index) == len(rows)
        fresh = NeighborIndex.of(rows, distance, "brute")
        for one, two in zip(index.search(Q, 30), fresh.search(Q, 30), strict=True):
            np.testing.assert_array_equal(one, two)
        for one, two in zip(index.within(Q, 0.3), fresh.within(Q, 0.3), strict=True):
            np.testing.assert_array_equal(one, two)
    index.check()


def test_rows_added_one_by_one_make_few_segments() -> None:
    X = RNG.normal(size=(3000, 3))
    index = NeighborIndex.of(X[:1000], make_distance("euclidean"))
    for n in range(1001, 3001):
        index = index.with_rows(X[:n])
        assert len(index.segments) <= 6
    fresh = NeighborIndex.of(X, make_distance("euclidean"))
    np.testing.assert_array_equal(index.search(X[:50], 5)[1], fresh.search(X[:50], 5)[1])


def test_larger_rows_do_not_overflow() -> None:
    X = RNG.normal(size=(400, 2))
    huge = np.vstack([X, X[:5] * 1e200])
    index = NeighborIndex.of(X, make_distance("euclidean")).with_rows(huge)
    fresh = NeighborIndex.of(huge, make_distance("euclidean"))
    np.testing.assert_array_equal(index.search(huge, 3)[1], fresh.search(huge, 3)[1])


# Instruction sets

SEARCHES = """
import sys, numpy as np
from ceiba import _native
from ceiba.neighbors import NeighborIndex, make_distance, make_mixed_distance
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 5))
found = {"isa": np.array(_native.instruction_set())}
cases = [(name, name) for name in ("kd_tree", "products", "vp_tree", "brute")]
for name, algorithm in cases:
    found[name] = NeighborIndex.of(X, make_distance("euclidean"), algorithm).search(X[:90], 7)[0]
for name in ("manhattan", "canberra", "braycurtis", "hamming", "cosine"):
    found[name] = NeighborIndex.of(X, make_distance(name)).search(X[:90] + 0.1, 40)[0]
X[rng.random(X.shape) < 0.1] = np.nan
gower = make_mixed_distance("gower", np.zeros(5, bool), np.full(5, 3.0))
found["gower"] = NeighborIndex.of(X, gower).search(X[:90], 7)[0]
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_distances_do_not_depend_on_instruction_set(isa: str) -> None:
    here: dict[str, Any] = {}
    exec(SEARCHES, here)
    other = arrays_of(SEARCHES + "np.savez(sys.stdout.buffer, **found)", isa)
    if other.pop("isa") != isa:
        pytest.skip(f"this processor has no {isa}")
    for name, array in other.items():
        np.testing.assert_array_equal(here["found"][name], array, err_msg=name)
