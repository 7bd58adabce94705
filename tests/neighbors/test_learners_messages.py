"""Wrong settings and wrong rows raise errors with the parameter, the rule and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba.base import ParameterError
from ceiba.neighbors import METRICS

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 0.0], [5.0, 7.0], [6.0, 1.5]])
Y = np.array([0, 1, 0, 1, 0, 1])
NAN = np.where(X == 7.0, np.nan, X)
MIXED = pd.DataFrame({"x": X[:, 0], "color": list("abcabc")})
COORDINATE = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "l1", "l2",
              "cityblock", "infinity", "p", "nan_euclidean")  # fmt: skip
BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "sokalmichener", "russellrao", "sokalsneath",
           "yule")  # fmt: skip


# Parameters: what each message must have, in any order.
WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"n_neighbors": 0}, ["n_neighbors", "0"]),
    ({"n_neighbors": -3}, ["n_neighbors", "-3"]),
    ({"n_neighbors": 2.5}, ["n_neighbors", "2.5"]),
    ({"n_neighbors": "cv"}, ["n_neighbors", "'loo'", "'cv'"]),
    ({"n_neighbors": True}, ["n_neighbors", "True"]),
    ({"max_neighbors": 5}, ["max_neighbors", "n_neighbors=5", "got 5"]),
    ({"n_neighbors": "loo", "max_neighbors": 0}, ["max_neighbors", "0"]),
    ({"n_neighbors": "loo", "max_neighbors": 6}, ["max_neighbors", "6"]),
    ({"weights": "inverse"}, ["weights", "'uniform'", "'distance'", "'inverse'"]),
    ({"metric": "angle"}, ["metric", "'angle'"]),
    ({"metric": 3}, ["metric", "3"]),
    ({"p": 0.5}, ["p", "0.5", "1"]),
    ({"p": -1}, ["p", "-1"]),
    ({"algorithm": "quadtree"}, ["algorithm", "'kd_tree'", "'quadtree'"]),
    ({"algorithm": "products", "metric": "manhattan"}, ["algorithm", "'products'", "'manhattan'"]),
    ({"algorithm": "kd_tree", "metric": "cosine2"}, ["metric", "'cosine2'"]),
    ({"scale": "minmax"}, ["scale", "'range'", "'std'", "'minmax'"]),
    ({"missing": "mean"}, ["missing", "'partial'", "'mismatch'", "'mean'"]),
    ({"feature_weights": [1.0, -2.0]}, ["feature_weights", "-2.0"]),
    ({"feature_weights": [1.0, np.nan]}, ["feature_weights", "nan"]),
    ({"feature_weights": [1.0, np.inf]}, ["feature_weights", "inf"]),
    ({"feature_weights": [1.0]}, ["feature_weights", "2", "1"]),
    ({"feature_weights": [0.0, 0.0]}, ["feature_weights"]),
    ({"feature_weights": {"x7": 1.0}}, ["feature_weights", "'x7'"]),
    ({"feature_weights": {"x0": -1.0}}, ["feature_weights", "-1.0"]),
    ({"feature_weights": [1.0, 1.0], "metric_params": {"w": [1.0, 2.0]}}, ["feature_weights", "w"]),
    ({"metric_params": {"V": [1.0, 1.0]}}, ["metric_params", "'V'"]),
    ({"metric_params": [1.0]}, ["metric_params", "[1.0]"]),
    ({"feature_weights": ["a", "b"]}, ["feature_weights", "'a'"]),
    ({"metric_params": {"q": 1.0}}, ["metric_params", "'q'"]),
    ({"metric": "seuclidean", "metric_params": {"V": [1.0]}}, ["V", "2"]),
    ({"metric": "seuclidean", "metric_params": {"V": [1.0, 0.0]}}, ["V", "positive"]),
    ({"metric": "mahalanobis", "metric_params": {"VI": -np.eye(2)}}, ["VI", "positive definite"]),
    ({"metric": "mahalanobis", "metric_params": {"VI": np.eye(3)}}, ["VI", "2"]),
    (
        {"metric": "mahalanobis", "metric_params": {"V": np.eye(2), "VI": np.eye(2)}},
        ["metric_params", "V", "VI"],
    ),
    ({"n_jobs": 0}, ["n_jobs", "0"]),
]


def message_of(error: pytest.ExceptionInfo[BaseException], parts: list[str]) -> None:
    text = str(error.value)
    assert [part for part in parts if part not in text] == [], text
    assert text.rstrip().endswith("."), text


@pytest.mark.parametrize(("parameters", "parts"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_parameters_raise(parameters: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ValueError) as error:
        KNeighborsClassifier(**parameters).fit(X, Y)
    message_of(error, parts)


@pytest.mark.parametrize("parameters", [p for p, _ in WRONG[:15]], ids=lambda v: str(v)[:60])
def test_wrong_parameters_are_parameter_errors(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        KNeighborsRegressor(**parameters).fit(X, Y)


@pytest.mark.parametrize("metric", METRICS)
def test_nominal_columns_require_a_coordinate_metric(metric: str) -> None:
    model = NearestNeighbors(1, metric=metric)
    if metric in COORDINATE:
        assert model.fit(MIXED).kneighbors(MIXED)[1].ravel().tolist() == list(range(6))
        return
    with pytest.raises(ValueError) as error:
        model.fit(MIXED)
    message_of(error, ["metric", f"'{metric}'"])


@pytest.mark.parametrize("metric", METRICS)
def test_missing_values_require_a_coordinate_metric(metric: str) -> None:
    model = NearestNeighbors(1, metric=metric)
    if metric in COORDINATE:
        assert model.fit(NAN).kneighbors(NAN)[0].ravel().tolist() == [0.0] * 6
        return
    with pytest.raises(ValueError, match="missing"):
        model.fit(NAN)
    params = {"seuclidean": {"V": [1.0, 1.0]}, "mahalanobis": {"VI": np.eye(2)}}
    rows = X.astype(bool) if metric in BOOLEAN else X
    model.set_params(metric_params=params.get(metric)).fit(rows)
    with pytest.raises(ValueError, match="missing"):
        model.kneighbors(NAN)


@pytest.mark.parametrize("metric", METRICS)
def test_scale_requires_a_metric_of_units(metric: str) -> None:
    for scale in ("range", "std"):
        model = NearestNeighbors(1, metric=metric, scale=scale)
        if metric in (*BOOLEAN, "hamming", "haversine", "seuclidean", "mahalanobis"):
            with pytest.raises(ParameterError) as error:
                model.fit(X)
            message_of(error, ["scale", f"'{scale}'", f"'{metric}'"])
        else:
            model.fit(X).kneighbors(X)


@pytest.mark.parametrize("metric", ["gower", "heom"])
def test_mixed_metrics_scale_themselves(metric: str) -> None:
    with pytest.raises(ParameterError) as error:
        NearestNeighbors(1, metric=metric, scale="std").fit(X)
    message_of(error, ["scale", "'std'", f"'{metric}'"])


@pytest.mark.parametrize("metric", METRICS)
def test_weights_of_columns_require_a_sum_or_maximum(metric: str) -> None:
    model = NearestNeighbors(1, metric=metric, feature_weights=[1.0, 2.0])
    if metric in COORDINATE:
        model.fit(X).kneighbors(X)
    elif metric in (*BOOLEAN, "haversine", "cosine", "correlation", "mahalanobis", "braycurtis"):
        with pytest.raises(ParameterError) as error:
            model.fit(X)
        message_of(error, ["feature_weights", f"'{metric}'"])


def test_missing_values_raise_where_they_are_errors() -> None:
    for metric in ("euclidean", "gower", "heom"):
        model = NearestNeighbors(1, metric=metric, missing="error")
        with pytest.raises(ValueError) as error:
            model.fit(NAN)
        message_of(error, ["missing", "'error'"])
        model.fit(X)
        with pytest.raises(ValueError) as error:
            model.kneighbors(NAN)
        message_of(error, ["missing", "'error'"])


@pytest.mark.parametrize("learner", [KNeighborsClassifier, KNeighborsRegressor])
def test_loo_needs_two_rows(learner: Any) -> None:
    with pytest.raises(ValueError) as error:
        learner("loo").fit(X[:1], Y[:1])
    message_of(error, ["'loo'", "1"])


def test_loo_needs_a_target() -> None:
    with pytest.raises(ParameterError) as error:
        NearestNeighbors("loo").fit(X)
    message_of(error, ["n_neighbors", "'loo'"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: KNeighborsClassifier().fit(X, Y[:3]),
        lambda: KNeighborsClassifier().fit(X[:0], Y[:0]),
        lambda: KNeighborsClassifier().fit(X[:, 0], Y),
        lambda: KNeighborsClassifier().fit(X, None),
        lambda: KNeighborsRegressor().fit(X, np.full(6, np.nan)),
        lambda: KNeighborsRegressor().fit(X, list("abcdef")),
        lambda: KNeighborsClassifier().fit(np.where(X == 7, np.inf, X), Y),
        lambda: KNeighborsClassifier(1).fit(X, Y).predict([[np.inf, 0.0]]),
        lambda: KNeighborsClassifier(1).fit(X, Y).kneighbors(X, n_neighbors=0),
        lambda: KNeighborsClassifier(1).fit(X, Y).kneighbors(X, n_neighbors=1.5),
        lambda: KNeighborsClassifier(1).fit(X, Y).kneighbors_graph(X, mode="weights"),
        lambda: NearestNeighbors(radius=-1.0).fit(X).radius_neighbors(X),
        lambda: NearestNeighbors().fit(X).radius_neighbors(X, -0.5),
        lambda: NearestNeighbors().fit(X).radius_neighbors(X, np.nan),
        lambda: NearestNeighbors(metric="haversine").fit(np.ones((6, 3))),
    ],
)
def test_wrong_rows_and_arguments_raise(call: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert len(str(error.value)) > 20


@pytest.mark.parametrize(
    ("weights", "parts"),
    [
        (lambda d: d[:, :1], ["weights", "(6, 2)", "(6, 1)"]),
        (lambda d: -np.ones_like(d), ["weights", "-1"]),
        (lambda d: np.full_like(d, np.nan), ["weights", "nan"]),
    ],
    ids=["shape", "negative", "nan"],
)
def test_wrong_functions_of_weights_raise(weights: Any, parts: list[str]) -> None:
    for learner in (KNeighborsClassifier, KNeighborsRegressor):
        model = learner(2, weights=weights).fit(X, Y)
        with pytest.raises(ValueError) as error:
            model.predict(X)
        message_of(error, parts)


@pytest.mark.parametrize("value", [np.nan, -1.0, "x"])
def test_wrong_distances_of_a_function_raise(value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="metric"):
        NearestNeighbors(2, metric=lambda x, y: value).fit(X).kneighbors(X)


@pytest.mark.parametrize("learner", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors])
def test_methods_require_a_fit(learner: Any) -> None:
    for call in (
        lambda model: model.kneighbors(X),
        lambda model: model.kneighbors_graph(X),
        lambda model: model.forget([0]),
        lambda model: model.cost(),
        lambda model: (model.predict if hasattr(model, "predict") else model.radius_neighbors)(X),
    ):
        with pytest.raises(NotFittedError):
            call(learner())


def test_parameters_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        KNeighborsClassifier(3, "uniform")
    assert KNeighborsClassifier(3).n_neighbors == 3
