"""The trees of the presets side by side: how large they are, and how well they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ceiba.plots.style import INK, MUTED, PALETTE, TICK_SIZE, new_figure, tidy

if TYPE_CHECKING:
    from ceiba.tree.compare.presets import PresetTable

__all__ = ["presets"]

# Entry of a row -> title of its panel, form of its numbers, colour of its bars.
_PANELS = {
    "n_leaves": ("leaves", ",d", PALETTE[5]),
    "depth": ("depth", ",d", PALETTE[2]),
    "error": ("training error", ".3f", PALETTE[1]),
}


def presets(table: PresetTable, *, figure: Any = None) -> Any:
    """Draw the presets on one table side by side: leaves, depth and training error of their trees.

    Beneath each preset's name stands what its tree tests first. A hollow bar is as long as the tree
    had leaves before it was pruned.

    Parameters
    ----------
    table : PresetTable
        What `ceiba.tree.compare_presets` returned.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        A panel each for leaves, depth and training error, with a bar for each preset.

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> from ceiba.tree import compare_presets
    >>> weather = datasets.load("weather_nominal")
    >>> picture = plots.presets(compare_presets(weather.table, weather.y))
    >>> [ax.get_xlabel() for ax in picture.axes]
    ['leaves', 'depth', 'training error']
    """
    n = len(table.rows)
    if figure is None:
        figure = new_figure(8.4, 0.62 * n + 1.2)
    axes = figure.subplots(1, len(_PANELS), sharey=True)
    for ax, (entry, (title, form, colour)) in zip(axes, _PANELS.items(), strict=True):
        values = [getattr(row, entry) for row in table.rows]
        before = [row.grown_leaves for row in table.rows] if entry == "n_leaves" else values
        _draw_bars(ax, values, before, form, colour)
        tidy(ax, title="Presets on one table" if ax is axes[0] else "", x=title, grid="x")
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(n), [f"{row.name}\n{row.root}" for row in table.rows])
    axes[0].set_ylim(n - 0.5, -0.5)
    return figure


def _draw_bars(ax: Any, values: list[float], before: list[float], form: str, colour: str) -> None:
    """A bar a preset with its number written at it, and a hollow one where pruning changed it."""
    places = range(len(values))
    ax.barh(places, values, height=0.6, color=colour)
    hollow = ax.barh(places, before, height=0.6, facecolor="none", edgecolor=MUTED, linestyle="--")
    words = []
    for bar, value, grown in zip(hollow, values, before, strict=True):
        bar.set_visible(grown != value)
        words.append(format(value, form) + (f" of {grown:,}" if grown != value else ""))
    ax.bar_label(hollow, words, padding=3, fontsize=TICK_SIZE, color=INK)
    ax.set_xlim(0, 1.4 * max(before) or 1.0)  # room for the words
    ax.locator_params(axis="x", nbins=4)
