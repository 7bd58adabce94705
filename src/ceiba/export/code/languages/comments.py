"""Comments on the columns of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ceiba.data.schema import Schema


def column_comments(schema: Schema, label: Callable[[Any], str]) -> list[str]:
    """Return a line for each column: index, name, kind and categories."""
    lines = []
    for index, column in enumerate(schema):
        detail = f", one of {', '.join(map(label, column.categories))}" if column.categories else ""
        lines.append(" ".join(f"x[{index}]: {column.name}, {column.kind}{detail}".split()))
    return lines
