"""Model files of earlier versions are read and predict the same."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba.export import load, save
from tests.export.golden_models import MAPPED, each, golden
from tests.export.toy_model import rich_toy, saved
from tests.paths import GOLDEN_FILES as GOLDEN


def test_the_golden_files_are_there():
    names = {path.name for path in GOLDEN.glob("*.ceiba")}
    assert names >= {
        "model-v2-kmeans.ceiba",
        "model-v2-kmeans-float32.ceiba",
        "model-v2-kmeans-table.ceiba",
        "model-v2-mixture.ceiba",
        "model-v2-mixture-batches.ceiba",
        "model-v2-mixture-chosen.ceiba",
        "model-v2-mixture-classes.ceiba",
        "model-v2-toy.ceiba",
        "model-v2-tree-binned.ceiba",
        "model-v2-tree-c45.ceiba",
        "model-v2-tree-classes.ceiba",
        "model-v2-tree-intervals.ceiba",
        "model-v2-tree-numbers.ceiba",
        "model-v2-tree-surrogates.ceiba",
    }


@MAPPED
@each("kmeans")
def test_a_golden_kmeans_predicts_as_it_did(path, mmap):
    model, rows, expected = golden(path, mmap)
    if expected["dtype"] is not None:
        assert str(model.cluster_centers_.dtype) == expected["dtype"]
    assert model.predict(rows).tolist() == expected["labels"]
    assert model.labels_.tolist() == expected["labels"]
    assert model.cluster_centers_.tolist() == expected["centers"]
    assert model.inertia_ == expected["inertia"]


def test_the_golden_trace_is_complete():
    trace = load(GOLDEN / "model-v2-kmeans.ceiba").trace_
    assert len(trace) >= 2
    assert trace[0]["centers"].shape == (3, 2)
    assert trace[-1]["inertia"] <= trace[0]["inertia"]


@MAPPED
@each("tree")
def test_a_golden_tree_predicts_as_it_did(path, mmap):
    model, rows, expected = golden(path, mmap)
    assert model.predict(rows).tolist() == expected["predictions"]
    assert model.apply(rows).tolist() == expected["leaves"]
    assert model.tree_.reasons == expected["reasons"]
    if expected["probabilities"] is not None:
        assert model.predict_proba(rows).tolist() == expected["probabilities"]
    assert len(set(expected["leaves"])) > 3


@MAPPED
@each("mixture")
def test_a_golden_mixture_predicts_as_it_did(path, mmap):
    model, rows, expected = golden(path, mmap)
    assert model.predict(rows).tolist() == expected["predictions"]
    # Kernels of another instruction set round differently.
    for method, name in (
        (model.predict_proba, "probabilities"),
        (model.score_samples, "densities"),
    ):
        np.testing.assert_allclose(method(rows), expected[name], rtol=1e-9, atol=1e-12)
    assert str(model.fit_events_) == expected["fit_events"]
    if path.stem.endswith("chosen"):
        assert model.choice_.chosen == (model.n_components_, "VEI")
    if path.stem.endswith("batches"):
        model.partial_fit(rows)


@pytest.mark.usefixtures("toys")
def test_the_golden_toy_has_every_kind_of_value(tmp_path):
    model = load(GOLDEN / "model-v2-toy.ceiba")
    assert saved(model) == saved(rich_toy())
    save(model, tmp_path / "again")


def test_a_loaded_kmeans_continues(tmp_path):
    import ceiba

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = ceiba.KMeans(4, trace=True).fit(X)
    ceiba.save(model, tmp_path / "model.ceiba")
    for mmap in (False, True):
        back = ceiba.load(tmp_path / "model.ceiba", mmap=mmap)
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        np.testing.assert_array_equal(back.transform(X), model.transform(X))
        assert back.get_params() == model.get_params()
        assert len(back.trace_) == len(model.trace_)
        back.partial_fit(X[:10])
