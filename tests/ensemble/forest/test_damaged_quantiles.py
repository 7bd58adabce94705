"""Damaged leaf targets are rejected; those that are not rejected are valid."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.forest.quantiles import LeafTargets
from ceiba.export import ModelFileError
from tests.budget import examples
from tests.ensemble.forest.parts import NEW, numbers, record_bits
from tests.ensemble.forest.random_damage import damaged, save_and_load


@pytest.mark.parametrize(
    "other", [lambda: numbers(3, quantiles=True).leaf_targets_, lambda: numbers(4).forest_]
)
def test_leaf_targets_of_another_forest_are_rejected(other: Any, tmp_path: Any) -> None:
    model = numbers(4, quantiles=True)
    model.leaf_targets_ = other()
    with pytest.raises(ModelFileError):
        save_and_load(model, tmp_path)


@cache
def with_quantiles() -> RandomForestRegressor:
    return numbers(3, quantiles=True)


def targets_record() -> dict[str, Any]:
    return dict(with_quantiles().leaf_targets_.to_json())


def changed(name: str, change: Any) -> dict[str, Any]:
    record = targets_record()
    return {**record, name: change(record[name].copy())}


def set_to(index: int, value: float) -> Any:
    def change(array: Array) -> Array:
        array[index] = value
        return array

    return change


BAD_TARGETS: list[tuple[str, Any]] = [
    ("target", set_to(0, np.nan)),
    ("target", set_to(0, np.inf)),
    ("target", lambda a: a[::-1]),
    ("target", lambda a: a[1:]),
    ("target", lambda a: a.astype(np.float32)),
    ("weight", set_to(0, -1.0)),
    ("weight", set_to(0, np.nan)),
    ("weight", set_to(0, 0.0)),
    ("weight", lambda a: a[1:]),
    ("order", lambda a: a + np.uint32(1)),
    ("order", lambda a: a[:, 1:]),
    ("order", lambda a: a.reshape(-1)),
    ("offsets", lambda a: a + 1),
    ("offsets", lambda a: -a),
    ("offsets", lambda a: a[::-1]),
    ("offsets", lambda a: a[1:]),
    ("offsets", lambda a: a.astype(float)),
]


@pytest.mark.parametrize(
    ("name", "change"), BAD_TARGETS, ids=[f"{k}: {n}" for k, (n, _) in enumerate(BAD_TARGETS)]
)
def test_damaged_leaf_targets_are_rejected(name: str, change: Any, tmp_path: Any) -> None:
    """The record or its model raises when it is read, not at prediction."""
    record = changed(name, change)

    def read() -> Any:
        model = copy.copy(with_quantiles())
        model.leaf_targets_ = LeafTargets.from_json(record)
        return save_and_load(model, tmp_path)

    with pytest.raises(ValueError, match=r"[a-z] "):
        read()


def test_leaf_targets_round_trip() -> None:
    record = targets_record()
    assert record_bits(LeafTargets.from_json(record)) == record_bits(with_quantiles().leaf_targets_)
    for name in record:
        with pytest.raises(ValueError, match="LeafTargets must have the fields"):
            LeafTargets.from_json({k: v for k, v in record.items() if k != name})


@examples(80)
@given(data=st.data())
def test_randomly_damaged_leaf_targets_are_rejected_or_valid(data: Any) -> None:
    model = copy.copy(with_quantiles())
    record = targets_record()
    name = data.draw(st.sampled_from(sorted(record)))
    record[name] = damaged(record[name], data.draw)
    try:
        model.leaf_targets_ = LeafTargets.from_json(record)
        found = model.predict_quantiles(NEW, [0.0, 0.3, 1.0])
    except ValueError:
        return
    assert np.isfinite(found).all()
    assert (np.diff(found, axis=1) >= 0).all()
