"""Decision regions on paper: two numeric columns shown, the others held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target, class_places
from ceiba.datasets.frame import to_frame
from ceiba.plots.mixtures.layers import mixed_colours
from ceiba.plots.plane import draw_sample, limits
from ceiba.plots.planes.scatter import point_size
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, colour_of, marker_of, new_figure, tidy
from ceiba.plots.trees.steps import LeafBoxes
from ceiba.tree.model.tree import Tree

__all__ = ["regions"]

_LEGEND_CLASSES = 14
_HELD_NAMED = 3  # held columns that the title names one by one
_DAY = 86_400e9  # nanoseconds
_PALE = 0.38  # share of a class's colour in its region, the rest is white


def regions(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    resolution: int = 300,
    probabilities: bool = False,
    edges: bool = False,
    ax: Any = None,
    max_points: int = 2_000,
    random_state: Any = 0,
) -> Any:
    """Draw what a classifier predicts over two numeric columns, and the rows on top.

    A tree of Ceiba is drawn exactly, as the rectangles of its leaves; any other classifier on a
    grid. Further columns of the model are held at their median (of two middle values the lower),
    or their most frequent level, as the title says: the picture is then one cut through the
    model, and rows whose other values differ may be predicted otherwise. Rows that the model gets
    wrong are ringed. Rows with a gap in a shown column are left out.

    Parameters
    ----------
    model : fitted classifier
        With ``predict`` and ``classes_``, of Ceiba or scikit-learn.
    X : array, frame or table
        Rows to draw; they also say where the held columns stand.
    y : array of shape (n_rows,), optional
        Their classes; without them rows are grey.
    columns : pair of names or numbers, optional
        The columns to show. Unless given, the two numeric ones of greatest
        ``feature_importances_``, or the first two where the model has none.
    resolution : int
        Places of the grid along each axis; a tree needs none.
    probabilities : bool
        Mix the classes' colours by ``predict_proba`` instead of showing the predicted class.
    edges : bool
        Draw the edges of the leaves, of a tree.
    ax : Axes, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("regions.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=3).fit(iris.table, iris.y)
    >>> picture = plots.regions(model, iris.table, iris.y, edges=True)
    >>> picture.axes[0].get_xlabel(), picture.axes[0].get_ylabel()
    ('petal length (cm)', 'petal width (cm)')
    """
    section = Section.of(model, X, columns)
    _check(model, resolution, edges)
    own = ax is None
    if own:
        ax = new_figure(7.0, 4.8).add_subplot()
    if isinstance(getattr(model, "tree_", None), Tree):
        boxes = section.boxes(model.tree_)
        _draw_boxes(ax, boxes, _colours(model, section, boxes.high, probabilities), edges)
    else:
        _draw_grid(ax, model, section, resolution, probabilities)
    rows = section.sample(max_points, random_state)
    _draw_rows(ax, model, X, y, section, rows)
    section.dress(ax, f"{type(model).__name__}, {section.counted(rows)}")
    if len(model.classes_) <= _LEGEND_CLASSES:
        _legend(ax, beside=own)
    return ax.figure


def _check(model: Any, resolution: int, edges: bool) -> None:
    if not hasattr(model, "classes_"):
        raise ValueError(
            f"{type(model).__name__} has no classes_, and regions are a classifier's: draw a "
            "regression tree with plots.partition"
        )
    if resolution < 2:
        raise ValueError(f"resolution={resolution}: give the places along each axis, 2 or more")
    if edges and not isinstance(getattr(model, "tree_", None), Tree):
        raise ValueError(
            f"edges=True draws the edges of leaves, and {type(model).__name__} is no tree of Ceiba"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A cut through the columns of a table: some numeric ones shown, the others held.

    Attributes
    ----------
    table : Table
        The rows, under the model's schema.
    shown : tuple of int
        The columns along the axes.
    held : list
        For each column the value (a level's code) it is held at; None where it is shown.
    points : array of shape (n_rows, n_shown)
        Where the rows stand; NaN for a gap.
    low, high : array of shape (n_shown,)
        Corners of what is seen.
    plain : bool
        Whether the model takes plain arrays or frames, as scikit-learn's do, and not tables.
    """

    table: Table
    shown: tuple[int, ...]
    held: list[Any]
    points: Array
    low: Array
    high: Array
    plain: bool

    @classmethod
    def of(
        cls, model: Any, X: Any, columns: Sequence[str | int] | None = None, width: int = 2
    ) -> Section:
        """The cut along ``width`` columns: those given, or the most important numeric ones."""
        schema = getattr(model, "schema_", None)
        table = Table.of(X, schema)
        table.check_finite()
        shown = _shown(model, table.schema, columns, width)
        held = [None if j in shown else _middle(table, j) for j in range(len(table.schema))]
        points = np.column_stack([_numbers(table, j) for j in shown])
        known = points[~np.isnan(points).any(axis=1)]
        if not len(known):
            raise ValueError("no row has a value in every shown column: there is nothing to draw")
        low, high = limits([known])
        return cls(table, shown, held, points, low, high, schema is None)

    @property
    def names(self) -> list[str]:
        """Names of the shown columns."""
        return [self.table.schema[j].name for j in self.shown]

    @property
    def held_words(self) -> str:
        """Where the columns stand that are not shown; empty where there are none."""
        others = [j for j, value in enumerate(self.held) if value is not None]
        if len(others) > _HELD_NAMED:
            return f"{len(others)} other columns held at median or most frequent level"
        return "held: " + ", ".join(self._held_at(j) for j in others) if others else ""

    def rows(self, places: Array) -> Any:
        """Rows with these values (n, n_shown) in the shown columns, as the model takes them."""
        columns = [
            np.ascontiguousarray(places[:, self.shown.index(j)])
            if value is None
            else np.full(len(places), value)
            for j, value in enumerate(self.held)
        ]
        if self.plain and not self.table.schema.named and self.table.schema.all_numeric:
            return np.column_stack(columns).astype(float)
        schema = Schema(
            tuple(
                replace(column, dtype="float64") if j in self.shown else column
                for j, column in enumerate(self.table.schema)
            ),
            self.table.schema.named,
        )
        table = Table.from_columns(columns, schema)
        return to_frame(table) if self.plain else table

    def boxes(self, tree: Tree) -> LeafBoxes:
        """The leaves of a tree as this section cuts through them."""
        return LeafBoxes.of(tree, self.low, self.high, self.shown, self.held)

    def sample(self, most: int, random_state: Any = 0) -> Array:
        """Numbers of the rows to draw: ``most`` of those without a gap in a shown column."""
        known = np.flatnonzero(~np.isnan(self.points).any(axis=1))
        return known[draw_sample(len(known), most, random_state)]

    def counted(self, rows: Array) -> str:
        """How many rows there are, and how many of them are drawn."""
        n = len(self.points)
        return _rows(n) + (f" ({len(rows):,} drawn)" if len(rows) < n else "")

    def dress(self, ax: Any, title: str) -> None:
        """Write the title, with where the held columns stand, and what the axes are."""
        title += f"\n{self.held_words}" if self.held_words else ""
        x, y = (*self.names, "")[:2]
        tidy(ax, title=title, x=x, y=y)
        ax.set_xlim(self.low[0], self.high[0])
        if len(self.shown) == 2:
            ax.set_ylim(self.low[1], self.high[1])

    def _held_at(self, j: int) -> str:
        column, value = self.table.schema[j], self.held[j]
        if column.kind is not Kind.NUMERIC:
            return f"{column.name} = {column.levels[value]}"
        if column.dtype.startswith("datetime"):
            return f"{column.name} = {np.datetime_as_string(value.view('M8[ns]'), unit='auto')}"
        if column.temporal:
            return f"{column.name} = {value / _DAY:.4g} days"
        return f"{column.name} = {value:.4g}"


def _shown(
    model: Any, schema: Schema, columns: Sequence[str | int] | None, width: int
) -> tuple[int, ...]:
    """Numbers of the columns to show."""
    numeric = [j for j, column in enumerate(schema) if _drawable(schema, j)]
    if columns is None:
        if len(numeric) < width:
            raise ValueError(
                f"the picture shows {width} numeric columns, and the table has {len(numeric)}"
            )
        weights = getattr(model, "feature_importances_", np.zeros(len(schema)))
        first = sorted(numeric, key=lambda j: -weights[j])[:width]
        return tuple(sorted(first))
    if isinstance(columns, str) or len(columns) != width:
        raise ValueError(f"columns={columns!r}: give {width} columns, by name or number")
    found = tuple(_place(schema, column) for column in columns)
    if len(set(found)) < width:
        raise ValueError(f"columns={columns!r}: give {width} different columns")
    for j in found:
        if j not in numeric:
            raise ValueError(
                f"column {schema[j].name!r} is {'a time' if schema[j].temporal else schema[j].kind}"
                f": the axes show numbers, {', '.join(repr(schema[k].name) for k in numeric[:5])}"
            )
    return found


def _drawable(schema: Schema, j: int) -> bool:
    return schema[j].kind is Kind.NUMERIC and not schema[j].temporal


def _place(schema: Schema, column: str | int) -> int:
    if isinstance(column, str):
        if column not in schema.names:
            raise ValueError(f"no column is called {column!r}; the columns are {schema.names!r}")
        return schema.names.index(column)
    if not 0 <= column < len(schema):
        raise ValueError(f"there is no column {column}: the table has {len(schema)}, from 0")
    return int(column)


def _numbers(table: Table, j: int) -> Array:
    """A numeric column as floats, NaN in its gaps."""
    values, gaps = table.column(j).astype(np.float64), table.gaps(j)
    return values if gaps is None else np.where(gaps, np.nan, values)


def _middle(table: Table, j: int) -> Any:
    """The median of a column's numbers, itself one of them, or the code of its commonest level."""
    gaps = table.gaps(j)
    known = table.column(j) if gaps is None else table.column(j)[~gaps]
    if not len(known):
        raise ValueError(
            f"column {table.schema[j].name!r} has no value that it could be held at: give rows "
            "that have one"
        )
    if table.schema[j].kind is Kind.NOMINAL:
        return np.bincount(known).argmax()
    return np.sort(known)[(len(known) - 1) // 2]


def _colours(model: Any, section: Section, places: Array, probabilities: bool) -> Array:
    """Pale colour of each place, (n, 3)."""
    rows = section.rows(places)
    classes = np.asarray(model.classes_)
    if probabilities:
        shares = np.asarray(model.predict_proba(rows))
    else:
        shares = np.eye(len(classes))[class_places(np.asarray(model.predict(rows)), classes)]
    return pale_colours(shares)


def pale_colours(shares: Array) -> Array:
    """Red, green and blue (n, 3) of places by how the classes share them, (n, K)."""
    return 1 - _PALE * (1 - mixed_colours(shares, range(shares.shape[1])))


def class_codes(model: Any, y: Any, n_rows: int) -> Array:
    """Place of each row's class among the model's; ValueError where there is another one."""
    target = Target.of(y, n_rows)
    assert target.classes is not None
    codes: Array = class_places(target.classes, np.asarray(model.classes_))[target.values]
    return codes


def _draw_boxes(ax: Any, boxes: LeafBoxes, colours: Array, edges: bool) -> None:
    from matplotlib.collections import PolyCollection

    line = {"edgecolors": MUTED, "linewidths": 0.8} if edges else {"linewidths": 0}
    # Smoothed rims would let the white page shine through between neighbours.
    ax.add_collection(
        PolyCollection(
            list(boxes.outlines), facecolors=colours, antialiaseds=edges, zorder=0.5, **line
        )
    )


def _draw_grid(ax: Any, model: Any, section: Section, resolution: int, probabilities: bool) -> None:
    """Colour of the middle of each of ``resolution`` x ``resolution`` cells."""
    step = (np.arange(resolution) + 0.5) / resolution
    x, y = (low + step * (high - low) for low, high in zip(section.low, section.high, strict=True))
    places = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    colours = _colours(model, section, places, probabilities)
    extent = (section.low[0], section.high[0], section.low[1], section.high[1])
    ax.imshow(
        colours.reshape(resolution, resolution, 3), extent=extent, origin="lower", aspect="auto",
        interpolation="nearest", zorder=0.5,
    )  # fmt: skip


def _draw_rows(ax: Any, model: Any, X: Any, y: Any, section: Section, rows: Array) -> None:
    """One collection of points a class, and rings about the rows that are predicted wrongly."""
    points, size = section.points[rows], point_size(len(rows))
    look = {"s": size, "edgecolors": "white", "linewidths": 0.6, "zorder": 2}
    if y is None:
        ax.scatter(*points.T, c=MUTED, **look)
        return
    classes = np.asarray(model.classes_)
    codes = class_codes(model, y, len(section.points))
    for code, label in enumerate(classes):
        mine = codes[rows] == code
        shown = f"{label}  ({_rows((codes == code).sum())})"
        ax.scatter(*points[mine].T, c=colour_of(code), marker=marker_of(code), label=shown, **look)
    said = np.asarray(model.predict(X if section.plain else section.table))
    wrong = class_places(said, classes) != codes
    if wrong.any():
        mine = wrong[rows]
        # On top of rows that stand in the same place, or the wrong one of two would not be seen.
        ax.scatter(
            *points[mine].T, c=[colour_of(code) for code in codes[rows][mine]], s=1.4 * size,
            edgecolors=INK, linewidths=1.5, zorder=2.5, label=f"wrong  ({_rows(wrong.sum())})",
        )  # fmt: skip


def _rows(n: int) -> str:
    return f"{n:,} {'row' if n == 1 else 'rows'}"


def _legend(ax: Any, beside: bool) -> None:
    """Beside the axes where the figure is ours to lay out, else inside them."""
    handles, _ = ax.get_legend_handles_labels()
    if not handles:
        return
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    legend = ax.legend(
        title="class", fontsize=LABEL_SIZE, title_fontsize=LABEL_SIZE, labelcolor=INK,
        alignment="left", **(place if beside else {"loc": "best"}),
    )  # fmt: skip
    legend.get_title().set_color(MUTED)
    for handle in legend.legend_handles:
        handle.set_sizes([36])
        if handle.get_label().startswith("wrong"):
            handle.set_facecolor("none")
