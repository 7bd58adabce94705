"""Out-of-bag error on paper: how it falls with every tree, and how many are enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.forest.oob import OobCurve
from ceiba.plots.style import ACCENT, LABEL_SIZE, MUTED, PALETTE, new_figure, tidy

__all__ = ["oob_curve"]

_ARRAYS = ("trees", "error", "low", "high", "rows")


def oob_curve(curve: OobCurve | Any, *, ax: Any = None) -> Any:
    """Draw a forest's out-of-bag error over its number of trees, and how many are enough.

    The band is the interval of the error at the record's level. The curve is dashed while some of
    the rows have not been out of bag yet. From the marked number of trees on it stays between
    the dotted lines, one standard error from its last value; where it has not settled, the picture
    says so.

    Parameters
    ----------
    curve : OobCurve or fitted forest
        A forest fitted with ``oob_score=True``, or its ``oob_curve_``.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("trees.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = RandomForestClassifier(30, oob_score=True).fit(iris.table, iris.y)
    >>> picture = plots.oob_curve(model)
    >>> picture.axes[0].get_ylabel()
    'error rate, 95% band'

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45, section 3.1.
    """
    record = _record(curve)
    known = np.isfinite(np.asarray(record.error, dtype=float))
    if not known.any():
        raise ValueError("no row was ever out of bag: there is no error to draw; grow more trees")
    trees, error, low, high, rows = (np.asarray(getattr(record, name))[known] for name in _ARRAYS)
    if ax is None:
        ax = new_figure(6.4, 4.2).add_subplot()
    ax.fill_between(trees, low, high, color=PALETTE[0], alpha=0.18, linewidth=0, gid="band")
    whole = int(np.argmax(rows == rows[-1]))
    _draw_error(ax, trees, error, whole)
    x = "trees (dashed: not every row has been out of bag)" if whole else "trees"
    name = f"{record.measure}, {record.level:.0%} band"
    tidy(ax, title="Out-of-bag error", x=x, y=name, grid="y")
    last = f"{error[-1]:.4g} with {_trees(int(trees[-1]))}"
    ax.set_title(last, loc="right", fontsize=LABEL_SIZE, color=PALETTE[0], pad=8)
    ax.set_xlim(0, trees[-1] * 1.02)
    ax.locator_params(axis="x", integer=True)
    for end in (error[-1] - record.tolerance, error[-1] + record.tolerance):
        ax.axhline(end, color=ACCENT, linewidth=1.1, linestyle=":", zorder=2, gid="strip")
    _mark(ax, record.enough, trees, error)
    return ax.figure


def _record(given: Any) -> OobCurve:
    """The curve itself, or that of a fitted forest."""
    record = getattr(given, "oob_curve_", given)
    if isinstance(record, OobCurve):
        return record
    raise ValueError(
        f"{type(given).__name__} has no curve of out-of-bag errors: fit the forest with "
        "oob_score=True"
    )


def _draw_error(ax: Any, trees: Array, error: Array, whole: int) -> None:
    """The curve, dashed up to the place from which on no more rows come to be out of bag."""
    look = {"color": PALETTE[0], "linewidth": 1.8, "zorder": 3}
    ax.plot(trees[: whole + 1], error[: whole + 1], linestyle=(0, (2, 1)), **look)
    dot = {"marker": "o", "markersize": 4} if whole == len(trees) - 1 else {}
    ax.plot(trees[whole:], error[whole:], **look, **dot)


def _mark(ax: Any, enough: int | None, trees: Array, error: Array) -> None:
    """The number of trees that is enough, or that there is none yet."""
    look = {"textcoords": "offset points", "va": "top", "fontsize": LABEL_SIZE, "zorder": 3.5}
    if enough is None:
        words = f"not settled after {_trees(int(trees[-1]))}"
        ax.annotate(
            words, (1.0, 1.0), (-4, -6), xycoords="axes fraction", ha="right", color=MUTED, **look
        )
        return
    ax.axvline(enough, color=ACCENT, linewidth=1.2, alpha=0.7, zorder=2.5)
    ax.plot(enough, error[trees == enough], "o", color=ACCENT, markersize=8, zorder=4)
    words = f"{_trees(enough)} {'is' if enough == 1 else 'are'} enough"
    ax.annotate(
        words, (enough, 1.0), (7, -6), xycoords=("data", "axes fraction"), color=ACCENT, **look
    )


def _trees(n: int) -> str:
    return f"{n:,} {'tree' if n == 1 else 'trees'}"
