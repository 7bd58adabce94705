"""The naive learners of nearest neighbors against other formulas and R's reference output."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ceiba
from tests.budget import examples
from tests.oracles import knn_naive, neighbors_naive
from tests.oracles.knn_naive import COORDINATE, LooPoint, NaiveDistance, class_knn
from tests.oracles.knn_tables import KnnTable, tables
from tests.paths import ROOT

R = json.loads((ROOT / "tests" / "golden" / "class_knn" / "iris.json").read_text())


def iris() -> tuple[list[list[float]], list[str]]:
    rows = ceiba.datasets.load("iris").table.block.tolist()
    return rows, [*"s" * 50, *"c" * 50, *"v" * 50]


def halves() -> tuple[list[int], list[int]]:
    first = [50 * species + i for species in range(3) for i in range(25)]
    return first, [i + 25 for i in first]


def assert_like_r(found: list[Any], expected: dict[str, Any]) -> None:
    for votes, label in zip(found, expected["class"], strict=True):
        assert label in votes.winners
    if "prob" in expected:
        np.testing.assert_allclose([votes.prob for votes in found], expected["prob"], atol=1e-7)


@pytest.mark.parametrize("name", ["knn", "knn1", "condense"])
def test_votes_are_those_of_r(name: str) -> None:
    rows, labels = iris()
    train, queries = halves()
    if "keep" in R[name]:
        train = [train[i - 1] for i in R[name]["keep"]]
    own, own_labels = [rows[i] for i in train], [labels[i] for i in train]
    found = [class_knn(own, own_labels, rows[q], R[name]["k"]) for q in queries]
    assert_like_r(found, R[name])


def test_leave_one_out_votes_are_those_of_r() -> None:
    rows, labels = iris()
    found = [class_knn(rows, labels, row, 3, excluded=i) for i, row in enumerate(rows)]
    assert_like_r(found, R["knn.cv"])


@pytest.mark.parametrize("metric", COORDINATE)
@examples(30)
@given(table=tables(kinds=["numeric"], with_missing=False))
def test_complete_rows_have_the_distances_of_the_formulas(metric: str, table: KnnTable) -> None:
    distance = NaiveDistance(table.rows, table.kinds, metric)
    name = "euclidean" if metric == "minkowski" else metric
    wanted = neighbors_naive.DISTANCES[name](table.rows[0], table.queries[0])
    assert distance(table.rows[0], table.queries[0]) == pytest.approx(wanted)


@pytest.mark.parametrize("metric", ["gower", "heom"])
@examples(30)
@given(table=tables(kinds=["numeric", "ordinal"]), seed=st.integers(0, 99))
def test_mixed_distances_are_those_of_the_formulas(metric: str, table: KnnTable, seed: int) -> None:
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(table.kinds)).tolist()
    distance = NaiveDistance(table.rows, table.kinds, metric, feature_weights=weights)
    x, y = (
        [math.nan if value is None else value for value in row]
        for row in (table.rows[0], table.queries[0])
    )
    formula = getattr(neighbors_naive, metric)
    wanted = formula(x, y, [False] * len(x), distance.divisors, weights)
    assert distance(table.rows[0], table.queries[0]) == pytest.approx(wanted)


def test_one_standard_error_by_hand() -> None:
    curve = [LooPoint(1, 0.4, 0.3), LooPoint(2, 0.2, 0.1), LooPoint(3, 0.35, 0.1)]
    assert knn_naive.one_standard_error(curve) == 2
    curve = [LooPoint(1, 0.2, 0.1), LooPoint(2, 0.2, 0.3), LooPoint(3, 0.3, 0.1)]
    # The smallest k among equal minima: the limit is 0.2 + 0.1.
    assert knn_naive.one_standard_error(curve, 1e-12) == 3
    assert knn_naive.one_standard_error([*curve, LooPoint(4, 0.4, 0.0)], 1e-12) == 3
