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
from tests.budget import examples
from tests.oracles.neighbors_naive import DISTANCES, gower, heom, nearest

RNG = np.random.default_rng(0)
COORDINATE = ["euclidean", "manhattan", "chebyshev", "minkowski"]
# Ties, duplicates and constant columns.
SMALL = st.integers(-2, 2).map(float)


def forms_of(metric: str) -> list[Any]:
    if metric in COORDINATE:
        return ["tree", "brute", *(["products"] if metric == "euclidean" else [])]
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
@pytest.mark.parametrize("kind", ["normal", "grid", "clusters", "shifted"])
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
    for form in forms_of(metric):
        index = NeighborIndex.of(X, distance, form, threads=2)
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


@pytest.mark.parametrize("form", ["tree", "products", "brute"])
@pytest.mark.parametrize("factor", [1e-200, 1e200, 1e-30, 1e30])
def test_units_do_not_matter(form: Any, factor: float) -> None:
    X, Q = RNG.normal(size=(500, 4)), RNG.normal(size=(20, 4))
    distance = make_distance("euclidean")
    distances, rows = NeighborIndex.of(X, distance, form).search(Q, 5)
    found, found_rows = NeighborIndex.of(X * factor, distance, form).search(Q * factor, 5)
    np.testing.assert_array_equal(found_rows, rows)
    np.testing.assert_allclose(found, distances * factor, rtol=1e-12)


@pytest.mark.parametrize("metric", COORDINATE)
def test_rows_within_a_radius(metric: str) -> None:
    X = RNG.integers(0, 4, (400, 3)).astype(float)
    Q, distance = X[:30], make_distance(metric, 3.0)
    for form in forms_of(metric):
        index = NeighborIndex.of(X, distance, form)
        all_distances, all_rows = index.search(Q, len(X))
        starts, distances, rows = index.within(Q, 2.0, threads=2)
        for i in range(len(Q)):
            inside = all_distances[i] <= 2.0
            part = slice(starts[i], starts[i + 1])
            np.testing.assert_array_equal(distances[part], all_distances[i][inside])
            np.testing.assert_array_equal(rows[part], all_rows[i][inside])


@pytest.mark.parametrize("form", ["tree", "products", "brute"])
def test_a_row_is_not_its_own_neighbor_where_it_is_excluded(form: Any) -> None:
    X = RNG.integers(0, 3, (700, 2)).astype(float)
    index = NeighborIndex.of(X, make_distance("euclidean"), form)
    own = np.arange(len(X))
    distances, rows = index.search(X, 3, excluded=own)
    assert (rows != own[:, None]).all()
    wanted = nearest(X.tolist(), X[9].tolist(), 3, DISTANCES["euclidean"], excluded=9)
    assert rows[9].tolist() == [i for _, i in wanted]
    assert distances[9].tolist() == [a for a, _ in wanted]


def test_the_form_follows_the_rows() -> None:
    euclidean = make_distance("euclidean")

    def form(X: Array, metric: Any = euclidean) -> str:
        index = NeighborIndex.of(X, metric)
        assert index.form in ("tree", "products", "brute")
        assert index.report
        return index.form

    assert form(RNG.random((100, 3))) == "brute"
    assert form(RNG.random((20_000, 2))) == "tree"
    assert form(RNG.random((20_000, 40))) == "products"
    assert form(RNG.random((20_000, 40)), make_distance("manhattan")) == "brute"
    assert form(RNG.random((2_000, 3)), make_distance("canberra")) == "brute"


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
        (lambda: make_distance("minkowski", 0.5), "p must be at least 1"),
        (lambda: make_distance("angle"), "metric must be one of"),
        (lambda: make_distance("seuclidean"), "requires V"),
        (lambda: make_distance("mahalanobis", VI=-np.eye(2)), "positive definite"),
        (
            lambda: NeighborIndex.of(np.eye(2), make_distance("canberra"), "tree"),
            "form='tree' requires",
        ),
        (
            lambda: NeighborIndex.of(np.eye(2), make_distance("manhattan"), "products"),
            "form='products' requires",
        ),
        (
            lambda: NeighborIndex.of(np.array([[np.nan]]), make_distance("euclidean")),
            "must not have missing",
        ),
    ],
)
def test_wrong_settings_raise(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
