"""Permutation importance on paper: what a column is worth, and what is only noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.forest.importance import PermutationImportance
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, PALETTE, TICK_SIZE, new_figure, tidy
from ceiba.plots.trees.nodes import short

__all__ = ["importance"]

_BAND = "#E4E4E4"
_QUIET = "#8E8E8E"
_NAME = 32  # letters of a column's name


def importance(
    record: PermutationImportance | Any, *, max_columns: int = 30, ax: Any = None
) -> Any:
    """Draw the permutation importance of every column, sorted, against its null band.

    A column's importance is how much the out-of-bag loss grows where its values are permuted among
    the rows; its bar is one standard error to both sides. The grey band is where a column that the
    target does not depend on would stand: a column inside reads as zero, and is grey.

    Parameters
    ----------
    record : PermutationImportance or fitted forest
        What ``oob_importance(X, y)`` returned, or a forest fitted with ``importance=True``.
    max_columns : int
        Draw at most so many columns, those of greatest importance.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("columns.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = RandomForestClassifier(30, importance=True).fit(iris.table, iris.y)
    >>> picture = plots.importance(model)
    >>> len(picture.axes[0].get_yticklabels())
    4

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45, section 10.
    """
    found = _record(record)
    if max_columns < 1:
        raise ValueError(
            f"max_columns={max_columns}: give the number of columns to draw, 1 or more"
        )
    shown = np.argsort(-found.value, kind="stable")[:max_columns]
    own = ax is None
    if own:
        ax = new_figure(6.8, max(2.4, 0.27 * len(shown) + 1.3)).add_subplot()
    signal = found.reads[shown] > 0
    _draw_band(ax, found.band[shown], found.level)
    _draw_values(ax, found.value[shown], found.error[shown], signal)
    x = f"growth of the out-of-bag {found.measure}"
    tidy(ax, title="Permutation importance", x=x, grid="x")
    ax.set_title(_counted(found, len(shown)), loc="right", fontsize=LABEL_SIZE, color=MUTED, pad=8)
    _name(ax, [found.names[j] for j in shown], signal)
    _legend(ax, beneath=own)
    return ax.figure


def _record(given: Any) -> PermutationImportance:
    """The record itself, or that of a fitted forest."""
    record = getattr(given, "oob_importance_", given)
    if isinstance(record, PermutationImportance):
        if not np.isfinite(record.band).all():
            raise ValueError(
                "importance that was measured on a single row has no band: measure it on more rows"
            )
        return record
    raise ValueError(
        f"{type(given).__name__} has no permutation importance: fit the forest with "
        "importance=True, or give what its oob_importance(X, y) returns"
    )


def _draw_band(ax: Any, band: Array, level: float) -> None:
    """Where noise would stand, column by column; the bands of neighbours join."""
    edges = np.arange(len(band) + 1) - 0.5
    ax.fill_betweenx(
        np.repeat(edges, 2)[1:-1], np.repeat(-band, 2), np.repeat(band, 2), color=_BAND,
        linewidth=0, zorder=0.5, label=f"null band ({level:.0%})",
    )  # fmt: skip
    ax.axvline(0, color=MUTED, linewidth=0.9, zorder=1)


def _draw_values(ax: Any, value: Array, error: Array, signal: Array) -> None:
    """A dot on a stem for each column, hollow and grey where it reads as zero."""
    places = np.arange(len(value))
    for mine, colour, fill, words in (
        (signal, PALETTE[0], PALETTE[0], "importance ± one standard error"),
        (~signal, _QUIET, "white", "reads as zero"),
    ):
        ax.hlines(places[mine], 0, value[mine], color=colour, linewidth=2.6, alpha=0.35, zorder=2)
        if mine.any():
            ax.errorbar(
                value[mine], places[mine], xerr=error[mine], fmt="o", color=colour,
                markerfacecolor=fill, markeredgewidth=1.4, markersize=6, elinewidth=1.3,
                capsize=2.5, zorder=3, label=words,
            )  # fmt: skip


def _name(ax: Any, names: list[str], signal: Array) -> None:
    ax.set_yticks(np.arange(len(names)), [short(name, _NAME) for name in names])
    for label, strong in zip(ax.get_yticklabels(), signal, strict=True):
        label.set_parse_math(False)
        label.set_color(INK if strong else _QUIET)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _counted(record: PermutationImportance, drawn: int) -> str:
    """How many columns stand above the band, of how many, and how many are drawn."""
    strong, every = int((record.reads > 0).sum()), len(record.names)
    words = f"{strong:,} of {every:,} columns above the band"
    return words if drawn == every else f"{words}, {drawn:,} drawn"


def _legend(ax: Any, beneath: bool) -> None:
    """Beneath the axes where the figure is ours to lay out, else where columns matter least."""
    look = {"fontsize": TICK_SIZE, "labelcolor": INK, "handlelength": 1.6}
    handles, words = ax.get_legend_handles_labels()
    if beneath:
        ax.figure.legend(
            handles, words, loc="outside lower center", ncols=len(words), columnspacing=1.4,
            frameon=False, **look,
        )  # fmt: skip
    else:
        ax.legend(handles, words, loc="lower right", **look)
