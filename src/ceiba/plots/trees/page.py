"""The paper that a tree is drawn on: its size, title and legend, in points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ceiba.plots.style import INK, LABEL_SIZE, MUTED, TICK_SIZE, TITLE_SIZE, new_figure
from ceiba.plots.trees.canvas import Canvas
from ceiba.plots.trees.colors import Colours, NumberColours, class_colour
from ceiba.plots.trees.nodes import short, text_width
from ceiba.plots.trees.scene import Scene, Stage

INCH = 72.0
_MARGIN = 10.0
_TITLE = 30.0
_LEGEND_LINE, _SCALE_HEIGHT, _SCALE_WIDTH = 15.0, 34.0, 170.0
_MOST_NAMES = 28


def need_matplotlib() -> None:
    """Say at once what pictures need: words are measured before there is a figure."""
    if find_spec("matplotlib") is None:
        raise ImportError('pictures need matplotlib: pip install "ceiba[app]"')


@dataclass(frozen=True, slots=True, eq=False)
class Legend:
    """The classes in their colours, or the scale of numbers.

    Parameters
    ----------
    labels : list or None
        Labels of the classes; None for numbers.
    colours : Colours
    """

    labels: list[Any] | None
    colours: Colours

    @property
    def names(self) -> list[str]:
        """What is written, in the order of the classes."""
        assert self.labels is not None
        names = [short(label, 24) for label in self.labels[:_MOST_NAMES]]
        rest = len(self.labels) - len(names)
        return [*names, f"… {rest} more classes"] if rest else names

    def columns(self, width: float) -> int:
        """Names that stand side by side in a width of points."""
        widest = max(text_width(name) for name in self.names) + 3.5
        return min(len(self.names), max(1, int(width / (widest * LABEL_SIZE))))

    def width(self) -> float:
        """Width, in points, of all in one line."""
        if self.labels is None:
            return _SCALE_WIDTH
        widest = max(text_width(name) for name in self.names) + 3.5
        return len(self.names) * widest * LABEL_SIZE

    def height(self, width: float) -> float:
        """Height, in points, that it needs in a width."""
        if self.labels is None:
            return _SCALE_HEIGHT
        return _LEGEND_LINE * -(-len(self.names) // self.columns(width)) + 4.0

    def draw(self, ax: Any, width: float, height: float) -> None:
        """Draw it at the foot of axes of a width and height in points."""
        if isinstance(self.colours, NumberColours):
            self._draw_scale(ax, width, height)
        else:
            self._draw_names(ax, width)

    def _draw_names(self, ax: Any, width: float) -> None:
        from matplotlib.patches import Patch

        assert self.labels is not None
        known = [class_colour(k) for k in range(min(len(self.labels), _MOST_NAMES))]
        colours = known + ["none"] * (len(self.names) - len(known))
        pairs = zip(colours, self.names, strict=True)
        legend = ax.legend(
            handles=[Patch(facecolor=colour, label=name) for colour, name in pairs],
            loc="lower center", ncols=self.columns(width), frameon=False, fontsize=LABEL_SIZE,
            labelcolor=INK, borderaxespad=0.0, borderpad=0.1, handlelength=1.2, handleheight=0.8,
            labelspacing=0.35, columnspacing=1.4,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _draw_scale(self, ax: Any, width: float, height: float) -> None:
        assert isinstance(self.colours, NumberColours)
        share = min(_SCALE_WIDTH / width, 1.0)
        place = [(1 - share) / 2, 18.0 / height, share, 9.0 / height]
        inset = ax.inset_axes(place)
        bar = ax.figure.colorbar(self.colours.mappable(), cax=inset, orientation="horizontal")
        bar.outline.set_visible(False)
        bar.locator = _few_ticks()
        bar.ax.tick_params(labelsize=TICK_SIZE, color=MUTED, labelcolor=INK, length=3)


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Axes in points with room for a tree, and its legend at the foot.

    Attributes
    ----------
    ax : Axes
    width, height : float
        Size of the axes in points.
    legend : Legend or None
    """

    ax: Any
    width: float
    height: float
    legend: Legend | None

    @classmethod
    def on(cls, ax: Any, legend: Legend | None) -> Page:
        """A page on given axes, as large as they are going to be."""
        ax.set_axis_off()
        figure = ax.figure.figure  # the whole one, where the axes are in a part of it
        engine = figure.get_layout_engine()
        if engine is not None and ax.get_subplotspec() is not None:
            engine.execute(figure)
        box = ax.get_window_extent()
        scale = INCH / figure.dpi
        page = cls(ax, box.width * scale, box.height * scale, legend)
        ax.set(xlim=(0.0, page.width), ylim=(page.height, 0.0))
        return page

    @property
    def room(self) -> tuple[float, float]:
        """Width and height, in points, that are left for the tree."""
        return room_of(self.width, self.height, self.legend)

    def canvas(self, scene: Scene, weight: Any) -> Canvas:
        """The scene in the middle of the page, at the size of text that fits."""
        font = scene.font(self.room)
        left = (self.width - font * scene.layout.width) / 2
        free = self.room[1] - font * scene.layout.height
        return Canvas(self.ax, scene, font, (left, free / 2), weight)

    def draw_legend(self) -> None:
        """Draw the legend, if there is one."""
        if self.legend is not None:
            self.legend.draw(self.ax, self.width, self.height)


def room_of(width: float, height: float, legend: Legend | None) -> tuple[float, float]:
    """What a legend leaves of a page, in points."""
    low = legend.height(width) + _MARGIN if legend is not None else 0.0
    return width, max(height - low, 1.0)


def check_size(largest: tuple[float, float]) -> None:
    """Refuse a size of a figure, in inches, on which nothing could be read."""
    if not min(largest) >= 1:
        raise ValueError(f"max_size={largest}: give width and height in inches, at least 1 each")


def new_page(
    stage: Stage, legend: Legend, title: Sequence[str], largest: tuple[float, float]
) -> tuple[Page, Scene]:
    """A figure as large as the tree needs, up to a size in inches, and what it shows.

    ``title`` has its lines; it is not drawn, but there is room for it.
    """
    check_size(largest)
    widest = largest[0] * INCH - 2 * _MARGIN
    head = TITLE_SIZE * 1.4 * (len(title) - 1) + _TITLE
    tallest = largest[1] * INCH - head - _MARGIN
    scene = stage.fitted(room_of(widest, tallest, legend))
    font = scene.font(room_of(widest, tallest, legend))
    words = max(text_width(line) * TITLE_SIZE for line in title)
    width = max(scene.layout.width * font, words, min(legend.width(), widest))
    height = scene.layout.height * font + legend.height(width) + _MARGIN
    return _blank(width, height, head, legend), scene


def _blank(width: float, height: float, head: float, legend: Legend) -> Page:
    full = width + 2 * _MARGIN, height + head + _MARGIN
    figure = new_figure(full[0] / INCH, full[1] / INCH)
    # The axes are measured in points, so that text fits: nothing may move them.
    figure.set_layout_engine("none")
    place = [_MARGIN / full[0], _MARGIN / full[1], width / full[0], height / full[1]]
    return Page.on(figure.add_axes(place), legend)
