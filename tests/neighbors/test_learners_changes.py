"""Models whose parameters, rows or columns change, and what they report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba.base import ParameterError
from ceiba.data.identifiers import IdentifierWarning
from ceiba.neighbors import make_distance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
FRAME = pd.DataFrame(X, columns=[*"abc"])


@pytest.mark.parametrize("metric", ["euclidean", "gower", "heom"])
def test_identifiers_do_not_enter_distances(metric: str) -> None:
    rows = FRAME.assign(id=[f"u{i}" for i in range(60)])
    with pytest.warns(IdentifierWarning):
        model = NearestNeighbors(5, metric=metric).fit(rows)
    plain = NearestNeighbors(5, metric=metric).fit(FRAME)
    distances, indices = model.kneighbors(rows)
    np.testing.assert_array_equal(indices, plain.kneighbors(FRAME)[1])
    np.testing.assert_allclose(distances, plain.kneighbors(FRAME)[0], rtol=1e-12)


def test_only_identifiers_raise() -> None:
    with (
        pytest.warns(IdentifierWarning),
        pytest.raises(ValueError, match="X has no column to compute distances with"),
    ):
        NearestNeighbors(1).fit(pd.DataFrame({"id": [f"u{i}" for i in range(60)]}))


def test_weights_of_a_series_are_by_name() -> None:
    weights = {"c": 9.0, "a": 1.0, "b": 2.0}
    model = NearestNeighbors(1, feature_weights=pd.Series(weights)).fit(FRAME)
    assert model.index_.distance.weights.tolist() == [1.0, 2.0, 9.0]


def test_predictions_of_training_rows_exclude_themselves() -> None:
    model = KNeighborsRegressor(3).fit(X[:4], [1.0, 2.0, 3.0, 100.0])
    np.testing.assert_allclose(model.predict(None), [35.0, 104 / 3, 103 / 3, 2.0])
    with pytest.raises(ValueError, match="Expected n_neighbors < n_samples_fit"):
        KNeighborsRegressor(4).fit(X[:4], [1.0, 2.0, 3.0, 100.0]).predict(None)


def test_a_column_that_was_missing_gets_categories() -> None:
    first = pd.DataFrame({"x": [1.0, 2.0], "c": [None, None]}).astype({"c": object})
    more = pd.DataFrame({"x": [3.0, 4.0, 5.0], "c": ["b", "c", "b"]})
    both = pd.concat([first, more], ignore_index=True)
    grown = NearestNeighbors(3).fit(first).partial_fit(more)
    for one, two in zip(
        grown.kneighbors(), NearestNeighbors(3).fit(both).kneighbors(), strict=True
    ):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    "change", [{"algorithm": "zzz"}, {"scale": "zzz"}, {"n_neighbors": 0}, {"weights": "inv"}]
)
def test_changed_parameters_are_validated(change: dict[str, Any]) -> None:
    model = KNeighborsClassifier(3).fit(X, Y).set_params(**change)
    with pytest.raises(ParameterError, match=next(iter(change))):
        model.partial_fit(X[:1], Y[:1])
    with pytest.raises(ParameterError, match=next(iter(change))):
        model.forget([0])


@pytest.mark.parametrize("number", [2.7, "x", 0])
def test_a_changed_number_of_neighbors_is_checked(number: Any) -> None:
    model = KNeighborsClassifier(3).fit(X, Y)
    assert model.set_params(n_neighbors=7).kneighbors(X)[1].shape == (60, 7)
    with pytest.raises(ValueError, match="n_neighbors must be an int"):
        model.set_params(n_neighbors=number).predict(X)


def test_leave_one_out_set_after_a_fit_requires_another() -> None:
    model = KNeighborsClassifier(3).fit(X, Y).set_params(n_neighbors="loo")
    with pytest.raises(ValueError, match="fit the model again"):
        model.predict(X)


def test_spellings_of_choices() -> None:
    model = KNeighborsClassifier("LOO", metric="Gower").fit(FRAME, Y)
    plain = KNeighborsClassifier("loo", metric="gower").fit(FRAME, Y)
    np.testing.assert_array_equal(model.predict(FRAME), plain.predict(FRAME))


def test_declared_classes_stay() -> None:
    model = KNeighborsClassifier(1).partial_fit(X, Y, classes=["maybe", "no", "yes"])
    assert model.forget([0]).classes_.tolist() == ["maybe", "no", "yes"]
    assert model.predict_proba(X).shape == (60, 3)
    no = np.flatnonzero(model.predict(X[1:]) == "no")
    assert model.forget(no).classes_.tolist() == ["maybe", "yes"]
    assert model.partial_fit(X[:1], ["never"]).classes_.tolist() == ["maybe", "never", "yes"]


def test_the_cost_is_that_of_the_last_call() -> None:
    model = KNeighborsClassifier(3, algorithm="brute").fit(X, Y)
    assert (model.cost().n_queries, model.cost().n_distances) == (0, 0)
    model.predict(X[:10])
    assert (model.cost().n_queries, model.cost().n_distances) == (10, 600)
    model.kneighbors(X[:4])
    assert (model.cost().n_queries, model.cost().n_distances) == (4, 240)
    assert model.cost().stored_bytes == X.nbytes + 4 * len(X)


@pytest.mark.parametrize("metric", ["mahalanobis", "seuclidean", lambda x, y: 0.0])
def test_factors_without_effect_raise(metric: Any) -> None:
    with pytest.raises(ValueError, match="factors have no effect"):
        make_distance(metric, factors=np.ones(3))


@pytest.mark.parametrize("metric", ["cosine", "seuclidean", "mahalanobis"])
def test_missing_values_in_queries_name_the_metric(metric: str) -> None:
    model = NearestNeighbors(1, metric=metric).fit(X)
    with pytest.raises(ValueError, match="which this metric does not accept"):
        model.kneighbors(np.full((1, 3), np.nan))


def test_explanations_show_the_largest_shares() -> None:
    wide = np.tile(X, (1, 3)) * np.arange(1, 10)
    text = str(KNeighborsClassifier(2).fit(wide, Y).explain(wide[:1] + 0.5))
    head = text.splitlines()[1].split()
    assert head[-1] == "others"
    assert len(head) == 4 + 6 + 1


def test_later_changes_of_the_callers_arrays_change_nothing() -> None:
    rows, numbers = X.copy(), X[:, 0].copy()
    model = KNeighborsRegressor(3).fit(rows, numbers)
    before = model.predict(X)
    rows[:], numbers[:] = 0.0, 7.0
    np.testing.assert_array_equal(model.predict(X), before)
