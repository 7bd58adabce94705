"""Rows that are added to and removed from learners of nearest neighbors, and model files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import ceiba
from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba._typing import Array
from ceiba.data import UnseenCategoryWarning
from tests.budget import examples
from tests.oracles.knn_tables import CLASSES, KINDS, KnnTable, make_table

# All that depends on the training rows: scales, ranges, variances, trees, groups of rows with the
# same missing columns.
SETTINGS: list[dict[str, Any]] = [
    {"algorithm": "kd_tree"},
    {"algorithm": "vp_tree", "metric": "manhattan"},
    {"algorithm": "products", "weights": "distance"},
    {"algorithm": "brute", "scale": "std"},
    {"scale": "range", "metric": "chebyshev"},
    {"metric": "minkowski", "p": 3, "feature_weights": [1.0, 2.0, 0.5]},
    {"metric": "cosine"},
    {"metric": "mahalanobis"},
    {"metric": "seuclidean", "weights": "distance"},
    {"metric": "gower"},
    {"metric": "heom"},
    {"n_neighbors": "loo", "max_neighbors": 4},
]
MIXED_SETTINGS: list[dict[str, Any]] = [
    {"weights": "distance"},
    {"scale": "range", "missing": "mismatch", "metric": "manhattan"},
    {"scale": "std"},
    {"metric": "gower", "feature_weights": {"x0": 3.0}},
    {"metric": "heom", "weights": "distance"},
    {"n_neighbors": "loo", "max_neighbors": 4, "metric": "heom"},
]
# Rows that stay: one of each class, and enough for five neighbors and variances.
N_KEPT = 8


def outputs(model: Any, Q: Any) -> dict[str, Any]:
    """Return all that a model computes, with row numbers."""
    found: dict[str, Any] = {
        "n_samples_fit_": model.n_samples_fit_,
        "n_neighbors_": model.n_neighbors_,
        "neighbors": model.kneighbors(Q, n_neighbors=6),
        "own neighbors": model.kneighbors(n_neighbors=4),
    }
    if hasattr(model, "predict"):
        found["predictions"] = model.predict(Q)
    if hasattr(model, "predict_proba"):
        found["probabilities"] = model.predict_proba(Q)
        found["classes"] = model.classes_
    curve = getattr(model, "loo_curve_", None)
    if curve is not None:
        found["curve"] = (curve.n_neighbors, curve.loss, curve.standard_error)
    if isinstance(model, NearestNeighbors):
        found["radius"] = [np.concatenate(own) for own in model.radius_neighbors(Q, 1.0)]
    return found


def assert_same_bits(one: Any, other: Any, Q: Any) -> None:
    found, wanted = outputs(one, Q), outputs(other, Q)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        for a, b in zip(np.atleast_1d(found[name]), np.atleast_1d(value), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=name)


def run_steps(
    model: Any, X: Any, y: Array, rng: np.random.Generator, n_steps: int, max_rows: int
) -> Array:
    """Add the rows in parts, remove some in between; return those that remain, in order."""
    first = int(rng.integers(N_KEPT, N_KEPT + max_rows))
    model.fit(X[:first], y[:first])
    rows, end = np.arange(first), first
    for _ in range(n_steps):
        if rng.random() < 0.5 and end < len(X):
            part = slice(end, min(len(X), end + int(rng.integers(1, max_rows + 1))))
            model.partial_fit(X[part], y[part])
            rows, end = np.concatenate([rows, np.arange(part.start, part.stop)]), part.stop
        elif len(rows) > N_KEPT:
            # The kept rows stay the first ones.
            size = int(rng.integers(1, min(max_rows, len(rows) - N_KEPT) + 1))
            removed = rng.choice(np.arange(N_KEPT, len(rows)), size, replace=False)
            model.forget(removed)
            rows = np.delete(rows, removed)
    return rows


def check_sequence(
    learner: Any, table: KnnTable, parameters: dict[str, Any], seed: int, n_steps: int, size: int
) -> None:
    if learner is NearestNeighbors:
        parameters = {
            name: value
            for name, value in parameters.items()
            if name not in ("weights", "max_neighbors") and value != "loo"
        }
    table.labels[:3] = CLASSES
    y = np.array(table.numbers if learner is KNeighborsRegressor else table.labels)
    X, Q = table.X, table.Q
    model = learner(**parameters)
    rows = run_steps(model, X, y, np.random.default_rng(seed), n_steps, size)
    wanted = learner(**parameters).fit(X.iloc[rows], y[rows])
    assert_same_bits(model, wanted, Q)


learners = pytest.mark.parametrize(
    "learner", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors]
)


@learners
@examples(24)
@given(
    settings=st.sampled_from(SETTINGS),
    seed=st.integers(0, 10**6),
    n_steps=st.integers(1, 8),
    grid=st.booleans(),
)
def test_a_sequence_equals_a_fit_on_the_remaining_rows(
    learner: Any, settings: dict[str, Any], seed: int, n_steps: int, grid: bool
) -> None:
    # Variances must not be zero.
    style = "grid" if grid and settings.get("metric") not in ("mahalanobis", "seuclidean") else None
    table = make_table(seed, ["numeric"] * 3, 60, styles=[style or "normal"])
    check_sequence(learner, table, settings, seed, n_steps, size=10)


@learners
@examples(24)
@given(
    settings=st.sampled_from(MIXED_SETTINGS), seed=st.integers(0, 10**6), n_steps=st.integers(1, 8)
)
def test_a_sequence_of_mixed_rows_equals_a_fit_on_the_remaining_rows(
    learner: Any, settings: dict[str, Any], seed: int, n_steps: int
) -> None:
    table = make_table(seed, KINDS, 60, missing=0.2)
    # Every category stays in the training rows.
    for i, (category, rank) in enumerate(zip("pqr", range(3), strict=True)):
        table.rows[i] = [float(i), category, float(rank)]
    check_sequence(learner, table, settings, seed, n_steps, size=10)


@pytest.mark.parametrize(
    "settings",
    [pytest.param(s, marks=[] if i < 4 else pytest.mark.slow) for i, s in enumerate(SETTINGS)],
    ids=str,
)
def test_a_sequence_of_many_rows_equals_a_fit_on_the_remaining_rows(
    settings: dict[str, Any],
) -> None:
    """Enough rows for trees, which are rebuilt or changed."""
    for seed in range(3):
        table = make_table(seed, ["numeric"] * 3, 3000, 20, styles=["normal"])
        check_sequence(KNeighborsClassifier, table, settings, seed, 12, size=600)


@learners
def test_partial_fit_starts_a_model(learner: Any) -> None:
    table = make_table(0, ["numeric"] * 3, 40, styles=["normal"])
    y = np.array(table.numbers if learner is KNeighborsRegressor else table.labels)
    X, Q = table.X, table.Q
    parts = learner()
    for i in range(0, 40, 10):
        parts.partial_fit(X[i : i + 10], y[i : i + 10])
    assert_same_bits(parts, learner().fit(X, y), Q)


def test_classes_are_those_of_all_rows_and_the_declared_ones() -> None:
    X = np.arange(6.0)[:, None]
    model = KNeighborsClassifier(1).partial_fit(X[:3], [0, 0, 1], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X[:1]).tolist() == [[1.0, 0.0, 0.0]]
    model.partial_fit(X[3:], [2, -1, 1])
    assert model.classes_.tolist() == [-1, 0, 1, 2]
    assert model.predict(X).tolist() == [0, 0, 1, 2, -1, 1]
    model.forget([3])
    assert model.classes_.tolist() == [-1, 0, 1]
    assert model.predict(X).tolist() == [0, 0, 1, 1, -1, 1]


def test_categories_are_those_of_the_remaining_rows() -> None:
    """A category whose rows are removed is missing in queries, as after a fit."""
    X = pd.DataFrame({"c": ["a", "b", "a", "b", "c"], "x": np.arange(5.0)})
    query = pd.DataFrame({"c": ["c"], "x": [0.0]})
    part = NearestNeighbors(2).fit(X[:4])
    with pytest.warns(UnseenCategoryWarning):
        wanted = part.kneighbors(query)
    more = NearestNeighbors(2).fit(X[:4]).partial_fit(X[4:])
    np.testing.assert_array_equal(
        more.kneighbors(query), NearestNeighbors(2).fit(X).kneighbors(query)
    )
    more.forget([4])
    with pytest.warns(UnseenCategoryWarning):
        np.testing.assert_array_equal(more.kneighbors(query), wanted)


def test_other_parameters_hold_from_the_next_call_on() -> None:
    X = np.random.default_rng(1).normal(size=(30, 3))
    model = NearestNeighbors(3).fit(X[:10]).set_params(metric="manhattan").partial_fit(X[10:])
    wanted = NearestNeighbors(3, metric="manhattan").fit(X)
    np.testing.assert_array_equal(model.kneighbors(X), wanted.kneighbors(X))


def test_rows_are_numbered_again_after_forget() -> None:
    X = np.arange(5.0)[:, None]
    model = NearestNeighbors(1).fit(X).forget([1, 3])
    assert model.kneighbors([[0.0], [2.0], [4.0]])[1].tolist() == [[0], [1], [2]]
    assert model.n_samples_fit_ == 3
    model.partial_fit([[9.0]])
    assert model.kneighbors([[8.0]])[1].tolist() == [[3]]
    model.forget([0])
    assert model.kneighbors([[8.0]])[1].tolist() == [[2]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([5], r"rows.*5"),
        ([-1], r"rows.*-1"),
        ([0.5], "rows"),
        ([[0, 1]], "rows"),
        ([0, 1, 2, 3, 4], "forget must leave"),
    ],
)
def test_rows_that_cannot_be_forgotten_raise(rows: Any, message: str) -> None:
    X = np.arange(5.0)[:, None]
    model = NearestNeighbors(1).fit(X)
    before = model.kneighbors(X)
    with pytest.raises(ValueError, match=message):
        model.forget(rows)
    np.testing.assert_array_equal(model.kneighbors(X), before)
    assert model.n_samples_fit_ == 5


def test_forgetting_needs_a_fit() -> None:
    with pytest.raises(NotFittedError):
        NearestNeighbors().forget([0])


def test_a_failed_partial_fit_leaves_the_model() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1] * 3)
    model = KNeighborsClassifier(2, missing="error").fit(X, y)
    before = outputs_of(model, X)
    for bad, labels in [
        (X[:, :1], y),
        (np.full((1, 2), np.nan), [0]),
        (np.full((1, 2), np.inf), [0]),
        (X, y[:2]),
    ]:
        with pytest.raises(ValueError):
            model.partial_fit(bad, labels)
        np.testing.assert_array_equal(outputs_of(model, X), before)
        assert model.n_samples_fit_ == 6


def outputs_of(model: Any, X: Array) -> Array:
    return np.hstack([model.predict_proba(X), *model.kneighbors(X)])


# Model files


MODELS: list[tuple[Any, dict[str, Any]]] = [
    (KNeighborsClassifier, {"weights": "distance"}),
    (KNeighborsClassifier, {"n_neighbors": "loo", "metric": "gower"}),
    (KNeighborsClassifier, {"feature_weights": {"x1": 3.0}, "missing": "mismatch"}),
    (KNeighborsRegressor, {"scale": "std", "metric": "manhattan"}),
    (KNeighborsRegressor, {"metric": "heom", "n_neighbors": "loo"}),
    (NearestNeighbors, {"metric": "minkowski", "p": 3, "scale": "range"}),
]


@pytest.mark.parametrize("form", ["file", "pickle"])
@pytest.mark.parametrize(("learner", "parameters"), MODELS)
def test_a_stored_model_gives_the_same_bits(
    learner: Any, parameters: dict[str, Any], form: str, tmp_path: Path
) -> None:
    table = make_table(4, KINDS, 70, 9, missing=0.15)
    y = table.numbers if learner is KNeighborsRegressor else table.labels
    X, Q = table.X, table.Q
    model = learner(**parameters).fit(X, y)
    assert_same_bits(restored(model, form, tmp_path), model, Q)
    # Also of a model whose rows have changed, and the stored model can change.
    model.forget([3, 60]).partial_fit(X[:5], y[:5])
    again = restored(model, form, tmp_path)
    assert_same_bits(again, model, Q)
    for own in (again, model):
        own.forget([0, 1]).partial_fit(X[7:9], y[7:9])
    assert_same_bits(again, model, Q)


@pytest.mark.parametrize("form", ["file", "pickle"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"algorithm": "kd_tree"},
        {"algorithm": "vp_tree"},
        {"algorithm": "products"},
        {"metric": "mahalanobis"},
        {"metric": "seuclidean"},
        {"metric": "cosine", "weights": "distance"},
    ],
    ids=str,
)
def test_a_stored_index_gives_the_same_bits(
    parameters: dict[str, Any], form: str, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).normal(size=(800, 4))
    model = KNeighborsClassifier(**parameters).fit(X, X[:, 0] > 0)
    assert_same_bits(restored(model, form, tmp_path), model, X[:30] + 0.1)


def restored(model: Any, form: str, folder: Path) -> Any:
    if form == "pickle":
        return pickle.loads(pickle.dumps(model))
    ceiba.save(model, folder / "model.ceiba")
    return ceiba.load(folder / "model.ceiba")


def test_functions_are_pickled_and_not_stored_in_files(tmp_path: Path) -> None:
    X = np.arange(6.0)[:, None]
    model = KNeighborsRegressor(2, weights=np.exp).fit(X, X[:, 0])
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises((ValueError, TypeError), match="weights"):
        ceiba.save(model, tmp_path / "model.ceiba")


def test_training_rows_are_copied() -> None:
    """A change of the caller's array after fit has no effect."""
    X, y = np.arange(8.0)[:, None], np.arange(8)
    model = KNeighborsRegressor(1, algorithm="brute").fit(X, y)
    frame = pd.DataFrame({"x": np.arange(8.0)})
    other = KNeighborsRegressor(1, algorithm="brute").fit(frame, y)
    X[:] = -1.0
    frame["x"] = -1.0
    y[:] = -1
    assert model.predict([[3.0]]).tolist() == [3.0]
    assert other.predict(pd.DataFrame({"x": [3.0]})).tolist() == [3.0]
