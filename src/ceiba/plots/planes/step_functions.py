"""Draw regression trees of one column as step functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.planes.section import LeafBoxes
from ceiba.plots.projection import bounding_box, sample_rows
from ceiba.tree.model.tree import Tree

__all__ = ["step_functions"]

_MAX_COLUMNS = 3  # panels side by side
_MAX_OVERLAID = len(style.PALETTE)  # curves of different color


@documented
def step_functions(
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

    The steps are exact: they come from the thresholds, not from a grid. Several trees, for example
    of different depths or prunings, are drawn side by side or, on one pair of axes, overlaid.

    Parameters
    ----------
    models : fitted tree, sequence of them, or mapping from names to them
        Each a `ceiba.DecisionTreeRegressor` of one numeric column. Without names the titles are
        their leaves and depth.
    x : array of shape (n_rows,), or array, frame or table of one column
    y : array of shape (n_rows,)
        Targets of the rows, for the mean squared error of each tree.
    overlay : bool
        Draw all trees on one pair of axes.
    ax : matplotlib Axes, optional
        Axes to draw all trees on.
    {figure}
    {sample}

    {picture}

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor, plots
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> trees = [DecisionTreeRegressor(max_depth=d).fit(x, np.sin(x[:, 0])) for d in (1, 2, 4)]
    >>> picture = plots.step_functions(trees, x, np.sin(x[:, 0]))
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['2 leaves, depth 1', '4 leaves, depth 2', '16 leaves, depth 4']
    """
    if ax is not None and figure is not None:
        raise ValueError("ax and figure must not be given together: pass one of them.")
    named = _named_trees(models)
    overlay = overlay or ax is not None
    if overlay and len(named) > _MAX_OVERLAID:
        raise ValueError(
            f"overlay=True requires at most {_MAX_OVERLAID} trees, got {len(named)}: draw them "
            "side by side."
        )
    table = _one_column(named[0][1], x)
    targets = Target.of(y, len(table), task="regression").values
    n = 1 if overlay else len(named)
    size = (7.4, 4.2) if n == 1 else (3.6, 3.2)
    axes = [ax] if ax else style.panel_grid(figure, n, _MAX_COLUMNS, size, sharex=True, sharey=True)
    rows = _observed(table)
    rows = rows[sample_rows(len(rows), max_points, random_state)]
    for panel in axes:
        _draw_rows(panel, table, targets, rows)
    for index, (name, model) in enumerate(named):
        error = f"MSE {np.mean((model.predict(table) - targets) ** 2):.3g}"
        if overlay:
            _draw_steps(axes[0], model, table, style.color_of(index), f"{name}  ({error})")
        else:
            _draw_steps(axes[index], model, table, style.color_of(0), name)
            style.style_axes(axes[index], title=name, grid="y")
            style.set_note(axes[index], error)
    _label_axes(axes, table, "Regression trees as step functions" if overlay else "")
    return axes[0].figure


def _named_trees(models: Any) -> list[tuple[str, Any]]:
    """Return the trees with their names."""
    names: Sequence[Any]
    if isinstance(models, Mapping):
        names, trees = list(models), list(models.values())
    else:
        trees = list(models) if isinstance(models, Sequence) else [models]
        names = []
    if not trees:
        raise ValueError("models must contain at least one tree, got none.")
    for model in trees:
        _check_tree(model)
    return list(zip(names or [_tree_title(model.tree_) for model in trees], trees, strict=True))


def _check_tree(model: Any) -> None:
    tree = getattr(model, "tree_", None)
    if not isinstance(tree, Tree) or hasattr(model, "classes_"):
        raise ValueError(
            f"models must be fitted regression trees of Ceiba, got {type(model).__name__}."
        )
    schema = tree.schema
    if len(schema) != 1 or schema[0].kind is not Kind.NUMERIC or schema[0].temporal:
        raise ValueError(
            f"models must be trees of one numeric column, got columns {schema.names!r}: draw two "
            "columns with plots.partition."
        )


def _tree_title(tree: Tree) -> str:
    return f"{style.count_text(tree.n_leaves, 'leaf')}, depth {tree.max_depth}"


def _one_column(model: Any, x: Any) -> Table:
    """Return the rows under the model's schema; values must be finite or missing."""
    if getattr(x, "ndim", 0) == 1 or (isinstance(x, list) and x and np.ndim(x[0]) == 0):
        x = np.asarray(x)[:, None]
    table = Table.of(x, model.schema_)
    table.check_finite()
    if not len(_observed(table)):
        raise ValueError("x must have at least one observed value, got none.")
    return table


def _observed(table: Table) -> Array:
    """Return the indices of the rows with a value."""
    missing = table.missing_mask(0)
    return np.arange(len(table)) if missing is None else np.flatnonzero(~missing)


def _draw_rows(ax: Any, table: Table, y: Array, rows: Array) -> None:
    ax.scatter(
        table.column(0)[rows].astype(float), y[rows], s=0.7 * style.point_size(len(rows)),
        c=style.MUTED, alpha=0.55 if len(rows) <= 2_000 else 0.3, linewidths=0, zorder=1.5,
    )  # fmt: skip


def _draw_steps(ax: Any, model: Any, table: Table, color: str, label: str) -> None:
    """Draw the pieces of one tree, horizontal lines joined by vertical ones."""
    observed = table.column(0)[_observed(table)].astype(float)
    low, high = bounding_box([observed[:, None]], margin=0.03)
    boxes = LeafBoxes.of(model.tree_, low, high, (0,))
    edges = np.append(boxes.low[:, 0], high)
    schema = Schema.numeric(1, names=table.schema.names if table.schema.named else None)
    values = model.predict(Table.of(boxes.high, schema))
    ax.stairs(values, edges, baseline=None, color=color, linewidth=2.0, zorder=3, label=label)
    ax.set_xlim(low[0], high[0])


def _label_axes(axes: Sequence[Any], table: Table, title: str) -> None:
    """Label the outer axes only; a single panel of all trees has a legend."""
    if title:
        style.style_axes(axes[0], title=title, grid="y")
        look = {"loc": "best", "framealpha": 0.9, "edgecolor": "none"}
        axes[0].legend(fontsize=style.LABEL_SIZE, labelcolor=style.INK, **look)
    spec = axes[0].get_subplotspec()
    columns = 1 if len(axes) == 1 else spec.get_gridspec().ncols
    for index, ax in enumerate(axes):
        if index + columns >= len(axes):
            ax.set_xlabel(table.schema[0].name, fontsize=style.LABEL_SIZE, color=style.INK)
            ax.tick_params(labelbottom=True)
        if index % columns == 0:
            ax.set_ylabel("y", fontsize=style.LABEL_SIZE, color=style.INK)
