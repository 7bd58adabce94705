"""Records of model files: what is written is read back, and damage is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from ceiba._typing import Array
from ceiba.base import ArrayOf, Between, Record
from ceiba.base.record import check_values


@dataclass(frozen=True, eq=False)
class Inner(Record):
    name: str


@dataclass(frozen=True, eq=False)
class Curve(Record):
    index: Annotated[Array, ArrayOf("int64", "n")]
    error: Annotated[Array, ArrayOf("float64", "n", "k")]
    weight: Annotated[Array | None, ArrayOf("f", "k")]
    confidence_level: Annotated[float, Between(0, 1, closed="neither")]
    measure: Literal["error rate", "mean squared error"]
    labels: tuple[str, ...]
    inner: Inner | None = None

    def check(self) -> None:
        if (self.error < 0).any():
            raise ValueError("error must not be negative.")


def curve(**changes: Any) -> Curve:
    fields = {
        "index": np.arange(3),
        "error": np.ones((3, 2)),
        "weight": np.ones(2, np.float32),
        "confidence_level": 0.9,
        "measure": "error rate",
        "labels": ("a", "b"),
        "inner": Inner("x"),
    }
    return Curve(**(fields | changes))


def test_a_record_is_read_as_it_was_written():
    record = curve()
    values = record.to_json()
    assert values["labels"] == ["a", "b"]
    back = Curve.from_json(values)
    assert back.labels == ("a", "b")
    assert back.index is record.index
    assert back.inner is record.inner
    assert Curve.from_json(curve(weight=None, inner=None).to_json()).weight is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("index", np.arange(4), r"error must be an array .* with n = 4"),
        ("index", np.arange(3.0), "index must be an array of int64"),
        ("index", [0, 1, 2], "index must be an array"),
        ("error", np.ones(3), r"shape \(n, k\), got an array of float64 and shape \(3,\)"),
        ("weight", np.ones(3), "k = 2"),
        ("weight", np.ones(2, np.int64), "weight must be an array of f"),
        ("confidence_level", 1.0, r"confidence_level must be a float in \(0, 1\), got 1.0"),
        ("confidence_level", True, "got True"),
        ("measure", "accuracy", "measure must be 'error rate' or"),
        ("labels", "ab", "labels must be a list"),
        ("labels", ["a", 1], r"labels\[1\] must be a str"),
        ("inner", 3, "inner must be a Inner instance or None"),
        ("error", -np.ones((3, 2)), "must not be negative"),
    ],
)
def test_a_damaged_field_is_refused_by_name(name: str, value: Any, text: str):
    with pytest.raises(ValueError, match=text):
        Curve.from_json(curve().to_json() | {name: value})


@pytest.mark.parametrize("values", [{}, 3, {"index": np.arange(3)}])
def test_missing_fields_are_refused(values: Any):
    with pytest.raises(ValueError, match="Curve must have the fields index, error"):
        Curve.from_json(values)


def test_unknown_fields_are_refused():
    with pytest.raises(ValueError, match="must have the fields"):
        Curve.from_json(curve().to_json() | {"more": 1})


def test_the_first_invalid_value_is_named():
    array = np.array([[1.0, 2.0], [np.nan, np.inf]])
    check_values("loss", array[0], array[0] > 0, "positive")
    with pytest.raises(ValueError, match=r"loss must be finite, got nan at \[1, 0\]\."):
        check_values("loss", array, np.isfinite(array), "finite")
