"""Style of every picture: colors safe for color-blind readers, quiet axes, short texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from os.path import commonprefix
from typing import Any

import numpy as np

from ceiba._typing import Array

# The palette of Okabe and Ito with dark gray for black; its yellow is too pale on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#404040")
# Blend with white or black, by this fraction, whenever the colors repeat.
_REPETITIONS = ((0.0, "white"), (0.45, "white"), (0.45, "black"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#222222"
MUTED = "#6B6B6B"
GRID = "#E4E4E4"
PALE = "#D8D8D8"
ACCENT = "#D55E00"
HIGHLIGHT = "#F0E442"

TITLE_SIZE = 11
LABEL_SIZE = 9.5
TICK_SIZE = 8.5

COLOR_MAP = "viridis"  # of numbers; perceptually uniform, also for color-blind readers

LEGEND: dict[str, Any] = {"fontsize": LABEL_SIZE, "labelcolor": INK, "frameon": False}

MAX_LINE = 27  # characters
MAX_LEGEND = 14  # clusters, components or classes
# Small letters are placed on whole pixels, which makes some texts wider than the font states.
_SLACK = 1.07
_INSTALL = 'ceiba.plots requires matplotlib: pip install "ceiba[plots]".'


def color_of(index: int) -> str:
    """Return the color of a cluster or class; paler, then darker, when the seven repeat."""
    color = PALETTE[index % len(PALETTE)]
    fraction, other = _REPETITIONS[index // len(PALETTE) % len(_REPETITIONS)]
    return blend(color, fraction, other) if fraction else color


def blend(color: str, fraction: float, other: str = "white") -> str:
    """Blend a color with another, by the fraction of the second."""
    from matplotlib.colors import to_hex, to_rgb

    first, second = (np.array(to_rgb(c)) for c in (color, other))
    return str(to_hex((1 - fraction) * first + fraction * second))


def marker_of(index: int) -> str:
    """Return the marker of a cluster or class; it changes whenever the colors repeat."""
    return MARKERS[index // len(PALETTE) % len(MARKERS)]


def mixed_colors(weights: Array, numbers: Sequence[int]) -> Array:
    """Mix the colors of ``numbers`` by weights (n, K); return RGB (n, 3)."""
    from matplotlib.colors import to_rgb

    colors = np.array([to_rgb(color_of(number)) for number in numbers])
    mixed: Array = np.clip(weights @ colors, 0.0, 1.0)
    return mixed


def point_size(n_points: int) -> float:
    """Return the area of a point, smaller if there are more of them."""
    return float(np.clip(20_000 / max(n_points, 1), 5, 34))


def require_matplotlib() -> None:
    """Raise ImportError without matplotlib, before any text is measured."""
    if find_spec("matplotlib") is None:
        raise ImportError(_INSTALL)


def new_figure(width: float, height: float) -> Any:
    """Make an empty figure (inches) that displays itself in a notebook."""
    try:
        from ceiba.plots.figure import Picture
    except ImportError as error:
        raise ImportError(_INSTALL) from error
    return Picture(figsize=(width, height), dpi=120, layout="constrained", facecolor="white")


def new_axes(width: float, height: float, **options: Any) -> Any:
    """Make axes on a new figure (inches)."""
    return new_figure(width, height).add_subplot(**options)


def panel_grid(
    figure: Any, n_panels: int, max_columns: int, size: tuple[float, float], **options: Any
) -> list[Any]:
    """Make axes in rows of equal length; a new figure has panels of ``size``."""
    rows = -(-n_panels // max_columns)
    columns = -(-n_panels // rows)
    figure = figure or new_figure(size[0] * columns, size[1] * rows)
    axes = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    return list(axes[:n_panels])


def label_outer(axes: Sequence[Any]) -> None:
    """Keep labels at the left, and below panels of a grid that have none below them."""
    spec = axes[0].get_subplotspec()
    columns = 1 if len(axes) == 1 else spec.get_gridspec().ncols
    for index, ax in enumerate(axes):
        is_lowest, is_first = index + columns >= len(axes), index % columns == 0
        ax.tick_params(labelbottom=is_lowest, labelleft=is_first)
        if not is_lowest:
            ax.set_xlabel("")
        if not is_first:
            ax.set_ylabel("")


def style_axes(
    ax: Any, *, title: str = "", x: str = "", y: str = "", grid: str | None = None
) -> None:
    """Set title and axis labels in the common style; ``grid`` is "x", "y" or "both"."""
    set_title(ax, title)
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


def label_bars(ax: Any, names: Sequence[str]) -> None:
    """Label horizontal bars, the first at the top, without an axis line."""
    ax.set_yticks(range(len(names)), names)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def set_title(ax: Any, title: str, **options: Any) -> None:
    """Set the main title, at the left."""
    ax.set_title(title, loc="left", fontsize=TITLE_SIZE, color=INK, pad=8, **options)


def set_note(ax: Any, text: str, color: str = MUTED, **options: Any) -> None:
    """Set the second title, at the right."""
    ax.set_title(text, loc="right", **{"fontsize": LABEL_SIZE, "color": color, "pad": 8, **options})


def plain_numbers(ax: Any) -> None:
    """Write the tick labels of the y axis in full, without an offset above it."""
    ax.yaxis.set_major_formatter(lambda value, _: number_text(value, 6))


def color_scale(low: float, high: float) -> Any:
    """Return the color scale of numbers in a range."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    return ScalarMappable(Normalize(low, high), COLOR_MAP)


def add_color_bar(figure: Any, scale: Any, **position: Any) -> Any:
    """Add the color bar of a scale; ``position`` as of ``Figure.colorbar``."""
    bar = figure.colorbar(scale, **position)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=TICK_SIZE, color=MUTED, labelcolor=INK, length=3)
    return bar


def add_legend(ax: Any, title: str, *, beside: bool, handles: Any = None) -> Any:
    """Add a legend beside the axes of a new figure, or else inside them."""
    position = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    given = {} if handles is None else {"handles": handles}
    legend = ax.legend(
        title=title, fontsize=LABEL_SIZE, title_fontsize=LABEL_SIZE, labelcolor=INK,
        alignment="left", **given, **(position if beside else {"loc": "best"}),
    )  # fmt: skip
    legend.get_title().set_color(MUTED)
    return legend


def number_text(value: float, digits: int) -> str:
    """Format a number with so many significant digits and a true minus sign."""
    return f"{value:.{digits}g}".replace("-", "−")


def count_text(n: int, noun: str) -> str:
    """Return a number and its noun: 1 leaf, 2,000 leaves."""
    if n != 1:
        noun = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{n:,} {noun}"


def rows_text(n_rows: int, n_drawn: int) -> str:
    """Return the number of rows, and of those drawn if it is smaller."""
    return count_text(n_rows, "row") + (f" ({n_drawn:,} drawn)" if n_drawn < n_rows else "")


def shorten(text: Any, max_length: int = MAX_LINE) -> str:
    """Return the text on one line of at most ``max_length`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"


def shorten_middle(text: Any, max_length: int) -> str:
    """Return the text on one line of at most ``max_length`` characters, without its middle.

    Names of columns often share their beginning or their end, such as "age_of_the_first_…".
    """
    line = " ".join(str(text).split())
    if len(line) <= max_length:
        return line
    end = (max_length - 1) // 2
    return f"{line[: max_length - 1 - end]}…{line[len(line) - end :]}"


def shorten_names(names: Sequence[Any], max_length: int) -> list[str]:
    """Return names without their middles; of those that would be equal, without their beginning."""
    lines = [" ".join(str(name).split()) for name in names]
    found = [shorten_middle(line, max_length) for line in lines]
    for text in set(found):
        equal = [index for index, other in enumerate(found) if other == text]
        own = [lines[index] for index in equal]
        if len(set(own)) > 1:
            shared = len(commonprefix(own))  # noqa: RUF071 - the prefix of characters
            for index, line in zip(equal, own, strict=True):
                found[index] = shorten_middle(f"…{line[shared:]}", max_length)
    return found


def shorten_to_width(text: Any, max_width: float) -> str:
    """Return the text on one line of at most a width in units of the font size."""
    length = len(" ".join(str(text).split()))
    while length > 1 and text_width(shorten(text, length)) > max_width:
        length -= 1
    return shorten(text, length)


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the width of a text in units of the font size, with some slack."""
    from matplotlib.font_manager import FontProperties, findfont

    font = findfont(FontProperties(weight="bold" if bold else "normal"))
    return _SLACK * sum(_letter_width(letter, font) for letter in text)


@lru_cache(maxsize=4096)
def _letter_width(letter: str, font: str) -> float:
    """Measure a letter between two others, since a space alone has no width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    face = FontProperties(fname=font, size=1.0)
    width = float(text_to_path.get_text_width_height_descent(f"x{letter}x", face, False)[0])
    return max(width - _letter_width("", font), 0.0) if letter else width
