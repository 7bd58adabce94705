"""Sources in partitions without files, and comparison of trees bit by bit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine.local import InMemorySource


@dataclass(frozen=True)
class Parts:
    """A source whose partitions are slices of a table."""

    schema: Schema
    partitions: list[InMemorySource]
    target: str = "y"


def in_parts(X: Any, y: Any, weight: Any, bounds: list[int]) -> Parts:
    """Return a source with a partition boundary at each of ``bounds``."""
    table, y = Table.of(X), np.asarray(y)
    weight = None if weight is None else np.asarray(weight, dtype=float)
    ends = [0, *bounds, len(table)]
    parts = []
    for k, (begin, end) in enumerate(pairwise(ends)):
        own = None if weight is None else weight[begin:end]
        chunk = Chunk(table.take(slice(begin, end)), y[begin:end], own)
        parts.append(InMemorySource(chunk, f"part {k}"))
    return Parts(table.schema, parts)


def bits(model: Any) -> dict[str, Any]:
    """Return the fields of a tree; arrays as bytes, so that NaN equals NaN."""
    record = model.tree_.to_json()
    return {
        name: (value.dtype, value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for name, value in record.items()
    }


def assert_same_tree(one: Any, other: Any) -> None:
    """Assert that two trees are equal in every bit, with their schemas."""
    assert one.schema_ == other.schema_
    left, right = bits(one), bits(other)
    for name, value in left.items():
        assert value == right[name], name
