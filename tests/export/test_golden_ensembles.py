"""Model files of ensembles of earlier versions are read and predict the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceiba.export import load, save
from tests.export.golden_models import MAPPED, each, golden, golden_paths

FORESTS = golden_paths("forest-")


def check_predictions(
    model: Any, rows: Any, expected: dict[str, Any], rounded: tuple[str, ...]
) -> None:
    """Compare results bit for bit, except those that logarithms and exponentials round."""
    for name, value in expected["predictions"].items():
        more = {"coverage": 0.5, "method": "quantiles"} if name == "predict_interval" else {}
        found = getattr(model, name)(rows, **more)
        if name in rounded:
            np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(found, value, err_msg=name)
    for name, value in expected["attributes"].items():
        np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)


def check_saved_again(model: Any, rows: Any, folder: Path) -> None:
    """The current version writes what it read."""
    save(model, folder / "again")
    np.testing.assert_array_equal(load(folder / "again").predict(rows), model.predict(rows))


def test_there_is_a_golden_file_of_every_ensemble() -> None:
    kinds = {
        type(load(path)).__name__
        for path in (
            *FORESTS,
            *golden_paths("bag-"),
            *golden_paths("boost-"),
            *golden_paths("gradient-"),
        )
    }
    assert kinds == {
        f"{name}{kind}"
        for name in ("RandomForest", "ExtraTrees", "Bagging", "AdaBoost", "GradientBoosting")
        for kind in ("Classifier", "Regressor")
    }
    assert {path.stem.partition("-v2-")[2] for path in FORESTS} >= {
        *("forest-classes", "forest-weights", "forest-numbers", "forest-binned"),
        *("forest-many-classes", "forest-default"),
    }
    counted = {path.stem for path in FORESTS if load(path).forest_.class_units is not None}
    assert counted == {"model-v2-forest-weights"}


@MAPPED
@each("forest-")
def test_a_golden_forest_predicts_as_it_did(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = golden(path, mmap)
    check_predictions(model, rows, expected, rounded=())
    assert [str(seed) for seed in model.forest_.tree_seeds] == expected["seeds"]
    assert hasattr(model, "oob_curve_") == (expected["curve"] is not None)
    if expected["curve"] is not None:
        np.testing.assert_array_equal(model.oob_curve_.error, expected["curve"])
    assert hasattr(model, "oob_importance_") == (expected["importance"] is not None)
    if expected["importance"] is not None:
        np.testing.assert_array_equal(model.oob_importance_.importances, expected["importance"])
    leaves = np.array(expected["predictions"]["apply"])
    assert all(len(set(column)) > 1 for column in leaves.T[:3])
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each("forest-")
def test_a_golden_forest_can_be_changed(path: Path, mmap: bool) -> None:
    """Its trees can be viewed and dropped."""
    model, rows, expected = golden(path, mmap)
    leaves = np.array(expected["predictions"]["apply"])
    fewer = model.drop_trees([0])
    np.testing.assert_array_equal(fewer.apply(rows), leaves[:, 1:])
    np.testing.assert_array_equal(model.tree(1).value, fewer.tree(0).value)
    assert leaves[:, 1].max() < model.tree(1).n_nodes


@MAPPED
@each("bag-")
def test_a_golden_bagging_predicts_as_it_did(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = golden(path, mmap)
    check_predictions(model, rows, expected, rounded=())
    if expected["votes"] is not None:
        votes = model.votes(rows)
        assert votes.counts.tolist() == expected["votes"]
        assert votes.n_ties > 0
    # Rows are drawn again from the seed; the file does not store them.
    assert [member.tolist() for member in model.estimators_samples_] == expected["samples"]
    assert [member.tolist() for member in model.estimators_features_] == expected["columns"]
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each("boost-")
def test_a_golden_boosting_predicts_as_it_did(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = golden(path, mmap)
    check_predictions(model, rows, expected, rounded=("predict_proba", "decision_function"))
    assert [stage.tolist() for stage in model.staged_predict(rows)] == expected["staged"]
    assert model.stop_reason_ == expected["stop_reason"]
    if model.trace:
        assert len(model.trace_) == len(model.estimators_)
        assert model.trace_[0]["weights"].sum() == pytest.approx(1)
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each("gradient-")
def test_a_golden_gradient_boosting_predicts_as_it_did(
    path: Path, mmap: bool, tmp_path: Path
) -> None:
    model, rows, expected = golden(path, mmap)
    rounded = ("predict_proba", "decision_function")
    if hasattr(model, "classes_"):  # stored with the trees of a round beside each other
        leaves = np.array(expected["predictions"]["apply"])
        expected["predictions"]["apply"] = leaves.reshape(len(leaves), model.n_estimators_, -1)
    check_predictions(
        model, rows, expected, rounded if hasattr(model, "classes_") else ("predict",)
    )
    for stage, value in zip(model.staged_predict(rows), expected["staged"], strict=True):
        if hasattr(model, "classes_"):
            np.testing.assert_array_equal(stage, value)
        else:
            np.testing.assert_allclose(stage, value, rtol=1e-12)
    if model.trace:
        assert len(model.trace_) == len(model.losses_["training"]) == model.n_estimators_
    check_saved_again(model, rows, tmp_path)
