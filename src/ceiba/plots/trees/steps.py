"""Trees as the step functions that they are: exact pieces, and regression in one dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.plots.plane import draw_sample, limits
from ceiba.plots.planes.scatter import point_size
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, PALETTE, colour_of, new_figure, tidy
from ceiba.tree.model.split import Split
from ceiba.tree.model.tree import Tree

__all__ = ["steps"]

_COLUMNS = 3  # panels beside each other
_MODELS = len(PALETTE)  # curves that one panel tells apart


@dataclass(frozen=True, slots=True, eq=False)
class LeafBoxes:
    """The leaves of a tree along some numeric columns: exact, by the thresholds on their paths.

    Attributes
    ----------
    leaves : array of shape (n_boxes,)
        Numbers of the nodes.
    low, high : array of shape (n_boxes, n_shown)
        A row is in a box where low < value <= high in each shown column, within what is seen. The
        upper corner of a box thus belongs to it.
    """

    leaves: Array
    low: Array
    high: Array

    @classmethod
    def of(
        cls, tree: Tree, low: Array, high: Array, shown: Sequence[int], held: Sequence[Any] = ()
    ) -> LeafBoxes:
        """The boxes that are seen between two corners, in the order of the tree's branches.

        Parameters
        ----------
        tree : Tree
        low, high : array of shape (n_shown,)
        shown : sequence of int
            The numeric columns along the axes.
        held : sequence
            For every column where it is held, a number or the code of a level; those shown are
            not looked at.
        """
        found = []
        waiting = [(0, low, high)]
        while waiting:
            node, low, high = waiting.pop()
            if tree.is_leaf[node]:
                found.append((node, low, high))
                continue
            split, children = tree.split(node), tree.children(node)
            if split.column in shown:
                seen = _parts(split, low, high, shown.index(split.column))
            else:
                seen = [(_taken(tree, split, held[split.column]), low, high)]
            waiting += [(children[branch], begin, end) for branch, begin, end in reversed(seen)]
        leaves, lows, highs = (np.array(part) for part in zip(*found, strict=True))
        return cls(leaves, lows, highs)

    @property
    def outlines(self) -> Array:
        """Corners of each rectangle along two columns, (n_boxes, 4, 2)."""
        (x0, y0), (x1, y1) = self.low.T, self.high.T
        corners = (x0, y0), (x1, y0), (x1, y1), (x0, y1)
        return np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)


def _cuts(split: Split) -> tuple[Any, ...]:
    return split.thresholds if split.kind == "intervals" else (split.threshold,)


def thresholds_of(tree: Tree, column: int) -> Array:
    """Every threshold of a tree in one numeric column, in the order of the nodes."""
    nodes = np.flatnonzero(~tree.is_leaf & (tree.column == column))
    return np.array([cut for node in nodes for cut in _cuts(tree.split(int(node)))], dtype=float)


def _parts(split: Split, low: Array, high: Array, axis: int) -> list[tuple[int, Array, Array]]:
    """The branches that reach into a box, each with its part of it."""
    found = []
    for branch, (above, upto) in enumerate(pairwise((-np.inf, *_cuts(split), np.inf))):
        begin, end = low.copy(), high.copy()
        begin[axis], end[axis] = max(low[axis], above), min(high[axis], upto)
        if begin[axis] < end[axis]:
            found.append((branch, begin, end))
    return found


def _taken(tree: Tree, split: Split, value: Any) -> int:
    """The branch of a row with this value (of levels: code) in the column that a node tests."""
    levels = tree.schema[split.column].levels
    if split.branches:
        holds = (b for b, group in enumerate(split.branches) if levels[value] in group)
        return next(holds, split.gaps)
    # The threshold of an ordinal column is a level, and infinity where only gaps are told apart.
    places = [levels.index(cut) if cut in levels else cut for cut in _cuts(split)]
    return sum(bool(value > place) for place in places)


def steps(
    models: Any,
    x: Any,
    y: Any,
    *,
    overlay: bool = False,
    ax: Any = None,
    figure: Any = None,
    max_points: int = 5_000,
    random_state: Any = 0,
) -> Any:
    """Draw regression trees of one numeric column as step functions over the rows.

    The steps are those of the thresholds, not of a grid. Several trees, of other depths or
    prunings, stand side by side or, on one pair of axes, over each other.

    Parameters
    ----------
    models : fitted tree, sequence of them, or mapping from names to them
        Each a `ceiba.DecisionTreeRegressor` of one numeric column. Without names they are called
        by their leaves and depth.
    x : array of shape (n_rows,), or array, frame or table of one column
    y : array of shape (n_rows,)
        Targets of the rows; panels tell each tree's mean squared error on them.
    overlay : bool
        Draw all trees on one pair of axes.
    ax : Axes, optional
        Where to draw all trees over each other.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor, plots
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> trees = [DecisionTreeRegressor(max_depth=d).fit(x, np.sin(x[:, 0])) for d in (1, 2, 4)]
    >>> picture = plots.steps(trees, x, np.sin(x[:, 0]))
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['2 leaves, depth 1', '4 leaves, depth 2', '16 leaves, depth 4']
    """
    if ax is not None and figure is not None:
        raise ValueError("give either ax or figure, to say where to draw")
    named = _named(models)
    together = overlay or ax is not None
    if together and len(named) > _MODELS:
        raise ValueError(
            f"one panel tells {_MODELS} trees apart, not {len(named)}: draw them side by side"
        )
    table = _one_column(named[0][1], x)
    values = Target.of(y, len(table), task="regression").values
    axes = [ax] if ax is not None else _panels(figure, 1 if together else len(named))
    rows = _known(table)
    rows = rows[draw_sample(len(rows), max_points, random_state)]
    for panel in axes:
        _draw_rows(panel, table, values, rows)
    for place, (name, model) in enumerate(named):
        said = f"MSE {_squared_error(model, table, values):.3g}"
        if together:
            _draw_steps(axes[0], model, table, colour_of(place), f"{name}  ({said})")
        else:
            _draw_steps(axes[place], model, table, colour_of(0), name)
            _entitle(axes[place], name, said)
    _dress(axes, table, "Regression trees as step functions" if together else "")
    return axes[0].figure


def _named(models: Any) -> list[tuple[str, Any]]:
    """The trees by what they are called."""
    names: Sequence[Any]
    if isinstance(models, Mapping):
        names, every = list(models), list(models.values())
    else:
        every = list(models) if isinstance(models, Sequence) else [models]
        names = []
    if not every:
        raise ValueError("there is no tree to draw: give at least one")
    for model in every:
        _check(model)
    return list(zip(names or [_title(model.tree_) for model in every], every, strict=True))


def _check(model: Any) -> None:
    tree = getattr(model, "tree_", None)
    if not isinstance(tree, Tree) or hasattr(model, "classes_"):
        raise ValueError(
            f"steps are those of a fitted regression tree of Ceiba, not of {type(model).__name__}"
        )
    schema = tree.schema
    if len(schema) != 1 or schema[0].kind is not Kind.NUMERIC or schema[0].temporal:
        raise ValueError(
            f"the tree has the columns {schema.names!r}, and steps are drawn along one numeric "
            "column: draw two with plots.partition"
        )


def _title(tree: Tree) -> str:
    n = tree.n_leaves
    return f"{n:,} {'leaf' if n == 1 else 'leaves'}, depth {tree.max_depth}"


def _one_column(model: Any, x: Any) -> Table:
    """The rows under the model's schema, and nothing but finite numbers or gaps."""
    if getattr(x, "ndim", 0) == 1 or (isinstance(x, list) and x and np.ndim(x[0]) == 0):
        x = np.asarray(x)[:, None]
    table = Table.of(x, model.schema_)
    table.check_finite()
    if not len(_known(table)):
        raise ValueError("x has no value: there is nothing to draw")
    return table


def _known(table: Table) -> Array:
    """Numbers of the rows with a value."""
    gaps = table.gaps(0)
    return np.arange(len(table)) if gaps is None else np.flatnonzero(~gaps)


def _squared_error(model: Any, table: Table, y: Array) -> float:
    return float(np.mean((model.predict(table) - y) ** 2))


def _panels(figure: Any, n: int) -> list[Any]:
    """Axes in lines of at most three, about as many in each."""
    rows = -(-n // _COLUMNS)
    columns = -(-n // rows)
    if figure is None:
        figure = new_figure(*(7.4, 4.2) if n == 1 else (3.6 * columns, 3.2 * rows))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for ax in axes[n:]:
        ax.remove()
    return list(axes[:n])


def _draw_rows(ax: Any, table: Table, y: Array, rows: Array) -> None:
    ax.scatter(
        table.column(0)[rows].astype(float), y[rows], s=0.7 * point_size(len(rows)), c=MUTED,
        alpha=0.55 if len(rows) <= 2_000 else 0.3, linewidths=0, zorder=1.5,
    )  # fmt: skip


def _draw_steps(ax: Any, model: Any, table: Table, colour: str, label: str) -> None:
    """The pieces of one tree, each a level line, joined by upright ones."""
    known = table.column(0)[_known(table)].astype(float)
    low, high = limits([known[:, None]], margin=0.03)
    boxes = LeafBoxes.of(model.tree_, low, high, (0,))
    edges = np.append(boxes.low[:, 0], high)
    values = model.predict(_numbers(boxes.high, table.schema))
    ax.stairs(values, edges, baseline=None, color=colour, linewidth=2.0, zorder=3, label=label)
    ax.set_xlim(low[0], high[0])


def _numbers(values: Array, schema: Schema) -> Table:
    """Floats as rows of the one column."""
    return Table.of(values, Schema.numeric(1, names=schema.names if schema.named else None))


def _entitle(ax: Any, name: str, said: str) -> None:
    tidy(ax, title=name, grid="y")
    ax.set_title(said, loc="right", fontsize=LABEL_SIZE, color=MUTED, pad=8)


def _dress(axes: Sequence[Any], table: Table, title: str) -> None:
    """Name what the axes are at the rim of all panels; one panel of all trees has a legend."""
    if title:
        tidy(axes[0], title=title, grid="y")
        axes[0].legend(
            fontsize=LABEL_SIZE, labelcolor=INK, loc="best", framealpha=0.9, edgecolor="none"
        )
    spec = axes[0].get_subplotspec()
    columns = 1 if len(axes) == 1 else spec.get_gridspec().ncols
    for place, ax in enumerate(axes):
        if place + columns >= len(axes):
            ax.set_xlabel(table.schema[0].name, fontsize=LABEL_SIZE, color=INK)
            ax.tick_params(labelbottom=True)
        if place % columns == 0:
            ax.set_ylabel("y", fontsize=LABEL_SIZE, color=INK)
