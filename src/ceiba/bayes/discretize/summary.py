"""The intervals of all columns as text."""

from __future__ import annotations

from typing import Any

from ceiba._typing import Array
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.interval_rows import IntervalRows
from ceiba.data.schema import Schema


def summary_text(
    schema: Schema, encoding: CategoryEncoding, rows: IntervalRows, classes: Array | None
) -> str:
    """Return a block of lines for each column: intervals, weights and shares of the classes."""
    everything = encoding.with_constant()
    names = [] if classes is None else [str(c) for c in classes.tolist()]
    blocks = []
    for j, column in enumerate(schema):
        lines = [[column.name, "weight", *names]]
        for label, weight in zip(everything.category_labels(j), rows.of_column(j)[1], strict=True):
            lines.append([f"  {label}", *_row_texts(weight, len(names))])
        if j not in encoding.columns:
            lines[0][0] += " (dropped)"
        blocks.append(_aligned(lines))
    return "\n\n".join(blocks)


def _row_texts(weight: Any, n_classes: int) -> list[str]:
    total = float(weight.sum())
    shares = [f"{w / total:.3f}" if total else "-" for w in weight.tolist()] if n_classes else []
    return [f"{total:.6g}", *shares]


def _aligned(lines: list[list[str]]) -> str:
    """Return lines of texts in columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    )
