"""Parts of SQL statements: steps, names, literals and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class TableExpressions:
    """Common table expressions, each with some columns more than the one before.

    Each reads the one before twice. Otherwise databases merge them into one expression, in which
    every use of a column is a copy of its definition: a network of 20 columns and 5 classes took
    SQLite 50 times as long. An expression that is read twice is computed once.
    """

    def __init__(self, table: str) -> None:
        self._source = quoted_name(table)
        self._parts: list[str] = []

    @property
    def _from(self) -> str:
        if not self._parts:
            return f"FROM {self._source}"
        return f"FROM {self._source} WHERE EXISTS (SELECT 1 FROM {self._source})"

    def add(self, columns: dict[str, str]) -> None:
        """Add an expression that computes columns, unless there are none."""
        if not columns:
            return
        name = computed_name(f"step_{len(self._parts)}")
        listed = ",\n    ".join(
            f"{text} AS {computed_name(column)}" for column, text in columns.items()
        )
        self._parts.append(f"{name} AS (\n  SELECT *,\n    {listed}\n  {self._from}\n)")
        self._source = name

    def select(self, keep: Sequence[str], outputs: dict[str, str]) -> str:
        """Return the statement: columns of the table, and named expressions."""
        names = [quoted_name(column) for column in keep]
        taken = set(keep)
        for output_name, text in outputs.items():
            name = output_name
            while name in taken:
                name += "_"
            taken.add(name)
            names.append(f"{text} AS {quoted_name(name)}")
        lines = [f"WITH {', '.join(self._parts)}"] if self._parts else []
        return "\n".join([*lines, "SELECT " + ",\n  ".join(names), self._from]) + "\n"


def largest(scores: Sequence[str], values: Sequence[str], operator: str = ">=") -> str:
    """Return the value of the largest score; of the smallest one with the operator ``<=``."""
    n = len(scores)
    cases = [
        f"WHEN {' AND '.join(f'{scores[k]} {operator} {scores[j]}' for j in range(k + 1, n))} "
        f"THEN {values[k]}"
        for k in range(n - 1)
    ]
    return f"CASE {' '.join(cases)} ELSE {values[-1]} END" if cases else values[0]


def balanced_sum(terms: Sequence[str]) -> str:
    """Return a balanced sum: its depth grows by the logarithm of the number of terms."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({balanced_sum(terms[:half])} + {balanced_sum(terms[half:])})"


def quoted_name(text: str) -> str:
    """Return the name of a column or table."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


def computed_name(text: str) -> str:
    """Return the name of a computed column, which the table is unlikely to have."""
    return quoted_name(f"ceiba_{text}")


def literal(value: Any) -> str:
    """Return a value of SQL; floats are doubles that are read back exactly."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    if not isinstance(value, float):
        return repr(value)
    if math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    # Without an exponent a database may read a decimal, whose products have too many digits.
    text = repr(value)
    return text if "e" in text else f"{text}e0"
