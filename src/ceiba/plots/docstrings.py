"""Parameter descriptions that the plotting functions share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FRAGMENTS = {
    "ax": """\
ax : matplotlib Axes, optional
    Axes to draw on; a new figure is made if None.""",
    "figure": """\
figure : matplotlib Figure or SubFigure, optional
    Figure to draw on; a new one is made if None.""",
    "picture": """\
Returns
-------
Figure
    The figure drawn on. A new one displays itself in a notebook, ``.show()`` opens it in a
    viewer, and ``.save("plot.png")`` writes it to a file.""",
    "sample": """\
max_points : int
    Draw a random sample of this many rows if there are more.
random_state : int or None
    Seed of that sample.""",
    "rows": """\
X : array, frame or table of shape (n_rows, n_columns)
    Rows to draw.""",
    "section_rows": """\
X : array, frame or table of shape (n_rows, n_columns)
    Rows to draw; the columns that are not shown are fixed at the median or the most frequent
    category of these rows.""",
    "columns": """\
columns : pair of str or int, optional
    The two numeric columns to show, by name or index. By default those with the largest
    ``feature_importances_``, or the first two if the model has none.""",
    "classes": """\
classes : sequence, optional
    Class labels; those of the estimator by default.""",
    "max_labels": """\
max_labels : int
    Maximum number of categories to list per branch.""",
    "decimals": """\
decimals : int
    Digits after the decimal point; thresholds show at least six significant digits.""",
    "max_size": """\
max_size : tuple of float
    Maximum width and height of a new figure, in inches; not to be given with another.""",
}
_PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def documented(function: _Function) -> _Function:
    """Replace each ``{name}`` line of the docstring by the shared description."""

    def description(match: re.Match[str]) -> str:
        indent, name = match.groups()
        return "\n".join(f"{indent}{line}" for line in _FRAGMENTS[name].splitlines())

    if function.__doc__:
        function.__doc__ = _PLACEHOLDER.sub(description, function.__doc__)
    return function
