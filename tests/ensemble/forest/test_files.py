"""Forests in model files: equal predictions, few bytes, mapped from disk."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor, load, save
from ceiba._typing import Array
from tests.ensemble.forest.parts import (
    CLASSES,
    FEW,
    NEW,
    X,
    classes,
    forest_bits,
    many,
    numbers,
    record_bits,
)

ARRAYS = (
    "nodes", "tree_offsets", "words", "tables", "leaves", "origins", "training_keys", "importances",
    "weight_unit",
)  # fmt: skip
MAPPED = pytest.mark.parametrize("mmap", [False, True])
MODELS: dict[str, Any] = {
    "classes": lambda: classes(20, oob_score=True, importance=True),
    "classes with weights": lambda: classes(5, class_weight="balanced_subsample", max_depth=4),
    "classes with a branch for missing values": lambda: classes(5, missing="branch", max_bins=9),
    "numbers": lambda: numbers(20, oob_score=True, importance=True, quantiles=True),
    "numbers at random": lambda: numbers(5, thresholds="random"),
    "many categories and classes": many,
}


def rows_for(model: Any) -> Any:
    """Return rows for one of the models."""
    return NEW if model.n_features_in_ == 8 else FEW


def predictions(model: Any) -> list[Array]:
    """Return all predictions of a model."""
    rows = rows_for(model)
    found = [model._predict(rows), model.apply(rows), model.feature_importances_]
    if hasattr(model, "leaf_targets_"):
        found.append(model.predict_quantiles(rows, [0.1, 0.5]))
    if hasattr(model, "oob_errors_"):
        found.append(model.predict_interval(rows))
    return [np.asarray(one) for one in found]


# Round trips


@MAPPED
@pytest.mark.parametrize("name", MODELS)
def test_model_file_round_trip(name: str, mmap: bool, tmp_path: Any) -> None:
    model = MODELS[name]()
    save(model, tmp_path / "forest")
    back = load(tmp_path / "forest", mmap=mmap)
    assert back.get_params() == model.get_params()
    assert forest_bits(back) == forest_bits(model)
    for one, other in zip(predictions(model), predictions(back), strict=True):
        np.testing.assert_array_equal(one, other)
    for record in ("oob_curve_", "oob_importance_", "leaf_targets_"):
        assert hasattr(back, record) == hasattr(model, record)
        if hasattr(model, record):
            assert record_bits(getattr(back, record)) == record_bits(getattr(model, record))
    assert back.tree(1).to_json().keys() == model.tree(1).to_json().keys()


@pytest.mark.parametrize("name", MODELS)
def test_equal_models_give_equal_bytes(name: str, tmp_path: Any) -> None:
    for name_of_file in ("one", "two"):
        save(MODELS[name](), tmp_path / name_of_file)
    content = (tmp_path / "one").read_bytes()
    assert (tmp_path / "two").read_bytes() == content
    save(load(tmp_path / "one", mmap=True), tmp_path / "three")
    assert (tmp_path / "three").read_bytes() == content


@MAPPED
def test_loaded_forest_can_be_extended_and_reduced(mmap: bool, tmp_path: Any) -> None:
    save(classes(4), tmp_path / "forest")
    back = load(tmp_path / "forest", mmap=mmap)
    back.set_params(n_estimators=9, warm_start=True).fit(X, CLASSES)
    assert forest_bits(back) == forest_bits(classes(9))
    back = load(tmp_path / "forest", mmap=mmap)
    assert forest_bits(back.drop_trees([1])) == forest_bits(classes(4).drop_trees([1]))
    assert back.merge_forests(classes(3, random_state=1)).forest_.n_trees == 7
    one = load(tmp_path / "forest", mmap=mmap).corrected_importances(X, CLASSES)
    np.testing.assert_array_equal(one, classes(4).corrected_importances(X, CLASSES))


# Bytes


@cache
def large(kind: Any) -> Any:
    """Return a forest of full depth."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2000, 12))
    score = rows[:, 0] + rows[:, 1] ** 2 + rng.normal(size=2000)
    y = score if kind is RandomForestRegressor else np.digitize(score, [-0.5, 0.5, 1.0, 2.0])
    return kind(50).fit(rows, y)


KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


@KINDS
def test_forest_takes_at_most_twenty_bytes_per_node(kind: Any, tmp_path: Any) -> None:
    forest = large(kind).forest_
    assert forest.n_nodes > 50 * 500
    assert 16 <= forest.bytes_per_node <= 20
    every = sum(getattr(forest, name).nbytes for name in ARRAYS)
    assert every <= 20 * forest.n_nodes
    save(large(kind), tmp_path / "forest")
    assert (tmp_path / "forest").stat().st_size <= 20 * forest.n_nodes


@KINDS
def test_reduced_forest_takes_at_most_twenty_bytes_per_node(kind: Any) -> None:
    forest = large(kind).drop_trees(range(2, 50)).forest_
    assert sum(getattr(forest, name).nbytes for name in ARRAYS) <= 20 * forest.n_nodes


def test_dropped_trees_free_their_categories_and_weights() -> None:
    model = many()
    alone = model.drop_trees([1, 2, 3]).forest_
    assert len(alone.leaves) < len(model.forest_.leaves) / 2
    assert len(alone.tables) < len(model.forest_.tables)


def root(array: Any) -> Any:
    """Return the array that owns the memory of an array."""
    while getattr(array, "base", None) is not None and isinstance(array.base, np.ndarray):
        array = array.base
    return array


def peak_of(work: Callable[[], Any]) -> int:
    """Return the peak memory of a call."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@KINDS
def test_mapped_forest_stays_on_disk(kind: Any, tmp_path: Any) -> None:
    path = tmp_path / "forest"
    save(large(kind), path)
    rows = np.random.default_rng(2).normal(size=(3, 12))
    expected = large(kind).predict(rows)
    back = load(path, mmap=True)
    np.testing.assert_array_equal(back.predict(rows), expected)
    # Threads of other tests may use memory at the same time, but not every time.
    peaks = [peak_of(lambda: load(path, mmap=True).predict(rows)) for _ in range(5)]
    assert min(peaks) < back.forest_.nodes.nbytes / 4
    for name in ("nodes",):
        array = getattr(back.forest_, name)
        assert isinstance(root(array), np.memmap)
        assert not array.flags.writeable
        assert array.flags.c_contiguous
    assert not isinstance(root(load(path).forest_.nodes), np.memmap)
