"""Parts of C files: their first lines, literals and comments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ceiba.data.schema import Schema
from ceiba.export.code.languages.comments import column_comments


def head(title: str, schema: Schema, classes: Sequence[Any] | None) -> list[str]:
    """Return the first lines of a file: what ``x`` has, and the classes."""
    notes = [f" *   {comment_text(line)}" for line in column_comments(schema, str)]
    lines = [
        f"/* {title}.",
        " *",
        " * x has these values; a missing one is NaN. A category is its index in the list:",
        *notes,
        " */",
        "#include <math.h>",
    ]
    if classes is not None:
        labels = ", ".join(_string(str(label)) for label in classes)
        lines += [
            "",
            f"#define N_CLASSES {len(classes)}",
            f"const char *const classes[N_CLASSES] = {{{labels}}};",
        ]
    return lines


def double_literal(value: float) -> str:
    """Return a double that is read back exactly."""
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def _string(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(character: str) -> str:
    """Return a character of a string literal; control characters by their octal number."""
    if character in '\\"?':  # two question marks could begin a trigraph
        return f"\\{character}"
    return f"\\{ord(character):03o}" if ord(character) < 32 or character == "\x7f" else character


def comment_text(text: str) -> str:
    """Return a text that cannot end the comment in which it is."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")
