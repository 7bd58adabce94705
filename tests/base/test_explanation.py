"""Explanations from JSON: the same record, or an error that names the field."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ceiba.base import Explanation, Neighbors

NEIGHBORS = Neighbors(
    rows=np.array([3, 1]),
    distances=np.array([0.5, 1.5]),
    weights=np.array([0.75, 0.25]),
    targets=np.array(["a", "b"]),
    votes={"a": 0.75, "b": 0.25},
    contributions=np.array([[1.0, 0.0], [0.5, 0.5]]),
)
EXPLAINED = Explanation("Learner", "a", ["x", "y"], [1.0, None], neighbors=NEIGHBORS)


def test_neighbors_survive_json() -> None:
    again = Explanation.from_json(EXPLAINED.to_json())
    assert again.to_json() == EXPLAINED.to_json()
    assert str(again) == str(EXPLAINED)
    assert again.neighbors is not None
    assert again.neighbors.votes == NEIGHBORS.votes


@pytest.mark.parametrize("neighbors", [
    5, [], {}, {"rows": [1]}, {**EXPLAINED.to_dict()["neighbors"], "more": 1},
], ids=str)  # fmt: skip
def test_neighbors_with_other_fields_raise(neighbors: Any) -> None:
    text = json.dumps(EXPLAINED.to_dict() | {"neighbors": neighbors})
    with pytest.raises(ValueError, match="neighbors must have the fields rows, distances") as error:
        Explanation.from_json(text)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(("name", "value"), [
    ("rows", None), ("rows", 10**30), ("rows", ["x"]), ("rows", [[1]]), ("distances", None),
    ("distances", {}), ("weights", 1.0), ("targets", [1, [2]]), ("votes", 5), ("votes", [1]),
    ("contributions", {"x": 1}), ("contributions", "x" * 1000),
])  # fmt: skip
def test_malformed_neighbors_are_named(name: str, value: Any) -> None:
    values = EXPLAINED.to_dict()
    values["neighbors"][name] = value
    with pytest.raises(ValueError, match=f"^{name} must be as to_json") as error:
        Explanation.from_json(json.dumps(values))
    assert len(str(error.value)) < 120


@pytest.mark.parametrize("name", ["scores", "base", "contributions", "distances"])
@pytest.mark.parametrize("value", [{}, "x", 3, [[1], 2]], ids=str)
def test_malformed_numbers_are_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be as to_json"):
        Explanation.from_json(json.dumps(EXPLAINED.to_dict() | {name: value}))
