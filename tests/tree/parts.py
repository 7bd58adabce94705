"""Rows in parts for the chunks engine, without files; and all bits of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, InMemory
from ceiba.data.table import Table


@dataclass(frozen=True)
class Parts:
    """A source whose partitions are cut out of a table."""

    schema: Schema
    partitions: list[InMemory]
    target: str = "y"


def in_parts(X: Any, y: Any, weight: Any, cuts: list[int]) -> Parts:
    """The rows up to each of ``cuts``, and the rest, as partitions."""
    table, y = Table.of(X), np.asarray(y)
    weight = None if weight is None else np.asarray(weight, dtype=float)
    ends = [0, *cuts, len(table)]
    parts = []
    for k, (begin, end) in enumerate(pairwise(ends)):
        own = None if weight is None else weight[begin:end]
        chunk = Chunk(table.take(slice(begin, end)), y[begin:end], own)
        parts.append(InMemory(chunk, f"part {k}"))
    return Parts(table.schema, parts)


def bits(model: Any) -> dict[str, Any]:
    """Everything that a tree is made of; arrays as their bytes, so that NaN is NaN."""
    record = model.tree_.to_json()
    return {
        name: (value.dtype, value.shape, value.tobytes())
        if isinstance(value, np.ndarray)
        else value
        for name, value in record.items()
    }


def assert_same_tree(one: Any, other: Any) -> None:
    """Equal in every bit, schema and side arrays included."""
    assert one.schema_ == other.schema_
    left, right = bits(one), bits(other)
    for name, value in left.items():
        assert value == right[name], name
