"""The text of an explanation: heading, path, contributions, neighbors or distances."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array

if TYPE_CHECKING:
    from ceiba.base.explanation import Explanation, Neighbors

# Columns that a printed explanation shows, with their contributions and shares of distances.
_MAX_COLUMNS, _MAX_SHARES = 12, 6
# Of the cells of a line of neighbors (row, distance, weight, target), the one that is aligned left.
_TARGET_CELL = 3
_MAX_WHOLE = 9  # digits of a whole number that are read more easily than an exponent
_MAX_FIXED, _MAX_DECIMALS = 15, 6  # decimal exponents of contributions without an exponent


def explanation_text(explanation: Explanation) -> str:
    """Return an explanation as lines of text."""
    parts = [
        _heading(explanation),
        *_path_lines(explanation.path),
        *_contribution_lines(explanation),
    ]
    if explanation.neighbors is not None:
        parts += _neighbor_lines(explanation.neighbors, explanation.columns)
    # The distances of a mixture are those to the means of its components.
    is_mixture = explanation.responsibilities is not None
    heading = "component  Mahalanobis distance" if is_mixture else "center  distance"
    parts += _table_lines(
        "component  responsibility", explanation.responsibilities, descending=True
    )
    parts += _table_lines(heading, explanation.distances, descending=False)
    return "\n".join(parts)


def _heading(explanation: Explanation) -> str:
    head = f"prediction: {explanation.prediction_text()}"
    if explanation.neighbors is not None and explanation.neighbors.votes is not None:
        votes = explanation.neighbors.votes.items()
        return head + f" (votes: {', '.join(f'{c!r} {share:.3f}' for c, share in votes)})"
    if explanation.probabilities is not None:
        pairs = zip(explanation.outputs, explanation.probabilities.tolist(), strict=True)
        return head + f" ({', '.join(f'{c!r} {p:.3f}' for c, p in pairs)})"
    return head


def _path_lines(path: list[str]) -> list[str]:
    return ["path:", *(f"  {text}" for text in path)] if path else []


def _contribution_lines(explanation: Explanation) -> list[str]:
    if explanation.contributions is None or explanation.base is None or explanation.scores is None:
        return []
    k = explanation.predicted_output
    name = explanation.score_name(k)
    pairs = [
        ("base value", explanation.base[k]),
        *(
            (f"{column} = {text}" if text else column, value)
            for column, text, value in explanation.largest_contributions(k, _MAX_COLUMNS)
        ),
        (name, explanation.scores[k]),
    ]
    form = _contribution_format(
        explanation.contributions[:, k], (explanation.base[k], explanation.scores[k])
    )
    width = max(len(text) for text, _ in pairs)
    return [f"contributions to the {name}:"] + [
        f"  {text:<{width}}  {value:{form}}" for text, value in pairs
    ]


def _table_lines(heading: str, numbers: Array | None, *, descending: bool) -> list[str]:
    """Return the numbers of components or centers, the most important ones first."""
    if numbers is None:
        return []
    order = np.argsort(-numbers if descending else numbers, kind="stable")
    return [heading, *(f"  {k:>4}  {numbers[k]:.4g}" for k in order[:_MAX_COLUMNS].tolist())]


def _neighbor_lines(neighbors: Neighbors, columns: list[str]) -> list[str]:
    """Return a table of the neighbors, with the shares of up to six columns."""
    names, cells = ["row"], [[str(row)] for row in neighbors.rows]
    for name, numbers, form in (
        ("distance", neighbors.distances, "{:.4g}".format),
        ("weight", neighbors.weights, "{:.3f}".format),
        ("target", neighbors.targets, value_text),
    ):
        names.append(name)
        for line, value in zip(cells, numbers.tolist(), strict=True):
            line.append(form(value))
    if (shares := neighbors.contributions) is not None:
        order = np.argsort(-shares.sum(axis=0), kind="stable")
        shown, others = np.sort(order[:_MAX_SHARES]), order[_MAX_SHARES:]
        names += [columns[j] for j in shown] + ["others"] * bool(len(others))
        for line, row_shares in zip(cells, shares, strict=True):
            rest = [row_shares[others].sum()] if len(others) else []
            line += [f"{100 * share:.1f}%" for share in (*row_shares[shown], *rest)]
    lines = [names, *cells]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return [
        "  " + "  ".join(
            cell.ljust(width) if j == _TARGET_CELL else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]  # fmt: skip


def format_significant(value: float, digits: int = 4) -> str:
    """Format a number with so many significant digits, and below 1e9 all those of its whole part.

    Examples
    --------
    >>> format_significant(1_419_234.5), format_significant(0.123456)
    ('1419234', '0.1235')
    >>> format_significant(1.000123e12, 7)
    '1.000123e+12'
    """
    exponent = decimal_exponent([value])
    return f"{value:.{max(digits, exponent + 1) if exponent < _MAX_WHOLE else digits}g}"


def decimal_exponent(values: Iterable[float]) -> int:
    """Return the decimal exponent of the largest finite number; 0 without one that is not 0."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    return floor(log10(largest)) if largest else 0


def _contribution_format(changes: Array, ends: tuple[float, float]) -> str:
    """Return one format for contributions, base value and score, in which they add up.

    Four decimals would hide contributions below 0.001, and 1e12 needs none.
    """
    exponent = decimal_exponent(changes)
    if decimal_exponent(ends) > _MAX_FIXED or exponent < -_MAX_DECIMALS:
        return f"+.{max(decimal_exponent(ends) - exponent, 0) + 3}e"
    return f"+.{4 if -4 < exponent < 4 else max(3 - exponent, 0)}f"


def value_text(value: Any, *, plain: bool = False) -> str:
    """Return a value of a row or target as text, ``plain`` without quotes."""
    if isinstance(value, float):
        return format_significant(value)
    if value is None and plain:
        return "missing"
    return str(value) if plain else repr(value)
