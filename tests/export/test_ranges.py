"""Values of a model file that have the right types and shapes but cannot be those of a model."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.export import ModelFileError, load
from tests.export.toy_model import loaded, rewritten, saved, setter

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.where(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 0, "a", "b")


@cache
def fitted(name: str) -> Any:
    """A small model of each family."""
    full = np.nan_to_num(X)
    match name:
        case "classifier":
            return ceiba.DecisionTreeClassifier(max_depth=3).fit(X, Y)
        case "fractional":
            return ceiba.DecisionTreeClassifier(missing="fractional", max_depth=3).fit(X, Y)
        case "regressor":
            return ceiba.DecisionTreeRegressor(max_depth=3).fit(X, full[:, 0])
        case "kmeans":
            return ceiba.KMeans(3).fit(full)
        case "mixture":
            return ceiba.GaussianMixture(2).fit(full)
        case "mixture_classifier":
            return ceiba.GaussianMixtureClassifier().fit(full, Y)
        case "forest":
            return ceiba.RandomForestRegressor(3).fit(X, full[:, 0])
        case "adaboost":
            return ceiba.AdaBoostClassifier(n_estimators=3).fit(X, Y)
        case "network":
            return ceiba.TANClassifier().fit(X, Y)
        case "latent":
            return ceiba.LatentClassMixture(2, n_init=1).fit(X)
    raise KeyError(name)


def damaged(name: str, field: str, index: Any, value: Any) -> bytes:
    """The file of a model with one entry of a tree's array replaced."""
    model = fitted(name)
    array = getattr(model.tree_, field).copy()
    array[index] = value
    return rewritten(saved(model), **{f"model/tree_/{position(model, field)}.npy": array})


def position(model: Any, field: str) -> int:
    """Index of a field among those of the record, which names its entry."""
    return [entry.name for entry in fields(model.tree_) if entry.init].index(field)


BAD_VALUES = [
    ("classifier", "leaves", (0, 0), np.nan, "leaves must be finite and not negative, got nan"),
    ("classifier", "leaves", (0, 0), np.inf, "leaves must be finite"),
    ("classifier", "leaves", (0, 0), -0.5, "leaves must be finite and not negative, got -0.5"),
    ("classifier", "leaves", (0, 0), 0.25, "leaves must be rows of probabilities, which sum to 1"),
    ("classifier", "weight", 1, np.nan, "weight must be finite and not negative, got nan"),
    ("classifier", "weight", 1, -1.0, "weight must be finite and not negative, got -1"),
    ("fractional", "weight", slice(1, None), 0.0, "weight must be positive in at least one branch"),
    ("classifier", "n_rows", 0, -1, "n_rows must be not negative, got -1"),
    ("classifier", "impurity", 0, np.inf, "impurity must be finite"),
    ("classifier", "gain", 0, np.nan, "gain must be finite"),
    ("classifier", "ties", 0, -1, "ties must be not negative"),
    ("classifier", "node_values", (0, 0), np.nan, "node_values must be finite"),
    ("classifier", "node_values", (0, 0), -1.0, "node_values must be class weights"),
    (
        "classifier",
        "runner_up_column",
        0,
        3,
        "runner_up_column must be -1 or the index of one of 3",
    ),
    ("classifier", "runner_up_column", 0, -2, "runner_up_column must be -1"),
    ("classifier", "runner_up_gain", 0, np.nan, "runner_up_gain must be finite"),
    ("classifier", "reason", 0, 1, "reason must be 0 in inner nodes"),
    ("classifier", "reason", -1, 0, "reason must be 0 in inner nodes and another code in leaves"),
    ("classifier", "method", 0, 0, "method must be 0 in leaves and another code in inner nodes"),
    ("regressor", "node_values", (0, 0), np.inf, "node_values must be finite"),
    ("regressor", "nodes", (-1, 0), np.float64("nan").view(np.uint64), "predictions of the leaves"),
]


@pytest.mark.parametrize(("name", "field", "index", "value", "text"), BAD_VALUES)
def test_values_out_of_range_are_refused(tmp_path, name, field, index, value, text):
    with pytest.raises(ModelFileError, match=text):
        loaded(damaged(name, field, index, value), tmp_path)


@pytest.mark.parametrize(
    "name",
    ["classifier", "forest", "kmeans", "mixture", "mixture_classifier", "adaboost", "network"],
)
@pytest.mark.parametrize("names", [{"objects": {"shape": [3], "items": ["a", "b", "z"]}}, 5])
def test_feature_names_that_contradict_the_schema_are_refused(tmp_path, name, names):
    content = rewritten(saved(fitted(name)), setter("model", "state", "feature_names_in_", names))
    with pytest.raises(ModelFileError, match="feature_names_in_ must be the names of schema_"):
        loaded(content, tmp_path)


@pytest.mark.parametrize(
    "name", ["classifier", "regressor", "forest", "kmeans", "mixture", "mixture_classifier"]
)
def test_arrays_in_fortran_order_predict_the_same(tmp_path, name):
    model, rows = fitted(name), np.nan_to_num(X)
    content = saved(model)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {n: archive.read(n) for n in archive.namelist() if n.endswith(".npy")}
    arrays = {n: np.load(io.BytesIO(entry)) for n, entry in entries.items()}
    turned = {n: np.asfortranarray(array) for n, array in arrays.items() if array.ndim > 1}
    assert any(not array.flags.c_contiguous for array in turned.values())
    for mmap in (False, True):
        again = loaded(rewritten(content, **turned), tmp_path, mmap=mmap)
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        if name == "kmeans":
            np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
            again.partial_fit(rows)


@pytest.mark.parametrize("name", ["network", "latent"])
@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("table", np.nan, "table must be finite, got nan"),
        ("table", -0.5, "must be log probabilities, whose groups sum to 1"),
        ("table", 1e3, "must be log probabilities, whose groups sum to 1"),
        ("bias", 0.0, "must be log probabilities, whose groups sum to 1"),
        ("margins", -1.0, "margins must be at least 0, got -1"),
        ("parents", 9, r"parents must be at least 0 and below \d"),
    ],
)
def test_networks_that_cannot_be(tmp_path, name, field, value, text):
    network = fitted(name).model_
    names = [entry.name for entry in fields(network) if entry.init]
    array = getattr(network, field).copy()
    if not array.size:
        pytest.skip("a network without arcs")
    array[0] = value
    entry = f"model/model_/{names.index(field)}.npy"
    with pytest.raises(ModelFileError, match=text):
        loaded(rewritten(saved(fitted(name)), **{entry: array}), tmp_path)


@pytest.mark.parametrize(
    ("counts", "text"),
    [([0.0, 0.0], "positive for at least one"), ([np.nan, 3.0], "finite and >= 0, got nan")],
)
def test_class_counts_that_no_rows_have(tmp_path, counts, text):
    entries = {"model/class_count_.npy": np.array(counts)}
    with pytest.raises(ModelFileError, match=f"class_count_ must be {text}"):
        loaded(rewritten(saved(fitted("network")), **entries), tmp_path)


def test_kernels_that_no_values_have(tmp_path):
    model = ceiba.NaiveBayesClassifier(distributions="kernel").fit(X[:, :1], Y)
    kernels = model._densities[0]
    content, path = saved(model), "model/_densities/0"
    nothing = np.zeros_like(kernels.values.weights)
    with pytest.raises(ModelFileError, match="weights must be positive in every class"):
        loaded(rewritten(content, **{f"{path}/2/1.npy": nothing}), tmp_path)
    with pytest.raises(ModelFileError, match="bandwidth must be in the range of the values"):
        loaded(rewritten(content, **{f"{path}/3.npy": np.array([5e-324, 1.0])}), tmp_path)


@pytest.mark.parametrize("name", ["network", "latent"])
def test_an_encoding_of_another_schema_is_refused(tmp_path, name):
    def rename(record):
        text = json.dumps(record["model"]["state"]["encoding_"]).replace('"x1"', '"y1"')
        record["model"]["state"]["encoding_"] = json.loads(text)

    with pytest.raises(ModelFileError, match=r"encoding_\.schema must be schema_"):
        loaded(rewritten(saved(fitted(name)), rename), tmp_path)


def test_strings_longer_than_numpy_can_hold_are_refused(tmp_path):
    header = "{'descr': '<U999999999', 'fortran_order': False, 'shape': (0,), }\n"
    entry = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    content = rewritten(saved(fitted("kmeans")), **{"model/cluster_centers_.npy": entry})
    with pytest.raises(ModelFileError, match="the dtype '<U999999999' is not valid"):
        loaded(content, tmp_path)


@pytest.mark.timeout(20)
@pytest.mark.skipif(os.name == "nt", reason="POSIX devices and pipes")
def test_devices_and_pipes_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(ModelFileError, match=r"path must be a regular file, got .*: copy"):
            load(path)
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
