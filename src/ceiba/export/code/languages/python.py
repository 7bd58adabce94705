"""Parts of Python modules: their first lines, and literals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.data.schema import Schema
from ceiba.export.code.languages.comments import column_comments


def head(title: str, schema: Schema, classes: Sequence[Any] | None, imports: str = "") -> list[str]:
    """Return the first lines of a module: what a row has, the classes, and ``_values(row)``."""
    lines = [f'"""{title}.', ""]
    lines += ["A row has these values; a missing one is None or NaN:", ""]
    notes = [one_line(line).replace("\\", "\\\\").replace('"', "'") for line in
             column_comments(schema, repr)]  # fmt: skip
    lines += [f"    {note}" for note in notes] + ['"""', ""]
    lines += [imports, ""] if imports else []
    if classes is not None:
        lines += [f"CLASSES = {list(classes)!r}", ""]
    return [*lines, *_VALUES_FUNCTION]


_VALUES_FUNCTION = [
    "",
    "def _values(row):",
    "    # NaN is not equal to itself, and no comparison with it is true.",
    '    return [float("nan") if value is None else value for value in row]',
]


def literal(value: Any) -> str:
    """Return a value of Python that is read back exactly."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return f'float("{value}")'
    return repr(value)


def one_line(text: str) -> str:
    """Return a text of several lines as one."""
    return " ".join(text.split())
