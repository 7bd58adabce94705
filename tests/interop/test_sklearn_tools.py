"""Tools that read scikit-learn's estimators, on models converted by ``to_sklearn``."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.tree import export_graphviz, export_text, plot_tree

import ceiba
from ceiba import datasets
from ceiba.export import to_sklearn

pytestmark = pytest.mark.slow
MISSING_EXTRA = "requires the packages of the extra 'interop': pip install ceiba[interop]"


def importorskip(name: str) -> Any:
    return pytest.importorskip(name, reason=MISSING_EXTRA)


@cache
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that float32 holds, classes and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32).astype(np.float64)
    label = np.where(X[:, 0] > X[:, 1], "up", np.where(X[:, 2] > 0, "down", "flat"))
    return X, label, X[:, 0] * 2 + X[:, 3] + rng.normal(size=300)


MODELS = {
    "tree": ceiba.DecisionTreeClassifier(max_depth=4),
    "forest": ceiba.RandomForestClassifier(10, max_depth=5),
    "regression tree": ceiba.DecisionTreeRegressor(max_depth=4),
    "regression forest": ceiba.RandomForestRegressor(10, max_depth=5),
}


def fitted(name: str) -> Any:
    X, label, number = rows()
    return MODELS[name].fit(X, number if "regression" in name else label)


@pytest.mark.parametrize("name", MODELS)
def test_shap_values_add_up_to_the_predictions(name):
    shap = importorskip("shap")
    X, model = rows()[0], fitted(name)
    explainer = shap.TreeExplainer(to_sklearn(model))
    values = np.asarray(explainer.shap_values(X))
    if "regression" in name:
        total, expected = values.sum(axis=1), model.predict(X)
    else:
        total, expected = values.sum(axis=1), model.predict_proba(X)
    np.testing.assert_allclose(total + explainer.expected_value, expected, atol=1e-6)


def test_shap_finds_the_columns_that_matter():
    shap = importorskip("shap")
    X, _, number = rows()
    model = ceiba.RandomForestRegressor(30, random_state=0).fit(X, number)
    strength = np.abs(shap.TreeExplainer(to_sklearn(model)).shap_values(X)).mean(axis=0)
    assert np.argsort(strength)[-2:].tolist() == [3, 0]


def test_pictures_and_texts_of_scikit_learn():
    importorskip("matplotlib").use("agg")
    iris = datasets.load("iris")
    model = to_sklearn(ceiba.DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y))
    names = list(model.feature_names_in_)
    texts = [box.get_text() for box in plot_tree(model, feature_names=names, class_names=True)]
    assert any("<= 2.45" in text or "<= 0.8" in text for text in texts)
    assert any("samples = 150" in text and "gini = 0.667" in text for text in texts)
    assert "|--- class: virginica" in export_text(model, feature_names=names)
    assert "samples = 150" in export_graphviz(model, feature_names=names)


def test_dtreeviz_reads_the_tree():
    dtreeviz = importorskip("dtreeviz")
    importorskip("matplotlib").use("agg")
    X, label, _ = rows()
    model = fitted("tree")
    codes = np.searchsorted(model.classes_, label)
    view = dtreeviz.model(
        to_sklearn(model), X_train=X, y_train=codes, feature_names=list("abcd"),
        target_name="direction", class_names=model.classes_.tolist(),
    )  # fmt: skip
    shadow = view.shadow_tree
    leaves = {leaf.id: leaf.nsamples() for leaf in shadow.leaves}
    tree = model.tree_
    assert leaves == {int(leaf): int(tree.n_rows[leaf]) for leaf in np.flatnonzero(tree.is_leaf)}
    path = view.explain_prediction_path(X[0])
    assert any(name in path for name in "abcd")
    view.leaf_sizes()


@pytest.mark.parametrize("name", [*MODELS, "adaboost", "kmeans", "mixture"])
def test_skl2onnx_converts_the_estimator(name):
    skl2onnx = importorskip("skl2onnx")
    runtime = importorskip("onnxruntime")
    X, label, _ = rows()
    match name:
        case "adaboost":
            model = ceiba.AdaBoostClassifier(n_estimators=5).fit(X, label)
        case "kmeans":
            model = ceiba.KMeans(3).fit(X.astype(np.float32))
        case "mixture":
            model = ceiba.GaussianMixture(2).fit(X)
        case _:
            model = fitted(name)
    short = X.astype(np.float32)
    converted = skl2onnx.to_onnx(to_sklearn(model), short[:1])
    session = runtime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    predicted = np.ravel(session.run(None, {"X": short})[0])
    if "regression" in name:
        np.testing.assert_allclose(predicted, model.predict(X), rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(predicted, model.predict(X))
