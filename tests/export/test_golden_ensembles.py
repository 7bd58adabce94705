"""Files of forests, bags and boosted members that earlier versions wrote, and what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceiba.export import load, save
from tests.paths import GOLDEN_FILES

GOLDEN = GOLDEN_FILES
FORESTS, BAGS, BOOSTED = (
    sorted(GOLDEN.glob(f"model-v*-{kind}-*.ceiba")) for kind in ("forest", "bag", "boost")
)
MAPPED = pytest.mark.parametrize("mmap", [False, True])


def each(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def asked(path: Path, mmap: bool) -> tuple[Any, Any, dict[str, Any]]:
    """The golden model, the rows that it is asked about, and what it must say."""
    expected = json.loads(path.with_suffix(".json").read_text())
    rows, dtype = expected["rows"], expected["dtype"]
    return load(path, mmap=mmap), rows if dtype is None else np.array(rows, dtype), expected


def check_told(model: Any, rows: Any, expected: dict[str, Any], rounded: tuple[str, ...]) -> None:
    """Every answer bit for bit, but for those that logarithms and exponentials round."""
    for name, value in expected["told"].items():
        more = {"coverage": 0.5, "method": "quantiles"} if name == "predict_interval" else {}
        found = getattr(model, name)(rows, **more)
        if name in rounded:
            np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12, err_msg=name)
        else:
            np.testing.assert_array_equal(found, value, err_msg=name)
    for name, value in expected["known"].items():
        np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)
    for name, value in expected["parameters"].items():
        assert getattr(model, name) == value


def check_saved_again(model: Any, rows: Any, folder: Path) -> None:
    """The present version writes what it read."""
    save(model, folder / "again")
    np.testing.assert_array_equal(load(folder / "again").predict(rows), model.predict(rows))


def test_there_is_a_golden_file_of_every_ensemble() -> None:
    kinds = {type(load(path)).__name__ for path in (*FORESTS, *BAGS, *BOOSTED)}
    assert kinds == {
        f"{name}{kind}"
        for name in ("RandomForest", "Bagging", "AdaBoost")
        for kind in ("Classifier", "Regressor")
    }
    assert {path.stem.partition("-v1-")[2] for path in FORESTS} >= {
        *("forest-classes", "forest-weights", "forest-crowd", "forest-numbers", "forest-binned"),
        "forest-steps",
    }
    counted = {path.stem for path in FORESTS if load(path).forest_.steps is not None}
    assert counted == {"model-v1-forest-steps"}


@MAPPED
@each(FORESTS)
def test_a_golden_forest_says_what_it_said(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = asked(path, mmap)
    check_told(model, rows, expected, rounded=())
    assert [str(seed) for seed in model.forest_.keys[:, 0]] == expected["seeds"]
    assert hasattr(model, "oob_curve_") == (expected["curve"] is not None)
    if expected["curve"] is not None:
        np.testing.assert_array_equal(model.oob_curve_.error, expected["curve"])
    assert hasattr(model, "oob_importance_") == (expected["importance"] is not None)
    if expected["importance"] is not None:
        np.testing.assert_array_equal(model.oob_importance_.value, expected["importance"])
    leaves = np.array(expected["told"]["apply"])
    assert all(len(set(column)) > 1 for column in leaves.T[:3])
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each(FORESTS)
def test_a_golden_forest_lives_on(path: Path, mmap: bool) -> None:
    """It is looked into, and loses trees, as any other."""
    model, rows, expected = asked(path, mmap)
    leaves = np.array(expected["told"]["apply"])
    fewer = model.without([0])
    np.testing.assert_array_equal(fewer.apply(rows), leaves[:, 1:])
    np.testing.assert_array_equal(model.tree(1).value, fewer.tree(0).value)
    assert leaves[:, 1].max() < model.tree(1).n_nodes


@MAPPED
@each(BAGS)
def test_a_golden_bag_says_what_it_said(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = asked(path, mmap)
    check_told(model, rows, expected, rounded=())
    if expected["votes"] is not None:
        votes = model.votes(rows)
        assert votes.counts.tolist() == expected["votes"]
        assert votes.ties > 0
    # Rows are drawn again from the seed, whatever the file keeps.
    assert [member.tolist() for member in model.estimators_samples_] == expected["samples"]
    assert [member.tolist() for member in model.estimators_features_] == expected["columns"]
    check_saved_again(model, rows, tmp_path)


@MAPPED
@each(BOOSTED)
def test_golden_rounds_say_what_they_said(path: Path, mmap: bool, tmp_path: Path) -> None:
    model, rows, expected = asked(path, mmap)
    check_told(model, rows, expected, rounded=("predict_proba", "decision_function"))
    assert [stage.tolist() for stage in model.staged_predict(rows)] == expected["staged"]
    assert model.stopped_ == expected["stopped"]
    assert hasattr(model, "trace_") == model.trace
    if model.trace:
        assert len(model.trace_) == len(model.estimators_)
        assert model.trace_[0]["weights"].sum() == pytest.approx(1)
    check_saved_again(model, rows, tmp_path)
