"""Learners of nearest neighbors against the naive ones, R's class::knn and the textbook."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.metrics.pairwise import nan_euclidean_distances

import ceiba
from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba._typing import Array
from ceiba.data import UnseenCategoryWarning
from tests.budget import examples
from tests.oracles.knn_naive import (
    COORDINATE,
    MIXED,
    LooPoint,
    NaiveDistance,
    class_knn,
    class_shares,
    loo_curve,
    loo_losses,
    mahalanobis,
    mean_target,
    one_standard_error,
    standardized,
    vote,
)
from tests.oracles.knn_tables import CLASSES, KINDS, KnnTable, make_table, tables
from tests.oracles.neighbors_naive import DISTANCES
from tests.paths import ROOT

RULES = ("auto", "partial", "mismatch")
ALGORITHMS = ("auto", "kd_tree", "vp_tree", "ball_tree", "products", "brute")
# Distances of columns that are divided before or after their difference is taken.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def bell(distances: Array) -> Array:
    return 1 / (1 + distances * distances)


WEIGHTS = {"uniform": "uniform", "distance": "distance", "function": bell}


def assert_neighbors(
    found: tuple[Array, Array],
    naive: NaiveDistance,
    queries: Sequence[list[Any]],
    k: int,
    excluded: bool = False,
) -> None:
    """Check distances and rows; rows at distances that differ by rounding may be exchanged."""
    distances, rows = found
    assert distances.shape == rows.shape == (len(queries), k)
    for i, query in enumerate(queries):
        own = i if excluded else None
        wanted = [distance for distance, _ in naive.nearest(query, k, own)]
        np.testing.assert_allclose(distances[i], wanted, **CLOSE)
        again = [naive(naive.rows[row], query) for row in rows[i]]
        np.testing.assert_allclose(again, distances[i], **CLOSE)
        pairs = list(zip(distances[i].tolist(), rows[i].tolist(), strict=True))
        assert pairs == sorted(pairs)
        assert len(set(rows[i].tolist())) == k
        assert own not in rows[i]


def assert_predictions(
    table: KnnTable, weights: Any, k: int, naive: NaiveDistance, parameters: dict[str, Any]
) -> None:
    """Fit both learners, and check all that they compute for the queries."""
    X, Q = table.X, table.Q
    classifier = KNeighborsClassifier(k, weights=weights, **parameters).fit(X, table.labels)
    regressor = KNeighborsRegressor(k, weights=weights, **parameters).fit(X, table.numbers)
    distances, rows = classifier.kneighbors(Q)
    assert_neighbors((distances, rows), naive, table.queries, k)
    np.testing.assert_array_equal(regressor.kneighbors(Q)[1], rows)
    classes = classifier.classes_.tolist()
    assert classes == sorted(set(table.labels))
    neighbors = [list(zip(*pair, strict=True)) for pair in zip(distances, rows, strict=True)]
    shares = [class_shares(own, table.labels, classes, weights) for own in neighbors]
    probability = classifier.predict_proba(Q)
    np.testing.assert_allclose(probability, shares, rtol=1e-12, atol=1e-15)
    predicted = classifier.predict(Q).tolist()
    assert predicted == [vote(own, classes) for own in probability.tolist()]
    means = [mean_target(own, table.numbers, weights) for own in neighbors]
    np.testing.assert_allclose(regressor.predict(Q), means, rtol=1e-12, atol=1e-12)
    if len(table.rows) > 1:
        own_k = min(k, len(table.rows) - 1)
        found = classifier.kneighbors(n_neighbors=own_k)
        assert_neighbors(found, naive, table.rows, own_k, excluded=True)
    finite = distances[np.isfinite(distances)]
    radius = float(np.median(finite)) if len(finite) else 1.0
    assert_within(X, Q, table, naive, radius, parameters)


def assert_within(
    X: Any, Q: Any, table: KnnTable, naive: NaiveDistance, radius: float, parameters: Any
) -> None:
    """Check the rows within a radius; those at the radius itself may differ by rounding."""
    model = NearestNeighbors(radius=radius, **parameters).fit(X)
    for query, own, rows in zip(table.queries, *model.radius_neighbors(Q), strict=True):
        outer = {row for _, row in naive.within(query, radius * (1 + 1e-9) + 1e-9)}
        inner = {row for _, row in naive.within(query, radius * (1 - 1e-9) - 1e-9)}
        assert inner <= set(rows.tolist()) <= outer
        assert (own <= radius).all()
        pairs = list(zip(own.tolist(), rows.tolist(), strict=True))
        assert pairs == sorted(pairs)


def draw_parameters(data: st.DataObject, table: KnnTable, metric: str) -> dict[str, Any]:
    """Draw scale, weights of the columns and the power of a coordinate metric."""
    parameters: dict[str, Any] = {"metric": metric}
    if metric == "minkowski":
        parameters["p"] = data.draw(st.sampled_from([1.0, 1.5, 2.0, 3.0]))
    if metric not in MIXED:
        parameters["scale"] = data.draw(st.sampled_from([None, "range", "std"]))
    if data.draw(st.booleans()):
        seed = data.draw(st.integers(0, 99))
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(table.kinds))
        parameters["feature_weights"] = weights.tolist()
    return parameters


def check_coordinate(data: st.DataObject, metric: str, weights: str, missing: str) -> None:
    table = data.draw(tables(with_missing=missing != "error"))
    parameters = {**draw_parameters(data, table, metric), "missing": missing}
    naive = NaiveDistance(table.rows, table.kinds, **parameters)
    k = data.draw(st.integers(1, len(table.rows)))
    assert_predictions(table, WEIGHTS[weights], k, naive, parameters)


@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED])
@examples(15)
@given(data=st.data())
def test_mixed_tables_have_the_results_of_the_naive_learner(
    metric: str, data: st.DataObject
) -> None:
    weights = data.draw(st.sampled_from(list(WEIGHTS)))
    check_coordinate(data, metric, weights, data.draw(st.sampled_from([*RULES, "error"])))


@pytest.mark.slow
@pytest.mark.parametrize("missing", [*RULES, "error"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED])
@examples(25)
@given(data=st.data())
def test_all_rules_have_the_results_of_the_naive_learner(
    metric: str, weights: str, missing: str, data: st.DataObject
) -> None:
    check_coordinate(data, metric, weights, missing)


def check_numeric(data: st.DataObject, metric: str, weights: str) -> None:
    table = data.draw(tables(kinds=["numeric"], with_missing=False))
    if metric == "haversine":
        table = make_table(data.draw(st.integers(0, 99)), ["numeric"] * 2, 12)
    if metric in BOOLEAN:
        for row in table.rows + table.queries:
            row[:] = [float(value > 0) for value in row]
    naive = NaiveDistance(table.rows, table.kinds, metric)
    k = data.draw(st.integers(1, len(table.rows)))
    assert_predictions(table, WEIGHTS[weights], k, naive, {"metric": metric})


BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "sokalmichener", "russellrao", "sokalsneath",
           "yule")  # fmt: skip
OTHERS = [metric for metric in DISTANCES if metric not in COORDINATE]


@pytest.mark.parametrize("metric", OTHERS)
@examples(9)
@given(data=st.data())
def test_other_metrics_have_the_results_of_the_naive_learner(
    metric: str, data: st.DataObject
) -> None:
    check_numeric(data, metric, data.draw(st.sampled_from(list(WEIGHTS))))


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", OTHERS)
@examples(25)
@given(data=st.data())
def test_all_other_metrics_and_weights(metric: str, weights: str, data: st.DataObject) -> None:
    check_numeric(data, metric, weights)


@pytest.mark.parametrize("given_matrix", [False, True])
@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis"])
@examples(9)
@given(seed=st.integers(0, 999))
def test_variances_are_given_or_those_of_the_training_rows(
    metric: str, given_matrix: bool, seed: int
) -> None:
    table = make_table(seed, ["numeric"] * 3, 20, styles=["normal"])
    X = np.array(table.rows)
    V = np.cov(X.T) if metric == "mahalanobis" else X.var(axis=0, ddof=1)
    if given_matrix:
        V = V * 2 + (np.eye(3) if metric == "mahalanobis" else 1.0)
    VI = np.linalg.inv(V) if metric == "mahalanobis" else None
    own = mahalanobis(VI.tolist()) if VI is not None else standardized(V.tolist())
    naive = NaiveDistance(table.rows, table.kinds, own)
    parameters: dict[str, Any] = {"metric": metric}
    if given_matrix:
        parameters["metric_params"] = {"V": V} if VI is None else {"VI": VI}
    assert_predictions(table, "distance", 5, naive, parameters)


def test_a_function_is_a_metric() -> None:
    def weighted(x: Array, y: Array, factor: float = 1.0) -> float:
        return float(factor * np.abs(x - y).max())

    table = make_table(1, ["numeric"] * 3, 15)
    naive = NaiveDistance(table.rows, table.kinds, lambda x, y: 3 * DISTANCES["chebyshev"](x, y))
    parameters = {"metric": weighted, "metric_params": {"factor": 3.0}}
    assert_predictions(table, "uniform", 4, naive, parameters)


# Weights of columns


@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED])
def test_weights_of_columns_by_name_and_by_metric_params(metric: str) -> None:
    table = make_table(3, KINDS, 20, missing=0.2)
    numeric = make_table(3, ["numeric"] * 3, 20, styles=["normal"])
    by_array = NearestNeighbors(metric=metric, feature_weights=[1.0, 2.5, 1.0])
    by_name = NearestNeighbors(metric=metric, feature_weights={"x1": 2.5})
    by_params = NearestNeighbors(metric=metric, metric_params={"w": [1.0, 2.5, 1.0]})
    for own in (table, numeric):
        wanted = by_array.fit(own.X).kneighbors(own.Q)
        for model in (by_name, by_params):
            found = model.fit(own.X).kneighbors(own.Q)
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED])
@pytest.mark.parametrize("missing", ["partial", "mismatch"])
def test_a_column_of_weight_zero_has_no_effect(metric: str, missing: str) -> None:
    table = make_table(5, [*KINDS, "numeric"], 20, missing=0.2)
    parameters = {"metric": metric, "missing": missing}
    weighted = NearestNeighbors(7, feature_weights=[1.0, 0.0, 2.0, 1.0], **parameters)
    rest = NearestNeighbors(7, feature_weights=[1.0, 2.0, 1.0], **parameters)
    found = weighted.fit(table.X).kneighbors(table.Q)
    wanted = rest.fit(table.X.drop(columns="x1")).kneighbors(table.Q.drop(columns="x1"))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
    np.testing.assert_array_equal(found[1], wanted[1])


# Ties


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@examples(12)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 400), k=st.integers(1, 12))
def test_ties_of_distances_go_to_the_smaller_row(algorithm: str, seed: int, n: int, k: int) -> None:
    """Whole numbers have exact distances: rows must be equal, not only distances."""
    rng = np.random.default_rng(seed)
    X, Q, k = rng.integers(-2, 3, (n, 2)).astype(float), rng.integers(-2, 3, (2, 2)), min(k, n)
    labels = rng.choice(CLASSES, n).tolist()
    naive = NaiveDistance(X.tolist(), ["numeric"] * 2)
    model = KNeighborsClassifier(k, algorithm=algorithm).fit(X, labels)
    distances, rows = model.kneighbors(Q)
    for i, query in enumerate(Q.tolist()):
        wanted = naive.nearest(query, k)
        assert rows[i].tolist() == [row for _, row in wanted]
        np.testing.assert_allclose(distances[i], [d for d, _ in wanted], rtol=1e-15)
        shares = class_shares(wanted, labels, model.classes_.tolist(), "uniform")
        assert model.predict_proba(Q)[i].tolist() == shares
        assert model.predict(Q)[i] == vote(shares, model.classes_.tolist())


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_tied_votes_go_to_the_first_class(weights: str) -> None:
    X, y = [[-1.0], [1.0], [-2.0], [2.0]], ["z", "b", "a", "z"]
    model = KNeighborsClassifier(2, weights=weights).fit(X, y)
    assert model.predict([[0.0]]).tolist() == ["b"]
    assert model.predict_proba([[0.0]]).tolist() == [[0.0, 0.5, 0.5]]
    three = KNeighborsClassifier(3, weights="uniform").fit(X[:3], [2, 1, 0])
    assert three.predict([[0.0]]).tolist() == [0]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "gower", "heom", "canberra"])
def test_duplicates_and_constant_columns(metric: str, weights: str) -> None:
    X = np.tile([[1.0, 5.0], [2.0, 5.0]], (6, 1))
    y = np.array(["a", "b", "a", "c"] * 3)
    model = KNeighborsClassifier(6, weights=WEIGHTS[weights], metric=metric).fit(X, y)
    distances, rows = model.kneighbors(X[:1])
    np.testing.assert_allclose(distances, 0.0, atol=1e-12)
    assert rows.tolist() == [[0, 2, 4, 6, 8, 10]]
    assert model.predict_proba(X[:1]).tolist() == [[1.0, 0.0, 0.0]]
    assert model.kneighbors(n_neighbors=5)[1][0].tolist() == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED, "cosine", "hamming"])
@pytest.mark.parametrize("scale", [None, "range", "std"])
def test_one_row(metric: str, scale: str | None) -> None:
    if scale is not None and metric not in COORDINATE:
        pytest.skip("scale requires a coordinate metric")
    parameters = {"metric": metric, "scale": scale}
    classifier = KNeighborsClassifier(1, **parameters).fit([[1.0, 2.0]], ["only"])
    assert classifier.predict([[5.0, 5.0]]).tolist() == ["only"]
    assert classifier.predict_proba([[1.0, 2.0]]).tolist() == [[1.0]]
    regressor = KNeighborsRegressor(1, **parameters).fit([[1.0, 2.0]], [4.5])
    assert regressor.predict([[5.0, 5.0]]).tolist() == [4.5]
    assert classifier.kneighbors([[1.0, 2.0]])[1].tolist() == [[0]]


def test_only_neighbors_at_distance_zero_vote() -> None:
    X, y = [[0.0], [0.0], [1.0], [1e-9]], ["b", "b", "a", "a"]
    model = KNeighborsClassifier(4, weights="distance").fit(X, y)
    assert model.predict_proba([[0.0]]).tolist() == [[0.0, 1.0]]
    regressor = KNeighborsRegressor(4, weights="distance").fit(X, [1.0, 2.0, 50.0, 60.0])
    assert regressor.predict([[0.0]]).tolist() == [1.5]


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-300])
def test_tiny_distances_have_finite_weights(unit: float) -> None:
    X, y = [[0.0], [3 * unit], [9 * unit]], ["a", "b", "c"]
    model = KNeighborsClassifier(3, weights="distance").fit(X, y)
    found = model.predict_proba([[unit]])
    np.testing.assert_allclose(found, [np.array([8, 4, 1]) / 13], rtol=1e-9)
    regressor = KNeighborsRegressor(3, weights="distance").fit(X, [0.0, 13.0, 26.0])
    np.testing.assert_allclose(regressor.predict([[unit]]), 6.0, rtol=1e-9)


# Missing values


def test_rows_without_a_common_column_do_not_vote() -> None:
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 1.0], [np.nan, 4.0]])
    y = ["a", "b", "c", "c"]
    model = KNeighborsClassifier(4).fit(X, y)
    distances, rows = model.kneighbors([[1.0, np.nan]])
    np.testing.assert_allclose(distances, [[0.0, math.sqrt(2.0), np.inf, np.inf]], rtol=1e-15)
    assert rows.tolist() == [[0, 1, 2, 3]]
    assert model.predict_proba([[1.0, np.nan]]).tolist() == [[0.5, 0.5, 0.0]]
    # No neighbor votes: the frequencies of the training rows.
    unknown = [[np.nan, np.nan]]
    assert model.predict_proba(unknown).tolist() == [[0.25, 0.25, 0.5]]
    assert model.predict(unknown).tolist() == ["c"]
    for weights in WEIGHTS.values():
        regressor = KNeighborsRegressor(2, weights=weights).fit(X, [1.0, 2.0, 3.0, 10.0])
        assert regressor.predict(unknown).tolist() == [4.0]
        own = KNeighborsClassifier(2, weights=weights).fit(X, y)
        assert own.predict_proba(unknown).tolist() == [[0.25, 0.25, 0.5]]


def test_mismatch_adds_the_weight_of_a_missing_value() -> None:
    X = np.array([[1.0, 2.0], [np.nan, 2.0]])
    for metric, wanted in {
        "euclidean": [0.0, math.sqrt(3.0)],
        "manhattan": [0.0, 3.0],
        "sqeuclidean": [0.0, 3.0],
        "chebyshev": [0.0, 3.0],
        "heom": [0.0, math.sqrt(3.0)],
        "gower": [0.0, 0.75],
    }.items():
        parameters = {"metric": metric, "missing": "mismatch", "feature_weights": [3.0, 1.0]}
        model = NearestNeighbors(2, **parameters).fit(X)
        np.testing.assert_allclose(model.kneighbors(X[:1])[0], [wanted], rtol=1e-15)
        # Missing in both rows as well.
        both = model.kneighbors(X[1:])[0]
        np.testing.assert_allclose(both, [[wanted[1], wanted[1]]], rtol=1e-15)


def test_partial_distances_are_those_of_nan_euclidean() -> None:
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(300, 5)), rng.normal(size=(20, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    Q[rng.random(Q.shape) < 0.2] = np.nan
    X[:, 0], Q[:, 0] = rng.normal(size=300), rng.normal(size=20)
    wanted = np.sort(nan_euclidean_distances(Q, X), axis=1)[:, :9]
    for algorithm in ("auto", "brute"):
        found = NearestNeighbors(9, algorithm=algorithm).fit(X).kneighbors(Q)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("metric", [*COORDINATE, *MIXED])
@pytest.mark.parametrize("missing", RULES)
def test_many_rows_with_missing_values(metric: str, missing: str) -> None:
    """Enough rows for trees, in groups with the same known columns."""
    table = make_table(7, ["numeric"] * 3, 3000, 8, missing=0.1, styles=["grid", "normal"])
    naive = NaiveDistance(table.rows, table.kinds, metric, missing=missing)
    model = NearestNeighbors(11, metric=metric, missing=missing).fit(table.X)
    distances, rows = model.kneighbors(table.Q)
    assert_neighbors((distances[:2], rows[:2]), naive, table.queries[:2], 11)
    brute = NearestNeighbors(11, metric=metric, missing=missing, algorithm="brute").fit(table.X)
    np.testing.assert_array_equal(brute.kneighbors(table.Q), (distances, rows))


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "products", "brute"])
def test_the_first_rows_are_those_at_infinite_distance(algorithm: str) -> None:
    """Rows without a common column are tied, also where an index has those of most rows."""
    X = np.concatenate([np.arange(1500.0), [np.nan, np.nan]])[:, None]
    model = NearestNeighbors(3, algorithm=algorithm).fit(X)
    assert model.kneighbors([[np.nan]])[1].tolist() == [[0, 1, 2]]
    assert model.kneighbors()[1][1500:].tolist() == [[0, 1, 2], [0, 1, 2]]
    assert model.kneighbors([[7.0]], n_neighbors=1502)[1][0, 1500:].tolist() == [1500, 1501]
    changed = NearestNeighbors(3, algorithm=algorithm).fit(X[:1200]).partial_fit(X[1200:])
    assert changed.kneighbors([[np.nan]])[1].tolist() == [[0, 1, 2]]


# Kinds of columns


def test_text_categories_and_booleans_are_nominal() -> None:
    X = pd.DataFrame(
        {"color": ["red", "blue", "red"], "flag": [True, False, False], "x": [0.0, 0.0, 0.0]}
    )
    model = NearestNeighbors(3).fit(X)
    distances, rows = model.kneighbors(X[:1])
    assert rows.tolist() == [[0, 2, 1]]
    np.testing.assert_allclose(distances, [[0.0, 1.0, math.sqrt(2.0)]], rtol=1e-15)
    # Nominal columns are not scaled.
    scaled = NearestNeighbors(3, scale="std").fit(X)
    np.testing.assert_array_equal(scaled.kneighbors(X[:1])[0], distances)


def test_ordinal_columns_have_ranks() -> None:
    sizes = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)
    X = pd.DataFrame({"size": pd.Series(["S", "XL", "M"], dtype=sizes)})
    found = NearestNeighbors(3, metric="manhattan").fit(X).kneighbors(X[:1])
    assert found[0].tolist() == [[0.0, 1.0, 3.0]]
    assert found[1].tolist() == [[0, 2, 1]]
    found = NearestNeighbors(3, metric="manhattan", scale="range").fit(X).kneighbors(X[:1])
    np.testing.assert_allclose(found[0], [[0.0, 1 / 3, 1.0]])
    found = NearestNeighbors(3, metric="gower").fit(X).kneighbors(X[:1])
    np.testing.assert_allclose(found[0], [[0.0, 1 / 3, 1.0]])


def test_a_category_that_training_rows_lack_is_missing() -> None:
    X = pd.DataFrame({"color": ["red", "blue", "red"], "x": [0.0, 1.0, 2.0]})
    new = pd.DataFrame({"color": ["pink"], "x": [0.0]})
    missing = pd.DataFrame({"color": pd.Series([None], dtype=object), "x": [0.0]})
    for rule in ("partial", "mismatch"):
        model = NearestNeighbors(3, missing=rule).fit(X)
        with pytest.warns(UnseenCategoryWarning, match="pink"):
            found = model.kneighbors(new)
        wanted = model.kneighbors(missing)
        np.testing.assert_array_equal(found[0], wanted[0])
        np.testing.assert_array_equal(found[1], wanted[1])


# Units and algorithms


@pytest.mark.parametrize("factor", [1e-200, 1e200, 2.0**-600, 2.0**600])
@pytest.mark.parametrize("metric", [*(m for m in COORDINATE if m != "sqeuclidean"), *MIXED,
                                    "cosine", "correlation", "canberra", "braycurtis",
                                    "seuclidean", "mahalanobis"])  # fmt: skip
def test_units_do_not_change_predictions(metric: str, factor: float) -> None:
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=(300, 4)), rng.normal(size=(30, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    scales = [None, "range", "std"] if metric in COORDINATE else [None]
    for weights in ("uniform", "distance"):
        for scale in scales:
            parameters: dict[str, Any] = {"weights": weights, "metric": metric, "scale": scale}
            if metric == "minkowski":
                parameters["p"] = 3
            plain = KNeighborsClassifier(**parameters).fit(X, y)
            scaled = KNeighborsClassifier(**parameters).fit(X * factor, y)
            np.testing.assert_array_equal(scaled.predict(Q * factor), plain.predict(Q))
            found, wanted = scaled.predict_proba(Q * factor), plain.predict_proba(Q)
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
            plain_number = KNeighborsRegressor(**parameters).fit(X, X[:, 3])
            number = KNeighborsRegressor(**parameters).fit(X * factor, X[:, 3])
            np.testing.assert_allclose(
                number.predict(Q * factor), plain_number.predict(Q), rtol=1e-9
            )


def test_large_powers_raise_instead_of_underflowing() -> None:
    """Small differences beside a large one, in other rows, have their powers up to p = 14."""
    X = [[0.0, 0.0], [1e-4, 0.0], [3e-4, 1e-5], [9.0, 9.0]]
    distances, rows = NearestNeighbors(3, p=14).fit(X).kneighbors([[2.5e-4, 0.0]])
    np.testing.assert_allclose(distances, [[5e-5, 1.5e-4, 2.5e-4]], rtol=1e-9)
    assert rows.tolist() == [[2, 1, 0]]
    with pytest.raises(ValueError, match=r"p must be in .*metric='chebyshev' is their limit"):
        NearestNeighbors(3, p=15).fit(X)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
@pytest.mark.parametrize("missing", ["partial", "mismatch"])
def test_squares_that_underflow_or_overflow_beside_nominal_columns(
    missing: str, factor: float
) -> None:
    X = pd.DataFrame({"x": np.array([9.0, 5.0, 1.0, 0.0]) * factor, "c": list("aaab")})
    with pytest.raises(ValueError, match=r"beside nominal columns.*Set scale='range'"):
        NearestNeighbors(4, missing=missing).fit(X)
    plain = X.assign(x=X["x"] / factor)
    ours, wanted = (NearestNeighbors(4, missing=missing, scale="range").fit(F) for F in (X, plain))
    np.testing.assert_array_equal(ours.kneighbors(X)[1], wanted.kneighbors(plain)[1])


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
@pytest.mark.parametrize("missing", ["partial", "mismatch"])
def test_tiny_numbers_beside_nominal_columns(metric: str, missing: str) -> None:
    """Rows of the same category are ordered by their numbers."""
    X = pd.DataFrame({"x": np.array([9.0, 5.0, 1.0, 0.0]) * 1e-200, "c": list("aaab")})
    Q = pd.DataFrame({"x": [0.0], "c": ["a"]})
    distances, rows = NearestNeighbors(4, metric=metric, missing=missing).fit(X).kneighbors(Q)
    assert rows.tolist() == [[2, 1, 0, 3]]
    np.testing.assert_allclose(distances, [[1e-200, 5e-200, 9e-200, 1.0]], rtol=1e-9)


@pytest.mark.parametrize("parameters", [{"metric": "gower"}, {"scale": "range"}, {"scale": "std"}])
def test_ranges_that_overflow(parameters: dict[str, Any]) -> None:
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    if parameters == {"scale": "std"}:
        model = NearestNeighbors(2, **parameters).fit(X / 2)
        assert model.kneighbors([[5e307]])[1].tolist() == [[1, 2]]
    else:
        with pytest.raises(ValueError, match="got inf in column 0: rescale it"):
            NearestNeighbors(2, **parameters).fit(X)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_of_the_target_do_not_change_the_number_of_neighbors(factor: float) -> None:
    X = np.random.default_rng(6).normal(size=(60, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    plain = KNeighborsRegressor("loo").fit(X, y)
    assert KNeighborsRegressor("loo").fit(X, y * factor).n_neighbors_ == plain.n_neighbors_


def test_means_of_targets_do_not_overflow() -> None:
    X, y = np.arange(4.0)[:, None], np.array([1.5e308, -1.5e308, 1.5e308, 1.5e308])
    for weights in ("uniform", "distance"):
        model = KNeighborsRegressor(2, weights=weights).fit(X, y)
        np.testing.assert_allclose(model.predict([[0.5], [2.5]]), [0.0, 1.5e308], rtol=1e-12)


@pytest.mark.parametrize("n_columns", [2, 20])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski"])
def test_all_algorithms_give_equal_bits(metric: str, n_columns: int) -> None:
    rng = np.random.default_rng(3)
    X, Q = rng.normal(size=(1200, n_columns)), rng.normal(size=(20, n_columns))
    X[600:] = X[:600]
    y = rng.integers(0, 3, 1200)
    results = []
    for algorithm in ALGORITHMS:
        if algorithm == "products" and metric != "euclidean":
            continue
        parameters: dict[str, Any] = {"metric": metric, "algorithm": algorithm}
        if metric == "minkowski":
            parameters["p"] = 3
        model = KNeighborsClassifier(9, weights="distance", **parameters).fit(X, y)
        assert isinstance(model.index_report_, str)
        assert model.index_report_
        radius = NearestNeighbors(radius=1.5, **parameters).fit(X).radius_neighbors(Q)
        found = (*model.kneighbors(Q), model.predict_proba(Q), *model.kneighbors())
        results.append((*found, *map(np.concatenate, radius)))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.bool_])
def test_dtypes(algorithm: str, dtype: Any) -> None:
    X = np.random.default_rng(4).integers(0, 2, (400, 9)).astype(dtype)
    found = NearestNeighbors(5, algorithm=algorithm).fit(X).kneighbors(X[:20])
    wanted = NearestNeighbors(5, algorithm="brute").fit(X.astype(float)).kneighbors(X[:20] * 1.0)
    np.testing.assert_array_equal(found[1], wanted[1])
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)


def test_threads_give_equal_bits() -> None:
    table = make_table(9, [*KINDS, "numeric"], 900, 40, missing=0.1)
    one, two = (
        KNeighborsClassifier(7, weights="distance", n_jobs=n).fit(table.X, table.labels)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(table.Q), two.predict_proba(table.Q))
    np.testing.assert_array_equal(one.kneighbors(table.Q), two.kneighbors(table.Q))


# Leave-one-out


def draw_loo(data: st.DataObject) -> tuple[KnnTable, Any, dict[str, Any], int | None]:
    metric = data.draw(st.sampled_from(["euclidean", "manhattan", "heom"]))
    # Whole numbers: no distance is equal to another one but for rounding.
    own = {"styles": ["grid"]} if metric != "heom" else {"styles": ["normal"]}
    kinds = ["numeric"] * data.draw(st.integers(1, 3))
    n = data.draw(st.integers(2, 20))
    table = make_table(data.draw(st.integers(0, 10**6)), kinds, n, **own)
    weights = WEIGHTS[data.draw(st.sampled_from(list(WEIGHTS)))]
    limit = data.draw(st.one_of(st.none(), st.integers(1, n - 1)))
    return table, weights, {"metric": metric}, limit


def assert_curve(model: Any, wanted: list[LooPoint]) -> None:
    curve = model.loo_curve_
    np.testing.assert_array_equal(curve.n_neighbors, [point.k for point in wanted])
    np.testing.assert_allclose(curve.loss, [p.loss for p in wanted], rtol=1e-9, atol=1e-12)
    errors = [point.standard_error for point in wanted]
    np.testing.assert_allclose(curve.standard_error, errors, rtol=1e-9, atol=1e-9)
    # A loss at the limit is inside or outside by rounding, unless all rows are predicted alike.
    is_exact = min(wanted, key=lambda point: point.loss).standard_error == 0
    tolerance = 0.0 if is_exact and is_classifier(model) else 1e-9
    inside, outside = (one_standard_error(wanted, sign * tolerance) for sign in (1, -1))
    assert model.n_neighbors_ in (inside, outside)
    assert isinstance(model.n_neighbors_, int)
    if inside == outside:
        assert model.n_neighbors_ == inside


@examples(60)
@given(data=st.data())
def test_loo_has_the_curve_and_choice_of_the_naive_learner(data: st.DataObject) -> None:
    table, weights, parameters, limit = draw_loo(data)
    naive = NaiveDistance(table.rows, table.kinds, **parameters)
    max_k = min(len(table.rows) - 1, 50) if limit is None else limit
    for learner, target in (
        (KNeighborsClassifier, table.labels),
        (KNeighborsRegressor, table.numbers),
    ):
        model = learner("loo", max_neighbors=limit, weights=weights, **parameters)
        model.fit(table.X, target)
        wanted = loo_curve(loo_losses(naive, target, max_k, weights))
        if learner is KNeighborsClassifier and weights != "uniform":
            # Sums of weights that are equal but for rounding are ties of votes.
            continue
        assert_curve(model, wanted)
        fixed = learner(model.n_neighbors_, weights=weights, **parameters).fit(table.X, target)
        np.testing.assert_array_equal(model.predict(table.Q), fixed.predict(table.Q))


@pytest.mark.parametrize("weights", ["distance", "function"])
def test_loo_with_weights_of_numbers_without_ties(weights: str) -> None:
    table = make_table(11, ["numeric"] * 2, 40, styles=["normal"])
    naive = NaiveDistance(table.rows, table.kinds)
    model = KNeighborsClassifier("loo", weights=WEIGHTS[weights]).fit(table.X, table.labels)
    assert_curve(model, loo_curve(loo_losses(naive, table.labels, 39, WEIGHTS[weights])))


def test_loo_considers_fifty_neighbors_by_default() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = KNeighborsRegressor("loo").fit(X, X[:, 0])
    assert model.loo_curve_.n_neighbors.tolist() == list(range(1, 51))
    fixed = KNeighborsRegressor(3).fit(X, X[:, 0])
    assert fixed.n_neighbors_ == 3
    assert getattr(fixed, "loo_curve_", None) is None


def test_loo_by_hand() -> None:
    """Six rows on a line: the losses of each k can be counted."""
    X, y = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]], ["a", "a", "a", "b", "b", "b"]
    model = KNeighborsClassifier("loo").fit(X, y)
    # Up to two neighbors are of the own class, with three the third is the only other one, with
    # four the votes are tied and go to "a", with five the other class has three of five.
    np.testing.assert_allclose(model.loo_curve_.loss, [0, 0, 0, 0.5, 1])
    np.testing.assert_allclose(model.loo_curve_.standard_error, [0, 0, 0, 0.5 / 5**0.5, 0])
    assert model.n_neighbors_ == 3


# Known results


def test_textbook_table() -> None:
    """Exercise 2.7 of James, Witten, Hastie & Tibshirani, and its solution by hand."""
    X = [[0, 3, 0], [2, 0, 0], [0, 1, 3], [0, 1, 2], [-1, 0, 1], [1, 1, 1]]
    y = ["Red", "Red", "Red", "Green", "Green", "Red"]
    one, three = (KNeighborsClassifier(k).fit(X, y) for k in (1, 3))
    distances, rows = three.kneighbors([[0, 0, 0]], n_neighbors=6)
    np.testing.assert_allclose(distances**2, [[2, 3, 4, 5, 9, 10]], rtol=1e-15)
    assert rows.tolist() == [[4, 5, 1, 3, 0, 2]]
    assert one.predict([[0, 0, 0]]).tolist() == ["Green"]
    assert three.predict([[0, 0, 0]]).tolist() == ["Red"]
    assert three.predict_proba([[0, 0, 0]])[0].tolist() == [1 / 3, 2 / 3]


def test_mixed_distances_by_hand() -> None:
    X = pd.DataFrame(
        {
            "age": [20.0, 40.0, 60.0, np.nan],
            "color": ["red", "blue", "red", "blue"],
            "size": pd.Categorical(["S", "L", "M", "S"], ["S", "M", "L"], ordered=True),
        }
    )
    query = pd.DataFrame(
        {
            "age": [30.0],
            "color": ["red"],
            "size": pd.Categorical(["M"], ["S", "M", "L"], ordered=True),
        }
    )
    # Differences of the query: age 1/4, 1/4, 3/4, missing; color 0, 1, 0, 1; size 1/2, 1/2, 0, 1/2.
    gower = NearestNeighbors(4, metric="gower").fit(X).kneighbors(query)
    assert gower[1].tolist() == [[0, 2, 1, 3]]
    np.testing.assert_allclose(gower[0], [[0.25, 0.25, 1.75 / 3, 0.75]], rtol=1e-12)
    heom = NearestNeighbors(4, metric="heom").fit(X).kneighbors(query)
    squares = [0.3125, 0.5625, 1.3125, 2.25]
    assert heom[1].tolist() == [[0, 2, 1, 3]]
    np.testing.assert_allclose(heom[0], [np.sqrt(squares)], rtol=1e-12)
    euclidean = NearestNeighbors(4).fit(X).kneighbors(query)
    # The last row has two of three columns: (1 + 1) * 3 / 2.
    assert euclidean[1].tolist() == [[3, 0, 1, 2]]
    np.testing.assert_allclose(euclidean[0] ** 2, [[3.0, 101.0, 102.0, 900.0]], rtol=1e-12)


def iris() -> tuple[Array, Array]:
    return ceiba.datasets.load("iris").table.block, np.array([*"s" * 50, *"c" * 50, *"v" * 50])


@pytest.mark.parametrize("name", ["knn", "knn1", "condense", "knn.cv"])
def test_iris_is_classified_as_by_r(name: str) -> None:
    """Where neither the k-th distance nor the votes are tied; R resolves ties otherwise."""
    expected = json.loads((ROOT / "tests/golden/class_knn/iris.json").read_text())[name]
    X, y = iris()
    k, n = expected["k"], 150
    first = np.concatenate([np.arange(25) + 50 * species for species in range(3)])
    train = np.arange(n) if name == "knn.cv" else first
    queries = train if name == "knn.cv" else first + 25
    if "keep" in expected:
        train = train[np.array(expected["keep"]) - 1]
    model = KNeighborsClassifier(k).fit(X[train], y[train])
    if name == "knn.cv":
        rows = model.kneighbors()[1]
        shares = np.stack([(y[rows] == c).mean(axis=1) for c in model.classes_], axis=1)
        predicted = model.classes_[shares.argmax(axis=1)]
    else:
        shares, predicted = model.predict_proba(X[queries]), model.predict(X[queries])
    compared = 0
    for i, query in enumerate(queries):
        excluded = i if name == "knn.cv" else None
        votes = class_knn(X[train].tolist(), y[train].tolist(), X[query].tolist(), k, excluded)
        if votes.n_voters == k and len(votes.winners) == 1:
            assert predicted[i] == expected["class"][i]
            assert shares[i].max() == pytest.approx(votes.prob)
            compared += 1
    assert compared > 0.6 * len(queries)


@examples(30)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), k=st.integers(1, 9))
def test_votes_are_those_of_r_without_ties(seed: int, n: int, k: int) -> None:
    table = make_table(seed, ["numeric"] * 3, n, 4, styles=["normal", "grid"])
    k = min(k, n)
    model = KNeighborsClassifier(k).fit(table.X, table.labels)
    predicted, shares = model.predict(table.Q), model.predict_proba(table.Q)
    for i, query in enumerate(table.queries):
        votes = class_knn(table.rows, table.labels, query, k)
        if votes.n_voters == k and len(votes.winners) == 1:
            assert predicted[i] == votes.winners[0]
            assert shares[i].max() == pytest.approx(votes.prob)


# Weights that are all zero


def test_neighbors_of_weight_zero_do_not_vote() -> None:
    X, y = [[0.0], [1.0], [2.0], [9.0]], ["a", "b", "b", "b"]
    near = KNeighborsClassifier(2, weights=lambda d: d < 1.5).fit(X, y)
    assert near.predict_proba([[0.0], [50.0]]).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    regressor = KNeighborsRegressor(2, weights=lambda d: d < 1.5).fit(X, [0.0, 2.0, 4.0, 6.0])
    assert regressor.predict([[0.0], [50.0]]).tolist() == [1.0, 3.0]
