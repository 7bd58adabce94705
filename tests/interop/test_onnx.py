"""Models converted to ONNX predict the same in onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import ceiba
from ceiba.export import NotExpressibleError, to_onnx
from tests.export.mixed_table import TREES, N, fitted, fuzzed, table

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]
MISSING_EXTRA = "requires the packages of the extra 'interop': pip install ceiba[interop]"
runtime: Any = pytest.importorskip("onnxruntime", reason=MISSING_EXTRA)
pytest.importorskip("onnx", reason=MISSING_EXTRA)


def feeds(model: Any, rows: Any, dtype: str = "float64") -> dict[str, np.ndarray]:
    """The inputs of a graph for some rows."""
    if model.schema_.all_numeric:
        return {"X": np.asarray(rows, dtype=dtype)}
    inputs = {}
    for column in model.schema_:
        values = rows[column.name]
        if column.kind == "numeric":
            array = values.to_numpy(dtype=dtype, na_value=np.nan)
        elif not column.categories or isinstance(column.categories[0], str):
            array = values.astype(object).where(values.notna(), "").to_numpy(dtype=object)
        else:
            array = values.astype(object).where(values.notna(), -1).to_numpy().astype(np.int64)
        inputs[column.name] = array.reshape(-1, 1)
    return inputs


def run(model: Any, rows: Any, dtype: str = "float64") -> dict[str, np.ndarray]:
    graph = to_onnx(model, dtype=dtype)
    session = runtime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds(model, rows, dtype)), strict=True))


def check(model: Any, rows: Any, dtype: str = "float64") -> None:
    outputs = run(model, rows, dtype)
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(outputs["prediction"], model.predict(rows), rtol=1e-12)
        return
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(outputs["probabilities"], probabilities, atol=1e-12)
    ranked = np.sort(probabilities, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-9
    if getattr(getattr(model, "tree_", None), "costs", np.empty(0)).size:
        clear[:] = True
    np.testing.assert_array_equal(outputs["label"][clear], model.predict(rows)[clear])


MODELS: dict[str, Any] = TREES | {
    "c45": ceiba.DecisionTreeClassifier(algorithm="c45", missing="branch"),
    "large forest": ceiba.RandomForestClassifier(25),
    "samme": ceiba.AdaBoostClassifier(n_estimators=12),
    "samme.r": ceiba.AdaBoostClassifier(n_estimators=8, algorithm="samme.r", max_depth=2),
    "m1": ceiba.AdaBoostClassifier(n_estimators=8, algorithm="m1", max_depth=4),
    "adaboost regressor": ceiba.AdaBoostRegressor(n_estimators=12),
}


@pytest.mark.parametrize("name", MODELS)
def test_trees_of_mixed_tables_with_missing_values(name):
    model = fitted(MODELS[name])
    check(model, table()[0])
    check(model, fuzzed())


@pytest.mark.parametrize("name", ["cart", "forest", "regressor", "samme"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrices_in_both_precisions(name, dtype):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(N, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X = X.astype(dtype)
    _, label, number = table()
    model = MODELS[name].fit(X, number if name == "regressor" else label == "mid")
    check(model, X, dtype)
    X[0] = np.inf
    X[1] = -np.inf
    check(model, X, dtype)


def test_labels_of_all_types():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 2))
    for classes in ([False, True], [3, 7], [1.0, 4.0], ["a", "b"]):
        label = np.array(classes)[(X[:, 0] > 0).astype(int)]
        model = ceiba.DecisionTreeClassifier().fit(X, label)
        assert run(model, X)["label"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "VEI", "ppca"])
def test_mixtures(kind):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, 3)) + 4 * (rng.random((N, 1)) < 0.5)
    model = ceiba.GaussianMixture(2, covariance_type=kind).fit(X)
    rows = X.copy()
    if kind in ("diag", "spherical", "VEI"):
        rows[rng.random(X.shape) < 0.2] = np.nan
    outputs = run(model, rows)
    np.testing.assert_array_equal(outputs["label"], model.predict(rows))
    np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(outputs["log_density"], model.score_samples(rows), rtol=1e-10)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_mixture_classifiers(kind):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N, 3)) * [1, 50, 0.01]
    label = np.where(X[:, 0] > 0.3, "a", np.where(X[:, 1] > 0, "b", "c"))
    model = ceiba.GaussianMixtureClassifier(2, covariance_type=kind).fit(X, label)
    outputs = run(model, X)
    np.testing.assert_array_equal(outputs["label"], model.predict(X))
    np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["full", "diag"])
@pytest.mark.parametrize("scale", [None, "std"])
def test_mixture_classifier_of_a_class_without_rows(kind, scale):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(N, 3)) * [1, 50, 0.01]
    label = np.where(X[:, 0] > 0.3, "a", np.where(X[:, 1] > 0, "b", "c"))
    model = ceiba.GaussianMixtureClassifier(2, covariance_type=kind, scale=scale)
    for absent in ("a", "b", "c"):
        model.fit(X, label, sample_weight=(label != absent).astype(float))
        assert any(mixture is None for mixture in model.mixtures_)
        outputs = run(model, X)
        np.testing.assert_array_equal(outputs["label"], model.predict(X))
        np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(X), atol=1e-9)


def test_columns_named_as_other_values():
    names = ["label", "cast_1", "prediction", "probabilities", "labelencoder_4", "a", "b"]
    frame, number, label = (part.copy() for part in (table()[0], table()[2], table()[1]))
    frame.columns = names
    classifier = ceiba.DecisionTreeClassifier(max_depth=4).fit(frame, label)
    outputs = run(classifier, frame)
    np.testing.assert_array_equal(outputs["label_"], classifier.predict(frame))
    np.testing.assert_allclose(outputs["probabilities_"], classifier.predict_proba(frame))
    regressor = ceiba.DecisionTreeRegressor(max_depth=4).fit(frame, number)
    np.testing.assert_allclose(run(regressor, frame)["prediction_"], regressor.predict(frame))


def test_intervals_of_float32_columns():
    X = np.random.default_rng(3).normal(size=(N, 2)).astype(np.float32) * np.float32(1e18)
    model = ceiba.DecisionTreeClassifier(splits="intervals", n_intervals=3, max_depth=3)
    check(model.fit(X, table()[1]), X, "float32")


def test_full_covariances_have_no_prediction_for_missing_values():
    X = np.random.default_rng(7).normal(size=(N, 2))
    model = ceiba.GaussianMixture(2).fit(X)
    X[0, 0] = np.nan
    outputs = run(model, X)
    assert np.isnan(outputs["probabilities"]).any(axis=1).nonzero()[0].tolist() == [0]
    assert np.isnan(outputs["log_density"][0])


def test_kmeans_of_mixed_tables_with_missing_values():
    frame = table()[0].drop(columns="many")
    model = ceiba.KMeans(4).fit(frame)
    rows = fuzzed().drop(columns="many")
    outputs = run(model, rows)
    np.testing.assert_array_equal(outputs["label"], model.predict(rows))
    np.testing.assert_allclose(outputs["distances"], model.transform(rows), rtol=1e-10)
    X = np.random.default_rng(9).normal(size=(N, 3))
    model = ceiba.KMeans(3).fit(X)
    X[0, 1], X[1] = np.nan, np.nan
    outputs = run(model, X)
    np.testing.assert_array_equal(outputs["label"], model.predict(X))
    np.testing.assert_allclose(outputs["distances"], model.transform(X), rtol=1e-9)


@pytest.mark.parametrize("scale", ["range", "std"])
def test_scaled_columns(scale):
    frame, rows = (whole[["width", "count", "color"]] for whole in (table()[0], fuzzed()))
    model = ceiba.KMeans(4, scale=scale).fit(frame)
    outputs = run(model, rows)
    np.testing.assert_array_equal(outputs["label"], model.predict(rows))
    np.testing.assert_allclose(outputs["distances"], model.transform(rows), rtol=1e-9)
    X = np.random.default_rng(2).normal(size=(N, 2)) * [1e-4, 1e4]
    for kind in ("full", "spherical"):
        mixture = ceiba.GaussianMixture(2, covariance_type=kind, scale=scale).fit(X)
        outputs = run(mixture, X)
        np.testing.assert_allclose(outputs["probabilities"], mixture.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(outputs["log_density"], mixture.score_samples(X), rtol=1e-9)


def test_columns_of_identifiers_are_inputs_without_effect():
    frame = table()[0][["width", "color"]].assign(name=[f"row {i}" for i in range(N)])
    for model in (ceiba.RandomForestClassifier(5), ceiba.KMeans(3)):
        model.fit(frame, table()[1])
        inputs = feeds(model, frame.assign(name="")) | {"name": np.full((N, 1), "?", object)}
        session = runtime.InferenceSession(to_onnx(model).SerializeToString())
        label = session.run(["label"], inputs)[0]
        assert (label == model.predict(frame)).mean() > 0.99


def test_what_onnx_lacks_is_refused():
    frame, label, _ = table()
    for model, text in (
        (ceiba.DecisionTreeClassifier(missing="fractional"), "no missing='fractional'"),
        (ceiba.DecisionTreeClassifier(missing="surrogate"), "no missing='surrogate'"),
        (ceiba.BaggingClassifier(voting="majority"), "no majority vote"),
        (ceiba.BaggingClassifier(LogisticRegression()), "members that are decision trees"),
        (LogisticRegression(), "got LogisticRegression"),
    ):
        model.fit(frame[["count"]], label)
        with pytest.raises(NotExpressibleError, match=text):
            to_onnx(model)
    for column, text in (
        (pd.date_range("2020-01-01", periods=N), "the times of column 'when'"),
        (2**60 + np.arange(N), "the integers of column 'when'"),
    ):
        model = ceiba.DecisionTreeClassifier().fit(pd.DataFrame({"when": column}), np.arange(N) > 9)
        with pytest.raises(NotExpressibleError, match=text):
            to_onnx(model)
    with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32', got 'int8'"):
        to_onnx(model, dtype="int8")  # type: ignore[arg-type]
