"""Bayesian network classifiers converted to ONNX predict the same in onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.export import NotExpressibleError, to_onnx
from tests.export.mixed_table import fitted, fuzzed, table
from tests.interop.test_onnx import MISSING_EXTRA, run

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]
pytest.importorskip("onnxruntime", reason=MISSING_EXTRA)
pytest.importorskip("onnx", reason=MISSING_EXTRA)

TRAINED = {"training": "tm", "max_iter": 20}
WIDTH = {"discretization": "equal_width", "n_bins": 4}
MODELS: dict[str, Any] = {
    "naive": ceiba.NaiveBayesClassifier(),
    "naive, missing category": ceiba.NaiveBayesClassifier(missing="category"),
    "naive, trained": ceiba.NaiveBayesClassifier(missing="category", **TRAINED),
    "gaussian": ceiba.NaiveBayesClassifier(distributions="gaussian"),
    "tree": ceiba.TANClassifier(**WIDTH),
    "tree, trained": ceiba.TANClassifier(**TRAINED, **WIDTH),
    "tree, trained, missing category": ceiba.TANClassifier(missing="category", **TRAINED, **WIDTH),
    "forest": ceiba.TANClassifier(structure="forest", **WIDTH),
    "aode": ceiba.TANClassifier(structure="aode", min_frequency=5, **WIDTH),
    "searched": ceiba.StructuralTMClassifier(**WIDTH),
}


def check(model: Any, rows: Any, dtype: str = "float64") -> None:
    outputs = run(model, rows, dtype)
    probabilities = model.predict_proba(rows)
    np.testing.assert_allclose(outputs["probabilities"], probabilities, atol=1e-10)
    ranked = np.sort(probabilities, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-9
    np.testing.assert_array_equal(outputs["label"][clear], model.predict(rows)[clear])


@pytest.mark.parametrize("name", MODELS)
def test_mixed_tables_with_missing_values(name: str) -> None:
    model = fitted(MODELS[name])
    check(model, table()[0])
    check(model, fuzzed())


def test_several_parents_give_nan_for_missing_values() -> None:
    rows = table()[0][["count", "code", "many"]]
    model = fitted(ceiba.TANClassifier(structure="kdb", **WIDTH), rows)
    check(model, rows)
    incomplete = rows.assign(many="new")
    assert np.isnan(run(model, incomplete)["probabilities"]).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("distributions", ["auto", "gaussian"])
def test_matrices_in_both_precisions(dtype: str, distributions: str) -> None:
    X, y = ceiba.datasets.load("iris", as_frame=True)
    rows = X.to_numpy(dtype, copy=True)
    rows[::7, 1] = np.nan
    check(ceiba.NaiveBayesClassifier(distributions=distributions).fit(rows, y), rows, dtype)


def test_gaussian_columns_trained_discriminatively_and_a_class_without_rows() -> None:
    X, y = ceiba.datasets.load("iris", as_frame=True)
    trained = ceiba.NaiveBayesClassifier(distributions="gaussian", training="tm")
    check(trained.fit(X.to_numpy(), y), X.to_numpy())
    weight = (np.asarray(y) != "setosa").astype(float)
    check(ceiba.TANClassifier(**WIDTH).fit(X.to_numpy(), y, weight), X.to_numpy())


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_latent_classes(structure: str) -> None:
    frame = table()[0].drop(columns="many")
    model = ceiba.LatentClassMixture(3, structure=structure, n_init=1).fit(frame)
    rows = fuzzed().drop(columns="many")
    outputs = run(model, rows)
    np.testing.assert_array_equal(outputs["label"], model.predict(rows))
    np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(outputs["log_density"], model.score_samples(rows), rtol=1e-10)


def test_a_network_without_features() -> None:
    X = np.zeros((20, 2))
    check(ceiba.NaiveBayesClassifier().fit(X, np.arange(20) % 3), X)


def test_other_densities_are_refused() -> None:
    X, y = ceiba.datasets.load("iris", as_frame=True)
    model = ceiba.NaiveBayesClassifier(distributions="kernel").fit(X, y)
    with pytest.raises(NotExpressibleError, match="'kernel': fit with 'discretized'"):
        to_onnx(model)
