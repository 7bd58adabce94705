"""The look of every picture: colours that colour-blind eyes tell apart, quiet axes."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, with a dark grey for their black; the yellow is too pale on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#404040")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#222222"
MUTED = "#6B6B6B"
GRID = "#E4E4E4"
ACCENT = "#D55E00"
GLOW = "#F0E442"

TITLE_SIZE = 11
LABEL_SIZE = 9.5
TICK_SIZE = 8.5


def colour_of(cluster: int) -> str:
    """Colour of a cluster; colours come round again after seven."""
    return PALETTE[cluster % len(PALETTE)]


def marker_of(cluster: int) -> str:
    """Marker of a cluster's rows: another one each time the colours come round."""
    return MARKERS[cluster // len(PALETTE) % len(MARKERS)]


def new_figure(width: float, height: float) -> Any:
    """An empty figure (inches) that belongs to no global state and shows itself in a notebook."""
    try:
        from ceiba.plots.playback.picture import Picture
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "ceiba[app]"') from error
    return Picture(figsize=(width, height), dpi=120, layout="constrained", facecolor="white")


def tidy(ax: Any, *, title: str = "", x: str = "", y: str = "", grid: str | None = None) -> None:
    """Give axes their title, labels and the house's look.

    Parameters
    ----------
    ax : Axes
    title, x, y : str
    grid : {"x", "y", "both"}, optional
        Which grid lines to draw; None for none.
    """
    ax.set_title(title, loc="left", fontsize=TITLE_SIZE, color=INK, pad=8)
    ax.set_xlabel(x, fontsize=LABEL_SIZE, color=INK)
    ax.set_ylabel(y, fontsize=LABEL_SIZE, color=INK)
    ax.tick_params(labelsize=TICK_SIZE, color=MUTED, labelcolor=INK, length=3)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(MUTED)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=GRID, linewidth=0.8)


def plain_numbers(ax: Any) -> None:
    """Write the numbers of the y axis out in full, without an offset above it."""
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.6g}".replace("-", "−"))
