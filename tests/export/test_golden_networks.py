"""Model files of network classifiers of earlier versions are read and predict the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ceiba.export import load
from tests.export.golden_models import MAPPED, each, golden, golden_paths
from tests.export.test_golden_ensembles import check_predictions, check_saved_again


def test_there_is_a_golden_file_of_every_classifier() -> None:
    kinds = {type(load(path)).__name__ for path in golden_paths("network-")}
    assert kinds == {"NaiveBayesClassifier", "StructuralTMClassifier", "TANClassifier"}


@MAPPED
@each("network-")
def test_a_golden_network_predicts_as_it_did(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = golden(path, mmap)
    rounded = ("predict_proba", "predict_joint_log_proba")
    check_predictions(model, rows, expected, rounded)
    assert [list(arc) for arc in getattr(model, "arcs_", [])] == expected["arcs"]
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each("latent-")
def test_a_golden_mixture_predicts_as_it_did(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = golden(path, mmap)
    check_predictions(model, rows, expected, ("predict_proba", "score_samples"))
    assert [list(arc) for arc in model.arcs_] == expected["arcs"]
    if isinstance(model.n_components, str):
        assert model.choice_.chosen == model.n_components_ == 3
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each("discretizer")
def test_a_golden_discretizer_encodes_as_it_did(path: Path, mmap: bool) -> None:
    model, rows, expected = golden(path, mmap)
    np.testing.assert_array_equal(np.asarray(model.transform(rows)), expected["codes"])
